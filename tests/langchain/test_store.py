"""The LangGraph store: what the interface promises, shown on ours and on LangGraph's own in-memory store alike.

A test that takes `store` runs on both. Where LangGraph's stores disagree with each other, ours has a test of its own that
names the disagreement:

- a missing key meets `$ne` in memory, not in SQLite: with ours it does;
- `$gt` on a missing key or a string raises in memory: with ours it is not met (strings are ordered among themselves);
- overwriting resets `created_at` in memory and in SQLite, Postgres keeps it: ours keeps it;
- `get` in memory returns the live object: ours returns a copy;
- items put with `index=False` fill up a query's results in memory: ours are not found by a query;
- expired items are readable until a sweep, or not, depending on a setting: ours are gone at once;
- a namespace whose items are deleted, or that was only asked for, is still listed in memory: not by ours;
- true equals 1 in memory: not with ours, nor in Postgres.
"""

import copy
import json
import pickle
import threading
from datetime import UTC, datetime, timedelta

import pytest

pytest.importorskip("langgraph.store.base", reason="needs langgraph")

from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from hindsight_core import Hindsight
from hindsight_core.embedding import HashEmbedder
from hindsight_core.errors import InvalidInput
from hindsight_langchain import HindsightRetriever, HindsightStore
from hindsight_langchain._values import meets, text_at

NOW = datetime(2031, 5, 20, 9, 0, tzinfo=UTC)


def reference(fields=None):
    embed = lambda texts: HashEmbedder().embed_documents(list(texts)).tolist()  # noqa: E731
    return InMemoryStore(index={"dims": 256, "embed": embed, **({"fields": fields} if fields else {})})


@pytest.fixture(params=["hindsight", "langgraph"])
def store(request, memory):
    return HindsightStore(memory) if request.param == "hindsight" else reference()


@pytest.fixture
def ours(memory):
    return HindsightStore(memory)


def keys(items):
    return [item.key for item in items]


# -- key and value -------------------------------------------------------------------------------------------


async def test_what_is_put_is_got_and_overwritten_and_deleted(store):
    assert store.get(("users", "1"), "prefs") is None
    store.put(("users", "1"), "prefs", {"theme": "dark", "n": 1})
    item = store.get(("users", "1"), "prefs")
    assert (item.namespace, item.key, item.value) == (("users", "1"), "prefs", {"theme": "dark", "n": 1})
    assert item.created_at.tzinfo is not None
    await store.aput(("users", "1"), "prefs", {"theme": "light"})
    assert (await store.aget(("users", "1"), "prefs")).value == {"theme": "light"}
    assert len(store.search(("users",))) == 1
    store.delete(("users", "1"), "prefs")
    store.delete(("users", "1"), "prefs")
    await store.adelete(("users", "2"), "never")
    assert store.get(("users", "1"), "prefs") is None


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"a": None},
        {"text": "你好，世界 🌍", "ключ": "значение", "emoji🙂": ["é", "\u00e9"]},
        {"nested": {"deep": [{"x": [1, 2.5, True, None]}]}, "empty": {}, "list": []},
        {"number": 10**18, "float": 1e-9, "negative": -3},
        {"quotes": 'it\'s "quoted" \\ and % _ \n new line', "blank": " "},
        {"value": {"value": 1}, "updated_at": "x", "content": "y", "ttl_minutes": "never"},
        {"dotted.key": 1, "$dollar": 2},
    ],
)
def test_any_json_object_comes_back_as_it_was(store, value):
    store.put(("n",), "键 with spaces/and:signs", value)
    assert store.get(("n",), "键 with spaces/and:signs").value == value
    assert store.search(("n",))[0].value == value


def test_keys_of_one_name_in_other_namespaces_are_other_items(store):
    for namespace in (("a",), ("a", "b"), ("ab",), ("b",)):
        store.put(namespace, "k", {"at": list(namespace)})
    assert store.get(("a",), "k").value == {"at": ["a"]}
    store.delete(("a",), "k")
    assert store.get(("a",), "k") is None
    assert store.get(("a", "b"), "k").value == {"at": ["a", "b"]}


