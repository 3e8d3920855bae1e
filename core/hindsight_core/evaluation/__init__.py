"""Measuring a memory on labelled questions: recall, abstention and speed, beside the pipelines it replaces.

    datasets = [load_dataset("questions.jsonl.gz")]
    results = evaluate(datasets, lambda _: [HindsightSystem("Hindsight", embedder=embedder), baseline("hybrid", embedder)])
    page = html_report(results)

dataset       labelled questions over banks of memories
metrics       what one ranking is worth
significance  how far a figure can be trusted
systems       a memory, and profiles with something switched off
without       the same for channels, kinds of link and normalisation
baselines     vector and hybrid pipelines
runner        every bank loaded, every question asked, every answer judged
report        figures, comparisons, JSON;  tables, html, plots: the same for people
replay        one question under many profiles
examples      what a profile can be fitted to: labelled questions, or feedback
tuning        fitting it, and whether that helped
speed         recall latency, memory and ingest on synthetic vectors;  stages, pipelines: where it goes, and beside whom
"""

from hindsight_core.evaluation.baselines import BASELINES, baseline
from hindsight_core.evaluation.dataset import Dataset, load_dataset
from hindsight_core.evaluation.examples import from_feedback, labelled
from hindsight_core.evaluation.html import html_report
from hindsight_core.evaluation.report import as_json, contrasts, summarise
from hindsight_core.evaluation.runner import Results, Settings, evaluate
from hindsight_core.evaluation.systems import HindsightSystem, System, ablated
from hindsight_core.evaluation.tuning import Tuning, tune

__all__ = [
    "BASELINES",
    "Dataset",
    "HindsightSystem",
    "Results",
    "Settings",
    "System",
    "Tuning",
    "ablated",
    "as_json",
    "baseline",
    "contrasts",
    "evaluate",
    "from_feedback",
    "html_report",
    "labelled",
    "load_dataset",
    "summarise",
    "tune",
]
