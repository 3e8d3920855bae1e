"""The plan of a sweep: every rule on hand-made memories, and the laws it obeys."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.forget import Fate, plan
from hindsight_core.ports import Vital
from hindsight_core.strength import DAY
from hindsight_core.unit import Status

NOW = datetime(2031, 5, 20, tzinfo=UTC)
T = NOW.timestamp()


def vital(
    id="a",
    *,
    status=Status.ACTIVE,
    pinned=False,
    importance=0.5,
    days=0.0,
    weight=None,
    read=None,
    expires=None,
    seq=1,
):
    return Vital(
        key=(("u",), id),
        status=status,
        pinned=pinned,
        importance=importance,
        weight=importance if weight is None else weight,
        weight_at=T - days * DAY,
        last_read=T - (days if read is None else read) * DAY,
        expires_at=None if expires is None else T + expires * DAY,
        seq=seq,
    )


def fates(*vitals, **options):
    return {s.key[1]: s.fate for s in plan(vitals, NOW, decay=0.99, archive_below=0.10, **options)}


@pytest.mark.parametrize(
    ("memory", "fate"),
    [
        (vital(importance=0.5, days=100), None),  # .5 * .99**100 = .183
        (vital(importance=0.5, days=161), Fate.ARCHIVE),  # .5 * .99**161 = .0991
        (vital(importance=0.5, days=160), None),  # .1001
        (vital(importance=0.1, days=1), Fate.ARCHIVE),  # .099
        (vital(importance=0.8, days=1000), None),  # explicit facts do not end by idleness
        (vital(importance=0.79, days=1000), Fate.ARCHIVE),
        (vital(importance=0.1, days=1000, pinned=True), None),
        (vital(importance=0.2, days=31, read=95, status=Status.ARCHIVED), Fate.DELETE),
        (vital(importance=0.2, days=29, read=95, status=Status.ARCHIVED), None),  # archived too recently
        (vital(importance=0.2, days=31, read=89, status=Status.ARCHIVED), None),  # read too recently
        (vital(importance=0.3, days=900, status=Status.ARCHIVED), None),  # not small enough
        (vital(importance=0.2, days=900, status=Status.ARCHIVED, pinned=True), None),
        (vital(importance=0.1, days=900, status=Status.SUPERSEDED), None),  # history stays
        (vital(expires=-0.1), Fate.DELETE),
        (vital(expires=0.1), None),
        (vital(expires=-0.1, pinned=True), Fate.DELETE),
    ],
)
def test_each_rule(memory, fate):
    assert fates(memory) == ({} if fate is None else {"a": fate})


def test_reasons_give_numbers_and_no_text():
    (step,) = plan([vital(importance=0.1, days=40)], NOW, decay=0.99, archive_below=0.10)
    assert step.reason == "strength 0.067 below 0.1"


def test_a_cap_takes_the_weakest_first_important_ones_last_and_pinned_never():
    memories = [
        vital("pinned", importance=0.2, pinned=True, seq=1),
        vital("strong", importance=0.7, seq=2),
        vital("weak", importance=0.4, seq=3),
        vital("fact", importance=0.9, weight=0.3, seq=4),
        vital("middle", importance=0.5, seq=5),
    ]
    assert fates(*memories, keep=5) == {}
    assert fates(*memories, keep=3) == {"weak": Fate.ARCHIVE, "middle": Fate.ARCHIVE}
    assert set(fates(*memories, keep=2)) == {"weak", "middle", "strong"}
    assert set(fates(*memories, keep=0)) == {"weak", "middle", "strong", "fact"}


VITALS = st.builds(
    vital,
    id=st.uuids().map(str),
    status=st.sampled_from(Status),
    pinned=st.booleans(),
    importance=st.floats(0, 1),
    days=st.floats(0, 500),
    read=st.none() | st.floats(0, 500),
    expires=st.none() | st.floats(-10, 10),
    seq=st.integers(1, 50),
)


def carried_out(vitals, steps):
    fate = {step.key: step.fate for step in steps}
    left = []
    for one in vitals:
        if fate.get(one.key) is Fate.DELETE:
            continue
        if fate.get(one.key) is Fate.ARCHIVE:
            kept = one.weight * 0.99 ** ((T - one.weight_at) / DAY)
            one = Vital(
                one.key,
                Status.ARCHIVED,
                one.pinned,
                one.importance,
                kept,
                T,
                one.last_read,
                one.expires_at,
                one.seq,
            )
        left.append(one)
    return left


@given(st.lists(VITALS, max_size=25, unique_by=lambda v: v.key), st.none() | st.integers(0, 10))
def test_once_carried_out_a_second_sweep_finds_nothing_to_do(vitals, keep):
    steps = plan(vitals, NOW, decay=0.99, archive_below=0.10, keep=keep)
    assert plan(carried_out(vitals, steps), NOW, decay=0.99, archive_below=0.10, keep=keep) == []


@given(st.lists(VITALS, max_size=25, unique_by=lambda v: v.key), st.randoms())
def test_the_plan_does_not_depend_on_the_order_of_memories(vitals, random):
    shuffled = list(vitals)
    random.shuffle(shuffled)
    one = plan(vitals, NOW, decay=0.99, archive_below=0.10, keep=5)
    assert plan(shuffled, NOW, decay=0.99, archive_below=0.10, keep=5) == one


@given(st.lists(VITALS, max_size=25, unique_by=lambda v: v.key), st.integers(0, 30))
def test_a_cap_is_kept_wherever_pins_allow(vitals, keep):
    left = carried_out(vitals, plan(vitals, NOW, decay=0.99, archive_below=0.10, keep=keep))
    active = [v for v in left if v.status is Status.ACTIVE]
    assert len(active) <= max(keep, sum(v.pinned for v in active))


def test_time_alone_brings_more_into_the_archive_never_less():
    memories = [vital(str(i), importance=i / 20, seq=i + 1) for i in range(16)]
    sizes = []
    for days in range(0, 400, 20):
        later = NOW + timedelta(days=days)
        sizes.append(len(plan(memories, later, decay=0.99, archive_below=0.10)))
    assert sizes == sorted(sizes)
    assert sizes[-1] == 16
