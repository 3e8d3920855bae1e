"""Results as tables for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rich.table import Table

from hindsight_core.evaluation.report import Contrast, Group, Summary, summarise
from hindsight_core.evaluation.runner import Results, Settings
from hindsight_core.evaluation.significance import Estimate


def number(value: float | None, digits: int = 3) -> str:
    """.712; an empty cell for what was not measured."""
    if value is None or math.isnan(value):
        return ""
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def ranged(value: Estimate) -> str:
    """.712 [.690-.733]."""
    return f"{number(value.mean)} [{number(value.low)}-{number(value.high)}]" if value.n else ""


def tables(results: Results, compared: Sequence[Contrast] = ()) -> Iterable[Table]:
    """Per data set a table by category and one by measure; one over all data sets; and the comparisons."""
    settings = results.settings
    by_dataset = {
        name: [summarise(run, settings) for run in results.runs if run.dataset == name]
        for name in results.datasets
    }
    for name, summaries in by_dataset.items():
        yield _by_category(name, summaries, settings)
        yield _by_measure(name, summaries, settings)
    if len(by_dataset) > 1:
        yield _overall(by_dataset, results.systems, settings)
    if compared:
        yield comparisons(compared)


def _recalls(group: Group, settings: Settings) -> str:
    return " / ".join(number(group.values[f"recall@{k}"].mean) for k in settings.ks)


def _labels(settings: Settings) -> str:
    return " / ".join(f"R@{k}" for k in settings.ks)


def _by_category(name: str, summaries: Sequence[Summary], settings: Settings) -> Table:
    first = summaries[0]
    table = Table(title=f"{name}: {_labels(settings)} by category", title_justify="left")
    table.add_column("category")
    table.add_column("questions", justify="right")
    for summary in summaries:
        table.add_column(summary.run.system, justify="right")
    table.add_row(
        "headline", str(first.headline.n), *(_recalls(s.headline, settings) for s in summaries), style="bold"
    )
    for i, category in enumerate(first.categories):
        table.add_row(
            category.name + (" (apart)" if category.apart else ""),
            str(category.n),
            *(_recalls(s.categories[i], settings) for s in summaries),
            style="dim" if category.apart else None,
        )
    table.add_section()
    table.add_row("ms p50 / p95", "", *(f"{s.p50:.1f} / {s.p95:.1f}" for s in summaries))
    return table


def _by_measure(name: str, summaries: Sequence[Summary], settings: Settings) -> Table:
    table = Table(title=f"{name}: headline by measure [95 % interval]", title_justify="left")
    table.add_column("measure")
    for summary in summaries:
        table.add_column(summary.run.system, justify="right")
    for measure in summaries[0].headline.values:
        cells = [ranged(summary.headline.values[measure]) for summary in summaries]
        if any(cells):
            table.add_row(measure, *cells)
    table.add_section()
    for label, values in silence_rows(summaries).items():
        table.add_row(label, *(number(value) for value in values))
    return table


def silence_rows(summaries: Sequence[Summary]) -> dict[str, list[float | None]]:
    """The figures about silence and speaking up that were measured, one value per summary."""
    counts = [summary.silence.counts for summary in summaries]
    rows = {
        "abstention precision": [item.precision if item else None for item in counts],
        "abstention recall": [item.recall if item else None for item in counts],
        "foreign silence": [summary.silence.foreign for summary in summaries],
        "hits kept": [summary.silence.kept for summary in summaries],
    }
    for summary in summaries:
        for label in summary.telling.rates() if summary.telling else ():
            rows[label] = [s.telling.rates()[label] if s.telling else None for s in summaries]
    return {label: values for label, values in rows.items() if any(value is not None for value in values)}


def _overall(by_dataset: dict[str, list[Summary]], systems: Sequence[str], settings: Settings) -> Table:
    table = Table(title=f"all data sets: {_labels(settings)}, headline", title_justify="left")
    table.add_column("data set")
    table.add_column("questions", justify="right")
    for system in systems:
        table.add_column(system, justify="right")
    groups = {name: {s.run.system: s.headline for s in summaries} for name, summaries in by_dataset.items()}
    for name, held in groups.items():
        n = str(next(iter(held.values())).n)
        table.add_row(
            name, n, *(_recalls(held[system], settings) if system in held else "" for system in systems)
        )
    table.add_section()
    cells = []
    for system in systems:
        held_by = [held[system] for held in groups.values() if system in held and held[system].n]
        means = [
            sum(group.values[f"recall@{k}"].mean for group in held_by) / len(held_by) if held_by else math.nan
            for k in settings.ks
        ]
        cells.append(" / ".join(number(mean) for mean in means))
    table.add_row("mean of data sets", "", *cells, style="bold")
    return table


def comparisons(compared: Sequence[Contrast]) -> Table:
    """Paired comparisons, with what to make of each."""
    table = Table(title="paired comparison, sign-flip test, p by Holm", title_justify="left")
    for label in ("data set", "a", "b", "measure"):
        table.add_column(label)
    for label in ("a - b [95 %]", "better / worse / equal", "p"):
        table.add_column(label, justify="right")
    for contrast in compared:
        result = contrast.comparison
        table.add_row(
            contrast.dataset,
            contrast.a,
            contrast.b,
            contrast.measure,
            ranged(result.difference),
            f"{result.wins} / {result.losses} / {result.ties}",
            number(contrast.adjusted, 4),
            style="bold" if contrast.adjusted < 0.05 else None,
        )
    return table
