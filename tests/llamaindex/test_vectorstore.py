"""The vector store by itself, under an index, in an ingestion pipeline and in the stock memory."""

import pytest

pytest.importorskip("llama_index.core", reason="needs llama-index-core")
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.llms import ChatMessage, MockLLM
from llama_index.core.memory import Memory, VectorMemoryBlock
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores.types import (
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
)

from hindsight_core.errors import InvalidInput
from hindsight_llamaindex import HindsightEmbedding, HindsightVectorStore, vectorstore

TEXTS = {"mill": "The mill stands still.", "bees": "Tobias keeps bees.", "tea": "林岚喜欢喝龙井茶。"}


def node(id, text=None, document=None, **metadata):
    relationships = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=document)} if document else {}
    return TextNode(id_=id, text=text or TEXTS[id], metadata=metadata, relationships=relationships)


def ids(nodes):
    return [getattr(one, "node", one).node_id for one in nodes]


def only(key, value, operator=FilterOperator.EQ):
    return MetadataFilters(filters=[MetadataFilter(key=key, value=value, operator=operator)])


@pytest.fixture
def store(memory):
    return HindsightVectorStore(memory)


@pytest.fixture
def index(store, memory):
    index = VectorStoreIndex.from_vector_store(store, embed_model=HindsightEmbedding(memory))
    index.insert_nodes([node("mill", document="d1", topic="mill"), node("bees", document="d2"), node("tea")])
    return index


# -- by itself -------------------------------------------------------------------------------------------------


def test_nodes_are_kept_with_the_vector_they_come_with(store, memory):
    vector = memory.parts.embedder.embed_query("something else entirely").tolist()
    given = node("mill")
    given.embedding = vector
    assert store.add([given, node("bees")]) == ["mill", "bees"]
    kept, made = memory.vectors([memory.get("mill"), memory.get("bees")])
    assert kept.tolist() == pytest.approx(vector, abs=1e-6)
    assert made is not None
    assert given.embedding == vector


def test_a_query_by_vector_alone_and_with_text(store, memory):
    store.add([node(id) for id in TEXTS])
    vector = memory.parts.embedder.embed_query("Tobias keeps bees").tolist()
    for text in (None, "Who keeps bees?"):
        found = store.query(VectorStoreQuery(query_embedding=vector, query_str=text, similarity_top_k=2))
        assert found.ids[0] == found.nodes[0].node_id == "bees"
        assert found.similarities == sorted(found.similarities, reverse=True)
    assert memory.get("bees").access_count == 1


@pytest.mark.parametrize("mode", [VectorStoreQueryMode.HYBRID, VectorStoreQueryMode.SEMANTIC_HYBRID])
def test_hybrid_modes_have_their_own_count(store, mode):
    store.add([node(id, f"bees number {id}") for id in "abcd"])
    query = VectorStoreQuery(query_str="bees", similarity_top_k=1, hybrid_top_k=3, mode=mode)
    assert len(store.query(query).ids) == 3


@pytest.mark.parametrize(
    "mode", [VectorStoreQueryMode.MMR, VectorStoreQueryMode.SVM, VectorStoreQueryMode.SPARSE]
)
def test_another_mode_is_refused(store, mode):
    with pytest.raises(InvalidInput, match="modes are default, hybrid"):
        store.query(VectorStoreQuery(query_str="bees", mode=mode))


def test_a_query_within_documents_and_nodes(store):
    store.add([node("a", "bees one", "d1"), node("b", "bees two", "d2"), node("c", "bees three", "d2")])

    def found(**narrowed):
        return set(store.query(VectorStoreQuery(query_str="bees", similarity_top_k=9, **narrowed)).ids)

    assert found(doc_ids=["d2"]) == {"b", "c"}
    assert found(node_ids=["a", "c"]) == {"a", "c"}
    assert found(doc_ids=["d2"], node_ids=["a", "c"]) == {"c"}
    assert found(filters=only("ref_doc_id", "d1")) == {"a"}
    assert found(doc_ids=[], node_ids=[]) == {"a", "b", "c"}


def test_the_floor_is_off_by_default_and_can_be_had(memory):
    HindsightVectorStore(memory).add([node("mill")])
    query = VectorStoreQuery(query_str="mill water quark boson lepton", similarity_top_k=3)
    assert HindsightVectorStore(memory).query(query).ids == ["mill"]
    assert HindsightVectorStore(memory, floor=0.99).query(query).ids == []


