"""Bridges: from a hit, over what it mentions and the question does not, to the memory that answers the rest.

"The event for three thousand people, where is it?": one memory gives the event its size, another gives it its place.
Nothing but the event's name joins the two, and the question does not contain it. So activation flows from the best
hits over their rare terms; how much arrives depends on how well the target answers what the hit left open: the words
the hit does not contain. Flowing over terms the question itself contains
would only count the same evidence again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hindsight_core.arrays import product
from hindsight_core.ports import Doubles, Ids, Ints
from hindsight_core.recall.relevance import rarity
from hindsight_core.text.tokens import main_ids

_LONGEST = 800
"""Characters of a hit that are looked at: bridges over a long text would lead everywhere."""


def open_terms(text: str, asked: frozenset[int]) -> list[int]:
    """Hashed main terms of a hit that the question does not contain."""
    return [id for id in main_ids(text[:_LONGEST]) if id not in asked]


def commonest(size: int) -> int:
    """A term held by more memories than this joins nothing in particular."""
    return max(size // 5, 5)


def strengths(seeds: list[list[int]], terms: Ids, held: NDArray[np.bool_], df: Ints, size: int) -> Doubles:
    """How strongly each seed is joined with each candidate: the shared share of its rare terms, (seeds, n) in 0..1.

    Args:
        seeds: The open terms of each seed.
        terms: Of all seeds, uint64 (T,).
        held: bool (n, T) which candidate holds which.
        df: int64 (T,) how many visible memories hold each.
        size: Number of visible memories.
    """
    joining = ((df >= 2) & (df <= commonest(size))).nonzero()[0]
    idf = rarity(df[joining], size)
    place = {term: at for at, term in enumerate(terms[joining].tolist())}
    member = np.zeros((len(seeds), len(joining)))
    for row, seed in enumerate(seeds):
        at = [place[term] for term in seed if term in place]
        member[row, at] = idf[at]
    shared = product(member, held[:, joining].astype(np.float64))
    return np.asarray(shared / np.maximum(member.sum(axis=1, keepdims=True), 1e-9), dtype=np.float64)


def flow(
    scores: Doubles, seeds: Ints, joined: Doubles, remaining: Doubles, share: float
) -> tuple[Doubles, Ints]:
    """Activation that arrives at each candidate.

    Args:
        scores: Evidence so far, (n,), in deviations.
        seeds: Positions of the seeds.
        joined: (seeds, n) how strongly each seed is joined with each candidate.
        remaining: (seeds, n) deviations of the words of the question that the seed does not contain.
        share: How much is handed over.

    Returns:
        The best arriving activation per candidate, in deviations, and the position of the seed it came from (-1 = none).
    """
    # Weak evidence, as in a small store without vectors, hands over at most half of itself: what is merely joined with
    # an exact hit must not stand above it.
    strength = scores[seeds] / max(float(scores[seeds].max(initial=0.0)), 2.0 * share, 1e-9)
    arriving = share * strength[:, None] * joined * (1.0 + remaining)
    arriving[np.arange(len(seeds)), seeds] = 0.0
    best = np.argmax(arriving, axis=0)
    gain = arriving[best, np.arange(len(scores))]
    return gain, np.where(gain > 0, seeds[best], -1)
