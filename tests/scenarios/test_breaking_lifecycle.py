"""Lives of memories that cross: told again after a sleep, an end or a clearing; undone, expired, replaced."""

from datetime import UTC, datetime, timedelta

import pytest

from hindsight_core import Hindsight
from hindsight_core.clock import CountedIds, FixedClock
from hindsight_core.embedding import HashEmbedder
from hindsight_core.engine.settle import MOST_OCCURRENCES
from hindsight_core.unit import Link, LinkKind, Status

NOW = datetime(2031, 5, 20, 9, 0, tzinfo=UTC)
SHUT = "The depot closes at 18:00."
ASKED = "When does the depot close?"


@pytest.fixture
def memory():
    with Hindsight.open(
        ":memory:", "u", embedder=HashEmbedder(), clock=FixedClock(NOW), new_id=CountedIds()
    ) as opened:
        yield opened


def later(memory, **parts):
    memory.parts.clock.advance(**parts)


def last_batch(memory):
    return list(memory.parts.store.events())[-1].batch


@pytest.mark.parametrize("text", [SHUT, "The depot closes at 19:00."])
def test_told_again_by_its_id_an_archived_memory_wakes_up(memory, text):
    memory.remember(SHUT, id="d")
    memory.update("d", status="archived")
    memory.remember(text, id="d")
    assert memory.get("d").status is Status.ACTIVE
    assert memory.recall(ASKED)[0].unit.content == text


@pytest.mark.parametrize("text", [SHUT, "The depot closes at 19:00."])
def test_told_again_by_its_id_an_expired_memory_begins_anew(memory, text):
    memory.remember(SHUT, id="d", expires_at=NOW + timedelta(hours=1))
    later(memory, hours=2)
    memory.remember(text, id="d")
    assert memory.recall(ASKED)[0].unit.content == text


def test_told_again_by_its_id_with_the_same_text_what_else_was_given_counts(memory):
    memory.remember(SHUT, id="d", metadata={"v": 1})
    memory.remember(SHUT, id="d", metadata={"v": 2}, importance=0.9, pinned=True)
    unit = memory.get("d")
    assert (unit.metadata, unit.importance, unit.pinned) == ({"v": 2}, 0.9, True)


def test_telling_the_very_same_again_by_its_id_changes_nothing(memory):
    before = memory.remember(SHUT, id="d", metadata={"v": 1})
    events = len(list(memory.parts.store.events()))
    assert memory.remember(SHUT, id="d", metadata={"v": 1}) == before
    assert len(list(memory.parts.store.events())) == events


def test_an_old_ingest_that_runs_again_keeps_edits(memory):
    items = [{"text": SHUT, "id": "d", "metadata": {"v": 1}}]
    memory.remember_many(items)
    memory.update("d", metadata={"v": 2})
    memory.remember_many(items)
    assert memory.get("d").metadata == {"v": 2}


@pytest.mark.parametrize("wait", [timedelta(0), timedelta(hours=2)])
def test_said_again_without_an_end_it_lasts(memory, wait):
    memory.remember(SHUT, expires_at=NOW + timedelta(hours=1))
    later(memory, hours=wait.total_seconds() / 3600)
    memory.remember(SHUT)
    later(memory, hours=3)
    assert memory.recall(ASKED)


def test_what_is_to_be_found_is_not_swallowed_by_what_is_not(memory):
    memory.remember(SHUT, indexed=False)
    memory.remember(SHUT)
    assert memory.recall(ASKED)


def test_said_again_pinned_it_is_pinned(memory):
    memory.remember(SHUT)
    memory.remember(SHUT, pinned=True)
    assert [unit.pinned for unit in memory.find()] == [True]


def test_metadata_of_what_was_said_again_can_be_asked_for(memory):
    memory.remember(SHUT, metadata={"a": 1})
    memory.remember(SHUT, metadata={"b": 1})
    assert len(memory.find()) == 1
    memory.remember(SHUT, metadata={"a": 2})
    for wanted in ({"metadata.a": 1}, {"metadata.b": 1}, {"metadata.a": 2}):
        assert memory.find(where=wanted), wanted


def test_a_new_date_moves_the_time_from_which_it_holds(memory):
    memory.remember(SHUT, id="d")
    memory.update("d", timestamp=NOW - timedelta(days=10))
    assert memory.recall(ASKED, as_of=NOW - timedelta(days=5))


