"""Recall with a channel, a kind of link or the normalisation taken out of what the store says.

A profile can set the weight of a signal to 0, and the channel behind it still brings candidates. Here it is as if there were none:

    channel.vector, .keyword, .entity, .time   brings no candidates, and no evidence for those of the others
    link.KIND                                  links of that kind do not exist (follows: the steps between neighbouring turns)
    normalisation                              no average and deviation per question: one fixed scale per channel, the one
                                               that recall falls back on where there are hardly any memories

Nothing in the ranking itself changes, so what is measured is what the switched-off part contributes to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import numpy as np

from hindsight_core.engine import Hindsight
from hindsight_core.errors import InvalidInput
from hindsight_core.ports import Bank, Candidates, Edges, Ids, Ints, Probe, Reading, Store, Visibility
from hindsight_core.unit import LinkKind

CHANNELS = ("vector", "keyword", "entity", "time")
SWITCHES = (
    *(f"channel.{channel}" for channel in CHANNELS),
    *(f"link.{kind}" for kind in LinkKind),
    "normalisation",
)

_NO_NAMES: Ids = np.empty(0, dtype=np.uint64)
_NO_WINDOWS = np.empty((0, 2))


def without(memory: Hindsight, what: str) -> Hindsight:
    """A handle on the same memory that recalls without something of `SWITCHES`; for reading only."""
    if what not in SWITCHES:
        raise InvalidInput(f"nothing called {what!r} can be switched off; there are {', '.join(SWITCHES)}")
    parts = replace(memory.parts, store=cast(Store, _Store(memory.parts.store, what)))
    return Hindsight(parts, memory.scope, memory.reach)


class _Store:
    """The store, with readings that leave something out."""

    def __init__(self, store: Store, what: str) -> None:
        self._store = store
        self._what = what

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @contextmanager
    def reading(self, visible: Visibility) -> Iterator[Reading]:
        with self._store.reading(visible) as view:
            yield cast(Reading, _View(view, self._what))


class _View:
    """A reading that leaves something out."""

    def __init__(self, view: Reading, what: str) -> None:
        self._view = view
        self._part, _, self._name = what.partition(".")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)

    def search(self, probe: Probe) -> tuple[Candidates, Bank]:
        candidates, bank = self._view.search(self._asked(probe))
        if self._part == "normalisation":
            # What cannot be told is taken from what is known of the model beforehand.
            bank = replace(bank, cosine_mean=math.nan, keyword_mean=math.nan)
        if self._name == "entity" and self._part == "channel":
            bank = replace(bank, entity_df=np.zeros(len(probe.entities), np.int64))
        return self._left(candidates, probe), bank

    def signals(self, probe: Probe, rows: Ints) -> Candidates:
        return self._left(self._view.signals(self._asked(probe), rows), probe)

    def neighbours(self, probe: Probe, rows: Ints, **more: Any) -> Edges:
        edges = self._view.neighbours(probe, rows, **more)
        if self._part != "link":
            return edges
        kept = np.flatnonzero(edges.kind != list(LinkKind).index(LinkKind(self._name)))
        return Edges(
            source=edges.source[kept],
            target=edges.target[kept],
            kind=edges.kind[kept],
            distance=edges.distance[kept],
            entity=edges.entity[kept],
            degree=edges.degree[kept],
        )

    def _asked(self, probe: Probe) -> Probe:
        if self._part != "channel":
            return probe
        if self._name == "vector":
            return replace(probe, vector=None)
        if self._name == "keyword":
            return replace(
                probe,
                term_weights=np.zeros_like(probe.term_weights),
                learnt=probe.learnt[:0],
                learnt_weights=probe.learnt_weights[:0],
            )
        if self._name == "entity":
            return replace(probe, entities=_NO_NAMES)
        return replace(probe, windows=_NO_WINDOWS)

    def _left(self, candidates: Candidates, probe: Probe) -> Candidates:
        """What is left of the evidence, in the shape that was asked for."""
        if self._part == "channel" and self._name == "keyword":
            return replace(candidates, terms=np.zeros_like(candidates.terms))
        if self._part == "channel" and self._name == "entity":
            shape = (len(candidates.rows), len(probe.entities))
            return replace(candidates, entities=np.zeros(shape, dtype=bool))
        return candidates
