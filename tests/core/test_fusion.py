"""Fusion and coverage: hand-computed scores, and the laws they obey."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.profiles import DEFAULT, TECH_DOCS, Weights
from hindsight_core.recall.coverage import POOL, cover, interleave
from hindsight_core.recall.fusion import Signals, fuse, order

UNITS = st.floats(0, 1)


def signals(*rows):
    columns = np.array(rows, dtype=float).T
    return Signals(
        vector=columns[0], keyword=columns[1], entity=columns[2], recency=columns[3], importance=columns[4]
    )


SEMANTIC = np.array([1], dtype=np.int8)
EVEN = Weights(vector=0.4, keyword=0.2, entity=0.2, recency=0.1, importance=0.1)


def test_the_published_formula_by_hand():
    weights = Weights(vector=0.4, keyword=0.25, entity=0.2, recency=0.05, importance=0.1)
    # .4*.5 + .25*.8 + .2*1 = .6, best of its recall so p = 1; recency .05*.75*.4 = .015, importance .1*.9 = .09
    fused = fuse(signals((0.5, 0.8, 1.0, 0.4, 0.9)), weights, SEMANTIC)
    assert fused.score[0] == pytest.approx(0.705)
    assert (fused.vector[0], fused.keyword[0], fused.entity[0]) == pytest.approx((0.2, 0.2, 0.2))
    assert (fused.recency[0], fused.importance[0]) == pytest.approx((0.015, 0.09))


def test_age_weighs_more_for_what_happened_than_for_what_holds():
    rows = signals((0.5, 0.5, 0, 1, 0), (0.5, 0.5, 0, 1, 0), (0.5, 0.5, 0, 1, 0))
    fused = fuse(rows, DEFAULT.weights, np.array([0, 1, 2], dtype=np.int8))
    assert fused.recency[0] > fused.recency[1] == fused.recency[2]


def test_recency_and_importance_alone_bring_nothing():
    fused = fuse(signals((0, 0, 0, 1, 1)), DEFAULT.weights, SEMANTIC)
    assert fused.score[0] == 0


def test_a54_a_strong_hit_of_one_channel_beats_weak_ones_of_two_however_new_and_important():
    rows = signals((0.0, 1.0, 0, 0, 0), (0.15, 0.15, 0, 1, 1))
    for profile in (DEFAULT, TECH_DOCS):
        fused = fuse(rows, profile.weights, np.array([0, 0], dtype=np.int8))
        assert fused.score[0] > fused.score[1]


def test_the_time_asked_for_takes_the_place_of_recency():
    rows = signals((0.5, 0.5, 0, 0.9, 0), (0.5, 0.5, 0, 0.0, 0))
    kinds = np.array([0, 0], dtype=np.int8)
    fused = fuse(rows, EVEN, kinds, np.array([False, True]), age=0.3)
    assert fused.recency.tolist() == pytest.approx([0.0, 0.1])
    assert fused.score[1] > fused.score[0]
    # without a time asked for, age gets its share: 1.25 for what happened * .3 * .9
    fused = fuse(rows, EVEN, kinds, age=0.3)
    assert fused.recency.tolist() == pytest.approx([0.1 * 1.25 * 0.3 * 0.9, 0.0])


@given(st.lists(st.tuples(UNITS, UNITS, UNITS, UNITS, UNITS), min_size=1, max_size=12), st.randoms())
def test_scores_stay_in_range_sum_up_and_do_not_depend_on_order(rows, random):
    kinds = np.zeros(len(rows), dtype=np.int8)
    fused = fuse(signals(*rows), DEFAULT.weights, kinds)
    assert ((fused.score >= 0) & (fused.score <= 1)).all()
    parts = fused.vector + fused.keyword + fused.entity + fused.recency + fused.importance
    assert fused.score == pytest.approx(np.clip(parts, 0, 1))
    shuffled = list(range(len(rows)))
    random.shuffle(shuffled)
    again = fuse(signals(*[rows[i] for i in shuffled]), DEFAULT.weights, kinds)
    assert again.score == pytest.approx(fused.score[shuffled])


def test_only_ratios_of_weights_matter():
    rows = signals((0.3, 0.2, 0.1, 0.5, 0.5))
    one = fuse(rows, EVEN, SEMANTIC)
    two = fuse(rows, Weights(vector=4, keyword=2, entity=2, recency=1, importance=1), SEMANTIC)
    assert one.score == pytest.approx(two.score)


def test_ties_break_by_id_whatever_the_order_of_rows():
    score = np.array([0.5, 0.7, 0.5, 0.5 + 1e-12])
    assert order(score, ["c", "z", "a", "b"]) == [1, 2, 3, 0]


def test_a_second_answer_to_the_same_part_yields_to_one_for_another_part():
    score = np.array([0.9, 0.8, 0.7])
    words = np.array([[0.6, 0.0], [0.6, 0.0], [0.0, 0.5]])
    plain = cover(score, [0, 1, 2], words, None, k=3, share=0.0, repeat=0.0)
    assert [i for i, _ in plain] == [0, 1, 2]
    # after the first, the second is worth .8 - .5*.6 = .5, the third still .7
    covered = cover(score, [0, 1, 2], words, None, k=3, share=0.5, repeat=0.0)
    assert covered == [(0, pytest.approx(0.9)), (2, pytest.approx(0.7)), (1, pytest.approx(0.5))]


def test_a_near_copy_of_a_chosen_hit_steps_back():
    score = np.array([0.9, 0.89, 0.8])
    vectors = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    chosen = cover(score, [0, 1, 2], np.zeros((3, 1)), vectors, k=3, share=0.0, repeat=0.2)
    assert [i for i, _ in chosen] == [0, 2, 1]
    assert chosen[2][1] == pytest.approx(0.89 - 0.9 * 0.2)


@given(
    st.lists(st.tuples(UNITS, UNITS, UNITS), min_size=1, max_size=90),
    st.integers(0, 100),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_choices_are_distinct_and_their_scores_never_rise(rows, k, share, repeat):
    score = np.array([a for a, _, _ in rows])
    words = np.array([[b * a, c * a] for a, b, c in rows])
    best = order(score, [str(i) for i in range(len(rows))])
    chosen = cover(score, best, words[best[:POOL]], None, k=k, share=share, repeat=repeat)
    assert len(chosen) == min(k, len(rows)) == len({i for i, _ in chosen})
    values = [value for _, value in chosen]
    assert all(a >= b - 1e-12 for a, b in pairwise(values))
    assert all(0 <= value <= 1 for value in values)


def test_aspects_take_turns():
    one, two = [(1, 0.9), (2, 0.5)], [(3, 0.8), (1, 0.7), (4, 0.1)]
    assert interleave([one, two], 4) == [(1, 0.9), (3, 0.8), (2, 0.5), (4, 0.1)]
    assert interleave([one], 1) == [(1, 0.9)]
