"""A lock that a forked child finds open.

A fork copies locks as they are, and not the threads that hold them: what another thread held at that moment would stay
shut in the child for ever. What such a lock guards must be whole between any two steps, since a child may find it between.
"""

from __future__ import annotations

import os
import threading
import weakref
from types import TracebackType

_locks: weakref.WeakSet[Lock] = weakref.WeakSet()


class Lock:
    """`threading.RLock` for `with`, new in a forked child."""

    def __init__(self) -> None:
        self._held = threading.RLock()
        _locks.add(self)

    def __enter__(self) -> None:
        self._held.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.release()

    def renew(self) -> None:
        """Open it, whoever holds it."""
        self._held = threading.RLock()


def _start_afresh() -> None:
    for lock in list(_locks):
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)
