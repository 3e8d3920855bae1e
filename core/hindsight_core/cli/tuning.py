"""`hindsight tune`: fit a profile to labelled questions or to recorded feedback, and say whether that helped."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsight_core.cli.measure import progress
from hindsight_core.cli.output import terminal
from hindsight_core.errors import InvalidInput
from hindsight_core.profile_file import read_profile, write_profile

if TYPE_CHECKING:
    from hindsight_core.evaluation.examples import Example
    from hindsight_core.evaluation.tuning import Tuning
    from hindsight_core.profiles import Profile

NO_GAIN = 3
"""Exit status when cross-validation shows no gain."""


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of `tune`."""
    command.description = (
        "Fit weights, spreading and floor, starting from --profile. The file is written only when questions held back "
        f"show a gain (p < .05); otherwise nothing is written and the exit status is {NO_GAIN}."
    )
    command.add_argument(
        "data", nargs="*", metavar="DATA", help="labelled questions, .jsonl or .jsonl.gz, as for eval"
    )
    command.add_argument(
        "--feedback", action="store_true", help="learn from the feedback recorded in --db under --scope"
    )
    command.add_argument("--out", required=True, metavar="FILE", help="where to write the profile")
    command.add_argument("--folds", type=int, default=5, help="parts held back in turn (default %(default)s)")
    command.add_argument(
        "--evaluations", type=int, default=120, help="profiles tried per fit (default %(default)s)"
    )
    command.add_argument("--limit", type=int, help="only so many questions of each file, taken evenly")


def tune_files(args: argparse.Namespace) -> int:
    """Run `tune`."""
    from hindsight_core.evaluation.tuning import tune

    if not args.data and not args.feedback:
        raise InvalidInput("nothing to learn from: name labelled questions, or --feedback with --db")
    start = read_profile(args.profile)
    with ExitStack() as stack:
        advance = stack.enter_context(progress())
        examples = _examples(args, start, stack)
        tuning = tune(
            examples,
            start=start,
            name=Path(args.out).stem or "tuned",
            folds=args.folds,
            evaluations=args.evaluations,
            advance=advance,
        )
    if tuning.profile is not None:
        write_profile(tuning.profile, args.out)
    if args.json:
        sys.stdout.write(json.dumps(_as_json(tuning), ensure_ascii=False) + "\n")
    else:
        _print(tuning, args.out)
    return 0 if tuning.profile is not None else NO_GAIN


def _examples(args: argparse.Namespace, start: Profile, stack: ExitStack) -> list[Example]:
    from hindsight_core.cli.commands import embedder, opened
    from hindsight_core.evaluation.dataset import load_dataset
    from hindsight_core.evaluation.examples import from_feedback, labelled
    from hindsight_core.evaluation.systems import HindsightSystem

    found: list[Example] = []
    datasets = [load_dataset(path) for path in args.data]
    if args.limit is not None and args.limit < 1:
        raise InvalidInput("--limit must be at least 1")
    chosen = embedder(args, stack) if datasets else None
    for dataset in datasets:
        system = HindsightSystem(dataset.name, profile=start, embedder=chosen)
        stack.callback(system.close)
        for bank, memories in dataset.banks.items():
            system.load(bank, memories)
        found += labelled(dataset if args.limit is None else dataset.limited(args.limit), system)
    if args.feedback:
        found += from_feedback(opened(args, stack))
    return found


def _print(tuning: Tuning, path: str) -> None:
    from rich.table import Table

    from hindsight_core.evaluation.tables import number, ranged

    difference = tuning.held_back.difference
    table = Table(title=f"{tuning.questions} questions", title_justify="left", show_header=False)
    table.add_row("as it was", ranged(tuning.before))
    table.add_row("fitted, on questions held back: difference", ranged(difference))
    table.add_row(
        "better / worse / equal",
        f"{tuning.held_back.wins} / {tuning.held_back.losses} / {tuning.held_back.ties}",
    )
    table.add_row("p", number(tuning.held_back.p, 4))
    table.add_row("fitted, on the questions it was fitted to (flattering)", ranged(tuning.seen))
    console = terminal()
    console.print(table)
    if tuning.profile is None:
        console.print("No gain on questions held back, so none is claimed and nothing was written.")
        return
    changes = Table(title=f"written to {path}", title_justify="left")
    for column in ("setting", "before", "after"):
        changes.add_column(column)
    for name, (before, after) in tuning.changed.items():
        changes.add_row(name, f"{before:g}", f"{after:g}")
    console.print(changes)


def _as_json(tuning: Tuning) -> dict[str, Any]:
    return {
        "gain": tuning.profile is not None,
        "questions": tuning.questions,
        "before": asdict(tuning.before),
        "held_back": asdict(tuning.held_back),
        "seen": asdict(tuning.seen),
        "changed": {name: list(values) for name, values in tuning.changed.items()},
    }
