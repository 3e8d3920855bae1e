"""The asynchronous twins: the same call, on a worker thread.

No loop is ever started here, so nothing can clash with a running one; the caller's loop stays free meanwhile.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def off_loop(method: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
    """An async method that runs `method` on a worker thread."""

    @functools.wraps(method)
    async def twin(*args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(method, *args, **kwargs)

    twin.__name__ = f"a{method.__name__.rstrip('_')}"
    twin.__doc__ = f"As `{method.__name__}`, off the event loop."
    return twin
