"""What forgetting is worth: one life lived three times: `python -m hindsight_core.evaluation.forgetting`.

    kept            every turn is a memory of its own, nothing is ever let go
    consolidated    repeats become occurrences, changed values history
    forgetting      the same, with a sweep every evening

Each life of `life` is lived day by day: turns are remembered, questions asked and their answers shown, which is what
keeps a memory strong. At the end the labelled questions are put to all three in turn, so that latencies compare. A
hit answers when the memory tells the right value, in whatever words and however often it was said; it is noise when
nothing in it is worth keeping. Quality is compared question by question (`significance`).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from hindsight_core.clock import CountedIds, FixedClock
from hindsight_core.embedding import CachedEmbedder, HashEmbedder, resolve
from hindsight_core.engine import Hindsight
from hindsight_core.evaluation.life import (
    ASKED_A_DAY,
    DAYS,
    START,
    TURNS_A_DAY,
    Day,
    Life,
    Question,
    Told,
    live,
)
from hindsight_core.evaluation.significance import Comparison, Estimate, compare, estimate
from hindsight_core.evaluation.systems import Stopwatch
from hindsight_core.forget import Fate
from hindsight_core.ports import Embedder
from hindsight_core.profiles import DEFAULT, Profile
from hindsight_core.unit import Status

K = 5
_REPEATS = 3
_ARMS = ("kept", "consolidated", "forgetting")


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How large a store was on the evening of a day; `deleted` counts what sweeps deleted or merged away so far."""

    day: int
    active: int
    archived: int
    superseded: int
    deleted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the first five hits of one question were worth.

    Attributes:
        question: Which.
        found: The right value is among them.
        stale_first: An outdated value stands above it, or stands there without it.
        noise: Share of them in which nothing is worth keeping; 0 when nothing was found.
        present: The right value is held by an active memory.
        milliseconds: The best of three runs, embedding left out.
    """

    question: Question
    found: bool
    stale_first: bool
    noise: float
    present: bool
    milliseconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One way of living: sizes over time, and the answers at the end."""

    arm: str
    sizes: tuple[Size, ...]
    answers: tuple[Answer, ...]

    def mean(
        self, of: Callable[[Answer], float], kind: str | None = None, used: bool | None = None
    ) -> Estimate:
        """A mean over all questions, or those of one kind, or those drawn one way."""
        return estimate(
            [
                float(of(one)) for one in self.answers
                if kind in (None, one.question.kind) and used in (None, one.question.used)
            ]
        )  # fmt: skip

    @property
    def latency(self) -> float:
        """Median milliseconds of a recall."""
        return float(np.median([one.milliseconds for one in self.answers]))


class _Living:
    """One store on its way through a life, and what each memory in it says."""

    def __init__(self, arm: str, watch: Stopwatch, profile: Profile) -> None:
        self.arm = arm
        self.sizes: list[Size] = []
        self._clock = FixedClock(START)
        self._watch = watch
        self._memory = Hindsight.open(
            ":memory:", "agent", embedder=watch, clock=self._clock, new_id=CountedIds(), profile=profile
        )
        self._says: dict[str, set[Told]] = {}
        self._deleted = 0

    def live(self, number: int, day: Day) -> None:
        """One day: listen, answer, and in the evening forget."""
        self._clock.set(day.evening)
        items = [
            {"text": t.text, "speaker": t.speaker, "session": t.session, "timestamp": t.at} for t in day.turns
        ]
        said = self._memory.remember_many(
            items, consolidate=self.arm != "kept", resumable=False, progress=False
        )
        for turn, units in zip(day.turns, said, strict=True):
            for unit in units:
                self._says.setdefault(unit.id, set()).update([turn.told] if turn.told else [])
        for question in day.asked:
            self._memory.recall(question, k=K).context()
        if self.arm == "forgetting":
            for step in self._memory.sweep().steps:
                self._deleted += step.fate is not Fate.ARCHIVE
                if step.into is not None:
                    self._says[step.into[1]] |= self._says[step.key[1]]
        if number % 10 == 9:
            self.sizes.append(self._size(number + 1))

    def _size(self, day: int) -> Size:
        held: Counter[str] = Counter(self._memory.stats())
        return Size(
            day=day,
            active=held["active"],
            archived=held["archived"],
            superseded=held["superseded"],
            deleted=self._deleted,
        )

    def answer(self, question: Question) -> tuple[list[set[Told]], float]:
        """What the first hits say, and the milliseconds it took."""
        spent, start = self._watch.spent, perf_counter()
        hits = self._memory.recall(question.text, k=K)
        taken = perf_counter() - start - (self._watch.spent - spent)
        return [self._says[hit.unit.id] for hit in hits], 1000 * taken

    def present(self) -> set[Told]:
        """All that active memories say."""
        return set().union(*(self._says[unit.id] for unit in self._memory.find(status=Status.ACTIVE)))

    def close(self) -> None:
        """Let the store go."""
        self._memory.close()


def judged(question: Question, said: Sequence[set[Told]], *, present: bool, milliseconds: float) -> Answer:
    """What an answer is worth; `said` is what each hit says, best first."""
    right = next((rank for rank, tells in enumerate(said) if question.gold in tells), len(said))
    outdated = [
        rank for rank, tells in enumerate(said)
        if question.gold not in tells and any(told.fact == question.gold.fact for told in tells)
    ]  # fmt: skip
    return Answer(
        question=question,
        found=right < len(said),
        stale_first=any(rank < right for rank in outdated),
        noise=sum(not tells for tells in said) / len(said) if said else 0.0,
        present=present,
        milliseconds=milliseconds,
    )


