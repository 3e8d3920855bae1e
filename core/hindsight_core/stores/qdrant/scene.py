"""What this process knows of some scopes: all of it where they are small, a fair sample of it where they are not.

A scope of a few thousand memories is read once and searched here, by the same index as a file's memories are, with the same
answers to the last digit. Later readings ask only what has changed since (one small request when nothing has).

A larger scope is searched by the engine (see `far`). What cannot be asked of it are statistics over everything that may be
seen: how many memories hold a word, the mean cosine. Those are estimated from a sample, the memories with the
smallest *lots* (a number each point draws from its id): the same ones in every process, about `_SAMPLE` of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

import numpy as np

from hindsight_core.ports import Ints, Visibility
from hindsight_core.stores.codec import decode_scope
from hindsight_core.stores.index import SearchIndex
from hindsight_core.stores.qdrant import filters
from hindsight_core.stores.qdrant.columns import Columns
from hindsight_core.stores.qdrant.commit import State
from hindsight_core.stores.qdrant.points import (
    EVENTS,
    SIDE,
    UNITS,
    Condition,
    Payload,
    PointId,
    both,
    equals,
    matches,
    ranged,
)
from hindsight_core.stores.qdrant.schema import SEARCHED, TENANT, body, rows, unit_id
from hindsight_core.stores.qdrant.view import ASIDE, View, complete, links_in
from hindsight_core.unit import LinkKind, MemoryUnit, Scope

_BATCH = 2048
_SAMPLE = 8192
"""How many to hold of a large scope, at most. With 2,048 of 16,000, .943 of a file's ten best agreed; a recall costs the same."""
_KINDS = list(LinkKind)


class Seen(NamedTuple):
    """What a scene shows."""

    n: int
    dimension: int | None


