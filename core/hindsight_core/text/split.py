"""Splitting: where a text may be cut so that each piece still says one thing.

A text is read as blocks (paragraphs, list items, tables, code, and in Markdown headings), a long block as sentences.
These units are then packed in order: a piece ends at the end of a paragraph once it is long enough, and between two
sentences only where the next would make it too long. A heading or the line that introduces a list is never the end of
a piece; code and tables stay whole. Every piece is a slice of the text, and together they hold all of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

LEAST, MOST, WHOLE = 200, 500, 2000
"""Characters: a piece of a document has LEAST to MOST; a chat turn, code and tables stay whole up to WHOLE."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text.

    Attributes:
        text: The part, exactly `whole_text[span[0]:span[1]]`.
        span: Where it stands.
        heading: The headings above it in a Markdown text, "Install > Linux"; "" where there are none.
    """

    text: str
    span: tuple[int, int]
    heading: str = ""


class _Unit(NamedTuple):
    """The smallest thing that is not cut.

    `leads`: what follows belongs to it (a heading, the lead-in of a list). `closes`: a paragraph ends after it.
    """

    start: int
    end: int
    heading: str
    leads: bool = False
    closes: bool = True


def pieces(text: str, *, kind: str) -> list[Piece]:
    """Split a text.

    Args:
        text: The text.
        kind: "turn" (whole up to `WHOLE` characters, else parts of about equal size), "document" or "markdown".

    Returns:
        Pieces in order, not overlapping; every character but blank ones is in exactly one.
    """
    if not text.strip():
        return []
    least, most = LEAST, MOST
    if kind == "turn":
        if len(text) <= WHOLE:
            return [Piece(text, (0, len(text)))]
        most = min(WHOLE, ceil(1.1 * len(text) / ceil(len(text) / WHOLE)))
        least = most // 2
    packed: list[list[_Unit]] = []
    for unit in _units(text, kind == "markdown", most):
        if packed and _joins(packed[-1], unit, least, most):
            packed[-1].append(unit)
        else:
            if len(packed) > 1 and _fits_before(packed[-2], packed[-1], least, most):
                packed[-2:] = [packed[-2] + packed[-1]]
            packed.append([unit])
    if len(packed) > 1 and _fits_before(packed[-2], packed[-1], least, most):
        packed[-2:] = [packed[-2] + packed[-1]]
    found = []
    for units in packed:
        start, end = units[0].start, units[-1].end
        found.append(Piece(text[start:end], (start, end), units[-1].heading if kind == "markdown" else ""))
    return found


def _joins(piece: list[_Unit], unit: _Unit, least: int, most: int) -> bool:
    """Whether the next unit goes into the piece at hand."""
    if piece[-1].leads:
        return unit.end - piece[0].start <= WHOLE
    size = piece[-1].end - piece[0].start
    if unit.heading != piece[-1].heading or (unit.leads and size >= least):
        return False
    return unit.end - piece[0].start <= most and not (piece[-1].closes and size >= least)


def _fits_before(piece: list[_Unit], after: list[_Unit], least: int, most: int) -> bool:
    """Whether a short remainder goes to the piece before it."""
    remainder = after[-1].end - after[0].start
    return (
        remainder < least
        and after[-1].end - piece[0].start <= most
        and piece[-1].heading == after[0].heading == after[-1].heading
    )


# -- blocks ----------------------------------------------------------------------------------------------------

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*$")
_ITEM = re.compile(
    r"([ \t]*)(?:[-*+•·][ \t]+|\d{1,3}[.)][ \t]+|\d{1,3}、|[（(]\d{1,3}[)）]|[一二三四五六七八九十]{1,3}、)\S"
)
_MARKUP = re.compile(r"[*_`]+|!?\[([^\[\]]{0,300})\]\([^()]{0,500}\)")
_LEADS = re.compile(r"[:：][*_ \t]*$")


class _Line(NamedTuple):
    start: int
    end: int
    text: str

    @property
    def blank(self) -> bool:
        return not self.text.strip()


def _lines(text: str) -> list[_Line]:
    found = []
    start = 0
    for line in text.split("\n"):
        found.append(_Line(start, start + len(line), line))
        start += len(line) + 1
    return found


def _units(text: str, markdown: bool, most: int) -> Iterator[_Unit]:
    """The units of a text in order."""
    lines = _lines(text)
    path: list[tuple[int, str]] = []
    heading = ""
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.blank:
            at += 1
            continue
        if markdown and (level := _heading_level(lines, at)):
            title = _title(line.text)
            path = [(above, name) for above, name in path if above < level]
            path.append((level, title))
            heading = " > ".join(name for _, name in path if name)
            after = at + (1 if line.text.lstrip().startswith("#") else 2)
            yield _Unit(line.start, lines[after - 1].end, heading, leads=True)
        else:
            after = _block_end(lines, at, markdown)
            closes = not (_ITEM.match(line.text) and _item_follows(lines, after))
            yield from _block(text, lines[at:after], heading, most, closes)
        at = after


def _heading_level(lines: list[_Line], at: int) -> int:
    """1 to 6 for a heading, 0 for anything else."""
    if (mark := _HEADING.match(lines[at].text)) is not None:
        return len(mark[1])
    if at + 1 < len(lines) and "|" not in lines[at].text and _ITEM.match(lines[at].text) is None:
        under = _UNDERLINE.match(lines[at + 1].text)
        if under is not None and (at == 0 or lines[at - 1].blank):
            return 1 if under[1][0] == "=" else 2
    return 0


def _title(line: str) -> str:
    mark = _HEADING.match(line)
    return " ".join(_MARKUP.sub(r"\1", (mark[2] or "") if mark is not None else line).split())


def _block_end(lines: list[_Line], at: int, markdown: bool) -> int:
    """Index of the first line after the block that begins here."""
    if (fence := _FENCE.match(lines[at].text)) is not None:
        for after in range(at + 1, len(lines)):
            closing = _FENCE.match(lines[after].text)
            if closing is not None and closing[1].startswith(fence[1]) and not lines[after].text.strip(" `~"):
                return after + 1
        return len(lines)
    if _ITEM.match(lines[at].text) is not None:
        return _list_end(lines, at, markdown)
    after = at + 1
    while after < len(lines) and not lines[after].blank and not _starts_block(lines, after, markdown):
        after += 1
    return after


def _starts_block(lines: list[_Line], at: int, markdown: bool) -> bool:
    text = lines[at].text
    if _FENCE.match(text) is not None or _ITEM.match(text) is not None:
        return True
    return markdown and _HEADING.match(text) is not None


def _list_end(lines: list[_Line], at: int, markdown: bool) -> int:
    """After the last line of one list item with all that is indented below it."""
    indent = _width(lines[at].text)
    after = at + 1
    while after < len(lines):
        text = lines[after].text
        if lines[after].blank:
            follows = after + 1
            if follows >= len(lines) or lines[follows].blank or _width(lines[follows].text) <= indent:
                break
        elif _width(text) <= indent and _starts_block(lines, after, markdown):
            break
        after += 1
    return after


def _item_follows(lines: list[_Line], at: int) -> bool:
    while at < len(lines) and lines[at].blank:
        at += 1
    return at < len(lines) and _ITEM.match(lines[at].text) is not None


def _width(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _block(text: str, lines: list[_Line], heading: str, most: int, closes: bool) -> Iterator[_Unit]:
    start, end = lines[0].start + _width(lines[0].text), lines[-1].start + len(lines[-1].text.rstrip())
    fence = _FENCE.match(lines[0].text) is not None
    table = len(lines) > 1 and "|" in lines[0].text and _TABLE_RULE.match(lines[1].text) is not None
    leads = not (fence or table) and _LEADS.search(lines[-1].text) is not None
    if end - start <= (WHOLE if fence or table else most):
        yield _Unit(start, end, heading, leads=leads, closes=closes)
        return
    cuts = _between_lines(lines, most) if fence or table else _sentences(text, start, end, most)
    spans = [(first, last) for first, last in cuts if first < last]
    for number, (first, last) in enumerate(spans, 1):
        final = number == len(spans)
        yield _Unit(first, last, heading, leads=leads and final, closes=closes and final)


def _between_lines(lines: list[_Line], most: int) -> Iterator[tuple[int, int]]:
    """Code or a table too long to stay whole: as many whole lines as fit."""
    for line in lines:
        if not line.blank:
            yield from _parts(
                line.text,
                line.start,
                line.start + _width(line.text),
                line.start + len(line.text.rstrip()),
                most,
            )


# -- sentences -------------------------------------------------------------------------------------------------

_SENTENCE_END = re.compile(
    r"[。！？…]+[”’」』）】》\"')\]]*|[.!?]+[\"'”’)\]*_]*(?=\s)|(?<=[.!?:：。！？；…”\"')\]）])[ \t]*\n|"
    r"\n(?=[ \t]*(?:[-*+•]\s|\w{1,20}[:：]))"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:(?:mr|mrs|ms|dr|prof|st|sr|jr|vs|etc|e\.g|i\.e|cf|al|fig|eq|no|vol|pp|approx|dept|inc|"
    r"ltd|co|corp|u\.s)|[A-Z])\.$",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[，、；：—]+|[,;:](?=\s)")
_SPACE = re.compile(r"\s+")
_FLAG_LETTERS = frozenset(map(chr, range(0x1F1E6, 0x1F200)))
_KEEPS_TOGETHER = frozenset("\u200d\ufe0e\ufe0f\u20e3")


def sentences(text: str) -> list[str]:
    """The sentences of a text, trimmed, none blank; one of more than `WHOLE` characters comes in parts."""
    return [text[start:end] for start, end in _sentences(text, 0, len(text), WHOLE)]


def _sentences(text: str, start: int, end: int, most: int) -> Iterator[tuple[int, int]]:
    """Spans of sentences; one longer than `most` is cut at clauses, words, or at last between characters."""
    first = start
    for stop in _SENTENCE_END.finditer(text, start, end):
        after = stop.end()
        if (
            stop[0][0] == "."
            and len(stop[0]) == 1
            and _ABBREVIATION.search(text, max(first, after - 10), after)
        ):
            continue
        yield from _trimmed(text, first, after, most)
        first = after
    yield from _trimmed(text, first, end, most)


def _trimmed(text: str, start: int, end: int, most: int) -> Iterator[tuple[int, int]]:
    inner = text[start:end]
    start += len(inner) - len(inner.lstrip())
    end -= len(inner) - len(inner.rstrip())
    if start < end:
        yield from _parts(text, 0, start, end, most)


def _parts(text: str, offset: int, start: int, end: int, most: int) -> Iterator[tuple[int, int]]:
    """Spans of at most `most` characters; `text` begins at `offset` of the whole."""
    while end - start > most:
        limit = start + most
        cut = _last_end(text, start + most // 2 - offset, limit - offset) + offset
        while cut > start + 1 and _inside_character(text, cut - offset):
            cut -= 1
        if cut == start + 1 and _inside_character(text, cut - offset):
            cut = limit  # a pile of marks longer than a piece
        last = cut
        while text[last - 1 - offset].isspace():
            last -= 1
        yield start, last
        start = cut
        while start < end and text[start - offset].isspace():
            start += 1
    if start < end:
        yield start, end


def _last_end(text: str, start: int, limit: int) -> int:
    """Where the last clause ends between two places, or else the last word, or else the limit."""
    for ending in (_CLAUSE_END, _SPACE):
        cut = 0
        for match in ending.finditer(text, start, limit):
            cut = match.end()
        if cut:
            return cut
    return limit


def _inside_character(text: str, at: int) -> bool:
    """Whether a cut here would fall inside what a reader sees as one character."""
    before, after = text[at - 1], text[at]
    if after in _KEEPS_TOGETHER or before == "\u200d" or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    if before in _FLAG_LETTERS and after in _FLAG_LETTERS:  # a flag is two of them
        first = at
        while first > 0 and text[first - 1] in _FLAG_LETTERS:
            first -= 1
        return (at - first) % 2 == 1
    return unicodedata.combining(after) != 0 or (
        "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff"
    )
