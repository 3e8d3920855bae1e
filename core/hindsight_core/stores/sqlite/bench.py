"""Measure the store on made-up memories: `python -m hindsight_core.stores.sqlite.bench [memories] [folder]`.

About 40 words drawn by Zipf's law, two entities, a session of 20 turns, metadata of two keys and a random vector for each
memory. Times vary with whatever else the machine is doing; the fastest tenth is shown beside the median.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table

from hindsight_core.filters import Filter
from hindsight_core.ports import IndexEntry, Probe, Use, Visibility
from hindsight_core.stores.sqlite import SqliteStore
from hindsight_core.text.hashing import stable_id
from hindsight_core.text.tokens import pack
from hindsight_core.unit import Entity, MemoryUnit, Source

DIMENSION = 384
NOW = datetime(2030, 1, 1, tzinfo=UTC)
BATCH = 256
SINGLES = 400


def memories(rng: np.random.Generator, first: int, count: int) -> Iterator[tuple[MemoryUnit, IndexEntry]]:
    """Memories number `first` and following."""
    for i in range(first, first + count):
        words = [f"word{int(rng.zipf(1.3)) % 50_000}" for _ in range(40)]
        vector = rng.standard_normal(DIMENSION, np.float32)
        at = NOW + timedelta(seconds=i)
        yield (
            MemoryUnit(
                scope=("team", f"user-{i % 100}"),
                id=f"{i:026d}",
                content=" ".join(words),
                summary=" ".join(words[:8]),
                entities=tuple(Entity(f"Name {k}", "person", f"name {k}") for k in (i % 977, i % 3001)),
                timestamp=at,
                recorded_at=at,
                weight_at=at,
                source=Source(speaker="user", session=f"session-{i // 2000}", turn=i // 100 % 20, episode=f"e{i:026d}"),
                metadata={"project": f"p{i % 50}", "rank": i % 10},
            ),
            IndexEntry(vector=vector / np.linalg.norm(vector), terms=pack(words)),
        )  # fmt: skip


def timed(run: Callable[[], object], times: int) -> str:
    """Fastest tenth and median in ms."""
    found = []
    for _ in range(times):
        start = perf_counter()
        run()
        found.append((perf_counter() - start) * 1000)
    return f"{np.percentile(found, 10):.2f} / {np.percentile(found, 50):.2f}"


def measure(path: Path, count: int) -> Table:
    """Fill a store, open it again, and time what is done with it."""
    rng = np.random.default_rng(7)
    table = Table("what", "fastest tenth / median", title=f"{count:,} memories")
    for durability in ("normal", "full"):
        store = SqliteStore.open(path.with_suffix(f".{durability}"), durability=durability)
        fresh = iter(list(memories(rng, 0, SINGLES)))

        def put_one(
            store: SqliteStore = store, fresh: Iterator[tuple[MemoryUnit, IndexEntry]] = fresh
        ) -> None:
            unit, entry = next(fresh)
            with store.write(actor="bench", batch="b", now=NOW) as tx:
                tx.put(unit, entry, reason="bench")

        table.add_row(f"one memory per commit, {durability}: ms", timed(put_one, SINGLES))
        store.close()

    store = SqliteStore.open(path)
    spent = 0.0
    for first in range(0, count, BATCH):
        batch = list(memories(rng, first, min(BATCH, count - first)))
        start = perf_counter()
        with store.write(actor="bench", batch=f"b{first}", now=NOW) as tx:
            for unit, entry in batch:
                tx.put(unit, entry, reason="bench")
        spent += perf_counter() - start
    table.add_row(f"batches of {BATCH}: memories a second", f"{count / spent:,.0f}")
    store.close()
    table.add_row("size of the file: MB", f"{path.stat().st_size / 1e6:.0f}")

    visible = Visibility(scopes=(("team",),), now=NOW)
    probe = Probe(
        visible=visible,
        vector=rng.standard_normal(DIMENSION, np.float32),
        terms=np.array([stable_id(f"word{i}") for i in (3, 17, 90, 400)], np.uint64),
        term_weights=np.ones(4, np.float32),
        entities=np.array([stable_id("name 5")], np.uint64),
    )

    def recall(probe: Probe = probe) -> None:
        with store.reading(probe.visible) as reading:
            found, _ = reading.search(probe)
            reading.units(found.rows[:10])

    start = perf_counter()
    store = SqliteStore.open(path)
    recall()
    table.add_row("open and first recall: ms", f"{(perf_counter() - start) * 1000:.0f}")
    table.add_row("recall: ms", timed(recall, 20))
    where = Filter.parse({"metadata.project": "p7", "importance": {"$gte": 0.3}})
    filtered = Visibility(scopes=(("team",),), now=NOW, where=where)
    table.add_row("filter to rows: ms", timed(lambda: store.count(filtered), 20))
    table.add_row("find the ten newest: ms", timed(lambda: store.find(visible, limit=10), 20))
    key = (("team", "user-0"), f"{0:026d}")

    def use_and_recall() -> None:
        with store.write(actor="bench", batch="u", now=NOW) as tx:
            tx.use([Use(key=key, weight=0.5, at=NOW, access_count=1)])
        recall()

    table.add_row("use one, catch up and recall: ms", timed(use_and_recall, 20))
    start = perf_counter()
    with store.write(actor="bench", batch="e", now=NOW) as tx:
        tx.erase(key)
    table.add_row("erase one, every byte of it: ms", f"{(perf_counter() - start) * 1000:.0f}")
    store.close()
    return table


if __name__ == "__main__":
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as folder:
        Console().print(measure(Path(folder) / "bench.db", total))
