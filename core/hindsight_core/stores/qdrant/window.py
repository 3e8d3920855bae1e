"""What one reading of a large scope has fetched: memories by row, what may be seen of them, and columns over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hindsight_core.errors import StoreError
from hindsight_core.ports import Floats, Gist, Ints, Visibility
from hindsight_core.stores.qdrant import filters, library
from hindsight_core.stores.qdrant.columns import Columns
from hindsight_core.stores.qdrant.points import (
    SIDE,
    UNITS,
    Payload,
    PointId,
    Query,
)
from hindsight_core.stores.qdrant.scene import Scene
from hindsight_core.stores.qdrant.schema import SEARCHED, body, matrix, unit_id
from hindsight_core.stores.qdrant.view import View, complete
from hindsight_core.stores.seen import check, sees
from hindsight_core.unit import Key, MemoryUnit

_FIELDS = (*SEARCHED, "body")


class Window:
    """The memories that are here: the sample, and what was fetched.

    Args:
        view: What is stored.
        scene: The sample, level with it.
        dimension: Of the vectors; None before the first.
    """

    def __init__(self, view: View, scene: Scene, dimension: int | None) -> None:
        self.open = True
        self._view = view
        self._scene = scene
        self._dimension = dimension
        self._row: dict[PointId, int] = {}
        self._ids: list[PointId] = []
        self._payloads: list[Payload] = []
        self._asides: dict[PointId, Payload] = {}
        self._blocks: list[Columns] = []
        self._take(scene.payloads, scene.columns(dimension))
        self._sampled = len(self._ids)
        self._fetched: set[int] = set()
        self._asides |= scene.asides
        self._past: dict[Visibility, dict[PointId, MemoryUnit]] = {}
        self._allowed: dict[tuple[Visibility, int], bool] = {}
        self._done: dict[tuple[str, int], tuple[Any, list[NDArray[Any]]]] = {}

    # -- what has been fetched -------------------------------------------------------------------------------

    def _take(self, found: dict[PointId, Payload], block: Columns | None = None) -> list[int]:
        """Give rows to what is new; all rows of what was found."""
        fresh = {id: payload for id, payload in found.items() if id not in self._row}
        if fresh:
            for id in fresh:
                self._row[id] = len(self._ids)
                self._ids.append(id)
            self._payloads += fresh.values()
            self._blocks.append(block or Columns(list(fresh.values()), self._dimension))
        return [self._row[id] for id in found]

    def _ask(self, queries: Sequence[Query]) -> list[list[int]]:
        """One batched search; the rows of each answer."""
        found = self._over(self._view.points.query(queries, _FIELDS)) if queries else []
        self._learn({id: payload for answer in found for id, payload in answer})
        return [[self._row[id] for id, _ in answer] for answer in found]

    def _learn(self, found: dict[PointId, Payload]) -> None:
        """Keep what was fetched, with the uses and links of what is new."""
        fresh = [id for id in found if id not in self._row]
        self._fetched.update(self._take(found))
        if fresh:
            self._asides |= self._view.retrieve(SIDE, fresh)

    def _over(self, answers: list[list[tuple[PointId, Payload]]]) -> list[list[tuple[PointId, Payload]]]:
        """What an open write has changed is as it says."""
        if self._view.overlay is None:
            return answers
        changed = self._view.overlay.changed[UNITS]
        mine = [(id, payload) for id, payload in changed.items() if payload is not None]
        return [[*((i, p) for i, p in answer if i not in changed), *mine] for answer in answers]

    def _unit(self, row: int) -> MemoryUnit:
        id = self._ids[row]
        return complete(body(self._payloads[row], self._view.place), self._asides.get(id))

    # -- what may be seen ------------------------------------------------------------------------------------

    def _check(self) -> None:
        if not self.open:
            raise StoreError("this reading has ended; begin another with store.reading(...)")

    def _shown(self, visible: Visibility) -> Ints:
        """The rows here that may be seen, ascending."""
        self._check()
        check(visible)
        if visible.known_at is not None and visible not in self._past:
            self._past[visible] = library.then(self._view, visible)
        shown = np.flatnonzero(
            np.concatenate([np.zeros(0, np.bool_), *(block.shown(visible) for block in self._blocks)])
        )
        if visible.where is None and visible.known_at is None:
            return shown
        return np.array([row for row in shown.tolist() if self._passes(visible, row)], np.int64)

    def _passes(self, visible: Visibility, row: int) -> bool:
        key = visible, row
        if key not in self._allowed:
            past = self._past.get(visible, {}).get(self._ids[row])
            self._allowed[key] = sees(visible, self._unit(row) if past is None else past)
        return self._allowed[key]

    def _size(self, visible: Visibility) -> int:
        """How many may be seen, remembered until something changes; estimated where the engine cannot tell."""
        seen = filters.seen(visible)
        asked = replace(visible, now=datetime.max.replace(tzinfo=visible.now.tzinfo))
        if asked not in self._scene.counts:
            self._scene.counts[asked] = self._view.points.count(UNITS, seen.condition)
        if seen.exact:
            return self._scene.counts[asked]
        sample = self._shown(visible)
        return round(int((sample < self._sampled).sum()) / self._scene.share)

    def _of(self, column: Callable[[Columns], NDArray[Any]], rows: Ints) -> NDArray[Any]:
        """A column of given rows."""
        return np.concatenate([column(block) for block in self._blocks])[rows]

    def _once(self, column: Callable[[Columns, Any], NDArray[Any]], asked: Any, rows: Ints) -> NDArray[Any]:
        """A column that depends on what is asked, of given rows; worked out once for each block."""
        kept, done = self._done.setdefault((column.__name__, id(asked)), (asked, []))
        done += [column(block, kept) for block in self._blocks[len(done) :]]
        return np.concatenate(done)[rows]

    # -- by key ----------------------------------------------------------------------------------------------

    def rows_of(self, keys: Sequence[Key]) -> Ints:
        """Row handles of keys; -1 where a key is unknown or not indexed."""
        self._check()
        ids = [unit_id(key) for key in keys]
        missing = [id for id in ids if id not in self._row]
        if missing:
            self._learn(self._view.retrieve(UNITS, missing, _FIELDS))
        rows = [self._row.get(id, -1) for id in ids]
        return np.array(
            [row if row >= 0 and self._payloads[row]["indexed"] else -1 for row in rows], np.int64
        )

    def vectors(self, rows: Ints) -> Floats:
        """Their vectors, a copy; a row of nan where there is none."""
        self._check()
        found = matrix([self._payloads[row].get("v") for row in rows.tolist()], self._dimension)
        return np.full((len(rows), self._dimension or 0), np.nan, np.float32) if found is None else found

    def units(self, rows: Ints) -> list[MemoryUnit]:
        """The memories themselves, in that order; with `known_at`, as they were then."""
        self._check()
        past = {point: unit for units in self._past.values() for point, unit in units.items()}
        return [past.get(self._ids[row]) or self._unit(row) for row in rows.tolist()]

    def texts(self, rows: Ints) -> list[str]:
        """Their contents, in that order."""
        return [unit.content for unit in self.units(rows)]

    def gists(self, rows: Ints) -> list[Gist]:
        """What of them is looked at when another one comes in."""
        return [Gist.of(unit) for unit in self.units(rows)]