def test_a_namespace_is_a_prefix_by_whole_labels(store):
    for namespace in (("u",), ("u2",), ("u", "x"), ("u", "x", "y"), ("x", "u"), ("U",)):
        store.put(namespace, "k", {"text": "same words"})
    for query in (None, "same words"):
        found = {item.namespace for item in store.search(("u",), query=query)}
        assert found == {("u",), ("u", "x"), ("u", "x", "y")}
        assert len(store.search((), query=query)) == 6
    assert store.search(("nobody",)) == []


def test_signs_that_mean_something_elsewhere_mean_nothing_here(store):
    for label in ("%", "_", "*", "a'b", "a/b", '"', "名前"):
        store.put((label,), "k", {"label": label})
    for label in ("%", "_", "*", "a'b", "a/b", '"', "名前"):
        assert [item.value["label"] for item in store.search((label,))] == [label]


# -- search ----------------------------------------------------------------------------------------------------

ITEMS = {
    "r": {"type": "report", "size": 3, "score": 4.5, "tags": ["a", "b"], "meta": {"lang": "en", "v": 1}},
    "m": {"type": "memo", "size": 5, "score": 4.5, "tags": ["a"], "meta": {"lang": "中文"}},
    "n": {"type": "note", "size": 7, "done": True, "meta": None},
}


@pytest.fixture
def filled(store):
    for key, value in ITEMS.items():
        store.put(("docs", key), key, {**value, "text": f"{value['type']} about gateways"})
    return store


FILTERS = [
    ({"type": "report"}, {"r"}),
    ({"type": {"$eq": "memo"}}, {"m"}),
    ({"type": {"$ne": "memo"}}, {"r", "n"}),
    ({"size": {"$gt": 3}}, {"m", "n"}),
    ({"size": {"$gte": 3, "$lt": 7}}, {"r", "m"}),
    ({"size": {"$lte": 5}, "type": {"$ne": "memo"}}, {"r"}),
    ({"size": 3.0}, {"r"}),
    ({"tags": ["a", "b"]}, {"r"}),
    ({"tags": ["a"]}, {"m"}),
    ({"tags": "a"}, set()),
    ({"meta": {"lang": "en"}}, {"r"}),
    ({"meta": {"lang": "中文"}}, {"m"}),
    ({"meta": None}, {"n"}),
    ({"done": True}, {"n"}),
    ({"missing": None}, {"r", "m", "n"}),
    ({"missing": "x"}, set()),
    ({"type": "report", "size": 99}, set()),
    ({}, {"r", "m", "n"}),
]


@pytest.mark.parametrize(("wanted", "found"), FILTERS)
def test_filters_select_exactly_with_and_without_a_query(filled, wanted, found):
    assert set(keys(filled.search(("docs",), filter=wanted))) == found
    assert set(keys(filled.search(("docs",), filter=wanted, query="gateways"))) == found


@pytest.mark.parametrize("operator", ["$in", "$regex", "$and"])
def test_an_operator_it_does_not_have_is_an_error(filled, operator):
    with pytest.raises(ValueError, match="operator"):
        filled.search(("docs",), filter={"type": {operator: ["report"]}})


def test_where_references_disagree_on_filters(ours):
    ours.put(("n",), "a", {"x": "5", "flag": 1})
    ours.put(("n",), "b", {"y": 5, "a.b": 1, "c": {"d": 2}})
    assert keys(ours.search(("n",), filter={"x": {"$ne": "6"}, "y": 5})) == ["b"]
    assert keys(ours.search(("n",), filter={"y": {"$gt": 1}})) == ["b"]
    assert ours.search(("n",), filter={"x": {"$gt": 1}}) == []
    assert keys(ours.search(("n",), filter={"x": {"$gte": "5"}})) == ["a"]
    assert ours.search(("n",), filter={"flag": True}) == []
    assert keys(ours.search(("n",), filter={"a.b": 1})) == ["b"]
    assert keys(ours.search(("n",), filter={"c.d": 2})) == ["b"]


