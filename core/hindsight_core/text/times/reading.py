"""From a text to time spans: ranges, "since" and "before", tense, and the one window a question asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache

from hindsight_core.errors import InvalidInput
from hindsight_core.text.times import calendar
from hindsight_core.text.times.calendar import RANK, Window
from hindsight_core.text.times.chinese import CHINESE
from hindsight_core.text.times.digits import DIGITS
from hindsight_core.text.times.english import ENGLISH
from hindsight_core.text.times.grammar import Phrase, Said, Scanner, beside, phrases, pin, pin_pair
from hindsight_core.text.times.numerals import ENGLISH_NUMBER, english_count
from hindsight_core.text.times.readers import away_from

# Character for character, so that positions stay those of the original text.
_PLAIN = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ０１２３４５６７８９：／－．　’‘–—－～"
    "週號點兩後個這禮時鐘來從過內間聖誕國慶勞動節幾數裡裏雙親師兒婦萬紀開將會計劃準備預經剛現",
    "abcdefghijklmnopqrstuvwxyz0123456789:/-. ''---~"
    "周号点两后个这礼时钟来从过内间圣诞国庆劳动节几数里里双亲师儿妇万纪开将会计划准备预经刚现",
)


@cache
def _scanner(plain: bool) -> Scanner:
    """Compiled with the first text: it takes longer than importing all the rest of the package.

    Every Chinese rule needs a Chinese character somewhere, so a text without any is spared them.
    """
    return Scanner(DIGITS, ENGLISH) if plain else Scanner(DIGITS, CHINESE, ENGLISH)


# What may stand between two atoms of one phrase, two ends of a range, two members of a list.
_GLUE = re.compile(
    r"(?:'s)?(?:\s?,)?\s{0,2}(?:(?:of|on|in|at|around|about|by|during|from)\s+)?(?:the\s+)?|\s?[-(（]\s?|\s?的\s?|[，、]\s?"
)
_RANGE = re.compile(r"\s{0,2}(?:-{1,2}|~|to|through|thru|until|till|至|到|直到|直至)\s{0,2}(?:the\s+)?")
_AND = re.compile(r"\s{0,2}(?:and|和|与|跟|及)\s{0,2}(?:the\s+)?")
_LIST = re.compile(
    r"\s?(?:[,，、]?\s?(?:and|or|&|和|与|跟|及|以及|或|或者|还有)|[,，、])\s{0,2}(?:(?:in|on|at|during)\s+)?(?:the\s+)?"
)
_FROM = re.compile(r"(?:(?<![a-z])(?P<between>between)\s+|(?<![a-z])from\s+|从|自|由|介于)(?:the\s+)?$")
_BETWEEN = re.compile(r"\s?(?P<between>之间|期间)|间")

_BEFORE_PHRASE = re.compile(
    r"(?:(?<![a-z])(?:(?P<since>since|starting(?:\s+(?:from|on|in))?)|(?P<after>after|later\s+than)|"
    r"(?P<before>before|prior\s+to|earlier\s+than)|(?P<until>until|till|by|up\s+to|no\s+later\s+than)|(?P<from>from))"
    r"\s+(?:about\s+|around\s+)?(?:the\s+)?|(?P<since_zh>自从|自打)|(?P<from_zh>自|从)|(?P<until_zh>截至|截止到?|直到))$"
)
_AFTER_PHRASE = re.compile(
    r"(?P<since>以来|至今|到现在|迄今|到今天|起(?=[，,。；;\s]|$))|(?P<after>之后|以后|后(?![悔期续果面来卫备台端继代天一二两三四五六七八九十几\d]))|"
    r"(?P<before>之前|以前|前(?![后夕沿线台端景面往期提任一二两三四五六七八九十几\d]))|"
    r"(?P<start>起(?![床来码义因步飞诉草])|开始|\s+onwards?(?![a-z])|\s+on(?=[,.?!]|$))"
)
_OFFSET = re.compile(
    rf"(?<![a-z0-9])(?:(?P<count>{ENGLISH_NUMBER})|the)\s+(?P<unit>day|week|month|year)s?\s+"
    r"(?:(?P<back>before|prior\s+to|preceding)|after|following)\s+$"
)
_WEEK_OF = re.compile(r"(?<![a-z])(?:the\s+)?week\s+of\s+(?:the\s+)?$")
_NEXT_TO = re.compile(r"\s+(?:(?P<back>before|prior\s+to|preceding)|after|following)\s+(?:the\s+)?")
_HABIT = re.compile(
    r"(?:(?<![a-z])(?:every|each|any|per)\s+(?:other\s+)?|[每逢各](?:个|一|到|逢|周|年|月|天)?的?)$"
)

_BOUNDARY = re.compile(r"[.!?;\n。！？；](?!\d)")
_COMMA = re.compile(r"[,，.!?;\n。！？；](?!\d)")
_FUTURE = re.compile(
    r"(?<![a-z])(?:will|shall|gonna|going\s+to|plan(?:s|ning)?\s+(?:to|for)|need\s+to|have\s+to|must|upcoming|due|deadline|remind|"
    r"let's|won't)(?![a-z])|'ll(?![a-z])|将|即将|(?<![需重主只不摘必还概首么])要(?![是求么不点素紧])|打算|准备|计划|预计|预定|"
    r"会(?=在|去|来|有|到|举行|参加|下雨)|记得|提醒|截止"
)
_PAST = re.compile(
    r"(?<![a-z])(?:(?:did|was|were|had)(?:n't)?|ha(?:ve|s)n't|went|said|told|came|got|made|took|met|saw)(?![a-z])|了|(?<!不)过(?![去程年节])|曾|已经|刚|当时"
)
# Weaker than a word of the future: "we will need the finished draft".
_PARTICIPLE = re.compile(r"(?<![a-z])[a-z]{2,12}[a-df-z]ed(?![a-z])")


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A stretch of time that a text speaks of.

    Attributes:
        start: Its first instant, aware; None = open.
        end: The instant it is over (exclusive), aware; None = open.
        text: The words that said it.
        position: Where they stand, in characters.
        grain: How fine it was said: "minute", "hour", "part" (of a day), "day", "weekend", "week", "month",
            "season", "quarter", "half" (of a year), "year", "decade", "century", "recent" (nobody said how long), or
            "range" for anything else.
        explicit: An absolute date: the same whatever the reference instant ("2023-05-01", but not "in May").
    """

    start: datetime | None
    end: datetime | None
    text: str
    position: tuple[int, int]
    grain: str
    explicit: bool


