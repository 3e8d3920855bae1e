"""Dates and times written in digits, the same in every language: 2023-03-05, 3/5/2023, 15:30, ISO timestamps.

Digits are everywhere, so each pattern insists on clean borders: no version (2.0.1), address (10.0.0.12), port
(host:8080) or phone number may look like a date.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from hindsight_core.text.times.calendar import Window, unit
from hindsight_core.text.times.grammar import Atom, Rules, before
from hindsight_core.text.times.readers import absolute, clock

DIGITS = Rules(r"(?<![a-z0-9_$€£¥#@=.:/+\-])", first="0-9")

_END = r"(?![a-z0-9_%]|[-./:]\d)"
_CLOCK_CUE = re.compile(r"(?<![a-z])(?:at|around|about|by|before|after|since|until|till|from|between)\s+$")


@DIGITS(
    r"(?P<year>\d{4})(?P<one>[-/.])(?P<month>\d{1,2})(?P<two>[-/.])(?P<day>\d{1,2})"
    r"(?:[t\s](?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::\d\d(?:[.,]\d{1,9})?)?(?:\s?(?P<zone>z|[+\-]\d\d:?\d\d))?)?"
    + _END
)
def _year_first(match: re.Match[str]) -> Atom | None:
    dotted = match["one"] == "."
    # "certifi 2023.07.22" is a release, 2023.07.22 after anything but a word of Latin letters is a date.
    if match["one"] != match["two"] or (dotted and re.search(r"[a-z]\s?$", before(match, 2))):
        return None
    return _day(match, int(match["year"]), int(match["month"]), int(match["day"]))


@DIGITS(r"(?P<first>\d{1,2})(?P<one>[-/.])(?P<second>\d{1,2})(?P<two>[-/.])(?P<year>(?:19|20)\d\d)" + _END)
def _year_last(match: re.Match[str]) -> Atom | None:
    first, second = int(match["first"]), int(match["second"])
    if match["one"] != match["two"]:
        return None
    # Dots are a European habit, day first; else the month comes first unless it cannot be one.
    month, day = (second, first) if match["one"] == "." or first > 12 else (first, second)
    return _day(match, int(match["year"]), month, day)


@DIGITS(r"(?P<year>(?:19|20)\d\d)-(?P<month>0[1-9]|1[0-2])" + _END)
def _year_month(match: re.Match[str]) -> Atom | None:
    return Atom(*match.span(), "month", absolute(int(match["year"]), int(match["month"])), explicit=True)


@DIGITS(r"(?P<first>(?:19|20)\d\d)年?\s?(?:-|~|至|到)\s?(?P<last>(?:19|20)\d\d)(?:年(?!级|代)|" + _END + ")")
def _years(match: re.Match[str]) -> Atom | None:
    first, last = absolute(int(match["first"])), absolute(int(match["last"]))

    def read(outer: Window, now: datetime) -> Window | None:
        start, end = first(outer, now), last(outer, now)
        return Window(start.start, end.end, "range") if start and end and start.start < end.start else None

    return Atom(*match.span(), "range", read, explicit=True)


@DIGITS(r"(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::[0-5]\d)?(?!\s?[ap]\.?m(?![a-z]))" + _END)
def _time(match: re.Match[str]) -> Atom | None:
    cue = _CLOCK_CUE.search(match.string, max(0, match.start() - 9), match.start())
    read = clock(int(match["hour"]), int(match["minute"]))
    return Atom(*match.span(), "minute", read, "day", alone=cue is not None)


def _day(match: re.Match[str], year: int, month: int, day: int) -> Atom | None:
    read_day = absolute(year, month, day)
    groups = match.groupdict()
    if groups.get("hour") is None:
        return Atom(*match.span(), "day", read_day, explicit=True)
    read_time, zone = clock(int(groups["hour"]), int(groups["minute"])), groups["zone"]

    def read(outer: Window, now: datetime) -> Window | None:
        window = read_day(outer, now if zone is None else now.replace(tzinfo=_offset(zone)))
        if window is None:
            return None
        start = read_time(window, now)
        return start and unit("minute", start.start.astimezone(now.tzinfo))

    return Atom(*match.span(), "minute", read, explicit=True)


def _offset(zone: str) -> timezone:
    if zone == "z":
        return UTC
    sign = -1 if zone[0] == "-" else 1
    return timezone(sign * timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:])))
