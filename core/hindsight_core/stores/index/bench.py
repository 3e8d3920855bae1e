"""Measure the index on made-up memories: `python -m hindsight_core.stores.index.bench [memories ...]`.

Words follow Zipf's law, about 40 in each memory; three entities; sessions of 20 turns; random vectors. A question has
ten words, common ones among them, and one or two entities. Times are those of search, signals of 50 rows and
neighbours of 50 rows together. The index works in one thread, so the time on the clock is processor time unless others
use the machine; they also empty its caches, so the fastest tenth is shown beside the median.
"""

from __future__ import annotations

import gc
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter, thread_time

import numpy as np
from rich.console import Console
from rich.table import Table

from hindsight_core.ports import Doubles, Ints, Probe, Visibility
from hindsight_core.stores.index import Rows, SearchIndex

DIMENSION = 384
NOW = datetime(2030, 1, 1, tzinfo=UTC)
BATCH = 5_000


def ids(numbers: Ints) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    """Numbers spread over 56 bits, as hashes are."""
    return (numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) & ~np.uint64(255)


def zipf(rng: np.random.Generator, names: int, size: int) -> Ints:
    """Names 0, 1, 2, ... drawn so that the n-th is n times rarer than the first."""
    shares = np.cumsum(1 / np.arange(1, names + 1))
    return np.searchsorted(shares / shares[-1], rng.random(size)).astype(np.int64)


def batch(rng: np.random.Generator, first: int, count: int, total: int) -> Rows:
    """Memories number `first` and following."""
    vectors = rng.standard_normal((count, DIMENSION), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    owner = np.repeat(np.arange(count), rng.integers(25, 56, count))
    pairs, counts = np.unique(owner * 2 * total + zipf(rng, 2 * total, len(owner)), return_counts=True)
    owner, words = np.divmod(pairs, 2 * total)
    terms = ids(words) | np.minimum(counts, 255).astype(np.uint64)
    terms = terms[np.lexsort((terms, owner))]
    row = np.arange(first, first + count)
    none = np.full(count, np.nan)
    time: Doubles = 1.6e9 + row.astype(np.float64) * 60
    span_count = (row % 5 == 0).astype(np.int64)
    begins = time[span_count > 0] + 86_400
    return Rows(
        row=row + 1,
        scope=[("team", f"user-{i % 100}") for i in row.tolist()],
        id=[f"{1_600_000_000 + 60 * i:010x}-{i % 4096:04x}" for i in row.tolist()],
        seq=row + 1,
        status=np.zeros(count, np.int8),
        memory_type=np.zeros(count, np.int8),
        timestamp=time,
        recorded_at=time,
        valid_from=none,
        valid_to=none,
        expires_at=none,
        weight_at=time,
        indexed=np.ones(count, np.bool_),
        importance=np.full(count, 0.5, np.float32),
        weight=np.full(count, 0.5, np.float32),
        group=[f"session-{i // 2000}" for i in row.tolist()],
        turn=row // 100 % 20,
        vectors=vectors,
        terms=terms,
        term_offsets=np.searchsorted(owner, np.arange(count + 1)),
        entities=ids(zipf(rng, max(total // 3, 10), 3 * count)),
        entity_offsets=np.arange(count + 1) * 3,
        spans=np.stack([begins, begins + 86_400], axis=1),
        span_offsets=np.concatenate([[0], np.cumsum(span_count)]),
    )


def probe(rng: np.random.Generator, visible: Visibility, total: int, windows: Doubles) -> Probe:
    """A question of ten words."""
    vector = rng.standard_normal(DIMENSION).astype(np.float32)
    terms = np.unique(np.concatenate([ids(zipf(rng, 50, 3)), ids(zipf(rng, total * 2, 7))]))
    return Probe(
        visible=visible,
        vector=vector / np.float32(np.linalg.norm(vector)),
        terms=terms,
        term_weights=np.ones(len(terms), np.float32),
        entities=np.unique(ids(zipf(rng, max(total // 3, 10), 2))),
        windows=windows,
    )


def recall(index: SearchIndex, question: Probe, allowed: Ints | None) -> None:
    """What one recall asks of the index."""
    mask = index.visible(question.visible, allowed)
    candidates, _ = index.search(question, mask)
    rows = candidates.rows[:50]
    edges = index.neighbours(question, mask, rows, reach=2, entities=5, hub=500)
    index.signals(question, mask, np.unique(edges.target)[:50])


def now() -> Doubles:
    """Milliseconds of processor time of this thread, and on the clock, since some instant."""
    return np.array([thread_time(), perf_counter()]) * 1e3


def resident() -> int:
    """Bytes of memory in use by this process (Linux; 0 elsewhere)."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if statm.exists() else 0


def measure(total: int, table: Table) -> None:
    """Fill an index of so many memories and add the figures as columns of a row."""
    rng = np.random.default_rng(7)
    batches = [batch(rng, first, min(BATCH, total - first), total) for first in range(0, total, BATCH)]
    gc.collect()
    before = resident()
    index = SearchIndex(DIMENSION)
    start = now()
    index.load(batches)
    loading = now() - start
    gc.collect()
    vectors = total * DIMENSION * 4
    rest = resident() - before - vectors

    everything = Visibility(scopes=((),), now=NOW)
    one_user = Visibility(scopes=(("team", "user-7"),), now=NOW)
    some = np.sort(rng.choice(total, total // 100, replace=False)) + 1
    never = np.empty((0, 2))
    window = np.array([[1.6e9, 1.6e9 + total * 60 / 50]])
    cells = [f"{total:,}"]
    for visible, allowed, asked in [
        (everything, None, never),
        (everything, None, window),
        (one_user, None, never),
        (everything, some, never),
    ]:
        questions = [probe(rng, visible, total, asked) for _ in range(200)]
        for question in questions[:20]:
            recall(index, question, allowed)
        used, passed = [], []
        for question in questions:
            start = now()
            recall(index, question, allowed)
            used.append((now() - start)[0])
            passed.append((now() - start)[1])
        cells.append("{:.2f} / {:.2f} / {:.2f}".format(*np.percentile(used, [10, 50]), np.median(passed)))

    added = [batch(rng, total + i, 1, total) for i in range(2_000)]
    start = now()
    for rows in added:
        index.upsert(rows)
    writing = (now() - start) / len(added)
    cells += ["{:.0f} / {:.0f}".format(*loading), "{:.3f} / {:.3f}".format(*writing), f"{rest / vectors:.2f}"]
    table.add_row(*cells)


def main(sizes: list[int]) -> None:
    """Measure and show a table."""
    table = Table(title="milliseconds: processor time (for recall: fastest tenth / median) / on the clock")
    for column in (
        "memories",
        "recall",
        "with a window",
        "scope of 1 %",
        "filter of 1 %",
        "load",
        "add one",
        "other memory / vectors",
    ):
        table.add_column(column, justify="right")
    for size in sizes:
        measure(size, table)
    Console().print(table)


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [15_000, 100_000])
