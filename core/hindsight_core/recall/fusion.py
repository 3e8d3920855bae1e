"""Fusion: five signals in 0..1 become one score in 0..1.

    score = (w1*vector + w2*keyword + w3*entity + p * (w4*recency + w5*importance)) / (w1 + .. + w5)

`p` is the memory's evidence (the first three) relative to the best of this recall: age and importance tell apart
memories that speak to the question alike, and can never carry one that hardly does past an exact hit.

Pure functions of arrays; they know nothing of channels, stores or text. The weighted sum is the published formula of
the design's origin; `p` is ours.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from hindsight_core.ports import Doubles
from hindsight_core.profiles import Weights

_EPISODIC_RECENCY = 1.25
_SEMANTIC_RECENCY = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """The five signals of n candidates, each float64 (n,) in 0..1."""

    vector: Doubles
    keyword: Doubles
    entity: Doubles
    recency: Doubles
    importance: Doubles


SIGNALS = tuple(field.name for field in fields(Signals))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fused:
    """Scores of n candidates and what each signal gave; all float64 (n,), the shares summing to the score."""

    score: Doubles
    vector: Doubles
    keyword: Doubles
    entity: Doubles
    recency: Doubles
    importance: Doubles


def recency_factor(memory_type: NDArray[np.int8]) -> Doubles:
    """How much recency weighs by type: what happened ages, what holds and how things are done hardly do.

    Args:
        memory_type: int8 (n,), 0 episodic, 1 semantic, 2 procedural (order of `MemoryType`).
    """
    return np.where(memory_type == 0, _EPISODIC_RECENCY, _SEMANTIC_RECENCY)


def fuse(
    signals: Signals,
    weights: Weights,
    memory_type: NDArray[np.int8],
    in_window: NDArray[np.bool_] | None = None,
    *,
    age: float = 1.0,
) -> Fused:
    """Weigh and add the signals.

    Args:
        signals: Each in 0..1.
        weights: Only their ratios matter.
        memory_type: int8 (n,); adjusts the weight of recency, see `recency_factor`.
        in_window: bool (n,) of the time the question asks for, or None when it asks for none. It then takes the
            place of recency, and in full: the time asked for is evidence, age is not.
        age: Share of the weight of recency that age gets where no time is asked for.
    """
    total = weights.total
    vector = signals.vector * (weights.vector / total)
    keyword = signals.keyword * (weights.keyword / total)
    entity = signals.entity * (weights.entity / total)
    evidence = vector + keyword + entity
    best = float(evidence.max(initial=0.0))
    share = evidence / best if best > 0 else np.zeros_like(evidence)
    if in_window is None:
        recency = share * signals.recency * recency_factor(memory_type) * (age * weights.recency / total)
    else:
        recency = in_window.astype(np.float64) * (weights.recency / total)
    importance = share * signals.importance * (weights.importance / total)
    score = np.clip(evidence + recency + importance, 0.0, 1.0)
    return Fused(
        score=score, vector=vector, keyword=keyword, entity=entity, recency=recency, importance=importance
    )


def order(score: Doubles, ids: list[str], top: int | None = None) -> list[int]:
    """Positions best first; equal scores (to a billionth) by id, so the order never depends on how rows are kept.

    Args:
        score: float64 (n,).
        ids: The n ids.
        top: Only the best so many.
    """
    rounded = np.round(score, 9)
    places = np.arange(len(ids))
    if top is not None and top < len(ids):
        least = np.partition(rounded, len(ids) - top)[len(ids) - top]
        places = np.flatnonzero(rounded >= least)
    keys = rounded[places]
    ranked: list[int] = places[np.argsort(-keys, kind="stable")].tolist()
    if len(set(keys.tolist())) < len(ranked):
        ranked.sort(key=lambda place: (-rounded[place], ids[place]))
    return ranked[:top]
