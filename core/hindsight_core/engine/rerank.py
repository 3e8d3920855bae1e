"""The second look: a reranker's scores among those of the fused order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hindsight_core.encode import index_text
from hindsight_core.recall import Hit
from hindsight_core.recall.hits import Signal
from hindsight_core.reranking import BoundedReranker


def reranked(reranker: BoundedReranker, question: str, hits: Sequence[Hit]) -> list[Hit]:
    """The hits by a share of the reranker's score and the rest of the fused one, ties in the fused order.

    Each signal's part of the score shrinks to the rest, and "rerank" stands beside them, so that a hit still explains
    itself. Hits beyond the candidates stay below them, in their order. Relevance stays as it was.

    Args:
        reranker: Within its bounds.
        question: What is asked.
        hits: Best first.
    """
    seen, unseen = hits[: reranker.candidates], hits[reranker.candidates :]
    if len(seen) < 2:
        return list(hits)
    scores = reranker.scores(question, [index_text(hit.unit.content, hit.unit.source) for hit in seen])
    if scores is None:
        return list(hits)
    share = reranker.share

    def part(hit: Hit, score: float, ceiling: float) -> Hit:
        left = {
            name: replace(signal, weighted=signal.weighted * (1.0 - share))
            for name, signal in hit.signals.items()
        }
        second = Signal(raw=score, value=score, weighted=score * share)
        total = min(hit.score * (1.0 - share) + second.weighted, ceiling)
        return replace(hit, score=total, signals={**left, "rerank": second})

    best = [part(hit, score, 1.0) for hit, score in zip(seen, scores.tolist(), strict=True)]
    best.sort(key=lambda hit: -hit.score)
    return best + [part(hit, 0.0, best[-1].score) for hit in unseen]
