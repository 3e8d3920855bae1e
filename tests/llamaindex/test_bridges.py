"""Embedding models across the border."""

import numpy as np
import pytest

pytest.importorskip("llama_index.core", reason="needs llama-index-core")
from llama_index.core import MockEmbedding, Settings
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import TextNode

from hindsight_core.embedding import HashEmbedder
from hindsight_core.errors import EmbedderMismatch, EmbeddingError, InvalidInput
from hindsight_core.ports import Embedder
from hindsight_llamaindex import HindsightEmbedding, HindsightRetriever, LlamaIndexEmbedder


class Instructed(BaseEmbedding):
    """A model with instructions, as the instruction-tuned ones have: they are part of what it embeds."""

    query_instruction: str = "query: "
    text_instruction: str = "passage: "
    calls: list = []

    def _embed(self, text):
        self.calls.append(text)
        return [3.0 * float(x) for x in HashEmbedder(64).embed_query(text)]

    def _get_query_embedding(self, query):
        return self._embed(self.query_instruction + query)

    def _get_text_embedding(self, text):
        return self._embed(self.text_instruction + text)

    async def _aget_query_embedding(self, query):
        raise AssertionError("the engine asks off the loop")


@pytest.fixture
def model():
    return Instructed(model_name="acme/small-zh", calls=[])


def test_questions_and_passages_keep_their_instructions(model):
    embedder = LlamaIndexEmbedder(model)
    assert isinstance(embedder, Embedder)
    assert embedder.dimension == 64
    model.calls.clear()
    embedder.embed_documents(["茶", "tea"])
    embedder.embed_query("茶?")
    assert model.calls == ["passage: 茶", "passage: tea", "query: 茶?"]


def test_vectors_are_of_length_one_and_of_the_right_kind(model):
    embedder = LlamaIndexEmbedder(model)
    rows = embedder.embed_documents(["a", "b"])
    assert (rows.shape, rows.dtype) == ((2, 64), np.float32)
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 1])
    assert embedder.embed_documents([]).shape == (0, 64)


def test_the_same_question_is_asked_once_and_answered_with_a_copy(model):
    embedder = LlamaIndexEmbedder(model)
    first = embedder.embed_query("tea?")
    count = len(model.calls)
    first[:] = 0
    assert np.linalg.norm(embedder.embed_query("tea?")) == pytest.approx(1)
    assert len(model.calls) == count


def test_the_fingerprint_tells_models_and_instructions_apart(model):
    def fingerprint(**changes):
        return LlamaIndexEmbedder(model.model_copy(update=changes)).fingerprint

    assert fingerprint() == fingerprint(embed_batch_size=7)
    assert len({fingerprint(), fingerprint(model_name="b"), fingerprint(query_instruction="问题：")}) == 3
    assert "acme/small-zh/64" in fingerprint()
    assert LlamaIndexEmbedder(model, name="mine@2").fingerprint == "mine@2"


def test_a_store_knows_its_model_again(open_memory, model):
    with open_memory("m.db", embedder=LlamaIndexEmbedder(model)) as memory:
        memory.remember("Mirela drinks tea.", id="tea")
    other = model.model_copy(update={"query_instruction": "ask: "})
    with pytest.raises(EmbedderMismatch):
        open_memory("m.db", embedder=LlamaIndexEmbedder(other))
    again = open_memory("m.db", embedder=LlamaIndexEmbedder(model))
    assert HindsightRetriever(again).retrieve("tea")[0].node.node_id == "tea"


def test_the_settings_are_asked_when_needed_and_not_again(monkeypatch, model):
    embedder = LlamaIndexEmbedder()
    monkeypatch.setattr(Settings, "_embed_model", model)
    assert embedder.dimension == 64
    monkeypatch.setattr(Settings, "_embed_model", MockEmbedding(embed_dim=5))
    assert embedder.embed_model is model


class Failing(Instructed):
    def _embed(self, text):
        if "bad" in text:
            raise ConnectionError("the endpoint is down")
        return super()._embed(text)


def test_a_failing_model_costs_the_vector_and_not_the_memory(open_memory):
    memory = open_memory(embedder=LlamaIndexEmbedder(Failing(calls=[])))
    memory.remember("bad news")
    assert memory.stats()["without_vector"] == 1


# -- the other way ---------------------------------------------------------------------------------------------


async def test_the_engines_embedder_in_the_framework(memory):
    model, own = HindsightEmbedding(memory), memory.parts.embedder
    wanted = own.embed_query("茶").tolist()
    assert model.get_query_embedding("茶") == wanted
    assert await model.aget_query_embedding("茶") == wanted
    assert model.get_text_embedding("茶") == await model.aget_text_embedding("茶") == wanted
    assert model.get_text_embedding_batch(["茶", "b"])[0] == wanted
    assert (await model.aget_text_embedding_batch(["茶", "b"]))[0] == wanted
    (node,) = model([TextNode(text="茶")])
    assert node.embedding == wanted
    assert (model.model_name, model.class_name()) == (own.fingerprint, "HindsightEmbedding")
    assert HindsightEmbedding(own).get_query_embedding("茶") == wanted


def test_without_an_embedder_there_is_none_to_hand_over(open_memory):
    with pytest.raises(InvalidInput, match="has no embedder"):
        HindsightEmbedding(open_memory(embedder=None))


def test_what_fails_there_fails_here():
    with pytest.raises(EmbeddingError):
        HindsightEmbedding(LlamaIndexEmbedder(Failing(calls=[]))).get_text_embedding("bad")


async def test_the_loop_turns_meanwhile(needs_loop):
    model = HindsightEmbedding(needs_loop)
    async with needs_loop.turning():
        await model.aget_query_embedding("a")
    async with needs_loop.turning():
        await model.aget_text_embedding_batch(["a", "b"])
