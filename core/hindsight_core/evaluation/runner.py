"""Running systems over data sets: every bank is loaded, every question asked, every answer judged.

The runner is the only part that holds both a system and the labels. What it keeps of an answer is an `Outcome`: ranks and
figures, never the text of a memory or a question, so a saved result can be passed on where the data may not.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from hindsight_core.errors import InvalidInput
from hindsight_core.evaluation.dataset import Dataset, Kind, Question
from hindsight_core.evaluation.metrics import Judgement, gold_at, judge, stale_first
from hindsight_core.evaluation.significance import SEED
from hindsight_core.evaluation.systems import UNDATED, Answer, System

Advance = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to measure.

    Attributes:
        ks: Cut-offs of recall@k, hit@k and all@k, ascending; the last is how many memories are asked for.
        superseded: Categories whose gold holds superseded memories too, which a user would ask for as history.
        aside: Categories that ask for more than a top-k recall can give: measured, and left out of the headline.
        contexts: Sizes in tokens at which to see which gold memories the text block for a prompt holds.
        foreign: Questions of other data sets put to each bank, for which nothing is the right answer.
        seed: Chooses those.
    """

    ks: tuple[int, ...] = (5, 10)
    superseded: frozenset[str] = frozenset({"contradiction_resolution"})
    aside: frozenset[str] = frozenset(
        {"event_ordering", "summarization", "instruction_following", "preference_following"}
    )
    contexts: tuple[int, ...] = ()
    foreign: int = 0
    seed: int = SEED


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one question.

    Attributes:
        bank: Where it was put.
        question: Its id.
        category: Its category.
        kind: What it can be used for.
        wanted: Number of gold memories.
        ranks: Of those found among the first k, ascending.
        relevances: Theirs, in the same order.
        best: The highest relevance of anything found; 0 when nothing was.
        returned: How many memories the user would get; None for a system without a floor.
        kept: How many gold memories are among those; None without a floor.
        stale_first: Whether a superseded memory ranks above the best gold one; None when the question names none.
        shown: Share of the gold memories in the text block, by its size in tokens.
        milliseconds: Waited, embedding apart.
        told: How many memories would be brought up unasked; None for a system that only answers.
        told_gold: How many gold memories are among those.
    """

    bank: str
    question: str
    category: str
    kind: Kind
    wanted: int
    ranks: tuple[int, ...]
    relevances: tuple[float, ...]
    best: float
    returned: int | None
    kept: int | None
    stale_first: bool | None
    shown: dict[int, float] = field(default_factory=dict)
    milliseconds: float
    told: int | None = None
    told_gold: int = 0

    @property
    def judgement(self) -> Judgement:
        """Its ranks, ready to be measured; only where something was wanted."""
        return Judgement(self.ranks, self.wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One system on one data set."""

    system: str
    dataset: str
    memories: int
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """Everything that was measured, and how."""

    settings: Settings
    runs: tuple[Run, ...]

    @property
    def systems(self) -> list[str]:
        """Names, in order of measuring."""
        return list(dict.fromkeys(run.system for run in self.runs))

    @property
    def datasets(self) -> list[str]:
        """Names, in order of measuring."""
        return list(dict.fromkeys(run.dataset for run in self.runs))


def evaluate(
    datasets: Sequence[Dataset],
    systems: Callable[[Dataset], Iterable[System]],
    settings: Settings = Settings(),
    advance: Advance = lambda what, done, total: None,
) -> Results:
    """Measure systems on data sets.

    Args:
        datasets: Read by `load_dataset`.
        systems: Makes fresh systems for a data set. They are loaded in turn and closed together, so that one may
            share the store of one before it.
        settings: How to measure.
        advance: Told how far it is.

    Raises:
        InvalidInput: Two data sets have the same name.
    """
    names = [dataset.name for dataset in datasets]
    if len(set(names)) < len(names):
        raise InvalidInput("two data sets have the same name; results are kept by it, so rename a file")
    runs = []
    for dataset in datasets:
        questions = [*dataset.questions, *foreign_questions(dataset, datasets, settings)]
        ready: list[System] = []
        try:
            for system in systems(dataset):
                ready.append(system)
                runs.append(_run(system, dataset, questions, settings, advance))
        finally:
            for system in reversed(ready):
                system.close()
    return Results(settings=settings, runs=tuple(runs))


def _run(
    system: System, dataset: Dataset, questions: Sequence[Question], settings: Settings, advance: Advance
) -> Run:
    total = sum(map(len, dataset.banks.values()))
    done = 0
    for bank, memories in dataset.banks.items():
        advance(f"{dataset.name}: {system.name} remembers", done, total)
        system.load(bank, memories)
        done += len(memories)
    outcomes = []
    for number, question in enumerate(questions):
        advance(f"{dataset.name}: {system.name} answers", number, len(questions))
        outcomes.append(_outcome(system, question, dataset.present(question) or UNDATED, settings))
    advance(f"{dataset.name}: {system.name} answers", len(questions), len(questions))
    return Run(system=system.name, dataset=dataset.name, memories=total, outcomes=tuple(outcomes))


def _outcome(system: System, question: Question, now: datetime, settings: Settings) -> Outcome:
    k = settings.ks[-1]
    superseded = question.category in settings.superseded
    answer: Answer = system.ask(question.blind(), now=now, k=k, superseded=superseded)
    ranking = answer.ranking[:k]
    found = [one.id for one in ranking]
    gold = question.gold
    ranks = judge(found, gold, question.alt).ranks if gold else ()
    returned = None if answer.returned is None else [one.id for one in answer.returned[:k]]
    shown = {}
    for tokens in settings.contexts if gold else ():
        held = gold_at(sorted(answer.shown(tokens)), gold, question.alt)
        shown[tokens] = len(held) / len(set(gold))
    return Outcome(
        bank=question.bank,
        question=question.id,
        category=question.category,
        kind=question.kind,
        wanted=len(set(gold)),
        ranks=ranks,
        relevances=tuple(ranking[rank - 1].relevance for rank in ranks),
        best=max((one.relevance for one in answer.ranking), default=0.0),
        returned=None if returned is None else len(returned),
        kept=None if returned is None else len(gold_at(returned, gold, question.alt)),
        stale_first=stale_first(found, ranks[0] if ranks else None, question.stale)
        if question.stale
        else None,
        shown=shown,
        milliseconds=answer.seconds * 1000,
        told=None if answer.told is None else len(answer.told),
        told_gold=len(gold_at(sorted(answer.told or ()), gold, question.alt)) if gold else 0,
    )


def foreign_questions(dataset: Dataset, others: Iterable[Dataset], settings: Settings) -> Iterator[Question]:
    """Answerable questions of the other data sets, put to each bank of this one at its own present."""
    pool = [
        (other.name, question)
        for other in others
        if other.name != dataset.name
        for question in other.questions
        if question.kind is Kind.ANSWERABLE and not question.history
    ]
    chance = random.Random(f"{settings.seed} {dataset.name}")
    for bank in dataset.banks:
        for name, question in chance.sample(pool, min(settings.foreign, len(pool))):
            yield replace(
                question,
                bank=bank,
                id=f"{name}:{question.id}@{bank}",
                category="foreign",
                kind=Kind.FOREIGN,
                asked_at=None,
                gold=(),
                stale=frozenset(),
                alt={},
            )
