"""From an open transaction to stored points: all of it or nothing, although Qdrant has no transactions.

A commit writes down first what it is about to do (the *intent*: every point as it will be), then does it, then takes the
note away. The note's first page is written last and makes the commit; a process that dies before leaves nothing, one that
dies after leaves a note that whoever writes or opens next carries out. Carrying out twice does no harm: points are
written whole.

One writer at a time. Threads of a process take turns by a lock. On a server, processes take turns by a *lease*: a point
that is changed only on condition that it was free or unchanged. A writer that waits judges by its own clock: a lease whose
holder has not moved it for `LEASE` seconds is taken over. A holder moves it in time, and makes sure of it before each request
of a commit; a request already under way cannot be called back, which is the one gap, and needs a pause of half a minute.

A reader that comes while a commit is being carried out may see a part of it, for as long as that takes.
"""

from __future__ import annotations

import itertools
import json
import os
import socket
import time
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TypeVar

from hindsight_core.errors import StoreBusy, StoreError
from hindsight_core.stores.qdrant.points import (
    EVENTS,
    EVERYTHING,
    SIDE,
    UNITS,
    Overlay,
    Payload,
    Point,
    PointId,
    Points,
    among,
    both,
    equals,
)
from hindsight_core.stores.qdrant.schema import made, point_id

T = TypeVar("T")
LEASE = 30.0
_POLL = 0.02
_PAGE = 4 << 20
_PART = 512
_COUNTED = itertools.count(1)


@dataclass(slots=True)
class State:
    """The store's counters.

    Attributes:
        n: Number of the last write.
        event: Number of the last event.
        seq: Number of the last unit in the order of arrival.
        episode: Number of the last episode.
        recall: Number of the last recall written down.
        dimension: Length of the vectors; None before the first.
    """

    n: int = 0
    event: int = 0
    seq: int = 0
    episode: int = 0
    recall: int = 0
    dimension: int | None = None


def _fixed(kind: str, number: int = 0) -> str:
    return point_id(kind, (), str(number))


STATE, HOLDER = _fixed("state"), _fixed("lease")


def read_state(points: Points) -> State:
    """The counters as stored."""
    found = points.retrieve(SIDE, [STATE]).get(STATE)
    return State() if found is None else State(**{key: found[key] for key in asdict(State()) if key in found})


# -- taking turns --------------------------------------------------------------------------------------------


class Lease:
    """The right to write to a shared store."""

    def __init__(self, points: Points, timeout: float) -> None:
        self._points = points
        self._timeout = timeout
        self._token = ""
        self._until = 0.0

    def take(self) -> None:
        """Wait for it.

        Raises:
            StoreBusy: Others held it for too long.
        """
        if not self._points.shared:
            return
        self._token = f"{socket.gethostname()}:{os.getpid()}:{next(_COUNTED)}"
        started = since = time.monotonic()
        last: str | None = None
        while True:
            held = self._holder()
            now = time.monotonic()
            if held != last:
                last, since = held, now
            if not held or now - since > LEASE:
                self._claim(held)
                if self._holder() == self._token:
                    self._until = now + LEASE / 4
                    return
            elif now - started > self._timeout:
                raise StoreBusy(f"{self._points.place}: another process kept writing for too long; try again")
            time.sleep(_POLL)

    def _holder(self) -> str:
        return str(self._points.retrieve(SIDE, [HOLDER]).get(HOLDER, {}).get("holder", ""))

    def _claim(self, held: str) -> None:
        point = Point(HOLDER, {"kind": "lease", "holder": self._token, "name": self._token})
        self._points.upsert(SIDE, [point], only_if=both(among("name", [held])))

    def keep(self) -> None:
        """Called often while writing: hold on to it when it has not been moved for a while.

        Raises:
            StoreBusy: The write took so long that another process has taken over.
        """
        now = time.monotonic()
        if not self._points.shared or now < self._until:
            return
        held, self._token = self._token, f"{self._token}+"
        self._claim(held)
        if self._holder() != self._token:
            raise StoreBusy(f"{self._points.place}: this write took too long and lost its turn; try again")
        self._until = now + LEASE / 4

    def release(self) -> None:
        """Let others write."""
        if self._points.shared and self._token:
            free = Point(HOLDER, {"kind": "lease", "holder": "", "name": ""})
            self._points.upsert(SIDE, [free], only_if=both(among("name", [self._token])))
            self._token = ""


