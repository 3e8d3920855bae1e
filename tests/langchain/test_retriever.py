"""The retriever: everything a LangChain user notices about one."""

import asyncio
import copy
import json
import logging
import pickle

import pytest

pytest.importorskip("langchain_tests", reason="needs langchain-tests")

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.load import dumpd
from langchain_core.runnables import ConfigurableField, RunnableLambda, RunnablePassthrough
from langchain_tests.integration_tests import RetrieversIntegrationTests

from hindsight_core.errors import InvalidInput, StoreClosed
from hindsight_langchain import HindsightRetriever

FACTS = [
    {"text": "The Kestrel gateway listens on port 7421.", "id": "port", "memory_type": "semantic",
     "metadata": {"project": "kestrel"}, "timestamp": "2031-05-01", "importance": 0.8},
    {"text": "Kestrel 网关由 Mira 维护。", "id": "owner", "memory_type": "semantic",
     "metadata": {"project": "kestrel"}, "timestamp": "2031-05-10"},
    {"text": "The gateway of Osprey is retired.", "id": "osprey", "memory_type": "episodic",
     "metadata": {"project": "osprey"}, "timestamp": "2031-05-15"},
    {"text": "Lunch was rice with beans.", "id": "lunch", "timestamp": None},
]  # fmt: skip
QUESTION = "Kestrel gateway port"


@pytest.fixture
def filled(memory):
    memory.remember_many(FACTS)
    return memory


@pytest.fixture
def retriever(filled):
    return HindsightRetriever(memory=filled, score_threshold=0.0)


def ids(documents):
    return [document.id for document in documents]


class TestStandard(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _memory(self, filled):
        self.filled = filled

    @property
    def retriever_constructor(self):
        return HindsightRetriever

    @property
    def retriever_constructor_params(self):
        return {"memory": self.filled, "score_threshold": 0.0}

    @property
    def retriever_query_example(self):
        return "gateway 网关 of Kestrel and Osprey"


def test_a_document_carries_everything_and_is_json(retriever, filled):
    document = retriever.invoke(QUESTION)[0]
    unit = filled.get("port")
    assert (document.id, document.page_content) == ("port", unit.content)
    data = json.loads(json.dumps(document.metadata, allow_nan=False))
    assert data["project"] == "kestrel"
    assert (data["id"], data["type"], data["importance"]) == ("port", "semantic", 0.8)
    assert data["timestamp"] == "2031-05-01T00:00:00+00:00"
    assert "Kestrel" in [entity["name"] for entity in data["entities"]]
    assert 0 < data["relevance"] <= 1
    assert 0 < data["score"] <= 1
    assert set(data["signals"]["vector"]) == {"raw", "value", "weighted"}
    assert data["scope"] == ["u"]


def test_best_first_and_ids_stable(retriever):
    first = retriever.invoke(QUESTION)
    assert first[0].id == "port"
    scores = [document.metadata["score"] for document in first]
    assert scores == sorted(scores, reverse=True)
    assert ids(retriever.invoke(QUESTION)) == ids(first)


def test_the_callers_metadata_win_over_ours_and_can_be_changed(memory):
    memory.remember("green tea", metadata={"id": 7, "score": "high", "tags": ["a"]})
    document = HindsightRetriever(memory=memory).invoke("green tea")[0]
    assert (document.metadata["id"], document.metadata["score"]) == (7, "high")
    document.metadata["tags"].append("b")
    assert memory.find()[0].metadata["tags"] == ["a"]


def test_without_a_vector_signals_are_still_json(open_memory):
    memory = open_memory(embedder=None)
    memory.remember("green tea")
    document = HindsightRetriever(memory=memory).invoke("green tea")[0]
    assert document.metadata["signals"]["vector"]["raw"] is None
    json.dumps(document.metadata, allow_nan=False)


def test_earlier_values_come_along(memory):
    memory.remember("My desk is in room 12.", speaker="user", timestamp="2031-01-01")
    memory.remember("My desk is now in room 14.", speaker="user", timestamp="2031-03-01")
    found = HindsightRetriever(memory=memory, score_threshold=0.0).invoke("Where is my desk?")
    texts = {document.page_content: document.metadata.get("previously") for document in found}
    assert texts == {"My desk is now in room 14.": ["My desk is in room 12."]}


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ({"k": 1}, {"port"}),
        ({"k": 0}, set()),
        ({"filter": {"metadata.project": "osprey"}}, {"osprey"}),
        ({"filter": {"type": "semantic"}, "k": 9}, {"port", "owner"}),
        ({"since": "2031-05-12"}, {"osprey"}),
        ({"until": "2031-05-05"}, {"port"}),
        ({"score_threshold": 1.0}, set()),
    ],
)
async def test_settings_hold_for_constructor_call_bind_and_batch_alike(filled, call, wanted):
    base = {"memory": filled, "score_threshold": 0.0, "reinforce": False}
    plain = HindsightRetriever(**base)
    built = HindsightRetriever(**{**base, **call})
    found = [
        built.invoke(QUESTION),
        plain.invoke(QUESTION, **call),
        await plain.ainvoke(QUESTION, **call),
        plain.bind(**call).invoke(QUESTION),
        await plain.bind(**call).ainvoke(QUESTION),
        *plain.batch([QUESTION, QUESTION], **call),
        *await plain.abatch([QUESTION], **call),
        *plain.stream(QUESTION, **call),
    ]
    assert all(documents == found[0] for documents in found)
    assert set(ids(found[0])) == wanted


