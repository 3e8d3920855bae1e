"""Terms: what keyword search sees of a text, alike for both languages and for what mixes them.

- **Words** (Latin, Cyrillic, Greek, Arabic, ...) are folded (NFKC, case, accents) and stemmed by the English
  Snowball stemmer (M. F. Porter, http://snowball.tartarus.org/algorithms/english/stemmer.html). Stems find "ran a
  marathon" by "running marathons", but blur technical text, so the unstemmed form is kept beside the stem and
  gives an exact match its extra weight.
- **Chinese, Japanese, Korean, Thai** and other scripts without reliable spaces become overlapping pairs of
  characters, and single characters, over each unbroken run: no dictionary, so no unknown word. This is the bigram
  indexing of J. Y. Nie et al., "On the use of words and n-grams for Chinese information retrieval" (2000).
- **Compounds** (`SK-9`, `max_retries`, `HttpClientTimeout`, `api/v2/users`, `ann@example.org`) are kept whole, in
  their segments, and in parts. The whole is written without its joints, so that `max_retries`, `maxRetries` and
  `max-retries` are one term, and so are `SK-9` and `SK9`.
- **Numbers** of several parts (`9.4.1.2`, `2031-05-06`, `10:30`) are one term and never taken apart: an absent
  version must match nothing.

Function words are dropped on both sides (see `text.stopwords`).
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import Stemmer
from numpy.typing import NDArray

from hindsight_core.text.hashing import COUNT_MASK, stable_id
from hindsight_core.text.stopwords import ACRONYMS, CHINESE_CHARACTERS, CHINESE_PAIRS, ENGLISH


@dataclass(frozen=True, slots=True, kw_only=True)
class TermWeights:
    """How much each kind of term counts in a question.

    Attributes:
        main: A word's stem, a compound as a whole, a pair of characters, a character that stands alone.
        mixed: A pair one of whose characters is a mere function character ("的人").
        exact: The unstemmed form of a word, on top of its stem.
        part: A part of a compound.
        character: A single character of a longer run.
    """

    main: float = 1.0
    mixed: float = 0.7
    exact: float = 0.3
    part: float = 0.5
    character: float = 0.3


_MAIN, _MIXED, _EXACT, _PART, _CHARACTER, _INDEX_ONLY = range(6)

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u1100-\u11ff\uac00-\ud7af"  # Hangul
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3105-\u312f\u31a0-\u31bf"  # kana, bopomofo
    "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
_INDIC = (
    "\u0900-\u0963\u0966-\u0dff"  # written with vowel signs, which are not letters to a regular expression
)
_JOINT = r"[-._/@:'&\\]"


def _token_pattern(letter: str, others: str) -> re.Pattern[str]:
    """One pass over a text: runs without spaces (group 1), grouped numbers, then words with their joints."""
    return re.compile(
        rf"{others}\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?(?!{letter})"
        rf"|(?:(?<![\w.])\.(?=[A-Za-z]))?{letter}+(?:{_JOINT}{{1,3}}{letter}+)*(?:\+\+|#(?!\w))?"
    )


_ASCII_TOKEN = _token_pattern("[0-9A-Za-z]", "")
_TOKEN = _token_pattern(rf"[^\W_{_UNSPACED}{_INDIC}]", rf"([{_UNSPACED}]+)|[{_INDIC}]+|")
_INVISIBLE = re.compile(
    "[\u00ad\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u064b-\u065f\u0670\u200b-\u200f\u2060\ufeff]"
)
_VARIANTS = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u2010": "-", "\u2011": "-"})
_NO_CHARACTER = CHINESE_CHARACTERS.union(
    map(chr, (*range(0x0E00, 0x0F00), *range(0x1000, 0x10A0), *range(0x1780, 0x1800), *range(0x3041, 0x30A0)))
)
"""Not indexed alone: function characters, and letters of scripts where one letter says nothing."""

_LOOSE_JOINT = re.compile(rf"(?<!\d){_JOINT}+|{_JOINT}+(?!\d)")
_JOINTS_BY_STRENGTH = (
    re.compile(r"[/\\:@&]+"),
    re.compile(r"(?<!\d)\.+|\.+(?!\d)"),
    re.compile(r"[-_']+"),
    re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"),
    re.compile(r"(?<=^[A-Za-z]{2})(?=\d[\d.]*$)|(?<=[A-Za-z]{3})(?=\d[\d.]*$)|(?<=\d)(?=[A-Za-z]{2,}$)"),
)
_CONTRACTION = re.compile(r"(.+?)(?:'(?:s|d|m|ll|re|ve))", re.IGNORECASE)
_CACHED_LENGTH = 64


def terms(text: str) -> list[str]:
    """Terms of a text for the index, repeated as often as they occur."""
    found: list[str] = []
    for token, unspaced in _tokens(text):
        found += [term for term, _ in _unspaced(token)] if unspaced else _analysis(token)[0]
    return found


def query_terms(text: str, weights: TermWeights = TermWeights()) -> list[tuple[str, float]]:
    """Distinct terms of a question with their weights, in order of appearance; empty when it has only stop words.

    A word written without spaces becomes several terms, a number or a Latin name next to it one: in such a question these count
    up to twice, so that what it is about does not go under in how it is asked ("那个 39 岁的人的电话号码是多少").
    """
    by_kind = {
        _MAIN: weights.main,
        _MIXED: weights.mixed,
        _EXACT: weights.exact,
        _PART: weights.part,
        _CHARACTER: weights.character,
    }
    found: dict[str, float] = {}
    tokens = list(_tokens(text))
    letters = sum(len(token) for token, _ in tokens)
    alone = 1.0 + sum(len(token) for token, unspaced in tokens if unspaced) / max(letters, 1)
    for token, unspaced in tokens:
        share = 1.0 if unspaced else alone
        for term, kind in _unspaced(token) if unspaced else zip(*_analysis(token), strict=True):
            if kind != _INDEX_ONLY:
                found[term] = max(found.get(term, 0.0), share * by_kind[kind])
    return list(found.items())


def main_ids(text: str) -> list[int]:
    """Ids of the terms that name what a text is about, each once: stems of words and pairs of characters."""
    found: dict[int, None] = {}
    for token, unspaced in _tokens(text):
        ids = _main_ids if len(token) <= _CACHED_LENGTH else _main_ids.__wrapped__
        for id in ids(token, unspaced):
            found[id] = None
    return list(found)


def pack(terms: Iterable[str]) -> NDArray[np.uint64]:
    """Terms as sorted integers: the id in the high 56 bits, the count (at most 255) in the low 8."""
    counts = Counter(map(stable_id, terms))
    packed = np.fromiter(
        (id | min(count, COUNT_MASK) for id, count in counts.items()), np.uint64, len(counts)
    )
    packed.sort()
    return packed


def unpack(packed: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Ids and counts of packed terms, in the same order."""
    return packed & np.uint64(~COUNT_MASK & (1 << 64) - 1), (packed & np.uint64(COUNT_MASK)).astype(np.int64)


