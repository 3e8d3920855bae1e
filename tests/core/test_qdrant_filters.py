"""Filters as conditions: the same memories as the filter itself finds, or, where that is said, a few more."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("qdrant_client", reason="needs the extra [qdrant]")

from hindsight_core.filters import Filter
from hindsight_core.ports import IndexEntry, Visibility
from hindsight_core.stores.qdrant import QdrantStore, filters
from hindsight_core.stores.qdrant.points import UNITS, matches
from hindsight_core.text.tokens import pack
from hindsight_core.unit import Entity, MemoryType, MemoryUnit, Source, Status

NOW = datetime(2031, 5, 4, 12, tzinfo=UTC)
U = ("u",)


def made(id, **fields):
    return MemoryUnit(scope=U, id=id, content=f"memory {id}", recorded_at=NOW, weight_at=NOW, **fields)


UNITS_ = [
    made("a", metadata={"team": "ops", "rank": 1, "due": "2031-05-02"}, source=Source(speaker="Mei", session="s")),
    made("b", metadata={"team": "web", "rank": 2.5, "ok": True}, timestamp=NOW, importance=0.9, pinned=True),
    made("c", metadata={"rank": "1", "deep": {"tags": ["x", "红"]}}, entities=(Entity("Redis", "system", "redis"),)),
    made("d", metadata={'q"uote': 3, "rank": -4}, memory_type=MemoryType.SEMANTIC, valid_to=NOW - timedelta(days=1)),
    made("e", status=Status.ARCHIVED, timestamp=NOW - timedelta(days=3), access_count=2, weight=0.1),
]  # fmt: skip
EVERY = frozenset(Status)


@pytest.fixture(scope="module")
def store():
    store = QdrantStore.connect(":memory:")
    with store.write(actor="test", batch="b", now=NOW) as tx:
        for unit in UNITS_:
            tx.put(unit, IndexEntry(vector=None, terms=pack(["memory"])), reason="test")
    yield store
    store.close()


VALUES = {
    "metadata.team": ["ops", "web", "z", None],
    "metadata.rank": [1, 1.0, 2.5, "1", -4, None, True],
    "metadata.due": ["2031-05-02", datetime(2031, 5, 2, tzinfo=UTC), datetime(2031, 6, 1, tzinfo=UTC)],
    "metadata.ok": [True, False, 1],
    "metadata.deep.tags": ["x", "红", "y"],
    'metadata.q"uote': [3, 4],
    "entity": ["REDIS", "x", None],
    "entity_type": ["system"],
    "speaker": ["Mei", None],
    "importance": [0.5, 0.9],
    "weight": [0.1, 0.5],
    "access_count": [0, 2],
    "pinned": [True, False],
    "type": ["semantic", "episodic"],
    "status": ["active", "archived"],
    "timestamp": [NOW, NOW - timedelta(days=3), None],
    "valid_to": [NOW, None],
    "id": ["a", "e", "z"],
}


def comparisons():
    def of(name):
        value = st.sampled_from(VALUES[name])
        ordered = name in (
            "metadata.rank",
            "metadata.due",
            "importance",
            "weight",
            "timestamp",
            'metadata.q"uote',
            "speaker",
        )
        orders = st.sampled_from(["$gt", "$gte", "$lt", "$lte"])
        return st.one_of(
            value.map(lambda v: {name: v}),
            value.map(lambda v: {name: {"$ne": v}}),
            st.lists(value, min_size=1, max_size=3).map(lambda vs: {name: {"$in": vs}}),
            *([st.tuples(orders, value).map(lambda pair: {name: {pair[0]: pair[1]}})] if ordered else []),
        )

    return st.sampled_from(sorted(VALUES)).flatmap(of)


WHERE = st.recursive(
    comparisons(),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"$and": parts}),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"$or": parts}),
        inner.map(lambda part: {"$not": part}),
    ),
    max_leaves=5,
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=WHERE)
def test_a_condition_finds_what_the_filter_means(store, where):
    try:
        parsed = Filter.parse(where)
    except ValueError:
        return  # an order of what has none
    meant = {unit.id for unit in UNITS_ if parsed.matches(unit)}
    visible = Visibility(scopes=(U,), now=NOW, statuses=EVERY, where=parsed)
    seen = filters.seen(visible)
    stored = dict(store.view().scroll(UNITS, seen.condition))
    found = {payload["id"] for payload in stored.values()}
    assert found == meant if seen.exact else found >= meant
    every = dict(store.view().scroll(UNITS, {"must": []})).values()
    assert {payload["id"] for payload in every if matches(payload, seen.condition)} == found
    assert {unit.id for unit in store.find(visible)} == meant
    assert store.count(visible) == {"": len(meant)}


@pytest.mark.parametrize("where", [{"speaker": {"$gt": "A"}}, {"weight": {"$lt": 0.3}}, {"access_count": 2}])
def test_what_an_engine_cannot_be_asked_is_said(where):
    visible = Visibility(scopes=(U,), now=NOW, where=Filter.parse(where))
    assert not filters.seen(visible).exact


def test_only_what_is_not_exact_is_looked_at_again():
    visible = Visibility(scopes=(U,), now=NOW, where=Filter.parse({"metadata.rank": {"$gt": 1}}))
    assert filters.seen(visible).exact
    assert filters.seen(Visibility(scopes=(U,), now=NOW)).exact
    assert not filters.seen(Visibility(scopes=(U,), now=NOW, known_at=NOW)).exact
