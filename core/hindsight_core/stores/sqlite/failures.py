"""Every error of SQLite becomes one of ours where it crosses into the package; its cause is kept.

Messages name the file and the remedy, never a stored text. One error of Python's driver quotes the text it could
not decode; that one is not kept as the cause.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, NoReturn, ParamSpec, Protocol, TypeVar

from hindsight_core.errors import (
    InvalidInput,
    StoreBusy,
    StoreClosed,
    StoreCorrupted,
    StoreError,
    StoreUnwritable,
)

P = ParamSpec("P")
R = TypeVar("R")


class Named(Protocol):
    """Something that knows which file it works on."""

    @property
    def path(self) -> str: ...  # noqa: D102


T = TypeVar("T", bound=Named)

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
_UNWRITABLE = {
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
}
_UNREADABLE = {sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ}
_RESTORE = "restore the file from a copy"


def raise_ours(error: sqlite3.Error, path: str) -> NoReturn:
    """Raise the error of ours that says what SQLite means."""
    extended = getattr(error, "sqlite_errorcode", None)
    code = None if extended is None else extended & 0xFF
    if code in _BUSY:
        raise StoreBusy(f"{path}: another process held the write lock for too long; try again") from error
    if code in _DAMAGED or extended in _UNREADABLE:
        raise StoreCorrupted(f"{path}: the file is damaged; {_RESTORE}") from error
    if code == sqlite3.SQLITE_FULL:
        raise StoreUnwritable(f"{path}: no space left; nothing was changed") from error
    if code in _UNWRITABLE or code == sqlite3.SQLITE_IOERR:
        raise StoreUnwritable(
            f"{path}: the file or its folder cannot be written (permissions, or no space left); nothing was changed"
        ) from error
    if code == sqlite3.SQLITE_TOOBIG or isinstance(error, sqlite3.DataError):
        raise InvalidInput("a text or a metadata value is larger than the store can hold") from error
    if code is None and isinstance(
        error, sqlite3.OperationalError
    ):  # undecodable text, quoted in the message
        raise StoreCorrupted(f"{path}: the file is damaged (text that is not UTF-8); {_RESTORE}") from None
    if code is None and isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error):
        raise StoreClosed(f"{path}: the store was closed; open it again") from error
    raise StoreError(f"{path}: {getattr(error, 'sqlite_errorname', 'SQLite failed')}") from error


def ours(method: Callable[Concatenate[T, P], R]) -> Callable[Concatenate[T, P], R]:
    """A method of something with a `path` that raises only errors of ours."""

    @wraps(method)
    def guarded(self: T, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(self, *args, **kwargs)
        except sqlite3.Error as error:
            raise_ours(error, self.path)
        except OverflowError as error:
            raise InvalidInput("a whole number is larger than the store can hold (64 bits)") from error

    return guarded


def damaged(path: str, error: Exception) -> StoreCorrupted:
    """The error for a row that does not read back as what was written."""
    return StoreCorrupted(f"{path}: a stored memory cannot be read ({type(error).__name__}); {_RESTORE}")
