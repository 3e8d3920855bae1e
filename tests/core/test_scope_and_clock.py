"""Scopes are compared by whole segments; ids sort by time; clocks are handed in."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.clock import CountedIds, FixedClock, SystemClock, TimeOrderedIds
from hindsight_core.errors import InvalidInput
from hindsight_core.scope import covers, narrow, parse_scope

T0 = datetime(2031, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "scope"),
    [("u", ("u",)), (("team", "u"), ("team", "u")), (["用户", "一"], ("用户", "一")), ("a/b", ("a/b",))],
)
def test_a_scope_is_a_tuple_of_segments(value, scope):
    assert parse_scope(value) == scope


@pytest.mark.parametrize("value", ["", " ", (), ("a", ""), ("a", "  "), ("a", 3), ("a", None), "a\x00b"])
def test_an_empty_or_malformed_scope_is_an_error_never_everything(value):
    with pytest.raises(InvalidInput):
        parse_scope(value)


@pytest.mark.parametrize(
    ("prefix", "scope", "below"),
    [
        (("u",), ("u",), True),
        (("u",), ("u", "s"), True),
        (("u",), ("u2",), False),
        (("u", "s"), ("u",), False),
        (("u", "s"), ("u", "s2"), False),
    ],
)
def test_prefixes_are_whole_segments(prefix, scope, below):
    assert covers(prefix, scope) is below


def test_narrowing_stays_within_reach():
    reach = (("u",), ("team", "shared"))
    assert narrow(reach, ("u", "s"))
    assert narrow(reach, ("team", "shared"))
    assert not narrow(reach, ("team",))
    assert not narrow(reach, ("v",))


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=50))
def test_ids_sort_in_order_of_making_even_when_the_clock_steps_back(offsets):
    make = TimeOrderedIds(random_bits=lambda bits: 12345)
    made = [make(T0 + timedelta(milliseconds=offset)) for offset in offsets]
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert {len(one) for one in made} == {26}


def test_ids_of_different_makers_differ():
    assert TimeOrderedIds()(T0) != TimeOrderedIds()(T0)


def test_counted_ids_are_the_same_in_every_run():
    make = CountedIds("x")
    assert [make(T0), make(T0)] == ["x000001", "x000002"]


def test_a_fixed_clock_moves_only_when_moved():
    clock = FixedClock(T0)
    assert clock.now() == clock.now() == T0
    assert clock.advance(days=1.5) == T0 + timedelta(hours=36) == clock.now()
    clock.set(T0)
    assert clock.now() == T0


def test_the_system_clock_is_aware():
    assert SystemClock().now().utcoffset() is not None
