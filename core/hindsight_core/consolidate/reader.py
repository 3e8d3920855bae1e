"""From text to clauses of tokens, in English, Chinese and any mixture of them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from hindsight_core.consolidate.lazy import Lazy
from hindsight_core.consolidate.lexicon import (
    ATTRIBUTES,
    COPULAS,
    IRREGULAR,
    LASTING,
    LIGHT,
    LIGHT_STEMS,
    PAST,
    PREPOSITIONS,
    SLOTS,
    STATIVE,
    word_set,
)
from hindsight_core.consolidate.marks import RESETS, Mark, chinese_marks, phrases
from hindsight_core.consolidate.patterns import HAN_VALUE, VALUE
from hindsight_core.consolidate.values import Value, read_value
from hindsight_core.text.tokens import terms

_HAN = "\u3400-\u9fff"
_UNNAMED = re.sub(r"\?P<(?!_joint)\w+>", "?:", HAN_VALUE)
_RATE = r"(?:每|一)个?(?:年|月|周|天|小时|分钟|秒|晚)(?=\d)"
_TOKEN = Lazy(
    rf"(?P<per>{_RATE})|{VALUE}"
    r"|(?P<word>[A-Za-z\u00c0-\u024f_][A-Za-z0-9\u00c0-\u024f_]*(?:[-._/@'’:&][A-Za-z0-9\u00c0-\u024f_]+)*[+#]*)"
    rf"|(?P<han>[{_HAN}](?:(?!{_UNNAMED}|{_RATE})[{_HAN}])*)"
    r"|(?P<stop>[.!。！；;\n]+|[?？][!?！？]*)"
    r"|(?P<pause>[,，、()（）\"“”\u2013\u2014]+| - |[:：=]+)"
    r"|(?P<aside>[\[\]])"
    r"|(?P<other>[^\W_]+)"
    r"|(?P<symbol>°[CF]\b|[^\w\s.…'’‘`《》〈〉「」『』【】·-])"
)
_SPACED = Lazy(rf"(?<=\d) (?=[{_HAN}])|(?<=[年月]) (?=\d)")
"""Mixed script is often set with spaces around its numbers: "3 月 6 号" is a date all the same."""
_ABBREVIATION = Lazy(r"(?:\b(?:Inc|Ltd|Co|Corp|Jr|Sr|Dr|Mr|Mrs|Ms|St|vs|etc|approx|Prof|e\.g|i\.e)|\b[A-Z])$")
_LONGEST_WORD = 64

_ENDINGS = {"m": "am", "s": "is", "re": "are", "ve": "have"}
_PRONOUNS = word_set("i we you he she it they")
_AUXILIARIES = word_set("is are was were am be been has have had do does did can")
_DEFINITE = word_set("the my our your his her their its")
_DETERMINERS = _DEFINITE | {"a", "an", "no"}
_BREAKS = word_set("but while whereas although though because and since starting when after")
_UNSAID = word_set(
    """
    a an the please just reminder fyi btw hey so well actually oh um ok okay now currently already also then
    that this
    """
)
_PLACES = word_set(
    "under over above below behind beside between against outside inside up down out off into near"
)
_UNSAID_HAN = word_set("了 呢 吧 啊 呀 嘛 的 现在 目前 已经 最近 就 都 也 以后 今后 往后 就行 就好 即可 一下")
_TOPIC_TAGS = frozenset("nvaeiljsbzqt")
_WEIGHTY_TAGS = _TOPIC_TAGS | {"f", "m"}
_NAME_TAGS = frozenset(("nr", "ns", "nt", "nz"))
_UNREAL = word_set(
    """
    never not won't don't didn't doesn't haven't hasn't can't cannot to will i'll we'll you'll let's should
    would could might may
    """
)
"""Before "quit" or "switched", these say that nobody has."""


class Token(NamedTuple):
    """A word or value in its clause.

    Attributes:
        form: Folded word, Chinese word, or value; "=" for a copula.
        kind: = a copula, v a verb, n a name, # a value, a an attribute (`ATTRIBUTES`), p a preposition, k another
            word with a topic, l a word of substance without one ("want", 想), f a function word, s a symbol, u a word
            that is no part of what is said (an article, "now", 了).
        key: What it is counted as; "" for words without a topic.
    """

    form: str | Value
    kind: str
    key: str


class ClauseReader:
    """A stretch of a sentence between pauses, while it is read."""

    __slots__ = ("definite", "han", "marks", "owned", "tokens", "verb", "words")

    def __init__(self) -> None:
        self.tokens: list[Token] = []
        self.words: list[str] = []
        self.han: list[str] = []
        self.verb = -1
        self.definite = False
        self.owned = False
        self.marks = Mark.NONE

    def add(self, form: str | Value, kind: str, key: str = "", word: str = "") -> None:
        """Append a token; `word` is the folded English word it stands for."""
        if self.verb < 0 and kind in "=v":
            self.verb = len(self.tokens)
        self.tokens.append(Token(form, kind, key))
        self.words.append(word)

    def close(self) -> None:
        """Find the marks, once the clause is complete."""
        words, marks, known = self.words, self.marks, phrases()
        for place, word in enumerate(words):
            if word == "too" and place + 1 < len(words):  # too small
                continue
            for rest, mark, silent in known.get(word, ()):
                if not rest or tuple(words[place + 1 : place + 1 + len(rest)]) == rest:
                    change = mark & (Mark.ENDED | Mark.CHANGED)
                    if silent or not (change and _UNREAL.intersection(words[max(0, place - 2) : place])):
                        marks |= mark
                        if silent:
                            for at in range(place, place + 1 + len(rest)):
                                self.tokens[at] = self.tokens[at]._replace(kind="u", key="")
                    break
            if (
                word == "new"
                and words[place - 1 : place] in _THE
                and not _AUXILIARIES.isdisjoint(words[place + 1 : place + 4])
            ):  # "the new intern is ..."
                marks |= Mark.CHANGED
            elif word in RESETS and words[place - 1 : place] not in _IS:
                behind = words[place + 1 : place + _FAR]
                target = next((at for at, other in enumerate(behind) if other in RESETS[word]), -1)
                if target >= 0 and _AUXILIARIES.isdisjoint(behind[:target]):
                    marks |= Mark.CHANGED
        if "longer" in words and marks & Mark.ENDED:  # "you no longer need to"
            marks &= ~Mark.PLANS
        if self.han:
            marks |= chinese_marks("".join(self.han))
        self.marks = marks


_THE = (["the"], ["my"], ["our"], ["his"], ["her"], ["their"])
_FAR = 9
_IS = (["is"], ["are"], ["was"], ["were"], ["be"], ["the"])


def sentences(text: str) -> Iterator[list[ClauseReader]]:
    """The sentences of a text, each as its clauses; never an empty one."""
    if not text.isascii():
        text = _SPACED.sub("", unicodedata.normalize("NFKC", text))
    clauses = [ClauseReader()]
    end = -1
    aside = False
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup, match[0]
        adjacent = match.start() <= end + 1
        end = match.end()
        if kind == "word":
            opens = token.lower() in _BREAKS or (token in ("I", "we") and clauses[-1].words[:1] == ["since"])
            if opens and clauses[-1].tokens:
                clauses.append(ClauseReader())
            _read_word(clauses[-1], token, adjacent, len(clauses) == 1)
        elif kind == "han":
            _read_han(clauses[-1], token)
        elif kind == "pause":
            clause = clauses[-1]
            if token in ":：=" and clause.verb < 0 and 0 < len(clause.tokens) < 8:
                clause.add("=", "=")
            elif clause.tokens:
                clauses.append(ClauseReader())
        elif kind == "stop":
            if token == "." and _ABBREVIATION.search(text, max(0, match.start() - 8), match.start()):
                continue
            if clauses[0].tokens:
                yield _closed(clauses, "?" in token or "？" in token, aside)
                clauses = [ClauseReader()]
        elif kind == "aside":
            if clauses[0].tokens:
                yield _closed(clauses, False, aside)
                clauses = [ClauseReader()]
            aside = token == "["
        elif kind == "other":
            clauses[-1].add(token.casefold(), "k", token.casefold())
        elif kind == "symbol":
            clauses[-1].add(token, "s")
        elif kind == "per":
            clauses[-1].han.append(token)
            clauses[-1].add("@per", "k", f"@per {_period(token)}")
        else:
            _read_value(clauses[-1], kind or "", token)
    if clauses[0].tokens:
        yield _closed(clauses, False, aside)


def _closed(clauses: list[ClauseReader], asked: bool, aside: bool) -> list[ClauseReader]:
    if not clauses[-1].tokens:
        clauses.pop()
    for clause in clauses:
        clause.close()
    if asked:
        clauses[-1].marks |= Mark.ASKS
    if aside:  # "[a photo of ...]": about the text, not said in it
        clauses[0].marks |= Mark.REPORTS
    return clauses


def _period(text: str) -> str:
    for unit, letter in (
        ("年", "y"),
        ("月", "mo"),
        ("周", "w"),
        ("天", "d"),
        ("晚", "d"),
        ("小时", "h"),
        ("分钟", "m"),
        ("秒", "s"),
    ):
        if unit in text:
            return letter
    return {"month": "mo", "minute": "m"}.get(text.split()[-1], text.split()[-1][:1])


def _read_value(clause: ClauseReader, kind: str, token: str) -> None:
    value = read_value(kind, token)
    ascii_only = token.isascii()
    if not ascii_only:
        clause.han.append(token)
    if value is None:
        clause.add(token, "f")
    elif kind == "one" and clause.tokens and clause.tokens[-1].kind == "#":
        clause.add("@per", "k", f"@per {_period(token)}", "#")
    else:
        clause.add(value, "#", token.lower() if value.kind == "code" else "", "#")


@lru_cache(maxsize=1 << 16)
def _word(token: str) -> tuple[tuple[str, ...], str, bool, bool]:
    """Folded forms of a word, its key, whether it is shaped like a name, and whether it is a past tense."""
    folded = token.lower().replace("’", "'")
    tail = token[1:]
    shaped = bool(tail) and not tail.islower() and any(map(str.isalpha, tail)) and "'" not in token
    base = folded
    forms: tuple[str, ...] = (folded,)
    if "'" in folded:
        base, _, ending = folded.partition("'")
        if ending in _ENDINGS and base in _PRONOUNS | {"that", "there", "who", "what", "here"}:
            forms = (base, _ENDINGS[ending])
        elif ending == "s":
            forms = (base,)
        else:
            base = folded
    found = terms(base)
    key = (IRREGULAR.get(base) or SLOTS.get(base) or found[0]) if found else ""
    past = base in PAST or (len(base) > 4 and base.endswith("ed"))
    return forms, key, shaped, past


def _monster(token: str) -> tuple[tuple[str, ...], str, bool, bool]:
    return (token,), token, True, False


def _read_word(clause: ClauseReader, token: str, adjacent: bool, first_clause: bool) -> None:
    initial = not clause.tokens
    if initial and token.lower() in _DEFINITE:
        clause.definite = True
    if clause.verb < 0 and token.endswith(("'s", "’s")):
        clause.owned = True
    forms, key, shaped, past = _word(token) if len(token) <= _LONGEST_WORD else _monster(token.lower())
    light = key in LIGHT_STEMS
    name = bool(key) and (shaped or (token[0].isupper() and not (initial and first_clause)))
    before = clause.words[-1] if clause.words else ""
    for form in forms:
        own = key if form == forms[0] else ""
        if form in _UNSAID and not (token == "A" and not initial):  # flat A
            kind = "u"
        elif form in COPULAS:
            kind = "="
        elif form in _PLACES:
            kind = "l"
        elif form in PREPOSITIONS:
            kind = "p"
        elif name and own:
            kind = "n"
        elif (form in ATTRIBUTES or "_" in form) and before not in _PRONOUNS:
            kind = "a"
        elif (
            _third_person(clause, form, token)
            or (past and clause.verb < 0)
            or (clause.tokens and _verbal(form, before))
        ):
            kind = "v"
        else:
            kind = "f" if not own else "l" if light else "k"
        if kind == "v" and past and clause.verb < 0 and form not in STATIVE and form not in LASTING:
            clause.marks |= Mark.EVENT
        if own and not light and adjacent and before == "#":
            _count(clause, own)
        word = token if token.isupper() and len(token) > 1 else form
        clause.add(
            "=" if kind == "=" else own or form,
            kind,
            "" if (light and kind != "n") or kind == "u" else own,
            word,
        )
        before = form


def _third_person(clause: ClauseReader, form: str, token: str) -> bool:
    """Whether a word is the verb behind a bare first word: "Corvid makes ..."."""
    return (
        token[-1] == "s"
        and len(token) > 3
        and token.islower()
        and token[-2] not in "su'’"
        and form not in ATTRIBUTES
        and not clause.owned
        and bool(clause.tokens)
        and clause.tokens[0].kind == "k"
        and all(said.kind == "u" for said in clause.tokens[1:])
    )


_ANY_UNIT = frozenset(["", "个", "名", "位"])


def _verbal(form: str, before: str) -> bool:
    return before in _PRONOUNS or (before not in _DETERMINERS and (form in STATIVE or form in _AUXILIARIES))


def _count(clause: ClauseReader, key: str) -> None:
    """Say what a number counts: "12 books"."""
    value = clause.tokens[-1].form
    if isinstance(value, Value) and value.kind in ("count", "ordinal") and value.unit in _ANY_UNIT:
        clause.tokens[-1] = Token(value._replace(unit=key), "#", "")


_ALONE = "我你您他她它"
_TRAILING = "是有在用换改涨升降调搬住管会定要卖做去说"
_TAKING = "喝吃付戴打看穿用买卖坐学养听写读开骑"


@lru_cache(maxsize=1 << 14)
def _segments(run: str) -> tuple[tuple[str, str, str], ...]:
    """Words of a Chinese run, as (form, kind, key)."""
    import rjieba  # loads its dictionary, a tenth of a second: only when there is Chinese

    cut: list[tuple[str, str]] = []
    for word, tag in rjieba.tag(run):
        if len(word) == 2 and word[0] == "没" and tag == "v" and word[1] not in "有落收入":
            cut += [("没", "d"), (word[1], "v")]
        elif len(word) == 2 and (word[0] in _ALONE or word[1] in _TRAILING) and not rjieba.has_word(word):
            cut += rjieba.tag(word, False)  # guessed across a boundary: 师|是, 我|换
        elif len(word) == 3 and tag == "nr" and word[0] in _TAKING and rjieba.has_word(word[1:]):
            cut += [(word[0], "v"), (word[1:], "n")]  # 戴|眼镜 is nobody's name
        elif len(word) == 3 and tag == "nr" and word[2] in _TRAILING and not rjieba.has_word(word):
            cut += [(word[:2], tag), (word[2], "v")]
        else:
            cut.append((word, tag))
    return tuple(_segment(word, tag) for word, tag in cut)


def _segment(word: str, tag: str) -> tuple[str, str, str]:
    if word in _UNSAID_HAN:
        return word, "u", ""
    if word in COPULAS:
        return "=", "=", ""
    if word in PREPOSITIONS:
        return word, "p", ""
    if word in ("换", "改"):
        return word, "v", word
    topical = tag[0] in _TOPIC_TAGS and word not in LIGHT
    slot = SLOTS.get(word)
    key = (slot or word) if topical else ""
    if topical and tag[:2] in _NAME_TAGS and any(sign in word for sign in "年月季"):
        return word, "l", ""
    if topical and slot is None and tag[:2] in _NAME_TAGS:
        return word, "n", key
    if tag[0] == "v":
        return word, "v", key
    return word, "k" if topical else "l" if tag[0] in _WEIGHTY_TAGS else "f", key


def _read_han(clause: ClauseReader, run: str) -> None:
    if clause.verb < 0:  # a bare noun before the verb is definite in Chinese
        clause.definite = True
    clause.han.append(run)
    for form, kind, key in _segments(run):
        if clause.tokens and kind in "kn" and clause.tokens[-1].kind == "#":
            _count(clause, key)
        if form in ("在", "用") and clause.tokens and clause.verb < 0:
            kind = "v"
        if form == "的" and clause.verb < 0:
            clause.owned = True
        clause.add(form, kind, key)
