"""How fast a memory is, on synthetic vectors and with embedding left out: `python -m hindsight_core.evaluation.speed`.

One store grows through the sizes; at each of them recalls are timed, plain, in a small sub-scope and within one week.
Opening and resident memory are taken in a fresh process and beside a bare interpreter. The same run times the usual pipelines
(`pipelines`), since ratios within one run on one machine say more than milliseconds do, and takes a recall apart (`stages`).
The last table holds the budgets and whether they are met.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from hindsight_core.engine import Hindsight
from hindsight_core.errors import InvalidInput
from hindsight_core.evaluation.pipelines import PIPELINES, UP_TO
from hindsight_core.evaluation.stages import shares
from hindsight_core.evaluation.synthetic import DIMENSION, SESSION, START, Synthetic, TopicEmbedder
from hindsight_core.evaluation.systems import Stopwatch

SIZES = (1_000, 15_000, 100_000)
REPEATS = 200
INGESTED = 2_560
K = 10
_LATER = START + timedelta(days=36_500)
"""The present: long after every turn."""
_SMALL_SHARE = 50
"""One session in so many goes to the small sub-scope."""

_IN_A_FRESH_PROCESS = """
import json, os, resource, sys
from time import perf_counter
def resident():
    try:
        with open("/proc/self/statm") as pages:
            return int(pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
bare = resident()
from hindsight_core import Hindsight
from hindsight_core.evaluation.synthetic import TopicEmbedder
path, question = sys.argv[1:]
start = perf_counter()
memory = Hindsight.open(path, scope="bench", embedder=TopicEmbedder())
opened = perf_counter() - start
memory.recall(question, k=10)
answered = perf_counter() - start
print(json.dumps({"opened": opened, "answered": answered, "resident": resident() - bare}))
"""


@dataclass(frozen=True, slots=True)
class Waits:
    """Milliseconds waited."""

    p50: float
    p95: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AtSize:
    """Figures at one size.

    Attributes:
        memories: The size.
        plain: Recalls without a filter.
        scoped: Recalls in a sub-scope that holds one session in fifty.
        week: Recalls within one week.
        ingest: Turns per second when it is about this large, in batches of 256 and with consolidation.
        remember: Remembering one turn.
        apart: Remembering one without comparing it with others (`consolidate=False`).
        stages: Share of each stage of a plain recall, by name.
        pipelines: Waits of each pipeline of `pipelines` over the same turns, where it was measured.
    """

    memories: int
    plain: Waits
    scoped: Waits
    week: Waits
    ingest: float
    remember: Waits
    apart: Waits
    stages: Mapping[str, float]
    pipelines: Mapping[str, Waits]


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """What was measured.

    Attributes:
        sizes: Ascending.
        opened: Seconds to open the largest store in a fresh process.
        answered: Seconds until it has answered the first question.
        resident: Bytes of memory then, above the bare interpreter.
        vectors: Bytes of its vectors.
    """

    sizes: tuple[AtSize, ...]
    opened: float
    answered: float
    resident: int
    vectors: int

    @property
    def growth(self) -> tuple[float, ...]:
        """Exponent e of recall time ~ size ** e from each size to the next."""
        return tuple(
            float(np.log(b.plain.p50 / a.plain.p50) / np.log(b.memories / a.memories))
            for a, b in pairwise(self.sizes)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A promise: what is measured, what it must not exceed (or, with `least`, fall below), and what it is."""

    what: str
    limit: float
    unit: str
    value: float
    least: bool = False

    @property
    def met(self) -> bool:
        """Whether it is kept."""
        return self.value >= self.limit if self.least else self.value <= self.limit


def budgets(speed: Speed) -> Iterator[Budget]:
    """The promises that were measured."""
    recall_limits = {15_000: 5.0, 100_000: 25.0}
    for at in speed.sizes:
        n = f"{at.memories:,}"
        if at.memories in recall_limits:
            yield Budget(
                what=f"recall p50 at {n}", limit=recall_limits[at.memories], unit="ms", value=at.plain.p50
            )
            # "No slower", give or take the noise of a median.
            yield Budget(
                what=f"in a sub-scope at {n}", limit=1.1 * at.plain.p50, unit="ms", value=at.scoped.p50
            )
            yield Budget(what=f"within a week at {n}", limit=1.1 * at.plain.p50, unit="ms", value=at.week.p50)
        if at.memories == 15_000:
            yield Budget(what=f"remember one turn p50 at {n}", limit=3, unit="ms", value=at.apart.p50)
            added = at.remember.p50 - at.apart.p50
            yield Budget(what=f"consolidation adds at {n}", limit=2, unit="ms", value=added)
            yield Budget(what=f"ingest at {n}", limit=1_000, unit="turns/s", value=at.ingest, least=True)
        if "hybrid" in at.pipelines and at.memories == 15_000:
            ratio = at.pipelines["hybrid"].p50 / at.plain.p50
            yield Budget(what=f"faster than hybrid at {n}", limit=10, unit="times", value=ratio, least=True)
    if len(speed.sizes) > 1 and speed.sizes[-1].memories >= 100_000:
        yield Budget(what="growth of recall time, exponent", limit=1, unit="", value=speed.growth[-1])
    if speed.sizes[-1].memories == 100_000:
        # Opening reads nothing yet; what counts is how soon there is an answer.
        yield Budget(what="open 100,000 and answer", limit=1.5, unit="s", value=speed.answered)
        yield Budget(
            what="resident at 100,000, of its vectors",
            limit=2.5,
            unit="times",
            value=speed.resident / speed.vectors,
        )


def measure(
    path: Path,
    sizes: Sequence[int] = SIZES,
    *,
    beside: Mapping[str, int] = UP_TO,
    repeats: int = REPEATS,
    say: Callable[[str], None],
) -> Speed:
    """Measure everything in a new store.

    Args:
        path: Where the store is made.
        sizes: At which to measure, ascending.
        beside: Pipelines to measure too, and up to which size.
        repeats: Questions asked and single turns remembered for a figure; pipelines answer a fifth of them.
        say: Told what is being done.
    """
    source, watch = Synthetic(), Stopwatch(TopicEmbedder())
    questions = source.questions(repeats)
    found = []
    turns: list[dict[str, Any]] = []
    with Hindsight.open(path, scope="bench", embedder=watch) as memory:
        for size in sizes:
            say(f"growing to {size:,} memories")
            fresh = list(source.turns(size - len(turns), first=len(turns)))
            turns += fresh
            ingest = _ingest(memory, fresh, watch)
            say(f"timing recalls at {size:,}")
            found.append(
                AtSize(
                    memories=size,
                    plain=_recalls(memory, questions, watch),
                    scoped=_recalls(memory.within("small"), questions, watch),
                    week=_recalls(memory, questions, watch, week=len(turns) // SESSION // 8),
                    ingest=ingest,
                    remember=_single_turns(memory, source.turns(repeats), watch, consolidate=True),
                    apart=_single_turns(memory, source.turns(repeats), watch, consolidate=False),
                    stages=shares(memory, questions, watch, k=K, now=_LATER),
                    pipelines={
                        name: _pipeline(name, turns, questions[: max(1, repeats // 5)], say)
                        for name, most in beside.items()
                        if size <= most
                    },
                )
            )
    say("opening it in a fresh process")
    child = subprocess.run(
        [sys.executable, "-c", _IN_A_FRESH_PROCESS, str(path), questions[0]],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    fresh_process = json.loads(child.stdout)
    return Speed(sizes=tuple(found), **fresh_process, vectors=sizes[-1] * DIMENSION * 4)


def _waits(calls: Iterable[Callable[[], object]], watch: Stopwatch | None = None) -> Waits:
    taken = []
    for call in calls:
        spent = watch.spent if watch else 0.0
        start = perf_counter()
        call()
        taken.append(perf_counter() - start - ((watch.spent if watch else 0.0) - spent))
    p50, p95 = np.percentile(np.array(taken) * 1000, [50, 95])
    return Waits(float(p50), float(p95))


def _recalls(memory: Hindsight, questions: Sequence[str], watch: Stopwatch, week: int | None = None) -> Waits:
    """Time recalls; `week` is a day in whose week to look."""
    where: dict[str, Any] = {}
    if week is not None:
        where = {"since": START + timedelta(days=week), "until": START + timedelta(days=week + 7)}
    memory.recall(questions[0], k=K, now=_LATER, **where)
    return _waits((partial(memory.recall, q, k=K, now=_LATER, **where) for q in questions), watch)


def _pipeline(
    name: str, turns: Sequence[dict[str, Any]], questions: Sequence[str], say: Callable[[str], None]
) -> Waits:
    """Build a pipeline over the turns and time questions."""
    say(f"building and timing {name}")
    ask, embedder = PIPELINES[name](turns), TopicEmbedder()
    asked = [(question, embedder.embed_query(question)) for question in questions]
    ask(*asked[0])
    return _waits(partial(ask, question, vector) for question, vector in asked)


def _ingest(memory: Hindsight, turns: Sequence[dict[str, Any]], watch: Stopwatch) -> float:
    """Remember turns, some of them in the small sub-scope.

    Only the last of them are timed and compared with what is there: that is the speed at the size reached, and the bench
    need not wait for a hundred thousand comparisons.

    Returns:
        Turns per second, embedding left out.
    """
    cut = len(turns) - min(INGESTED, len(turns) // 2)
    bulk, last = turns[:cut], turns[cut:]
    for part, wanted in ((memory, False), (memory.within("small"), True)):
        own = [turn for turn in bulk if (int(turn["session"][1:]) % _SMALL_SHARE == 0) is wanted]
        part.remember_many(own, consolidate=False, progress=False)
    spent, start = watch.spent, perf_counter()
    memory.remember_many(last, progress=False)
    return len(last) / (perf_counter() - start - (watch.spent - spent))


def _single_turns(
    memory: Hindsight, fresh: Iterable[dict[str, Any]], watch: Stopwatch, *, consolidate: bool
) -> Waits:
    """Time turns one by one, each durable before the next; they are taken back so that sizes stay round."""
    turns = [{**turn, "id": f"single-{turn['id']}"} for turn in fresh]
    waits = _waits((partial(memory.remember, **turn, consolidate=consolidate) for turn in turns), watch)
    for turn in turns:
        memory.forget(turn["id"])
    return waits


def tables(speed: Speed) -> Iterator[Table]:
    """Figures by size, where the time goes, pipelines beside, and the budgets."""
    table = Table(title="milliseconds, p50 / p95, embedding apart", title_justify="left")
    columns = (
        "memories",
        "recall",
        "in a sub-scope",
        "within a week",
        "remember one",
        "not compared",
        "ingest, turns/s, batches of 256",
        "growth",
    )
    for column in columns:
        table.add_column(column, justify="right")
    for at, exponent in zip(speed.sizes, ("", *(f"{e:.2f}" for e in speed.growth)), strict=True):
        cells = [_cell(waits) for waits in (at.plain, at.scoped, at.week, at.remember, at.apart)]
        table.add_row(f"{at.memories:,}", *cells, f"{at.ingest:,.0f}", exponent)
    yield table
    yield _by_size("a recall by stages", speed, lambda at: {n: f"{s:.0%}" for n, s in at.stages.items()})
    yield _by_size(
        "beside it, and how many times the wait of a recall",
        speed,
        lambda at: {n: f"{_cell(w)}  x {w.p50 / at.plain.p50:.2f}" for n, w in at.pipelines.items()},
    )
    table = Table(title_justify="left", title=f"the largest store: {_largest(speed)}")
    table.add_column("budget")
    for column in ("limit", "measured", "met"):
        table.add_column(column, justify="right")
    for budget in budgets(speed):
        sign = ">=" if budget.least else "<="
        cells = [f"{sign} {budget.limit:,.2f} {budget.unit}", f"{budget.value:,.2f} {budget.unit}"]
        table.add_row(
            budget.what, *cells, "yes" if budget.met else "NO", style=None if budget.met else "bold red"
        )
    yield table


def _cell(waits: Waits) -> str:
    return f"{waits.p50:.2f} / {waits.p95:.2f}"


def _by_size(title: str, speed: Speed, cells: Callable[[AtSize], Mapping[str, str]]) -> Table:
    """A row for every name, a column for every size."""
    found = [cells(at) for at in speed.sizes]
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for at in speed.sizes:
        table.add_column(f"{at.memories:,}", justify="right")
    for name in dict.fromkeys(name for one in found for name in one):
        table.add_row(name, *(one.get(name, "") for one in found))
    return table


def _largest(speed: Speed) -> str:
    return (
        f"open {speed.opened:.2f} s, first answer {speed.answered:.2f} s, resident {speed.resident / 2**20:,.0f} MiB "
        f"({speed.resident / speed.vectors:.2f} times its vectors)"
    )


def as_json(speed: Speed) -> dict[str, Any]:
    """The same as JSON."""
    held = [{**asdict(budget), "met": budget.met} for budget in budgets(speed)]
    return {**asdict(speed), "growth": speed.growth, "budgets": held}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; the exit status says nothing of budgets, as machines differ."""
    parser = argparse.ArgumentParser(prog="python -m hindsight_core.evaluation.speed", description=__doc__)
    parser.add_argument(
        "--sizes", nargs="+", type=int, default=list(SIZES), help="memories at which to measure"
    )
    parser.add_argument("--alone", action="store_true", help="leave out the pipelines to compare with")
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args(argv)
    sizes = sorted(set(args.sizes))
    if sizes[0] < SESSION:
        raise InvalidInput(f"sizes start at one session, {SESSION} memories")
    log = Console(stderr=True, highlight=False)
    busy, cpus = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0, os.cpu_count() or 1
    if busy > cpus / 2:
        log.print(
            f"This machine is busy (load {busy:.1f} on {cpus} CPUs), so times will be high; ratios still hold."
        )
    with tempfile.TemporaryDirectory(prefix="hindsight-bench-") as folder:
        beside = {} if args.alone else UP_TO
        speed = measure(
            Path(folder, "bench.db"), sizes, beside=beside, say=lambda what: log.print(f"{what} ...")
        )
    if args.json:
        sys.stdout.write(json.dumps(as_json(speed), indent=2) + "\n")
    else:
        console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
        for table in tables(speed):
            console.print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
