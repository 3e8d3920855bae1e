"""Rerankers: a second, careful look at the best hits.

Off by default. A reranker reads the question together with each passage, which is slow and often right:

    Hindsight.open("agent.db", reranker="onnx:models/bge-reranker-base")
    Hindsight.open("agent.db", reranker="sentence-transformers:BAAI/bge-reranker-v2-m3")
    Hindsight.open("agent.db", reranker=BoundedReranker(LLMReranker(ask), candidates=10, milliseconds=2000))

`BoundedReranker` bounds it by candidates and by time; any other object with the port gets its usual bounds.
"""

from __future__ import annotations

from typing import Any

from hindsight_core.embedding.onnx import require_onnx
from hindsight_core.errors import InvalidInput
from hindsight_core.reranking.bounded import BoundedReranker
from hindsight_core.reranking.cross_encoder import CrossEncoderReranker
from hindsight_core.reranking.llm import LLMReranker
from hindsight_core.reranking.onnx import OnnxReranker

__all__ = ["BoundedReranker", "CrossEncoderReranker", "LLMReranker", "OnnxReranker", "resolve_reranker"]


def resolve_reranker(reranker: Any, **bounds: Any) -> BoundedReranker | None:
    """The reranker meant by what a caller passed, within bounds.

    Args:
        reranker: None (none), "onnx:FOLDER", "sentence-transformers:MODEL", or an object with the `Reranker` port.
        bounds: Of `BoundedReranker`, which have usual values.

    Raises:
        InvalidInput: It is none of these.
        MissingExtra: What runs it is not installed.
    """
    if reranker is None or isinstance(reranker, BoundedReranker):
        return reranker
    if isinstance(reranker, str):
        kind, _, model = reranker.partition(":")
        if kind == "onnx" and model:
            require_onnx()
            return BoundedReranker(OnnxReranker(model), **bounds)
        if kind == "sentence-transformers" and model:
            cross_encoder = CrossEncoderReranker(model)
            cross_encoder.require()
            return BoundedReranker(cross_encoder, **bounds)
    elif not isinstance(reranker, type) and callable(getattr(reranker, "rerank", None)):
        return BoundedReranker(reranker, **bounds)
    raise InvalidInput(
        'reranker must be None, "onnx:FOLDER", "sentence-transformers:MODEL", or an object with a method rerank; got '
        + (f"{reranker[:60]!r}" if isinstance(reranker, str) else type(reranker).__name__)
    )