def test_pages_follow_one_another_without_gap_or_repeat(store):
    for i in range(25):
        store.put(("n",), f"k{i}", {"text": f"kettle number {i}"})
    for query in (None, "kettle number 7"):
        whole = keys(store.search(("n",), query=query, limit=25))
        assert len(set(whole)) == 25
        pages = [keys(store.search(("n",), query=query, limit=10, offset=o)) for o in (0, 10, 20, 30)]
        assert [key for page in pages for key in page] == whole
    assert len(store.search(("n",))) == 10
    assert store.search(("n",), limit=0) == []


def test_pages_are_cut_after_filtering_and_ranking(ours):
    for i in range(60):
        ours.put(("n",), f"k{i}", {"text": f"kettle number {i}", "tags": ["even"] if i % 2 == 0 else ["odd"]})
    wanted = {"tags": ["even"]}
    whole = keys(ours.search(("n",), query="kettle number 8", filter=wanted, limit=40))
    assert len(whole) == 30
    assert whole[0] == "k8"
    assert keys(ours.search(("n",), query="kettle number 8", filter=wanted, limit=7, offset=5)) == whole[5:12]


def test_without_a_query_there_is_no_score_and_the_newest_comes_first(ours, clock):
    for key in ("a", "b", "c"):
        ours.put(("n",), key, {"text": key})
        clock.advance(minutes=1)
    ours.put(("n",), "a", {"text": "a"})
    found = ours.search(("n",))
    assert keys(found) == ["a", "c", "b"]
    assert [item.score for item in found] == [None] * 3


def test_a_query_finds_by_meaning_words_and_names(filled):
    filled.put(("docs",), "port", {"text": "The Kestrel gateway listens on port 7421"})
    filled.put(("docs",), "zh", {"text": "我的桌子在 14 号房间"})
    assert filled.search(("docs",), query="Kestrel port 7421")[0].key == "port"
    assert filled.search(("docs",), query="桌子在哪个房间")[0].key == "zh"
    best = filled.search(("docs",), query="Kestrel port 7421", limit=1)
    assert len(best) == 1
    assert 0.0 < best[0].score <= 1.0


def test_scores_are_relevance_and_a_floor_leaves_the_rest_out(memory, ours):
    ours.put(("n",), "port", {"text": "The Kestrel gateway listens on port 7421"})
    ours.put(("n",), "lunch", {"text": "rice with beans"})
    assert len(ours.search(("n",), query="Kestrel gateway port")) == 2
    strict = HindsightStore(memory, floor=0.5)
    (only,) = strict.search(("n",), query="Kestrel gateway port")
    assert (only.key, only.score >= 0.5) == ("port", True)
    assert strict.search(("n",), query="zebra violin") == []


def test_an_overwritten_text_is_found_by_its_new_words_only(store):
    store.put(("n",), "a", {"text": "green tea in the morning"})
    store.put(("n",), "b", {"text": "a long train ride"})
    store.put(("n",), "a", {"text": "black coffee at night"})
    assert store.search(("n",), query="black coffee at night")[0].key == "a"
    assert store.search(("n",), query="a long train ride")[0].key == "b"


def test_equal_texts_are_separate_items(ours):
    ours.batch([PutOp(("n",), key, {"text": "the same"}) for key in "abc"])
    assert set(keys(ours.search(("n",), query="the same"))) == {"a", "b", "c"}


def test_very_long_values_stay_one_item(store):
    text = "The kettle boils at noon. 水开了。" * 400
    store.put(("n",), "long", {"text": text})
    assert keys(store.search(("n",), query="kettle noon")) == ["long"]
    assert store.get(("n",), "long").value == {"text": text}


# -- index -------------------------------------------------------------------------------------------------------


