"""Files beside the store that may be lost: caches. One SQLite database each, shared by threads and processes.

What is deleted from one is overwritten (`secure_delete`), so that erasing a memory reaches what was derived from it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hindsight_core.errors import NotAStore, StoreClosed, StoreError
from hindsight_core.locks import Lock


class SideFile:
    """A small database file of one kind.

    Args:
        path: The file; made when absent. ":memory:" keeps nothing on disk.
        kind: What it is, as error messages call it: "embedding cache".
        application_id: By which a file of this kind is known.
        schema: Statements that make its tables where they are missing.

    Raises:
        NotAStore: The file exists and is something else.
        StoreError: It cannot be opened.
    """

    def __init__(self, path: str | Path, *, kind: str, application_id: int, schema: str) -> None:
        self._path = Path(path)
        self._kind = kind
        self._application_id = application_id
        self._schema = schema
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._pid = 0
        self._closed = False
        with self.open():
            pass

    @contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """The connection of this process, locked; a forked child opens its own."""
        with self._lock:
            if self._closed:
                raise StoreClosed(f"the {self._kind} {self._path} was closed")
            try:
                if self._connection is None or self._pid != os.getpid():
                    self._connection, self._pid = self._connect(), os.getpid()
                yield self._connection
            except sqlite3.Error as error:
                raise StoreError(f"the {self._kind} {self._path} cannot be used: {error}") from error

    def close(self) -> None:
        """Release the file; closing twice is fine."""
        with self._lock:
            self._closed = True
            if self._connection is not None and self._pid == os.getpid():
                self._connection.close()
            self._connection = None

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, timeout=30.0, check_same_thread=False)
        article = "an" if self._kind[0] in "aeiou" else "a"
        try:
            if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                foreign = db.execute("PRAGMA application_id").fetchone()[0] != self._application_id
            else:
                foreign = False
            if not foreign:
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = NORMAL")
                db.execute("PRAGMA secure_delete = ON")
                with db:
                    db.execute(f"PRAGMA application_id = {self._application_id}")
                    for statement in self._schema.split(";"):
                        db.execute(statement)
                return db
        except sqlite3.DatabaseError as error:
            db.close()
            if "not a database" in str(error):
                raise NotAStore(f"{self._path} is not {article} {self._kind}") from error
            raise
        db.close()
        raise NotAStore(f"{self._path} is a database, but not {article} {self._kind}")
