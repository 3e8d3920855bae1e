"""Sparse embedders with the seams checked: learnt weights of tokens, what they stand for, and on what scale.

A store that has them scores the keyword channel by their dot product or by BM25, whichever speaks the louder for a memory. Which
words of a question a memory holds is still asked of the words themselves: relevance, covering and bridges are about words, and
a token of some weight is found in nearly every text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hindsight_core.embedding.bge_m3 import BgeM3
from hindsight_core.embedding.unrelated import PASSAGES, QUERIES
from hindsight_core.errors import EmbedderUnavailable, EmbeddingError, InvalidInput
from hindsight_core.ports import Embedder, Ids, SparseEmbedder
from hindsight_core.text.hashing import COUNT_BITS
from hindsight_core.text.keys import storable
from hindsight_core.text.learnt import MOST_TOKENS, WEIGHT, pack_weights

_BY_CHANCE = 1.5
"""What the sums of unrelated texts come to after scaling, in the mean square: what BM25 sums deviate by."""
_LEAST = 0.1
"""Unrelated texts are taken to have so much in common at least, of what a question has in common with itself."""
_GIVE_UP = 8
"""Texts that fail alone before any succeeds; then the model itself is taken to be down."""
_MOST = float(WEIGHT[-1])
"""What a token weighs at most, in a question as in a memory, where no more can be kept."""


@dataclass(frozen=True, slots=True)
class Keywords:
    """A sparse embedder, and what brings its sums to the scale of BM25."""

    embedder: SparseEmbedder
    scale: float

    def of_question(self, text: str) -> dict[int, float]:
        """The tokens of a question with their weights, scaled.

        Raises:
            EmbeddingError: The model failed, with the original error as cause.
        """
        return {token: weight * self.scale for token, weight in _question(self.embedder, text).items()}


def resolve_sparse(keywords: Any, embedder: Embedder | None) -> SparseEmbedder | None:
    """The sparse embedder meant by what a caller passed: None, "bge-m3:MODEL", or an object with the port.

    Args:
        keywords: What was passed.
        embedder: The embedder of the vectors; where it is the same bge-m3, one model gives both.

    Raises:
        InvalidInput: It is none of these.
        MissingExtra: What runs the model is not installed.
    """
    if keywords is None:
        return None
    if isinstance(keywords, str):
        kind, _, model = keywords.partition(":")
        if kind == "bge-m3" and model:
            dense = getattr(embedder, "inner", embedder)
            made = dense if isinstance(dense, BgeM3) and dense.model == model else BgeM3(model)
            made.require()
            return made
    elif isinstance(keywords, SparseEmbedder) and not isinstance(keywords, type):
        return keywords
    told = f"{keywords[:60]!r}" if isinstance(keywords, str) else type(keywords).__name__
    raise InvalidInput(
        'keywords must be None, "bge-m3:MODEL", or an object with sparse_fingerprint, sparse_documents and sparse_query, not '
        + told
    )


def sparse_checked(
    embedder: SparseEmbedder, texts: list[str]
) -> tuple[list[Ids | None], list[tuple[int, EmbeddingError]]]:
    """Packed learnt terms of passages; one bad text does not lose the others.

    Returns:
        Packed terms for each text, None where it failed; and (index, error) of those that failed, in order. No error
        message holds text; the original error is its `__cause__`.
    """
    texts = [storable(text) for text in texts]
    try:
        return [*_documents(embedder, texts)], []
    except EmbeddingError as error:
        if len(texts) < 2 or isinstance(error, EmbedderUnavailable):
            return [None] * len(texts), [(index, error) for index in range(len(texts))]
    found: list[Ids | None] = []
    failures: list[tuple[int, EmbeddingError]] = []
    for index, text in enumerate(texts):
        down = len(failures) >= _GIVE_UP and len(failures) == index
        (one,), failed = ([None], failures[-1:]) if down else sparse_checked(embedder, [text])
        found.append(one)
        failures += [(index, error) for _, error in failed]
    return found, failures


def keywords_of(embedder: SparseEmbedder) -> Keywords:
    """An embedder with its scale, measured over the shipped list of texts that have nothing to do with each other.

    Raises:
        EmbeddingError: It failed on one of them.
    """
    passages = [_spread(packed) for packed in _documents(embedder, list(PASSAGES))]
    questions = [_question(embedder, text) for text in QUERIES]
    unrelated = np.array([_dot(q, passage) for q in questions for passage in passages])
    own = float(np.mean([_dot(q, q) for q in questions]))
    chance = max(float(np.sqrt(np.mean(unrelated**2))), _LEAST * own)
    if chance <= 0.0:
        raise EmbeddingError("the sparse embedder gives no token any weight")
    return Keywords(embedder, _BY_CHANCE / chance)


def _dot(one: Mapping[int, float], two: Mapping[int, float]) -> float:
    return sum(weight * two[token] for token, weight in one.items() if token in two)


def _spread(packed: Ids) -> dict[int, float]:
    return dict(
        zip((packed >> np.uint64(COUNT_BITS)).tolist(), WEIGHT[packed.astype(np.uint8)].tolist(), strict=True)
    )


def _documents(embedder: SparseEmbedder, texts: list[str]) -> list[Ids]:
    try:
        given = list(embedder.sparse_documents(texts)) if texts else []
    except EmbeddingError:
        raise
    except Exception as error:  # an embedder may raise anything; it is mapped, with the cause kept
        raise EmbeddingError(f"the sparse embedder failed with {type(error).__name__}") from error
    if len(given) != len(texts):
        raise EmbeddingError(f"the sparse embedder answered {len(given)} times for {len(texts)} texts")
    return [pack_weights(_sound(weights)) for weights in given]


def _question(embedder: SparseEmbedder, text: str) -> dict[int, float]:
    try:
        given = embedder.sparse_query(storable(text))
    except EmbeddingError:
        raise
    except Exception as error:  # as above
        raise EmbeddingError(f"the sparse embedder failed with {type(error).__name__}") from error
    return _sound(given)


def _sound(weights: Any) -> dict[int, float]:
    """Weights above 0 by token, as promised, none above what can be kept."""
    try:
        found = {int(token): float(weight) for token, weight in weights.items()}
    except (AttributeError, TypeError, ValueError) as error:
        raise EmbeddingError("the sparse embedder returned something that is not weights by token") from error
    if not all(0 <= token < MOST_TOKENS for token in found) or not np.isfinite(list(found.values())).all():
        raise EmbeddingError(
            "the sparse embedder returned a weight that is not finite, or a token outside 0..2**24 - 2"
        )
    return {token: min(weight, _MOST) for token, weight in found.items() if weight > 0.0}