def test_index_false_is_kept_but_not_found_by_a_query(ours):
    ours.put(("n",), "hidden", {"text": "green tea"}, index=False)
    ours.put(("n",), "shown", {"text": "green tea"})
    assert keys(ours.search(("n",), query="green tea")) == ["shown"]
    assert set(keys(ours.search(("n",)))) == {"hidden", "shown"}
    assert ours.get(("n",), "hidden").value == {"text": "green tea"}
    assert ours.memory.within("n").get("hidden").pinned
    ours.put(("n",), "hidden", {"text": "green tea"})
    assert set(keys(ours.search(("n",), query="green tea"))) == {"hidden", "shown"}


def test_paths_say_what_is_searched(memory):
    store = HindsightStore(memory, fields=["title", "parts[*].text"])
    store.put(
        ("n",),
        "a",
        {"title": "kettle", "parts": [{"text": "boils water"}, {"text": "烧水"}], "secret": "zebra"},
    )
    store.put(("n",), "b", {"secret": "zebra"})
    store.put(("n",), "c", {"secret": "zebra crossing"}, index=["secret"])
    assert memory.within("n").get("a").content == "kettle\nboils water\n烧水"
    assert keys(store.search(("n",), query="zebra crossing", limit=5))[0] == "c"
    assert "b" not in keys(store.search(("n",), query="zebra"))
    with pytest.raises(InvalidInput, match="list of paths"):
        HindsightStore(memory, fields="title")


@pytest.mark.parametrize(
    ("value", "paths", "text"),
    [
        ({"content": "User likes jazz"}, ["$"], "User likes jazz"),
        ({"content": {"likes": "jazz"}}, ["$"], "jazz"),
        ({"name": "Mira", "n": 3, "ok": True, "no": None}, ["$"], "name: Mira\nn: 3\nok: true"),
        ({"a": {"b": ["x", "y"]}}, ["$"], "a.b: x\na.b: y"),
        ({"a": {"b": ["x", "y"]}}, ["a.b[-1]"], "y"),
        ({"a": "x"}, ["missing"], ""),
        ({}, ["$"], ""),
    ],
)
def test_the_words_of_a_value(value, paths, text):
    assert text_at(value, paths) == text


# -- namespaces ----------------------------------------------------------------------------------------------


def test_namespaces_are_listed_matched_cut_and_paged(store):
    spaces = [
        ("a", "b", "c"),
        ("a", "b", "d", "e"),
        ("a", "b", "d", "i"),
        ("a", "c", "f"),
        ("z", "b"),
        ("a",),
    ]
    for space in spaces:
        store.put(space, "k", {"x": 1})
    assert store.list_namespaces() == sorted(spaces)
    assert store.list_namespaces(prefix=("a", "b")) == sorted(s for s in spaces if s[:2] == ("a", "b"))
    assert store.list_namespaces(suffix=("f",)) == [("a", "c", "f")]
    assert store.list_namespaces(prefix=("a", "*", "d")) == [("a", "b", "d", "e"), ("a", "b", "d", "i")]
    assert store.list_namespaces(prefix=("*", "b"), max_depth=2) == [("a", "b"), ("z", "b")]
    assert store.list_namespaces(prefix=("a",), suffix=("*", "i")) == [("a", "b", "d", "i")]
    assert store.list_namespaces(max_depth=1) == [("a",), ("z",)]
    assert store.list_namespaces(limit=2, offset=1) == sorted(spaces)[1:3]
    assert store.list_namespaces(prefix=("nobody",)) == []


def test_an_empty_namespace_is_not_listed(ours):
    ours.put(("a",), "k", {"x": 1})
    ours.put(("b",), "k", {"x": 1})
    ours.delete(("a",), "k")
    assert ours.list_namespaces() == [("b",)]


@pytest.mark.parametrize("namespace", [(), ("",), ("a.b",), ("a", ""), ("a\x00",), (7,), ("langgraph", "x")])
def test_a_malformed_namespace_is_refused(store, namespace):
    with pytest.raises(InvalidNamespaceError):
        store.put(namespace, "k", {"x": 1})


