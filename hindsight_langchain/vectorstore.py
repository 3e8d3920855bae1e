"""`HindsightVectorStore`: a memory behind LangChain's vector store interface.

    store = HindsightVectorStore.from_documents(documents, embeddings, path="agent.db")
    store.similarity_search_with_score("How should I answer?", k=4, filter={"project": "kestrel"})

What is added stays a document of its own: it is neither split nor merged, its id is the memory's id, its metadata comes
back as given. What is found is ranked along all four paths; the number given with a document is its absolute relevance in
0..1. As the interface promises k documents, all k come back however little they have to do with the question; a
`score_threshold` sets a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from langchain_core.vectorstores.utils import maximal_marginal_relevance

from hindsight_core import Hindsight, Hits
from hindsight_core.engine import opened
from hindsight_core.errors import InvalidInput
from hindsight_core.filters import OPERATORS
from hindsight_langchain._documents import Segments, as_stored, narrowed, segments
from hindsight_langchain.bridges import LangChainEmbedder

Filter = Mapping[str, Any] | None


class HindsightVectorStore(VectorStore):
    """Documents kept as memories; every search takes `k`, `filter`, `scope` and `score_threshold`.

    A `filter` asks for metadata: {"project": "kestrel"}, {"year": {"$gte": 2030}}, with $and, $or and $not around.

    Args:
        memory: Where documents are kept.
        reinforce: Count what is found as used.
    """

    def __init__(self, memory: Hindsight, *, reinforce: bool = True) -> None:
        self.memory = opened(memory)
        self.reinforce = reinforce

    @property
    def embeddings(self) -> Embeddings | None:
        """The LangChain embeddings the memory was opened with, if it was."""
        embedder = self.memory.parts.embedder
        return embedder.embeddings if isinstance(embedder, LangChainEmbedder) else None

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        path: str = ":memory:",
        scope: str | Iterable[str] = "default",
        **options: Any,
    ) -> HindsightVectorStore:
        """Open a memory with these embeddings (None: the bundled ones) and add texts to it; options go to `open`."""
        embedder = "auto" if embedding is None else LangChainEmbedder(embedding)
        store = cls(Hindsight.open(path, scope, embedder=embedder, **options))
        store.add_texts(texts, metadatas, ids=ids)
        return store

    # -- documents -------------------------------------------------------------------------------------------

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        scope: Segments = None,
        **kwargs: Any,
    ) -> list[str]:
        """Keep texts in one transaction; an id already there is replaced. Returns the ids, new ones where none is given."""
        given = list(texts)
        about = metadatas if metadatas is not None else [{}] * len(given)
        named = ids if ids is not None else [None] * len(given)
        if not len(given) == len(about) == len(named):
            raise InvalidInput(f"{len(given)} texts came with {len(about)} metadatas and {len(named)} ids")
        parts = self.memory.parts
        chosen = [parts.new_id(parts.clock.now()) if id is None else str(id) for id in named]
        self._handle(scope).keep(
            {"text": text, "id": id, "metadata": metadata}
            for text, id, metadata in zip(given, chosen, about, strict=True)
        )
        return chosen

    def delete(self, ids: list[str] | None = None, *, scope: Segments = None, **kwargs: Any) -> bool:
        """Forget documents by id, all of them for None; ids not there are passed over."""
        handle = self._handle(scope)
        if ids is None:
            handle.clear()
        else:
            handle.keep([], drop=ids)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The documents that are there, in the order of the ids."""
        wanted = [str(id) for id in dict.fromkeys(ids)]
        found = {unit.id: unit for unit in self.memory.find(where={"id": {"$in": wanted}})} if wanted else {}
        return [as_stored(found[id]) for id in wanted if id in found]

    # -- search ----------------------------------------------------------------------------------------------

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """The k best documents for a question."""
        return [as_stored(hit.unit) for hit in self._search(query, k, **kwargs)]

    def similarity_search_with_score(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """The k best documents, each with its relevance."""
        return [(as_stored(hit.unit), hit.relevance) for hit in self._search(query, k, **kwargs)]

    def similarity_search_by_vector(
        self, embedding: list[float], k: int = 4, **kwargs: Any
    ) -> list[Document]:
        """The k best documents for a question's vector."""
        return [as_stored(hit.unit) for hit in self._search("", k, vector=embedding, **kwargs)]

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """Of the best `fetch_k` documents, k that differ from each other."""
        embedder = self.memory.parts.embedder
        if embedder is None:
            raise InvalidInput("diversity is a matter of vectors; open the memory with an embedder")
        return self._diverse(query, embedder.embed_query(query), k, fetch_k, lambda_mult, **kwargs)

    def max_marginal_relevance_search_by_vector(
        self, embedding: list[float], k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """As `max_marginal_relevance_search`, for a question's vector."""
        return self._diverse("", embedding, k, fetch_k, lambda_mult, **kwargs)

    def _diverse(
        self, query: str, vector: Any, k: int, fetch_k: int, lambda_mult: float, **kwargs: Any
    ) -> list[Document]:
        hits = self._search(query, max(k, fetch_k), vector=vector, use=False, **kwargs)
        units = [hit.unit for hit in hits]
        pairs = [(i, v) for i, v in enumerate(self.memory.vectors(units)) if v is not None]
        if not pairs:
            return []
        asked = np.asarray(vector, dtype=np.float32)
        chosen = maximal_marginal_relevance(asked, [v.tolist() for _, v in pairs], lambda_mult, k)
        picked = [pairs[place][0] for place in chosen]
        self._used(hits.only(lambda hit: hit.unit.key in {units[i].key for i in picked}))
        return [as_stored(units[i]) for i in picked]

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return lambda relevance: relevance  # the score is the relevance already

    def _search(
        self,
        query: str,
        k: int,
        *,
        filter: Filter = None,
        scope: Segments = None,
        score_threshold: float | None = None,
        vector: Any = None,
        use: bool = True,
        **unknown: Any,
    ) -> Hits:
        if unknown:
            raise InvalidInput(
                f"a search takes k, filter, scope and score_threshold, not {', '.join(sorted(unknown))}"
            )
        hits = self._handle(scope).recall(
            query,
            k=k,
            where=about_metadata(filter) if filter else None,
            floor=score_threshold,
            vector=vector,
            fill=score_threshold is None,
        )
        if use:
            self._used(hits)
        return hits

    def _used(self, hits: Hits) -> None:
        if self.reinforce:
            self.memory.use(hits)

    def _handle(self, scope: Segments) -> Hindsight:
        return narrowed(self.memory, *segments(scope))


def about_metadata(filter: Mapping[str, Any]) -> dict[str, Any]:
    """A filter over metadata keys as one of the engine's language.

    Raises:
        InvalidInput: It is not a mapping, such as the functions that LangChain's in-memory store takes.
    """
    if not isinstance(filter, Mapping):
        raise InvalidInput(
            f"a filter is a dict such as {{'project': 'kestrel'}}, not a {type(filter).__name__}"
        )
    found: dict[str, Any] = {}
    for name, wanted in filter.items():
        if name in ("$and", "$or"):
            found[name] = [about_metadata(part) for part in wanted]
        elif name == "$not":
            found[name] = about_metadata(wanted)
        elif name.startswith("$"):
            raise InvalidInput(f"unknown operator {name}; around filters there are $and, $or and $not")
        elif isinstance(wanted, Mapping) and not set(wanted) <= set(OPERATORS):
            found |= about_metadata({f"{name}.{inner}": value for inner, value in wanted.items()})
        else:
            found[name if name.startswith("metadata.") else f"metadata.{name}"] = wanted
    return found
