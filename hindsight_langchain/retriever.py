"""`HindsightRetriever`: recall behind LangChain's retriever interface.

    retriever = HindsightRetriever(memory=Hindsight.open("agent.db", scope="user-42"), k=4)
    retriever.invoke("How should I answer?", k=2, filter={"type": "semantic"})

What is returned counts as used, which is what keeps a memory strong; `reinforce=False` only looks.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever, LangSmithRetrieverParams
from langchain_core.runnables import RunnableConfig
from pydantic import ConfigDict, Field

from hindsight_core import Hindsight, Hits
from hindsight_langchain._documents import Segments, configured, described, narrowed, segments

Instant = datetime | str


class HindsightRetriever(BaseRetriever):
    """Documents that a memory recalls, best first; none when nothing relevant is known.

    All settings but `memory` and `reinforce` may be given per call as well, and then hold for that call:
    `retriever.invoke(question, k=2)`, `retriever.bind(filter=...)`. A document's id is the memory's; its metadata are the
    caller's own and id, timestamp, type, importance, entities, score, relevance and signals. `relevance` is absolute and
    is what `score_threshold` compares with; documents come in the order of `score`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    memory: Hindsight = Field(exclude=True, repr=False)
    """The memory to recall from."""
    k: int = Field(default=5, ge=0)
    """At most so many documents."""
    filter: dict[str, Any] | None = None
    """A filter of the engine, such as {"type": "semantic", "metadata.project": "kestrel"}."""
    scope: str | tuple[str, ...] | None = None
    """Narrow to a scope below the memory's; `config["configurable"]["hindsight_scope"]` goes before it."""
    since: Instant | None = None
    """Only memories dated at or after."""
    until: Instant | None = None
    """Only memories dated before."""
    score_threshold: float | None = Field(default=None, ge=0.0, le=1.0)
    """Least relevance; None for the profile's floor, 0 for no floor."""
    reinforce: bool = True
    """Count what is returned as used."""

    def invoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:
        """Recall; see the class for what may be given per call."""
        return super().invoke(input, config, **self._with_tenant(config, kwargs))

    async def ainvoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        """As `invoke`, off the event loop."""
        return await super().ainvoke(input, config, **self._with_tenant(config, kwargs))

    def _with_tenant(self, config: RunnableConfig | None, kwargs: dict[str, Any]) -> dict[str, Any]:
        """The run's own scope comes first, what is asked for per call or by the constructor lies below it."""
        tenant = configured(config)
        if not tenant:
            return kwargs
        below = kwargs.get("scope")
        return {**kwargs, "scope": (*tenant, *segments(self.scope if below is None else below))}

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        filter: Mapping[str, Any] | None = None,
        scope: Segments = None,
        since: Instant | None = None,
        until: Instant | None = None,
        score_threshold: float | None = None,
        verbose: bool = False,
    ) -> list[Document]:
        handle, asked = self._asked(k, filter, scope, since, until, score_threshold)
        hits = handle.recall(query, **asked)
        if self.reinforce:
            handle.use(hits)
        return [described(hit) for hit in hits]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        filter: Mapping[str, Any] | None = None,
        scope: Segments = None,
        since: Instant | None = None,
        until: Instant | None = None,
        score_threshold: float | None = None,
        verbose: bool = False,
    ) -> list[Document]:
        handle, asked = self._asked(k, filter, scope, since, until, score_threshold)
        hits: Hits = await handle.arecall(query, **asked)
        if self.reinforce:
            await handle.ause(hits)
        return [described(hit) for hit in hits]

    def _asked(
        self,
        k: int | None,
        filter: Mapping[str, Any] | None,
        scope: Segments,
        since: Instant | None,
        until: Instant | None,
        score_threshold: float | None,
    ) -> tuple[Hindsight, dict[str, Any]]:
        """The handle to ask, and how: what the call says, else what the retriever says."""
        below = segments(self.scope if scope is None else scope)
        floor = self.score_threshold if score_threshold is None else score_threshold
        return narrowed(self.memory, *below), {
            "k": self.k if k is None else k,
            "where": self.filter if filter is None else filter,
            "since": self.since if since is None else since,
            "until": self.until if until is None else until,
            "floor": "profile" if floor is None else floor,
        }

    def _get_ls_params(self, **kwargs: Any) -> LangSmithRetrieverParams:
        embedder = self.memory.parts.embedder
        params = LangSmithRetrieverParams(ls_retriever_name="hindsight", ls_vector_store_provider="Hindsight")
        if embedder is not None:
            params["ls_embedding_provider"] = type(embedder).__name__
            params["ls_embedding_model"] = embedder.fingerprint
        return params
