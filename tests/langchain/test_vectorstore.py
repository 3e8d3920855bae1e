"""The vector store: the standard suite as it is, and what users of one notice beyond it."""

import copy
import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("langchain_tests", reason="needs langchain-tests")

from langchain_core.documents import Document
from langchain_core.documents.compressor import BaseDocumentCompressor
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.tools import create_retriever_tool
from langchain_tests.integration_tests import VectorStoreIntegrationTests

from hindsight_core.embedding import HashEmbedder
from hindsight_core.errors import EmbedderMismatch, InvalidInput
from hindsight_langchain import HindsightVectorStore, LangChainEmbedder

DOCUMENTS = [
    Document(
        "The Kestrel gateway listens on port 7421.", metadata={"project": "kestrel", "year": 2031}, id="port"
    ),
    Document(
        "Kestrel 网关由 Mira 维护。",
        metadata={"project": "kestrel", "year": 2030, "tags": ["运维"]},
        id="owner",
    ),
    Document("Osprey is retired.", metadata={"project": "osprey", "nested": {"level": 2}}, id="osprey"),
]


class Words(Embeddings):
    """The engine's test embedder, the other way round."""

    def embed_documents(self, texts):
        return HashEmbedder().embed_documents(texts).tolist()

    def embed_query(self, text):
        return HashEmbedder().embed_query(text).tolist()


class First(BaseDocumentCompressor):
    """Keeps the first document."""

    def compress_documents(self, documents, query, callbacks=None):
        return documents[:1]


class TestStandard(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, open_memory):
        return HindsightVectorStore(
            open_memory(":memory:", embedder=LangChainEmbedder(self.get_embeddings()))
        )


@pytest.fixture
def store(memory):
    store = HindsightVectorStore(memory)
    store.add_documents(DOCUMENTS)
    return store


def ids(documents):
    return [document.id for document in documents]


def test_all_k_come_back_best_first_with_relevance(store):
    found = store.similarity_search_with_score("Kestrel gateway port", k=3)
    assert found[0][0] == DOCUMENTS[0]
    assert len(found) == 3
    assert all(0.0 <= relevance <= 1.0 for _, relevance in found)
    assert store.similarity_search_with_relevance_scores("Kestrel gateway port", k=3) == found


async def test_a_threshold_limits_what_comes_back(store):
    sure = store.similarity_search_with_score("Kestrel gateway port", k=3)[0][1]
    wanted = {"k": 3, "score_threshold": sure}
    assert ids(store.similarity_search("Kestrel gateway port", **wanted)) == ["port"]
    retriever = store.as_retriever(search_type="similarity_score_threshold", search_kwargs=wanted)
    assert ids(retriever.invoke("Kestrel gateway port")) == ["port"]
    assert ids(await retriever.ainvoke("Kestrel gateway port")) == ["port"]


@pytest.mark.parametrize(
    ("filter", "wanted"),
    [
        ({"project": "kestrel"}, {"port", "owner"}),
        ({"metadata.project": "osprey"}, {"osprey"}),
        ({"year": {"$gte": 2031}}, {"port"}),
        ({"tags": "运维"}, {"owner"}),
        ({"nested": {"level": 2}}, {"osprey"}),
        ({"nested.level": 2}, {"osprey"}),
        ({"$or": [{"year": 2030}, {"$not": {"project": "kestrel"}}]}, {"owner", "osprey"}),
        ({"project": {"$in": ["osprey", "heron"]}}, {"osprey"}),
        ({"missing": "x"}, set()),
    ],
)
async def test_filters_ask_for_metadata(store, filter, wanted):
    assert set(ids(store.similarity_search("gateway 网关", k=5, filter=filter))) == wanted
    assert set(ids(await store.asimilarity_search("gateway 网关", k=5, filter=filter))) == wanted


@pytest.mark.parametrize(
    ("call", "names"),
    [
        ({"filter": lambda document: True}, "function"),
        ({"filter": {"$near": 1}}, "near"),
        ({"fliter": {"a": 1}}, "fliter"),
        ({"k": -1}, "k must"),
    ],
)
def test_what_cannot_be_done_is_said(store, call, names):
    with pytest.raises(InvalidInput, match=names):
        store.similarity_search("gateway", **call)


def test_equal_texts_and_long_ones_stay_documents_of_their_own(memory):
    store = HindsightVectorStore(memory)
    long = "The kettle boils at noon. " * 300
    named = store.add_texts([long, long, "ok"], [{"n": 1}, {"n": 2}, {"n": 3}])
    assert len(set(named)) == 3
    assert [d.metadata["n"] for d in store.get_by_ids(named)] == [1, 2, 3]
    assert store.get_by_ids(named)[0].page_content == long
    with pytest.raises(InvalidInput, match="2 texts"):
        store.add_texts(["a", "b"], [{}])


def test_by_vector_and_by_diversity(store):
    vector = HashEmbedder().embed_query("Osprey is retired").tolist()
    assert ids(store.similarity_search_by_vector(vector, k=1)) == ["osprey"]
    store.add_texts(["The Kestrel gateway listens on port 7421!"], ids=["again"])
    question = "Kestrel gateway port"
    assert set(ids(store.similarity_search(question, k=2))) == {"port", "again"}
    diverse = ids(store.max_marginal_relevance_search(question, k=2, lambda_mult=0.1))
    assert len({"port", "again"} & set(diverse)) == 1
    asked = HashEmbedder().embed_query(question).tolist()
    assert len(store.max_marginal_relevance_search_by_vector(asked, k=2, fetch_k=3)) == 2
    assert len(store.as_retriever(search_type="mmr", search_kwargs={"k": 2}).invoke(question)) == 2


