"""Doing one long computation beside others: NumPy lets go of the interpreter while it works through a large array.

A thread that is woken needs the interpreter for a moment before it can compute without it, and whoever woke it may be
about to hold that for milliseconds. So whoever hands work over lets go of the interpreter until it is begun.

The threads wait asleep between calls, are made when first needed, and a forked child makes its own.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from threading import Lock
from typing import TypeVar

Result = TypeVar("Result")

_HANDOVER = 0.0005
"""Seconds to wait at most for a thread to begin: all processors may be busy."""


def beside(work: Callable[[], Result], *, worthwhile: bool) -> Callable[[], Result]:
    """Begin some work in another thread; what is returned waits for its result.

    Args:
        work: Takes a millisecond or more without the interpreter.
        worthwhile: False does it at once, here: handing over costs a tenth of a millisecond.
    """
    pool = _pool() if worthwhile else None
    if pool is not None:
        with suppress(RuntimeError):  # the interpreter is ending: no thread begins anything any more
            return _handed(pool, work).result
    result = work()
    return lambda: result


def shared(pieces: Iterable[Callable[[], object]]) -> Callable[[], None]:
    """Begin pieces of work beside other work; what is returned does those not yet begun, and waits for the others.

    Nobody waits idly: the first piece is done here at once, while another thread wakes up, and whoever is done with
    something else takes the next one.

    Args:
        pieces: Side by side; each takes a tenth of a millisecond or more without the interpreter.
    """
    left = deque(pieces)
    pool = _pool() if len(left) > 1 else None
    begun: Future[None] | None = None
    if pool is not None:
        first = left.popleft()
        with suppress(RuntimeError):  # the interpreter is ending
            begun = pool.submit(_work_off, left)
        first()

    def finish() -> None:
        try:
            _work_off(left)
        finally:
            if begun is not None and not begun.cancel():
                begun.result()

    return finish


def _handed(pool: ThreadPoolExecutor, work: Callable[[], Result]) -> Future[Result]:
    """Hand work over; returns when it is begun."""
    begun = Lock()
    begun.acquire()

    def first() -> Result:
        begun.release()
        return work()

    future = pool.submit(first)
    begun.acquire(timeout=_HANDOVER)
    return future


def _work_off(left: deque[Callable[[], object]]) -> None:
    while left:
        try:
            piece = left.popleft()
        except IndexError:  # somebody else took the last one
            return
        piece()


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor | None:
    """One thread less than there are processors to use; None with a single one."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return ThreadPoolExecutor(usable - 1, thread_name_prefix="hindsight-scan") if usable > 1 else None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)
