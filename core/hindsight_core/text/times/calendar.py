"""Calendar arithmetic: half-open windows of a day, a week, a season, in the zone of the reference instant.

Everything from a day upwards is computed on plain dates and turned into instants last, so a day is as long as its
zone makes it (23 to 25 hours around a clock change); hours and minutes are counted on the time line. Weeks start
on Monday; a winter belongs to the year of its December; seasons are those of the northern hemisphere.
"""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo

_DAYS = {"day": 1, "week": 7}
_MONTHS = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120, "century": 1200}
CLOCK = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}

# From fine to coarse.
RANK = {
    grain: rank
    for rank, grain in enumerate(
        ("minute", "hour", "part", "day", "weekend", "week", "month", "season", "quarter", "half", "year", "decade", "century")
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Window:
    """A half-open stretch of time, `start <= t < end`, and how fine it was said."""

    start: datetime
    end: datetime
    grain: str

    @property
    def zone(self) -> tzinfo | None:
        """The zone its bounds are told in."""
        return self.start.tzinfo

    @property
    def is_instant(self) -> bool:
        """Whether it is a time of day: "after three" is from three o'clock on, but "after May" from June on."""
        return self.grain in CLOCK


def wall(day: date, zone: tzinfo | None, minutes: int = 0) -> datetime:
    """When a wall clock in `zone` shows `minutes` after midnight of `day`; a skipped time is the instant of the skip."""
    shown = datetime(day.year, day.month, day.day, tzinfo=zone) + timedelta(minutes=minutes)
    return shown.astimezone(UTC).astimezone(zone)


def stretch(first: date, after: date, zone: tzinfo | None, grain: str) -> Window:
    """From the start of one day up to the start of another."""
    return Window(wall(first, zone), wall(after, zone), grain)


def add(day: date, grain: str, amount: int) -> date:
    """A date `amount` units on; the day of the month is cut where the month is shorter."""
    if grain in _DAYS:
        return day + timedelta(days=_DAYS[grain] * amount)
    year, month = divmod(day.year * 12 + day.month - 1 + _MONTHS[grain] * amount, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def floor(day: date, grain: str) -> date:
    """The first day of the unit that holds `day`."""
    if grain == "day":
        return day
    if grain == "week":
        return day - timedelta(days=day.weekday())
    size = _MONTHS[grain]
    year, month = divmod((day.year * 12 + day.month - 1) // size * size, 12)
    return date(year, month + 1, 1)


def shift(moment: datetime, grain: str, amount: int) -> datetime:
    """The same wall time some days to years on; hours and minutes are real ones."""
    if grain in CLOCK:
        return (moment.astimezone(UTC) + CLOCK[grain] * amount).astimezone(moment.tzinfo)
    return wall(add(moment.date(), grain, amount), moment.tzinfo, moment.hour * 60 + moment.minute)


def unit(grain: str, moment: datetime, offset: int = 0) -> Window:
    """The calendar unit that lies `offset` units from the one holding `moment`."""
    if grain in CLOCK:
        start = shift(moment, grain, offset).replace(second=0, microsecond=0)
        start = start.replace(minute=0) if grain == "hour" else start
        return Window(start, shift(start, grain, 1), grain)
    first = add(floor(moment.date(), grain), grain, offset)
    return stretch(first, add(first, grain, 1), moment.tzinfo, grain)