def _tokens(text: str) -> Iterator[tuple[str, bool]]:
    if text.isascii():
        yield from [(token, False) for token in _ASCII_TOKEN.findall(text)]
        return
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text).translate(_VARIANTS))
    for match in _TOKEN.finditer(text):
        yield match[0], match.lastindex is not None


def _unspaced(run: str) -> Iterator[tuple[str, int]]:
    pairs = [left + right for left, right in pairwise(run)]
    kinds = [_CHARACTER] * len(run) if pairs else [_MAIN]
    for place, pair in enumerate(pairs):
        if pair in CHINESE_PAIRS:
            kinds[place] = kinds[place + 1] = _INDEX_ONLY
        elif (functions := (pair[0] in CHINESE_CHARACTERS) + (pair[1] in CHINESE_CHARACTERS)) < 2:
            yield pair, _MIXED if functions else _MAIN
    for character, kind in zip(run, kinds, strict=True):
        if character not in _NO_CHARACTER:
            yield character, kind


def _analysis(token: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Terms of one spaced token and their kinds, remembered unless the token is a monster."""
    return _analysis_cached(token) if len(token) <= _CACHED_LENGTH else _analyse(token)


@lru_cache(maxsize=1 << 16)
def _analysis_cached(token: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    return _analyse(token)


@lru_cache(maxsize=1 << 14)
def _main_ids(token: str, unspaced: bool) -> tuple[int, ...]:
    kinds = _unspaced(token) if unspaced else _analysed(token)
    return tuple(stable_id(term) for term, kind in kinds if kind in (_MAIN, _MIXED))


def _analyse(token: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    found = dict(_analysed(token))
    return tuple(found), tuple(found.values())


def _analysed(token: str) -> Iterator[tuple[str, int]]:
    """Distinct terms of one spaced token, with the kind each has in a question."""
    if (contracted := _CONTRACTION.fullmatch(token)) is not None:
        token = contracted[1]
    elif token[-3:].lower() == "n't":  # don't, won't: an auxiliary
        return
    if _is_plain(token):
        yield from _word(token, _MAIN, _EXACT)
        return
    whole = _whole(token)
    seen = dict(_stemmed(whole, _MAIN, _EXACT))
    if any(map(str.isalpha, whole)):
        _take_apart(token, 0, seen)
    yield from seen.items()


def _take_apart(token: str, level: int, seen: dict[str, int]) -> None:
    """Collect the segments of a compound, from the loosest joint to the tightest, and the words at its ends."""
    if level == len(_JOINTS_BY_STRENGTH):
        for term, kind in _word(token, _PART, _INDEX_ONLY):
            if len(term) > 1 or term.isdigit():
                seen.setdefault(term, kind)
        return
    pieces = [piece for piece in _JOINTS_BY_STRENGTH[level].split(token) if piece]
    for piece in pieces:
        if len(pieces) > 1 and not _is_plain(piece) and any(map(str.isalpha, piece)):
            for term, kind in _stemmed(_whole(piece), _PART, _INDEX_ONLY):
                seen.setdefault(term, kind)
        _take_apart(piece, level + 1, seen)


def _is_plain(token: str) -> bool:
    return token.isalpha() and (token.islower() or token.isupper() or token.istitle())


def _whole(token: str) -> str:
    folded = _fold(token)
    if folded.startswith("v") and re.fullmatch(r"v\d+(?:\.\d+)+", folded):
        return folded[1:]
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", folded):
        return folded.replace(",", "")
    return folded if folded.startswith(".") else _LOOSE_JOINT.sub("", folded)


def _word(word: str, main: int, exact: int) -> Iterator[tuple[str, int]]:
    folded = _fold(word)
    if folded in ENGLISH and word not in ACRONYMS:
        return
    if main == _PART and folded.isdigit() and len(folded) < 3:  # a small number alone says nothing
        main = _INDEX_ONLY
    yield from _stemmed(folded, main, exact)


def _stemmed(folded: str, main: int, exact: int) -> Iterator[tuple[str, int]]:
    stem = _stemmer.stem(folded) if folded.isalpha() else folded
    yield stem, main
    if stem != folded:
        yield folded, exact


def _fold(token: str) -> str:
    folded = token.casefold()
    if folded.isascii():
        return folded
    return unicodedata.normalize("NFC", _INVISIBLE.sub("", unicodedata.normalize("NFD", folded)))


class _Stemmer(threading.local):
    """A stemmer of its own for each thread: the C object must not be entered twice."""

    def __init__(self) -> None:
        self.stem = Stemmer.Stemmer("english", 0).stemWord


_stemmer = _Stemmer()
