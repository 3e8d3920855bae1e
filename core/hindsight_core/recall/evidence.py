"""Evidence: what speaks for a memory, channel by channel, brought to one scale per query.

Cosines crowd into a narrow band and BM25 sums have no upper bound, so neither can be added as it is. Each channel is
measured in standard deviations above what the question finds on average in everything it may see (a z-score), below
average counting nothing. That beat rank fusion by nine points and min-max scaling by two on conversations. Both channels
are then divided by the larger of their two maxima: their proportion stays, and every value lies in 0..1.

With few memories, average and deviation say little; they are drawn towards what is known of the model beforehand
(`_PRIOR` observations of its background cosine), so one single memory is judged by an absolute measure.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hindsight_core.embedding import Calibration
from hindsight_core.ports import Bank, Candidates, Doubles, Edges, Floats, Ints
from hindsight_core.profiles import Spreading
from hindsight_core.unit import LinkKind

_PRIOR = 10.0
_COSINE_DEVIATION = 0.15
"""Of the room between background and 1: what cosines of unrelated texts deviate by, before anything was seen."""
_KEYWORD_DEVIATION = 1.5
"""BM25 sums of unrelated texts deviate by about one common word."""

_DENSER = 10.0
"""A script written without spaces has so many times more terms to a text: pairs of characters instead of words."""
_SMALL_GROUP = 60.0
"""A session with so many candidates hands over half of its share."""
_FOLLOWS = list(LinkKind).index(LinkKind.FOLLOWS)

FloatArray = Doubles


@dataclass(frozen=True, slots=True)
class Scale:
    """Average and deviation of a channel, drawn towards what is known beforehand when there is little to go by."""

    mean: float
    deviation: float

    def standard(self, values: FloatArray) -> FloatArray:
        """Deviations above average; below average (or not measured) counts 0."""
        return np.fmax((values - self.mean) / self.deviation, 0.0)  # fmax passes over nan


def _scale(size: int, mean: float, deviation: float, prior_mean: float, prior_deviation: float) -> Scale:
    if size == 0 or not np.isfinite(mean):
        return Scale(prior_mean, prior_deviation)
    share = size / (size + _PRIOR)
    centre = share * mean + (1 - share) * prior_mean
    variance = (
        share * deviation**2
        + (1 - share) * prior_deviation**2
        + share * (1 - share) * (mean - prior_mean) ** 2
    )
    return Scale(centre, float(np.sqrt(max(variance, 1e-12))))


def scales(bank: Bank, calibration: Calibration | None) -> tuple[Scale, Scale]:
    """The scales of meaning and of words for one question."""
    background = calibration.query if calibration else 0.0
    meaning = _scale(
        bank.size, bank.cosine_mean, bank.cosine_std, background, _COSINE_DEVIATION * (1.0 - background)
    )
    words = _scale(bank.size, bank.keyword_mean, bank.keyword_std, 0.0, _KEYWORD_DEVIATION)
    return meaning, words


def keyword_sums(words: Floats, learnt: Floats | None) -> Floats:
    """The keyword score as measured: the BM25 sum, or that of learnt weights where it is larger."""
    if learnt is None:
        return words
    larger: Floats = np.maximum(words, learnt.sum(axis=1))
    return larger


def keyword_deviations(words: FloatArray, learnt: Floats | FloatArray | None, bank: Bank) -> FloatArray:
    """Deviations of the keyword channel: by words or by learnt weights, whichever speak the louder.

    Learnt weights know synonyms, words know rare names: taking weights alone lost six points (docs/decisions.md, 16). And a
    memory that was written while the sparse embedder was away has its words to be found by.

    Args:
        words: Deviations of the BM25 sum.
        learnt: (n, L) products of learnt weights, on the scale of BM25; None without a sparse embedder.
        bank: What the question finds on average.
    """
    if learnt is None:
        return words
    sums = learnt.sum(axis=1, dtype=np.float64)
    scale = _scale(bank.size, bank.learnt_mean, bank.learnt_std, 0.0, _KEYWORD_DEVIATION)
    return np.maximum(words, scale.standard(sums))


def step_edges(edges: Edges, rows: Ints) -> tuple[Ints, Ints, Ints]:
    """Neighbours within a session as positions in `rows`: (from, to, steps), in both directions, ascending by from.

    Args:
        edges: Of some of the rows, every one of them complete.
        rows: Ascending; all that the edges join.
    """
    follows = edges.kind == _FOLLOWS
    one = np.searchsorted(rows, edges.source[follows])
    two = np.searchsorted(rows, edges.target[follows])
    steps = edges.distance[follows].astype(np.int64)
    # A neighbour that is itself a source brings the way back along; of the others it is added.
    complete = np.zeros(len(rows), dtype=bool)
    complete[one] = True
    back = ~complete[two]
    source = np.concatenate([one, two[back]])
    order = np.argsort(source, kind="stable")
    return (
        source[order],
        np.concatenate([two, one[back]])[order],
        np.concatenate([steps, steps[back]])[order],
    )


@dataclass(frozen=True, slots=True)
class Evidence:
    """Per candidate: each channel in deviations, read within its window; shape (n,) each.

    Attributes:
        covered: float (n, T) contributions of the question's terms within the window.
        meaning: Deviations of the cosine, of the window around the memory.
        words: Deviations of the BM25 sum, or of that of learnt weights, of the window.
        words_scale: BM25 per deviation.
    """

    covered: FloatArray
    meaning: FloatArray
    words: FloatArray
    words_scale: float


def gather(
    candidates: Candidates,
    weights: Floats,
    bank: Bank,
    calibration: Calibration | None,
    steps: tuple[Ints, Ints, Ints],
    spreading: Spreading,
    unspaced: float = 0.0,
) -> Evidence:
    """Evidence of one aspect for all candidates.

    A turn is read as the centre of its window: a question's words may fall on several turns of one exchange, and a
    window counts each word once, where adding up the turns' scores would count the same word again and again. The
    longer a memory, the less it needs its neighbours' words: shares fade as fade / (fade + length).
    """
    meaning, words = scales(bank, calibration)
    cosine = candidates.cosine.astype(np.float64)
    terms = candidates.terms.astype(np.float64)
    source, target, distance = steps
    near_terms, near_cosine = terms.copy(), cosine.copy()
    near_learnt = None if candidates.learnt is None else candidates.learnt.astype(np.float64)
    if len(source):
        share = faded(candidates.length, spreading, unspaced)[source] / distance
        shared = terms.take(target, axis=0) * (share * spreading.turn)[:, None]
        begins = np.flatnonzero(np.diff(source, prepend=-1))
        at = source[begins]
        near_terms[at] = np.maximum(near_terms[at], np.maximum.reduceat(shared, begins, axis=0))
        if near_learnt is not None:
            shared = near_learnt.take(target, axis=0) * (share * spreading.turn)[:, None]
            near_learnt[at] = np.maximum(near_learnt[at], np.maximum.reduceat(shared, begins, axis=0))
        lift = cosine[target] - meaning.mean
        lift[np.isnan(lift)] = 0.0
        np.add.at(near_cosine, source, lift * share * spreading.turn_meaning)
    return Evidence(
        covered=near_terms,
        meaning=meaning.standard(near_cosine),
        words=keyword_deviations(words.standard(near_terms @ weights), near_learnt, bank),
        words_scale=words.deviation,
    )


def faded(length: NDArray[np.int32], spreading: Spreading, unspaced: float) -> FloatArray:
    """What is left of a share for memories of so many terms: fade / (fade + length).

    Args:
        length: int32 (n,).
        spreading: Gives `fade`.
        unspaced: Share of the question that is written without spaces, 0..1.
    """
    fade = spreading.fade * (1.0 + (_DENSER - 1.0) * unspaced)
    return np.asarray(fade / (fade + length), dtype=np.float64)


def best_of_group(total: FloatArray, values: FloatArray, group: Ints) -> FloatArray:
    """For each candidate the `values` (s, n) of the member with the best `total` (n,) of its group; 0 without one.

    The more candidates a group has, the less it says about each: a long session speaks of everything.
    """
    result = np.zeros_like(values)
    grouped = np.flatnonzero(group >= 0)
    if not len(grouped):
        return result
    code = group[grouped]
    ascending = np.argsort(total[grouped], kind="stable")
    best = np.zeros(int(code.max()) + 1, dtype=np.int64)
    best[code[ascending]] = grouped[ascending]  # the last write per group is its best member
    members = np.bincount(code)
    result[:, grouped] = values[:, best[code]] * (_SMALL_GROUP / (_SMALL_GROUP + members[code]))
    return result