def test_get_delete_and_clear(store, memory):
    memory.remember("A remark that never was a node.", id="chat")
    nodes = [node("mill", document="d1", topic="x"), node("bees", document="d1"), node("tea", topic="x")]
    store.add(nodes)
    assert store.get_nodes(["tea", "mill"]) == [nodes[0], nodes[2]]
    assert store.get_nodes(filters=only("topic", "x")) == [nodes[0], nodes[2]]
    assert store.get_nodes(["bees"], only("topic", "x")) == []
    assert ids(store.get_nodes()) == ["chat", "mill", "bees", "tea"]
    store.delete("d1")
    store.delete("d1")
    assert ids(store.get_nodes()) == ["chat", "tea"]
    store.add(nodes)
    store.delete_nodes()
    store.delete_nodes(["tea", "missing"])
    store.delete_nodes(filters=only("topic", "x"))
    assert ids(store.get_nodes()) == ["chat", "bees"]
    store.clear()
    assert ids(store.get_nodes()) == ["chat"]


def test_many_ids_are_asked_for_in_portions(store, monkeypatch):
    monkeypatch.setattr(vectorstore, "_IDS", 3)
    nodes = [node(f"n{i}", f"Lamp {i}.") for i in range(7)]
    store.add(nodes)
    assert store.get_nodes([one.node_id for one in nodes] * 2) == nodes
    store.delete_nodes([one.node_id for one in nodes])
    assert store.get_nodes() == []


def test_deleting_reaches_what_is_archived_or_superseded(store, memory):
    store.add([node("mill", document="d1"), node("bees", document="d1")])
    memory.update("mill", status="archived")
    memory.update("bees", status="superseded")
    store.delete("d1")
    assert memory.stats()["memories"] == 0


def test_adding_again_replaces(store):
    store.add([node("mill", topic="old")])
    store.add([node("mill", "The mill turns again.", topic="new")])
    (found,) = store.get_nodes()
    assert (found.text, found.metadata) == ("The mill turns again.", {"topic": "new"})


@pytest.mark.parametrize("length", [3, 257])
def test_vectors_of_another_model_are_refused_and_nothing_is_kept(store, length):
    given = node("mill")
    given.embedding = [0.1] * length
    with pytest.raises(InvalidInput, match="HindsightEmbedding"):
        store.add([node("bees"), given])
    assert store.get_nodes() == []


def test_without_an_embedder_words_and_names_still_find(open_memory):
    store = HindsightVectorStore(open_memory(embedder=None))
    given = node("bees")
    given.embedding = [0.1, 0.2]
    store.add([given, node("mill")])
    assert store.query(VectorStoreQuery(query_str="bees", query_embedding=[0.3, 0.4])).ids == ["bees"]


def test_scopes_share_nothing(open_memory):
    ours, theirs = (HindsightVectorStore(open_memory(scope=scope)) for scope in ("u1", "u2"))
    ours.add([node("mill", document="d1")])
    theirs.add([node("mill", "Their own mill.", document="d1")])
    theirs.delete("d1")
    theirs.clear()
    assert ids(ours.get_nodes()) == ["mill"]
    assert theirs.get_nodes(["mill"]) == []
    assert theirs.query(VectorStoreQuery(query_str="mill", similarity_top_k=5)).ids == []


def test_what_is_handed_out_and_in_is_copied(store):
    given = node("mill", topic="x")
    store.add([given])
    given.metadata["topic"] = "changed"
    store.get_nodes()[0].metadata["topic"] = "changed, too"
    assert store.get_nodes()[0].metadata == {"topic": "x"}


async def test_the_loop_turns_meanwhile(open_memory, needs_loop):
    store = HindsightVectorStore(open_memory(embedder=needs_loop))
    async with needs_loop.turning():
        assert await store.async_add([node("mill", document="d1"), node("bees"), node("tea", topic="x")])
    async with needs_loop.turning():
        assert (await store.aquery(VectorStoreQuery(query_str="bees"))).ids == ["bees"]
    await store.adelete("d1")
    await store.adelete_nodes(filters=only("topic", "x"))
    assert ids(await store.aget_nodes()) == ["bees"]
    await store.aclear()
    assert await store.aget_nodes() == []


def test_its_place_in_the_framework(store, memory):
    assert store.client is memory
    assert store.class_name() == "HindsightVectorStore"
    assert store.to_dict()["stores_text"] is True


