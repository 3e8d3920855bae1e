"""Who may see what, by law: exact questions, searches and the past all agree with a plain reading of the rules."""

from dataclasses import replace
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from hindsight_core.contract.base import day, entry, found, probe, unit
from hindsight_core.filters import Filter
from hindsight_core.journal import replay
from hindsight_core.ports import Visibility
from hindsight_core.scope import covers
from hindsight_core.stores.codec import decode_episode, decode_unit, encode_episode, encode_unit
from hindsight_core.stores.sqlite import SqliteStore
from hindsight_core.unit import Episode, Link, LinkKind, Status

SCOPES = [("a",), ("a", "b"), ("a", "b", "c"), ("b",), ("a", "bb"), ('a","b',)]
DAYS = st.integers(0, 6).map(day)
SOMETIMES = st.none() | DAYS
FIELDS = st.fixed_dictionaries(
    {
        "timestamp": SOMETIMES,
        "valid_from": SOMETIMES,
        "valid_to": SOMETIMES,
        "expires_at": SOMETIMES,
        "status": st.sampled_from(Status),
        "indexed": st.booleans(),
        "metadata": st.sampled_from([{}, {"team": "ops"}, {"team": "web"}]),
    }
)
KEYS = st.tuples(st.sampled_from(SCOPES), st.sampled_from(["x", "y", "z"]))
LINKS = st.lists(
    st.builds(Link, st.sampled_from(["x", "y", "z", "gone"]), st.sampled_from(LinkKind), st.booleans()),
    max_size=2,
).map(tuple)
CHANGES = st.lists(st.tuples(KEYS, st.none() | FIELDS, LINKS), min_size=1, max_size=8)
CHANGES_OF_TWO = st.lists(
    st.tuples(st.tuples(st.just(("a",)), st.sampled_from(["x", "y"])), st.none() | FIELDS | FIELDS, LINKS),
    min_size=2,
    max_size=8,
)
VISIBILITIES = st.builds(
    Visibility,
    scopes=st.lists(st.sampled_from([*SCOPES, ("nobody",)]), min_size=1, max_size=2).map(tuple),
    now=DAYS,
    statuses=st.sets(st.sampled_from(Status)).map(frozenset),
    where=st.none()
    | st.sampled_from([{"metadata.team": "ops"}, {"metadata.team": {"$ne": "ops"}}]).map(Filter.parse),
    as_of=SOMETIMES,
    unindexed=st.booleans(),
)


OF_THE_PAST = st.builds(
    Visibility,
    scopes=st.just((("a",),)),
    now=st.sampled_from([day(-1), day(3)]),
    statuses=st.sampled_from([frozenset(Status), frozenset({Status.ACTIVE})]),
    known_at=st.integers(-1, 8).map(lambda number: day(number) + timedelta(hours=1)),
    as_of=st.none() | DAYS,
    unindexed=st.just(True) | st.booleans(),
)


def may_be_seen(unit, visible):
    """The rules of `ports.Visibility`, one after the other."""
    statuses = set(visible.statuses)
    if visible.as_of is not None:
        statuses.add(Status.SUPERSEDED)
        start = unit.valid_from or unit.timestamp
        if start is not None and start > visible.as_of:
            return False
        if unit.valid_to is not None and unit.valid_to <= visible.as_of:
            return False
    if unit.expires_at is not None and unit.expires_at <= visible.now:
        return False
    if not unit.indexed and not visible.unindexed:
        return False
    if visible.where is not None and not visible.where.matches(unit):
        return False
    return unit.status in statuses and any(covers(prefix, unit.scope) for prefix in visible.scopes)


def carry_out(store, changes):
    """Put (or, with no fields, remove) one after the other, one change each day."""
    for number, ((scope, id), fields, links) in enumerate(changes):
        with store.write(actor="test", batch=f"b{number}", now=day(number)) as tx:
            before = tx.get((scope, id))
            if fields is not None:
                recorded = day(number) if before is None else before.recorded_at
                one = unit(id, "memory", scope, recorded_at=recorded, related_ids=links, **fields)
                tx.put(one, entry("memory") if before is None else None, reason="test")
            elif before is not None:
                tx.remove(before.key, reason="test")


