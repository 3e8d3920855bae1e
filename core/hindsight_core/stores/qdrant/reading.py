"""One recall's view of scopes that this process holds whole: the shared index answers, as it does for a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from hindsight_core.errors import StoreError
from hindsight_core.ports import Bank, Candidates, Edges, Floats, Ints, Probe, Visibility
from hindsight_core.stores.index import Mask
from hindsight_core.stores.qdrant import filters, library
from hindsight_core.stores.qdrant.points import UNITS, PointId
from hindsight_core.stores.qdrant.scene import Scene
from hindsight_core.stores.qdrant.schema import unit_id
from hindsight_core.stores.qdrant.view import View
from hindsight_core.stores.sqlite.visibility import check, sees
from hindsight_core.unit import Key, MemoryUnit, Status

_STATUSES = list(Status)
_EVERYTHING = Visibility(scopes=((),), now=datetime.min.replace(tzinfo=UTC), statuses=frozenset(Status))


def with_links(found: Edges, links: Ints) -> Edges:
    """Edges and, after them, stored links given as rows of source, target and kind."""
    count = len(links)
    return Edges(
        source=np.concatenate([found.source, links[:, 0]]),
        target=np.concatenate([found.target, links[:, 1]]),
        kind=np.concatenate([found.kind, links[:, 2].astype(np.int8)]),
        distance=np.concatenate([found.distance, np.ones(count, np.int32)]),
        entity=np.concatenate([found.entity, np.zeros(count, np.uint64)]),
        degree=np.concatenate([found.degree, np.zeros(count, np.int32)]),
    )


class NearReading:
    """See `ports.Reading`. Rows are the scene's numbers.

    Args:
        view: What is stored.
        scene: Level with it, and whole.
        dimension: Of the vectors; None before the first.
    """

    def __init__(self, view: View, scene: Scene, dimension: int | None) -> None:
        self.open = True
        self._view = view
        self._scene = scene
        self._index = scene.index
        self._dimension = dimension
        self._masks: dict[Visibility, Mask] = {}
        self._past: dict[Visibility, dict[PointId, MemoryUnit]] = {}

    def search(self, probe: Probe) -> tuple[Candidates, Bank]:
        """Union of the top candidates of every channel that is on."""
        candidates, bank = self._index.search(self._fitting(probe), self._mask(probe.visible))
        return self._as_then(candidates, probe.visible), bank

    def signals(self, probe: Probe, rows: Ints) -> Candidates:
        """Exact signals for given rows, in that order."""
        found = self._index.signals(self._fitting(probe), self._mask(probe.visible), rows)
        return self._as_then(found, probe.visible)

    def holders(self, probe: Probe) -> tuple[Ints, Ints]:
        """The best memories by words alone, and how many hold each term."""
        return self._index.holders(self._fitting(probe), self._mask(probe.visible))

    def held(self, probe: Probe, rows: Ints) -> NDArray[np.bool_]:
        """Which rows hold which term."""
        return self._index.held(self._fitting(probe), self._mask(probe.visible), rows)

    def neighbours(
        self, probe: Probe, rows: Ints, *, reach: int, entities: int, hub: int, links: Ints | None = None
    ) -> Edges:
        """Edges from `rows` to visible memories: within groups, over shared entities, and stored links."""
        mask = self._mask(probe.visible)
        found = self._index.neighbours(probe, mask, rows, reach=reach, entities=entities, hub=hub)
        return found if links is None else with_links(found, self._links(mask, links))

    def _links(self, mask: Mask, rows: Ints) -> Ints:
        """Source, target and kind of the stored links from some rows to visible ones, int64 (m, 3)."""
        found = [
            (row, self._scene.row[other], kind)
            for row in dict.fromkeys(rows.tolist())
            for other, kind in self._scene.links(self._scene.points[row])
            if other in self._scene.row
        ]
        table = np.array(found, np.int64).reshape(-1, 3)
        return table[self._index.shows(mask, table[:, 1])]

    def rows_of(self, keys: Sequence[Key]) -> Ints:
        """Row handles of keys; -1 where a key is unknown or not indexed."""
        self._check()
        found = []
        for key in keys:
            id = unit_id(key)
            known = id in self._scene.row and bool(self._scene.payloads[id]["indexed"])
            found.append(self._scene.row[id] if known else -1)
        return np.array(found, np.int64)

    def near(self, visible: Visibility, vectors: Floats, *, top: int, least: float) -> tuple[Ints, Floats]:
        """The nearest visible memories of each vector, by cosine, best first; filled up with -1 and nan."""
        mask = self._mask(visible)
        if self._dimension is None:
            shape = len(vectors), top
            return np.full(shape, -1, np.int64), np.full(shape, np.nan, np.float32)
        return self._index.near(mask, vectors, top=top, least=least)

    def vectors(self, rows: Ints) -> Floats:
        """Their vectors, a copy; a row of nan where there is none."""
        self._check()
        return self._index.vectors(self._index.visible(_EVERYTHING, None), rows)

    def units(self, rows: Ints) -> list[MemoryUnit]:
        """The memories themselves, in that order; with `known_at`, as they were then."""
        self._check()
        past = {id: unit for units in self._past.values() for id, unit in units.items()}
        ids = [self._scene.points[row] for row in rows.tolist()]
        return [past[id] if id in past else self._scene.unit(id, self._view.place) for id in ids]

    def texts(self, rows: Ints) -> list[str]:
        """Their contents, in that order."""
        return [unit.content for unit in self.units(rows)]

    # -- what may be seen ------------------------------------------------------------------------------------

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
            check(visible)
            mask = self._masks[visible] = self._new_mask(visible)
        return mask

    def _new_mask(self, visible: Visibility) -> Mask:
        if visible.known_at is None:
            return self._index.visible(visible, None if visible.where is None else self._allowed(visible))
        # The index knows the present only, so here every memory is looked at.
        past = self._past[visible] = library.then(self._view, visible)
        units = {
            id: past[id] if id in past else self._scene.unit(id, self._view.place) for id in self._scene.row
        }
        seen = [self._scene.row[id] for id, unit in units.items() if sees(visible, unit) and unit.indexed]
        return self._index.visible(replace(_EVERYTHING, scopes=visible.scopes), np.array(seen, np.int64))

    def _allowed(self, visible: Visibility) -> Ints:
        """Rows that pass the filter, remembered until anything changes."""
        assert visible.where is not None
        known = self._scene.allowed.get(visible.where)
        if known is None:
            asked = replace(_EVERYTHING, scopes=visible.scopes, where=visible.where)
            seen = filters.seen(asked)
            if seen.exact and self._view.overlay is None:
                ids = [id for id, _ in self._view.scroll(UNITS, seen.condition, ("id",))]
            else:
                place = self._view.place
                ids = [id for id in self._scene.row if visible.where.matches(self._scene.unit(id, place))]
            known = np.array([self._scene.row[id] for id in ids if id in self._scene.row], np.int64)
            self._scene.allowed[visible.where] = known
        return known

    def _as_then(self, candidates: Candidates, visible: Visibility) -> Candidates:
        past = self._past.get(visible)
        if not past:
            return candidates
        status = candidates.status.copy()
        for place, row in enumerate(candidates.rows.tolist()):
            unit = past.get(self._scene.points[row])
            if unit is not None:
                status[place] = _STATUSES.index(unit.status)
        return replace(candidates, status=status)
