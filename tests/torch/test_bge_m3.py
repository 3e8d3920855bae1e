"""bge-m3 through its real loading code, on a tiny model with a sparse layer that these tests save."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="run by make test-torch")
pytest.importorskip("sentence_transformers", reason="run by make test-torch")

import torch

from hindsight_core import Hindsight
from hindsight_core.embedding import BgeM3, resolve, resolve_sparse
from hindsight_core.errors import EmbedderMismatch, EmbeddingError

TEXTS = ["the port of the gateway", "薄荷茶", "网关端口", "tea"]


@pytest.fixture
def folder(save_model):
    """A model named so that it gets bge-m3's prefixes, which are none."""
    folder = save_model("bge-m3-tiny")
    torch.manual_seed(3)
    torch.save({"weight": torch.randn(1, 32), "bias": torch.tensor([0.5])}, folder / "sparse_linear.pt")
    return folder


def by_hand(folder, text):
    """The published recipe, written out: linear, ReLU, the largest of each token, special tokens dropped."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    head = torch.load(folder / "sparse_linear.pt", weights_only=True)
    with torch.no_grad():
        states = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        weights = torch.relu(states @ head["weight"][0] + head["bias"])
    found = {}
    for token, weight in zip(tokenizer(text)["input_ids"], weights.tolist(), strict=True):
        if weight > 0 and token not in tokenizer.all_special_ids:
            found[token] = max(weight, found.get(token, 0.0))
    return found


def test_weights_are_those_of_the_recipe(folder):
    bge = BgeM3(folder, device="cpu")
    for text, weights in zip(TEXTS, bge.sparse_documents(TEXTS), strict=True):
        expected = by_hand(folder, text)
        assert weights.keys() == expected.keys()
        assert [weights[token] for token in expected] == pytest.approx(list(expected.values()), abs=1e-4)
    assert len(bge.sparse_query(TEXTS[0])) > 1
    assert bge.sparse_query(TEXTS[0]) == pytest.approx(bge.sparse_documents(TEXTS[:1])[0])
    assert bge.sparse_documents([]) == []
    assert bge.sparse_documents([""]) == [{}]


def test_no_token_of_a_long_text_is_lost(folder):
    bge = BgeM3(folder, device="cpu", batch_size=2)
    long = " ".join(["tea mint shed"] * 20 + ["gateway"])
    tokenizer = bge._loaded.tokenizer
    words = {tokenizer.convert_tokens_to_ids(word) for word in ("tea", "mint", "shed", "gateway")}
    assert bge.sparse_documents([long])[0].keys() <= words
    last = by_hand(folder, "gateway")
    assert bge.sparse_documents([long])[0].keys() >= last.keys()


@pytest.mark.parametrize("together", [True, False])
def test_one_model_gives_vectors_and_keywords(folder, tmp_path, together):
    name = f"bge-m3:{folder}"
    dense = resolve(name)
    assert isinstance(dense, BgeM3)
    assert resolve_sparse(name, dense) is dense
    options = {"embedder": name if together else None, "keywords": name}
    with Hindsight.open(tmp_path / "m.db", **options) as memory:
        memory.remember_many([{"text": text} for text in TEXTS])
        assert memory.stats()["keywords"] == dense.sparse_fingerprint
        hits = memory.recall("the port of the gateway", floor=None)
        assert hits[0].unit.content == TEXTS[0]
        learnt = memory.parts.keywords.scale * sum(w * w for w in dense.sparse_query(TEXTS[0]).values())
        assert hits[0].signals["keyword"].raw >= 0.97 * learnt > 0
        assert not any("weights" in finding.problem for finding in memory.doctor())


def test_another_layer_is_another_fingerprint(folder, tmp_path):
    before = BgeM3(folder, device="cpu").sparse_fingerprint
    with Hindsight.open(tmp_path / "m.db", embedder=None, keywords=BgeM3(folder, device="cpu")) as memory:
        memory.remember(TEXTS[0])
    torch.save({"weight": torch.ones(1, 32), "bias": torch.tensor([0.0])}, folder / "sparse_linear.pt")
    changed = BgeM3(folder, device="cpu")
    assert changed.sparse_fingerprint != before
    assert changed.fingerprint in before
    with pytest.raises(EmbedderMismatch):
        Hindsight.open(tmp_path / "m.db", embedder=None, keywords=changed)
    with Hindsight.open(tmp_path / "m.db", embedder=None) as memory:
        assert memory.reembed(keywords=changed) == 1


def test_what_cannot_be_loaded_says_so(save_model, tmp_path):
    with pytest.raises(EmbeddingError, match=r"sparse_linear\.pt"):
        BgeM3(save_model("plain"), device="cpu").sparse_query("tea")
    broken = save_model("bge-m3-broken")
    (broken / "sparse_linear.pt").write_bytes(b"no weights")
    with pytest.raises(EmbeddingError, match="cannot be read") as caught:
        BgeM3(broken, device="cpu").sparse_query("tea")
    assert caught.value.__cause__ is not None


def test_vectors_are_those_of_any_other_model(folder):
    from hindsight_core.embedding import SentenceTransformerEmbedder

    plain = SentenceTransformerEmbedder(folder, device="cpu")
    bge = BgeM3(folder, device="cpu")
    np.testing.assert_array_equal(bge.embed_documents(TEXTS), plain.embed_documents(TEXTS))
    assert bge.fingerprint == plain.fingerprint
