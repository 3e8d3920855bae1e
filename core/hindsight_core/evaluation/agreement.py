"""How far a large scope gives the answers of a file: `python -m hindsight_core.evaluation.agreement DATA... [--limit N]`.

All data sets named become one bank: remembered in a file, consolidation included, then moved to a Qdrant Edge folder where every scope
is searched by the engine and statistics come from a sample (see `stores.qdrant.scene`). The same questions are put to both. Shown
for each data set: the overlap of the ten best, how often the first is the same, and recall@10 of both.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from hindsight_core.embedding import CachedEmbedder
from hindsight_core.engine import Hindsight
from hindsight_core.engine.parts import default_embedder
from hindsight_core.evaluation.dataset import Dataset, Kind, Memory, Question, load_dataset
from hindsight_core.evaluation.metrics import Judgement, gold_at
from hindsight_core.evaluation.systems import UNDATED, HindsightSystem
from hindsight_core.ports import Embedder
from hindsight_core.stores.moving import copy
from hindsight_core.stores.qdrant import QdrantStore

_K = 10
_BANK = "all"
_MOVED = datetime(2030, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Two answers to one question.

    Attributes:
        overlap: Share of the best ten that both give, of the longer list; 1 where both give nothing.
        first: Whether the first is the same.
        file: Recall@10 of the file.
        far: Of the large scope.
    """

    overlap: float
    first: bool
    file: float
    far: float


def compare(
    datasets: Sequence[Dataset], embedder: Embedder | None, folder: Path
) -> Iterator[tuple[str, list[Compared]]]:
    """Both answers to every answerable question, by data set."""
    with ExitStack() as stack:
        file = HindsightSystem("file", embedder=embedder, path=folder / "file.db")
        stack.callback(file.close)
        file.load(_BANK, [_named(set_, memory) for set_ in datasets for memory in _arrived(set_)])
        store = stack.enter_context(closing(QdrantStore.open(folder / "edge", durability="normal", whole=0)))
        copy(file.memory.parts.store, store, name="file", now=_MOVED)
        store.optimize()
        far = Hindsight.open(store, file.memory.scope, embedder=embedder).within(_BANK)
        near, owner = file.memory.within(_BANK), file.owners(_BANK)

        def found(memory: Hindsight, question: Question, now: datetime) -> list[str]:
            hits = memory.recall(question.text, k=_K, now=now, history=question.history)
            return [hit.unit.id for hit in hits]

        for set_ in datasets:
            answers = []
            for question in set_.questions:
                if question.kind is Kind.ANSWERABLE:
                    both = [
                        found(memory, question, set_.present(question) or UNDATED) for memory in (near, far)
                    ]
                    answers.append(_judged(set_, question, owner, *both))
            yield set_.name, answers


def _judged(
    set_: Dataset, question: Question, owner: dict[str, str], file: list[str], far: list[str]
) -> Compared:
    gold = [_name(set_, question.bank, id) for id in question.gold]
    alt = {
        _name(set_, question.bank, id): [_name(set_, question.bank, other) for other in others]
        for id, others in question.alt.items()
    }
    recalls = [
        Judgement(tuple(gold_at(list(dict.fromkeys(owner[id] for id in ids)), gold, alt).values()), len(gold))
        for ids in (file, far)
    ]
    return Compared(
        overlap=len({*file} & {*far}) / max(len(file), len(far)) if file or far else 1.0,
        first=file[:1] == far[:1],
        file=recalls[0].recall(_K),
        far=recalls[1].recall(_K),
    )


def _arrived(set_: Dataset) -> Iterator[Memory]:
    return (memory for memories in set_.banks.values() for memory in memories)


def _name(set_: Dataset, bank: str, id: str) -> str:
    return f"{set_.name}/{bank}/{id}"


def _named(set_: Dataset, memory: Memory) -> Memory:
    session = None if memory.session is None else _name(set_, memory.bank, memory.session)
    return replace(memory, id=_name(set_, memory.bank, memory.id), session=session)


def main(argv: Sequence[str] | None = None) -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="+", help="labelled questions, .jsonl or .jsonl.gz")
    parser.add_argument(
        "--limit", type=int, default=40, help="only so many questions of each file, taken evenly"
    )
    parser.add_argument("--cache", help="keep vectors here, so that no text is embedded twice")
    args = parser.parse_args(argv)
    datasets = [load_dataset(path).limited(args.limit) for path in args.data]
    memories = sum(len(each) for set_ in datasets for each in set_.banks.values())
    shown = Table(
        "data set", "questions", "overlap@10", "same first", "R@10 file / Qdrant",
        title=f"{memories:,} memories in one scope", title_justify="left",
    )  # fmt: skip
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        embedder = default_embedder("auto")
        if args.cache and embedder is not None:
            embedder = stack.enter_context(closing(CachedEmbedder(embedder, args.cache)))
        every: list[Compared] = []
        for name, answers in compare(datasets, embedder, Path(folder)):
            every += answers
            shown.add_row(name, *_row(answers))
        shown.add_row("together", *_row(every))
    Console().print(shown)
    return 0


def _row(answers: Sequence[Compared]) -> list[str]:
    def mean(values: list[float]) -> str:
        return f"{np.mean(values):.3f}" if values else "-"

    return [
        str(len(answers)),
        mean([one.overlap for one in answers]),
        mean([float(one.first) for one in answers]),
        f"{mean([one.file for one in answers])} / {mean([one.far for one in answers])}",
    ]


if __name__ == "__main__":
    sys.exit(main())
