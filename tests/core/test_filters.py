"""The filter language: what matches, what is refused, and that SQL says the same as Python."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hindsight_core.errors import InvalidInput
from hindsight_core.filters import Filter
from hindsight_core.ports import IndexEntry, Visibility
from hindsight_core.stores.sqlite import SqliteStore
from hindsight_core.text.tokens import pack
from hindsight_core.unit import Entity, MemoryType, MemoryUnit, Source, Status

NOW = datetime(2031, 5, 4, 12, 0, tzinfo=UTC)
SCOPE = ("kestrel", "mei")

UNIT = MemoryUnit(
    scope=SCOPE,
    id="note-1",
    content="Redis 监听 7420 端口。",
    recorded_at=NOW,
    weight_at=NOW,
    timestamp=datetime(2031, 5, 4, 9, 30, tzinfo=timezone(timedelta(hours=8))),
    entities=(
        Entity("Redis", "system", "redis"),
        Entity("小明", "person", "陈小明"),
        Entity("yesterday", "time", "2031-05-03/2031-05-04"),
    ),
    importance=0.8,
    weight=0.6,
    access_count=3,
    source=Source(speaker="user", session="s1"),
    memory_type=MemoryType.SEMANTIC,
    metadata={
        "team": "ops",
        "rank": 3,
        "score": 2.5,
        "done": True,
        "nothing": None,
        "tags": ["红", "green", 7],
        "due": "2031-06-01T00:00:00+08:00",
        "deep": {"port": 7420, "list": [{"host": "a"}, {"host": "b"}]},
    },
)


@pytest.mark.parametrize(
    "where",
    [
        {},
        {"speaker": "user"},
        {"speaker": "user", "type": "semantic"},
        {"type": MemoryType.SEMANTIC},
        {"status": {"$in": [Status.ACTIVE, "archived"]}},
        {"importance": {"$gte": 0.8, "$lt": 1}},
        {"access_count": 3},
        {"access_count": {"$gt": 2.5}},
        {"pinned": False},
        {"id": {"$gt": "note", "$lt": "note-2"}},
        {"document": None},
        {"document": {"$ne": "readme"}},
        {"document": {"$nin": ["readme", "notes"]}},
        {"document": {"$in": [None, "readme"]}},
        {"timestamp": "2031-05-04T01:30:00Z"},
        {"timestamp": {"$gte": "2031-05-04", "$lt": "2031-05-05"}},
        {"timestamp": {"$gte": datetime(2031, 5, 4)}},  # naive is UTC
        {"valid_to": None},
        {"entity": "redis"},
        {"entity": " ＲＥＤＩＳ "},
        {"entity": "小明"},
        {"entity": "陈小明"},
        {"entity": {"$in": ["kafka", "Redis"]}},
        {"entity": {"$ne": "kafka"}},
        {"entity": "yesterday"},
        {"entity_type": "person"},
        {"metadata.team": "ops"},
        {"metadata.rank": 3.0},
        {"metadata.rank": {"$gt": 2, "$lte": 3}},
        {"metadata.done": True},
        {"metadata.done": {"$ne": 1}},
        {"metadata.rank": {"$ne": "3"}},
        {"metadata.nothing": None},
        {"metadata.absent": None},
        {"metadata.absent": {"$ne": "x"}},
        {"metadata.tags": "红"},
        {"metadata.tags": {"$gte": 7}},
        {"metadata.tags": {"$in": ["blue", "green"]}},
        {"metadata.due": {"$lt": datetime(2031, 6, 1, tzinfo=UTC)}},
        {"metadata.due": "2031-06-01T00:00:00+08:00"},
        {"metadata.deep.port": 7420},
        {"metadata.deep.list.host": "b"},
        {"$or": [{"speaker": "assistant"}, {"metadata.rank": {"$lt": 4}}]},
        {"$and": [{"speaker": "user"}, {"$not": {"entity": "kafka"}}]},
        {"$not": {"speaker": "user", "metadata.rank": 4}},
    ],
)
def test_matches(where):
    assert Filter.parse(where).matches(UNIT)


@pytest.mark.parametrize(
    "where",
    [
        {"speaker": "User"},
        {"speaker": "user", "type": "episodic"},
        {"document": "readme"},
        {"document": {"$gt": ""}},  # a missing value meets no comparison
        {"document": {"$in": []}},
        {"timestamp": {"$lt": "2031-05-04"}},
        {"valid_to": {"$lt": "2040-01-01"}},
        {"entity": "kafka"},
        {"entity_type": "config"},
        {"entity_type": None},
        {"metadata.rank": "3"},  # text is not a number
        {"metadata.rank": True},
        {"metadata.done": 1},  # a number is not a boolean
        {"metadata.rank": {"$gt": "1"}},
        {"metadata.team": {"$gt": 1}},
        {"metadata.team": None},
        {"metadata.nothing": {"$ne": None}},
        {"metadata.tags": {"$ne": "红"}},  # the opposite of "any value equals"
        {"metadata.due": {"$lt": "2031-01-01"}},  # text against text: by code point
        {"metadata.deep": "port"},
        {"metadata.port": 7420},
        {"$not": {}},
        {"$not": {"$or": [{"speaker": "user"}, {"speaker": "x"}]}},
    ],
)
def test_does_not_match(where):
    assert not Filter.parse(where).matches(UNIT)


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ({"colour": "red"}, "metadata.NAME"),
        ({"content": "x"}, "speaker"),
        ({"metadata": {}}, "metadata.NAME"),
        ({"metadata.": 1}, "metadata.NAME"),
        ({"speaker": {"$like": "u%"}}, r"\$like.*\$eq"),
        ({"speaker": {}}, "empty"),
        ({"$nor": [{}]}, r"\$nor"),
        ({"$or": []}, "at least one"),
        ({"$and": {"speaker": "user"}}, "list"),
        ({"$or": "speaker"}, "list"),
        ({"speaker": 5}, "string"),
        ({"speaker": ["user"]}, "string"),
        ({"importance": "high"}, "number"),
        ({"importance": True}, "number"),
        ({"importance": float("nan")}, "number"),
        ({"pinned": 1}, "True or False"),
        ({"pinned": {"$gt": False}}, "no order"),
        ({"type": "dream"}, "episodic, semantic, procedural"),
        ({"type": {"$gt": "episodic"}}, "no order"),
        ({"entity": {"$gt": "a"}}, "no order"),
        ({"timestamp": "last week"}, "ISO"),
        ({"timestamp": 1.5e9}, "datetime"),
        ({"timestamp": {"$gt": None}}, "no order"),
        ({"speaker": {"$in": "user"}}, "list"),
        ({"metadata.a": {"$in": [{}]}}, "dict"),
        ({"metadata.a": {"$eq": {"b": 1}}}, "dict"),
        ({"metadata.a": {"$eq": [1]}}, "list"),
        ({1: 2}, "field names"),
        ("speaker = 'user'", "must be a dict"),
        ({"id": {"$in": [str(i) for i in range(6000)]}}, "at most"),
    ],
)
def test_what_is_wrong_is_refused_and_said(where, names):
    with pytest.raises(InvalidInput, match=names):
        Filter.parse(where)


def test_a_filter_nested_without_end_is_refused():
    where = {"speaker": "user"}
    for _ in range(2000):
        where = {"$not": where}
    with pytest.raises(InvalidInput, match="nested"):
        Filter.parse(where)


def test_filters_are_values():
    one = Filter.parse({"metadata.a": {"$in": [1, "x"]}})
    other = Filter.parse({"metadata.a": {"$in": ["x", 1.0]}})
    assert one == other
    assert hash(one) == hash(other)
    assert Filter.parse({"metadata.a": 1}) != Filter.parse({"metadata.a": True})


# -- SQL says the same ---------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    ["", "a", "A", "b", "é", "猫", "猫\x00狗", "🐈", "\ud83e", "2031-05-04", "2031-5-4 08:00+08:00", "1"]
)
NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([0.0, -0.0, 0.5, 1.0, 2**53 + 1, float(2**53), 2**63, -(2**70), 10**400, float("inf")]),
)
INSTANTS = st.sampled_from(
    [
        datetime(2031, 5, 4, tzinfo=UTC),
        datetime(2031, 5, 4, 8, tzinfo=timezone(timedelta(hours=8))),
        datetime(2031, 5, 4, 0, 0, 0, 1, tzinfo=UTC),
        datetime(1, 1, 1, 8, tzinfo=timezone(timedelta(hours=8))),
        datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    ]
)
LEAVES = st.one_of(st.none(), st.booleans(), NUMBERS, WORDS, st.just(float("nan")))
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)
ENTITIES = st.builds(
    Entity,
    st.sampled_from(["Redis", "ＲＥＤＩＳ", "Mei  Lin", "猫"]),
    st.sampled_from(["person", "system"]),
    st.sampled_from(["redis", "mei lin", "猫", "REDIS"]),
)
UNITS = st.builds(
    lambda **fields: MemoryUnit(scope=SCOPE, content="x", weight_at=NOW, **fields),
    id=st.sampled_from(["a", "b", "c#1", "备忘1"]),
    recorded_at=INSTANTS,
    timestamp=st.none() | INSTANTS,
    valid_from=st.none() | INSTANTS,
    valid_to=st.none() | INSTANTS,
    entities=st.lists(ENTITIES, max_size=3).map(tuple),
    importance=st.sampled_from([0, 0.5, 1.0]),
    weight=st.sampled_from([0.25, 1]),
    access_count=st.integers(0, 2),
    pinned=st.booleans(),
    memory_type=st.sampled_from(MemoryType),
    source=st.builds(
        Source, speaker=st.none() | WORDS, session=st.none() | WORDS, document=st.none() | WORDS
    ),
    metadata=st.dictionaries(st.sampled_from(["a", "b", "a.b", '"', "'"]), JSON, max_size=3),
)


def conditions():
    """Random filters over every kind of field, each of them well-formed."""
    order = st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"])
    equality = st.sampled_from(["$eq", "$ne"])

    def on(names, values, operators):
        one = st.tuples(st.sampled_from(names), operators, values).map(lambda t: {t[0]: {t[1]: t[2]}})
        some = st.tuples(
            st.sampled_from(names), st.sampled_from(["$in", "$nin"]), st.lists(values | st.none(), max_size=3)
        ).map(lambda t: {t[0]: {t[1]: t[2]}})
        none = st.tuples(st.sampled_from(names), equality).map(lambda t: {t[0]: {t[1]: None}})
        return one | some | none

    numbers = NUMBERS.filter(lambda n: n == n)
    paths = ["metadata.a", "metadata.b", "metadata.a.b", "metadata.a.a", 'metadata."', "metadata.'"]
    test = st.one_of(
        on(["id", "speaker", "session", "document", "uri"], WORDS, order),
        on(["importance", "weight", "access_count"], numbers, order),
        on(["timestamp", "recorded_at", "valid_from", "valid_to"], INSTANTS, order),
        on(["pinned"], st.booleans(), equality),
        on(["type"], st.sampled_from(MemoryType), equality),
        on(["entity"], st.sampled_from(["Redis", "mei lin", "猫", "x"]), equality),
        on(["entity_type"], st.sampled_from(["person", "x"]), equality),
        on(paths, WORDS | numbers | INSTANTS, order),
        on(paths, st.booleans(), equality),
    )
    return st.recursive(
        test,
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"$and": parts}),
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"$or": parts}),
            inner.map(lambda part: {"$not": part}),
        ),
        max_leaves=4,
    )


@settings(max_examples=300, deadline=None)
@given(units=st.lists(UNITS, min_size=1, max_size=4, unique_by=lambda u: u.id), where=conditions())
@example(units=[UNIT], where={"metadata.tags": {"$ne": "红"}})
def test_sql_agrees_with_python(units, where):
    found = Filter.parse(where)
    visible = Visibility(scopes=(SCOPE,), now=datetime.min.replace(tzinfo=UTC), where=found)
    store = SqliteStore.open(":memory:")
    with store.write(actor="test", batch="b", now=NOW) as tx:
        for unit in units:
            tx.put(unit, IndexEntry(vector=None, terms=pack([])), reason="test")
    by_sql = {unit.id for unit in store.find(visible)}
    store.close()
    assert by_sql == {unit.id for unit in units if found.matches(unit)}
