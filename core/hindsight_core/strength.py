"""How strong a memory is now: pure functions of plain numbers and `now`.

    weight(now) = weight * decay ** days            computed when read, never rewritten nightly
    after a use = min(1, weight(now) + bonus)       at most once per refractory period
    recency     = exp(-rate * days)

Days are fractional. The source of the two curves is the design's own practitioner article; .99 a day leaves .740
after a month and .405 after three, and exp(-.05 * 30) = .223. A memory seen from before its own time ("now"
earlier than `weight_at`) has not decayed yet.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

DAY = 86_400.0


def weight_now(weight: float, elapsed: float, decay: float) -> float:
    """Strength after `elapsed` seconds of rest."""
    return weight * math.pow(decay, max(elapsed, 0.0) / DAY)


def after_use(weight: float, elapsed: float, *, decay: float, bonus: float) -> float:
    """Strength right after a use that counts."""
    return min(1.0, weight_now(weight, elapsed, decay) + bonus)


def weights_now(
    weight: NDArray[np.float32], weight_at: NDArray[np.float64], now: float, decay: float
) -> NDArray[np.float64]:
    """`weight_now` for columns; `now` and `weight_at` in epoch seconds."""
    days = np.maximum(now - weight_at, 0.0) / DAY
    return weight.astype(np.float64) * np.power(decay, days)


def recency(timestamp: NDArray[np.float64], now: float, rate: float) -> NDArray[np.float64]:
    """exp(-rate * days); an undated memory (nan) has recency 0, one of the future 1."""
    days = np.maximum(now - timestamp, 0.0) / DAY
    age = np.exp(-rate * days)
    return np.where(np.isnan(age), 0.0, age)
