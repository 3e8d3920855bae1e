"""One recall's view of memories that are all in the index; a store fills in filters, stored links and the units.

`known_at` is beyond the index, which knows the present only: the store then says how the units were, and which may be seen.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from hindsight_core.errors import StoreError
from hindsight_core.ports import Bank, Candidates, Edges, Floats, Gist, Ints, Probe, Visibility
from hindsight_core.stores.index import Mask, SearchIndex
from hindsight_core.stores.seen import check
from hindsight_core.unit import Key, MemoryUnit, Status

Part = TypeVar("Part")

_STATUSES = list(Status)
EVERYTHING = Visibility(scopes=((),), now=datetime.min.replace(tzinfo=UTC), statuses=frozenset(Status))


class Past(NamedTuple):
    """What is different with `known_at`: units that have changed since, by row, as they were; and all rows seen then."""

    units: dict[int, MemoryUnit]
    seen: list[int]


def with_links(found: Edges, links: Ints) -> Edges:
    """Edges and, after them, stored links given as rows of source, target and kind."""
    count = len(links)
    if not count:
        return found
    return Edges(
        source=np.concatenate([found.source, links[:, 0]]),
        target=np.concatenate([found.target, links[:, 1]]),
        kind=np.concatenate([found.kind, links[:, 2].astype(np.int8)]),
        distance=np.concatenate([found.distance, np.ones(count, np.int32)]),
        entity=np.concatenate([found.entity, np.zeros(count, np.uint64)]),
        degree=np.concatenate([found.degree, np.zeros(count, np.int32)]),
    )


class IndexReading(ABC):
    """See `ports.Reading`. Rows are the index's.

    Args:
        index: Level with what is stored.
        dimension: Of its vectors; None when no vector was ever stored.
    """

    def __init__(self, index: SearchIndex, dimension: int | None) -> None:
        self.open = True
        self._index = index
        self._dimension = dimension
        self._masks: dict[Visibility, Mask] = {}
        self._past: dict[Visibility, dict[int, MemoryUnit]] = {}

    # -- what a store fills in -------------------------------------------------------------------------------

    @abstractmethod
    def _allowed(self, visible: Visibility) -> Ints:
        """Rows that pass a visibility's filter."""

    @abstractmethod
    def _then(self, visible: Visibility) -> Past:
        """What was known at `known_at`."""

    @abstractmethod
    def _linked(self, rows: Iterable[int]) -> list[tuple[int, int, int]]:
        """Row, row of the other end and kind of the stored links of some rows."""

    @abstractmethod
    def _units(self, rows: Sequence[int]) -> dict[int, MemoryUnit]:
        """Units of some rows as they are."""

    def _texts(self, rows: Sequence[int]) -> dict[int, str]:
        """Contents of some rows."""
        return {row: unit.content for row, unit in self._units(rows).items()}

    def _gists(self, rows: Sequence[int]) -> dict[int, Gist]:
        """Gists of some rows."""
        return {row: Gist.of(unit) for row, unit in self._units(rows).items()}

    @abstractmethod
    def rows_of(self, keys: Sequence[Key]) -> Ints:
        """Row handles of keys; -1 where a key is unknown or not indexed."""

    # -- searching -------------------------------------------------------------------------------------------

    def expect(self, probes: Sequence[Probe]) -> None:  # noqa: B027 - nothing to do is what it does
        """Everything is here already."""

    def begin_search(self, visible: Visibility, vectors: Sequence[Floats]) -> None:
        """Begin to compare vectors that `search` will be asked about, beside other work."""
        if self._dimension is not None:
            self._index.begin_search(self._mask(visible), vectors)

    def begin_near(self, visible: Visibility, vectors: Floats, *, top: int, least: float) -> None:
        """Begin what `near` will be asked for, beside other work."""
        if self._dimension is not None:
            self._index.begin_near(self._mask(visible), vectors, top=top, least=least)

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
        if links is None or not len(links):
            return found
        table = np.array(self._linked(dict.fromkeys(links.tolist())), np.int64).reshape(-1, 3)
        return with_links(found, table[self._index.shows(mask, table[:, 1])])

    def near(self, visible: Visibility, vectors: Floats, *, top: int, least: float) -> tuple[Ints, Floats]:
        """The nearest visible memories of each vector, by cosine, best first; filled up with -1 and nan."""
        mask = self._mask(visible)
        if self._dimension is None:
            shape = len(vectors), top
            return np.full(shape, -1, np.int64), np.full(shape, np.nan, np.float32)
        return self._index.near(mask, vectors, top=top, least=least)

    # -- by row ----------------------------------------------------------------------------------------------

    def vectors(self, rows: Ints) -> Floats:
        """Their vectors, a copy; a row of nan where there is none."""
        self._check()
        return self._index.vectors(self._index.visible(EVERYTHING, None), rows)

    def units(self, rows: Ints) -> list[MemoryUnit]:
        """The memories themselves, in that order; with `known_at`, as they were then."""
        return self._each(rows, self._units, lambda unit: unit)

    def texts(self, rows: Ints) -> list[str]:
        """Their contents alone, in that order."""
        return self._each(rows, self._texts, lambda unit: unit.content)

    def gists(self, rows: Ints) -> list[Gist]:
        """What of them is looked at when another one comes in, in that order."""
        return self._each(rows, self._gists, Gist.of)

    def _each(
        self,
        rows: Ints,
        read: Callable[[Sequence[int]], dict[int, Part]],
        part_of: Callable[[MemoryUnit], Part],
    ) -> list[Part]:
        """Something of each memory, in that order: of what has changed since `known_at`, as it was then."""
        self._check()
        wanted = rows.tolist()
        known = {row: part_of(unit) for units in self._past.values() for row, unit in units.items()}
        known |= read(list(dict.fromkeys(row for row in wanted if row not in known)))
        return [known[row] for row in wanted]

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
        self._past[visible], seen = self._then(visible)
        return self._index.visible(replace(EVERYTHING, scopes=visible.scopes), np.array(seen, np.int64))

    def _as_then(self, candidates: Candidates, visible: Visibility) -> Candidates:
        past = self._past.get(visible)
        if not past:
            return candidates
        status = candidates.status.copy()
        for place, row in enumerate(candidates.rows.tolist()):
            if row in past:
                status[place] = _STATUSES.index(past[row].status)
        return replace(candidates, status=status)
