"""`hindsight eval`: measure recall on labelled questions, beside baselines and with parts switched off."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import InvalidInput
from hindsight_core.profile_file import PRESETS, read_profile

if TYPE_CHECKING:
    from hindsight_core.evaluation.dataset import Dataset
    from hindsight_core.evaluation.report import Contrast
    from hindsight_core.evaluation.runner import Advance, Results, Settings
    from hindsight_core.evaluation.systems import System
    from hindsight_core.ports import Embedder

_EVERYTHING = "all"


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of `eval`."""
    command.add_argument("data", nargs="+", metavar="DATA", help="labelled questions, .jsonl or .jsonl.gz")
    command.epilog = (
        'DATA holds one JSON object a line: {"kind": "memory", "bank", "id", "text", "timestamp", "speaker"} for what is '
        'remembered, {"kind": "question", "bank", "id", "text", "asked_at", "gold": [ids of memories], "category"} for what is '
        "asked. A question searches its own bank; times are ISO 8601 or null."
    )
    command.add_argument("--k", nargs="+", type=int, default=[5, 10], help="cut-offs (default 5 10)")
    command.add_argument(
        "--profile",
        action="append",
        dest="profiles",
        metavar="NAME|FILE",
        help=f"{', '.join(PRESETS)}, or a JSON file; repeat it to measure several (default: default)",
    )
    command.add_argument(
        "--baseline",
        action="append",
        default=[],
        metavar="NAME",
        help="beside vector, bm25, hybrid, bm25-whitespace or hybrid-whitespace; repeat, or all",
    )
    command.add_argument(
        "--reranker",
        metavar="NAME",
        help="measure the first system and each baseline again with it: onnx:FOLDER or sentence-transformers:MODEL",
    )
    command.add_argument(
        "--keywords", metavar="NAME", help="measure the first profile again with learnt weights: bge-m3:MODEL"
    )
    command.add_argument(
        "--ablate",
        action="append",
        default=[],
        metavar="NAME",
        help="also with this switched off, such as weights.keyword, spreading.session, channel.time, link.similar or "
        "normalisation; repeat, or all",
    )
    command.add_argument(
        "--compare", action="store_true", help="test the first system against each other one"
    )
    command.add_argument("--against", metavar="FILE", help="test against results saved by --json")
    command.add_argument("--limit", type=int, help="only so many questions of each file, taken evenly")
    command.add_argument(
        "--context",
        nargs="+",
        type=int,
        default=[],
        metavar="TOKENS",
        help="gold in a text block of this size",
    )
    command.add_argument(
        "--foreign", type=int, default=0, metavar="N", help="put N questions of the other files to each bank"
    )
    command.add_argument(
        "--aside", action="append", default=[], metavar="CATEGORY", help="leave out of the headline; repeat"
    )
    command.add_argument(
        "--superseded",
        action="append",
        default=[],
        metavar="CATEGORY",
        help="ask with include_history; repeat",
    )
    command.add_argument(
        "--namespaces", action="store_true", help="search only the scope that a question names"
    )
    command.add_argument(
        "--store", metavar="FOLDER", help="keep the filled stores; delete it when encoding has changed"
    )
    command.add_argument("--html", metavar="FILE", help="write a report to open in a browser")
    command.add_argument(
        "--json",
        nargs="?",
        const="-",
        default=argparse.SUPPRESS,
        metavar="FILE",
        help="print JSON, or write it",
    )


def evaluate_files(args: argparse.Namespace) -> None:
    """Run `eval`."""
    # Only here: no other command needs any of it.
    from hindsight_core.cli.commands import embedder
    from hindsight_core.evaluation.dataset import load_dataset
    from hindsight_core.evaluation.html import html_report
    from hindsight_core.evaluation.report import as_json
    from hindsight_core.evaluation.runner import evaluate

    earlier = _earlier(args.against) if args.against else None
    settings = _settings(args)
    datasets = [load_dataset(path, namespaces=args.namespaces) for path in args.data]
    for dataset in datasets:
        for note in dataset.notes:
            sys.stderr.write(f"hindsight: {dataset.name}, {note}\n")
    if args.limit is not None:
        if args.limit < 1:
            raise InvalidInput("--limit must be at least 1")
        datasets = [dataset.limited(args.limit) for dataset in datasets]
    with ExitStack() as stack:
        chosen = embedder(args, stack)
        advance = stack.enter_context(progress())
        results = evaluate(datasets, lambda dataset: _systems(args, dataset, chosen), settings, advance)
    compared = _compared(args, results, earlier)
    if args.html:
        _write(args.html, html_report(results, compared))
    if not args.json or args.json not in (True, "-"):
        _print(results, compared)
    if args.json:
        text = json.dumps(as_json(results, compared), ensure_ascii=False, allow_nan=False)
        if args.json in (True, "-"):
            sys.stdout.write(text + "\n")
        else:
            _write(args.json, text + "\n")