@pytest.mark.parametrize(
    "op",
    [
        PutOp((), "k", {"x": 1}),
        PutOp(("a.b",), "k", {"x": 1}),
        GetOp(("",), "k"),
        SearchOp(("a", "\x00")),
        ListNamespacesOp((MatchCondition("prefix", ("a.b",)),)),
    ],
)
async def test_a_batch_checks_namespaces_as_well(ours, op):
    ours.put(("a",), "k", {"x": 1})
    with pytest.raises(InvalidNamespaceError):
        ours.batch([PutOp(("ok",), "k", {"x": 1}), op])
    with pytest.raises(InvalidNamespaceError):
        await ours.abatch([op])
    assert ours.get(("ok",), "k") is None


def test_a_batch_refuses_what_it_does_not_know(ours):
    with pytest.raises(InvalidInput, match="operation"):
        ours.batch(["get"])
    ours.put(("a",), "k", {"x": 1})
    with pytest.raises(InvalidInput, match="prefix or suffix"):
        ours.batch([ListNamespacesOp((MatchCondition("infix", ("a",)),))])


# -- batches -------------------------------------------------------------------------------------------------


async def test_a_batch_answers_in_order_from_the_state_before_it(store):
    store.put(("n",), "a", {"v": 1})
    ops = [
        PutOp(("n",), "a", {"v": 2}),
        GetOp(("n",), "a"),
        PutOp(("n",), "b", {"v": 1}),
        SearchOp(("n",)),
        GetOp(("n",), "b"),
        PutOp(("n",), "b", {"v": 9}),
        ListNamespacesOp(),
        PutOp(("n",), "c", {"v": 1}),
        PutOp(("n",), "c", None),
    ]
    results = store.batch(ops)
    assert [results[i] for i in (0, 2, 4, 5, 7, 8)] == [None] * 6
    assert results[1].value == {"v": 1}
    assert keys(results[3]) == ["a"]
    assert results[6] == [("n",)]
    after = await store.abatch([GetOp(("n",), key) for key in "abc"])
    assert [item and item.value for item in after] == [{"v": 2}, {"v": 9}, None]
    assert store.batch([]) == []


def test_a_batch_with_a_bad_value_writes_nothing(ours):
    with pytest.raises(ValueError, match=r"metadata\.value\.x"):
        ours.batch([PutOp(("n",), "a", {"x": 1}), PutOp(("m",), "b", {"x": object()})])
    assert ours.list_namespaces() == []


# -- times -----------------------------------------------------------------------------------------------------


def test_overwriting_keeps_created_at_and_moves_updated_at(ours, clock):
    start = clock.now()
    ours.put(("n",), "a", {"v": 1})
    clock.advance(hours=1)
    for value in ({"v": 1}, {"v": 2}):
        ours.put(("n",), "a", value)
        item = ours.get(("n",), "a")
        assert (item.created_at, item.updated_at) == (start, start + timedelta(hours=1))
    ours.delete(("n",), "a")
    ours.put(("n",), "a", {"v": 3})
    assert ours.get(("n",), "a").created_at == start + timedelta(hours=1)


@pytest.mark.parametrize("indexed", [None, False])
def test_an_item_lives_for_its_time_and_is_gone_everywhere(ours, clock, indexed):
    ours.put(("n",), "short", {"text": "green tea"}, ttl=10, index=indexed)
    ours.put(("m",), "long", {"text": "green tea"})
    clock.advance(minutes=9)
    assert ours.get(("n",), "short", refresh_ttl=False) is not None
    clock.advance(minutes=1)
    assert ours.get(("n",), "short") is None
    assert ours.search(("n",)) == ours.search(("n",), query="green tea") == []
    assert ours.list_namespaces() == [("m",)]
    assert (ours.sweep_ttl(), ours.sweep_ttl()) == (1, 0)
    ours.put(("n",), "short", {"text": "green tea"})
    clock.advance(days=99)
    assert ours.get(("n",), "short") is not None


