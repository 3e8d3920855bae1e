"""Taking over what exists: a collection of llama-index-vector-stores-qdrant, an index, nodes."""

import numpy as np
import pytest

pytest.importorskip("llama_index.core", reason="needs llama-index-core")
from llama_index.core import VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode

from hindsight_core.embedding import HashEmbedder
from hindsight_core.errors import EmbedderMismatch, InvalidInput
from hindsight_llamaindex import HindsightEmbedding, HindsightRetriever, LlamaIndexEmbedder, adopt, adoption
from hindsight_llamaindex.adoption import Adopted

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant")


class Model(BaseEmbedding):
    """An index's own model; counts what it is asked."""

    asked: int = 0

    def _get_query_embedding(self, query):
        return self._get_text_embedding(query)

    def _get_text_embedding(self, text):
        self.asked += 1
        return [float(x) for x in HashEmbedder(64).embed_query(text)]

    async def _aget_query_embedding(self, query):
        return self._get_query_embedding(query)


@pytest.fixture
def model():
    return Model(model_name="acme/old")


@pytest.fixture
def memory(open_memory, model):
    return open_memory(embedder=LlamaIndexEmbedder(model))


def uuid(number):
    return f"00000000-0000-4000-8000-{number:012d}"


def nodes(count=6):
    return [
        TextNode(
            id_=uuid(i),
            text=f"Lamp {i} hangs in hall {i}. 第{i}盏灯。",
            metadata={"hall": i, "timestamp": f"2031-01-{i + 1:02d}"},
            excluded_llm_metadata_keys=["hall"],
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"d{i % 2}")},
        )
        for i in range(count)
    ]


@pytest.fixture(params=["unnamed", "named"])
def qdrant(model, request):
    """An index over a collection, with its vectors under no name (as by default) or a name (as for hybrid search)."""
    client_module = pytest.importorskip("qdrant_client", reason="needs qdrant-client")
    stores = pytest.importorskip(
        "llama_index.vector_stores.qdrant", reason="needs llama-index-vector-stores-qdrant"
    )
    client = client_module.QdrantClient(":memory:")
    if request.param == "named":
        size = client_module.models.VectorParams(size=64, distance=client_module.models.Distance.COSINE)
        client.create_collection("lamps", vectors_config={"text-dense": size})
    store = stores.QdrantVectorStore("lamps", client=client)
    index = VectorStoreIndex.from_vector_store(store, embed_model=model)
    index.insert_nodes(nodes())
    yield index
    client.close()


def test_a_qdrant_collection_is_taken_over_with_its_vectors(qdrant, memory, model):
    model.asked = 0
    assert adopt(qdrant.vector_store, memory) == Adopted(added=6, present=0, embedded=0)
    assert model.asked <= 3, "only the sample that is compared"
    client = qdrant.vector_store.client
    points = client.scroll("lamps", limit=99, with_vectors=True)[0]
    stored = {
        str(point.id): point.vector["text-dense"] if isinstance(point.vector, dict) else point.vector
        for point in points
    }
    units = memory.find()
    assert {unit.id for unit in units} == set(stored)
    for unit, vector in zip(units, memory.vectors(units), strict=True):
        assert vector.tolist() == pytest.approx(np.array(stored[unit.id]).tolist(), abs=1e-5)


@pytest.mark.parametrize("question", ["Where does lamp 3 hang?", "第3盏灯在哪里?"])
def test_the_same_query_engine_answers_from_it_and_gains_time(qdrant, memory, question):
    adopt(qdrant, memory)
    before = qdrant.as_retriever(similarity_top_k=1).retrieve(question)[0].node
    after = HindsightRetriever(memory, similarity_top_k=1, floor=None).retrieve(question)[0].node
    assert (after.node_id, after.text, after.ref_doc_id) == (before.node_id, before.text, before.ref_doc_id)
    assert after.get_content(metadata_mode="llm") == before.get_content(metadata_mode="llm")
    assert after.metadata.items() >= before.metadata.items()
    dated = HindsightRetriever(memory, since="2031-01-05", until="2031-01-06", floor=None).retrieve("lamp")
    assert [found.node.node_id for found in dated] == [uuid(4)]


