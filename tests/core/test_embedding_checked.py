"""Checked calls: a fault of an embedder costs the text it belongs to and no other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.embedding import HashEmbedder, embed_checked, embed_query_checked
from hindsight_core.errors import EmbeddingError

SECRET = "the vault code is 4711"


class Refusing(HashEmbedder):
    """Fails on a batch that holds a text with "bad" in it."""

    def __init__(self) -> None:
        super().__init__(16)
        self.batches: list[int] = []

    def embed_documents(self, texts: list[str]) -> np.ndarray:
        self.batches.append(len(texts))
        for text in texts:
            if "bad" in text:
                raise ValueError(f"400: cannot embed {text!r}")
        return super().embed_documents(texts)


@given(st.lists(st.sampled_from(["good", "fine", "bad"]), max_size=7))
def test_only_bad_texts_fail(words: list[str]) -> None:
    vectors, failures = embed_checked(Refusing(), words)
    bad = [index for index, word in enumerate(words) if word == "bad"]
    assert [index for index, _ in failures] == bad
    assert [index for index, vector in enumerate(vectors) if vector is None] == bad
    for word, vector in zip(words, vectors, strict=True):
        if vector is not None:
            assert vector == pytest.approx(HashEmbedder(16).embed_query(word), abs=1e-6)


def test_the_cause_is_kept_and_no_text_is_in_the_message() -> None:
    _, [(index, error)] = embed_checked(Refusing(), ["good", f"bad {SECRET}"])
    assert index == 1
    assert isinstance(error, EmbeddingError)
    assert isinstance(error.__cause__, ValueError)
    assert SECRET not in str(error)


def test_a_bad_text_is_found_in_logarithmic_steps() -> None:
    embedder = Refusing()
    embed_checked(embedder, ["good"] * 500 + ["bad"] + ["good"] * 523)
    assert len(embedder.batches) <= 2 * 10 + 1


def test_an_embedder_that_is_down_is_not_asked_forever() -> None:
    embedder = Refusing()
    vectors, failures = embed_checked(embedder, ["bad"] * 1000)
    assert vectors == [None] * 1000
    assert [index for index, _ in failures] == list(range(1000))
    assert len(embedder.batches) < 40


class Fixed:
    """Returns what it was made with."""

    fingerprint = "fixed"

    def __init__(self, rows: object, dimension: int = 2) -> None:
        self.rows = rows
        self.dimension = dimension

    def embed_documents(self, texts: list[str]) -> object:
        return self.rows

    def embed_query(self, text: str) -> object:
        return self.rows


@pytest.mark.parametrize(
    "rows",
    [
        None,
        "vector",
        [["a", "b"]],
        [],
        [[1.0, 0.0], [0.0, 1.0]],
        [1.0, 0.0],
        [[1.0, 0.0, 0.0]],
        [[float("nan"), 1.0]],
        [[float("inf"), 1.0]],
        [[0.0, 0.0]],
        [[1.0], [1.0, 2.0]],
    ],
)
def test_what_is_not_a_finite_vector_of_the_dimension_is_an_error(rows: object) -> None:
    vectors, failures = embed_checked(Fixed(rows), ["x"])
    assert vectors == [None]
    assert len(failures) == 1


@pytest.mark.parametrize("row", [None, [1.0], [[1.0, 0.0]], [float("nan"), 0.0], [0.0, 0.0], "x"])
def test_the_same_holds_for_questions(row: object) -> None:
    with pytest.raises(EmbeddingError):
        embed_query_checked(Fixed(row), "x")


def test_lists_of_any_length_become_float32_of_length_one() -> None:
    vectors, failures = embed_checked(Fixed([[3, 4]]), ["x"])
    assert failures == []
    assert vectors[0].dtype == np.float32
    assert vectors[0].tolist() == pytest.approx([0.6, 0.8])
    assert embed_query_checked(Fixed([0, 5]), "x").tolist() == [0.0, 1.0]


def test_one_row_of_nan_does_not_lose_the_others() -> None:
    vectors, failures = embed_checked(Fixed([[1, 0], [float("nan"), 0], [0, 1]]), ["a", "b", "c"])
    assert [vector is None for vector in vectors] == [False, True, False]
    assert [index for index, _ in failures] == [1]


class Narrow(HashEmbedder):
    """Answers 400 above so many characters, as endpoints do above so many tokens."""

    def embed_documents(self, texts: list[str]) -> np.ndarray:
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> np.ndarray:
        if len(text) > 8192:
            raise RuntimeError("400: input too long")
        return super().embed_query(text)


@pytest.mark.parametrize(
    "text",
    [
        "filler words of no weight " * 8000 + "the gate word is marigold",
        "没有空格的长文" * 6000 + "门的口令是万寿菊",
    ],
)
def test_a_text_too_long_for_the_embedder_is_embedded_in_pieces(text: str) -> None:
    vectors, failures = embed_checked(Narrow(64), ["short", text, "文"])
    assert failures == []
    assert all(np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5) for vector in vectors)
    assert vectors[1] @ vectors[0] < 0.9
    assert embed_query_checked(Narrow(64), text) == pytest.approx(vectors[1], abs=1e-5)


def test_lone_surrogates_never_reach_the_embedder() -> None:
    seen: list[str] = []

    class Recording(HashEmbedder):
        def embed_documents(self, texts: list[str]) -> np.ndarray:
            seen.extend(texts)
            return super().embed_documents(texts)

        def embed_query(self, text: str) -> np.ndarray:
            seen.append(text)
            return super().embed_query(text)

    embed_checked(Recording(16), ["broken \ud83e here"])
    embed_query_checked(Recording(16), "broken \ud83e here")
    assert seen
    assert set(seen) == {"broken \ufffd here"}


def test_nothing_gives_nothing() -> None:
    assert embed_checked(HashEmbedder(16), []) == ([], [])
