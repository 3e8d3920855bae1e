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

import json
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from hindsight_core.arrays import product
from hindsight_core.embedding.checked import embed_checked, embed_query_checked
from hindsight_core.embedding.unrelated import PASSAGES, QUERIES
from hindsight_core.errors import EmbeddingError, InvalidSettings
from hindsight_core.ports import Doubles, Embedder, Floats

_NEAREST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Backgrounds of one embedder.

    Attributes:
        query: Mean cosine of a question and a passage that have nothing to do with each other, in [-1, 1).
        passage: Mean cosine of two such passages, in [-1, 1).
        landmarks: Vectors of the shipped questions and passages: float32 (q, dimension), (p, dimension). They tell
            how near a text lies to whatever it has nothing to do with, see `local_background`. None: only the means.
    """

    query: float
    passage: float
    landmarks: tuple[Floats, Floats] | None = field(default=None, compare=False, repr=False)

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


def local_background(calibration: Calibration, question: Floats, memories: Floats) -> Doubles:
    """How near a question and each memory would lie if they had nothing to do with each other.

    One mean for a whole model misjudges texts that lie near everything (short ones, questions without content) and those
    that lie near nothing. So each side is measured against the shipped texts of the other side, and the mean of its five
    largest cosines taken: the local scaling of A. Conneau et al., "Word translation without parallel data" (2018), here
    against a fixed list instead of the bank, so that it does not depend on what else is remembered.

    Args:
        calibration: Of the embedder.
        question: float32 (dimension,).
        memories: float32 (n, dimension), rows of nan where a memory has no vector.

    Returns:
        float64 (n,); the model's mean where there are no landmarks.
    """
    if calibration.landmarks is None:
        return np.full(len(memories), calibration.query)
    queries, passages = calibration.landmarks
    own = np.sort(passages @ question)[-_NEAREST:].mean()
    theirs = np.partition(product(memories, queries), -_NEAREST, axis=1)[:, -_NEAREST:].mean(axis=1)
    return np.asarray((own + theirs) / 2.0, dtype=np.float64)


def dump_calibration(calibration: Calibration) -> str:
    """A calibration as text, landmarks in half precision."""
    fields: dict[str, Any] = {"query": calibration.query, "passage": calibration.passage}
    if calibration.landmarks is not None:
        fields["dimension"] = calibration.landmarks[0].shape[1]
        fields["landmarks"] = [b64encode(v.astype("<f2").tobytes()).decode() for v in calibration.landmarks]
    return json.dumps(fields)


def load_calibration(text: str) -> Calibration:
    """What `dump_calibration` wrote."""
    fields = json.loads(text)
    landmarks = None
    if "landmarks" in fields:
        queries, passages = (
            np.frombuffer(b64decode(v), "<f2").astype(np.float32).reshape(-1, fields["dimension"])
            for v in fields["landmarks"]
        )
        landmarks = queries, passages
    return Calibration(query=fields["query"], passage=fields["passage"], landmarks=landmarks)


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
    return Calibration(query=query, passage=passage, landmarks=(queries, passages))
