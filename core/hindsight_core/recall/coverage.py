"""Covering a question: hits that answer different parts of it come before hits that answer the same part.

Greedy choice under diminishing returns, as in maximal marginal relevance (J. Carbonell and J. Goldstein, 1998), but
over the question's words instead of similarity alone: a word that a chosen hit already holds counts less for the next.
Penalties only grow while hits are chosen, so the scores handed out never rise.
"""

from __future__ import annotations

import numpy as np

from hindsight_core.arrays import product
from hindsight_core.ports import Doubles, Floats

POOL = 60
"""Candidates looked at; what ranks lower keeps its place."""
_NEARLY_SAME = 0.9


def cover(
    score: Doubles,
    order: list[int],
    words: Doubles,
    vectors: Floats | None,
    *,
    k: int,
    share: float,
    repeat: float,
) -> list[tuple[int, float]]:
    """Choose up to k candidates.

    Args:
        score: float64 (n,).
        order: Positions, best first.
        words: float64 (len(order[:POOL]), T): how much of the score of the first candidates is owed to each word of the
            question.
        vectors: float32 (len(order[:POOL]), d) of the first candidates, rows of length 1 or nan; None: no vectors.
        k: How many.
        share: What a word loses once it is covered.
        repeat: What a candidate loses, in units of the best score, for being nearly the same as a chosen one.

    Returns:
        (position, score) in order of choice, scores never rising.
    """
    pool = order[:POOL]
    value = score[pool].copy()
    parts = words
    most = parts.max(axis=0, initial=0.0)
    held = np.divide(parts, most, out=np.zeros_like(parts), where=most > 0)
    covered = np.zeros(parts.shape[1])
    cosines = None if vectors is None else product(vectors, vectors)
    # Each is nearly the same as itself; most are so with no other, and choosing them costs nobody anything.
    repeated = [] if cosines is None else ((cosines > _NEARLY_SAME).sum(axis=1) > 1).tolist()
    same = np.zeros(len(pool))
    unit = float(value.max(initial=0.0)) * repeat
    chosen: list[tuple[int, float]] = []
    while len(chosen) < min(k, len(pool)):
        now = value - share * (parts @ covered) - same
        best = int(now.argmax())
        chosen.append((pool[best], max(float(now[best]), 0.0)))
        value[best] = -np.inf
        np.maximum(covered, held[best], out=covered)
        if cosines is not None and repeated[best]:
            excess = (np.nan_to_num(cosines[best], nan=0.0) - _NEARLY_SAME) / (1 - _NEARLY_SAME)
            np.maximum(same, unit * excess.clip(0.0, 1.0), out=same)
    last = chosen[-1][1] if chosen else 0.0
    rest = [(i, min(float(score[i]), last)) for i in order[POOL:]]
    return (chosen + rest)[:k]


def interleave(lists: list[list[tuple[int, float]]], k: int) -> list[tuple[int, float]]:
    """Merge choices made for several aspects by rank, each candidate once, scores never rising."""
    if len(lists) == 1:
        return lists[0][:k]
    merged: dict[int, float] = {}
    ceiling = 1.0
    for rank in range(max(map(len, lists), default=0)):
        for choice in sorted((one[rank] for one in lists if rank < len(one)), key=lambda pair: -pair[1]):
            if choice[0] not in merged:
                ceiling = min(ceiling, choice[1])
                merged[choice[0]] = ceiling
    return list(merged.items())[:k]
