"""Readers: what one atom of a time expression means, as a function from windows to windows.

A reader is given a unit to look in ("the third" in a month, "Monday" in a week) and the reference instant, and
returns its window there. Readers of fixed times ("yesterday", 2023) look at the reference only.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from datetime import date, datetime, timedelta

from hindsight_core.text.times.calendar import CLOCK, Window, add, shift, stretch, unit, wall
from hindsight_core.text.times.numerals import Count

Reader = Callable[[Window, datetime], Window | None]
"""Finds a part of a window ("Monday" in a week), given the reference instant; None when there is no such part."""

# Half a unit: counted in what, how many, and how fine "one and a half months ago" is meant.
_HALVES = {
    "minute": ("minute", 0, "minute"),
    "hour": ("minute", 30, "minute"),
    "day": ("hour", 12, "hour"),
    "week": ("hour", 84, "day"),
    "month": ("day", 15, "week"),
    "quarter": ("day", 45, "week"),
    "year": ("month", 6, "month"),
    "decade": ("year", 5, "year"),
    "century": ("year", 50, "decade"),
}

# Hours after midnight; a night goes on until the small hours of the next day.
PARTS = {
    "dawn": (0, 6),
    "morning": (4, 12),
    "noon": (11, 14),
    "afternoon": (12, 18),
    "evening": (17, 22),
    "night": (18, 28),
}

# What a piece of a longer stretch is: counted in which unit, from which, up to which. "Early", "mid" and "late" are
# thirds as far as the calendar allows; the beginning and the end of a year are its outer quarters.
_PIECES: dict[str, tuple[str, dict[str, tuple[int, int]]]] = {
    "week": ("day", {"early": (0, 2), "mid": (2, 4), "late": (4, 7)}),
    "month": (
        "day",
        {"early": (0, 10), "mid": (10, 20), "late": (20, 99), "first half": (0, 15), "second half": (15, 99)},
    ),
    "season": ("month", {"early": (0, 1), "mid": (1, 2), "late": (2, 3)}),
    "quarter": ("month", {"early": (0, 1), "mid": (1, 2), "late": (2, 3)}),
    "half": ("month", {"early": (0, 2), "mid": (2, 4), "late": (4, 6)}),
    "year": (
        "month",
        {
            "early": (0, 4),
            "mid": (4, 8),
            "late": (8, 12),
            "start": (0, 3),
            "end": (9, 12),
            "first half": (0, 6),
            "second half": (6, 12),
        },
    ),
    "decade": ("year", {"early": (0, 4), "mid": (4, 7), "late": (7, 10)}),
    "century": ("year", {"early": (0, 33), "mid": (33, 67), "late": (67, 100)}),
}


# Fixed by the reference instant alone; the window they are read in does not matter.


def current(grain: str, offset: int = 0) -> Reader:
    """The unit that holds now, or lies some units from it."""
    return lambda outer, now: unit(grain, now, offset)


def away(grain: str, count: Count, sign: int) -> Reader:
    """The unit that lies `count` units before (`sign` -1) or after now; a vague count gives a range of them."""
    return lambda outer, now: away_from(now, grain, count, sign)


def away_from(moment: datetime, grain: str, count: Count, sign: int) -> Window:
    """As `away`, from any moment."""
    first, last = (_step(moment, grain, halves) for halves in sorted(sign * halves for halves in count))
    return first if count[0] == count[1] else Window(first.start, last.end, "range")


def _step(now: datetime, grain: str, halves: int) -> Window:
    if halves % 2 == 0:
        return unit(grain, now, halves // 2)
    finer, size, told = _HALVES[grain]
    return unit(told, shift(now, finer, size * halves))


def rolling(grain: str, count: Count, *signs: int) -> Reader:
    """The last (sign -1), the coming (1) `count` units, or both, rounded outwards to whole days (or minutes).

    Rounding keeps what was remembered this very moment, and the morning of the first day, in "the last three days".
    """
    halves = count[1]
    finer, size = (grain, halves // 2) if halves % 2 == 0 else (_HALVES[grain][0], _HALVES[grain][1] * halves)
    finest = "minute" if finer in CLOCK else "day"

    def read(outer: Window, now: datetime) -> Window:
        bounds = [unit(finest, now), *(unit(finest, shift(now, finer, sign * size)) for sign in signs)]
        return Window(min(bound.start for bound in bounds), max(bound.end for bound in bounds), "range")

    return read


def day_from(grain: str, amount: int, days: int = 0) -> Reader:
    """The very day some units from now ("two years ago today"), or some days beside it."""
    return lambda outer, now: unit("day", shift(now, grain, amount), days)


def absolute(
    year: int, month_number: int | None = None, day: int | None = None, grain: str = "year"
) -> Reader:
    """A year, a month of it, or a day of that, in the zone of the reference instant; or the decade of a year."""

    def read(outer: Window, now: datetime) -> Window | None:
        window: Window | None = unit(grain, wall(date(year, 1, 1), now.tzinfo))
        if window and month_number is not None:
            window = month(month_number)(window, now)
        if window and day is not None:
            window = day_of_month(day)(window, now)
        return window

    return read


def recently(outer: Window, now: datetime) -> Window:
    """The last two weeks; a grain of its own, since nobody said how long."""
    return Window(shift(unit("day", now).start, "day", -14), unit("day", now).end, "recent")


A_FEW_DAYS_AGO = away("day", (2, 10), -1)
A_WHILE_AGO = away("day", (14, 120), -1)
JUST_NOW = away("hour", (0, 2), -1)


# Found inside a unit.


def weekday(number: int) -> Reader:
    """A day of a week; Monday is 0."""
    return lambda week, now: unit("day", shift(week.start, "day", number))


def weekend(week: Window, now: datetime) -> Window:
    """Saturday and Sunday of a week."""
    return Window(shift(week.start, "day", 5), week.end, "weekend")


def month(number: int, last: int | None = None) -> Reader:
    """A month of a year, or the stretch from one month up to and including another."""
    return _months(number, (last or number) - number + 1, "month" if last is None else "range")


def season(number: int) -> Reader:
    """Spring (0), summer, autumn, winter (3) of a year."""
    return _months(3 + 3 * number, 3, "season")


def quarter(number: int) -> Reader:
    """A quarter (1-4) of a year."""
    return _months(3 * number - 2, 3, "quarter")


def half(number: int) -> Reader:
    """A half (1 or 2) of a year."""
    return _months(6 * number - 5, 6, "half")


def _months(first: int, count: int, grain: str) -> Reader:
    def read(year: Window, now: datetime) -> Window | None:
        start = date(year.start.year, first, 1)
        return stretch(start, add(start, "month", count), year.zone, grain) if count > 0 else None

    return read


def day_of_month(number: int, last: int | None = None) -> Reader:
    """A day of a month, or the stretch from one day up to and including another."""

    def read(month: Window, now: datetime) -> Window | None:
        first, size = month.start.date(), monthrange(month.start.year, month.start.month)[1]
        if not 1 <= number <= (last or number) <= size:
            return None
        start, after = first + timedelta(days=number - 1), first + timedelta(days=last or number)
        return stretch(start, after, month.zone, "day" if last is None else "range")

    return read


def day_of_year(month: int, day: int, last: int | None = None) -> Reader:
    """A date without its year, or days of one month."""
    inner = day_of_month(day, last)

    def read(year: Window, now: datetime) -> Window | None:
        return inner(unit("month", wall(date(year.start.year, month, 1), year.zone)), now)

    return read


def nth_of_month(
    number: int, weekday: int | None = None, *, days: int = 1, month: int | None = None
) -> Reader:
    """The nth weekday of a month, or its nth seven days.

    Args:
        number: 1 to 5, or -1 for the last.
        weekday: 0 for Monday to 6; None for a block of seven days, counted from the first or back from the last.
        days: How many days are meant from that weekday on (2 for a weekend).
        month: Look in this month of a year instead of in a month.
    """

    def read(window: Window, now: datetime) -> Window | None:
        first = window.start.date() if month is None else date(window.start.year, month, 1)
        after = add(first, "month", 1)
        if weekday is None:
            start = add(first, "week", number - 1) if number > 0 else add(after, "week", -1)
            return stretch(start, add(start, "week", 1), window.zone, "week")
        if number > 0:
            start = add(first, "day", (weekday - first.weekday()) % 7 + 7 * (number - 1))
        else:
            start = add(after, "day", -1 - (after.weekday() - 1 - weekday) % 7)
        grain = "day" if days == 1 else "weekend"
        return stretch(start, add(start, "day", days), window.zone, grain) if start < after else None

    return read


def part(name: str) -> Reader:
    """A part of a day."""
    first, last = PARTS[name]

    def read(day: Window, now: datetime) -> Window:
        date = day.start.date()
        return Window(wall(date, day.zone, first * 60), wall(date, day.zone, last * 60), "part")

    return read


def part_of_day(offset: int, name: str) -> Reader:
    """A part of the day some days from now: "last night", 明早."""
    read = part(name)
    return lambda outer, now: read(unit("day", now, offset), now)


def clock(hour: int, minute: int | None = None, *, twelve: bool = True) -> Reader:
    """A time of day; in a part of a day the twelve-hour clock is meant ("three in the afternoon").

    Without such help the hour is taken as written, on the twenty-four-hour clock.

    Args:
        hour: 0 to 24.
        minute: None for the whole hour.
        twelve: Whether the hour may also be that of the afternoon or, in a night, of the next day.
    """

    def read(window: Window, now: datetime) -> Window:
        at = hour
        if window.grain == "part":
            # The first showing of that hour which is not well before the part begins; "twelve" before dawn is zero.
            begin = window.start.hour
            step, slack = (12, 1) if twelve else (24, 6)
            at = 0 if (hour, begin, twelve) == (12, 0, True) else hour
            while at < begin - slack:
                at += step
        start = wall(window.start.date(), window.zone, at * 60 + (minute or 0))
        grain = "hour" if minute is None else "minute"
        return Window(start, shift(start, grain, 1), grain)

    return read


def same_time(year: Window, now: datetime) -> Window:
    """This time of year in another year: the month around the day."""
    day = add(now.date(), "year", year.start.year - now.year)
    return stretch(day - timedelta(days=15), day + timedelta(days=16), now.tzinfo, "month")


def piece(name: str) -> Reader:
    """The early, mid or late part of a longer stretch, its start or end, its first or second half."""

    def read(whole: Window, now: datetime) -> Window | None:
        grain, pieces = _PIECES[whole.grain]
        bounds = pieces.get(name) or pieces.get({"start": "early", "end": "late"}.get(name, ""))
        if bounds is None:
            return None
        first, after = (add(whole.start.date(), grain, bound) for bound in bounds)
        return Window(wall(first, whole.zone), min(wall(after, whole.zone), whole.end), "range")

    return read


DIVISIBLE = frozenset(_PIECES)
"""Grains that have an early and a late part."""
