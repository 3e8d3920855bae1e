"""The model-free embedder: near when words are shared, in any script, the same in every process."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.embedding import HashEmbedder
from hindsight_core.errors import InvalidInput
from hindsight_core.ports import Embedder

NEAR = [
    ("the cat sleeps on the sofa", "a cat was asleep on our sofa", "quarterly tax report for the agency"),
    ("我喜欢简洁的回答", "回答请尽量简洁", "明天去机场接外婆"),
    ("把 Redis 端口改成 6380", "Redis 的端口是 6380", "the violin lesson moved to Friday"),
    ("Ｒｅｄｉｓ timeout", "redis TIMEOUT", "weekend picnic plans"),
]


@pytest.mark.parametrize(("text", "near", "far"), NEAR)
def test_shared_words_bring_texts_together(text: str, near: str, far: str) -> None:
    embed = HashEmbedder().embed_query
    assert embed(text) @ embed(near) > embed(text) @ embed(far) + 0.2


def test_it_is_an_embedder_with_one_row_per_text() -> None:
    embedder = HashEmbedder(dimension=64)
    rows = embedder.embed_documents(["one", "two", "one"])
    assert isinstance(embedder, Embedder)
    assert rows.shape == (3, 64)
    assert rows.dtype == np.float32
    assert np.array_equal(rows[0], rows[2])
    assert embedder.embed_documents([]).shape == (0, 64)


def test_the_fingerprint_tells_dimensions_apart() -> None:
    assert HashEmbedder(64).fingerprint == HashEmbedder(64).fingerprint != HashEmbedder(128).fingerprint


def test_a_tiny_dimension_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at least 8"):
        HashEmbedder(4)


@given(st.text(st.characters(codec=None), max_size=60))
def test_every_text_has_a_finite_vector_of_length_one(text: str) -> None:
    vector = HashEmbedder(32).embed_query(text)
    assert np.isclose(np.linalg.norm(vector.astype(float)), 1.0, atol=1e-5)


def test_the_hash_seed_of_the_process_does_not_matter() -> None:
    code = (
        "from hindsight_core.embedding import HashEmbedder;"
        "print(HashEmbedder(16).embed_query('一 two three').tobytes().hex())"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert printed == {HashEmbedder(16).embed_query("一 two three").tobytes().hex() + "\n"}