def _settings(args: argparse.Namespace) -> Settings:
    from hindsight_core.evaluation.runner import Settings

    if min(args.k) < 1 or min(args.context, default=1) < 1 or args.foreign < 0:
        raise InvalidInput("--k and --context must be at least 1, --foreign at least 0")
    usual = Settings()
    return replace(
        usual,
        ks=tuple(sorted(set(args.k))),
        contexts=tuple(sorted(set(args.context))),
        foreign=args.foreign,
        aside=usual.aside | set(args.aside),
        superseded=usual.superseded | set(args.superseded),
    )


def _systems(args: argparse.Namespace, dataset: Dataset, chosen: Embedder | None) -> Iterator[System]:
    """Profiles, then what is switched off in the first of them, then baselines."""
    from hindsight_core.embedding import resolve_sparse
    from hindsight_core.evaluation.baselines import BASELINES, baseline
    from hindsight_core.evaluation.systems import HindsightSystem, ablated, ablations, same_encoding
    from hindsight_core.evaluation.without import SWITCHES
    from hindsight_core.reranking import resolve_reranker

    profiles = [read_profile(name) for name in args.profiles or ["default"]]
    less = [*ablations(), *SWITCHES] if _EVERYTHING in args.ablate else args.ablate
    variants = [*profiles, *(ablated(profiles[0], name) for name in less if name not in SWITCHES)]
    first: HindsightSystem | None = None
    for number, profile in enumerate(variants):
        own = first is None or not same_encoding(profile, profiles[0])
        system = HindsightSystem(
            "hindsight" if profile.name == "default" else profile.name,
            profile=profile,
            embedder=chosen,
            path=_kept(args.store, dataset, number) if own else ":memory:",
            twin_of=None if own else first,
        )
        first = first or system
        yield system
    for name in less:
        if name in SWITCHES:
            yield HindsightSystem(
                f"without {name}",
                profile=profiles[0],
                embedder=chosen,
                twin_of=first,
                switched_off=name,
            )
    second = resolve_reranker(args.reranker, milliseconds=None)  # a figure must not depend on the machine
    if second is not None and first is not None:
        yield HindsightSystem(
            f"{first.name}+rerank", profile=profiles[0], embedder=chosen, twin_of=first, reranker=second
        )
    sparse = resolve_sparse(args.keywords, chosen)
    if sparse is not None and first is not None:
        yield HindsightSystem(f"{first.name}+keywords", profile=profiles[0], embedder=chosen, keywords=sparse)
    for name in BASELINES if _EVERYTHING in args.baseline else args.baseline:
        yield baseline(name, chosen)
        if second is not None:
            yield baseline(name, chosen, second.reranker)


def _kept(folder: str | None, dataset: Dataset, number: int) -> str | Path:
    if folder is None:
        return ":memory:"
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"cannot make the folder {folder}: {error.strerror}") from error
    return Path(folder) / f"{dataset.name}-{number}.db"


def _compared(args: argparse.Namespace, results: Results, earlier: Results | None) -> list[Contrast]:
    from hindsight_core.evaluation.report import against_earlier, contrasts, first_against_rest

    pairs: list[Any] = []
    if args.compare:
        pairs += first_against_rest(results)
    if earlier is not None:
        pairs += against_earlier(results, earlier)
    return contrasts(pairs, results.settings)


def _earlier(path: str) -> Results:
    from hindsight_core.evaluation.report import read_results

    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"the results {path} cannot be read: {error}") from error
    return read_results(text)


def _print(results: Results, compared: Sequence[Contrast]) -> None:
    from hindsight_core.cli.output import terminal
    from hindsight_core.evaluation.tables import tables

    console = terminal()
    for table in tables(results, compared):
        console.print(table)


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror}") from error


@contextmanager
def progress() -> Iterator[Advance]:
    """A bar on standard error; nothing where that is no terminal."""
    if not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        shown = ""

        def advance(what: str, done: int, total: int) -> None:
            nonlocal shown
            if what != shown:
                bar.reset(task, description=what)
                shown = what
            bar.update(task, completed=done, total=total)

        yield advance
