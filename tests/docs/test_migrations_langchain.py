"""Each row of the README's migration table does the same for a caller on its left and on its right side."""

import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("langchain", reason="needs langchain")
pytest.importorskip("langchain_classic", reason="needs langchain-classic")

import langchain_classic.memory
import langchain_core.chat_history
import langgraph.store.memory
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

import hindsight_langchain
from hindsight_core import Hindsight
from hindsight_core.embedding import HashEmbedder
from hindsight_langchain import HindsightVectorStore, LangChainEmbedder, adopt

# What is migrated from is deprecated.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| `(.+)` \| `(.+)` \|$", re.MULTILINE)
DOCUMENTS = [Document("Kestrel listens on port 7421."), Document("林岚喜欢喝龙井茶。")]


def rows(name):
    section = re.search(r"^## LangChain.*?(?=^## )", (ROOT / name).read_text(encoding="utf-8"), re.M | re.S)
    return ROW.findall(section[0])


ROWS = rows("README.md")
OF_QDRANT = next(row for row in ROWS if row[0].startswith("Qdrant"))
OF_CHROMA = next(row for row in ROWS if row[0].startswith("Chroma"))


class Hashed(Embeddings):
    def embed_documents(self, texts):
        return np.asarray(HashEmbedder().embed_documents(texts)).tolist()

    def embed_query(self, text):
        return self.embed_documents([text])[0]


@pytest.fixture
def names():
    """What the code in the table refers to."""
    embeddings = Hashed()
    with Hindsight.open(":memory:", embedder=LangChainEmbedder(embeddings)) as memory:
        yield {
            **vars(langchain_classic.memory),
            **vars(langchain_core.chat_history),
            **vars(langgraph.store.memory),
            **{name: getattr(hindsight_langchain, name) for name in hindsight_langchain.__all__},
            "embeddings": embeddings,
            "memory": memory,
            "store": InMemoryVectorStore(embeddings),
        }


def chain_memory(part):
    part.save_context({"input": "My favourite tea is Longjing."}, {"output": "Noted."})
    given = part.load_memory_variables({"input": "What is my favourite tea?"})
    assert "My favourite tea is Longjing." in given["history"]


def history(part):
    part.add_user_message("我喜欢喝龙井茶。")
    part.add_ai_message("Noted.")
    assert [(m.type, m.content) for m in part.messages] == [("human", "我喜欢喝龙井茶。"), ("ai", "Noted.")]


def store(part):
    part.put(("user-42", "facts"), "tea", {"text": "林岚喜欢喝龙井茶。"})
    part.put(("user-42", "facts"), "port", {"text": "Kestrel listens on port 7421."})
    assert part.get(("user-42", "facts"), "tea").value == {"text": "林岚喜欢喝龙井茶。"}
    assert part.search(("user-42",), query="Kestrel port", limit=1)[0].key == "port"


def retriever(part):
    for question, wanted in zip(("On which port does Kestrel listen?", "龙井茶"), DOCUMENTS, strict=True):
        assert part.invoke(question)[0].page_content == wanted.page_content


USES = {
    "ConversationBufferMemory": chain_memory,
    "VectorStoreRetrieverMemory": chain_memory,
    "InMemoryChatMessageHistory": history,
    "InMemoryStore": store,
}


def used(code, names):
    """Build a part as the table says."""
    return eval(code, names)


@pytest.mark.parametrize("side", [0, 1], ids=["now", "with_hindsight"])
@pytest.mark.parametrize(
    "row", [row for row in ROWS if row not in (OF_QDRANT, OF_CHROMA)], ids=lambda row: row[0]
)
def test_both_sides_of_a_row_serve_the_same_caller(row, side, names):
    USES[row[0].partition("(")[0]](used(row[side], names))


def test_a_qdrant_collection_is_adopted_and_answers_as_before(names):
    qdrant = pytest.importorskip("langchain_qdrant", reason="needs langchain-qdrant")
    client = pytest.importorskip("qdrant_client").QdrantClient(":memory:")
    models = pytest.importorskip("qdrant_client.models")
    client.create_collection("docs", models.VectorParams(size=256, distance=models.Distance.COSINE))
    old = qdrant.QdrantVectorStore(client, "docs", names["embeddings"])
    old.add_documents(DOCUMENTS)
    retriever(used(OF_QDRANT[0], {**names, **vars(qdrant), "client": client}))
    assert adopt(old, names["memory"]) == len(DOCUMENTS)
    retriever(used(OF_QDRANT[1], names))


def test_documents_of_other_stores_are_added(names):
    HindsightVectorStore(names["memory"]).add_documents(DOCUMENTS)
    retriever(used(OF_CHROMA[1], names))


def test_a_chroma_retriever_answers_the_same_questions(names):
    chroma = pytest.importorskip("langchain_chroma", reason="needs langchain-chroma")
    chroma.Chroma("docs", names["embeddings"]).add_documents(DOCUMENTS)
    retriever(used(OF_CHROMA[0], {**names, "Chroma": chroma.Chroma}))


def test_both_languages_have_the_same_rows():
    assert len(ROWS) == len(USES) + 2
    assert rows("README.zh-CN.md") == ROWS