def test_without_an_embedder_words_still_find(open_memory):
    store = HindsightVectorStore(open_memory(embedder=None))
    store.add_documents(DOCUMENTS)
    assert ids(store.similarity_search("Kestrel 网关", k=1)) == ["owner"]
    with pytest.raises(InvalidInput, match="embedder"):
        store.max_marginal_relevance_search("Kestrel")


def test_delete_some_and_all(store, memory):
    assert store.delete(["port", "missing"]) is True
    assert store.get_by_ids(["port", "owner"]) == [DOCUMENTS[1]]
    memory.within("else").remember("stays below? no: it is cleared with the scope")
    store.delete()
    assert memory.stats()["memories"] == 0


async def test_tenants_do_not_see_each_other(memory):
    store = HindsightVectorStore(memory)
    for user in ("u1", "u2"):
        store.add_texts([f"My favourite colour is {user}"], ids=["c"], scope=user)
    assert [d.page_content for d in store.similarity_search("favourite colour", scope="u2")] == [
        "My favourite colour is u2"
    ]
    store.delete(scope="u1")
    assert memory.scopes() == {("u", "u2"): 1}


def test_from_documents_opens_a_memory_with_the_embeddings(tmp_path):
    store = HindsightVectorStore.from_documents(DOCUMENTS, Words(), path=str(tmp_path / "m.db"), scope="kb")
    assert isinstance(store.embeddings, Words)
    assert store.memory.parts.embedder.fingerprint == "langchain/Words/256"
    assert store.similarity_search("Kestrel gateway port", k=1) == DOCUMENTS[:1]
    store.memory.close()
    with pytest.raises(EmbedderMismatch, match="langchain/Words/256"):
        HindsightVectorStore.from_texts([], DeterministicFakeEmbedding(size=8), path=str(tmp_path / "m.db"))


def test_the_embedder_bridge_scales_and_names(open_memory):
    class Model(Words):
        model_name = "acme/embed-3"

        def embed_documents(self, texts):
            return [[7 * x for x in row] for row in super().embed_documents(texts)]

    bridge = LangChainEmbedder(Model())
    assert bridge.fingerprint == "langchain/Model/acme/embed-3/256"
    assert LangChainEmbedder(Model(), name="mine@1").fingerprint == "mine@1"
    np.testing.assert_allclose(np.linalg.norm(bridge.embed_documents(["a", "水"]), axis=1), 1.0, atol=1e-6)
    assert bridge.embed_documents([]).shape == (0, 256)
    assert bridge.embed_query("a").dtype == np.float32


def test_it_serves_the_legacy_vector_store_memory(memory):
    legacy = pytest.importorskip("langchain_classic.memory", reason="needs langchain-classic")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        old = legacy.VectorStoreRetrieverMemory(
            retriever=HindsightVectorStore(memory).as_retriever(search_kwargs={"k": 1})
        )
    old.save_context({"input": "My favourite food is pizza"}, {"output": "noted"})
    old.save_context({"input": "我的桌子在 14 号房间"}, {"output": "好的"})
    assert "pizza" in old.load_memory_variables({"prompt": "what food do I like?"})["history"]
    assert "14" in old.load_memory_variables({"prompt": "我的桌子在哪里?"})["history"]


def test_it_serves_ensembles_compression_and_tools(store):
    classic = pytest.importorskip("langchain_classic.retrievers", reason="needs langchain-classic")

    retriever = store.as_retriever(search_kwargs={"k": 2})
    question = "Kestrel gateway port"
    ensemble = classic.EnsembleRetriever(retrievers=[retriever, retriever], weights=[0.5, 0.5])
    assert ids(ensemble.invoke(question))[0] == "port"
    filtering = classic.ContextualCompressionRetriever(base_compressor=First(), base_retriever=retriever)
    assert ids(filtering.invoke(question)) == ["port"]
    tool = create_retriever_tool(
        retriever, "look_up", "Looks up facts.", response_format="content_and_artifact"
    )
    call = {"type": "tool_call", "id": "1", "name": "look_up", "args": {"query": question}}
    assert tool.invoke(call).artifact[0] == DOCUMENTS[0]


async def test_async_leaves_the_loop_free(open_memory, needs_loop):
    store = HindsightVectorStore(open_memory(embedder=needs_loop))
    await store.aadd_documents(DOCUMENTS)
    async with needs_loop.beating():
        found = await store.asimilarity_search_with_score("Kestrel gateway port", k=1)
    assert found[0][0] == DOCUMENTS[0]
    assert store.similarity_search("Kestrel gateway port", k=1) == DOCUMENTS[:1]


def test_use_is_counted_unless_switched_off(memory):
    store = HindsightVectorStore(memory, reinforce=False)
    store.add_documents(DOCUMENTS)
    store.similarity_search("Kestrel gateway port", k=1)
    assert memory.get("port").access_count == 0
    HindsightVectorStore(memory).max_marginal_relevance_search("Kestrel gateway port", k=1)
    assert memory.get("port").access_count == 1
    assert memory.get("osprey").access_count == 0


def test_copies_share_the_memory(store):
    assert copy.deepcopy(store).memory is store.memory
    with pytest.raises(InvalidInput, match="open the file again"):
        pickle.dumps(store)
