"""Measure the stores against each other: `python -m hindsight_core.evaluation.stores [sizes...] [--folder PATH]`.

The same made-up memories go into each store: about 40 words drawn by Zipf's law, two entities, a session, a vector. Then the
whole recall is timed, through the facade: over one user of a hundred, whose memories this process holds, and over everything,
which a large store's engine searches. Beside the times stands how they grow: an exponent of 1 is growth with the number of
memories, 0 none. A server is measured when HINDSIGHT_QDRANT_URL names one.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table

from hindsight_core.embedding import HashEmbedder
from hindsight_core.engine import Hindsight
from hindsight_core.ports import Store, Use, Visibility
from hindsight_core.stores.qdrant import QdrantStore
from hindsight_core.stores.sqlite import SqliteStore
from hindsight_core.stores.sqlite.bench import BATCH, DIMENSION, NOW, memories

SIZES = (15_000, 100_000, 300_000)
TEAM, USER = ("team",), ("team", "user-7")
_TIMES = 30
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


def measure(open_store: Callable[[], Store], count: int) -> Figures:
    """Fill a store, open it again and time what is done with it; milliseconds, megabytes, memories a second."""
    rng = np.random.default_rng(7)
    store = open_store()
    spent = 0.0
    with store.write(actor="bench", batch="meta", now=NOW) as tx:
        tx.set_meta("embedder.dimension", str(DIMENSION))
    for first in range(0, count, BATCH):
        batch = list(memories(rng, first, min(BATCH, count - first)))
        start = perf_counter()
        with store.write(actor="bench", batch=f"b{first}", now=NOW) as tx:
            for unit, entry in batch:
                tx.put(unit, entry, reason="bench")
        spent += perf_counter() - start
    if isinstance(store, QdrantStore):
        store.optimize()
    store.close()
    figures = {"write, memories a second": count / spent}

    start = perf_counter()
    store = open_store()
    one, every = (
        Hindsight.open(store, scope, embedder=HashEmbedder(dimension=DIMENSION)) for scope in (USER, TEAM)
    )
    figures["open, ms"] = (perf_counter() - start) * 1000
    for name, memory in (("one user", one), ("everything", every)):
        ask = partial(memory.recall, k=10, now=NOW)
        figures |= _timed(f"recall over {name}", lambda ask=ask: ask(_question(rng)))  # type: ignore[misc]

    def use_and_recall() -> None:
        with store.write(actor="bench", batch="u", now=NOW) as tx:
            tx.use([Use(key=_KEY, weight=0.5, at=NOW, access_count=1)])
        one.recall(_question(rng), k=10, now=NOW)

    figures |= _timed("use one, then recall", use_and_recall)
    figures["on disk, MB"] = float(store.stats(Visibility(scopes=(USER,), now=NOW))["file_bytes"]) / 1e6
    figures["resident, MB"] = _resident()
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


def _resident() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


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
    args = parser.parse_args(argv)
    console = Console()
    with tempfile.TemporaryDirectory(dir=args.folder) as root:
        for name, _ in stores(Path(root)):
            found = [_apart(name, Path(root) / f"{name.split()[1]}{size}", size) for size in args.sizes]
            console.print(table(name, args.sizes, found))
    return 0


def _apart(name: str, folder: Path, size: int) -> Figures:
    """Measured in a child process, so that memory is that of one store alone."""
    folder.mkdir()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_one, (name, str(folder), size))


def _one(name: str, folder: str, size: int) -> Figures:
    return measure(dict(stores(Path(folder)))[name], size)


if __name__ == "__main__":
    sys.exit(main())
