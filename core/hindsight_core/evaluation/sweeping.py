"""What a sweep costs: `python -m hindsight_core.evaluation.sweeping`.

A store of synthetic turns, one in fifty of them said twice, is swept for the first time, when everything is compared with
everything, and then once more after one turn in a hundred has been added. Every reading and every write of a sweep holds a lock
for as long as it takes; a recall waits for one of them at most, so the longest is what a recall may have to wait.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Any

from rich.console import Console
from rich.table import Table

from hindsight_core.engine import Hindsight
from hindsight_core.evaluation.synthetic import Synthetic, TopicEmbedder

SIZE = 100_000
_TWICE, _ADDED = 50, 100
_PART = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one sweep took.

    Attributes:
        memories: How many it looked at.
        steps: What it did.
        seconds: By the clock.
        processor: Seconds of the processor, which a busy machine does not lengthen.
        reading: The longest reading, in milliseconds of the processor.
        writing: The longest write, likewise.
        peak: Memory of the process at its highest, in MB.
    """

    memories: int
    steps: int
    seconds: float
    processor: float
    reading: float
    writing: float
    peak: float


class _Timed:
    """A store that notes how long its longest reading and write were."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.longest = {"reading": 0.0, "write": 0.0}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @contextmanager
    def reading(self, visible: Any) -> Iterator[Any]:
        with self._timed("reading"), self._store.reading(visible) as view:
            yield view

    @contextmanager
    def write(self, **options: Any) -> Iterator[Any]:
        with self._timed("write"), self._store.write(**options) as tx:
            yield tx

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        start = thread_time()
        yield
        self.longest[what] = max(self.longest[what], 1000 * (thread_time() - start))


def measure(path: Path, size: int = SIZE, *, say: Callable[[str], None]) -> tuple[Cost, Cost]:
    """The first sweep of a new store of this size, and the next one after a hundredth was added."""
    source = Synthetic()
    with Hindsight.open(path, scope="sweeping", embedder=TopicEmbedder()) as memory:
        say(f"growing to {size:,} memories")
        told = list(source.turns(size))
        again = [{**turn, "id": None, "timestamp": None} for turn in told[::_TWICE]]
        _tell(memory, [*({**turn, "id": None} for turn in told[: size - len(again)]), *again])
        say("sweeping for the first time")
        first = _swept(memory)
        _tell(memory, [{**turn, "id": None} for turn in source.turns(size // _ADDED, first=size)])
        say("sweeping again")
        return first, _swept(memory)


def _tell(memory: Hindsight, turns: Sequence[dict[str, Any]]) -> None:
    for start in range(0, len(turns), _PART):
        memory.remember_many(turns[start : start + _PART], consolidate=False, resumable=False, progress=False)


def _swept(memory: Hindsight) -> Cost:
    timed = _Timed(memory.parts.store)
    watched = Hindsight(replace(memory.parts, store=timed), memory.scope, memory.reach)
    memory.recall("warm", k=1)
    wall, processor = perf_counter(), process_time()
    done = watched.sweep()
    return Cost(
        memories=done.looked_at,
        steps=len(done.steps),
        seconds=perf_counter() - wall,
        processor=process_time() - processor,
        reading=timed.longest["reading"],
        writing=timed.longest["write"],
        peak=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


def table(costs: Sequence[Cost]) -> Table:
    """The two sweeps side by side."""
    found = Table(
        "", "memories", "steps", "s", "s of processor", "longest reading, ms", "longest write, ms", "peak MB"
    )
    for name, cost in zip(("first", "next"), costs, strict=True):
        found.add_row(
            name, f"{cost.memories:,}", f"{cost.steps:,}", f"{cost.seconds:.1f}", f"{cost.processor:.1f}",
            f"{cost.reading:.0f}", f"{cost.writing:.0f}", f"{cost.peak:,.0f}",
        )  # fmt: skip
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Grow, sweep twice and print."""
    parser = argparse.ArgumentParser(prog="python -m hindsight_core.evaluation.sweeping", description=__doc__)
    parser.add_argument("--size", type=int, default=SIZE, help="memories (default %(default)s)")
    args = parser.parse_args(argv)
    log = Console(stderr=True, highlight=False)
    with tempfile.TemporaryDirectory(prefix="hindsight-sweep-") as folder:
        costs = measure(Path(folder, "m.db"), args.size, say=lambda what: log.print(f"{what} ..."))
    Console(highlight=False, width=None if sys.stdout.isatty() else 120).print(table(costs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
