"""The one rule for dates from outside: every instant in this package is aware.

Naive values are read as UTC (or the zone a caller names), a bare date is its first instant, and an aware value
keeps its own zone.
"""

from __future__ import annotations

import re
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, time, tzinfo

from hindsight_core.errors import InvalidInput

# People write 2019-4-30 and 2019/04/30; ISO 8601 wants 2019-04-30.
_LOOSE_DATE = re.compile(r"^(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?=$|[T\s])", re.ASCII)


def as_aware(value: datetime | date | str, default_tz: tzinfo = UTC) -> datetime:
    """Turn a datetime, a date or an ISO 8601 string into an aware datetime.

    Args:
        value: What the caller gave. Strings may end in "Z", carry an offset, or be a date only; unpadded and
            slashed dates ("2023-3-5", "2023/3/5") are read too.
        default_tz: The zone of a value that names none.

    Raises:
        InvalidInput: The value is no date, or lies outside of the years 1 to 9999.
    """
    if isinstance(value, str):
        value = _from_text(value)
    if not isinstance(value, datetime):
        if not isinstance(value, date):
            raise InvalidInput(
                f"a time must be a datetime, a date or an ISO 8601 string, not {type(value).__name__}"
            )
        value = datetime.combine(value, time())
    aware = value if value.utcoffset() is not None else value.replace(tzinfo=default_tz)
    if aware.year in (MINYEAR, MAXYEAR):
        try:
            aware.astimezone(UTC)
        except OverflowError as error:
            raise InvalidInput("a time must lie in the years 1 to 9999, in UTC too") from error
    return aware


def _from_text(text: str) -> datetime:
    padded = _LOOSE_DATE.sub(lambda m: f"{m[1]}-{int(m[3]):02}-{int(m[4]):02}", text.strip(), count=1)
    try:
        return datetime.fromisoformat(padded)
    except ValueError as error:
        raise InvalidInput(
            f"not a time: {text[:40]!r}; write ISO 8601, for example 2023-05-01 or 2023-05-01T09:00+08:00"
        ) from error
