"""How far a figure can be trusted, and whether two settings really differ.

- **Interval of a mean**: the percentile bootstrap over questions (B. Efron, R. Tibshirani, "An Introduction to the
  Bootstrap", 1993, ch. 13). Small sets give wide intervals, which is what they are there to say.
- **Two settings on the same questions**: a sign-flip randomisation test of the mean difference, two-sided, the test that
  M. Smucker, J. Allan and B. Carterette recommend for retrieval ("A comparison of statistical significance tests for
  information retrieval evaluation", CIKM 2007). Were the settings alike, each question's difference could as well have
  had the other sign; p is the share of sign patterns with a mean at least as far from 0. Up to 2 ** 14 patterns are
  all tried; beyond, a sample is drawn, and counted with the observed one, so p is never 0 (B. Phipson, G. Smyth, 2010).
- **Many comparisons at once**: p adjusted by S. Holm's step-down procedure (1979).

Chance comes from a seed, so equal input gives equal output.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hindsight_core.ports import Doubles

SEED = 20260101
RESAMPLES = 2_000
SIGN_PATTERNS = 10_000
_EXACT = 14
_CELLS = 4_000_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over n questions, with its 95 % interval; nan throughout when n is 0."""

    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Setting a against setting b on the same questions.

    Attributes:
        difference: Mean of a - b, with its interval.
        wins: Questions on which a is better.
        losses: On which b is.
        ties: On which they are equal.
        p: Chance of a difference at least this large, were they alike.
    """

    difference: Estimate
    wins: int
    losses: int
    ties: int
    p: float


def estimate(values: Sequence[float] | Doubles, *, samples: int = RESAMPLES, seed: int = SEED) -> Estimate:
    """The mean of values, with a bootstrap interval."""
    data = np.asarray(values, dtype=np.float64)
    if not len(data):
        return Estimate(math.nan, math.nan, math.nan, 0)
    rng = np.random.default_rng(seed)
    means = np.empty(samples)
    step = max(1, _CELLS // len(data))
    for start in range(0, samples, step):
        drawn = rng.integers(0, len(data), size=(min(step, samples - start), len(data)))
        means[start : start + step] = data[drawn].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return Estimate(float(data.mean()), float(low), float(high), len(data))


def compare(a: Sequence[float], b: Sequence[float], *, seed: int = SEED) -> Comparison:
    """Compare two settings question by question.

    Args:
        a: Values of one setting.
        b: Values of the other, for the same questions in the same order.
        seed: Of the chance.
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape != second.shape:
        raise ValueError("both settings must have answered the same questions")
    # Rounding makes .1 + .2 and .3 a tie, as it should be.
    difference = np.round(first - second, 12)
    return Comparison(
        difference=estimate(difference, seed=seed),
        wins=int((difference > 0).sum()),
        losses=int((difference < 0).sum()),
        ties=int((difference == 0).sum()),
        p=_sign_flip(difference, seed),
    )


def _sign_flip(difference: Doubles, seed: int) -> float:
    sizes = np.abs(difference[difference != 0])
    n = len(sizes)
    if not n:
        return 1.0
    observed = abs(float(difference.sum())) - 1e-9
    if n <= _EXACT:
        patterns = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        return float((np.abs((2 * patterns - 1) @ sizes) >= observed).mean())
    rng = np.random.default_rng(seed)
    step = max(1, _CELLS // n)
    extreme = 1
    for start in range(0, SIGN_PATTERNS, step):
        signs = rng.integers(0, 2, size=(min(step, SIGN_PATTERNS - start), n), dtype=np.int8)
        extreme += int((np.abs((2.0 * signs - 1.0) @ sizes) >= observed).sum())
    return extreme / (SIGN_PATTERNS + 1)


def holm(p: Sequence[float]) -> list[float]:
    """Adjusted p-values, in the order given."""
    adjusted = [0.0] * len(p)
    highest = 0.0
    for place, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        highest = max(highest, min(1.0, (len(p) - place) * p[i]))
        adjusted[i] = highest
    return adjusted
