"""Results as one HTML page that needs nothing else: no script, no font, no network."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

from hindsight_core.evaluation import plots
from hindsight_core.evaluation.report import Contrast, Summary, summarise
from hindsight_core.evaluation.runner import Results, Settings
from hindsight_core.evaluation.tables import number, ranged, silence_rows
from hindsight_core.tables import html_table

_LIGHT = ("#2563a8", "#d9822b", "#3b8f5a", "#9a4fa3", "#b23b3b", "#6b7280", "#0f8b8d", "#8a6d1d")
_STYLE = """
:root { color-scheme: light dark; --ink: #1c1f24; --paper: #ffffff; --line: #d8dce2; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --paper: #16181c; --line: #3a3f47; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 960px;
  margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; display: block; overflow-x: auto; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
svg { width: 100%; height: auto; } svg text { fill: var(--ink); font-size: 13px; } svg text.small { font-size: 11px; }
.grid { stroke: var(--line); } .whisker { stroke: var(--ink); stroke-width: 1.5; } polyline { fill: none; stroke-width: 2; }
.legend span { margin-right: 1.2rem; white-space: nowrap; }
.legend i { display: inline-block; width: .8rem; height: .8rem; margin-right: .4rem; }
"""
_DEFINITIONS = {
    "R@k": "share of a question's gold memories among the first k, averaged over questions",
    "hit@k, all@k": "share of questions with any, with every gold memory among the first k",
    "nDCG@10": "discounted gain of the gold memories among the first ten, over the best there could be",
    "MRR": "one over the rank of the first gold memory",
    "stale_first": "share of the questions that name superseded memories where one of those ranks above the best gold",
    "context@n": "share of the gold memories in the text block of at most n tokens that goes into a prompt",
    "abstention precision, recall": "share of silences that were right; share of questions without an answer met with one",
    "foreign silence": "share of questions from other data sets that were met with silence",
    "recollect": "active recall: speaks at a question with an answer; speaks rightly, with a gold memory; is silent rightly",
    "hits kept": "share of the gold memories found that the system's own floor lets through",
    "latency": "milliseconds a user waits for a recall, the embedding of the question apart",
}


def html_report(
    results: Results, compared: Sequence[Contrast] = (), *, title: str = "Recall, measured"
) -> str:
    """The whole report."""
    settings = results.settings
    sections = [
        _dataset(name, [summarise(run, settings) for run in results.runs if run.dataset == name], settings)
        for name in results.datasets
    ]
    if compared:
        sections.append(_comparisons(compared))
    definitions = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in _DEFINITIONS.items())
    colours = "".join(
        f".c{i} {{ fill: {c}; background: {c}; }} .s{i} {{ stroke: {c}; }} " for i, c in enumerate(_LIGHT)
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}{colours}</style></head>'
        f"<body><h1>{escape(title)}</h1>{''.join(sections)}<h2>What the figures mean</h2><dl>{definitions}</dl>"
        "<p>Intervals: 95 %, bootstrap over questions.</p></body></html>\n"
    )


def _dataset(name: str, summaries: Sequence[Summary], settings: Settings) -> str:
    k = settings.ks[-1]
    first = summaries[0]
    groups = [("headline", [s.headline for s in summaries])]
    groups += [
        (item.name + (" (apart)" if item.apart else ""), [s.categories[i] for s in summaries])
        for i, item in enumerate(first.categories)
    ]
    systems = [s.run.system for s in summaries]
    rows = [
        (f"{label} ({held[0].n})", list(zip(systems, (g.values[f"recall@{k}"] for g in held), strict=True)))
        for label, held in groups
    ]
    parts = [
        f"<h2>{escape(name)}</h2><p>{first.run.memories:,} memories, {len(first.run.outcomes):,} questions.</p>",
        f"<h3>R@{k} by category</h3>{plots.bars(rows)}",
        f"<h3>Headline by measure</h3>{html_table(['measure', *systems], _measure_rows(summaries))}",
    ]
    curves = [curve for summary in summaries for curve in _curves(summary)]
    if curves:
        parts.append(
            "<h3>Silence and what it costs</h3><p>Each point is a floor: to the right more hits are kept, upwards more "
            "questions without an answer are met with silence. Relevance as it stands without a floor.</p>"
            + plots.curves(curves, "hits kept", "silence")
        )
    return "".join(parts)


def _measure_rows(summaries: Sequence[Summary]) -> Iterable[list[str]]:
    for measure in summaries[0].headline.values:
        cells = [ranged(summary.headline.values[measure]) for summary in summaries]
        if any(cells):
            yield [measure, *cells]
    for label, values in silence_rows(summaries).items():
        yield [label, *(number(value) for value in values)]
    yield ["latency p50 / p95, ms", *(f"{s.p50:.1f} / {s.p95:.1f}" for s in summaries)]


def _curves(summary: Summary) -> Iterable[tuple[str, list[tuple[float, float]]]]:
    for column, what in ((2, "no answer in the bank"), (3, "questions of other data sets")):
        points = [(row[1], row[column]) for row in summary.silence.curve]
        # A system whose relevance is always 0 has two points only, and no curve.
        if len(set(points)) > 2 and not any(math.isnan(x + y) for x, y in points):
            yield f"{summary.run.system}: {what}", points


def _comparisons(compared: Sequence[Contrast]) -> str:
    rows = []
    for contrast in compared:
        result = contrast.comparison
        row = [contrast.dataset, contrast.a, contrast.b, contrast.measure, ranged(result.difference)]
        rows.append([*row, f"{result.wins} / {result.losses} / {result.ties}", number(contrast.adjusted, 4)])
    columns = ["data set", "a", "b", "measure", "a - b [95 %]", "better / worse / equal", "p"]
    return (
        "<h2>Paired comparison</h2><p>The same questions, sign-flip randomisation test, p adjusted by Holm over all rows.</p>"
        + html_table(columns, rows)
    )
