"""Calibrated similarity: the same number means the same for every embedder.

Models differ in where their cosines lie: with one, unrelated texts sit near 0, with another near .75 and everything
happens between .75 and .95. Measured once per model, the mean cosine of unrelated pairs (the *background*) becomes
the zero of a common scale::

    calibrated = clip((cosine - background) / (1 - background), 0, 1)

0 is "no nearer than chance", 1 is "the same". Questions and passages may be embedded with different prefixes, so the
background is measured apart for question-passage and for passage-passage pairs, over the bilingual list in
`embedding.unrelated`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import overload

import numpy as np

from hindsight_core.embedding.checked import embed_checked, embed_query_checked
from hindsight_core.embedding.unrelated import PASSAGES, QUERIES
from hindsight_core.errors import EmbeddingError, InvalidSettings
from hindsight_core.ports import Embedder, Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Backgrounds of one embedder.

    Attributes:
        query: Mean cosine of a question and a passage that have nothing to do with each other, in [-1, 1).
        passage: Mean cosine of two such passages, in [-1, 1).
    """

    query: float
    passage: float

    def __post_init__(self) -> None:
        pairs = (("query", self.query), ("passage", self.passage))
        if faults := [f"{name} must be in [-1, 1), not {x}" for name, x in pairs if not -1.0 <= x < 1.0]:
            raise InvalidSettings("Calibration", faults)


@overload
def calibrate(cos: float, background: float) -> float: ...
@overload
def calibrate(cos: Floats, background: float) -> Floats: ...
def calibrate(cos: float | Floats, background: float) -> float | Floats:
    """Cosine to calibrated similarity in 0..1; nan stays nan.

    Args:
        cos: One cosine, or an array of them.
        background: Mean cosine of unrelated pairs, below 1.
    """
    scaled = np.clip((np.asarray(cos, np.float64) - background) / (1.0 - background), 0.0, 1.0)
    if isinstance(cos, np.ndarray):
        return scaled.astype(np.float32)
    return float(scaled)


_measured: dict[str, Calibration] = {}


def uncalibrate(similarity: float, background: float) -> float:
    """The cosine that has this calibrated similarity."""
    return background + similarity * (1.0 - background)


def measure(embedder: Embedder) -> Calibration:
    """Measure the backgrounds of an embedder over the shipped list; once per fingerprint and process.

    Raises:
        EmbeddingError: The embedder failed on one of the texts, or gives all texts the same vector.
    """
    fingerprint = embedder.fingerprint
    if fingerprint not in _measured:
        _measured[fingerprint] = _measure(embedder)
    return _measured[fingerprint]


def _measure(embedder: Embedder) -> Calibration:
    vectors, failures = embed_checked(embedder, list(PASSAGES))
    if failures:
        raise failures[0][1]
    passages = np.stack([vector for vector in vectors if vector is not None])
    queries = np.stack([embed_query_checked(embedder, text) for text in QUERIES])
    upper = np.triu_indices(len(passages), k=1)
    query = float(np.mean(queries @ passages.T))
    passage = float(np.mean((passages @ passages.T)[upper]))
    if max(query, passage) > 0.9999:
        raise EmbeddingError("the embedder gives unrelated texts the same vector")
    return Calibration(query=query, passage=passage)
