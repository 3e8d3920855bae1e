"""Puts the table of tests/core/test_times.py to two other parsers of time expressions and reports agreement.

The parsers serve as a second opinion while the table is written; the package depends on neither. Run it in an
environment of its own:

    pip install -e . pytest jionlp "emoji<2" recognizers-text-suite
    python tools/time_oracles.py

A row counts as `same` when both bounds agree, `overlap` when the windows share time, `apart` when not, and `silent`
when the other parser finds nothing. Rows that are not the same are listed, to be decided one by one.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

Bounds = tuple[datetime | None, datetime | None]
FAR_PAST, FAR_FUTURE = datetime(1, 1, 1), datetime(9999, 12, 31)


def load_table() -> ModuleType:
    """The test module that holds the rows."""
    path = Path(__file__).parent.parent / "tests" / "core" / "test_times.py"
    spec = importlib.util.spec_from_file_location("time_table", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"no table at {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ask_jionlp(now: datetime) -> Callable[[str], list[Bounds]]:
    """jionlp, for Chinese; it gives closed windows to the second, in the zone of the machine."""
    import jionlp

    def ask(words: str) -> list[Bounds]:
        try:
            start, end = jionlp.parse_time(words, time_base=now.timestamp())["time"]
        except Exception:  # noqa: BLE001  it raises what it likes on words that it does not know
            return []
        first = None if "inf" in start else datetime.fromisoformat(start)
        return [(first, None if "inf" in end else datetime.fromisoformat(end) + timedelta(seconds=1))]

    return ask


def ask_recognizers(now: datetime, culture: str) -> Callable[[str], list[Bounds]]:
    """Microsoft's Recognizers-Text; it gives several readings, any of which may agree."""
    from recognizers_date_time import recognize_datetime

    def ask(words: str) -> list[Bounds]:
        bounds: list[Bounds] = []
        for result in recognize_datetime(words, culture, reference=now):
            for value in (result.resolution or {}).get("values", []):
                bounds.extend(_bounds(value, now))
        return bounds

    return ask


def _bounds(value: dict[str, Any], now: datetime) -> list[Bounds]:
    def moment(text: str) -> datetime:
        day, _, clock = text.partition(" ")
        if ":" in day:
            day, clock = now.date().isoformat(), day
        return datetime.fromisoformat(f"{day} {clock}".strip())

    try:
        if "value" in value:
            start = moment(value["value"])
            clock = start.time() if value["type"] != "date" else None
            width = (
                timedelta(days=1)
                if clock is None
                else timedelta(hours=1)
                if not start.minute
                else timedelta(minutes=1)
            )
            return [(start, start + width)]
        start, end = value.get("start"), value.get("end")
        return [(moment(start) if start else None, moment(end) if end else None)] if start or end else []
    except ValueError:
        return []  # "not resolved", or the year 0


def judge(ours: Bounds, theirs: list[Bounds]) -> str:
    """How a reading compares with the other parser's."""
    if not theirs:
        return "silent"
    if ours in theirs:
        return "same"
    start, end = ours[0] or FAR_PAST, ours[1] or FAR_FUTURE
    meets = any(start < (other[1] or FAR_FUTURE) and (other[0] or FAR_PAST) < end for other in theirs)
    return "overlap" if meets else "apart"


def main() -> None:
    """Compare and report."""
    table = load_table()
    now = table.NOW.replace(tzinfo=None)
    rounds: list[tuple[str, list[Any], Callable[[str], list[Bounds]]]] = [
        ("recognizers, English", table.ENGLISH, ask_recognizers(now, "en-us")),
        ("recognizers, Chinese", table.CHINESE, ask_recognizers(now, "zh-cn")),
        ("jionlp, Chinese", table.CHINESE, ask_jionlp(now)),
    ]
    for name, rows, ask in rounds:
        counts: Counter[str] = Counter()
        for _, words, start, end, _ in rows:
            ours = tuple(None if bound is None else datetime.fromisoformat(bound) for bound in (start, end))
            theirs = ask(words)
            verdict = judge((ours[0], ours[1]), theirs)
            counts[verdict] += 1
            if verdict != "same":
                print(f"{verdict:8}{words}: {_told([(ours[0], ours[1])])}; they say {_told(theirs)}")
        print(
            f"== {name}: {len(rows)} rows, "
            + ", ".join(f"{n} {verdict}" for verdict, n in counts.most_common())
        )


def _told(bounds: list[Bounds]) -> str:
    return " or ".join(f"{start or '...'} to {end or '...'}" for start, end in bounds) or "nothing"


if __name__ == "__main__":
    main()