class Scene:
    """The memories of some scopes as this process holds them.

    Attributes:
        scopes: Prefixes, as in a visibility.
        index: Over `payloads`.
        payloads: By point.
        asides: By point, of those that have one.
        row: Row numbers by point; given here, never again.
        points: Points by row number.
        allowed: Rows that pass a filter.
        counts: How many may be seen.
        complete: Whether all memories of the scopes are here to stay.
        share: Which lots are here: those below it.
        size: Number of units in the scopes.
    """

    def __init__(self, scopes: tuple[Scope, ...], *, whole: int) -> None:
        self.scopes = scopes
        self.complete = True
        self.share = 1.0
        self.size = 0
        self.allowed: dict[object, Ints] = {}
        self.counts: dict[Visibility, int] = {}
        self._columns: Columns | None = None
        self._whole = whole
        self._seen: Seen | None = None
        self._dirty: set[PointId] = set()
        self._rows = 0
        self._clear(None)

    def _clear(self, dimension: int | None) -> None:
        self.index = SearchIndex(dimension)
        self.payloads: dict[PointId, Payload] = {}
        self.asides: dict[PointId, Payload] = {}
        self.row: dict[PointId, int] = {}
        self.points: dict[int, PointId] = {}
        self._forget()

    def _forget(self) -> None:
        self.allowed.clear()
        self.counts.clear()
        self._columns = None

    def columns(self, dimension: int | None) -> Columns:
        """The memories here, as columns."""
        if self._columns is None:
            self._columns = Columns(list(self.payloads.values()), dimension)
        return self._columns

    # -- keeping up ------------------------------------------------------------------------------------------

    def catch_up(self, view: View, state: State) -> None:
        """Show what is stored, and over it what an open transaction has changed."""
        now = Seen(state.n, state.dimension)
        base = View(view.points)
        seen, self._seen = self._seen, None  # an error on the way leaves nothing half done
        if seen is None or seen.dimension != now.dimension:
            self._load(base, now.dimension)
        else:
            if self._dirty:
                self._refresh(base, list(self._dirty), now.dimension)
            if now.n > seen.n:
                self._take(base, seen.n, now.dimension)
                self._measure(base, now.dimension)
        self._dirty.clear()
        self._seen = now
        if view.overlay is not None:
            self._lay_over(view, now.dimension)

    def _under(self) -> Condition:
        here = filters.under(self.scopes)
        return here if self.complete else both(here, ranged("lot", lt=self.share))

    def _load(self, view: View, dimension: int | None) -> None:
        self.size = view.points.count(UNITS, both(filters.under(self.scopes)))
        self.complete = self.size <= self._whole
        self.share = _share(self.size, self._whole)
        self._clear(dimension)
        self._dirty.clear()
        found = dict(view.scroll(UNITS, both(self._under()), (*SEARCHED, "body")))
        if self.complete:
            asides = view.asides(filters.under(self.scopes))
        else:
            asides = view.retrieve(SIDE, found) if found else {}
        ids = list(found)
        self.payloads = found
        self.asides = {id: asides[id] for id in found if id in asides}
        self._number(ids)
        self.index.load(
            rows([found[id] for id in part], [self.row[id] for id in part], dimension) for part in _parts(ids)
        )
        self._touch(self.asides)

    def _measure(self, view: View, dimension: int | None) -> None:
        """A scope that has outgrown its share (or shrunk) is read anew."""
        size = view.points.count(UNITS, both(filters.under(self.scopes)))
        if (size <= self._whole, _share(size, self._whole)) != (self.complete, self.share):
            self._load(view, dimension)
        self.size = size

    def _take(self, view: View, n: int, dimension: int | None) -> None:
        """What has changed since write number n."""
        newer = ranged("n", gt=n)
        here = filters.under(self.scopes)
        units = dict(view.scroll(UNITS, both(self._under(), newer), (*SEARCHED, "body")))
        asides = dict(view.scroll(SIDE, both(equals("kind", ASIDE), here, newer)))
        gone = view.scroll(EVENTS, both(equals("gone", True), here, newer), (TENANT, "id"))
        removed = {unit_id((decode_scope(event[TENANT]), event["id"])) for _, event in gone}
        asides = {id: aside for id, aside in asides.items() if id in self.row or id in units}
        asides = (view.retrieve(SIDE, units) if units else {}) | asides
        self._set(units, asides, [id for id in removed if id not in units], dimension)

    def _refresh(self, view: View, ids: list[PointId], dimension: int | None) -> None:
        """Read some points again."""
        units = view.retrieve(UNITS, ids, (*SEARCHED, "body", "lot"))
        asides = view.retrieve(SIDE, ids)
        self._set(
            units, {id: asides.get(id, {}) for id in units}, [id for id in ids if id not in units], dimension
        )

    def _lay_over(self, view: View, dimension: int | None) -> None:
        assert view.overlay is not None
        changed = view.overlay.changed
        here = filters.under(self.scopes)
        units = {id: p for id, p in changed[UNITS].items() if p is not None and matches(p, here)}
        gone = [id for id, p in changed[UNITS].items() if p is None and id in self.row]
        asides = {
            id: {} if p is None else p
            for id, p in changed[SIDE].items()
            if (p is None or p["kind"] == ASIDE) and (id in units or id in self.row)
        }
        self._dirty = {*units, *gone, *asides}
        self._set(units, asides, gone, dimension)

    # -- the columns -----------------------------------------------------------------------------------------

    def _set(
        self,
        units: Mapping[PointId, Payload],
        asides: Mapping[PointId, Payload],
        gone: Iterable[PointId],
        dimension: int | None,
    ) -> None:
        self._forget()
        gone = [id for id in gone if id in self.row]
        if gone:
            self.index.remove(np.array([self.row[id] for id in gone], np.int64))
            for id in gone:
                self.points.pop(self.row.pop(id))
                self.payloads.pop(id)
                self.asides.pop(id, None)
        if units:
            self.payloads |= units
            self._number([id for id in units if id not in self.row])
            self.index.upsert(rows(list(units.values()), [self.row[id] for id in units], dimension))
        for id, aside in asides.items():
            if id in self.row:
                self.asides[id] = aside
        self._touch({id: self.asides[id] for id in {*units, *asides} if id in self.asides})

    def _number(self, ids: Iterable[PointId]) -> None:
        for id in ids:
            self._rows += 1
            self.row[id] = self._rows
            self.points[self._rows] = id

    def _touch(self, asides: Mapping[PointId, Payload]) -> None:
        used = {id: aside for id, aside in asides.items() if "weight" in aside}
        if used:
            self.index.touch(
                np.array([self.row[id] for id in used], np.int64),
                np.array([aside["weight"] for aside in used.values()], np.float32),
                np.array(
                    [datetime.fromisoformat(a["weight_at"]).timestamp() for a in used.values()], np.float64
                ),
            )

    # -- the memories ----------------------------------------------------------------------------------------

    def unit(self, id: PointId, place: str) -> MemoryUnit:
        """A memory that is here."""
        return complete(body(self.payloads[id], place), self.asides.get(id))

    def links(self, id: PointId) -> list[tuple[PointId, int]]:
        """The points a memory is linked with, and the kinds of the links."""
        found = links_in(self.asides.get(id))
        scope = decode_scope(self.payloads[id][TENANT]) if found else ()
        return [(unit_id((scope, link.id)), _KINDS.index(link.kind)) for link in found]


def _share(size: int, whole: int) -> float:
    """Which lots to hold of so many memories: all of a few, else a power of a half that leaves 4,096 to 8,192."""
    if size <= whole:
        return 1.0
    return float(min(1.0, 2.0 ** -np.ceil(np.log2(size / _SAMPLE))))


def _parts(ids: list[PointId]) -> Iterable[list[PointId]]:
    return (ids[start : start + _BATCH] for start in range(0, len(ids), _BATCH))
