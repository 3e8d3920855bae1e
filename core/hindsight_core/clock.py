"""Where time and ids come from: the only module that reads the wall clock or the system's randomness.

Both are handed to the engine, so tests put a fake clock and counted ids in their place.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from hindsight_core.locks import Lock

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o, u


class SystemClock:
    """The machine's clock, in its local zone: "yesterday" means the user's yesterday."""

    def now(self) -> datetime:
        """The current instant, aware."""
        return datetime.now(UTC).astimezone()


class FixedClock:
    """A clock that stands still until it is moved; for tests and simulations."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def now(self) -> datetime:
        """The instant it was set to."""
        return self._now

    def set(self, now: datetime) -> None:
        """Jump to an instant."""
        self._now = now

    def advance(self, **parts: float) -> datetime:
        """Move on by `timedelta(**parts)` and return the new instant."""
        self._now += timedelta(**parts)
        return self._now


def _base32(number: int, digits: int) -> str:
    return "".join(_ALPHABET[(number >> (5 * i)) & 31] for i in range(digits - 1, -1, -1))


class TimeOrderedIds:
    """26 characters, 48 bits of milliseconds and 80 of chance; sorts by time of making.

    Within one millisecond the chance part counts upwards, so ids of one process sort in order of making.
    """

    def __init__(self, random_bits: Callable[[int], int] = secrets.randbits) -> None:
        self._random_bits = random_bits
        self._lock = Lock()
        self._last = (-1, 0)
        self._process = os.getpid()

    def __call__(self, now: datetime) -> str:
        """A new id for something made at `now`."""
        millisecond = max(int(now.timestamp() * 1000), 0)
        with self._lock:
            last, chance = self._last
            # A forked child must not count on from where its parent and the other children do.
            if self._process != os.getpid():
                self._process, chance = os.getpid(), self._random_bits(79)
            # A clock set back must not undo the order, so the last millisecond is kept until time passes it.
            if millisecond <= last:
                millisecond, chance = last, chance + 1
            else:
                chance = self._random_bits(79)
            self._last = (millisecond, chance)
        return _base32(millisecond, 10) + _base32(chance, 16)


class CountedIds:
    """Ids that only count: deterministic, for tests."""

    def __init__(self, prefix: str = "m") -> None:
        self._prefix = prefix
        self._count = 0
        self._lock = Lock()

    def __call__(self, now: datetime) -> str:
        """The next id; `now` is not used."""
        with self._lock:
            self._count += 1
            return f"{self._prefix}{self._count:06d}"
