"""Every operator of LlamaIndex filters finds what it should in a real memory, or says that it cannot."""

import pytest

pytest.importorskip("llama_index.core", reason="needs llama-index-core")
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

from hindsight_core.errors import InvalidInput
from hindsight_llamaindex.filters import both, where_of

AND, OR, NOT = FilterCondition.AND, FilterCondition.OR, FilterCondition.NOT
OP = FilterOperator


@pytest.fixture
def shelf(memory):
    memory.keep(
        [
            {
                "id": "a",
                "text": "one",
                "metadata": {"topic": "茶", "n": 1, "tags": ["x", "y"]},
                "source": "d1",
            },
            {
                "id": "b",
                "text": "two",
                "metadata": {"topic": "tea", "n": 2, "tags": ["y"], "day": "2031-02-01"},
            },
            {
                "id": "c",
                "text": "three",
                "metadata": {"topic": "", "n": 2.5, "tags": []},
                "speaker": "Mirela",
            },
            {"id": "d", "text": "four", "timestamp": "2031-01-01"},
        ]
    )
    return memory


def one(key, value, operator=OP.EQ):
    return MetadataFilters(filters=[MetadataFilter(key=key, value=value, operator=operator)])


def found(memory, filters):
    return "".join(sorted(unit.id for unit in memory.find(where=where_of(filters))))


@pytest.mark.parametrize(
    ("key", "operator", "value", "ids"),
    [
        ("topic", OP.EQ, "茶", "a"),
        ("n", OP.EQ, 2, "b"),
        ("n", OP.EQ, "2", ""),
        ("topic", OP.NE, "茶", "bcd"),
        ("n", OP.GT, 1, "bc"),
        ("n", OP.GTE, 2, "bc"),
        ("n", OP.LT, 2, "a"),
        ("n", OP.LTE, 2, "ab"),
        ("day", OP.GTE, "2031-01-15", "b"),
        ("topic", OP.IN, ["茶", "tea"], "ab"),
        ("topic", OP.NIN, ["茶", "tea"], "cd"),
        ("tags", OP.ANY, ["x", "z"], "a"),
        ("tags", OP.ALL, ["x", "y"], "a"),
        ("tags", OP.ALL, ["y"], "ab"),
        ("tags", OP.CONTAINS, "y", "ab"),
        ("topic", OP.IS_EMPTY, None, "cd"),
        ("tags", OP.IS_EMPTY, None, "cd"),
        ("ref_doc_id", OP.EQ, "d1", "a"),
        ("doc_id", OP.IN, ["d1", "d2"], "a"),
        ("document_id", OP.EQ, "d1", "a"),
        ("hindsight_speaker", OP.EQ, "Mirela", "c"),
        ("hindsight_timestamp", OP.LT, "2031-02-01", "d"),
        ("hindsight_speaker", OP.IS_EMPTY, None, "abd"),
    ],
)
def test_an_operator_finds_what_it_says(shelf, key, operator, value, ids):
    assert found(shelf, one(key, value, operator)) == ids


@pytest.mark.parametrize(("condition", "ids"), [(AND, "b"), (OR, "abc"), (NOT, "d"), (None, "b")])
def test_conditions_join(shelf, condition, ids):
    filters = MetadataFilters(
        filters=[
            MetadataFilter(key="n", value=1, operator=OP.GTE),
            MetadataFilter(key="topic", value="tea", operator=OP.EQ),
        ],
        condition=condition,
    )
    assert found(shelf, filters) == ids


def test_conditions_nest(shelf):
    inner = MetadataFilters(filters=[*one("topic", "tea").filters, *one("topic", "茶").filters], condition=OR)
    outer = MetadataFilters(filters=[inner, *one("n", 1, OP.GT).filters])
    assert found(shelf, outer) == "b"


@pytest.mark.parametrize(
    "filters", [None, MetadataFilters(filters=[]), MetadataFilters(filters=[MetadataFilters(filters=[])])]
)
def test_filters_that_ask_for_nothing_are_none(filters):
    assert where_of(filters) is None


@pytest.mark.parametrize(
    ("filters", "says"),
    [
        (one("topic", "te", OP.TEXT_MATCH), "put the words into the query"),
        (
            one("topic", "TE", OP.TEXT_MATCH_INSENSITIVE),
            "'text_match_insensitive' on 'topic' is not supported",
        ),
        (one("tags", "x", OP.ALL), "takes a list"),
        (one("tags", [], OP.ALL), "at least one value"),
        (one("tags", "x", OP.IN), "takes a list"),
        (one("hindsight_colour", "red"), "unknown filter field 'colour'"),
    ],
)
def test_what_cannot_be_asked_is_said_so(shelf, filters, says):
    with pytest.raises(InvalidInput, match=says):
        shelf.find(where=where_of(filters))


def test_no_operator_is_forgotten(shelf):
    values = {OP.IN: ["x"], OP.NIN: ["x"], OP.ANY: ["x"], OP.ALL: ["x"], OP.IS_EMPTY: None}
    unsupported = set()
    for operator in OP:
        try:
            shelf.find(where=where_of(one("tags", values.get(operator, "x"), operator)))
        except InvalidInput:
            unsupported.add(operator)
    assert unsupported == {OP.TEXT_MATCH, OP.TEXT_MATCH_INSENSITIVE}


def test_both_leaves_out_what_is_not_there():
    assert both(None, None) is None
    assert both(None, {"id": "a"}) == {"id": "a"}
    assert both({"id": "a"}, {"speaker": "b"}) == {"$and": [{"id": "a"}, {"speaker": "b"}]}
