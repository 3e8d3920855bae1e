"""Measure the stores against each other: `python -m hindsight_core.evaluation.stores [sizes...] [--folder PATH]`.

The same made-up memories go into each store: about 40 words drawn by Zipf's law, two entities, a session, a vector; they are
given, so neither embedding nor consolidation is measured. One store grows through the sizes, filled by ordinary writes,
journal included, of a thousand memories each. At each size a fresh process opens it and times the whole recall, through the facade:
over one user of a hundred, whose memories this process holds, and over everything, which a large store's engine searches.
Last it times writing, by which the store outgrows the size a little. An engine in a folder is measured as it is after
filling; `--merge` has it merge its segments and build its indexes first, which takes ten minutes of two cores at 100,000. Beside the times stands how they grow: an exponent of 1 is
growth with the number of memories, 0 none. A server is measured when HINDSIGHT_QDRANT_URL names one. The memory mode of
qdrant-client is not: nothing of it is left to be opened again, and it compares a question with every point in Python.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import resource
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table

from hindsight_core.embedding import HashEmbedder
from hindsight_core.engine import Hindsight
from hindsight_core.ports import IndexEntry, Store, Use, Visibility
from hindsight_core.stores.qdrant import QdrantStore
from hindsight_core.stores.sqlite import SqliteStore
from hindsight_core.stores.sqlite.bench import BATCH, DIMENSION, NOW, memories
from hindsight_core.unit import MemoryUnit

SIZES = (15_000, 100_000, 300_000)
TEAM, USER = ("team",), ("team", "user-7")
_TIMES = 30
_FILLING = 1024
WRITES = 8
"""Writes that are timed, of `BATCH` memories each."""
_KEY = (USER, f"{7:026d}")

Figures = dict[str, float]


def stores(folder: Path) -> Iterator[tuple[str, Callable[[], Store]]]:
    """The stores that can be measured here, each with how it is opened."""
    yield "SQLite file", lambda: SqliteStore.open(folder / "memory.db", durability="normal")
    yield "Qdrant Edge folder", lambda: QdrantStore.open(folder / "edge", durability="normal")
    url = os.environ.get("HINDSIGHT_QDRANT_URL")
    if url:
        key = os.environ.get("QDRANT_API_KEY")
        yield "Qdrant server", lambda: QdrantStore.connect(url, api_key=key, name=f"bench_{folder.name}")


def fill(open_store: Callable[[], Store], first: int, count: int, merge: bool) -> Figures:
    """Put memories number `first` and following into a store until it holds so many; seconds."""
    rng = np.random.default_rng(first + 7)
    store = open_store()
    start = perf_counter()
    if not first:
        with store.write(actor="bench", batch="meta", now=NOW) as tx:
            tx.set_meta("embedder.dimension", str(DIMENSION))
    for at in range(first, count, _FILLING):
        _write(store, memories(rng, at, min(_FILLING, count - at)))
    filled = perf_counter()
    if merge and isinstance(store, QdrantStore):
        store.optimize()
    store.close()
    return {"filling, s": filled - start, "merging, s": perf_counter() - filled}


def _write(store: Store, batch: Iterable[tuple[MemoryUnit, IndexEntry]]) -> None:
    with store.write(actor="bench", batch="b", now=NOW) as tx:
        for unit, entry in batch:
            tx.put(unit, entry, reason="bench")


def measure(open_store: Callable[[], Store], count: int) -> Figures:
    """Open a store that holds so many memories and time what is done with it; milliseconds, megabytes, memories a second."""
    rng = np.random.default_rng(count)
    start = perf_counter()
    store = open_store()
    one, every = (
        Hindsight.open(store, scope, embedder=HashEmbedder(dimension=DIMENSION)) for scope in (USER, TEAM)
    )
    one.recall(_question(rng), k=10, now=NOW)
    figures = {"open and first recall, ms": (perf_counter() - start) * 1000}
    for name, memory in (("one user", one), ("everything", every)):
        ask = partial(memory.recall, k=10, now=NOW)
        figures |= _timed(f"recall over {name}", lambda ask=ask: ask(_question(rng)))  # type: ignore[misc]

    def use_and_recall() -> None:
        with store.write(actor="bench", batch="u", now=NOW) as tx:
            tx.use([Use(key=_KEY, weight=0.5, at=NOW, access_count=1)])
        one.recall(_question(rng), k=10, now=NOW)

    figures |= _timed("use one, then recall", use_and_recall)
    figures["on disk, MB"] = float(store.stats(Visibility(scopes=(USER,), now=NOW))["file_bytes"]) / 1e6
    figures |= _resident()
    batches = [list(memories(rng, count + i * BATCH, BATCH)) for i in range(WRITES)]
    start = perf_counter()
    for batch in batches:
        _write(store, batch)
    figures["write, memories a second"] = WRITES * BATCH / (perf_counter() - start)
    store.close()
    return figures


def _question(rng: np.random.Generator) -> str:
    return " ".join(f"word{int(rng.zipf(1.3)) % 50_000}" for _ in range(6))


def _timed(name: str, run: Callable[[], object]) -> Figures:
    run()  # the first one reads what is held from then on
    found = []
    for _ in range(_TIMES):
        start = perf_counter()
        run()
        found.append((perf_counter() - start) * 1000)
    return {
        f"{name}, ms p50": float(np.percentile(found, 50)),
        f"{name}, ms p95": float(np.percentile(found, 95)),
    }


def _resident() -> Figures:
    """What is resident at most, and, where the system tells, without pages of files, which it takes back when it needs them."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = {"resident at most, MB": peak / (1e6 if sys.platform == "darwin" else 1e3)}
    status = Path("/proc/self/status")
    for line in status.read_text().splitlines() if status.exists() else ():
        if line.startswith("RssAnon:"):
            found["resident without pages of files, MB"] = int(line.split()[1]) / 1e3
    return found


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """How a figure grows with size: the slope between the smallest and the largest, both logarithmic."""
    if len(sizes) < 2 or not values[0] or not values[-1]:
        return math.nan
    return math.log(values[-1] / values[0]) / math.log(sizes[-1] / sizes[0])


