"""`adopt`: take over a collection that LangChain has written, with its vectors.

    old = QdrantVectorStore.from_existing_collection(embedding=embeddings, collection_name="docs", url=...)
    memory = Hindsight.open("agent.db", embedder=LangChainEmbedder(embeddings))
    adopt(old, memory)

Nothing is embedded anew, apart from a few points that show whether the vectors are this memory's embedder's at all. The
collection is only read. An interrupted run goes on where it stopped: a point that is there already is passed over.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from hindsight_core import Hindsight
from hindsight_core.embedding import embed_checked
from hindsight_core.engine.progress import track
from hindsight_core.errors import EmbedderMismatch, InvalidInput

log = logging.getLogger(__name__)

_PAGE = 256
_TRIED = 3
_ALIKE = 0.98
"""Least cosine between a stored vector and the embedder's own for the same text."""
_NEEDED = ("client", "collection_name", "content_payload_key", "metadata_payload_key", "vector_name")


def adopt(
    source: Any, memory: Hindsight, *, timestamp_key: str | None = None, progress: bool | None = None
) -> int:
    """Take over the documents of a `QdrantVectorStore`; a point's id becomes the memory's.

    Args:
        source: The vector store of langchain-qdrant.
        memory: Where to keep them; its embedder must be the one that made the vectors.
        timestamp_key: Metadata key that holds when a document was said or written (ISO); undated without.
        progress: Show a progress bar; by default for 1,000 points and more on a terminal or in a notebook.

    Returns:
        How many documents were added.

    Raises:
        EmbedderMismatch: The vectors are another embedder's; nothing was added.
        InvalidInput: It is no such store, or the memory has no embedder.
    """
    missing = [name for name in _NEEDED if not hasattr(source, name)]
    if missing:
        raise InvalidInput(
            f"adopt takes a QdrantVectorStore of langchain-qdrant, not a {type(source).__name__}; documents of other "
            "stores go in by HindsightVectorStore.add_documents"
        )
    total = source.client.count(source.collection_name, exact=True).count
    added = blank = 0
    checked = False
    pages = _pages(source)
    for _ in track(range(0, total, _PAGE), total=total, step=_PAGE, label="adopting", show=progress):
        points = next(pages, [])
        items, vectors = _new(points, source, memory, timestamp_key)
        blank += len(points) - sum(bool(_text(point, source).strip()) for point in points)
        if items and not checked:
            _check(items, vectors, memory)
            checked = True
        added += len(memory.keep(items, vectors=vectors))
    if blank:
        log.warning("%d points without text were left out", blank)
    return added


def _pages(source: Any) -> Iterator[Sequence[Any]]:
    offset = None
    while True:
        points, offset = source.client.scroll(
            source.collection_name, limit=_PAGE, offset=offset, with_payload=True, with_vectors=True
        )
        yield points
        if offset is None:
            return


def _new(
    points: Sequence[Any], source: Any, memory: Hindsight, timestamp_key: str | None
) -> tuple[list[dict[str, Any]], list[Any]]:
    """Points that are not there yet, as items, and their vectors."""
    there = memory.parts.store.get([(memory.scope, str(point.id)) for point in points])
    items: list[dict[str, Any]] = []
    vectors: list[Any] = []
    for point, old in zip(points, there, strict=True):
        text = _text(point, source)
        if old is not None or not text.strip():
            continue
        metadata = (point.payload or {}).get(source.metadata_payload_key) or {}
        when = metadata.get(timestamp_key) if timestamp_key else None
        items.append({"text": text, "id": str(point.id), "metadata": metadata, "timestamp": when})
        vectors.append(_vector(point, source.vector_name))
    return items, vectors


def _text(point: Any, source: Any) -> str:
    text = (point.payload or {}).get(source.content_payload_key)
    return text if isinstance(text, str) else ""


def _vector(point: Any, name: str) -> Any:
    """The dense vector of a point: it stands alone, or under its name beside a sparse one."""
    found = point.vector.get(name) if isinstance(point.vector, Mapping) else point.vector
    return found or None


def _check(items: Sequence[Mapping[str, Any]], vectors: Sequence[Any], memory: Hindsight) -> None:
    """Compare a few stored vectors with what the memory's embedder says of the same texts."""
    embedder = memory.parts.embedder
    if embedder is None:
        raise InvalidInput(
            "the memory has no embedder to ask with; open it with embedder=LangChainEmbedder(store.embeddings)"
        )
    tried = [
        (item["text"], vector) for item, vector in zip(items, vectors, strict=True) if vector is not None
    ][:_TRIED]
    for (_, stored), own in zip(tried, embed_checked(embedder, [text for text, _ in tried])[0], strict=True):
        row = np.asarray(stored, dtype=np.float32)
        if own is None:
            continue
        if row.shape != own.shape or float(row @ own) < _ALIKE * float(np.linalg.norm(row)):
            raise EmbedderMismatch(
                f"the vectors of this collection are not those of {embedder.fingerprint}; open the memory with "
                "embedder=LangChainEmbedder(store.embeddings)"
            )