def test_an_unknown_setting_is_an_error_not_silence(filled, retriever):
    with pytest.raises(ValueError, match="filters"):
        HindsightRetriever(memory=filled, filters={"type": "semantic"})
    with pytest.raises(TypeError, match="filters"):
        retriever.invoke(QUESTION, filters={"type": "semantic"})
    with pytest.raises(InvalidInput, match="unknown filter field"):
        retriever.invoke(QUESTION, filter={"colour": "red"})


def test_nothing_known_gives_nothing(open_memory, filled):
    assert HindsightRetriever(memory=open_memory(":memory:")).invoke("anything") == []
    assert HindsightRetriever(memory=filled).invoke("  ") == []


def test_off_topic_gives_nothing_by_the_profiles_floor(filled):
    assert HindsightRetriever(memory=filled).invoke("zebra crossing violin") == []


def test_equal_texts_are_two_documents(memory):
    memory.remember_many(
        [{"text": "The build is green.", "id": a, "timestamp": t, "memory_type": k}
         for a, t, k in (("a", "2031-01-01", "episodic"), ("b", "2031-02-01", "semantic"))]
    )  # fmt: skip
    found = HindsightRetriever(memory=memory).invoke("Is the build green?")
    assert {(d.id, d.metadata["timestamp"][:10], d.metadata["type"]) for d in found} == {
        ("a", "2031-01-01", "episodic"),
        ("b", "2031-02-01", "semantic"),
    }


def test_equal_texts_stay_apart_in_an_ensemble(memory):
    ensemble = pytest.importorskip(
        "langchain_classic.retrievers", reason="needs langchain-classic"
    ).EnsembleRetriever
    memory.remember_many([{"text": "The build is green.", "id": i} for i in "ab"])
    one = HindsightRetriever(memory=memory)
    other = HindsightRetriever(memory=memory.within("else"))
    memory.within("else").remember("The build is green.", id="c")
    both = ensemble(retrievers=[one, other], weights=[0.5, 0.5], id_key="id")
    assert set(ids(both.invoke("Is the build green?"))) == {"a", "b", "c"}


def test_compression_works_on_it(retriever):
    classic = pytest.importorskip("langchain_classic.retrievers", reason="needs langchain-classic")
    from langchain_core.documents.compressor import BaseDocumentCompressor

    class First(BaseDocumentCompressor):
        def compress_documents(self, documents, query, callbacks=None):
            return documents[:1]

    compressing = classic.ContextualCompressionRetriever(base_compressor=First(), base_retriever=retriever)
    assert ids(compressing.invoke(QUESTION)) == ["port"]


def test_configurable_fields_keep_the_engine(retriever):
    configurable = retriever.configurable_fields(k=ConfigurableField(id="k"))
    assert len(configurable.invoke(QUESTION, config={"configurable": {"k": 1}})) == 1
    assert len(configurable.invoke(QUESTION)) > 1


async def test_a_run_sees_the_scope_it_names_and_no_other(memory):
    for user, colour in (("u1", "blue"), ("u2", "red")):
        memory.within(user).remember(f"My favourite colour is {colour}.", session="s")
    retriever = HindsightRetriever(memory=memory, score_threshold=0.0)
    chain = RunnablePassthrough() | retriever | RunnableLambda(lambda found: [d.page_content for d in found])
    for user, colour in (("u1", "blue"), ("u2", "red")):
        config = {"configurable": {"hindsight_scope": user}}
        for found in (
            [d.page_content for d in retriever.invoke("favourite colour", config)],
            [d.page_content for d in await retriever.ainvoke("favourite colour", config)],
            [d.page_content for d in retriever.batch(["favourite colour"], config)[0]],
            [d.page_content for d in retriever.invoke("favourite colour", scope=user)],
            chain.invoke("favourite colour", config),
            await chain.ainvoke("favourite colour", config),
        ):
            assert found == [f"My favourite colour is {colour}."]
    below = retriever.invoke("favourite colour", {"configurable": {"hindsight_scope": "u1"}}, scope="u2")
    assert below == []
    with pytest.raises(InvalidInput, match="scope"):
        retriever.invoke("favourite colour", {"configurable": {"hindsight_scope": ""}})


