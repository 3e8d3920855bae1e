"""`HindsightVectorStore`: a memory behind LlamaIndex's vector store interface.

    embed_model = HindsightEmbedding(memory)
    index = VectorStoreIndex.from_vector_store(HindsightVectorStore(memory), embed_model=embed_model)

Each node is one memory under its own id, kept exactly as given with the vector it came with. A query is a full recall (meaning,
words, names, time and strength), for which the framework hands over the question's text along with its vector; what is
returned counts as used.

The vectors must be those of the memory's own embedder. Either let the index use that one (`HindsightEmbedding`), or open
the memory with the index's (`LlamaIndexEmbedder`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.schema import BaseNode
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
    VectorStoreQueryResult,
)

from hindsight_core import Hindsight, MemoryUnit, Status
from hindsight_core.engine import opened
from hindsight_core.errors import InvalidInput
from hindsight_core.scope import covers
from hindsight_llamaindex.filters import Where, both, where_of
from hindsight_llamaindex.nodes import IS_NODE, item_of, node_of, scored_nodes

_MODES = (VectorStoreQueryMode.DEFAULT, VectorStoreQueryMode.HYBRID, VectorStoreQueryMode.SEMANTIC_HYBRID)
_IDS = 1000


class HindsightVectorStore(BasePydanticVectorStore):
    """Nodes as memories.

    Args:
        memory: The handle whose scope holds the nodes.
        settings: The fields below.
    """

    stores_text: bool = True
    is_embedding_query: bool = True
    flat_metadata: bool = False
    floor: float | None = Field(
        default=None,
        description="Least relevance of a result; None returns the best there is, as vector stores do.",
    )
    timestamp_key: str = Field(default="timestamp", description="Metadata key that dates a node.")

    _memory: Hindsight = PrivateAttr()

    def __init__(self, memory: Hindsight, **settings: Any) -> None:
        super().__init__(**settings)
        self._memory = opened(memory)

    @classmethod
    def class_name(cls) -> str:
        """Name of the class in serialised form."""
        return "HindsightVectorStore"

    @property
    def client(self) -> Hindsight:
        """The memory."""
        return self._memory

    def add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:
        """Keep nodes, each under its id; one kept before is replaced. Returns the ids.

        Raises:
            InvalidInput: A vector that is not of the memory's embedder, or a node without text; nothing was kept.
        """
        keep_nodes(self._memory, nodes, timestamp_key=self.timestamp_key)
        return [node.node_id for node in nodes]

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        """Recall; similarities are relevances, see `nodes`.

        Raises:
            InvalidInput: A mode other than default and hybrid, or a filter that cannot be met.
        """
        if query.mode not in _MODES:
            known = ", ".join(mode.value for mode in _MODES)
            raise InvalidInput(f"the query mode {query.mode!r} is not supported; modes are {known}")
        hybrid = query.mode is not VectorStoreQueryMode.DEFAULT
        hits = self._memory.recall(
            query.query_str or "",
            k=query.hybrid_top_k if hybrid and query.hybrid_top_k is not None else query.similarity_top_k,
            where=both(
                _among("document", query.doc_ids), _among("id", query.node_ids), where_of(query.filters)
            ),
            vector=query.query_embedding if self._memory.parts.embedder is not None else None,
            floor=self.floor,
        )
        self._memory.use(hits)
        found = scored_nodes(hits)
        return VectorStoreQueryResult(
            nodes=[scored.node for scored in found],
            similarities=[scored.score or 0.0 for scored in found],
            ids=[scored.node.node_id for scored in found],
        )

    def get_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None
    ) -> list[BaseNode]:
        """Nodes by id, by filter or both; all of them when neither is given. In order of arrival."""
        units = [unit for where in _wheres(node_ids, filters) for unit in self._memory.find(where=where)]
        return [node_of(unit) for unit in sorted(units, key=lambda unit: unit.seq)]

    def delete(self, ref_doc_id: str, **delete_kwargs: Any) -> None:
        """Forget the nodes of a document, and the document itself where it was added whole."""
        self._forget([{"$or": [{"document": ref_doc_id}, {"id": ref_doc_id}]}])

    def delete_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None, **delete_kwargs: Any
    ) -> None:
        """Forget nodes by id, by filter or both; nothing when neither is given."""
        if node_ids is not None or (filters is not None and filters.filters):
            self._forget(_wheres(node_ids, filters))

    def clear(self) -> None:
        """Forget every node; memories that never were nodes stay."""
        self._forget([IS_NODE])

    def _forget(self, wheres: Sequence[Where | None]) -> None:
        scope = self._memory.scope
        found: list[MemoryUnit] = [
            unit
            for where in wheres
            for status in Status
            for unit in self._memory.find(where=where, status=status, scope=scope)
            if covers(scope, unit.scope)
        ]
        self._memory.keep([], drop=[unit.key for unit in found])

    # -- the same, off the event loop ------------------------------------------------------------------------

    async def async_add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:
        """As `add`."""
        return await asyncio.to_thread(self.add, nodes, **kwargs)

    async def aquery(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        """As `query`."""
        return await asyncio.to_thread(self.query, query, **kwargs)

    async def aget_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None
    ) -> list[BaseNode]:
        """As `get_nodes`."""
        return await asyncio.to_thread(self.get_nodes, node_ids, filters)

    async def adelete(self, ref_doc_id: str, **delete_kwargs: Any) -> None:
        """As `delete`."""
        await asyncio.to_thread(self.delete, ref_doc_id)

    async def adelete_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None, **delete_kwargs: Any
    ) -> None:
        """As `delete_nodes`."""
        await asyncio.to_thread(self.delete_nodes, node_ids, filters)

    async def aclear(self) -> None:
        """As `clear`."""
        await asyncio.to_thread(self.clear)


def keep_nodes(memory: Hindsight, nodes: Sequence[BaseNode], *, timestamp_key: str) -> None:
    """Keep nodes as memories with the vectors they come with.

    Raises:
        InvalidInput: A vector of another length than the embedder's, or a node without text; nothing was kept.
    """
    embedder = memory.parts.embedder
    vectors = None if embedder is None else [node.embedding for node in nodes]
    for vector in vectors or []:
        if embedder is not None and vector is not None and len(vector) != embedder.dimension:
            raise InvalidInput(
                f"nodes come with vectors of {len(vector)} numbers, the memory's embedder makes {embedder.dimension}: let "
                "the index embed with HindsightEmbedding(memory), or open the memory with "
                "embedder=LlamaIndexEmbedder(embed_model)"
            )
    memory.keep([item_of(node, timestamp_key=timestamp_key) for node in nodes], vectors=vectors)


def _among(field: str, values: Sequence[str] | None) -> Where | None:
    """Restriction to values; none at all means no restriction, since an index passes an empty list for that."""
    return {field: {"$in": list(values)}} if values else None


def _wheres(node_ids: Sequence[str] | None, filters: MetadataFilters | None) -> list[Where | None]:
    """One filter for each portion of ids."""
    rest = where_of(filters)
    if node_ids is None:
        return [rest]
    return [both(part, rest) for part in _portions(node_ids)]


def _portions(node_ids: Sequence[str]) -> Iterator[Where | None]:
    distinct = list(dict.fromkeys(node_ids))
    for start in range(0, len(distinct), _IDS):
        yield _among("id", distinct[start : start + _IDS])