def run(
    life: Life, embedder: Embedder, *, profile: Profile = DEFAULT, say: Callable[[str], None]
) -> tuple[Outcome, ...]:
    """Live a life all three ways and ask the questions at its end.

    Args:
        life: The life.
        embedder: Of all three stores.
        profile: Of all three stores.
        say: Told what is being done.
    """
    watch = Stopwatch(embedder)
    livings = [_Living(arm, watch, profile) for arm in _ARMS]
    for living in livings:
        for number, day in enumerate(life.days):
            if number % 50 == 0:
                say(f"{living.arm}: day {number} of {len(life.days)}")
            living.live(number, day)
    say("asking")
    answers: list[list[Answer]] = [[] for _ in livings]
    present = [living.present() for living in livings]
    for question in life.questions:
        runs = [[living.answer(question) for living in livings] for _ in range(_REPEATS)]
        for place, its in enumerate(zip(*runs, strict=True)):
            said, quickest = its[0][0], min(taken for _, taken in its)
            held = question.gold in present[place]
            answers[place].append(judged(question, said, present=held, milliseconds=quickest))
    for living in livings:
        living.close()
    return tuple(
        Outcome(arm=living.arm, sizes=tuple(living.sizes), answers=tuple(its))
        for living, its in zip(livings, answers, strict=True)
    )


_MEASURES: dict[str, Callable[[Answer], float]] = {
    "right value in the first 5": lambda one: one.found,
    "outdated value first": lambda one: one.stale_first,
    "right value, no outdated one above it": lambda one: one.found and not one.stale_first,
    "noise among the first 5": lambda one: one.noise,
    "right value in an active memory": lambda one: one.present,
}


def compared(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, str, Comparison]]:
    """Forgetting against the two others, question by question: (other arm, measure, comparison)."""
    forgetting = outcomes[-1]
    for other in outcomes[:-1]:
        for name, of in _MEASURES.items():
            one, two = ([float(of(answer)) for answer in arm.answers] for arm in (forgetting, other))
            yield other.arm, name, compare(one, two)


def tables(outcomes: Sequence[Outcome]) -> Iterator[Table]:
    """The figures side by side, by kind of question, over time, and compared."""
    table = Table("", *(one.arm for one in outcomes), title="at the end", title_justify="left")
    for name in ("active", "archived", "superseded", "deleted"):
        table.add_row(f"{name} memories", *(f"{getattr(one.sizes[-1], name):,}" for one in outcomes))
    table.add_row("recall, ms (median)", *(f"{one.latency:.2f}" for one in outcomes))
    table.add_row("recall, times kept", *(f"{one.latency / outcomes[0].latency:.2f}" for one in outcomes))
    for name, of in _MEASURES.items():
        table.add_row(name, *(f"{one.mean(of).mean:.3f}" for one in outcomes))
    kinds = dict.fromkeys((a.question.kind, a.question.used) for a in outcomes[0].answers)
    for kind, used in kinds:
        means = [one.mean(lambda a: a.found, kind, used) for one in outcomes]
        drawn = "asked as in life" if used else "drawn evenly"
        table.add_row(f"  found: {kind}, {drawn} ({means[0].n})", *(f"{mean.mean:.3f}" for mean in means))
    yield table
    table = Table("day", *(one.arm for one in outcomes), title="active memories", title_justify="left")
    for sizes in zip(*(one.sizes for one in outcomes), strict=True):
        if sizes[0].day % 50 == 0:
            table.add_row(str(sizes[0].day), *(f"{size.active:,}" for size in sizes))
    yield table
    table = Table(title="forgetting minus the other, 95 % interval", title_justify="left")
    for column in ("other", "measure", "difference", "more / less / equal", "p"):
        table.add_column(column)
    for arm, name, found in compared(outcomes):
        d = found.difference
        table.add_row(
            arm, name, f"{d.mean:+.3f} [{d.low:+.3f}, {d.high:+.3f}]", f"{found.wins} / {found.losses} / {found.ties}",
            f"{found.p:.4f}",
        )  # fmt: skip
    yield table


def as_json(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The same as JSON."""
    return {
        "arms": [
            {
                "arm": one.arm,
                "sizes": [asdict(size) for size in one.sizes],
                "latency_ms": one.latency,
                **{name: asdict(one.mean(of)) for name, of in _MEASURES.items()},
            }
            for one in outcomes
        ],
        "compared": [
            {"with": arm, "measure": name, **asdict(found)} for arm, name, found in compared(outcomes)
        ],
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Live, ask and print."""
    parser = argparse.ArgumentParser(
        prog="python -m hindsight_core.evaluation.forgetting", description=__doc__
    )
    parser.add_argument("--days", type=int, default=DAYS, help="days of life (default %(default)s)")
    parser.add_argument("--turns", type=int, default=TURNS_A_DAY, help="turns a day (default %(default)s)")
    parser.add_argument("--seed", type=int, default=7, help="of the life (default %(default)s)")
    parser.add_argument(
        "--embedder", choices=("hash", "local"), default="hash", help="hash is fast, local the bundled model"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args(argv)
    log = Console(stderr=True, highlight=False)
    embedder = resolve("local") if args.embedder == "local" else HashEmbedder()
    assert embedder is not None
    with tempfile.TemporaryDirectory(prefix="hindsight-life-") as folder:
        cached = CachedEmbedder(embedder, Path(folder, "vectors.db"))
        life = live(seed=args.seed, days=args.days, turns=args.turns, asked=ASKED_A_DAY)
        outcomes = run(life, cached, say=lambda what: log.print(f"{what} ..."))
        cached.close()
    if args.json:
        sys.stdout.write(json.dumps(as_json(outcomes), indent=2) + "\n")
    else:
        console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
        for table in tables(outcomes):
            console.print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
