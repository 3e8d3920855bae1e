"""One recall's view of the store: the index answers, the file fills in filters, stored links and the units."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from hindsight_core.errors import StoreError
from hindsight_core.ports import Bank, Candidates, Edges, Floats, Ints, Probe, Visibility
from hindsight_core.stores.index import Mask, SearchIndex
from hindsight_core.stores.sqlite import visibility
from hindsight_core.stores.sqlite.failures import ours
from hindsight_core.stores.sqlite.library import rows_of
from hindsight_core.stores.sqlite.rows import chunks, contents_at, marks, units_at
from hindsight_core.unit import Key, LinkKind, MemoryUnit, Status

_STATUSES = list(Status)
_KINDS = {kind.value: code for code, kind in enumerate(LinkKind)}
_EVERYTHING = Visibility(scopes=((),), now=datetime.min.replace(tzinfo=UTC), statuses=frozenset(Status))

Allowed = Callable[[Visibility], Ints]


class SqliteReading:
    """See `ports.Reading`. Rows are the store's own row numbers.

    Args:
        connection: Holding a snapshot.
        path: For messages.
        index: Level with the snapshot.
        dimension: Of its vectors; None when no vector was ever stored.
        allowed: Rows that pass a visibility's filter.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: str,
        index: SearchIndex,
        dimension: int | None,
        allowed: Allowed,
    ) -> None:
        self.path = path
        self.open = True
        self._connection = connection
        self._index = index
        self._dimension = dimension
        self._allowed = allowed
        self._masks: dict[Visibility, Mask] = {}
        self._past: dict[Visibility, dict[int, MemoryUnit]] = {}

    @ours
    def search(self, probe: Probe) -> tuple[Candidates, Bank]:
        """Union of the top candidates of every channel that is on."""
        candidates, bank = self._index.search(self._fitting(probe), self._mask(probe.visible))
        return self._as_then(candidates, probe.visible), bank

    @ours
    def signals(self, probe: Probe, rows: Ints) -> Candidates:
        """Exact signals for given rows, in that order."""
        candidates = self._index.signals(self._fitting(probe), self._mask(probe.visible), rows)
        return self._as_then(candidates, probe.visible)

    @ours
    def holders(self, probe: Probe) -> tuple[Ints, Ints]:
        """The best memories by words alone, and how many hold each term."""
        return self._index.holders(self._fitting(probe), self._mask(probe.visible))

    @ours
    def held(self, probe: Probe, rows: Ints) -> NDArray[np.bool_]:
        """Which rows hold which term."""
        return self._index.held(self._fitting(probe), self._mask(probe.visible), rows)

    @ours
    def neighbours(
        self, probe: Probe, rows: Ints, *, reach: int, entities: int, hub: int, links: Ints | None = None
    ) -> Edges:
        """Edges from `rows` to visible memories: within groups, over shared entities, and stored links."""
        found = self._index.neighbours(
            probe, self._mask(probe.visible), rows, reach=reach, entities=entities, hub=hub
        )
        source, target, kind = self._links(probe.visible, rows[:0] if links is None else links)
        count = len(source)
        if not count:
            return found
        return Edges(
            source=np.concatenate([found.source, source]),
            target=np.concatenate([found.target, target]),
            kind=np.concatenate([found.kind, kind]),
            distance=np.concatenate([found.distance, np.ones(count, np.int32)]),
            entity=np.concatenate([found.entity, np.zeros(count, np.uint64)]),
            degree=np.concatenate([found.degree, np.zeros(count, np.int32)]),
        )

    @ours
    def rows_of(self, keys: Sequence[Key]) -> Ints:
        """Row handles of keys; -1 where a key is unknown or not indexed."""
        self._check()
        places = rows_of(self._connection, keys, indexed=True)
        return np.array([-1 if place is None else place for place in places], np.int64)

    @ours
    def near(self, visible: Visibility, vectors: Floats, *, top: int, least: float) -> tuple[Ints, Floats]:
        """The nearest visible memories of each vector, by cosine, best first; filled up with -1 and nan."""
        mask = self._mask(visible)
        if self._dimension is None:
            shape = len(vectors), top
            return np.full(shape, -1, np.int64), np.full(shape, np.nan, np.float32)
        return self._index.near(mask, vectors, top=top, least=least)

    @ours
    def vectors(self, rows: Ints) -> Floats:
        """Their vectors, a copy; a row of nan where there is none."""
        self._check()
        return self._index.vectors(self._index.visible(_EVERYTHING, None), rows)

    @ours
    def units(self, rows: Ints) -> list[MemoryUnit]:
        """The memories themselves, in that order; with `known_at`, as they were then."""
        self._check()
        wanted = rows.tolist()
        past = {row: unit for units in self._past.values() for row, unit in units.items()}
        present = dict.fromkeys(row for row in wanted if row not in past)
        known = past | dict(zip(present, units_at(self._connection, present, self.path), strict=True))
        return [known[row] for row in wanted]

    @ours
    def texts(self, rows: Ints) -> list[str]:
        """Their contents, in that order."""
        self._check()
        wanted = rows.tolist()
        known = {row: unit.content for units in self._past.values() for row, unit in units.items()}
        for part in chunks(dict.fromkeys(row for row in wanted if row not in known)):
            known |= contents_at(self._connection, part)
        return [known[row] for row in wanted]

    def _check(self) -> None:
        if not self.open:
            raise StoreError("this reading has ended; begin another with store.reading(...)")

    def _fitting(self, probe: Probe) -> Probe:
        """The probe without its vector where nothing can be compared with it."""
        return replace(probe, vector=None) if self._dimension is None else probe

    def _mask(self, visible: Visibility) -> Mask:
        self._check()
        mask = self._masks.get(visible)
        if mask is None:
            visibility.check(visible)
            mask = self._masks[visible] = self._new_mask(visible)
        return mask

    def _new_mask(self, visible: Visibility) -> Mask:
        if visible.known_at is None:
            return self._index.visible(visible, None if visible.where is None else self._allowed(visible))
        # The index knows the present only, so here the file decides alone.
        past = self._past[visible] = visibility.then(self._connection, visible, self.path)
        seen = visibility.rows_at(self._connection, visible, past)
        return self._index.visible(replace(_EVERYTHING, scopes=visible.scopes), np.array(seen, np.int64))

    def _as_then(self, candidates: Candidates, visible: Visibility) -> Candidates:
        past = self._past.get(visible)
        if not past:
            return candidates
        status = candidates.status.copy()
        for place, row in enumerate(candidates.rows.tolist()):
            if row in past:
                status[place] = _STATUSES.index(past[row].status)
        return replace(candidates, status=status)

    def _links(self, visible: Visibility, rows: Ints) -> tuple[Ints, Ints, NDArray[np.int8]]:
        """Source, target and kind of the stored links from some rows to visible ones."""
        found: list[tuple[int, int, int]] = []
        for part in chunks(dict.fromkeys(rows.tolist())):
            read = self._connection.execute(
                f"SELECT row, other, kind FROM link WHERE row IN ({marks(part)})", part
            )
            found += [(row, other, _KINDS[kind]) for row, other, kind in read]
        table = np.array(found, np.int64).reshape(-1, 3)
        table = table[self._index.shows(self._mask(visible), table[:, 1])]
        return table[:, 0], table[:, 1], table[:, 2].astype(np.int8)
