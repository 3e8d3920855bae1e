"""The pipelines whose speed a memory is compared with, in process and over the same turns.

    vector   exact search by cosine over one NumPy matrix: the least work there is
    bm25     rank-bm25's Okapi over words and pairs of Chinese characters
    hybrid   bm25 and qdrant-client in its local mode, joined by reciprocal rank fusion: what many build

Where `baselines` asks what they find, this asks how long they take.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hindsight_core.errors import MissingExtra
from hindsight_core.evaluation.baselines import RRF_K, words_and_pairs
from hindsight_core.evaluation.synthetic import DIMENSION, TopicEmbedder
from hindsight_core.ports import Floats, Ints

K = 10
_TOP = 50

Ask = Callable[[str, Floats], Sequence[int]]
"""From a question and its vector to the best ten turns by position."""


def vector(turns: Sequence[dict[str, Any]]) -> Ask:
    """Exact search by cosine."""
    held = _vectors(turns)

    def ask(question: str, asked: Floats) -> list[int]:
        near: Floats = held @ asked
        first = np.argpartition(-near, min(K, len(near) - 1))[:K]
        return [int(i) for i in first[np.argsort(-near[first], kind="stable")]]

    return ask


def bm25(turns: Sequence[dict[str, Any]]) -> Ask:
    """Okapi BM25.

    Raises:
        MissingExtra: rank-bm25 is not installed.
    """
    ranked = _words(turns)
    return lambda question, asked: ranked(question)[:K]


def hybrid(turns: Sequence[dict[str, Any]]) -> Ask:
    """Okapi BM25 and a local Qdrant, joined by reciprocal rank fusion.

    Raises:
        MissingExtra: rank-bm25 or qdrant-client is not installed.
    """
    ranked = _words(turns)
    qdrant, models = (_module(f"qdrant_client{m}") for m in ("", ".models"))
    client = qdrant.QdrantClient(":memory:")
    params = models.VectorParams(size=DIMENSION, distance=models.Distance.COSINE)
    client.create_collection("turns", vectors_config=params)
    for start in range(0, len(turns), 1_000):
        vectors = _vectors(turns[start : start + 1_000])
        batch = models.Batch(ids=list(range(start, start + len(vectors))), vectors=vectors.tolist())
        client.upsert("turns", points=batch)

    def ask(question: str, asked: Floats) -> list[int]:
        near = client.query_points("turns", query=asked.tolist(), limit=_TOP).points
        fused: dict[int, float] = {}
        for order in ([int(point.id) for point in near], ranked(question)):
            for rank, position in enumerate(order, 1):
                fused[position] = fused.get(position, 0.0) + 1 / (RRF_K + rank)
        return sorted(fused, key=lambda position: (-fused[position], position))[:K]

    return ask


PIPELINES: dict[str, Callable[[Sequence[dict[str, Any]]], Ask]] = {
    "vector": vector,
    "bm25": bm25,
    "hybrid": hybrid,
}
UP_TO = {"vector": 1_000_000, "bm25": 100_000, "hybrid": 15_000}
"""Memories up to which each is measured; beyond, building it takes minutes and gigabytes."""


def _vectors(turns: Sequence[dict[str, Any]]) -> Floats:
    return TopicEmbedder().embed_documents([turn["text"] for turn in turns])


def _words(turns: Sequence[dict[str, Any]]) -> Callable[[str], list[int]]:
    index = _module("rank_bm25").BM25Okapi([words_and_pairs(turn["text"]) for turn in turns])

    def ranked(question: str) -> list[int]:
        scores: Ints = index.get_scores(words_and_pairs(question))
        return [int(i) for i in np.argsort(-scores, kind="stable")[:_TOP] if scores[i] > 0]

    return ranked


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtra("the pipelines to compare with (rank-bm25, qdrant-client)", "dev") from error
