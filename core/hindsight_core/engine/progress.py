"""Progress bars for long work, on a terminal or in a notebook; silent elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

_LONG = 1000


def _interactive() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def track(items: Iterable[T], *, total: int, step: int, label: str, show: bool | None) -> Iterator[T]:
    """Yield items; each stands for `step` of `total` pieces of work.

    Args:
        items: What to go through.
        total: Pieces of work in all.
        step: Pieces per item.
        label: What is being done.
        show: True or False; None shows for long work on a terminal or in a notebook.
    """
    if show is False or (show is None and (total < _LONG or not _interactive())):
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=total)
        for item in items:
            yield item
            bar.advance(task, min(step, total - bar.tasks[0].completed))
