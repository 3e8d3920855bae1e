"""`adopt`: takes over the nodes of an index that already exists.

    memory = Hindsight.open("agent.db", embedder=LlamaIndexEmbedder(Settings.embed_model))
    adopt(QdrantVectorStore("docs", client=client), memory)
    query_engine = HindsightRetriever(memory).as_query_engine()

Stored vectors are taken over as they are; only nodes without one are embedded. The source is only read. Interrupted, it goes on
where it stopped when it is called again: nodes that are there with the same text are left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from llama_index.core import VectorStoreIndex
from llama_index.core.schema import BaseNode, MetadataMode
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.core.vector_stores.types import BasePydanticVectorStore
from llama_index.core.vector_stores.utils import metadata_dict_to_node

from hindsight_core import Hindsight, Status
from hindsight_core.embedding import embed_checked
from hindsight_core.engine.progress import track
from hindsight_core.errors import EmbedderMismatch, InvalidInput
from hindsight_llamaindex.vectorstore import keep_nodes

BATCH = 256
_SAMPLE = 3
_SAME_MODEL = 0.9
"""Least cosine between a stored vector and the embedder's own of the same text; the same model gives nearly 1, quantised
or not, another model nearly 0."""


@dataclass(frozen=True, slots=True)
class Adopted:
    """What `adopt` did.

    Attributes:
        added: Nodes taken over.
        present: Nodes that were there already.
        embedded: Nodes among those added that came without a vector.
    """

    added: int
    present: int
    embedded: int


def adopt(
    source: VectorStoreIndex | BasePydanticVectorStore | Iterable[BaseNode],
    memory: Hindsight,
    *,
    timestamp_key: str = "timestamp",
    progress: bool | None = None,
) -> Adopted:
    """Take over nodes into a memory's scope.

    Args:
        source: A `QdrantVectorStore`, an index over one, any other index or store that can list its nodes, or nodes.
        memory: Where to; opened with the embedder that made the stored vectors.
        timestamp_key: Metadata key that dates a node.
        progress: Show a progress bar; by default for 1,000 nodes and more on a terminal or in a notebook.

    Raises:
        EmbedderMismatch: The stored vectors were made by another model; nothing was taken over.
        InvalidInput: A source that cannot be read, or vectors of another length.
    """
    total, batches = _batches(source)
    added = present = embedded = 0
    checked = False
    for nodes in track(batches, total=total, step=BATCH, label="adopting", show=progress):
        if not checked:
            checked = _check(memory, nodes)
        new = _new(memory, nodes)
        if new:
            keep_nodes(memory, new, timestamp_key=timestamp_key)
        added += len(new)
        present += len(nodes) - len(new)
        embedded += sum(node.embedding is None for node in new)
    return Adopted(added, present, embedded)


def _batches(source: Any) -> tuple[int, Iterator[list[BaseNode]]]:
    """How many nodes there are, and the nodes in batches, with their vectors."""
    if isinstance(source, VectorStoreIndex):
        store = source.vector_store
        if isinstance(store, SimpleVectorStore):
            return _listed(_of_simple(source, store))
        return _batches(store)
    if isinstance(source, BasePydanticVectorStore):
        if source.class_name() == "QdrantVectorStore":
            return _of_qdrant(source)
        try:
            return _listed(source.get_nodes(None, None))
        except (NotImplementedError, ValueError) as error:
            raise InvalidInput(
                f"{source.class_name()} cannot list its nodes; pass the nodes themselves"
            ) from error
    if isinstance(source, Iterable) and not isinstance(source, str | bytes):
        return _listed(list(source))
    raise InvalidInput(f"adopt takes an index, a vector store or nodes, not {type(source).__name__}")


def _listed(nodes: Sequence[BaseNode]) -> tuple[int, Iterator[list[BaseNode]]]:
    for node in nodes:
        if not isinstance(node, BaseNode):
            raise InvalidInput(f"adopt takes nodes, not {type(node).__name__}")
    return len(nodes), (list(nodes[start : start + BATCH]) for start in range(0, len(nodes), BATCH))


def _of_simple(index: VectorStoreIndex, store: SimpleVectorStore) -> list[BaseNode]:
    """Nodes of the framework's own store, which keeps vectors and texts apart."""
    nodes = index.docstore.get_nodes(list(store.data.embedding_dict))
    return [
        node.model_copy(update={"embedding": store.data.embedding_dict.get(node.node_id)}) for node in nodes
    ]


def _of_qdrant(store: Any) -> tuple[int, Iterator[list[BaseNode]]]:
    client = store._client
    if client is None:
        raise InvalidInput("this QdrantVectorStore has no synchronous client; open it with client=")

    def pages() -> Iterator[list[BaseNode]]:
        offset = None
        while True:
            points, offset = client.scroll(
                store.collection_name, limit=BATCH, offset=offset, with_payload=True, with_vectors=True
            )
            if points:
                yield [_node(point, store) for point in points]
            if offset is None:
                return

    return client.count(store.collection_name).count, pages()


def _node(point: Any, store: Any) -> BaseNode:
    payload = point.payload or {}
    if "_node_content" not in payload:
        raise InvalidInput(
            f"the collection {store.collection_name!r} was not written by LlamaIndex; hindsight_langchain.adopt takes over "
            "those of LangChain"
        )
    node = metadata_dict_to_node(payload, text=payload.get(store.text_key))
    vector = point.vector
    if isinstance(vector, dict):
        vector = vector.get(store.dense_vector_name)
    node.embedding = vector
    return node


def _check(memory: Hindsight, nodes: Sequence[BaseNode]) -> bool:
    """Whether there was a vector to compare with the embedder's own.

    Raises:
        EmbedderMismatch: They differ beyond what rounding explains.
    """
    embedder = memory.parts.embedder
    sample = [node for node in nodes if node.embedding is not None][:_SAMPLE]
    if not sample or embedder is None:
        return False
    if any(len(node.embedding or ()) != embedder.dimension for node in sample):
        return True  # keeping them says so in its own words
    own, _ = embed_checked(embedder, [node.get_content(metadata_mode=MetadataMode.EMBED) for node in sample])
    cosines = []
    for node, vector in zip(sample, own, strict=True):
        stored = np.asarray(node.embedding, dtype=np.float64)
        if vector is not None:
            cosines.append(float(stored @ vector / max(float(np.linalg.norm(stored)), 1e-12)))
    if cosines and max(cosines) < _SAME_MODEL:
        raise EmbedderMismatch(
            f"the stored vectors were not made by {embedder.fingerprint}: of the same texts they differ (cosine "
            f"{max(cosines):.2f}). Open the memory with embedder=LlamaIndexEmbedder(the model of the index), or pass nodes "
            "without vectors to embed them anew"
        )
    return True


def _new(memory: Hindsight, nodes: Sequence[BaseNode]) -> list[BaseNode]:
    """The nodes that are not there yet with the same text, whatever has become of them since."""
    where = {"id": {"$in": [node.node_id for node in nodes]}}
    there = {
        (unit.id, unit.content)
        for status in Status
        for unit in memory.find(where=where, status=status, scope=memory.scope)
        if unit.scope == memory.scope
    }
    return [
        node
        for node in nodes
        if (node.node_id, node.get_content(metadata_mode=MetadataMode.NONE)) not in there
    ]
