"""Taking over a collection that langchain-qdrant wrote: its ids, texts, metadata and vectors, and nothing embedded anew."""

from datetime import UTC, datetime

import numpy as np
import pytest

pytest.importorskip("langchain_qdrant", reason="needs langchain-qdrant")

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_qdrant import QdrantVectorStore
from qdrant_client import QdrantClient, models

from hindsight_core.embedding import HashEmbedder
from hindsight_core.errors import EmbedderMismatch, InvalidInput
from hindsight_langchain import HindsightVectorStore, LangChainEmbedder, adopt

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

UUID = "6f9619ff-8b86-d011-b42d-00c04fc964{:02x}"
DOCUMENTS = [
    Document(
        "The Kestrel gateway listens on port 7421.", metadata={"project": "kestrel", "when": "2031-05-01"}
    ),
    Document("Kestrel 网关由 Mira 维护。", metadata={"nested": {"标签": ["运维"]}}),
    *(Document(f"note number {i} of many", metadata={"n": i}) for i in range(300)),
]


class Counts(Embeddings):
    """The engine's test embedder; counts what it is asked."""

    def __init__(self):
        self.asked = 0

    def embed_documents(self, texts):
        self.asked += len(texts)
        return HashEmbedder().embed_documents(texts).tolist()

    def embed_query(self, text):
        return HashEmbedder().embed_query(text).tolist()


def collection(embeddings, distance=models.Distance.COSINE, vector_name="", documents=DOCUMENTS):
    client = QdrantClient(":memory:")
    parameters = models.VectorParams(size=256, distance=distance)
    client.create_collection("docs", vectors_config={vector_name: parameters} if vector_name else parameters)
    store = QdrantVectorStore(client, "docs", embeddings, distance=distance, vector_name=vector_name)
    store.add_documents(documents, ids=[UUID.format(i) if i < 2 else i for i in range(len(documents))])
    return store


@pytest.fixture
def embeddings():
    return Counts()


@pytest.fixture
def memory(open_memory, embeddings):
    return open_memory(embedder=LangChainEmbedder(embeddings))


@pytest.mark.parametrize(
    ("distance", "vector_name"),
    [(models.Distance.COSINE, ""), (models.Distance.DOT, "dense"), (models.Distance.EUCLID, "")],
)
def test_everything_comes_over_with_its_vectors(memory, embeddings, distance, vector_name):
    store = collection(embeddings, distance, vector_name)
    embeddings.asked = 0
    assert adopt(store, memory, timestamp_key="when", progress=False) == 302
    assert embeddings.asked <= 3
    first = memory.get(UUID.format(0))
    assert (first.content, dict(first.metadata)) == (DOCUMENTS[0].page_content, DOCUMENTS[0].metadata)
    assert first.timestamp == datetime(2031, 5, 1, tzinfo=UTC)
    assert memory.get(UUID.format(1)).timestamp is None
    assert memory.get("2").content == "note number 0 of many"
    (vector,) = memory.vectors([first])
    np.testing.assert_allclose(vector, HashEmbedder().embed_query(DOCUMENTS[0].page_content), atol=1e-5)
    assert memory.stats()["without_vector"] == 0
    found = HindsightVectorStore(memory).similarity_search("Kestrel gateway port", k=1)
    assert found == [Document(DOCUMENTS[0].page_content, metadata=DOCUMENTS[0].metadata, id=UUID.format(0))]
    assert store.client.count("docs").count == 302


def test_it_goes_on_where_it_stopped_and_adds_nothing_twice(memory, embeddings, monkeypatch):
    store = collection(embeddings)
    whole = memory.keep

    def once(items, **options):
        monkeypatch.setattr(type(memory), "keep", stops)
        return whole(items, **options)

    def stops(self, items, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(memory), "keep", lambda self, items, **options: once(items, **options))
    with pytest.raises(KeyboardInterrupt):
        adopt(store, memory)
    monkeypatch.undo()
    assert memory.stats()["memories"] == 256
    assert adopt(store, memory) == 302 - 256
    assert adopt(store, memory) == 0
    assert memory.stats()["memories"] == 302


def test_another_embedders_vectors_are_refused(open_memory, embeddings):
    class Other(Counts):
        def embed_documents(self, texts):
            return np.roll(super().embed_documents(texts), 1, axis=1).tolist()

    store = collection(embeddings, documents=DOCUMENTS[:2])
    other = open_memory(embedder=LangChainEmbedder(Other()))
    with pytest.raises(EmbedderMismatch, match=r"store\.embeddings"):
        adopt(store, other)
    smaller = open_memory(":memory:", embedder=HashEmbedder(64))
    with pytest.raises(EmbedderMismatch, match="hash"):
        adopt(store, smaller)
    with pytest.raises(InvalidInput, match="no embedder"):
        adopt(store, open_memory(":memory:", embedder=None))
    assert other.stats()["memories"] == smaller.stats()["memories"] == 0


def test_points_without_text_are_left_out_and_said(memory, embeddings, caplog):
    store = collection(embeddings, documents=DOCUMENTS[:2])
    store.client.upsert("docs", [models.PointStruct(id=9, vector=[1.0] * 256, payload={"page_content": " "})])
    assert adopt(store, memory) == 2
    assert "1 points without text were left out" in caplog.text


def test_an_empty_collection_and_something_else(memory, embeddings):
    assert adopt(collection(embeddings, documents=[]), memory) == 0
    with pytest.raises(InvalidInput, match="not a HindsightVectorStore"):
        adopt(HindsightVectorStore(memory), memory)