def test_interrupted_it_goes_on_where_it_stopped(qdrant, memory, monkeypatch):
    monkeypatch.setattr(adoption, "BATCH", 2)
    keep, kept = type(memory).keep, []

    def failing(self, items, **options):
        if len(kept) == 2:
            raise KeyboardInterrupt
        kept.append(len(items))
        return keep(self, items, **options)

    with monkeypatch.context() as patched:
        patched.setattr(type(memory), "keep", failing)
        with pytest.raises(KeyboardInterrupt):
            adopt(qdrant, memory)
    assert kept == [2, 2]
    memory.update(uuid(0), importance=0.9)
    assert adopt(qdrant, memory) == Adopted(added=2, present=4, embedded=0)
    assert adopt(qdrant, memory) == Adopted(added=0, present=6, embedded=0)
    assert memory.get(uuid(0)).importance == 0.9
    assert len(memory.find()) == 6


def test_what_has_been_archived_since_is_not_woken(qdrant, memory):
    adopt(qdrant, memory)
    memory.update(uuid(0), status="archived")
    assert adopt(qdrant, memory).added == 0
    assert len(memory.find()) == 5


def test_vectors_of_another_model_are_found_out(qdrant, open_memory):
    other = open_memory("other.db", embedder=Turned())
    with pytest.raises(EmbedderMismatch, match=r"turned.*LlamaIndexEmbedder"):
        adopt(qdrant, other)
    assert other.find() == []


class Turned(HashEmbedder):
    """Another model of the same length."""

    def __init__(self):
        super().__init__(64)
        self.fingerprint = "turned"

    def embed_query(self, text):
        return np.roll(super().embed_query(text), 7)


def test_vectors_of_another_length_are_refused(qdrant, open_memory):
    with pytest.raises(InvalidInput, match="vectors of 64 numbers, the memory's embedder makes 256"):
        adopt(qdrant, open_memory("other.db"))


def test_a_collection_of_someone_else_is_not_guessed_at(qdrant, memory):
    client = qdrant.vector_store.client
    client.overwrite_payload("lamps", {"page_content": "x", "metadata": {}}, points=[uuid(3)])
    with pytest.raises(InvalidInput, match="was not written by LlamaIndex"):
        adopt(qdrant, memory)


def test_an_index_over_the_frameworks_own_store(memory, model):
    index = VectorStoreIndex(nodes(3), embed_model=model)
    model.asked = 0
    assert adopt(index, memory) == Adopted(added=3, present=0, embedded=0)
    assert model.asked <= 3
    assert HindsightRetriever(memory).retrieve("lamp 2")[0].node.node_id == uuid(2)


def test_plain_nodes_are_embedded_where_they_have_no_vector(memory, model):
    given = nodes(3)
    given[0].embedding = model.get_text_embedding(given[0].get_content(metadata_mode="embed"))
    assert adopt(iter(given), memory) == Adopted(added=3, present=0, embedded=2)
    assert memory.stats()["without_vector"] == 0
    assert adopt([], memory) == Adopted(added=0, present=0, embedded=0)


def test_another_store_that_can_list_its_nodes(open_memory):
    from hindsight_llamaindex import HindsightVectorStore

    ours, theirs = open_memory("ours.db"), open_memory("theirs.db")
    store = HindsightVectorStore(ours)
    VectorStoreIndex.from_vector_store(store, embed_model=HindsightEmbedding(ours)).insert_nodes(nodes(2))
    assert adopt(store, theirs).added == 2


@pytest.mark.parametrize("source", ["lamps", 7, ["not a node"]])
def test_anything_else_is_refused(memory, source):
    with pytest.raises(InvalidInput, match="adopt takes"):
        adopt(source, memory)


def test_scopes_share_nothing(open_memory, model):
    one = open_memory(scope="u1", embedder=LlamaIndexEmbedder(model))
    two = open_memory(scope="u2", embedder=LlamaIndexEmbedder(model))
    adopt(nodes(2), one)
    assert two.find() == []
    assert adopt(nodes(2), two).added == 2
