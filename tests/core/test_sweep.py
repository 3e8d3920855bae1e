"""A sweep over a store: what it compares, what it leaves alone, and that nothing is left to do after it."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindsight_core import Hindsight
from hindsight_core.clock import CountedIds, FixedClock
from hindsight_core.embedding import HashEmbedder
from hindsight_core.engine import alike
from hindsight_core.engine.settle import MOST_OCCURRENCES
from hindsight_core.errors import NotFound
from hindsight_core.journal import replay
from hindsight_core.stores.sqlite import SqliteStore
from hindsight_core.unit import Status

START = datetime(2031, 1, 1, 9, tzinfo=UTC)


@pytest.fixture(autouse=True)
def from_the_start(clock):
    clock.set(START)


def tell(memory, *texts, **options):
    return [unit for text in texts for unit in memory.remember(text, consolidate=False, **options)]


class Watched:
    """A store that lets something happen before the first write of a sweep."""

    def __init__(self, store, meanwhile):
        self._store = store
        self._meanwhile = meanwhile

    def __getattr__(self, name):
        return getattr(self._store, name)

    def write(self, **options):
        if options["actor"] == "sweep":
            meanwhile, self._meanwhile = self._meanwhile, lambda: None
            meanwhile()
        return self._store.write(**options)


def watch(memory, meanwhile):
    watched = Watched(memory.parts.store, meanwhile)
    return Hindsight(replace(memory.parts, store=watched), memory.scope, memory.reach)


@pytest.fixture
def compared(monkeypatch):
    """The memories compared with all others so far."""
    seen = []
    nearest = alike._nearest
    monkeypatch.setattr(alike, "_nearest", lambda *args: (seen.extend(args[3]), nearest(*args))[1])
    return seen


# -- what is compared --------------------------------------------------------------------------------------------


def test_a_later_sweep_compares_only_what_changed_since(memory, compared):
    tell(
        memory,
        *(f"The {thing} stands in the {thing} room." for thing in ["kettle", "lamp", "chair", "piano"]),
    )
    memory.sweep()
    assert len(compared) == 4
    memory.sweep()
    assert len(compared) == 4
    tell(memory, "the lamp stands in the lamp room")
    assert memory.sweep().counts == {"merge": 1}
    assert len(compared) == 5
    memory.sweep(full=True)
    assert len(compared) >= 9


def test_a_dry_run_leaves_the_next_sweep_as_much_to_compare(memory):
    tell(memory, "The lamp stands in the hall.", "the lamp stands in the hall")
    assert memory.sweep(dry_run=True).counts == {"merge": 1}
    assert memory.sweep().counts == {"merge": 1}


def test_what_changes_during_a_sweep_is_compared_by_the_next(open_memory, tmp_path):
    plain = open_memory(tmp_path / "m.db")
    tell(plain, "The lamp stands in the hall.", "ok")
    memory = watch(plain, lambda: tell(plain, "the lamp stands in the hall"))
    assert memory.sweep().counts == {}
    assert memory.sweep().counts == {"merge": 1}


def test_another_embedder_makes_the_next_sweep_a_full_one(open_memory, tmp_path, compared):
    path = tmp_path / "m.db"
    with open_memory(path) as memory:
        tell(memory, "The lamp stands in the hall.", "The piano is out of tune.")
        memory.sweep()
        memory.reembed(HashEmbedder(64), progress=False)
    compared.clear()
    open_memory(path, embedder=HashEmbedder(64)).sweep()
    assert len(compared) == 2


def test_each_scope_has_its_own_place(open_memory, tmp_path):
    path = tmp_path / "m.db"
    one, two = open_memory(path, scope="u1"), open_memory(path, scope="u2")
    tell(one, "The lamp stands in the hall.", "the lamp stands in the hall")
    tell(two, "The lamp stands in the hall.", "the lamp stands in the hall")
    assert one.sweep().counts == {"merge": 1}
    assert two.sweep().counts == {"merge": 1}


# -- what is left alone ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda memory: memory.update("a", text="The piano stands in the hall."),
        lambda memory: memory.update("a", pinned=True),
        lambda memory: memory.forget("a"),
        lambda memory: memory.erase("a"),
    ],
)
def test_what_was_changed_meanwhile_is_not_merged(open_memory, tmp_path, meanwhile):
    plain = open_memory(tmp_path / "m.db")
    tell(plain, "The lamp stands in the hall.", id="a", importance=0.9)
    tell(plain, "the lamp stands in the hall", importance=0.5)
    memory = watch(plain, lambda: meanwhile(plain))
    done = memory.sweep()
    assert (done.counts, done.skipped, done.batch) == ({}, 1, None)
    assert "the lamp stands in the hall" in [unit.content for unit in plain.find()]


def test_what_was_used_meanwhile_is_not_archived(open_memory, tmp_path, clock):
    plain = open_memory(tmp_path / "m.db")
    tell(plain, "the kettle is green", importance=0.12)
    clock.advance(days=40)
    memory = watch(plain, lambda: plain.recall("green kettle").context())
    assert memory.sweep().skipped == 1
    assert [unit.access_count for unit in plain.find()] == [1]


def test_one_the_caller_named_and_one_that_is_pinned_stay_and_take_in_others(memory):
    tell(memory, "The lamp stands in the hall.", id="mine", importance=0.2)
    tell(memory, "the lamp stands in the hall", importance=0.9)
    tell(memory, "The piano is out of tune.", pinned=True, importance=0.2)
    tell(memory, "the piano is out of tune", importance=0.9)
    assert memory.sweep().counts == {"merge": 2}
    assert {unit.content for unit in memory.find()} == {
        "The lamp stands in the hall.",
        "The piano is out of tune.",
    }


def test_two_the_caller_named_both_stay(memory):
    tell(memory, "The lamp stands in the hall.", id="a")
    tell(memory, "the lamp stands in the hall", id="b")
    assert memory.sweep().steps == ()


# -- nothing is left ---------------------------------------------------------------------------------------------


def test_many_repeats_become_one_memory_at_once(memory):
    tell(memory, *(f"The lamp stands in the hall{'.!?'[i % 2]}" for i in range(30)), "The piano is green.")
    assert memory.sweep().counts == {"merge": 29}
    assert memory.sweep(full=True).steps == ()
    (lamp,) = [unit for unit in memory.find() if "lamp" in unit.content]
    assert len(lamp.occurrences) == 29


def test_a_memory_holds_only_so_many_occurrences_then_another_begins(memory):
    tell(memory, *(["The lamp stands in the hall."] * 80))
    done = memory.sweep()
    assert (done.counts, done.skipped) == ({"merge": 77}, 0)
    assert sorted(len(unit.occurrences) for unit in memory.find()) == [13, MOST_OCCURRENCES, MOST_OCCURRENCES]
    assert memory.sweep(full=True).steps == ()


def test_metadata_that_disagree_keep_two_apart_those_taken_over_included(memory):
    tell(memory, "The lamp stands in the hall.", importance=0.9)
    tell(memory, "The lamp stands in the hall.", importance=0.8, metadata={"project": "kestrel"})
    tell(memory, "The lamp stands in the hall.", importance=0.7, metadata={"project": "alder"})
    assert memory.sweep().counts == {"merge": 1}
    assert [unit.metadata for unit in memory.find()] == [{"project": "alder"}, {"project": "kestrel"}]
    assert memory.sweep(full=True).steps == ()


WORDS = ["lamp", "Lamp", "green lamp", "灯", "绿灯", "lamp 3", "lamp 4"]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(WORDS), st.sampled_from(["", ".", "!"]), st.integers(0, 9), st.booleans(),
            st.sampled_from(["", "x"]), st.sampled_from([{}, {}, {"a": 1}, {"a": 2}, {"b": 1}]),
        ),
        max_size=24,
    ),
    st.integers(0, 200),
)  # fmt: skip
def test_a_second_full_sweep_finds_nothing_to_do_by_its_own_logic(told, idle):
    clock = FixedClock(START)
    with Hindsight.open(
        ":memory:", "u", embedder=HashEmbedder(64), clock=clock, new_id=CountedIds()
    ) as memory:
        for place, (word, end, importance, named, below, metadata) in enumerate(told):
            handle = memory.within(below) if below else memory
            id = f"named-{place}" if named else None
            tell(
                handle,
                f"the {word} stands in the hall{end}",
                importance=importance / 10,
                id=id,
                metadata=metadata,
            )
        clock.advance(days=idle)
        memory.sweep()
        assert memory.sweep(full=True).steps == ()


def test_vitals_are_read_to_their_end_in_order_of_arrival(tmp_path, clock):
    store = SqliteStore.open(tmp_path / "m.db", durability="normal")
    with Hindsight.open(store, "u", embedder=None, clock=clock, new_id=CountedIds()) as memory:
        memory.remember_many(
            [{"text": f"remark {i}", "id": f"{9999 - i}"} for i in range(2100)],
            consolidate=False,
            progress=False,
        )
        done = memory.sweep(keep=100)
        assert done.looked_at == 2100
        assert len(memory.find()) == 100
        assert len(memory.find(status=Status.ARCHIVED)) == 2000


def test_nearest_across_blocks_are_those_of_one(memory, monkeypatch):
    for n in range(40):
        tell(
            memory,
            f"Lamp {n % 13} stands in room {n % 7}, next to the {['piano', 'stove'][n % 2]}{'.' * (n % 3)}",
        )
    parts, keys = memory.parts, [unit.key for unit in memory.find()]

    def nearest(block, held, rows):
        monkeypatch.setattr(alike, "_BLOCK", block)
        monkeypatch.setattr(alike, "_HELD", held)
        monkeypatch.setattr(alike, "_ROWS", rows)
        found = alike._nearest(parts, parts.calibration, memory.scope, keys, keys, START)
        return {
            key: [(other, round(similarity, 4)) for other, similarity in its] for key, its in found.items()
        }

    at_once = nearest(100, 1, 100)
    assert any(len(its) == 4 for its in at_once.values())
    assert all(key not in [other for other, _ in its] for key, its in at_once.items())
    assert nearest(7, 2, 3) == at_once


# -- what the journal keeps ----------------------------------------------------------------------------------------


def test_the_journal_lets_go_of_what_has_been_gone_for_thirty_days(memory, clock):
    (gone,) = tell(memory, "The petrichorous lamp stands in the hall.")
    (kept,) = tell(memory, "The piano is out of tune.")
    memory.forget(gone.id)
    clock.advance(days=29)
    memory.sweep()
    assert len([e for e in memory.parts.store.events(key=gone.key) if e.erased]) == 0
    clock.advance(days=2)
    memory.sweep()
    assert all(
        e.erased and e.before is None and e.after is None for e in memory.parts.store.events(key=gone.key)
    )
    (told,) = memory.parts.store.events(key=kept.key)
    assert told.after is not None
    assert replay(memory.parts.store.events()) == {kept.key: memory.get(kept.id)}
    clock.advance(days=60)
    memory.sweep()
    assert memory.get(kept.id).content == kept.content


def test_the_journal_is_gone_through_once_and_some_thousand_events_at_a_time(memory, clock, monkeypatch):
    monkeypatch.setattr("hindsight_core.engine.sweep._EVENTS", 4)
    units = tell(memory, *(f"Lamp {n} stands in room {n}." for n in range(5)))
    for unit in units:
        memory.forget(unit.id)
    clock.advance(days=31)
    emptied = []
    for _ in range(4):
        memory.sweep()
        emptied.append(len({e.key for e in memory.parts.store.events() if e.erased}))
    assert emptied == [0, 3, 5, 5]


def test_a_batch_can_be_undone_for_thirty_days(memory, clock):
    tell(memory, "a remark", importance=0.1)
    clock.advance(days=1)
    batch = memory.sweep().batch
    clock.advance(days=30)
    assert len(memory.undo(batch).restored) == 1
    again = memory.sweep().batch
    clock.advance(days=30, seconds=1)
    with pytest.raises(NotFound, match="more than 30 days old"):
        memory.undo(again)