def keys(units):
    return sorted(unit.key for unit in units)


@settings(max_examples=120, deadline=None)
@given(changes=CHANGES | CHANGES_OF_TWO, visibilities=st.lists(VISIBILITIES, min_size=1, max_size=4))
def test_finding_counting_and_searching_agree_with_the_rules(changes, visibilities):
    store = SqliteStore.open(":memory:")
    carry_out(store, changes)
    present = replay(store.events())
    for visible in visibilities:
        wanted = keys(u for u in present.values() if may_be_seen(u, visible))
        assert keys(store.find(visible)) == wanted
        assert store.count(visible) == {"": len(wanted)}
        assert sum(store.count(visible, by="status").values()) == len(wanted)
        with store.reading(visible) as reading:
            candidates, bank = reading.search(probe(visible, words={"memory": 1}))
            searched = [u for u in present.values() if u.indexed and may_be_seen(u, visible)]
            assert keys(reading.units(candidates.rows)) == keys(searched)
            assert bank.size == len(searched)
    store.close()


@settings(max_examples=120, deadline=None)
@given(changes=CHANGES_OF_TWO, visible=OF_THE_PAST)
def test_the_past_is_what_a_replay_up_to_then_gives(changes, visible):
    """Except that what is gone now does not come back."""
    store = SqliteStore.open(":memory:")
    carry_out(store, changes)
    present = replay(store.events())
    past = replay(event for event in store.events() if event.at <= visible.known_at)
    # A memory removed and told again is a new one; the old one is gone.
    seen = [
        u
        for key, u in past.items()
        if key in present and present[key].seq == u.seq and may_be_seen(u, visible)
    ]
    bare = sorted((replace(u, related_ids=()) for u in seen), key=lambda u: u.key)
    assert [replace(u, related_ids=()) for u in sorted(store.find(visible), key=lambda u: u.key)] == bare
    assert store.count(visible) == {"": len(seen)}
    with store.reading(visible) as reading:
        candidates, _ = reading.search(probe(visible, words={"memory": 1}))
        assert found(reading, probe(visible, words={"memory": 1})) == sorted(candidates.ids)
        assert {u.key for u in reading.units(candidates.rows)} <= {u.key for u in seen}
        assert {u.key for u in seen if u.indexed and present[u.key].indexed} <= {
            u.key for u in reading.units(candidates.rows)
        }
    store.close()


@settings(max_examples=150, deadline=None)
@given(changes=CHANGES | CHANGES_OF_TWO)
def test_a_replay_of_the_journal_is_the_store(changes):
    store = SqliteStore.open(":memory:")
    carry_out(store, changes)
    everything = Visibility(scopes=tuple(SCOPES), now=day(-1), statuses=frozenset(Status), unindexed=True)
    present = {u.key: u for u in store.find(everything)}
    assert replay(store.events()) == present
    for one in present.values():  # every link stands at both ends
        for link in one.related_ids:
            back = present[one.scope, link.id].related_ids
            assert any(other.id == one.id and other.kind is link.kind for other in back)
    assert store.check() == []
    store.close()


@settings(max_examples=200, deadline=None)
@given(
    content=st.text(),
    fields=FIELDS,
    links=LINKS,
    metadata=st.dictionaries(
        st.text(),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(), st.lists
        ),
    ),
)
def test_json_loses_nothing(content, fields, links, metadata):
    one = replace(unit("x", content or "x", **fields), related_ids=links, metadata=metadata)
    assert decode_unit(encode_unit(one)) == one
    said = Episode(
        scope=("a",),
        id="e",
        text=content,
        recorded_at=day(0),
        metadata=metadata,
        timestamp=fields["timestamp"],
    )
    assert decode_episode(encode_episode(said)) == said