def test_a_scope_below_another_is_not_a_prefix_of_letters(memory):
    memory.within("u1").remember("My favourite colour is blue.")
    assert HindsightRetriever(memory=memory, scope="u", score_threshold=0.0).invoke("favourite colour") == []


def test_what_is_returned_counts_as_used_once_an_hour(filled, retriever, clock):
    for _ in range(3):
        retriever.invoke(QUESTION, k=1)
    assert filled.get("port").access_count == 1
    clock.advance(hours=2)
    retriever.invoke(QUESTION, k=1)
    assert filled.get("port").access_count == 2
    clock.advance(hours=2)
    HindsightRetriever(memory=filled, reinforce=False).invoke(QUESTION)
    assert filled.get("port").access_count == 2


class Events(BaseCallbackHandler):
    def __init__(self):
        self.seen = []

    def on_retriever_start(self, serialized, query, *, tags=None, metadata=None, name=None, **kwargs):
        self.seen.append(("start", name, tags, metadata))

    def on_retriever_end(self, documents, **kwargs):
        self.seen.append(("end", len(documents)))

    def on_retriever_error(self, error, **kwargs):
        self.seen.append(("error", type(error)))


def test_callbacks_tags_and_tracing_params(filled):
    events = Events()
    retriever = HindsightRetriever(memory=filled, tags=["t"], metadata={"m": 1}, k=1)
    retriever.invoke(QUESTION, {"callbacks": [events], "run_name": "look up"})
    (_, name, tags, metadata), end = events.seen
    assert (name, tags, end) == ("look up", ["t"], ("end", 1))
    assert metadata["m"] == 1
    assert metadata["ls_retriever_name"] == "hindsight"
    assert metadata["ls_vector_store_provider"] == "Hindsight"
    assert metadata["ls_embedding_provider"] == "HashEmbedder"


async def test_errors_are_raised_and_reported(open_memory):
    memory = open_memory()
    memory.remember("green tea")
    memory.close()
    retriever = HindsightRetriever(memory=memory)
    events = Events()
    with pytest.raises(StoreClosed):
        retriever.invoke("green tea", {"callbacks": [events]})
    with pytest.raises(StoreClosed):
        await retriever.ainvoke("green tea", {"callbacks": [events]})
    assert [event for event in events.seen if event[0] == "error"] == [("error", StoreClosed)] * 2


async def test_async_gives_the_same_and_leaves_the_loop_free(open_memory, needs_loop):
    memory = open_memory(embedder=needs_loop)
    memory.remember_many(FACTS)
    retriever = HindsightRetriever(memory=memory, score_threshold=0.0, reinforce=False)
    expected = retriever.invoke(QUESTION)
    chain = RunnablePassthrough() | retriever
    async with needs_loop.beating():
        assert await asyncio.gather(*(retriever.ainvoke(QUESTION) for _ in range(2))) == [expected] * 2
        assert await retriever.abatch([QUESTION]) == [expected]
        assert [part async for part in chain.astream(QUESTION)] == [expected]


async def test_sync_works_inside_a_running_loop(retriever):
    assert retriever.invoke(QUESTION)[0].id == "port"


def test_threads_share_one_engine(filled):
    retriever = HindsightRetriever(memory=filled, reinforce=False)
    found = retriever.batch([QUESTION] * 16, {"max_concurrency": 8})
    assert all(documents == found[0] for documents in found)


def test_copies_share_the_engine_and_nothing_leaks(filled, retriever, caplog):
    for twin in (copy.copy(retriever), copy.deepcopy(retriever), retriever.model_copy(deep=True)):
        assert twin.memory is filled
        assert ids(twin.invoke(QUESTION)) == ids(retriever.invoke(QUESTION))
    with pytest.raises(InvalidInput, match="open the file again"):
        pickle.dumps(retriever)
    assert "memory" not in retriever.model_dump()
    with caplog.at_level(logging.DEBUG):
        shown = repr(retriever) + json.dumps(dumpd(retriever))
    assert "Hindsight " not in shown
    assert "7421" not in shown