@dataclass(frozen=True, slots=True)
class _Found:
    """A span, and whether it is a bare part of a day, which may be a habit ("coffee in the morning")."""

    span: TimeSpan
    bare: bool


def find_times(text: str, now: datetime) -> list[TimeSpan]:
    """All times a text speaks of, in order of position, not overlapping, the longest reading of each.

    Args:
        text: English, Chinese or both.
        now: The reference instant, aware: when the text was said. Days are those of its zone.

    Raises:
        InvalidInput: The reference instant is naive.
    """
    return [found.span for found in _Reading(text, now)]


def window_of(text: str, now: datetime) -> TimeSpan | None:
    """The window a question asks for; None when it asks for no time.

    Several times become one window: members of a list their hull, two half-open ones what they have in common, a time
    inside another the finer of the two; else the first one counts. A part of a day without its day ("in the
    evening", 早上) is taken for a habit and asks for none.

    Raises:
        InvalidInput: The reference instant is naive.
    """
    window: TimeSpan | None = None
    for found in _Reading(text, now):
        if found.bare:
            continue
        window = found.span if window is None else _together(text, window, found.span)
    return window


class _Reading:
    """One walk over the phrases of a text; remembers what the sentence spoke of so far."""

    def __init__(self, text: str, now: datetime) -> None:
        if now.utcoffset() is None:
            raise InvalidInput("the reference instant must be aware: as_aware(now) makes it so")
        self._text, self._now = text, now
        self._plain = text.translate(_PLAIN)
        scanner = _scanner(self._plain.isascii())
        atoms = [a for a in scanner(self._plain) if a.capital_at < 0 or text[a.capital_at].isupper()]
        self._phrases = phrases(atoms, self._plain, _GLUE)
        self._said: Said | None = None
        self._end = 0  # of the last phrase that was a time; what follows may not reach back over it
        self._last: Phrase | None = None

    def __iter__(self) -> Iterator[_Found]:
        index = seen = 0
        while index < len(self._phrases):
            phrase = self._phrases[index]
            if _BOUNDARY.search(self._plain, seen, phrase.begin):
                self._said = None
            seen = phrase.begin
            try:
                found, used = self._read(index)
            except (OverflowError, ValueError):
                found, used = None, 1  # the year 0, or 9,000 years from now: no date of the calendar
            if found:
                yield found
                self._end, self._last = found.span.position[1], self._phrases[index + used - 1]
            index += used

    def _read(self, index: int) -> tuple[_Found | None, int]:
        """What begins at a phrase, and how many phrases it uses."""
        phrase = self._phrases[index]
        following = self._phrases[index + 1] if index + 1 < len(self._phrases) else None
        if self._before(_HABIT, phrase.begin, 14):
            return None, 1
        if following:
            found = self._pair(phrase, following) or self._beside(phrase, following)
            if found:
                return found, 2
        return self._single(phrase), 1

    def _pair(self, first: Phrase, last: Phrase) -> _Found | None:
        """From ... to ..., between ... and ..., 从...到..., 3月5日-8日."""
        opening = self._before(_FROM, first.begin, 14)
        closing = _BETWEEN.match(self._plain, last.end)
        is_range = _RANGE.fullmatch(self._plain, first.end, last.begin)
        if not is_range and not (
            ((opening and opening["between"]) or (closing and closing["between"]))
            and _AND.fullmatch(self._plain, first.end, last.begin)
        ):
            return None
        if not (opening or first.alone or last.alone):
            return None
        said = pin_pair(first, last, self._now, said=self._said, future=self._tense(first, last) > 0)
        begin, end = opening.start() if opening else first.begin, closing.end() if closing else last.end
        return self._found(said, begin, end) if said else None

    def _beside(self, phrase: Phrase, other: Phrase) -> _Found | None:
        """The Friday before 5 May, 国庆前三天: a time counted from its neighbour."""
        gap = self._plain[phrase.end : other.begin]
        following = _NEXT_TO.fullmatch(gap)
        if following and phrase.head.cycle == "week" and len(phrase.chain) == 1 and other.grain != "part":
            anchor = pin(other, self._now, said=self._said)
            said = anchor and beside(phrase, anchor, self._now, back=following["back"] is not None)
        elif gap in ("", "的") and other.head.offset and len(other.chain) == 1 and phrase.grain == "day":
            anchor = pin(phrase, self._now, said=self._said)
            said = anchor and pin(other, anchor.window.start)
            said = said and anchor and replace(said, explicit=anchor.explicit)
        else:
            return None
        return self._found(said, phrase.begin, other.end) if said else None

    def _single(self, phrase: Phrase) -> _Found | None:
        listed = (
            self._last is not None
            and (self._last.head.cycle, self._last.grain) == (phrase.head.cycle, phrase.grain)
            and _LIST.fullmatch(self._plain, self._end, phrase.begin)
        )
        if not phrase.alone and not listed:
            return None
        tense = self._tense(phrase, phrase)
        if phrase.head.onward and not self._said and tense < 0:
            return None  # "Two days later she left": later than what was not said, and not in the future
        said = pin(phrase, self._now, said=self._said, future=tense > 0)
        if said is None:
            return None
        begin, end = phrase.begin, phrase.end
        offset, week = self._before(_OFFSET, begin, 40), self._before(_WEEK_OF, begin, 18)
        if offset and RANK.get(said.window.grain, 0) >= RANK["day"]:
            said, begin = replace(said, window=_offset(offset, said.window)), offset.start()
        elif week:
            said, begin = replace(said, window=calendar.unit("week", said.window.start)), week.start()
        before, after = self._before(_BEFORE_PHRASE, begin, 30), _AFTER_PHRASE.match(self._plain, end)
        side = _side(before, after)
        if side is None:
            bare = phrase.head.cycle == "day" and phrase.grain == "part"
            return self._found(said, begin, end, bare=bare)
        begin, end = before.start() if before else begin, after.end() if after else end
        start, stop = _half_open(side, said.window)
        span = TimeSpan(start, stop, self._text[begin:end], (begin, end), "range", said.explicit)
        return _Found(span, bare=False)

    def _found(self, said: Said, begin: int, end: int, *, bare: bool = False) -> _Found:
        self._said = said
        window = said.window
        span = TimeSpan(
            window.start, window.end, self._text[begin:end], (begin, end), window.grain, said.explicit
        )
        return _Found(span, bare)

    def _before(self, pattern: re.Pattern[str], position: int, width: int) -> re.Match[str] | None:
        """A pattern of at most `width` characters that ends where a phrase begins."""
        return pattern.search(self._plain, max(self._end, position - width), position)

    def _tense(self, first: Phrase, last: Phrase) -> int:
        """1 when the clause speaks of the future, -1 when of the past, 0 when it does not say."""
        begin = max(0, first.begin - 60)
        for stop in _COMMA.finditer(self._plain, begin, first.begin):
            begin = stop.end()
        stop_after = _COMMA.search(self._plain, last.end, last.end + 60)
        end = stop_after.start() if stop_after else last.end + 60
        if _PAST.search(self._plain, begin, end):
            return -1
        if _FUTURE.search(self._plain, begin, end):
            return 1
        return -1 if _PARTICIPLE.search(self._plain, begin, end) else 0


