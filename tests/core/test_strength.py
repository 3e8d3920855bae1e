"""Decay, reinforcement and recency as pure functions, checked against values worked out by hand."""

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.strength import DAY, after_use, recency, weight_now, weights_now


@pytest.mark.parametrize(
    ("decay", "days", "left"),
    [
        (0.99, 0, 1.0),
        (0.99, 1, 0.99),
        (0.99, 0.5, 0.99498743710662),
        (0.99, 30, 0.7397003733882802),
        (0.99, 90, 0.404732),
        (0.97, 30, 0.401007064829467),
        (0.95, 7, 0.69833729609375),
        (0.999, 90, 0.913890),
        (1.0, 1000, 1.0),
    ],
)
def test_what_is_left_of_a_full_memory(decay, days, left):
    assert weight_now(1.0, days * DAY, decay) == pytest.approx(left, rel=1e-5)


def test_a_memory_seen_from_before_its_time_has_not_decayed():
    assert weight_now(0.6, -5 * DAY, 0.9) == 0.6


@pytest.mark.parametrize(
    ("weight", "days", "after"),
    [(0.5, 0, 0.6), (0.95, 0, 1.0), (1.0, 30, 0.8397003733882802), (0.0, 10, 0.1)],
)
def test_a_use_adds_a_tenth_to_what_is_left_and_never_passes_one(weight, days, after):
    assert after_use(weight, days * DAY, decay=0.99, bonus=0.1) == pytest.approx(after)


@pytest.mark.parametrize(
    ("days", "factor"), [(0, 1.0), (1, 0.951229424), (30, 0.223130160), (90, 0.011108996)]
)
def test_recency_is_exponential(days, factor):
    now = 1_800_000_000.0
    assert recency(np.array([now - days * DAY]), now, 0.05)[0] == pytest.approx(factor)


def test_undated_memories_are_never_recent_and_future_ones_no_more_than_new():
    now = 1_800_000_000.0
    assert recency(np.array([np.nan, now + DAY]), now, 0.05).tolist() == [0.0, 1.0]


@given(
    uses=st.lists(st.floats(0, 400), max_size=12),
    start=st.floats(0, 1),
    decay=st.floats(0.5, 1.0),
    bonus=st.floats(0, 1),
)
def test_strength_stays_within_bounds_and_only_falls_between_uses(uses, start, decay, bonus):
    weight = start
    for days in uses:
        resting = [weight_now(weight, share * days * DAY, decay) for share in (0, 0.25, 0.5, 1)]
        assert resting == sorted(resting, reverse=True)
        weight = after_use(weight, days * DAY, decay=decay, bonus=bonus)
        assert 0.0 <= weight <= 1.0
        assert weight >= resting[-1]


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1e9)), min_size=1, max_size=20), st.floats(0, 2e9))
def test_columns_agree_with_single_values(rows, now):
    weight = np.array([w for w, _ in rows], dtype=np.float32)
    at = np.array([t for _, t in rows])
    expected = [weight_now(float(w), now - t, 0.98) for w, t in zip(weight, at, strict=True)]
    assert weights_now(weight, at, now, 0.98) == pytest.approx(expected, abs=1e-9)


def test_a_month_is_counted_in_elapsed_time_not_in_calendar_days():
    start = datetime(2031, 1, 31, tzinfo=UTC)
    elapsed = (start + timedelta(days=30, hours=12) - start).total_seconds()
    assert weight_now(1.0, elapsed, 0.99) == pytest.approx(math.pow(0.99, 30.5))