def table(name: str, sizes: Sequence[int], found: Sequence[Figures]) -> Table:
    """The figures of one store."""
    shown = Table("what", *(f"{size:,}" for size in sizes), "growth", title=name, title_justify="left")
    for what in found[0]:
        values = [figures[what] for figures in found]
        growth = exponent(sizes, values)
        shown.add_row(
            what, *(f"{value:,.1f}" for value in values), "" if math.isnan(growth) else f"{growth:+.2f}"
        )
    return shown


def main(argv: Sequence[str] | None = None) -> int:
    """Measure every store at every size, each in a process of its own, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--folder", help="where the stores are made (default: a temporary folder)")
    parser.add_argument("--merge", action="store_true", help="optimize() an engine's folder before measuring")
    args = parser.parse_args(argv)
    sizes, log = sorted(args.sizes), Console(stderr=True)
    with tempfile.TemporaryDirectory(dir=args.folder) as root:
        found: dict[str, list[Figures]] = {name: [] for name, _ in stores(Path(root))}
        first = 0
        for size in sizes:
            filled = {name: _apart(fill, name, root, first, size, args.merge) for name in found}
            for name, figures in found.items():  # one right after the other: the machine may have other work
                figures.append(_apart(measure, name, root, size))
                log.print(name, size, {what: round(n, 1) for what, n in (filled[name] | figures[-1]).items()})
            first = size + WRITES * BATCH
        for name, figures in found.items():
            Console().print(table(name, sizes, figures))
    return 0


def _apart(job: Callable[..., Figures], name: str, folder: str, *numbers: int) -> Figures:
    """Done in a child process, so that memory is that of one job alone."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_done, (job, name, folder, *numbers))


def _done(job: Callable[..., Figures], name: str, folder: str, *numbers: int) -> Figures:
    return job(dict(stores(Path(folder)))[name], *numbers)


if __name__ == "__main__":
    sys.exit(main())
