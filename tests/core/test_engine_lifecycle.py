"""The life of memories on the engine: changing, fading, being used, swept, brought back and erased."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindsight_core import Hindsight
from hindsight_core.clock import CountedIds, FixedClock
from hindsight_core.embedding import HashEmbedder
from hindsight_core.errors import InvalidInput, NotFound
from hindsight_core.journal import replay
from hindsight_core.unit import LinkKind, Status

START = datetime(2031, 1, 1, 9, tzinfo=UTC)


def say(memory, clock, *texts, days=1, **options):
    """One text a day, by Mira."""
    said = []
    for text in texts:
        said += memory.remember(text, speaker="Mira", **options)
        clock.advance(days=days)
    return said


@pytest.fixture(autouse=True)
def from_the_start(clock):
    clock.set(START)


# -- changing ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "query"),
    [
        ("My favourite editor is Alder.", "My favourite editor is now Birch.", "favourite editor"),
        ("我最喜欢的编辑器是榛树。", "我最喜欢的编辑器现在是白桦。", "最喜欢的编辑器"),
        ("The gateway port is 7420.", "The gateway port is 7421.", "gateway port"),
        ("I love spicy food.", "I can't stand spicy food any more.", "spicy food"),
        ("我喜欢简洁的回答。", "我现在改用详细的回答了。", "回答"),
    ],
)
def test_a15_a16_a_changed_fact_is_current_and_the_old_one_history(memory, clock, before, after, query):
    old, new = say(memory, clock, before, after, days=29)
    assert memory.get(old.id).status is Status.SUPERSEDED
    assert memory.get(old.id).valid_to == new.timestamp
    assert memory.get(new.id).status is Status.ACTIVE
    hits = memory.recall(query, floor=None)
    assert [h.unit.id for h in hits] == [new.id]
    assert [u.id for u in hits[0].predecessors] == [old.id]
    assert f"previously, until {new.timestamp.date()}" in hits.context()
    assert (
        [u.id for u in memory.history(old.id)] == [old.id, new.id] == [u.id for u in memory.history(new.id)]
    )
    both = memory.recall(query, floor=None, include_history=True)
    assert {h.unit.id for h in both} == {old.id, new.id}


def test_superseded_ones_stand_directly_below_their_successor(memory, clock):
    say(
        memory, clock, "The gateway port is 7420.", "The gateway port is 7421.", "The gateway has a red lamp."
    )
    hits = memory.recall("gateway port lamp", floor=None, include_history=True, k=5)
    ids = [h.unit.content for h in hits]
    assert ids.index("The gateway port is 7420.") == ids.index("The gateway port is 7421.") + 1


def test_there_and_back_again_is_a_third_entry(memory, clock):
    units = say(
        memory,
        clock,
        "The gateway port is 7420.",
        "The gateway port is 7421.",
        "The gateway port is 7420.",
        days=5,
    )
    assert len({u.id for u in units}) == 3
    assert [memory.get(u.id).status for u in units] == [Status.SUPERSEDED, Status.SUPERSEDED, Status.ACTIVE]
    assert [u.id for u in memory.history(units[0].id)] == [u.id for u in units]


def test_an_older_value_told_later_takes_its_place_in_the_timeline(memory, clock):
    memory.remember("The gateway port is 7420.", id="a", speaker="Mira", timestamp="2030-01-01")
    memory.remember("The gateway port is 7422.", id="c", speaker="Mira", timestamp="2030-03-01")
    memory.remember("The gateway port is 7421.", id="b", speaker="Mira", timestamp="2030-02-01")
    assert [u.id for u in memory.history("c")] == ["a", "b", "c"]
    assert [memory.get(i).status for i in "abc"] == [Status.SUPERSEDED, Status.SUPERSEDED, Status.ACTIVE]
    assert memory.get("a").valid_to == datetime(2030, 2, 1, tzinfo=UTC)
    assert memory.get("b").valid_to == datetime(2030, 3, 1, tzinfo=UTC)


def test_a17_an_additive_statement_retires_nothing(memory, clock):
    say(
        memory,
        clock,
        "Lin is compliance lead at Northgate.",
        "Lin also looks after Northgate's code-hosting account.",
    )
    assert [u.status for u in memory.find()] == [Status.ACTIVE, Status.ACTIVE]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("The audit starts on 7 May", "The audit starts on 8 May"),
        ("Kestrel runs on v2.3", "Kestrel runs on v2.4"),
        ("新办公室在三楼", "新办公室在四楼"),
    ],
)
def test_a11_a_differing_number_is_never_thrown_away(memory, clock, one, two):
    say(memory, clock, one, two)
    assert two in [h.unit.content for h in memory.recall(two, floor=None)]
    assert memory.stats()["memories"] == 2


def test_a10_a12_repeats_are_one_memory_with_occurrences_and_a_sweep_changes_nothing(memory, clock):
    units = say(memory, clock, *["The spare key is in the blue box."] * 5)
    assert len({u.id for u in units}) == 1
    (unit,) = memory.find()
    assert len(unit.occurrences) == 4
    before = memory.find()
    assert memory.sweep().steps == ()
    assert memory.find() == before


def test_a13_an_update_changes_what_it_names_and_old_words_no_longer_match(memory, clock):
    memory.remember(
        "the vault code is marigold",
        id="x",
        importance=0.9,
        metadata={"project": "kestrel"},
        memory_type="semantic",
    )
    memory.remember("the vault code again", id="y")
    before = memory.get("x")
    clock.advance(days=3)
    after = memory.update("x", text="the vault code is begonia")
    assert after.content == "the vault code is begonia"
    for name in (
        "id",
        "seq",
        "recorded_at",
        "timestamp",
        "memory_type",
        "importance",
        "metadata",
        "related_ids",
        "weight",
    ):
        assert getattr(after, name) == getattr(before, name), name
    assert "x" not in [h.unit.id for h in memory.recall("marigold", floor=None)]
    assert memory.recall("begonia")[0].unit.id == "x"


def test_a14_one_entity_however_it_is_spelt(memory):
    for i, name in enumerate(("RQTB", "the RQTB ", "ＲＱＴＢ", "RQTB")):
        memory.remember(f"Note {i}: {name} was restarted by hand", consolidate=False)
    assert len(memory.find(entity="rqtb")) == 4
    assert memory.aggregate("entity").get("rqtb", memory.aggregate("entity").get("RQTB")) == 4


# -- strength ----------------------------------------------------------------------------------------------------


def test_only_real_use_strengthens_and_an_echo_counts_once(memory, clock):
    (unit,) = memory.remember("the kettle is green", importance=0.5)
    hits = memory.recall("kettle")
    assert memory.get(unit.id).access_count == 0
    for _ in range(20):
        hits.context()
    used = memory.get(unit.id)
    assert (used.access_count, used.weight) == (1, pytest.approx(0.6))
    clock.advance(hours=2)
    memory.recall("kettle").context()
    assert memory.get(unit.id).access_count == 2
    assert memory.get(unit.id).importance == 0.5


def test_a_memory_that_does_not_fit_the_block_was_not_used(memory):
    (unit,) = memory.remember("kettle " * 200)
    assert memory.recall("kettle", floor=None).context(max_tokens=30) == ""
    assert memory.get(unit.id).access_count == 0


def test_being_told_again_renews_a_memory_and_inflates_nothing(memory, clock):
    """As strong as if it were told now for the first time, however often it is said."""
    (told,) = memory.remember("The spare key hangs in the shed.", importance=0.5)
    clock.advance(days=100)
    memory.remember("The spare key hangs in the shed.", importance=0.5)
    renewed = memory.get(told.id)
    assert (renewed.weight, renewed.weight_at) == (0.5, clock.now())
    for _ in range(20):
        clock.advance(minutes=1)
        memory.remember("the spare key hangs in the shed", importance=0.5)
    assert memory.get(told.id).weight == 0.5
    assert len(memory.get(told.id).occurrences) == 21


def test_what_use_has_made_strong_is_not_weakened_by_being_told_again(memory, clock):
    (told,) = memory.remember("The spare key hangs in the shed.", importance=0.5)
    memory.recall("spare key", floor=None).context()
    before = memory.get(told.id)
    assert before.weight == pytest.approx(0.6)
    memory.remember("The spare key hangs in the shed.", importance=0.5)
    after = memory.get(told.id)
    assert (after.weight, after.weight_at) == (before.weight, before.weight_at)


def test_a61_daily_use_keeps_a_memory_strong_and_sweeps_of_one_day_are_idempotent(memory, clock):
    (kept,) = memory.remember("the kettle is green", importance=0.5)
    (other,) = memory.remember("the shed has moss", importance=0.12)
    for _ in range(30):
        memory.recall("kettle green").context()
        clock.advance(days=1)
    weight = memory.get(kept.id).weight
    assert weight > 0.9
    first = memory.sweep()
    assert [s.key[1] for s in first.steps] == [other.id]
    assert all(memory.sweep().steps == () for _ in range(10))
    assert memory.get(kept.id).weight == weight
    assert "the shed has moss" not in [h.unit.content for h in memory.recall("shed moss", floor=None)]
    assert memory.recall("shed moss", floor=None, include_archived=True)[0].unit.id == other.id
    memory.update(other.id, status="active")
    assert memory.recall("shed moss", floor=None)[0].unit.id == other.id


def test_feedback_moves_importance_by_a_tenth_and_stays_in_range(memory):
    (unit,) = memory.remember("the kettle is green", importance=0.85)
    hits = memory.recall("kettle")
    for what in (hits, hits[0], hits.recall_id):
        memory.feedback(what, +1)
    assert memory.get(unit.id).importance == 1.0
    memory.feedback(hits, -1)
    assert memory.get(unit.id).importance == pytest.approx(0.9)
    for bad in (0, 2, True, "+1"):
        with pytest.raises(InvalidInput):
            memory.feedback(hits, bad)


def test_a_rendered_recall_can_be_named_by_another_handle(open_memory, tmp_path):
    path = tmp_path / "m.db"
    memory = open_memory(path)
    memory.remember("the kettle is green", id="k", importance=0.5)
    hits = memory.recall("kettle")
    hits.context()
    assert [u.id for u in open_memory(path).feedback(hits.recall_id, +1)] == ["k"]
    with pytest.raises(NotFound):
        open_memory(path, scope="other").feedback(hits.recall_id, +1)


# -- sweep and undo ----------------------------------------------------------------------------------------------


def test_a60_after_two_idle_months_only_small_talk_is_gone(memory, clock):
    memory.remember("I prefer oolong in the morning.", id="preference", importance=0.9)
    memory.remember("The gateway has a red lamp.", id="fact", importance=0.6)
    memory.remember("haha ok", id="talk", importance=0.15)
    for _ in range(60):
        clock.advance(days=1)
        memory.sweep()
    assert {u.id for u in memory.find()} == {"preference", "fact"}
    assert memory.get("talk").status is Status.ARCHIVED
    for _ in range(60):
        clock.advance(days=1)
        memory.sweep()
    with pytest.raises(NotFound):
        memory.get("talk")


def test_a62_paraphrases_and_a_cap_keep_the_store_small(open_memory, tmp_path, clock):
    memory = open_memory(tmp_path / "m.db")
    facts = [
        f"The {thing} stands in the {place}."
        for thing, place in zip(
            ["kettle", "lamp", "chair", "piano", "clock"],
            ["attic", "hall", "shed", "den", "loft"],
            strict=True,
        )
    ]
    for turn in range(100):
        fact = facts[turn % 5]
        memory.remember(fact if turn % 2 else fact.lower().rstrip("."), speaker="Mira")
        memory.remember(f"small remark number {turn} on the weather", importance=0.3)
        clock.advance(hours=6)
        if turn % 10 == 9:
            memory.sweep(keep=20)
            assert len(memory.find()) <= 20
    contents = {u.content.casefold().rstrip(".") for u in memory.find()}
    assert {fact.casefold().rstrip(".") for fact in facts} <= contents


def test_a_dry_run_tells_exactly_what_will_happen(memory, clock):
    for i in range(8):
        memory.remember(f"remark {i} of the day", importance=0.05 * i + 0.1, consolidate=False)
    clock.advance(days=120)
    before = memory.find(), memory.stats()["memories"]
    planned = memory.sweep(dry_run=True)
    assert planned.batch is None
    assert (memory.find(), memory.stats()["memories"]) == before
    done = memory.sweep()
    assert done.steps == planned.steps
    assert done.counts == {"archive": sum(s.fate == "archive" for s in done.steps)}


def test_a_sweep_merges_what_says_the_same_and_undo_splits_it_again(memory, clock):
    memory.remember("The spare key is in the blue box.", speaker="Mira", consolidate=False, metadata={"n": 1})
    memory.remember("the spare key is in the blue box", speaker="Mira", consolidate=False, importance=0.9)
    before = {u.id: u for u in memory.find()}
    sweep = memory.sweep()
    assert sweep.counts == {"merge": 1}
    (merged,) = memory.find()
    assert merged.importance == 0.9
    assert [o.text for o in merged.occurrences] == ["The spare key is in the blue box."]
    assert memory.sweep().steps == ()
    undone = memory.undo(sweep.batch)
    assert len(undone.restored) == 2
    assert {u.id: u for u in memory.find()} == before
    assert len(memory.recall("spare key blue box", floor=None)) == 2


def test_undo_skips_and_names_what_changed_since(memory, clock):
    for i in range(3):
        memory.remember(f"remark {i}", id=f"r{i}", importance=0.1, consolidate=False)
    clock.advance(days=30)
    batch = memory.sweep().batch
    memory.update("r1", importance=0.7)
    memory.erase("r2")
    undone = memory.undo(batch)
    assert [key[1] for key in undone.restored] == ["r0"]
    assert {(key[1], why) for key, why in undone.skipped} == {("r1", "changed since"), ("r2", "erased")}
    assert memory.get("r0").status is Status.ACTIVE
    with pytest.raises(NotFound):
        memory.get("r2")
    with pytest.raises(NotFound):
        memory.undo("no such batch")


def test_an_erased_successor_lets_its_predecessor_hold_again(memory, clock):
    old, new = say(memory, clock, "My favourite editor is Alder.", "My favourite editor is now Birch.")
    memory.erase(new.id)
    assert memory.get(old.id).status is Status.ACTIVE
    assert memory.get(old.id).valid_to is None
    assert [h.unit.id for h in memory.recall("favourite editor", floor=None)] == [old.id]


def test_erasing_the_middle_of_a_timeline_joins_its_ends(memory, clock):
    a, b, c = say(
        memory, clock, "The gateway port is 7420.", "The gateway port is 7421.", "The gateway port is 7422."
    )
    memory.erase(b.id)
    assert memory.get(a.id).status is Status.SUPERSEDED
    assert memory.get(c.id).status is Status.ACTIVE
    assert [u.id for u in memory.history(c.id)] == [a.id, c.id]


def test_undo_works_in_the_written_scope_only(open_memory, tmp_path, clock):
    path = tmp_path / "m.db"
    one, two = open_memory(path, scope="u1"), open_memory(path, scope="u2")
    one.remember("remark", importance=0.1)
    clock.advance(days=30)
    batch = one.sweep().batch
    with pytest.raises(NotFound):
        two.undo(batch)


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["remember", "remember", "evolve", "use", "update", "forget", "wait"]),
        st.integers(0, 5),
    ),
    max_size=14,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ACTIONS, st.integers(1, 200))
def test_undoing_a_sweep_restores_the_state_and_the_journal_replays_to_it(actions, idle):
    clock = FixedClock(START)
    with Hindsight.open(
        ":memory:", "u", embedder=HashEmbedder(64), clock=clock, new_id=CountedIds()
    ) as memory:
        for action, n in actions:
            clock.advance(hours=n + 1)
            match action:
                case "remember":
                    memory.remember(f"remark {n} on the shed", importance=n / 10)
                case "evolve":
                    memory.remember(f"The gateway port is 742{n}.", speaker="Mira")
                case "use":
                    memory.recall("shed gateway", floor=None).context()
                case "wait":
                    clock.advance(days=20 * n)
                case _:
                    units = memory.find()
                    if units and action == "update":
                        memory.update(units[n % len(units)].id, importance=n / 5)
                    elif units:
                        memory.forget(units[n % len(units)].id)
        clock.advance(days=idle)
        everything = lambda: {u.key: u for s in Status for u in memory.find(status=s)}  # noqa: E731
        before = everything()
        sweep = memory.sweep()
        assert memory.sweep().steps == ()
        if sweep.batch:
            assert memory.undo(sweep.batch).skipped == ()
        assert everything() == before
        rebuilt = replay(memory.parts.store.events())
        plain = lambda units: {  # noqa: E731
            k: (u.content, u.status, u.importance, u.valid_to, u.related_ids, u.occurrences)
            for k, u in units.items()
        }
        assert plain(rebuilt) == plain(before)


def test_a64_links_are_kept_at_both_ends(memory, clock):
    old, new = say(memory, clock, "My favourite editor is Alder.", "My favourite editor is now Birch.")
    (forward,) = [link for link in memory.get(new.id).related_ids if link.kind is LinkKind.EVOLVES]
    (back,) = [link for link in memory.get(old.id).related_ids if link.kind is LinkKind.EVOLVES]
    assert (forward.id, forward.outgoing) == (old.id, True)
    assert (back.id, back.outgoing) == (new.id, False)


def test_a_fading_memory_ranks_below_an_equal_one_that_is_used(memory, clock):
    memory.remember(
        "the kettle in the attic is dented", id="a", importance=0.5, consolidate=False, timestamp=None
    )
    memory.remember(
        "the kettle in the cellar is dented", id="b", importance=0.5, consolidate=False, timestamp=None
    )
    clock.advance(days=60)
    hits = memory.recall("dented kettle cellar", k=1)
    hits.context()
    by_id = {h.unit.id: h.signals["importance"].value for h in memory.recall("dented kettle", floor=None)}
    assert by_id["b"] > by_id["a"]
    assert np.isclose(by_id["a"], 0.5 * 0.5 * 0.99**60)


def test_expiry_is_swept(memory, clock):
    memory.remember("guest wifi code for today", expires_at=START + timedelta(days=1), pinned=True)
    clock.advance(days=2)
    assert memory.sweep().counts == {"delete": 1}
