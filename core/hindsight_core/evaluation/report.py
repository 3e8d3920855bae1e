"""From outcomes to figures: per data set, system and category, with intervals; and back and forth as JSON.

The *headline* of a data set is over its answerable questions, save the categories set aside. Adversarial questions are
reported apart, and questions without an answer tell how well a system keeps silent:

    abstention precision   share of its silences that were right
    abstention recall      share of questions without an answer that were met with silence
    foreign silence        the same for questions that were put to a bank of another data set
    hits kept              share of the gold memories found among the first k that its own floor lets through

Active recall (`recollect`) is measured on the same questions, taken for messages:

    speaks                 share of answerable questions at which it speaks up
    speaks rightly         share of answerable questions at which it brings up a gold memory
    silent rightly         share of questions without an answer, own and foreign, at which it says nothing

The curve says the same for every floor a user could choose, on the relevances of what was found without one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hindsight_core.errors import InvalidInput
from hindsight_core.evaluation.dataset import Kind
from hindsight_core.evaluation.metrics import Abstention
from hindsight_core.evaluation.runner import Outcome, Results, Run, Settings
from hindsight_core.evaluation.significance import Comparison, Estimate, compare, estimate, holm

FORMAT = "hindsight-evaluation"
VERSION = 1
FLOORS = tuple(i / 50 for i in range(51))

Measure = Callable[[Outcome], float]


def measures(settings: Settings) -> dict[str, Measure]:
    """The figures of one answerable question, by name; the first ones are recall@k."""
    named: dict[str, Measure] = {}
    for what in ("recall", "hit", "all"):
        for k in settings.ks:
            named[f"{what}@{k}"] = lambda o, what=what, k=k: getattr(o.judgement, what)(k)  # type: ignore[misc]
    named["ndcg@10"] = lambda o: o.judgement.ndcg(10)
    named["mrr"] = lambda o: o.judgement.mrr()
    for tokens in settings.contexts:
        named[f"context@{tokens}"] = lambda o, tokens=tokens: o.shown[tokens]  # type: ignore[misc]
    return named


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Some questions of a run, measured.

    Attributes:
        name: A category, "adversarial", or "headline".
        n: How many questions.
        apart: Whether it is left out of the headline.
        values: Each figure with its interval, by name; "stale_first" is over the questions that name stale memories.
    """

    name: str
    n: int
    apart: bool
    values: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """How well a run knows what it does not know; None where the system has no floor or no question asks for it.

    Attributes:
        counts: Silences over the answerable questions and those without an answer.
        foreign: Share of foreign questions met with silence.
        kept: Share of the gold memories found that the floor lets through.
        curve: (floor, hits kept, silence without an answer, silence on foreign questions) for every floor; nan where no
            question of that kind was asked.
    """

    counts: Abstention | None
    foreign: float | None
    kept: float | None
    curve: tuple[tuple[float, float, float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """How active recall fared: counts.

    Attributes:
        answerable: Questions with an answer.
        spoken: At how many of them it spoke up.
        rightly: At how many of them it brought up a gold memory.
        unanswerable: Questions without an answer, own and foreign.
        silent: At how many of those it said nothing.
    """

    answerable: int
    spoken: int
    rightly: int
    unanswerable: int
    silent: int

    def rates(self) -> dict[str, float]:
        """The three shares by name; nan where there was no such question."""
        return {
            "recollect speaks": _share(self.spoken, self.answerable),
            "recollect speaks rightly": _share(self.rightly, self.answerable),
            "recollect silent rightly": _share(self.silent, self.unanswerable),
        }


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def telling(outcomes: Iterable[Outcome]) -> Telling | None:
    """Count how active recall fared; None for a system that only answers."""
    outcomes = [outcome for outcome in outcomes if outcome.told is not None]
    answerable = [o for o in outcomes if o.kind is Kind.ANSWERABLE]
    without = [o for o in outcomes if o.kind in (Kind.UNANSWERABLE, Kind.FOREIGN)]
    if not outcomes:
        return None
    return Telling(
        answerable=len(answerable),
        spoken=sum(bool(o.told) for o in answerable),
        rightly=sum(o.told_gold > 0 for o in answerable),
        unanswerable=len(without),
        silent=sum(not o.told for o in without),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One run, measured.

    Attributes:
        run: The run.
        headline: Over its answerable questions, save the categories set aside.
        categories: Answerable questions by category, in order of appearance, and the adversarial ones as one group.
        silence: Abstention.
        telling: Active recall; None for a system that only answers.
        p50: Milliseconds waited in the middle case, embedding apart.
        p95: The same, exceeded by one question in twenty.
    """

    run: Run
    headline: Group
    categories: tuple[Group, ...]
    silence: Silence
    telling: Telling | None
    p50: float
    p95: float


def headline(run: Run, settings: Settings) -> list[Outcome]:
    """The outcomes that count in the headline."""
    return [outcome for outcome in run.outcomes if _counts(outcome, settings)]


def _counts(outcome: Outcome, settings: Settings) -> bool:
    return outcome.kind is Kind.ANSWERABLE and outcome.category not in settings.aside


def summarise(run: Run, settings: Settings) -> Summary:
    """Measure a run."""
    by_category: dict[str, list[Outcome]] = {}
    for outcome in run.outcomes:
        if outcome.wanted:
            adversarial = outcome.kind is Kind.ADVERSARIAL
            by_category.setdefault("adversarial" if adversarial else outcome.category, []).append(outcome)
    waits = [outcome.milliseconds for outcome in run.outcomes if outcome.kind is not Kind.FOREIGN]
    return Summary(
        run=run,
        headline=group("headline", headline(run, settings), settings),
        categories=tuple(group(name, outcomes, settings) for name, outcomes in by_category.items()),
        silence=silence(run.outcomes),
        telling=telling(run.outcomes),
        p50=float(np.percentile(waits, 50)),
        p95=float(np.percentile(waits, 95)),
    )


def group(name: str, outcomes: Sequence[Outcome], settings: Settings) -> Group:
    """Measure outcomes that have gold memories."""
    values = {
        measure: estimate([value(outcome) for outcome in outcomes])
        for measure, value in measures(settings).items()
    }
    values["stale_first"] = estimate([float(o.stale_first) for o in outcomes if o.stale_first is not None])
    apart = not any(_counts(outcome, settings) for outcome in outcomes)
    return Group(name=name, n=len(outcomes), apart=apart, values=values)


def silence(outcomes: Iterable[Outcome]) -> Silence:
    """Measure what was not answered."""
    outcomes = list(outcomes)
    answerable = [o for o in outcomes if o.kind is Kind.ANSWERABLE]
    without = [o for o in outcomes if o.kind is Kind.UNANSWERABLE]
    foreign = [o for o in outcomes if o.kind is Kind.FOREIGN]
    has_floor = any(o.returned is not None for o in outcomes)
    counts, kept, silent_abroad = None, None, None
    if has_floor:
        silent = [o for o in answerable if not o.returned]
        if without:
            counts = Abstention(sum(not o.returned for o in without), len(silent), len(without))
        if foreign:
            silent_abroad = _mean([not o.returned for o in foreign])
        hits = sum(len(o.ranks) for o in answerable)
        # What a floor removes makes room, so more may be kept than were found before; that is no merit of the floor.
        kept = sum(min(o.kept or 0, len(o.ranks)) for o in answerable) / hits if hits else None
    relevances = [relevance for o in answerable for relevance in o.relevances]
    curve = tuple(
        (
            floor,
            _mean([relevance >= floor for relevance in relevances]),
            _mean([o.best < floor for o in without]),
            _mean([o.best < floor for o in foreign]),
        )
        for floor in FLOORS
    )
    return Silence(counts=counts, foreign=silent_abroad, kept=kept, curve=curve)


def _mean(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Two runs on the same questions of a data set, by one measure; `adjusted` is p over all contrasts shown."""

    dataset: str
    a: str
    b: str
    measure: str
    comparison: Comparison
    adjusted: float


def contrasts(pairs: Iterable[tuple[Run, Run]], settings: Settings) -> list[Contrast]:
    """Compare runs pairwise on every recall@k of the headline, over the questions both were asked."""
    found: list[tuple[str, str, str, str, Comparison]] = []
    for a, b in pairs:
        theirs = {(o.bank, o.question): o for o in headline(b, settings)}
        both = [
            (o, theirs[o.bank, o.question]) for o in headline(a, settings) if (o.bank, o.question) in theirs
        ]
        for k in settings.ks if both else ():
            measure = measures(settings)[f"recall@{k}"]
            result = compare([measure(o) for o, _ in both], [measure(o) for _, o in both])
            found.append((a.dataset, a.system, b.system, f"recall@{k}", result))
    adjusted = holm([result.p for *_, result in found])
    return [
        Contrast(dataset=dataset, a=a, b=b, measure=measure, comparison=result, adjusted=p)
        for (dataset, a, b, measure, result), p in zip(found, adjusted, strict=True)
    ]


def first_against_rest(results: Results) -> Iterator[tuple[Run, Run]]:
    """The first system against each other one, data set by data set."""
    for dataset in results.datasets:
        first, *rest = [run for run in results.runs if run.dataset == dataset]
        for other in rest:
            yield first, other


def against_earlier(results: Results, earlier: Results) -> Iterator[tuple[Run, Run]]:
    """Each run against that of the same system and data set in earlier results."""
    before = {(run.system, run.dataset): run for run in earlier.runs}
    for run in results.runs:
        if (run.system, run.dataset) in before:
            yield run, before[run.system, run.dataset]


def as_json(results: Results, compared: Sequence[Contrast] = ()) -> dict[str, Any]:
    """Everything as JSON: figures for reading, outcomes for comparing later. nan is null."""
    settings = results.settings
    written: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "settings": {
            **asdict(settings),
            "superseded": sorted(settings.superseded),
            "aside": sorted(settings.aside),
        },
        "results": [_summary_json(summarise(run, settings)) for run in results.runs],
        "comparisons": [_contrast_json(contrast) for contrast in compared],
        "runs": [asdict(run) for run in results.runs],
    }
    cleaned: dict[str, Any] = _no_nan(written)
    return cleaned


def _no_nan(value: Any) -> Any:
    if isinstance(value, float):
        return None if math.isnan(value) else round(value, 6)
    if isinstance(value, Mapping):
        return {str(name): _no_nan(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_no_nan(item) for item in value]
    return value


def _summary_json(summary: Summary) -> dict[str, Any]:
    silence = summary.silence
    counts = silence.counts
    return {
        "dataset": summary.run.dataset,
        "system": summary.run.system,
        "memories": summary.run.memories,
        "questions": len(summary.run.outcomes),
        "headline": _group_json(summary.headline),
        "categories": {item.name: _group_json(item) for item in summary.categories},
        "abstention": {
            "precision": counts.precision if counts else None,
            "recall": counts.recall if counts else None,
            "foreign_silence": silence.foreign,
            "hits_kept": silence.kept,
            "curve": [
                dict(zip(("floor", "hits_kept", "silence", "foreign"), row, strict=True))
                for row in silence.curve
            ],
        },
        "recollect": asdict(summary.telling) if summary.telling else None,
        "latency_ms": {"p50": summary.p50, "p95": summary.p95},
    }


def _group_json(item: Group) -> dict[str, Any]:
    return {
        "questions": item.n,
        "apart": item.apart,
        **{name: asdict(value) for name, value in item.values.items() if value.n},
    }


def _contrast_json(contrast: Contrast) -> dict[str, Any]:
    return {
        "dataset": contrast.dataset,
        "a": contrast.a,
        "b": contrast.b,
        "measure": contrast.measure,
        **asdict(contrast.comparison),
        "p_adjusted": contrast.adjusted,
    }


def from_json(value: Any) -> Results:
    """Results as `as_json` wrote them.

    Raises:
        InvalidInput: It is something else, or of a newer release.
    """
    if not isinstance(value, Mapping) or value.get("format") != FORMAT or value.get("version") != VERSION:
        raise InvalidInput(f"not results of an evaluation (format {FORMAT!r}, version {VERSION})")
    try:
        settings = dict(value["settings"])
        for name in ("ks", "contexts"):
            settings[name] = tuple(settings[name])
        for name in ("superseded", "aside"):
            settings[name] = frozenset(settings[name])
        runs = [
            Run(**{**run, "outcomes": tuple(_outcome(o) for o in run["outcomes"])}) for run in value["runs"]
        ]
        return Results(settings=Settings(**settings), runs=tuple(runs))
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"damaged results of an evaluation: {error}") from error


def _outcome(value: Mapping[str, Any]) -> Outcome:
    fields = dict(value)
    fields["kind"] = Kind(fields["kind"])
    for name in ("ranks", "relevances"):
        fields[name] = tuple(fields[name])
    fields["shown"] = {int(tokens): share for tokens, share in fields["shown"].items()}
    return Outcome(**fields)


def read_results(text: str) -> Results:
    """Results from the text of a JSON file; errors as for `from_json`."""
    try:
        return from_json(json.loads(text))
    except json.JSONDecodeError as error:
        raise InvalidInput(f"not JSON ({error.msg}, line {error.lineno})") from error
