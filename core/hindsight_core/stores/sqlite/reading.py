"""One recall's view of the store: the index answers, the file fills in filters, stored links and the units."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from hindsight_core.ports import Gist, Ints, Visibility
from hindsight_core.stores.index import SearchIndex
from hindsight_core.stores.index.reading import IndexReading, Past
from hindsight_core.stores.sqlite import visibility
from hindsight_core.stores.sqlite.failures import ours
from hindsight_core.stores.sqlite.library import rows_of
from hindsight_core.stores.sqlite.rows import chunks, contents_at, gists_at, marks, units_at
from hindsight_core.unit import Key, LinkKind, MemoryUnit

_KINDS = {kind.value: code for code, kind in enumerate(LinkKind)}


class SqliteReading(IndexReading):
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
        allowed: Callable[[Visibility], Ints],
    ) -> None:
        super().__init__(index, dimension)
        self.path = path
        self._connection = connection
        self._rows_allowed = allowed

    @ours
    def _allowed(self, visible: Visibility) -> Ints:
        return self._rows_allowed(visible)

    @ours
    def _then(self, visible: Visibility) -> Past:
        past = visibility.then(self._connection, visible, self.path)
        return Past(past, visibility.rows_at(self._connection, visible, past))

    @ours
    def _linked(self, rows: Iterable[int]) -> list[tuple[int, int, int]]:
        found: list[tuple[int, int, int]] = []
        for part in chunks(rows):
            read = self._connection.execute(
                f"SELECT row, other, kind FROM link WHERE row IN ({marks(part)})", part
            )
            found += [(row, other, _KINDS[kind]) for row, other, kind in read]
        return found

    @ours
    def _units(self, rows: Sequence[int]) -> dict[int, MemoryUnit]:
        return dict(zip(rows, units_at(self._connection, rows, self.path), strict=True))

    @ours
    def _texts(self, rows: Sequence[int]) -> dict[int, str]:
        return {
            row: text
            for part in chunks(rows)
            for row, text in contents_at(self._connection, part, self.path).items()
        }

    @ours
    def _gists(self, rows: Sequence[int]) -> dict[int, Gist]:
        return {
            row: gist
            for part in chunks(rows)
            for row, gist in gists_at(self._connection, part, self.path).items()
        }

    @ours
    def rows_of(self, keys: Sequence[Key]) -> Ints:
        """Row handles of keys; -1 where a key is unknown or not indexed."""
        self._check()
        places = rows_of(self._connection, keys, indexed=True)
        return np.array([-1 if place is None else place for place in places], np.int64)