@pytest.mark.parametrize("read", ["get", "search", "query"])
def test_reading_renews_the_time_unless_told_not_to(ours, clock, read):
    def look(**options):
        if read == "get":
            return ours.get(("n",), "a", **options)
        return ours.search(("n",), query="green tea" if read == "query" else None, **options)

    ours.put(("n",), "a", {"text": "green tea"}, ttl=10)
    for _ in range(3):
        clock.advance(minutes=8)
        assert look()
    clock.advance(minutes=8)
    assert look(refresh_ttl=False)
    clock.advance(minutes=2)
    assert not look()


def test_settings_of_time_and_their_exceptions(memory, clock):
    store = HindsightStore(memory, ttl={"default_ttl": 5, "refresh_on_read": False})
    store.put(("n",), "default", {"x": 1})
    store.put(("n",), "forever", {"x": 1}, ttl=None)
    store.put(("n",), "own", {"x": 1}, ttl=7.5)
    clock.advance(minutes=4)
    assert len(store.search(("n",))) == 3
    clock.advance(minutes=1)
    assert set(keys(store.search(("n",)))) == {"forever", "own"}
    clock.advance(minutes=3)
    assert keys(store.search(("n",))) == ["forever"]


def test_a_time_beyond_the_calendar_is_for_ever_and_none_is_no_time(ours, clock):
    ours.put(("n",), "a", {"x": 1}, ttl=1e12)
    clock.advance(days=9999)
    assert ours.get(("n",), "a").value == {"x": 1}
    with pytest.raises(InvalidInput, match="ttl"):
        ours.put(("n",), "a", {"x": 1}, ttl=float("nan"))


def test_putting_again_sets_the_time_anew(ours, clock):
    ours.put(("n",), "a", {"x": 1}, ttl=5)
    ours.put(("n",), "a", {"x": 1})
    clock.advance(minutes=6)
    assert ours.get(("n",), "a").value == {"x": 1}


# -- one memory ----------------------------------------------------------------------------------------------


def test_items_are_memories_and_memories_items(ours, memory):
    ours.put(("notes",), "tea", {"content": "The user drinks green tea."})
    memory.within("notes").remember("The user walks to work.", id="walk", metadata={"mood": "good"})
    assert HindsightRetriever(memory=memory).invoke("What does the user drink? green tea")[0].id == "tea"
    item = ours.get(("notes",), "walk")
    assert item.value == {"content": "The user walks to work.", "mood": "good"}
    assert set(keys(ours.search(("notes",), query="user"))) == {"tea", "walk"}
    memory.within("notes").forget("tea")
    assert ours.get(("notes",), "tea") is None


def test_users_with_equal_names_of_session_and_key_do_not_meet(memory):
    stores = {user: HindsightStore(memory.within(user)) for user in ("u1", "u2")}
    for user, store in stores.items():
        for i in range(3 if user == "u1" else 2):
            store.put(("s",), f"k{i}", {"text": f"secret number {i} of {user}"})
    assert {i.value["text"][-2:] for i in stores["u2"].search((), query="secret number of u1")} == {"u2"}
    assert stores["u2"].list_namespaces() == [("s",)]
    stores["u1"].memory.clear()
    assert len(stores["u2"].search(())) == 2
    assert stores["u1"].search(()) == []


def test_a_query_counts_as_use_and_a_listing_does_not(ours, memory):
    ours.put(("n",), "a", {"text": "green tea"})
    ours.search(("n",))
    ours.get(("n",), "a")
    assert memory.within("n").get("a").access_count == 0
    ours.search(("n",), query="green tea")
    assert memory.within("n").get("a").access_count == 1


def test_what_is_returned_is_a_copy(ours):
    ours.put(("n",), "a", {"list": [1]})
    ours.get(("n",), "a").value["list"].append(2)
    ours.search(("n",))[0].value["more"] = True
    assert ours.get(("n",), "a").value == {"list": [1]}
    json.dumps(ours.get(("n",), "a").dict())