# -- the intent ----------------------------------------------------------------------------------------------


def commit(points: Points, overlay: Overlay, state: State, before: State, lease: Lease) -> None:
    """Store what a transaction has changed, and the counters after it."""
    changes = {name: overlay.changed[name] for name in (UNITS, EVENTS, SIDE)}
    after: Payload = {"kind": "state", **asdict(state)}
    note = json.dumps(
        [before.dimension, after, [[name, list(each.items())] for name, each in changes.items()]]
    )
    pages = _pages(zlib.compress(note.encode(), 1))
    lease.keep()
    try:
        if len(pages) > 1:
            points.upsert(SIDE, [_page(number, len(pages), text) for number, text in pages[1:]])
            lease.keep()
        points.upsert(SIDE, [_page(0, len(pages), pages[0][1])])
    except BaseException:
        _withdraw(points, len(pages))
        raise
    try:
        _carry_out(points, before.dimension, after, changes, lease)
        points.delete(SIDE, [_fixed("intent", number) for number, _ in pages])
    except StoreError as error:
        error.add_note("the write is written down; the next one, or the next opening, carries it out")
        raise


def _withdraw(points: Points, count: int) -> None:
    try:
        points.delete(SIDE, [_fixed("intent", number) for number in range(count)])
    except StoreError as error:
        error.add_note("whether this write was stored is unknown; the next one settles it")


def _pages(data: bytes) -> list[tuple[int, str]]:
    return [
        (number, b64encode(data[start : start + _PAGE]).decode())
        for number, start in enumerate(range(0, len(data), _PAGE))
    ]


def _page(number: int, count: int, text: str) -> Point:
    return Point(_fixed("intent", number), {"kind": "intent", "number": number, "count": count, "text": text})


def finish(points: Points, lease: Lease) -> bool:
    """Carry out what a writer that died had written down. The caller holds the lease.

    Returns:
        Whether there was anything.
    """
    head = _fixed("intent")
    first = points.retrieve(SIDE, [head]).get(head)
    if first is None:
        return False
    count = first["count"]
    pages = points.retrieve(SIDE, [_fixed("intent", number) for number in range(count)])
    data = b"".join(b64decode(pages[_fixed("intent", number)]["text"]) for number in range(count))
    dimension, after, changes = json.loads(zlib.decompress(data))
    points.use_units(dimension)
    _carry_out(points, dimension, after, {name: dict(each) for name, each in changes}, lease)
    points.delete(SIDE, [_fixed("intent", number) for number in range(count)])
    points.sync()
    return True


def _carry_out(
    points: Points,
    dimension: int | None,
    after: Payload,
    changes: Mapping[str, Mapping[PointId, Payload | None]],
    lease: Lease,
) -> None:
    if after["dimension"] != dimension:
        _move_units(points, dimension, after["dimension"], lease)
    for name in (UNITS, SIDE, EVENTS):
        written = [made(name, id, payload) for id, payload in changes[name].items() if payload is not None]
        for part in _chunks(written):
            lease.keep()
            points.upsert(name, part)
        gone = [id for id, payload in changes[name].items() if payload is None]
        if gone:
            lease.keep()
            points.delete(name, gone)
    lease.keep()
    points.upsert(SIDE, [Point(STATE, after)])  # last: from here on readers know
    if after["dimension"] != dimension:
        points.drop_units(dimension)


def _move_units(points: Points, old: int | None, new: int | None, lease: Lease) -> None:
    """Vectors of another length need a collection of their own; the units move there."""
    points.prepare_units(new)
    if not points.has_units(old):
        points.use_units(new)
        return
    waiting: list[tuple[PointId, Payload]] = []
    points.use_units(old)
    for id, payload in points.scroll(UNITS, EVERYTHING):
        waiting.append((id, payload))
    points.use_units(new)
    for part in _chunks(waiting):
        lease.keep()
        points.upsert(UNITS, [made(UNITS, id, payload) for id, payload in part])


def _chunks(items: list[T]) -> Iterator[list[T]]:
    return (items[start : start + _PART] for start in range(0, len(items), _PART))


def pending(points: Points) -> bool:
    """Whether a commit is still to be carried out."""
    return points.count(SIDE, both(equals("kind", "intent"))) > 0
