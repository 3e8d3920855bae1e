"""Where the time of a recall goes: reading the question, each thing that is asked of the store, and the arithmetic.

The store is wrapped so that every call of a reading is timed; what is left of a recall after these and after the analysis of the
question (timed on its own) is arithmetic: evidence, bridges, fusion, choice. The wrapping itself costs some microseconds a call.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from time import perf_counter
from typing import Any, cast

from hindsight_core.engine import Hindsight
from hindsight_core.engine.reading import question_vectors
from hindsight_core.evaluation.systems import Stopwatch
from hindsight_core.ports import Reading, Store, Visibility
from hindsight_core.recall import analyse, hear

QUESTION = "the question"
OPENING = "store: open a view"
REST = "arithmetic"


def shares(
    memory: Hindsight, questions: Sequence[str], watch: Stopwatch, *, k: int, now: datetime
) -> dict[str, float]:
    """The share of each stage in the recalls of all questions, embedding apart; they add up to 1."""
    spent: dict[str, float] = defaultdict(float)
    parts = replace(memory.parts, store=cast(Store, _Timed(memory.parts.store, spent)))
    timed = Hindsight(parts, memory.scope, memory.reach)
    embedded, start = watch.spent, perf_counter()
    for question in questions:
        timed.recall(question, k=k, now=now)
    total = perf_counter() - start - (watch.spent - embedded)
    embedded, start = watch.spent, perf_counter()
    for question in questions:
        analyse(hear(question, embed=partial(question_vectors, parts)), now)
    spent[QUESTION] = perf_counter() - start - (watch.spent - embedded)
    rest = max(total - sum(spent.values()), 0.0)
    total = sum(spent.values()) + rest
    return {name: seconds / total for name, seconds in [*spent.items(), (REST, rest)]}


class _Timed:
    """The store, with readings whose calls are timed."""

    def __init__(self, store: Store, spent: dict[str, float]) -> None:
        self._store = store
        self._spent = spent

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @contextmanager
    def reading(self, visible: Visibility) -> Iterator[Reading]:
        opening = self._store.reading(visible)
        view = _timed(self._spent, OPENING, opening.__enter__)()
        try:
            yield cast(Reading, _View(view, self._spent))
        finally:
            opening.__exit__(None, None, None)


class _View:
    def __init__(self, view: Reading, spent: dict[str, float]) -> None:
        self._view = view
        self._spent = spent

    def __getattr__(self, name: str) -> Any:
        return _timed(self._spent, f"store: {name}", getattr(self._view, name))


def _timed(spent: dict[str, float], name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def timed(*args: Any, **more: Any) -> Any:
        start = perf_counter()
        try:
            return call(*args, **more)
        finally:
            spent[name] += perf_counter() - start

    return timed
