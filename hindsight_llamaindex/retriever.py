"""`HindsightRetriever`: recall behind LlamaIndex's retriever interface.

    retriever = HindsightRetriever(memory, similarity_top_k=5)
    query_engine = retriever.as_query_engine(llm=llm)

Works wherever a retriever is wanted. The framework hands a retriever no settings per call, so they are attributes and may
be changed between calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import llama_index.core.instrumentation as instrument
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import IndexNode, NodeWithScore, QueryBundle
from llama_index.core.settings import Settings
from llama_index.core.vector_stores.types import MetadataFilters

from hindsight_core import Hindsight
from hindsight_core.engine import opened
from hindsight_core.engine.items import Instant
from hindsight_llamaindex.filters import where_of
from hindsight_llamaindex.nodes import scored_nodes

_dispatcher = instrument.get_dispatcher(__name__)  # type: ignore[attr-defined]


class HindsightRetriever(BaseRetriever):
    """Recalls memories as nodes, best first; what it returns counts as used.

    A node's score is its relevance, 0..1, absolute (see `nodes`).

    Args:
        memory: The handle to recall from.
        similarity_top_k: At most so many nodes.
        filters: Metadata filters; see `filters` for the keys.
        scope: Narrow the scopes that the handle reads.
        since: Only memories dated at or after.
        until: Only memories dated before.
        as_of: Answer by what held at that instant.
        known_at: Answer by what was known at that instant.
        include_history: Also superseded memories, each directly below its successor.
        floor: Least relevance; None returns the best there is. Default: the profile's.
        use_preset_embedding: Take the vector of a query bundle that has one, where its length fits this memory. Switch
            it off where other retrievers with other models see the bundle first: they leave their vectors in it.
        callback_manager: Default: that of `Settings`.
        object_map: As for any retriever: objects that index nodes stand for.
        objects: As for any retriever.
        verbose: As for any retriever.
    """

    def __init__(
        self,
        memory: Hindsight,
        *,
        similarity_top_k: int = 5,
        filters: MetadataFilters | None = None,
        scope: str | Iterable[str] | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        as_of: Instant | None = None,
        known_at: Instant | None = None,
        include_history: bool = False,
        floor: float | str | None = "profile",
        use_preset_embedding: bool = True,
        callback_manager: CallbackManager | None = None,
        object_map: dict[str, Any] | None = None,
        objects: list[IndexNode] | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            callback_manager=callback_manager or Settings.callback_manager,
            object_map=object_map,
            objects=objects,
            verbose=verbose,
        )
        self.memory = opened(memory)
        self.similarity_top_k = similarity_top_k
        self.filters = filters
        self.scope = scope
        self.since = since
        self.until = until
        self.as_of = as_of
        self.known_at = known_at
        self.include_history = include_history
        self.floor = floor
        self.use_preset_embedding = use_preset_embedding

    def as_query_engine(self, **settings: Any) -> RetrieverQueryEngine:
        """A query engine over this retriever; settings as for `RetrieverQueryEngine.from_args` (llm, ...)."""
        return RetrieverQueryEngine.from_args(self, **settings)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = self.memory.recall(
            query_bundle.query_str,
            k=self.similarity_top_k,
            where=where_of(self.filters),
            since=self.since,
            until=self.until,
            scope=self.scope,
            as_of=self.as_of,
            known_at=self.known_at,
            include_history=self.include_history,
            floor=self.floor,
            vector=self._preset(query_bundle),
        )
        self.memory.use(hits)
        return scored_nodes(hits)

    @_dispatcher.span
    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)

    def _preset(self, query_bundle: QueryBundle) -> list[float] | None:
        embedder, vector = self.memory.parts.embedder, query_bundle.embedding
        if not self.use_preset_embedding or embedder is None or vector is None:
            return None
        return vector if len(vector) == embedder.dimension else None
