"""Vectors: the bundled offline model, embedders of other makes, and a common scale for what they say.

`resolve` turns what a caller passes as `embedder=` into an embedder; `embed_checked` and `embed_query_checked` are how
the engine asks one; `Calibration` puts the cosines of any of them on one scale.
"""

from __future__ import annotations

from typing import Any

from hindsight_core.embedding.bge_m3 import BgeM3
from hindsight_core.embedding.cache import CachedEmbedder
from hindsight_core.embedding.calibrate import (
    Calibration,
    calibrate,
    dump_calibration,
    load_calibration,
    local_background,
    measure,
    uncalibrate,
)
from hindsight_core.embedding.checked import embed_checked, embed_query_checked
from hindsight_core.embedding.endpoint import EndpointEmbedder
from hindsight_core.embedding.function import CallableEmbedder
from hindsight_core.embedding.hashing import HashEmbedder
from hindsight_core.embedding.local import LocalEmbedder
from hindsight_core.embedding.onnx import OnnxEmbedder
from hindsight_core.embedding.sentence import SentenceTransformerEmbedder
from hindsight_core.embedding.sparse import (
    Keywords,
    keywords_of,
    resolve_sparse,
    sparse_checked,
)
from hindsight_core.errors import InvalidInput
from hindsight_core.ports import Embedder

__all__ = [
    "BgeM3",
    "CachedEmbedder",
    "Calibration",
    "CallableEmbedder",
    "EndpointEmbedder",
    "HashEmbedder",
    "Keywords",
    "LocalEmbedder",
    "OnnxEmbedder",
    "SentenceTransformerEmbedder",
    "calibrate",
    "dump_calibration",
    "embed_checked",
    "embed_query_checked",
    "keywords_of",
    "load_calibration",
    "local_background",
    "measure",
    "resolve",
    "resolve_sparse",
    "sparse_checked",
    "uncalibrate",
]

_BY_NAME = {
    "bge-m3": BgeM3,
    "openai": EndpointEmbedder,
    "onnx": OnnxEmbedder,
    "sentence-transformers": SentenceTransformerEmbedder,
}


def resolve(embedder: Any) -> Embedder | None:
    """The embedder meant by what a caller passed.

    Args:
        embedder: None (no vectors), "local" (the bundled model), "openai:MODEL", "onnx:FOLDER",
            "sentence-transformers:MODEL", "bge-m3:MODEL", an object with the `Embedder` port, or a function from a list of texts to an
            array-like of shape (n, dimension), which becomes a `CallableEmbedder`.

    Raises:
        InvalidInput: It is none of these, or what the name stands for cannot be had.
        MissingExtra: What runs the model is not installed.
    """
    if embedder is None:
        return None
    if isinstance(embedder, str):
        kind, _, model = embedder.partition(":")
        if embedder == "local" or (kind in _BY_NAME and model):
            made: Any = LocalEmbedder() if embedder == "local" else _BY_NAME[kind](model)
            made.require()
            return made  # type: ignore[no-any-return]
    if not isinstance(embedder, type):
        # In this order: a look at the port asks for the length of a vector, for which an endpoint has to be there.
        if isinstance(embedder, (EndpointEmbedder, CachedEmbedder, Embedder)):
            return embedder
        if callable(embedder):
            return CallableEmbedder(embedder)
    what = (
        f"{embedder[:60]!r}"
        if isinstance(embedder, str)
        else "a class"
        if isinstance(embedder, type)
        else type(embedder).__name__
    )
    raise InvalidInput(
        'embedder must be None, "local", "openai:MODEL", "onnx:FOLDER", "sentence-transformers:MODEL", "bge-m3:MODEL", an object with embed_documents, embed_query, dimension and fingerprint, or a '
        f"function from a list of texts to vectors; got {what}"
    )
