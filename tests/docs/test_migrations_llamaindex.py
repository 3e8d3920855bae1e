"""Each row of the README's migration table does the same for a caller on its left and on its right side."""

import re
from pathlib import Path

import pytest

pytest.importorskip("llama_index.core", reason="needs llama-index-core")

import llama_index.core.memory
from llama_index.core import VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.schema import TextNode

import hindsight_llamaindex
from hindsight_core import Hindsight
from hindsight_core.embedding import HashEmbedder
from hindsight_llamaindex import HindsightEmbedding, LlamaIndexEmbedder, adopt

# The framework's own parts call what it and pydantic have deprecated since; its Qdrant store makes indexes in any case.
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore:Payload indexes have no effect:UserWarning"
)

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| `(.+)` \| `(.+)` \|$", re.MULTILINE)
TEXTS = {"port": "Kestrel listens on port 7421.", "tea": "林岚喜欢喝龙井茶。"}
QUESTIONS = {"port": "On which port does Kestrel listen?", "tea": "龙井茶"}
FACT = "My favourite tea is Longjing."


def rows(name):
    section = re.search(r"^## LlamaIndex.*?(?=^## )", (ROOT / name).read_text(encoding="utf-8"), re.M | re.S)
    return ROW.findall(section[0])


ROWS = rows("README.md")
RETRIEVER, INDEX, BUFFER, BLOCKS, MEM0 = ROWS


@pytest.fixture
def names():
    """What the code in the table refers to."""
    embed_model = HindsightEmbedding(HashEmbedder())
    with Hindsight.open(":memory:", embedder=LlamaIndexEmbedder(embed_model)) as memory:
        yield {
            **vars(llama_index.core.memory),
            **{name: getattr(hindsight_llamaindex, name) for name in hindsight_llamaindex.__all__},
            "VectorStoreIndex": VectorStoreIndex,
            "embed_model": embed_model,
            "memory": memory,
            "nodes": nodes(),
        }


@pytest.fixture
def qdrant():
    """A new Qdrant store of the framework; its clients are the in-memory ones."""
    made = pytest.importorskip("llama_index.vector_stores.qdrant", reason="needs the Qdrant integration")
    clients = pytest.importorskip("qdrant_client", reason="needs qdrant-client")
    return lambda **which: made.QdrantVectorStore(
        "docs", **{name: getattr(clients, kind)(":memory:") for name, kind in which.items()}
    )


def nodes():
    return [TextNode(id_=id, text=text) for id, text in TEXTS.items()]


def used(code, names):
    """Build a part as the table says."""
    return eval(code, names)


def answers(retriever):
    return {id: retriever.retrieve(question)[0].node.text for id, question in QUESTIONS.items()}


def said(text, role="user"):
    return ChatMessage(role=role, content=text)


def test_a_retriever_over_an_index_that_is_adopted(names):
    assert answers(used(RETRIEVER[0], names)) == TEXTS
    adopt(VectorStoreIndex(nodes(), embed_model=names["embed_model"]), names["memory"])
    assert answers(used(RETRIEVER[1], names)) == TEXTS


@pytest.mark.parametrize("side", [0, 1], ids=["now", "with_hindsight"])
def test_an_index_over_a_vector_store(names, side, qdrant):
    index = used(INDEX[side], {**names, "qdrant": qdrant(client="QdrantClient")})
    index.insert_nodes([TextNode(text=text) for text in TEXTS.values()])
    assert answers(index.as_retriever(similarity_top_k=2)) == TEXTS


@pytest.mark.parametrize("side", [0, 1], ids=["now", "with_hindsight"])
def test_a_buffer(names, side):
    chat = used(BUFFER[side], names)
    turns = [said(FACT), said("Noted.", "assistant"), said("What is my favourite tea?")]
    chat.put_messages(turns)
    assert [m.content for m in chat.get_all()] == [m.content for m in turns]
    assert any(FACT in m.content for m in chat.get())
    chat.reset()
    assert chat.get_all() == []


@pytest.mark.parametrize("side", [0, 1], ids=["now", "with_hindsight"])
async def test_a_block_of_the_stock_memory(names, side, qdrant):
    chat = used(BLOCKS[side], {**names, "qdrant": qdrant(aclient="AsyncQdrantClient")})
    await chat.memory_blocks[0].aput([said(FACT)], from_short_term_memory=True, session_id=chat.session_id)
    await chat.aput(said("What is my favourite tea?"))
    shown = await chat.aget()
    await chat.sql_store._async_engine.dispose()
    assert FACT in shown[0].content


def test_what_takes_the_place_of_mem0(names):
    used(MEM0[1], names).put(said(FACT))
    chat = used(MEM0[1], names)
    chat.put(said("What is my favourite tea?"))
    assert FACT in chat.get()[0].content


def test_both_languages_have_the_same_rows():
    assert rows("README.zh-CN.md") == ROWS
