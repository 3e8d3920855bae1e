"""One recall's view of scopes that this process holds whole: the shared index answers, as it does for a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from hindsight_core.ports import Ints, Visibility
from hindsight_core.stores.index.reading import EVERYTHING, IndexReading, Past
from hindsight_core.stores.qdrant import filters, library
from hindsight_core.stores.qdrant.points import UNITS
from hindsight_core.stores.qdrant.scene import Scene
from hindsight_core.stores.qdrant.schema import unit_id
from hindsight_core.stores.qdrant.view import View
from hindsight_core.stores.seen import sees
from hindsight_core.unit import Key, MemoryUnit


class NearReading(IndexReading):
    """See `ports.Reading`. Rows are the scene's numbers.

    Args:
        view: What is stored.
        scene: Level with it, and whole.
        dimension: Of the vectors; None before the first.
    """

    def __init__(self, view: View, scene: Scene, dimension: int | None) -> None:
        super().__init__(scene.index, dimension)
        self._view = view
        self._scene = scene

    def _linked(self, rows: Iterable[int]) -> list[tuple[int, int, int]]:
        return [
            (row, self._scene.row[other], kind)
            for row in rows
            for other, kind in self._scene.links(self._scene.points[row])
            if other in self._scene.row
        ]

    def _units(self, rows: Sequence[int]) -> dict[int, MemoryUnit]:
        return {row: self._scene.unit(self._scene.points[row], self._view.place) for row in rows}

    def rows_of(self, keys: Sequence[Key]) -> Ints:
        """Row handles of keys; -1 where a key is unknown or not indexed."""
        self._check()
        found = []
        for key in keys:
            id = unit_id(key)
            known = id in self._scene.row and bool(self._scene.payloads[id]["indexed"])
            found.append(self._scene.row[id] if known else -1)
        return np.array(found, np.int64)

    def _then(self, visible: Visibility) -> Past:
        known = library.then(self._view, visible)
        past = {self._scene.row[id]: unit for id, unit in known.items() if id in self._scene.row}
        units = self._units([row for row in self._scene.points if row not in past]) | past
        return Past(past, [row for row, unit in units.items() if sees(visible, unit) and unit.indexed])

    def _allowed(self, visible: Visibility) -> Ints:
        """Rows that pass the filter, remembered until anything changes."""
        assert visible.where is not None
        known = self._scene.allowed.get(visible.where)
        if known is None:
            asked = replace(EVERYTHING, scopes=visible.scopes, where=visible.where)
            seen = filters.seen(asked)
            if seen.exact and self._view.overlay is None:
                ids = [id for id, _ in self._view.scroll(UNITS, seen.condition, ("id",))]
            else:
                place = self._view.place
                ids = [id for id in self._scene.row if visible.where.matches(self._scene.unit(id, place))]
            known = np.array([self._scene.row[id] for id in ids if id in self._scene.row], np.int64)
            self._scene.allowed[visible.where] = known
        return known
