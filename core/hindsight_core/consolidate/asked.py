"""What a question asks the value of, and which of two memories that give one has been overtaken.

A long turn whose port has changed stays, for it says more than the port; nothing marks it as outdated. Only a question tells
whether the changed part matters. So for one that asks for a value ("how many", "what is the ... of") the values in what was
found are compared: both stand by the same words of the question, they differ, the later is told with a sign of change. Without
that sign two values of one kind are mostly two things (the hours of two events), and nothing is decided.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hindsight_core.consolidate.lazy import Lazy
from hindsight_core.consolidate.patterns import VALUE
from hindsight_core.consolidate.values import Value, comparable, read_value, same_amount
from hindsight_core.text.stopwords import ENGLISH
from hindsight_core.text.tokens import terms

LONGEST = 1500
"""Characters of a text that are looked through."""
_REACH = 10
"""How far from a value, in words or characters, words of the question count."""
_UNIT_REACH = 4
_LEAST_SHARED = 2
_SHARE = 0.5
"""Of the question's words by the earlier value so many stand by the later one."""

_ASKS = Lazy(
    r"(?i)\bhow (?:many|much|long|often|old|far|big|large|high|tall|fast)\b|\bwhat(?:'s| is| are)?\b|\bwhich\b|"
    r"多少|几|多[大高长久快重]|什么|哪[个天号]"
)
_ELSEWHEN = Lazy(
    r"(?i)\b(?:first|original(?:ly)?|initial(?:ly)?|before|previous(?:ly)?|earlier|used to|history|chang\w+|over time|in order|did|"
    r"was|were|between|passed|total|altogether|combined|across|different|when|ago|since|until|last|after|ways?)\b|"
    r"最初|原[来先]|之前|以前|曾经|当[时初]|变化|改|一共|总共|合计|相差|之间|期间|时候|上[次个周]|去年|昨|前天"
)
"""Asks for what once was, for a time between, or for a sum: then the earlier value counts as much."""
_CHANGE = Lazy(
    r"(?i)\b(?:now|new|no longer|chang\w+|adjust\w+|increas\w+|reduc\w+|rais\w+|lower\w+|extend\w+|shorten\w+|moved|pushed|postponed|"
    r"rescheduled|updated|improved|reached|grew|grown|rose|dropped|fell|bumped|upgraded|switched|added|recently|just|already|since|"
    r"latest|currently|instead|actually)\b|现在|目前|改[了成为到用在]|换[了成为到]|变成|调[整到成为至]|涨[到了]|升[到至级为]|降[到至为]|"
    r"提[高前到]|推迟|延[长期后]|缩短|增加|减少|已经|最新|新的|不再|更新|达到|剩|其实"
)
_DATED = Lazy(r"(?i)\b(?:deadline|date|day|due)\b|几号|[哪几]天|截止|日期|周几|星期几")
_TIMED = Lazy(r"(?i)\btime\b|几点|时间")
_LASTING = Lazy(r"(?i)\bhow long\b|多久|多长")
_COUNTED = Lazy(r"(?i)\bhow many ((?:[\w-]+ ?){1,3})")
_TOKEN = Lazy(
    rf"{VALUE}|(?P<word>[A-Za-z\u00c0-\u024f_][\w'’-]*)|(?P<han>[\u3400-\u9fff])|(?P<stop>[.!?。！？;；\n]+)"
)
_LIGHT_HAN = frozenset("的了是我你他她在有多少什么几哪个呢吗和跟")


@dataclass(frozen=True, slots=True)
class Given:
    """The values a text gives for what is asked.

    Attributes:
        values: Those that stand by most words of the question.
        near: These words.
        changed: Whether a sentence with one of them tells of a change.
    """

    values: tuple[Value, ...]
    near: frozenset[str]
    changed: bool

    def overtakes(self, earlier: Given) -> bool:
        """Whether this, told later, gives another value for the same."""
        shared = len(self.near & earlier.near)
        if not self.changed or shared < max(_LEAST_SHARED, _SHARE * len(earlier.near)):
            return False
        return any(
            new.kind == old.kind
            and comparable(new, old)
            and not any(same_amount(new, known) for known in earlier.values if comparable(new, known))
            for new in self.values
            for old in earlier.values
        )