def _side(before: re.Match[str] | None, after: re.Match[str] | None) -> str | None:
    """Which side of a time is meant, by the words around it."""
    words = (before.groupdict() if before else {}) | (after.groupdict() if after else {})
    if words.get("start"):
        return "since" if words.get("from") or words.get("from_zh") else None
    for side in ("since", "after", "before", "until"):
        if words.get(side) or words.get(f"{side}_zh"):
            return side
    return None


def _half_open(side: str, window: Window) -> tuple[datetime | None, datetime | None]:
    far = window.start if window.is_instant else window.end
    if side in ("since", "after"):
        return (window.start if side == "since" else far), None
    return None, (window.start if side == "before" else far)


def _offset(match: re.Match[str], window: Window) -> Window:
    """Units before or after a window; "the week before" is the week that ends with it."""
    grain, sign = match["unit"], -1 if match["back"] else 1
    if match["count"]:
        return away_from(window.start, grain, english_count(match["count"]), sign)
    if sign < 0:
        return Window(calendar.shift(window.start, grain, -1), window.start, grain)
    return Window(window.end, calendar.shift(window.end, grain, 1), grain)


def _together(text: str, one: TimeSpan, other: TimeSpan) -> TimeSpan:
    begin, end = one.position[0], other.position[1]
    both = replace(
        one,
        text=text[begin:end],
        position=(begin, end),
        grain="range",
        explicit=one.explicit and other.explicit,
    )
    if _LIST.fullmatch(text[one.position[1] : other.position[0]].lower()):
        if one.start is None and other.end is None:
            one, other = other, one
        if one.end is None and other.start is None and one.start and other.end and one.start < other.end:
            return replace(both, start=one.start, end=other.end)
        starts, ends = (one.start, other.start), (one.end, other.end)
        return replace(
            both,
            start=None if None in starts else min(s for s in starts if s),
            end=None if None in ends else max(e for e in ends if e),
        )
    return other if _holds(one, other) else one


def _holds(outer: TimeSpan, inner: TimeSpan) -> bool:
    return (outer.start is None or (inner.start is not None and outer.start <= inner.start)) and (
        outer.end is None or (inner.end is not None and inner.end <= outer.end)
    )