@pytest.mark.parametrize("back", ["clear", "undo"])
def test_what_was_taken_back_as_a_whole_can_be_ingested_again(memory, back):
    items = [{"text": SHUT, "timestamp": NOW}, {"text": "Ada keeps the spare key.", "timestamp": NOW}]
    memory.remember_many(items)
    memory.clear() if back == "clear" else memory.undo(last_batch(memory))
    assert memory.find() == []
    assert memory.doctor() == []
    memory.remember_many(items)
    memory.remember_many(items)
    assert [len(unit.occurrences) for unit in memory.find()] == [0, 0]


def chain(memory):
    """Three values of one fact, linked as consolidation links them."""
    ids = ["a", "b", "c"]
    for day, id in enumerate(ids):
        memory.remember(f"The gateway listens on port 742{day}.", id=id, timestamp=NOW + timedelta(days=day - 9),
                        consolidate=False)  # fmt: skip
        if day:
            with memory.parts.store.write(actor="test", batch=f"link {id}", now=NOW) as tx:
                old, new = tx.get((("u",), ids[day - 1])), tx.get((("u",), id))
                tx.put(with_link(new, Link(old.id, LinkKind.EVOLVES, outgoing=True)), None, reason="evolved")
                tx.put(superseded(tx.get(old.key), new.timestamp), None, reason="evolved")
    return ids


def with_link(unit, link):
    from dataclasses import replace

    return replace(unit, related_ids=(*unit.related_ids, link))


def superseded(unit, at):
    from dataclasses import replace

    return replace(unit, status=Status.SUPERSEDED, valid_to=at)


def test_undoing_a_clearing_brings_every_link_back(memory):
    chain(memory)
    before = {unit.id: unit for unit in memory.history("a")}
    memory.clear()
    memory.undo(last_batch(memory))
    assert {unit.id: unit for unit in memory.history("a")} == before
    assert memory.doctor() == []


def test_undoing_keeps_the_links_made_since(memory):
    memory.remember(SHUT, id="x", consolidate=False)
    memory.remember("Ada keeps the spare key.", id="y", consolidate=False)
    memory.update("x", status="archived")
    batch = last_batch(memory)
    with memory.parts.store.write(actor="test", batch="since", now=NOW) as tx:
        tx.put(with_link(tx.get((("u",), "y")), Link("x", LinkKind.SIMILAR)), None, reason="linked")
    memory.undo(batch)
    assert memory.get("x").status is Status.ACTIVE
    assert [link.id for link in memory.get("x").related_ids] == ["y"]


def test_undoing_the_middle_of_a_timeline_does_not_make_two_values_current(memory):
    chain(memory)
    undone = memory.undo("link b")  # b has been replaced since
    assert [memory.get(id).status for id in "abc"] == [Status.SUPERSEDED, Status.SUPERSEDED, Status.ACTIVE]
    assert {key[1] for key, _ in undone.skipped} == {"a", "b"}


@pytest.mark.parametrize("end", ["sweep", "expire"])
def test_when_a_current_value_ends_the_one_before_holds_again(memory, end):
    chain(memory)
    memory.update("c", expires_at=NOW + timedelta(hours=1))
    later(memory, hours=2)
    memory.sweep() if end == "sweep" else memory.expire()
    assert [memory.get(id).status for id in "ab"] == [Status.SUPERSEDED, Status.ACTIVE]


@pytest.mark.parametrize("how", ["forget", "erase"])
def test_a_timeline_without_its_middle_is_joined(memory, how):
    chain(memory)
    getattr(memory, how)("b")
    assert [unit.id for unit in memory.history("c")] == ["a", "c"]
    assert memory.get("a").status is Status.SUPERSEDED
    getattr(memory, how)("c")
    assert memory.get("a").status is Status.ACTIVE


def test_what_is_said_all_the_time_costs_the_same_each_time(memory):
    memory.remember_many([{"text": "ok", "session": f"s{i}"} for i in range(100)], resumable=False)
    memory.sweep()
    held = memory.find()
    assert sum(1 + len(unit.occurrences) for unit in held) == 100
    assert max(len(unit.occurrences) for unit in held) <= MOST_OCCURRENCES
    assert len(held) <= 100 // MOST_OCCURRENCES + 1


def test_a_failing_extractor_does_not_keep_a_memory_from_being_changed(caplog):
    class Failing:
        fingerprint = "failing"

        def extract(self, text, context):
            raise RuntimeError(text)

    with Hindsight.open(":memory:", "u", embedder=None, extractor=Failing(), clock=FixedClock(NOW)) as memory:
        memory.remember(SHUT, id="d")
        memory.update("d", text="The depot closes at 19:00.")
        assert memory.recall(ASKED)[0].unit.content == "The depot closes at 19:00."
    assert "depot" not in caplog.text
