"""Calibrated similarity: hand-computed values, laws, and what a measurement sees."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.embedding import Calibration, HashEmbedder, calibrate, measure
from hindsight_core.embedding.unrelated import PASSAGES, QUERIES
from hindsight_core.errors import EmbeddingError, InvalidSettings

TABLE = [
    # cosine, background, calibrated
    (0.75, 0.75, 0.0),
    (0.875, 0.75, 0.5),
    (0.95, 0.75, 0.8),
    (1.0, 0.75, 1.0),
    (0.60, 0.75, 0.0),
    (-1.0, 0.75, 0.0),
    (0.30, 0.0, 0.3),
    (1.0000001, 0.0, 1.0),
    (0.0, -0.25, 0.2),
]


@pytest.mark.parametrize(("cosine", "background", "expected"), TABLE)
def test_the_background_becomes_zero_and_identity_one(
    cosine: float, background: float, expected: float
) -> None:
    assert calibrate(cosine, background) == pytest.approx(expected)


def test_arrays_give_float32_arrays_and_missing_cosines_stay_missing() -> None:
    result = calibrate(np.array([0.5, np.nan, 1.0], np.float32), 0.5)
    assert result.dtype == np.float32
    assert result[[0, 2]].tolist() == [0.0, 1.0]
    assert math.isnan(result[1])


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(-1, 0.99))
def test_the_order_of_cosines_is_kept_within_zero_and_one(a: float, b: float, background: float) -> None:
    low, high = (calibrate(cosine, background) for cosine in sorted((a, b)))
    assert 0.0 <= low <= high <= 1.0


def test_all_faults_of_a_calibration_are_named_at_once() -> None:
    with pytest.raises(InvalidSettings, match=r"query.*passage"):
        Calibration(query=1.0, passage=float("nan"))


class Planted:
    """Unit vectors in a plane: questions point along one axis, passages all 60 degrees off it."""

    dimension = 3
    fingerprint = "planted"

    def embed_documents(self, texts: list[str]) -> np.ndarray:
        turns = np.arange(len(texts)) * 2 * np.pi / len(texts)
        side = np.sin(np.pi / 3)
        return np.stack(
            [np.full(len(texts), 0.5), side * np.cos(turns), side * np.sin(turns)], axis=1
        ).astype(np.float32)

    def embed_query(self, text: str) -> np.ndarray:
        return np.array([1, 0, 0], np.float32)


def test_the_backgrounds_are_mean_cosines_of_the_two_kinds_of_pairs() -> None:
    measured = measure(Planted())
    rows = Planted().embed_documents(list(PASSAGES))
    pairs = [float(a @ b) for a, b in combinations(rows, 2)]
    assert measured.query == pytest.approx(0.5, abs=1e-6)
    assert measured.passage == pytest.approx(sum(pairs) / len(pairs), abs=1e-6)


def test_a_measurement_is_made_once_per_fingerprint() -> None:
    calls = []

    class Counted(HashEmbedder):
        def embed_documents(self, texts: list[str]) -> np.ndarray:
            calls.append(len(texts))
            return super().embed_documents(texts)

    first, second = Counted(40), Counted(40)
    first.fingerprint = second.fingerprint = "counted"
    assert measure(first) == measure(second)
    assert len(calls) == 1


def test_an_embedder_that_cannot_tell_texts_apart_is_refused() -> None:
    class Constant(HashEmbedder):
        fingerprint = ""

        def embed_query(self, text: str) -> np.ndarray:
            return np.eye(1, self.dimension, dtype=np.float32)[0]

    constant = Constant(16)
    constant.fingerprint = "constant"
    with pytest.raises(EmbeddingError, match="same vector"):
        measure(constant)


def test_the_shipped_list_is_sixty_different_passages_and_questions_in_both_languages() -> None:
    assert len(set(PASSAGES)) == len(set(QUERIES)) == 60
    for texts in (PASSAGES, QUERIES):
        chinese = [text for text in texts if any("一" <= c <= "鿿" for c in text)]
        mixed = [text for text in chinese if any(c.isascii() and c.isalpha() for c in text)]
        assert 20 <= len(chinese) <= 35
        assert len(mixed) >= 4