# -- under an index --------------------------------------------------------------------------------------------


async def test_an_index_retrieves_queries_and_chats(index):
    retriever = index.as_retriever(similarity_top_k=2)
    assert ids(retriever.retrieve("Who keeps bees?"))[0] == "bees"
    assert ids(await retriever.aretrieve("林岚喝什么茶?"))[0] == "tea"
    assert "Tobias keeps bees." in str(index.as_query_engine(llm=MockLLM()).query("Who keeps bees?"))
    chat = index.as_chat_engine(
        chat_mode="context", llm=MockLLM(), memory=Memory.from_defaults(token_limit=900)
    )
    assert "Tobias keeps bees." in str(await chat.achat("Who keeps bees?"))
    await chat._memory.sql_store._async_engine.dispose()


def test_an_index_filters_inserts_and_deletes(index, store):
    filtered = index.as_retriever(filters=only("topic", "mill"), similarity_top_k=5)
    assert ids(filtered.retrieve("bees mill")) == ["mill"]
    index.insert(Document(text="Ana keeps hens.", doc_id="d3", metadata={"topic": "hens"}))
    assert "hens" in index.as_retriever(similarity_top_k=1).retrieve("Who keeps hens?")[0].text
    index.delete_ref_doc("d3")
    index.delete_nodes(["tea"])
    assert ids(store.get_nodes()) == ["mill", "bees"]
    index.update_ref_doc(Document(text="Bees dance.", doc_id="d2"))
    assert [found.text for found in store.get_nodes()] == ["The mill stands still.", "Bees dance."]


def test_an_index_built_over_it_from_documents(store, memory):
    VectorStoreIndex.from_documents(
        [Document(text="The mill. " * 300, doc_id="long"), Document(text="水车。", doc_id="short")],
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=HindsightEmbedding(memory),
        transformations=[SentenceSplitter(chunk_size=200, chunk_overlap=0)],
    )
    nodes = store.get_nodes(filters=only("ref_doc_id", "long"))
    assert len(nodes) > 2
    assert nodes[1].prev_node.node_id == nodes[0].node_id
    assert nodes[0].next_node.node_id == nodes[1].node_id
    assert "".join(one.text for one in nodes).count("The mill.") == 300


# -- ingestion -------------------------------------------------------------------------------------------------


def test_a_pipeline_upserts_what_changed_and_skips_the_rest(store, memory):
    pipeline = IngestionPipeline(
        transformations=[SentenceSplitter(), HindsightEmbedding(memory)],
        vector_store=store,
        docstore=SimpleDocumentStore(),
        docstore_strategy=DocstoreStrategy.UPSERTS,
    )
    documents = [Document(text=text, doc_id=id) for id, text in TEXTS.items()]
    assert len(pipeline.run(documents=documents)) == 3
    assert pipeline.run(documents=documents) == []
    documents[0] = Document(text="The mill turns again.", doc_id="mill")
    assert len(pipeline.run(documents=documents)) == 1
    assert {one.text for one in store.get_nodes()} == {"The mill turns again.", TEXTS["bees"], TEXTS["tea"]}


@pytest.mark.parametrize("strategy", list(DocstoreStrategy))
async def test_every_strategy_and_a_pipeline_that_runs_asynchronously(store, memory, strategy):
    pipeline = IngestionPipeline(
        transformations=[HindsightEmbedding(memory)],
        vector_store=store,
        docstore=SimpleDocumentStore(),
        docstore_strategy=strategy,
    )
    documents = [Document(text=text, doc_id=id) for id, text in TEXTS.items()]
    await pipeline.arun(documents=documents)
    await pipeline.arun(
        documents=documents[:2] if strategy is DocstoreStrategy.UPSERTS_AND_DELETE else documents
    )
    left = 2 if strategy is DocstoreStrategy.UPSERTS_AND_DELETE else 3
    assert len(store.get_nodes()) == left


async def test_the_stock_vector_memory_block(store, memory):
    block = VectorMemoryBlock(vector_store=store, embed_model=HindsightEmbedding(memory))
    await block.aput([ChatMessage(role="user", content="My allergy is hazelnuts.")], session_id="s")
    await block.aput([ChatMessage(role="user", content="My allergy is dust.")], session_id="other")
    shown = await block.aget([ChatMessage(role="user", content="What is my allergy?")], session_id="s")
    assert "hazelnuts" in shown
    assert "dust" not in shown