def test_it_survives_a_restart(tmp_path, open_memory):
    first = open_memory(tmp_path / "m.db")
    HindsightStore(first).put(("n",), "a", {"text": "绿茶"})
    first.close()
    again = HindsightStore(open_memory(tmp_path / "m.db"))
    assert again.search(("n",), query="绿茶")[0].value == {"text": "绿茶"}


def test_threads_write_at_once(ours):
    def write(name):
        for i in range(5):
            ours.put(("n", name), f"k{i}", {"text": f"{name} {i}"})

    threads = [threading.Thread(target=write, args=(f"t{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ours.search(("n",), limit=99)) == 20


async def test_async_leaves_the_loop_free_and_sync_works_inside_it(open_memory, needs_loop):
    store = HindsightStore(open_memory(embedder=needs_loop))
    store.put(("n",), "a", {"text": "green tea"})
    async with needs_loop.beating():
        assert keys(await store.asearch(("n",), query="green tea")) == ["a"]
    assert keys(store.search(("n",), query="green tea")) == ["a"]


def test_copies_share_the_memory_and_nothing_leaks(ours, memory):
    ours.put(("n",), "a", {"text": "green tea"})
    assert copy.deepcopy(ours).memory is memory
    assert repr(ours) == "<HindsightStore on <Hindsight scope='u' profile='default'>>"
    with pytest.raises(InvalidInput, match="open the file again"):
        pickle.dumps(ours)


# -- differential ----------------------------------------------------------------------------------------------

SPACES = st.lists(st.sampled_from(["a", "b", "界"]), min_size=1, max_size=3).map(tuple)
VALUES = st.dictionaries(
    st.sampled_from(["x", "y"]), st.one_of(st.integers(0, 3), st.sampled_from(["p", "q"])), max_size=2
)
WANTED = st.one_of(
    st.none(),
    st.dictionaries(
        st.sampled_from(["x", "y"]),
        st.one_of(
            st.integers(0, 3), st.sampled_from(["p", "q"]), st.builds(lambda v: {"$ne": v}, st.integers(0, 3))
        ),
        max_size=2,
    ),
)
OPS = st.lists(
    st.one_of(
        st.builds(
            lambda s, k, v: PutOp(s, k, v), SPACES, st.sampled_from("kl"), st.one_of(st.none(), VALUES)
        ),
        st.builds(lambda s, k: GetOp(s, k), SPACES, st.sampled_from("kl")),
        st.builds(lambda s, w: SearchOp(s, filter=w, limit=50), st.one_of(st.just(()), SPACES), WANTED),
    ),
    max_size=8,
)


@settings(max_examples=25, deadline=None)
@given(batches=st.lists(OPS, max_size=4))
def test_any_batches_give_what_langgraphs_own_store_gives(batches):
    """Order within a search is each store's own, and the other one lists emptied namespaces; all else is equal."""
    with Hindsight.open(":memory:", "u", embedder=None) as memory:
        stores = [HindsightStore(memory), InMemoryStore()]
        for ops in batches:
            one, other = ([_seen(result) for result in store.batch(ops)] for store in stores)
            assert one == other
        listed = {item.namespace for item in stores[1].search((), limit=999)}
        assert stores[0].list_namespaces(limit=999) == sorted(listed)


def _seen(result):
    if isinstance(result, list):
        return sorted(((i.namespace, i.key, sorted(i.value.items(), key=str)) for i in result), key=str)
    return result if result is None else (result.namespace, result.key, result.value)


@given(value=VALUES, wanted=WANTED)
def test_the_prefilter_never_asks_for_more_than_the_filter(value, wanted):
    from hindsight_core.filters import Filter
    from hindsight_core.unit import MemoryUnit
    from hindsight_langchain._values import necessary

    where = necessary(wanted or {}, "metadata.value")
    if where and meets(value, wanted):
        unit = MemoryUnit(
            scope=("u",), id="a", content="x", recorded_at=NOW, weight_at=NOW, metadata={"value": value}
        )
        assert Filter.parse(where).matches(unit)
