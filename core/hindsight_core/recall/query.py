"""A question, analysed once: words, names, the time it asks for, and what came before it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

import numpy as np

from hindsight_core.ports import Doubles, Floats, Ids
from hindsight_core.recall.asked import split_questions
from hindsight_core.text.hashing import stable_id
from hindsight_core.text.keys import normalise_key, said_by
from hindsight_core.text.learnt import token_ids
from hindsight_core.text.stopwords import ENGLISH
from hindsight_core.text.times import TimeSpan, find_times
from hindsight_core.text.tokens import query_terms

HISTORY_TURNS = 3
HISTORY_SHARE = 0.3
"""How much a word of an earlier turn counts beside a word of the question itself."""

_WORD = re.compile(r"[^\W_]+(?:[-._/@:'&+#][^\W_]+)*[+#]*", re.UNICODE)
_HAN = re.compile(r"[\u3400-\u9fff]+")
_LONGEST_NAME = 3
_MOST_KEYS = 120


T = TypeVar("T")
Embed = Callable[[list[str]], Sequence[Floats]]
"""Query vectors of texts, same order; empty when there is no embedder."""
Weigh = Callable[[str], Mapping[int, float]]
"""Learnt weights of a text's tokens; empty when there is no sparse embedder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aspect:
    """One thing a question asks for; most questions have one, "Where is A? And who leads B?" has two.

    Attributes:
        text: Its words.
        terms: uint64 (T,) hashed terms, distinct.
        names: The T terms themselves.
        weights: float32 (T,).
        telling: float32 (T,) the same, 0 for words that only say when: the time channel answers these.
        vector: float32 (dimension,) or None.
        learnt: uint64 (L,) hashed tokens that a sparse embedder weighed, distinct.
        learnt_weights: float32 (L,).
    """

    text: str
    terms: Ids
    names: tuple[str, ...]
    weights: Floats
    telling: Floats
    vector: Floats | None
    learnt: Ids
    learnt_weights: Floats

    @property
    def unspaced(self) -> float:
        """Share of its letters written without spaces between words, 0..1."""
        letters = sum(map(str.isalnum, self.text))
        return sum(map(len, _HAN.findall(self.text))) / max(letters, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What recall knows of a question.

    Attributes:
        text: The question.
        aspects: What it asks for, at least one.
        entities: uint64 (E,) hashed keys of every name it might contain; the store knows which exist.
        speakers: uint64 (S,) the same of everyone who may have said what is asked for.
        windows: The times asked for; a memory of any of them is meant.
        only_time: Whether it asks for nothing else ("What was said last week?"): whatever is of that time answers it.
    """

    text: str
    aspects: tuple[Aspect, ...]
    entities: Ids
    speakers: Ids
    windows: tuple[TimeSpan, ...]
    only_time: bool

    @property
    def epoch_windows(self) -> Doubles:
        """The windows in epoch seconds, float64 (w, 2); open ends are infinite."""
        ends = [
            (w.start.timestamp() if w.start else -np.inf, w.end.timestamp() if w.end else np.inf)
            for w in self.windows
        ]
        return np.array(ends, dtype=np.float64).reshape(-1, 2)


def possible_names(text: str) -> list[str]:
    """Normalised keys of all runs of 1-4 words, and of 2-6 Han characters: any of them may be a known entity."""
    keys: dict[str, None] = {}
    words = [(m.start(), m.end()) for m in _WORD.finditer(text)]
    for size in range(_LONGEST_NAME, 0, -1):
        for first in range(len(words) - size + 1):
            start, end = words[first][0], words[first + size - 1][1]
            if end - start <= 60:
                keys[normalise_key(text[start:end])] = None
    for run in _HAN.finditer(text):
        chars = run.group()
        for size in range(2, 7):
            for first in range(len(chars) - size + 1):
                keys[normalise_key(chars[first : first + size])] = None
    keys.pop("", None)
    return list(keys)[:_MOST_KEYS]


_FIRST_PERSON = re.compile(r"\b(?:I|[Mm]y|[Mm]e|[Mm]ine|I'(?:m|ve|d|ll)|we|We|our|Our)\b|我")
_SECOND_PERSON = re.compile(r"\b[Yy]ou(?:r|rs)?\b|你|您")


def _hashed(keys: Sequence[str]) -> Ids:
    return np.array(list(dict.fromkeys(stable_id(key) for key in keys)), dtype=np.uint64)


_ASSISTANT = re.compile(
    r"\s*(?:assistant|agent|ai|bot|system|model|助手|助理|系统|机器人)\s*[:：]", re.IGNORECASE
)
_USER = re.compile(r"\s*(?:user|human|customer|用户|我)\s*[:：]\s*", re.IGNORECASE)


def asked_before(history: Sequence[str]) -> list[str]:
    """The user's own last turns, oldest first; what the assistant said in between leads away from the question."""
    own = [turn for turn in history if not _ASSISTANT.match(turn)]
    return [_USER.sub("", turn, count=1) for turn in own[-HISTORY_TURNS:]]


_ASKS_WHAT = re.compile(r"\b(?:what|which|anything|everything|something)\b|什么|啥|哪些|哪几", re.IGNORECASE)
_NO_TOPIC = re.compile(
    r"(?:any|every|some)?things?|happen(?:ed|ing)?|talk(?:ed|ing)?|chat(?:ted|ting)?|discuss(?:ed|ing)?|mention(?:ed)?|"
    r"remember(?:ed)?|recorded|noted"
)
_NO_TOPIC_HAN = re.compile(
    "什么|哪些|哪几|一共|曾经|我们|咱们|你们|大家|发生|事情|讨论|提到|提起|谈到|谈论|聊到|聊天|记得|记录|记下|"
    "[我你咱他她都有说过了的啥聊谈讲提做干事件些呢吗吧啊呀在和跟]"
)


def _asks_only_time(text: str, windows: Sequence[TimeSpan]) -> bool:
    """Whether nothing is left of a question but "what was said" once the times are taken out of it."""
    if not windows or not _ASKS_WHAT.search(text):
        return False
    rest = _WORD.findall(_NO_TOPIC_HAN.sub(" ", _without_times(text, windows)))
    return all(word in ENGLISH or _NO_TOPIC.fullmatch(word) for word in map(str.casefold, rest))


def _without_times(text: str, windows: Sequence[TimeSpan]) -> str:
    """A text without the words that say when."""
    for words in sorted({window.text for window in windows}, key=len, reverse=True):
        text = text.replace(words, " ")
    return text


def _with_turns(own: Mapping[T, float], turns: Sequence[Mapping[T, float]]) -> dict[T, float]:
    """Weights of a question, and of earlier turns (oldest first) at their share, where the question says nothing of it."""
    weights = dict(own)
    for age, turn in enumerate(reversed(turns), 1):
        for term, weight in turn.items():
            if term not in own:
                weights[term] = max(weights.get(term, 0.0), weight * HISTORY_SHARE / age)
    return weights


def _no_tokens(text: str) -> Mapping[int, float]:
    return {}


@dataclass(frozen=True, slots=True)
class Heard:
    """What the models make of a question, before it is analysed.

    Attributes:
        text: The question.
        parts: What it asks for, at least one.
        vectors: Of each part, float32 (dimension,), with those of earlier turns at their share; empty without an embedder.
        tokens: Learnt weights of each part, likewise.
        history: The user's last turns before it, oldest first.
    """

    text: str
    parts: list[str]
    vectors: list[Floats]
    tokens: list[dict[int, float]]
    history: list[str]


def hear(text: str, *, embed: Embed, weigh: Weigh = _no_tokens, history: Sequence[str] = ()) -> Heard:
    """Ask the models, which may take their time.

    Args:
        text: The question.
        embed: Gives query vectors.
        weigh: Gives learnt weights of tokens.
        history: The turns before it, oldest first, with or without a role in front ("user: ..."); the user's last ones
            resolve what a follow-up leaves unsaid.
    """
    parts, before = split_questions(text), asked_before(history)
    vectors = list(embed([*parts, *before]))
    own, past = vectors[: len(parts)], vectors[len(parts) :]
    if past:
        shares = np.array([HISTORY_SHARE / age for age in range(len(past), 0, -1)], dtype=np.float32)
        mixed = [vector + np.tensordot(shares, np.stack(past), axes=1) for vector in own]
        own = [(each / max(float(np.linalg.norm(each)), 1e-9)).astype(np.float32) for each in mixed]
    turns = [weigh(turn) for turn in before]
    return Heard(text, parts, own, [_with_turns(weigh(part), turns) for part in parts], before)


def analyse(heard: Heard, now: datetime) -> Question:
    """Analyse a question.

    Args:
        heard: The question.
        now: What "yesterday" refers to.
    """
    text, history = heard.text, heard.history
    windows = tuple(find_times(text, now))
    aspects = []
    for number, part in enumerate(heard.parts):
        own = dict(query_terms(part))
        weights = _with_turns(own, [dict(query_terms(turn)) for turn in history])
        tokens = heard.tokens[number]
        timeless = {term for term, _ in query_terms(_without_times(part, windows))} if windows else set(own)
        says_when = own.keys() - timeless if timeless else set()
        aspects.append(
            Aspect(
                text=part,
                terms=np.array([stable_id(name) for name in weights], dtype=np.uint64),
                names=tuple(weights),
                weights=np.fromiter(weights.values(), dtype=np.float32, count=len(weights)),
                telling=np.array(
                    [0.0 if term in says_when else weight for term, weight in weights.items()], np.float32
                ),
                vector=heard.vectors[number] if heard.vectors else None,
                learnt=token_ids(tokens),
                learnt_weights=np.fromiter(tokens.values(), dtype=np.float32, count=len(tokens)),
            )
        )
    names = possible_names(text)
    speakers = [said_by(name) for name in names]
    if _FIRST_PERSON.search(text) and not _SECOND_PERSON.search(text):
        speakers.append(said_by("user"))
    return Question(
        text=text,
        aspects=tuple(aspects),
        entities=_hashed(names),
        speakers=_hashed(speakers),
        windows=windows,
        only_time=not history and _asks_only_time(text, windows),  # a follow-up asks what was asked before
    )
