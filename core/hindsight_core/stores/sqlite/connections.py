"""The two connections to a file, who holds them, and how a file is opened.

One connection writes, behind a lock; the other reads, behind a lock that also guards the index. In memory they
are one connection, so there a write takes both locks. Locks are always taken in this order: first to write, then to read;
a write inside a reading is refused, which is why two threads can never wait for each other.

SQLite's connections must not cross a fork, so everything here belongs to one process (`pid`).
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import suppress
from pathlib import Path

from hindsight_core.errors import InvalidInput, NotAStore, StoreBusy, StoreCorrupted, StoreUnwritable
from hindsight_core.stores.sqlite import schema, wal
from hindsight_core.stores.sqlite.catchup import Mirror
from hindsight_core.stores.sqlite.erase import wipe
from hindsight_core.stores.sqlite.failures import raise_ours

MEMORY = ":memory:"
_HEADER = b"SQLite format 3\x00"
_LOG_BYTES = 16 << 20
_inherited: list[Connections] = []
"""Connections of a parent process: never used and never closed here, which would disturb the parent's locks."""


class Connections:
    """What one process holds of one store.

    Attributes:
        writer: The connection that writes.
        reader: The connection that reads; in memory the same one.
        write_lock: Held for a write.
        read_lock: Held while `reader` or the index is used.
        writing: The thread that writes.
        reading: The thread that holds a reading.
        mirror: The index.
    """

    def __init__(self, path: str, *, durability: str, busy_timeout: float) -> None:
        self.pid = os.getpid()
        self.path = path
        self._options = (durability, busy_timeout)
        try:
            self.writer = _open(path, durability, busy_timeout)
            try:
                self.reader = (
                    self.writer if path == MEMORY else _connect(path, durability, busy_timeout, reads=True)
                )
            except BaseException:
                self.writer.close()
                raise
        except sqlite3.Error as error:
            raise_ours(error, path)
        self._waits = True
        self._file = _identity(path)
        self._fresh_locks()
        self.mirror = Mirror()

    def _fresh_locks(self) -> None:
        self.write_lock = threading.Lock()
        self.read_lock = threading.RLock()
        self.writing: int | None = None
        self.reading: int | None = None

    def in_this_process(self) -> Connections:
        """These connections, or after a fork new ones to the same file (in memory: the child's own copy)."""
        if self.pid == os.getpid():
            return self
        if self.path == MEMORY:
            self.pid = os.getpid()
            self._fresh_locks()
            return self
        _inherited.append(self)
        durability, busy_timeout = self._options
        return Connections(self.path, durability=durability, busy_timeout=busy_timeout)

    def in_place(self) -> bool:
        """Whether the path still names the file that was opened; what is written to one that is gone is lost."""
        return self._file == _identity(self.path)

    @property
    def shared(self) -> bool:
        """Whether reader and writer are one."""
        return self.reader is self.writer

    def wait_for_disk(self, wait: bool) -> None:
        """Whether the next commit waits for the disk; where one does not, the next that does waits for both."""
        if wait is not self._waits:
            self.writer.execute(f"PRAGMA synchronous = {self._options[0] if wait else 'NORMAL'}")
            self._waits = wait

    def close(self) -> None:
        """Close both; the last handle of a file also empties its log."""
        if self.pid == os.getpid():
            self.reader.close()
            self.writer.close()
        else:
            _inherited.append(self)


def _identity(path: str) -> tuple[int, int] | None:
    """Which file a path names; None when there is none, or none is needed."""
    if path == MEMORY:
        return None
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _connect(path: str, durability: str, busy_timeout: float, *, reads: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=busy_timeout, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    try:
        for pragma in (
            f"synchronous = {durability}",
            "secure_delete = ON",
            "temp_store = MEMORY",
            "cache_size = -16000",
            f"journal_size_limit = {_LOG_BYTES}",
            f"query_only = {'ON' if reads else 'OFF'}",
        ):
            connection.execute(f"PRAGMA {pragma}").close()
    except BaseException:
        connection.close()
        raise
    return connection


def _open(path: str, durability: str, busy_timeout: float) -> sqlite3.Connection:
    if path != MEMORY:
        _check_file(path)
    connection = _connect(path, durability, busy_timeout)
    try:
        connection.execute(f"PRAGMA page_size = {schema.PAGE_SIZE}")
        schema.prepare(connection, path)
        if path != MEMORY:
            _write_ahead(connection, busy_timeout)
            _finish_wipe(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _finish_wipe(connection: sqlite3.Connection, path: str) -> None:
    """Do what an erasing process was stopped from doing."""
    if connection.execute("SELECT value FROM counter WHERE name = 'wipe'").fetchone()[0]:
        # Who is at work in the file now keeps it from being wiped, not from being used: it is tried again next time.
        with suppress(StoreBusy):
            try:
                wipe(connection, path)
            except sqlite3.Error as error:
                raise_ours(error, path)


def _write_ahead(connection: sqlite3.Connection, busy_timeout: float) -> None:
    """Switch to write-ahead logging; SQLite does not wait for others here, so wait for them."""
    deadline = time.monotonic() + busy_timeout
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _check_file(path: str) -> None:
    """Refuse what can be seen not to work before SQLite touches anything."""
    file = Path(path)
    folder = file.parent
    try:
        if not folder.is_dir():
            raise StoreUnwritable(f"{path}: the folder {folder} does not exist; create it first")
        if file.is_dir():
            raise NotAStore(f"{path} is a folder; give the path of a file in it")
        if not file.exists():
            if not os.access(folder, os.W_OK | os.X_OK):
                raise StoreUnwritable(f"{path}: no permission to create a file in {folder}")
            return
        if not os.access(path, os.R_OK | os.W_OK):
            raise StoreUnwritable(f"{path}: no permission to read and write the file")
        with file.open("rb") as opened:
            header = opened.read(len(_HEADER))
    except (OSError, ValueError) as error:
        raise StoreUnwritable(f"{path}: cannot be opened ({type(error).__name__})") from error
    if header and header != _HEADER:
        raise NotAStore(
            f"{path} is not a Hindsight store, or its first page is damaged; it was left as it is"
        )
    if not header and Path(f"{path}-wal").exists():
        raise StoreCorrupted(f"{path} is empty, but its log is not; restore the file from a copy")
    wal.check(path)


def checked_path(path: str | os.PathLike[str]) -> str:
    """A path as text.

    Raises:
        InvalidInput: It is empty or no path.
    """
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str) or not text.strip() or "\x00" in text:
        raise InvalidInput(f'a store is opened by a file path or ":memory:", not {path!r}')
    return text if text == MEMORY else os.path.abspath(text)