@dataclass(frozen=True, slots=True)
class AskedValue:
    """What a question asks the value of.

    Attributes:
        keys: Its words, as stems and pairs of characters.
        counted: What "how many" counts.
        kinds: Kinds of value that answer it.
    """

    keys: frozenset[str]
    counted: frozenset[str]
    kinds: frozenset[str]

    def given(self, text: str) -> Given:
        """The values a text gives for it."""
        found: list[tuple[Value, frozenset[str], bool]] = []
        for tokens, said in _sentences(text[:LONGEST]):
            if not any(isinstance(token, Value) for token in tokens):
                continue
            changed = _CHANGE.search(said) is not None
            for place, token in enumerate(tokens):
                if isinstance(token, Value) and token.kind in self.kinds and self._counts(tokens, place):
                    near = self.keys.intersection(tokens[max(0, place - _REACH) : place + _REACH + 1])
                    found.append((token, near | ({token.unit} & self.keys), changed))
        most = max((len(near) for _, near, _ in found), default=0)
        best = [one for one in found if len(one[1]) == most]
        return Given(
            tuple(value for value, _, _ in best),
            frozenset().union(*(near for _, near, _ in best)),
            any(changed for _, _, changed in best),
        )

    def _counts(self, tokens: list[str | Value], place: int) -> bool:
        if not self.counted:
            return True
        value = tokens[place]
        around = tokens[max(0, place - _UNIT_REACH) : place + _UNIT_REACH + 1]
        return not self.counted.isdisjoint(around) or (
            isinstance(value, Value) and value.unit in self.counted
        )


def tells_of_change(text: str) -> bool:
    """Whether a text has any sign that something has changed."""
    return _CHANGE.search(text, 0, LONGEST) is not None


def asked_value(question: str) -> AskedValue | None:
    """What a question asks the present value of; None when it asks for something else."""
    if not _ASKS.search(question) or _ELSEWHEN.search(question):
        return None
    keys = frozenset(
        token for tokens, _ in _sentences(question) for token in tokens if isinstance(token, str) and token
    )
    if len(keys) < _LEAST_SHARED:
        return None
    counted = _COUNTED.search(question)
    what = frozenset(_stem(word) for word in counted[1].split()) & keys if counted else frozenset()
    if _DATED.search(question):
        kinds = frozenset(["date", "weekday"])
    elif _TIMED.search(question):
        kinds = frozenset(["clock", "span"])
    elif _LASTING.search(question):
        kinds = frozenset(["span"])
    else:
        kinds = frozenset(["count", "money", "version", "code"])
    return AskedValue(keys, what, kinds)


def _sentences(text: str) -> Iterator[tuple[list[str | Value], str]]:
    """Each sentence as stems, pairs of characters and values, with its text."""
    tokens: list[str | Value] = []
    begin, before = 0, ""
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup or "", match[0]
        pair = before + token if kind == "han" else ""
        before = ""
        if kind == "word":
            tokens.append(_stem(token))
        elif kind == "han":
            if len(pair) > 1:
                tokens.append(pair if _LIGHT_HAN.isdisjoint(pair) else "")
            before = token
        elif kind == "stop":
            yield tokens, text[begin : match.end()]
            tokens, begin = [], match.end()
        elif (value := read_value(kind, token)) is not None:
            tokens.append(value)
    yield tokens, text[begin:]


def _stem(word: str) -> str:
    """The stem of a word that tells something; "" for others."""
    folded = word.casefold()
    return "" if folded in ENGLISH else next(iter(terms(folded)), "")
