"""Embedders and rerankers of sentence-transformers, on tiny models."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="run by make test-torch")
pytest.importorskip("sentence_transformers", reason="run by make test-torch")

import torch
from sentence_transformers import CrossEncoder, SentenceTransformer

from hindsight_core import Hindsight
from hindsight_core.embedding import CachedEmbedder, SentenceTransformerEmbedder, resolve
from hindsight_core.errors import EmbeddingError
from hindsight_core.ports import Embedder
from hindsight_core.reranking import BoundedReranker, CrossEncoderReranker, resolve_reranker

INSTRUCTION = "为这个句子生成表示以用于检索相关文章："


def own(folder, texts):
    """Vectors as the library itself makes them."""
    return SentenceTransformer(str(folder), device="cpu").encode(texts)


def test_vectors_are_those_of_the_library(save_model):
    folder = save_model()
    embedder = SentenceTransformerEmbedder(folder, device="cpu")
    texts = ["tea", "mint tea of the plant", "茶"]
    found = embedder.embed_documents(texts)
    assert isinstance(embedder, Embedder)
    assert (found.dtype, found.shape) == (np.float32, (3, 32))
    assert found == pytest.approx(own(folder, texts), abs=1e-5)
    assert np.linalg.norm(found, axis=1) == pytest.approx([1, 1, 1])
    assert embedder.embed_documents([]).shape == (0, 32)


@pytest.mark.parametrize(
    ("name", "query", "passage"),
    [
        ("bge-large-zh-v1.5", INSTRUCTION, ""),
        ("bge-m3", "", ""),
        ("multilingual-e5-small", "query: ", "passage: "),
        ("tiny", "", ""),
    ],
)
def test_each_family_gets_its_prefixes(save_model, name, query, passage):
    folder = save_model(name)
    embedder = SentenceTransformerEmbedder(folder, device="cpu")
    wanted = own(folder, [f"{query}茶 tea", f"{passage}茶 tea"])
    assert embedder.embed_query("茶 tea") == pytest.approx(wanted[0], abs=1e-5)
    assert embedder.embed_documents(["茶 tea"])[0] == pytest.approx(wanted[1], abs=1e-5)


def test_the_models_own_prompts_hold_and_are_not_put_there_twice(save_model):
    folder = save_model(prompts={"query": "query : ", "document": ""})
    embedder = SentenceTransformerEmbedder(folder, device="cpu")
    assert embedder.embed_query("tea") == pytest.approx(own(folder, ["query : tea"])[0], abs=1e-5)
    assert embedder.embed_documents(["tea"])[0] == pytest.approx(own(folder, ["tea"])[0], abs=1e-5)
    plain = SentenceTransformerEmbedder(folder, device="cpu", query_prefix="")
    assert plain.embed_query("tea") == pytest.approx(own(folder, ["tea"])[0], abs=1e-5)


def test_the_end_of_a_long_text_counts(save_model):
    embedder = SentenceTransformerEmbedder(save_model(), device="cpu")
    filler = "the plant of the shed " * 40
    first, second = embedder.embed_documents([f"{filler}mint", f"{filler}tea"])
    assert not np.allclose(first, second, atol=1e-4)
    assert np.linalg.norm(first) == pytest.approx(1)


def test_the_fingerprint_tells_weights_and_prefixes_apart(save_model):
    first = save_model("a", seed=1)
    named = SentenceTransformerEmbedder(first, device="cpu").fingerprint
    assert named.startswith("sentence-transformers/a/32/")
    assert SentenceTransformerEmbedder(first, device="cpu", batch_size=2).fingerprint == named
    prefixed = SentenceTransformerEmbedder(first, device="cpu", query_prefix="q ").fingerprint
    first.rename(first.with_name("before"))
    other = SentenceTransformerEmbedder(save_model("a", seed=2), device="cpu").fingerprint
    assert len({named, prefixed, other}) == 3


def test_a_model_that_is_not_there_is_an_error_of_ours(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(EmbeddingError, match="cannot be loaded"):
        SentenceTransformerEmbedder(tmp_path / "empty", device="cpu").embed_query("tea")


def test_by_name_a_memory_works_with_it(save_model, tmp_path):
    name = f"sentence-transformers:{save_model('bge-m3')}"
    assert isinstance(resolve(name), SentenceTransformerEmbedder)
    for _ in range(2):
        with Hindsight.open(tmp_path / "m.db", embedder=name) as memory:
            memory.remember("mint tea \ud83e 茶", id="t")
            assert memory.recall("tea", floor=None)[0].unit.id == "t"
            assert memory.stats()["without_vector"] == 0


def test_it_goes_behind_the_cache(save_model, tmp_path):
    cached = CachedEmbedder(SentenceTransformerEmbedder(save_model(), device="cpu"), tmp_path / "v.cache")
    first = cached.embed_documents(["tea", "mint"])
    assert (cached.embed_documents(["mint", "tea"]) == first[::-1]).all()
    cached.close()


@pytest.mark.parametrize("labels", [1, 2])
def test_a_cross_encoder_gives_probabilities(save_encoder, labels):
    folder = save_encoder(labels)
    passages = ["mint tea", "the shed of the plant", "茶"]
    found = CrossEncoderReranker(folder, device="cpu").rerank("tea?", passages)
    logits = CrossEncoder(str(folder), device="cpu").predict(
        [("tea?", passage) for passage in passages], activation_fn=torch.nn.Identity()
    )
    odds = logits if labels == 1 else logits[:, 1] - logits[:, 0]
    assert found == pytest.approx(1 / (1 + np.exp(-odds)), abs=1e-5)
    assert ((found > 0) & (found < 1)).all()
    assert CrossEncoderReranker(folder, device="cpu").rerank("tea?", []).shape == (0,)


def test_a_memory_works_with_it(save_encoder):
    by_name = resolve_reranker(f"sentence-transformers:{save_encoder()}")
    assert isinstance(by_name.reranker, CrossEncoderReranker)
    with Hindsight.open(
        ":memory:", embedder=None, reranker=BoundedReranker(by_name.reranker, milliseconds=None)
    ) as memory:
        memory.remember("the mint tea of the plant", consolidate=False)
        memory.remember("the mint of the shed", consolidate=False)
        hits = memory.recall("mint?", floor=None)
        assert len(hits) == 2
        assert all(0 < hit.signals["rerank"].raw < 1 for hit in hits)
