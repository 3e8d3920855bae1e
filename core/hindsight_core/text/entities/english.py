"""English names: runs of capitalised words, and quoted titles.

A capital in the middle of a sentence is evidence; one at its start, in a heading or in bold type is not, unless the
word is seen capitalised elsewhere in the same text, is a known name, or has a shape no ordinary word has
(`PostgreSQL`, `NASA`). Types are decided by endings (University, Street), known first names and places; what
remains is a `system`: a product, a library, a team.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hindsight_core.text.entities import words_english as words
from hindsight_core.text.entities.technical import Mention

_CAPITALISED = re.compile(
    r"(?<![A-Za-z0-9_@/\\.#$~-])(?:[A-Z](?:\.[A-Z])+\.?(?![a-z])|"
    r"[A-Z\u00c0-\u00de\u0100-\u024f][A-Za-z0-9\u00c0-\u024f'’&+-]*)"
)
_BETWEEN = re.compile(r" (?:(?:of|of the|for the|de|de la|van|von|van der|al|bin) )?|-|\.? ?")
_UNTRUSTED = re.compile(
    r"^[ \t>]*#{1,6} .*$|\*\*[^*\n]+\*\*|__[^_\n]+__|^[^\n]{1,120}\n(?:=+|-+)$", re.MULTILINE
)
_QUOTED = re.compile(r"[\"“]([A-Z][^\"“”\n.!?:{}<>=]{2,60})[\"”]")
_KIN = re.compile(
    rf"\b(?:my|our)(?: (?:older|younger|elder|big|little|best|twin|step|ex|new|late))? ({words.KIN})\b",
    re.IGNORECASE,
)
_POSSESSIVE = re.compile(r"['’](?:s)?$")
_CONTRACTION = re.compile(r"['’](?:ve|re|ll|d|m|t)$")
_SAYS = re.compile(
    r"['’]s\b|\s(?:is|was|has|had|will|would|can|says|said|told|asked|lives|works|likes|loves|moved|wants|"
    r"uses|runs|supports)\b"
)
_BEFORE_SENTENCE = frozenset(".!?:;\n•\"“(*#>|-—–‘'[\t。！？：；")
_WORD = re.compile(r"[A-Za-z]{2,}")
_LOWER_IN_TITLES = frozenset(
    [
        "a",
        "an",
        "the",
        "and",
        "or",
        "of",
        "to",
        "in",
        "on",
        "at",
        "by",
        "for",
        "with",
        "from",
        "into",
        "via",
        "as",
        "vs",
    ]
)
_LONGEST = 5
_ARTICLES = frozenset(["my", "our", "and", "so", "but"])


@dataclass(slots=True)
class _Word:
    start: int
    end: int
    text: str
    initial: bool
    trusted: bool

    @property
    def key(self) -> str:
        return self.text.lower()

    @property
    def shaped(self) -> bool:
        """Whether no ordinary word is written so: CamelCase, an acronym, letters with digits."""
        tail = self.text[1:]
        return not tail.islower() and any(map(str.isalpha, tail)) and "'" not in tail and "-" not in tail


def english(text: str) -> Iterator[Mention]:
    """Names in the English parts of a text."""
    for title in _QUOTED.finditer(text):
        name = title[1].rstrip(",;")
        parts = name.split()
        if (
            1 < len(parts) < 9
            and parts[-1][0].isupper()
            and sum(part[0].isupper() for part in parts) * 2 >= len(parts)
        ):
            yield Mention(title.start(1), title.start(1) + len(name), name, "title")
    for kin in _KIN.finditer(text):
        yield Mention(kin.start(1), kin.end(1), kin[1], "person")
    found = _words_of(text)
    if found:
        trusted = {word.key for word in found if word.trusted and not word.initial}
        for run in _runs(text, found):
            yield from _judged(text, run, trusted)


def _words_of(text: str) -> list[_Word]:
    doubtful = [match.span() for match in _UNTRUSTED.finditer(text)]
    found: list[_Word] = []
    line_start = -1
    line_trusted = True
    for match in _CAPITALISED.finditer(text):
        start = match.start()
        if (begins := text.rfind("\n", 0, start) + 1) != line_start:
            line_start = begins
            line_trusted = not _title_case(text, begins)
        if _CONTRACTION.search(match[0]) is not None or match[0].islower():
            continue
        if match[0] == "I" and not (
            found and found[-1].end == start - 1 and found[-1].key in words.GIVEN_NAMES
        ):
            continue
        written = _POSSESSIVE.sub("", match[0]).rstrip("'’-&+")
        while doubtful and doubtful[0][1] <= start:
            doubtful.pop(0)
        inside = bool(doubtful) and doubtful[0][0] <= start
        before = text[line_start:start].rstrip(" ")[-1:]
        initial = not before or before in _BEFORE_SENTENCE
        if before == "." and found and text[found[-1].end : start] in (". ", ".", " "):
            previous = found[-1].key
            initial = not (
                len(previous) == 1
                or previous.endswith(".")
                or previous in words.HONORIFICS
                or previous == "st"
            )
        found.append(_Word(start, start + len(written), written, initial, line_trusted and not inside))
    return found


def _title_case(text: str, begins: int) -> bool:
    """Whether every word of a line is capitalised that could be: a heading, or shouting."""
    end = text.find("\n", begins)
    end = min(len(text) if end < 0 else end, begins + 300)
    written = _WORD.findall(text, begins, end)
    if any(word.islower() and word not in _LOWER_IN_TITLES for word in written):
        return False
    return sum(not word[0].islower() for word in written) > 3


def _runs(text: str, found: list[_Word]) -> Iterator[list[_Word]]:
    run = [found[0]]
    for word in found[1:]:
        previous = run[-1]
        gap = text[previous.end : word.start]
        joined = _BETWEEN.fullmatch(gap) is not None and not word.initial
        if joined and gap.startswith("."):
            joined = len(previous.text) == 1 or previous.key in words.HONORIFICS
        if joined:
            run.append(word)
        else:
            yield run
            run = [word]
    yield run


def _judged(text: str, run: list[_Word], trusted: set[str]) -> Iterator[Mention]:
    while run and (_is_lead(run, trusted) or run[0].key in words.CALENDAR):
        run = run[1:]
    while run and run[-1].key in words.CALENDAR:
        run = run[:-1]
    if not run or len(run) > _LONGEST or not _is_name(text, run, trusted):
        return
    start, end = run[0].start, run[-1].end
    name = text[start:end]
    yield Mention(start, end, name, _type(name.lower(), run))


def _is_lead(run: list[_Word], trusted: set[str]) -> bool:
    """Whether the first word of a run only owes its capital to its place."""
    word = run[0]
    if word.key in words.HONORIFICS:
        return True
    if len(run) > 1 and f"{word.key} {run[1].key}" in words.PLACES_OF_WORDS:
        return False
    if word.key in words.COMMON:
        return word.initial or not word.trusted or word.key in _ARTICLES
    stands_before_name = (
        len(run) > 1 and run[1].key in words.GIVEN_NAMES and word.key not in words.GIVEN_NAMES
    )
    return word.initial and stands_before_name and word.key not in trusted


def _is_name(text: str, run: list[_Word], trusted: set[str]) -> bool:
    first = run[0]
    known = first.key in words.GIVEN_NAMES or first.key in words.PLACES
    if len(run) == 1 and (len(first.text) < 2 or first.key in words.NO_NAMES):
        return False
    if (
        all(word.key in words.COMMON for word in run)
        and (len(run) == 1 or first.text.isupper())
        and not known
    ):
        return False
    if all(word.trusted for word in run) and not first.initial:
        return True
    if known or first.shaped or first.key in trusted:
        return first.trusted or len(run) == 1 or known
    if not first.trusted:
        return False
    if len(run) > 1:
        return any(word.key not in words.COMMON for word in run)
    return not first.key.endswith(words.ORDINARY_ENDING) and _SAYS.match(text, first.end) is not None


def _type(name: str, run: list[_Word]) -> str:
    first, last = run[0].key, run[-1].key
    if len(run) > 1 and (last in words.ORGANISATION_ENDING or first == "university"):
        return "organisation"
    if name in words.PLACES_OF_WORDS or (len(run) > 1 and last in words.PLACE_ENDING):
        return "place"
    if first in words.GIVEN_NAMES and len(run) < 4 and last not in words.THING_ENDING:
        return "person"
    return "place" if len(run) == 1 and first in words.PLACES else "system"
