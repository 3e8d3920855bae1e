"""A newer statement above the older one of which it replaces a part."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from hindsight_core.recall.hits import Hit
from hindsight_core.recall.succession import newest_first
from hindsight_core.unit import Link, LinkKind, Status


@pytest.fixture
def hits(memory):
    """A hit for each of some memories; "c>a" says that c succeeds a."""

    def of(*told):
        made = []
        for text in told:
            id, _, past = text.partition(">")
            (unit,) = memory.remember(f"memory {id}", id=id, consolidate=False)
            links = tuple(Link(one, LinkKind.EVOLVES, outgoing=True) for one in past)
            made.append(Hit(unit=replace(unit, related_ids=links), score=1.0, relevance=1.0, signals={}))
        return made

    return of


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["a", "b", "c"], "abc"),
        (["a", "b", "c>a"], "cab"),
        (["c>a", "b", "a"], "cba"),
        (["x", "a", "b", "c>b"], "xacb"),
        (["a", "b>a", "c>b"], "cba"),
        (["a", "b", "c>ab"], "cab"),
        (["a", "b>z"], "ab"),
        ([], ""),
    ],
)
def test_a_successor_moves_directly_above_what_it_succeeds(hits, before, after):
    assert "".join(hit.unit.id for hit in newest_first(hits(*before))) == after


def test_a_long_turn_of_which_a_part_changed_stays(memory, clock):
    clock.set(datetime(2031, 1, 1, tzinfo=UTC))
    (old,) = memory.remember(
        "Our grocery budget is 400 a month, grocery budget first. Can you help me plan the meals?",
        speaker="Mira",
    )
    clock.advance(days=30)
    (new,) = memory.remember(
        "I was sick for a while, but our grocery budget is 450 a month now. Which recipes fit it?",
        speaker="Mira",
    )
    assert memory.get(old.id).status is Status.ACTIVE
    assert memory.get(new.id).status is Status.ACTIVE
    found = {hit.unit.id for hit in memory.recall("grocery budget a month", floor=None)}
    assert found == {new.id, old.id}
