"""When in doubt, both stay: signs that two alike statements are about two things rather than one that changed.

Superseding hides a memory, so a wrong one costs more than a missed one. These signs are read off the two texts as they
stand, whatever their grammar: they need no parse, and speak only against.
"""

from __future__ import annotations

import re
from itertools import takewhile

_TOKEN = re.compile(r"[A-Za-z]+(?:'[a-z]+)?|\d+(?:[.,:]\d+)*|[\u4e00-\u9fff]|[^\s\w]")
_REQUEST = re.compile(
    r"^\W*(?:please\b|(?:can|could|would|will) you\b|translate\b|remind me\b|book\b|请(?!假)|帮我|帮忙|麻烦|给我(?!的))",
    re.IGNORECASE,
)
_STANDING = re.compile(
    r"\b(?:never|always|from now on|any ?more|every|whenever)\b|以后|总是|永远|每次|不要再|别再|今后",
    re.IGNORECASE,
)
_FEW = 8
_FORMERLY = re.compile(
    r"\bused to\b|\bformerly\b|\bback then\b|\bonce (?:lived|worked)\b|以前|曾经|从前|原先", re.IGNORECASE
)
_NOW = re.compile(r"\bnow\b|\bno longer\b|\bany ?more\b|\binstead\b|现在|不再|如今|改", re.IGNORECASE)
_DEICTIC = re.compile(
    r"\b(?:today|yesterday|tonight|last night|this (?:morning|afternoon|evening))\b|今天|昨天|前天|今早|今晚|昨晚",
    re.IGNORECASE,
)
_PREDICATE = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "am",
        "'s",
        "'re",
        "has",
        "have",
        "had",
        "runs",
        "uses",
        "use",
        "costs",
        "cost",
        "weighs",
        "weigh",
        "listens",
        "starts",
        "start",
        "ends",
        "end",
        "lives",
        "live",
        "works",
        "work",
        "takes",
        "take",
        "needs",
        "need",
        "at",
        "on",
        "to",
        "=",
        ":",
        "是",
        "为",
        "在",
        "用",
        "改",
        "换",
        "到",
        "有",
        "叫",
        "住",
        "：",
        "需",
        "要",
        "坐",
        "重",
        "花",
        "设",
    ]
)
_AGAIN = re.compile(r"\bagain\b|再(?:说|发|问|来)", re.IGNORECASE)


def doubtful(later: str, earlier: str) -> bool:
    """Whether `earlier` had better stay, although `later` seems to give it another value."""
    if any(_REQUEST.search(text) and not _STANDING.search(text) for text in (later, earlier)):
        return True
    if _FORMERLY.search(later) and not _NOW.search(later):
        return True
    days = [{day.casefold() for day in _DEICTIC.findall(text)} for text in (later, earlier)]
    if days[0] and days[1] and days[0] != days[1]:
        return True
    one, two = ([token.casefold() for token in _TOKEN.findall(text)] for text in (later, earlier))
    if _AGAIN.search(later) and len(one) <= _FEW and not _PREDICATE & set(one):
        return True
    return _labels_differ(one, two) or _subjects_differ(later, earlier)


_HAN_SUBJECT = re.compile(
    r"^[\s“\"「]*(?P<who>[\u4e00-\u9fffA-Za-z0-9_-]{2,10}?)"
    r"(?:的(?P<what>[\u4e00-\u9fff]{2,6}?))?(?=现在|已经|喜欢|最|是|在|用|改|换|搬|住|对|不|有|要|将|把|从|升|为|去|叫|负责)"
)
_PRONOUN = re.compile(r"^(?:我|你|您|他|她|它|咱|大家|这|那|今|明|昨|以后|现在|目前|最近|请)")
_LATIN_SUBJECT = re.compile(
    r"^(?P<who>[A-Z][\w'-]*(?: [\w'-]+){0,6}?) (?:is|are|was|were|has|have|lives?|works?|moved|runs?|uses?|listens?|costs?)\b"
)
_LATIN_PRONOUN = frozenset("i my we our he she it they his her their its this that there".split())  # noqa: SIM905
_COMMON = frozenset("the a an of for in on at and to new old current main".split())  # noqa: SIM905


def _subjects_differ(later: str, earlier: str) -> bool:
    """Whether both begin by naming what they are about, and name different things, or different sides of one thing."""
    new, old = _HAN_SUBJECT.match(later), _HAN_SUBJECT.match(earlier)
    if new and old and not (_PRONOUN.match(new["who"]) or _PRONOUN.match(old["who"])):
        if new["who"] not in earlier and old["who"] not in later:
            return True
        if new["what"] and old["what"] and new["what"] not in earlier and old["what"] not in later:
            return True
        rest = [
            set(map("".join, zip(t[m.end("who") :], t[m.end("who") + 1 :], strict=False)))
            for t, m in ((later, new), (earlier, old))
        ]
        if new["who"] == old["who"] and rest[0].isdisjoint(rest[1]):
            return True
    one, two = _LATIN_SUBJECT.match(later), _LATIN_SUBJECT.match(earlier)
    if one and two:
        a, b = (set(m["who"].casefold().split()) - _COMMON for m in (one, two))
        if a and b and a.isdisjoint(b) and not (a | b) & _LATIN_PRONOUN:
            return True
    return False


def _labels_differ(one: list[str], two: list[str]) -> bool:
    """Whether what differs first is a number or letter that names the subject: invoice 1021 / 1022, 会议室A / 会议室B.

    A number before any predicate tells which one is meant; behind one ("the port is 7421") it is what is said.
    """
    shared = [a for a, b in takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False))]
    place = len(shared)
    if place >= min(len(one), len(two)) or _PREDICATE & set(shared):
        return False
    return _is_label(one[place]) and _is_label(two[place])


def _is_label(token: str) -> bool:
    return token[0].isdigit() or (len(token) == 1 and token.isascii() and token.isalpha() and token != "i")
