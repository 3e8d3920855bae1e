"""The store itself: opening, locking, transactions; everything else is passed on."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import numpy as np

from hindsight_core.errors import InvalidInput, StoreBusy, StoreClosed, StoreError, StoreUnwritable
from hindsight_core.journal import Event
from hindsight_core.ports import Ints, Visibility, Vital
from hindsight_core.stores.seen import check
from hindsight_core.stores.sqlite import journal, library, visibility
from hindsight_core.stores.sqlite.catchup import State, state_of
from hindsight_core.stores.sqlite.connections import MEMORY, Connections, checked_path
from hindsight_core.stores.sqlite.erase import wipe
from hindsight_core.stores.sqlite.failures import ours
from hindsight_core.stores.sqlite.reading import SqliteReading
from hindsight_core.stores.sqlite.replica import SqliteReplica
from hindsight_core.stores.sqlite.transaction import SqliteTransaction
from hindsight_core.unit import Episode, Key, MemoryUnit, Scope

DURABILITY = ("full", "normal")
_KEPT_FILTERS = 16
_GONE = "the file was deleted, moved or replaced while it was open"


class SqliteStore:
    """See `ports.Store`. Safe to use from any thread; in a forked child it opens the file anew.

    Inside a write, the same thread's other calls (`get`, `find`, `reading`, ...) see what the write has done so far;
    no one else does. A write inside a reading is refused.
    """

    def __init__(self, connections: Connections, busy_timeout: float) -> None:
        self.path = connections.path
        self._busy_timeout = busy_timeout
        self._connections: Connections | None = connections
        self._allowed: dict[tuple[Any, ...], Ints] = {}
        self._allowed_at: State | None = None
        self._finalizer = weakref.finalize(self, Connections.close, connections)

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], *, durability: str = "full", busy_timeout: float = 30.0
    ) -> SqliteStore:
        """Open a store; the file is made when it is not there, its folder is not.

        Args:
            path: A file on a local disk, or ":memory:" for a store that is gone when closed.
            durability: "full": what a write returned survives a power cut. "normal": it survives the end of the
                process; after a power cut the last writes may be missing, the rest is whole.
            busy_timeout: Seconds to wait for another process's write to end.

        Raises:
            InvalidInput: An argument is wrong.
            NotAStore: The file belongs to something else.
            SchemaTooNew: A newer release wrote it.
            StoreCorrupted: It is damaged.
            StoreUnwritable: The file or its folder cannot be written, or the folder does not exist.
            StoreBusy: Another process held it for too long.
        """
        if durability not in DURABILITY:
            raise InvalidInput(f"durability is one of {', '.join(DURABILITY)}, not {durability!r}")
        if not isinstance(busy_timeout, int | float) or not 0 <= busy_timeout <= 3600:
            raise InvalidInput(f"busy_timeout is a number of seconds from 0 to 3600, not {busy_timeout!r}")
        found = Connections(checked_path(path), durability=durability, busy_timeout=busy_timeout)
        return cls(found, busy_timeout)

    def __repr__(self) -> str:
        return f"<SqliteStore {self.path!r}{'' if self._connections else ' closed'}>"

    def _held(self) -> Connections:
        if self._connections is None:
            raise StoreClosed(f"{self.path}: the store was closed; open it again")
        found = self._connections.in_this_process()
        if found is not self._connections:
            self._finalizer.detach()
            self._connections = found
            self._finalizer = weakref.finalize(self, Connections.close, found)
        return found

    # -- writing ---------------------------------------------------------------------------------------------

    @contextmanager
    def write(
        self, *, actor: str, batch: str, now: datetime, durable: bool = True
    ) -> Iterator[SqliteTransaction]:
        """Begin an atomic write; commits when the block ends, rolls back when it raises."""
        held = self._lock_for_writing()
        try:
            begun = self._begin(held, durable)
            try:
                tx = self._transaction(held, actor, batch, now)
                try:
                    yield tx
                finally:
                    tx.open = False
                self._commit(held)
            except BaseException:
                self._roll_back(held, begun)
                raise
            if tx.erased:
                self._wipe(held)
        finally:
            self._unlock(held)

    def _lock_for_writing(self) -> Connections:
        held, me = self._held(), threading.get_ident()
        if held.writing == me:
            raise StoreError("this thread is writing already; end that write first")
        if held.reading == me:
            raise StoreError("this thread is reading; end the reading before writing")
        if not held.write_lock.acquire(timeout=self._busy_timeout):
            raise StoreBusy(f"{self.path}: another thread held the write lock for too long; try again")
        if held is not self._connections:
            held.write_lock.release()
            raise StoreClosed(f"{self.path}: the store was closed; open it again")
        held.writing = me
        if held.shared:
            held.read_lock.acquire()
        return held

    def _unlock(self, held: Connections) -> None:
        # In memory the lock was taken with the write, else by the first reading inside it, if there was one.
        if held.shared or held.reading == held.writing:
            held.reading = None
            held.read_lock.release()
        held.writing = None
        held.write_lock.release()

    @ours
    def _begin(self, held: Connections, durable: bool) -> State:
        if not held.in_place():
            raise StoreUnwritable(f"{self.path}: {_GONE}; nothing was changed. Open it again.")
        held.wait_for_disk(durable)
        held.writer.execute("BEGIN IMMEDIATE")
        return state_of(held.writer)

    @ours
    def _transaction(self, held: Connections, actor: str, batch: str, now: datetime) -> SqliteTransaction:
        return SqliteTransaction(held.writer, self.path, actor=actor, batch=batch, now=now)

    @ours
    def _commit(self, held: Connections) -> None:
        held.writer.execute("COMMIT")

    @ours
    def _roll_back(self, held: Connections, begun: State) -> None:
        shown = held.mirror.state is not None and held.reading == held.writing
        changed: list[int] | None = None
        if held.writer.in_transaction:  # else SQLite has rolled back by itself
            changed = held.mirror.changed_since(held.writer, begun) if shown else []
            held.writer.execute("ROLLBACK")
        if shown:
            self._allowed_at = None
            held.mirror.take_back(held.writer, changed, begun)

    @ours
    def _wipe(self, held: Connections) -> None:
        with held.read_lock:
            wipe(held.writer, self.path)

    # -- reading ---------------------------------------------------------------------------------------------

    @contextmanager
    def reading(self, visible: Visibility) -> Iterator[SqliteReading]:
        """A consistent view, caught up with everything committed so far by any process."""
        check(visible)
        with self._snapshot(keep=True) as connection:
            held = self._held()
            state = self._catch_up(held, connection)
            found = SqliteReading(
                connection,
                self.path,
                held.mirror.index,
                state.dimension,
                lambda asked: self._rows_allowed(connection, state, asked),
            )
            try:
                yield found
            finally:
                found.open = False

    @ours
    def _catch_up(self, held: Connections, connection: Connection) -> State:
        return held.mirror.catch_up(connection)

    def _rows_allowed(self, connection: Connection, state: State, visible: Visibility) -> Ints:
        """Rows that pass the filter, remembered until anything changes."""
        if self._allowed_at != state or len(self._allowed) > _KEPT_FILTERS:
            self._allowed, self._allowed_at = {}, state
        key = (visible.scopes, visible.where)
        if key not in self._allowed:
            assert visible.where is not None
            scope, params = visibility.in_scopes(connection, visible.scopes, "unit.scope")
            condition, more = visible.where.to_sql()
            found = connection.execute(
                f"SELECT row FROM unit WHERE {scope} AND ({condition})", [*params, *more]
            )
            self._allowed[key] = np.array([row for (row,) in found], np.int64)
        return self._allowed[key]

    @contextmanager
    def _snapshot(self, *, keep: bool = False) -> Iterator[Connection]:
        """A connection that sees one state of the file: inside a write that write's, else the last committed.

        With `keep`, a snapshot inside a write holds the index until the write ends, since it shows it uncommitted changes.
        """
        held, me = self._held(), threading.get_ident()
        if held.writing == me:
            if keep and held.reading != me:
                if not held.shared:
                    held.read_lock.acquire()
                held.reading = me
            yield held.writer
            return
        with held.read_lock:
            if held is not self._connections:
                raise StoreClosed(f"{self.path}: the store was closed; open it again")
            if held.reading == me:  # inside a reading: its snapshot
                yield held.reader
                return
            held.reading = me
            try:
                self._execute(held.reader, "BEGIN")
                yield held.reader
            finally:
                held.reading = None
                self._end(held.reader)

    @ours
    def _execute(self, connection: Connection, sql: str) -> None:
        connection.execute(sql)

    @ours
    def _end(self, connection: Connection) -> None:
        if connection.in_transaction:
            connection.execute("COMMIT")

    # -- library ---------------------------------------------------------------------------------------------

    @ours
    def get(self, keys: Sequence[Key]) -> list[MemoryUnit | None]:
        """Units by key, None where there is none."""
        with self._snapshot() as connection:
            return library.get(connection, keys, self.path)

    @ours
    def units_of(self, scope: Scope, episode: str) -> list[MemoryUnit]:
        """Units that came from an episode or were said again in it, in order of the text."""
        with self._snapshot() as connection:
            return library.units_of(connection, scope, episode, self.path)

    @ours
    def vitals(self, visible: Visibility) -> list[Vital]:
        """Strength and standing of every visible unit, unindexed ones included, in order of arrival.

        Read a page at a time, each from the state of the file at that moment: no recall waits for all of them.
        """
        found: list[Vital] = []
        after = 0
        while True:
            with self._snapshot() as connection:
                page = library.vital_rows(connection, visible, after)
            if not page:
                return sorted(found, key=lambda vital: vital.seq)
            after = page[-1][0]
            found += library.vitals_of(page, self.path)

    @ours
    def without_vector(self, visible: Visibility) -> list[Key]:
        """Visible indexed units that have no vector, in order of arrival."""
        with self._snapshot() as connection:
            return library.without_vector(connection, visible)

    @ours
    def without_tokens(self, visible: Visibility) -> list[Key]:
        """Visible indexed units that have no learnt terms, in order of arrival."""
        with self._snapshot() as connection:
            return library.without_tokens(connection, visible)

    @ours
    def find(
        self, visible: Visibility, *, limit: int | None = None, offset: int = 0, newest_first: bool = True
    ) -> list[MemoryUnit]:
        """Units that match exactly, by (timestamp, seq); the undated count as oldest."""
        with self._snapshot() as connection:
            return library.find(
                connection, visible, self.path, limit=limit, offset=offset, newest_first=newest_first
            )

    @ours
    def count(self, visible: Visibility, *, by: str | None = None) -> dict[str, int]:
        """Counts, the largest first; memories without a value are left out."""
        with self._snapshot() as connection:
            return library.count(connection, visible, self.path, by=by)

    @ours
    def episodes(
        self, scope: Scope, ids: Sequence[str] | None = None, *, session: str | None = None
    ) -> list[Episode]:
        """Episodes by id or of one session, in order of turn, time and arrival."""
        with self._snapshot() as connection:
            return library.episodes(connection, scope, ids, session, self.path)

    @ours
    def scopes(self, prefix: Scope = ()) -> list[Scope]:
        """Scopes under a prefix that hold at least one unit or episode."""
        with self._snapshot() as connection:
            return library.scopes(connection, prefix)

    @ours
    def stats(self, visible: Visibility) -> Mapping[str, Any]:
        """Counts over what is visible, and the size of the whole file."""
        with self._snapshot() as connection:
            found = library.stats(connection, visible, self.path)
            return {**found, "file_bytes": self._file_bytes(connection)}

    def _file_bytes(self, connection: Connection) -> int:
        if self.path == MEMORY:
            (pages,), (size,) = (
                connection.execute(f"PRAGMA {p}").fetchone() for p in ("page_count", "page_size")
            )
            return int(pages) * int(size)
        files = (Path(self.path + suffix) for suffix in ("", "-wal", "-shm"))
        return sum(file.stat().st_size for file in files if file.exists())

    @ours
    def check(self) -> list[tuple[str, str]]:
        """What is wrong with the file, each with its remedy; reads all of it."""
        if not self._held().in_place():
            return [(_GONE, "put it back, or open it again; this handle reads what is no longer there")]
        with self._snapshot() as connection:
            return library.faults(connection)

    @ours
    def meta(self) -> Mapping[str, str]:
        """The store's own settings."""
        with self._snapshot() as connection:
            return dict(connection.execute("SELECT name, value FROM meta").fetchall())

    # -- journal ---------------------------------------------------------------------------------------------

    def events(
        self,
        *,
        after: int = 0,
        key: Key | None = None,
        batch: str | None = None,
        scopes: Sequence[Scope] | None = None,
    ) -> Iterator[Event]:
        """Events in order of their sequence number, read a page at a time."""
        while page := self._page(after, key, batch, scopes):
            yield from page
            after = page[-1].seq

    @ours
    def _page(
        self, after: int, key: Key | None, batch: str | None, scopes: Sequence[Scope] | None
    ) -> list[Event]:
        with self._snapshot() as connection:
            return journal.page(connection, self.path, after=after, key=key, batch=batch, scopes=scopes)

    @ours
    def position(self) -> int:
        """Number of the last event; 0 when there is none."""
        with self._snapshot() as connection:
            return state_of(connection).event

    @ours
    def changed(self, *, after: int, scopes: Sequence[Scope]) -> list[Key]:
        """The units in these scopes and below that events after this number are about, each once."""
        with self._snapshot() as connection:
            return journal.changed(connection, after, scopes)

    @ours
    def recall_log(self, recall_id: str) -> tuple[Scope, list[Key]] | None:
        """Scope and memories of a past recall."""
        with self._snapshot() as connection:
            return journal.recall_log(connection, recall_id, self.path)

    # -- moving ----------------------------------------------------------------------------------------------

    def snapshot(self) -> AbstractContextManager[Connection]:
        """A connection that sees one state of the file, for the parts of this package."""
        return self._snapshot()

    def replica(self) -> SqliteReplica:
        """Everything as records, to be moved; see `stores.moving`."""
        return SqliteReplica(self)

    # -- the end ---------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Release everything; any later call raises StoreClosed. Closing twice is fine."""
        held, me = self._connections, threading.get_ident()
        if held is None:
            return
        if held.pid == os.getpid():
            if me in (held.writing, held.reading):
                raise StoreError("end this thread's write or reading before closing the store")
            with held.write_lock, held.read_lock:
                self._connections = None
                self._finalizer()
        else:  # a forked child lets go of its parent's connections without touching them
            self._connections = None
            self._finalizer()
