"""Keeping the in-memory index level with the file.

The file's state is three numbers: the last journal event and the counts of uses and of replaced vectors. Before each
reading they are compared with those the index has seen, and whatever changed since is read again, row by row, whoever
wrote it: one way for this process, for others, for erasing, and for taking back what an aborted transaction had shown.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from hindsight_core.ports import Doubles, Floats, Ints
from hindsight_core.stores.codec import decode_scope
from hindsight_core.stores.index import Rows, SearchIndex
from hindsight_core.stores.sqlite.rows import chunks, marks
from hindsight_core.unit import MemoryType, Scope, Status

BATCH = 4096

_STATUS = {status.value: code for code, status in enumerate(Status)}
_TYPE = {kind.value: code for code, kind in enumerate(MemoryType)}

_STATE = (
    "SELECT (SELECT ifnull(max(seq), 0) FROM event), (SELECT value FROM counter WHERE name = 'uses'),"
    " (SELECT value FROM counter WHERE name = 'vectors'), (SELECT value FROM meta WHERE name = 'embedder.dimension')"
)
# "used > 0" and "embedded > 0" let SQLite use its index of those few rows: it cannot know that the parameter is positive.
_READ = (
    "SELECT unit.row, scope, id, seq, status, type, timestamp / 1e6, recorded_at / 1e6, valid_from / 1e6,"
    " valid_to / 1e6, expires_at / 1e6, weight_at, indexed, importance, weight, ifnull(session, document),"
    " ifnull(turn, -1), vector, terms, entities, spans FROM unit JOIN entry ON entry.row = unit.row"
)


class State(NamedTuple):
    """What of the file an index has seen."""

    event: int
    uses: int
    vectors: int
    dimension: int | None


def state_of(connection: sqlite3.Connection) -> State:
    """The state of the file now."""
    event, uses, vectors, dimension = connection.execute(_STATE).fetchone()
    return State(event, uses, vectors, None if dimension is None else int(dimension))


class Mirror:
    """The index and the state it is at.

    Attributes:
        state: The state of the file that the index shows; None before the first load.
    """

    def __init__(self) -> None:
        self.state: State | None = None
        self._index: SearchIndex | None = None
        self._scopes: dict[int, Scope] = {}

    @property
    def index(self) -> SearchIndex:
        """The index; only after `catch_up`."""
        assert self._index is not None
        return self._index

    def catch_up(self, connection: sqlite3.Connection) -> State:
        """Bring the index to the state that the connection sees."""
        now = state_of(connection)
        seen, index = self.state, self._index
        if now == seen:
            return now
        self.state = None  # an error on the way leaves nothing half done: the next reading loads anew
        if seen is None or index is None or now.dimension != seen.dimension:
            self._index = SearchIndex(now.dimension)
            self._index.load(self._batches(connection, now.dimension))
        else:
            changed = self._changed(connection, seen) if now._replace(uses=seen.uses) != seen else []
            if 2 * len(changed) > len(index):
                index.load(self._batches(connection, now.dimension))
            else:
                self._refresh(connection, changed, now.dimension)
            if now.uses > seen.uses:
                self._touch(connection, seen.uses)
        self.state = now
        return now

    def _changed(self, connection: sqlite3.Connection, seen: State) -> list[int]:
        found = connection.execute(
            "SELECT row FROM event WHERE seq > ? AND row IS NOT NULL UNION SELECT row FROM unit WHERE embedded > 0 AND embedded > ?",
            (seen.event, seen.vectors),
        )
        return [row for (row,) in found]

    def changed_since(self, connection: sqlite3.Connection, state: State) -> list[int]:
        """Rows that differ between an earlier state and what the connection sees."""
        used = connection.execute("SELECT row FROM unit WHERE used > 0 AND used > ?", (state.uses,))
        return list({*self._changed(connection, state), *(row for (row,) in used)})

    def take_back(self, connection: sqlite3.Connection, changed: list[int] | None, state: State) -> None:
        """Return to the state before an aborted transaction, in which these rows (None = unknown) had changed."""
        shown, self.state = self.state, None
        if shown is not None and shown.dimension == state.dimension and changed is not None:
            self._scopes.clear()  # numbers given in the transaction may be given again
            self._refresh(connection, changed, state.dimension)
            self.state = state

    def _refresh(self, connection: sqlite3.Connection, changed: list[int], dimension: int | None) -> None:
        for part in chunks(changed):
            read = connection.execute(f"{_READ} WHERE unit.row IN ({marks(part)})", part).fetchall()
            gone = set(part).difference(r[0] for r in read)
            if gone:
                self.index.remove(np.array(sorted(gone), np.int64))
            if read:
                self.index.upsert(self._rows(connection, read, dimension))

    def _touch(self, connection: sqlite3.Connection, uses: int) -> None:
        read = connection.execute(
            "SELECT row, weight, weight_at FROM unit WHERE used > 0 AND used > ?", (uses,)
        ).fetchall()
        if read:
            row, weight, weight_at = zip(*read, strict=True)
            self.index.touch(np.array(row, np.int64), np.array(weight, np.float32), _instants(weight_at))

    def _batches(self, connection: sqlite3.Connection, dimension: int | None) -> Iterator[Rows]:
        self._scopes.clear()
        cursor = connection.execute(f"{_READ} ORDER BY unit.row")
        while read := cursor.fetchmany(BATCH):
            yield self._rows(connection, read, dimension)

    def _rows(
        self, connection: sqlite3.Connection, read: list[tuple[Any, ...]], dimension: int | None
    ) -> Rows:
        (row, scope, id, seq, status, kind, timestamp, recorded_at, valid_from, valid_to, expires_at, weight_at,
         indexed, importance, weight, group, turn, vector, terms, entities, spans) = zip(*read, strict=True)  # fmt: skip
        return Rows(
            row=np.array(row, np.int64),
            scope=self._scopes_of(connection, scope),
            id=list(id),
            seq=np.array(seq, np.int64),
            status=np.array([_STATUS[value] for value in status], np.int8),
            memory_type=np.array([_TYPE[value] for value in kind], np.int8),
            timestamp=np.array(timestamp, np.float64),
            recorded_at=np.array(recorded_at, np.float64),
            valid_from=np.array(valid_from, np.float64),
            valid_to=np.array(valid_to, np.float64),
            expires_at=np.array(expires_at, np.float64),
            weight_at=_instants(weight_at),
            indexed=np.array(indexed, np.bool_),
            importance=np.array(importance, np.float32),
            weight=np.array(weight, np.float32),
            group=list(group),
            turn=np.array(turn, np.int64),
            vectors=_vectors(vector, dimension),
            terms=np.frombuffer(b"".join(terms), np.uint64),
            term_offsets=_offsets(terms, 8),
            entities=np.frombuffer(b"".join(entities), np.uint64),
            entity_offsets=_offsets(entities, 8),
            spans=np.frombuffer(b"".join(spans), np.float64).reshape(-1, 2),
            span_offsets=_offsets(spans, 16),
        )

    def _scopes_of(self, connection: sqlite3.Connection, numbers: Iterable[int]) -> list[Scope]:
        known, numbers = self._scopes, list(numbers)
        for part in chunks(set(numbers).difference(known)):
            for number, path in connection.execute(
                f"SELECT id, path FROM scope WHERE id IN ({marks(part)})", part
            ):
                known[number] = decode_scope(path)
        return [known[number] for number in numbers]


def _instants(texts: Iterable[str]) -> Doubles:
    return np.array([datetime.fromisoformat(text).timestamp() for text in texts], np.float64)


def _offsets(parts: Iterable[bytes], size: int) -> Ints:
    return np.array([0, *accumulate(map(len, parts))], np.int64) // size


def _vectors(parts: tuple[bytes | None, ...], dimension: int | None) -> Floats | None:
    """Vectors as a matrix; one that is missing, or of another length than the store's, is a row of nan."""
    if dimension is None or not any(parts):
        return None
    size = 4 * dimension
    absent = np.full(dimension, np.nan, np.float32).tobytes()
    joined = b"".join([part if part is not None and len(part) == size else absent for part in parts])
    return np.frombuffer(joined, np.float32).reshape(-1, dimension)
