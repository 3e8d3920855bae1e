"""Faults from the field, on the engine: time, tokens, scores, size and odd characters."""

import asyncio
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from hindsight_core import Hindsight
from hindsight_core.embedding import HashEmbedder
from hindsight_core.errors import EmbedderMismatch, InvalidInput
from hindsight_core.profiles import Profile, Weights
from hindsight_core.unit import LinkKind, Status

LONG_AGO = datetime(2024, 1, 1, tzinfo=UTC)
WORDS_ONLY = Profile(name="words", weights=Weights(vector=0, keyword=1, entity=0, recency=0, importance=0))


@pytest.fixture
def words(open_memory, tmp_path):
    """A memory that has nothing but its words to go by."""
    return open_memory(tmp_path / "words.db", embedder=None, profile=WORDS_ONLY)


def found(memory, query, **options):
    return [hit.unit.content for hit in memory.recall(query, k=20, floor=None, **options)]


# -- time ------------------------------------------------------------------------------------------------------


def test_a18_naive_aware_zulu_and_bare_dates_live_together(open_memory, tmp_path, clock):
    memory = open_memory(tmp_path / "t.db")
    stamps = {
        "naive": ("2024-03-01T10:00", datetime(2024, 3, 1, 10, tzinfo=UTC)),
        "offset": ("2024-03-01T10:00+08:00", datetime(2024, 3, 1, 2, tzinfo=UTC)),
        "zulu": ("2024-03-01T10:00:00Z", datetime(2024, 3, 1, 10, tzinfo=UTC)),
        "date": ("2024-03-01", datetime(2024, 3, 1, tzinfo=UTC)),
        "object": (datetime(2024, 3, 1, 9), datetime(2024, 3, 1, 9, tzinfo=UTC)),
    }
    for name, (stamp, _) in stamps.items():
        memory.remember(f"the {name} kettle", id=name, timestamp=stamp)
    window = {"since": datetime(2024, 3, 1, 1, tzinfo=UTC), "until": datetime(2024, 3, 1, 11, tzinfo=UTC)}
    assert len(memory.recall("kettle", k=9, floor=None, **window)) == 4
    assert {u.id for u in memory.find(**window)} == {"naive", "offset", "zulu", "object"}
    memory.sweep(dry_run=True)
    memory.close()
    again = open_memory(tmp_path / "t.db")
    for name, (_, instant) in stamps.items():
        assert again.get(name).timestamp == instant
        assert again.get(name).timestamp.tzinfo is not None


@pytest.mark.parametrize(
    ("text", "first", "after"),
    [("I went hiking last week", "2022-10-31", "2022-11-07"), ("上周去爬山了", "2022-10-31", "2022-11-07")],
)
def test_a19_relative_dates_refer_to_the_day_they_were_said(memory, text, first, after):
    (unit,) = memory.remember(text, timestamp="2022-11-09T08:00+00:00")
    assert unit.timestamp == datetime(2022, 11, 9, 8, tzinfo=UTC)
    (time,) = [entity for entity in unit.entities if entity.type == "time"]
    start, end = time.key.split("/")
    assert (start[:10], end[:10]) == (first, after)
    assert text in found(memory, "What happened in early November 2022?")


def test_a20_yesterday_is_half_open_and_an_inverted_window_is_an_error(memory):
    now = datetime(2031, 5, 20, 15, tzinfo=UTC)
    for name, stamp in {
        "first": datetime(2031, 5, 19, tzinfo=UTC),
        "last": datetime(2031, 5, 19, 23, 59, 59, 500_000, tzinfo=UTC),
        "today": datetime(2031, 5, 20, tzinfo=UTC),
    }.items():
        memory.remember(f"{name} entry of the log", id=name, timestamp=stamp)
    asked = memory.recall("entry of the log yesterday", k=9, now=now, floor=None)
    assert [hit.unit.id for hit in asked][:2] in (["first", "last"], ["last", "first"])
    assert [h.unit.id for h in asked if h.signals["recency"].weighted > 0] == [h.unit.id for h in asked][:2]
    day = {"since": datetime(2031, 5, 19, tzinfo=UTC), "until": datetime(2031, 5, 20, tzinfo=UTC)}
    assert {u.id for u in memory.find(**day)} == {"first", "last"}
    for ask in (memory.find, lambda **w: memory.recall("log", **w)):
        with pytest.raises(InvalidInput, match="until"):
            ask(since=day["until"], until=day["since"])


# -- tokens ----------------------------------------------------------------------------------------------------


def test_a21_a_chinese_word_finds_its_memory_and_nothing_else(words):
    for text in ("阳台上种了三盆薄荷", "周三下午去修自行车", "母亲喜欢听评弹", "新办公室在七楼"):
        words.remember(text)
    (hit,) = words.recall("评弹", floor=None)
    assert hit.unit.content == "母亲喜欢听评弹"
    assert hit.score > 0


@pytest.mark.parametrize("query", ["tripod", "SK-9", "sk-9", "云台", "支架"])
def test_a22_latin_words_in_chinese_text_are_found_whole(words, query):
    words.remember("新买的SK-9支架配tripod云台很稳")
    words.remember("旧的支撑杆坏了")
    assert found(words, query) == ["新买的SK-9支架配tripod云台很稳"]


def test_a23_an_empty_corpus_gives_an_empty_list(words, memory):
    for store in (words, memory):
        assert found(store, "kestrel") == []
        store.remember("a kestrel", id="k")
        store.forget("k")
        assert found(store, "kestrel") == []
        store.remember("a kestrel", id="k2")
        assert found(store, "kestrel", where={"speaker": "nobody"}) == []


@pytest.mark.parametrize(("total", "holding"), [(4, 2), (2, 1), (3, 3)])
def test_a24_a_common_word_still_counts(words, total, holding):
    for i in range(total):
        words.remember(f"note {'αβγδ'[i]} about {'a kestrel' if i < holding else 'the shed'}", id=str(i))
    hits = words.recall("kestrel", k=9, floor=None)
    assert {hit.unit.id for hit in hits} == {str(i) for i in range(holding)}
    assert all(hit.score > 0 for hit in hits)


@pytest.mark.parametrize(
    "query",
    ["post-sync hook", "won't", "a AND (b*", '"unclosed', "km/h", "col:val", "*", "NEAR(a b)", "-- ; DROP"],
)
def test_a25_queries_are_words_not_syntax(words, query):
    words.remember('Run the post-sync hook before "merge"')
    hits = found(words, query)
    assert hits == (['Run the post-sync hook before "merge"'] if "post-sync" in query else [])


def test_a26_versions_are_whole(words):
    words.remember("Gateway upgraded to 9.4.1.2")
    words.remember("Gateway upgraded to 9.5")
    assert found(words, "9.4.1.2") == ["Gateway upgraded to 9.4.1.2"]
    assert found(words, "6.31") == []


# -- scores ----------------------------------------------------------------------------------------------------


def test_a53_the_dimension_comes_from_the_embedder_and_another_one_is_refused_untouched(
    open_memory, tmp_path
):
    path = tmp_path / "d.db"
    memory = open_memory(path, embedder=HashEmbedder(1024))
    memory.remember("the kettle is green")
    memory.close()
    before = path.read_bytes()
    with pytest.raises(EmbedderMismatch, match=r"1024.*768.*reembed"):
        open_memory(path, embedder=HashEmbedder(768))
    assert path.read_bytes() == before
    assert found(open_memory(path, embedder=HashEmbedder(1024)), "kettle") == ["the kettle is green"]


@pytest.mark.parametrize("others", [0, 30, 1000])
def test_a63_an_exact_hit_means_the_same_whatever_the_size(open_memory, tmp_path, others):
    memory = open_memory(tmp_path / f"{others}.db")
    memory.remember_many(
        [
            {"text": f"entry {i}: the {['red', 'green', 'blue'][i % 3]} shed number {i}"}
            for i in range(others)
        ],
        consolidate=False,
    )
    memory.remember("Mira keeps the marigold seeds in the attic")
    hits = memory.recall("Mira keeps the marigold seeds in the attic", floor=0.3)
    assert hits[0].unit.content == "Mira keeps the marigold seeds in the attic"
    assert 0.3 <= hits[0].relevance <= 1.0
    assert 0.0 < hits[0].score <= 1.0


def test_a63_relevance_of_a_hit_hardly_moves_when_the_store_grows(open_memory, tmp_path):
    memory = open_memory(tmp_path / "grow.db")
    memory.remember("Mira keeps the marigold seeds in the attic")
    alone = memory.recall("Where are the marigold seeds?", floor=None)[0].relevance
    memory.remember_many(
        [{"text": f"the shed number {i} was painted"} for i in range(500)], consolidate=False
    )
    crowded = memory.recall("Where are the marigold seeds?", floor=None)[0].relevance
    assert crowded == pytest.approx(alone, abs=0.12)


@pytest.mark.parametrize("channel", ["vector", "keyword", "entity", "time"])
def test_a65_filters_apply_before_the_cut(open_memory, tmp_path, clock, channel):
    memory = open_memory(tmp_path / "f.db", embedder=None if channel == "keyword" else HashEmbedder())
    near = [{"text": "the Kestrel audit starts soon", "speaker": "Noor", "id": f"n{i}"} for i in range(200)]
    far = [
        {"text": f"the Kestrel audit, remark {i} of a longer list", "speaker": "Mira", "id": f"f{i}"}
        for i in range(5)
    ]
    memory.remember_many(near + far, consolidate=False)
    query = {
        "vector": "the Kestrel audit starts soon",
        "keyword": "Kestrel audit starts soon",
        "entity": "Kestrel",
        "time": "What was said today?",
    }[channel]
    hits = memory.recall(query, k=5, where={"speaker": "Mira"}, floor=None)
    assert {hit.unit.id for hit in hits} == {f"f{i}" for i in range(5)}


# -- size and odd characters -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "filler", ["The hall is long and quiet. ", "走廊又长又静"], ids=["english", "chinese without spaces"]
)
def test_a55_a_very_long_message_is_split_and_its_last_line_found(open_memory, tmp_path, filler):
    class Limited(HashEmbedder):
        def embed_documents(self, texts):
            if any(len(text) > 8192 for text in texts):
                raise RuntimeError("400: maximum context length is 8192 tokens")
            return super().embed_documents(texts)

    memory = open_memory(tmp_path / "long.db", embedder=Limited())
    text = filler * (40_000 // len(filler.split()) if " " in filler else 40_000 // len(filler))
    units = memory.remember(text + "\nthe gate word is marigold")
    assert len(units) > 1
    assert "marigold" in memory.recall("What is the gate word? marigold")[0].unit.content
    assert memory.stats()["without_vector"] == 0


def test_a56_a_lone_surrogate_never_breaks_anything(open_memory, tmp_path):
    dirty = "the kettle \ud83e is green"
    memory = open_memory(tmp_path / "s.db", scope=("user\ud83e",))
    (first,) = memory.remember(dirty, metadata={"note": "\ud83e"}, speaker="Mira\ud83e", session="s\ud83e")
    assert first.content == "the kettle \ufffd is green"
    (again,) = memory.remember(dirty, speaker="Mira\ud83e")
    assert again.id == first.id
    assert found(memory, "kettle \ud83e") == ["the kettle \ufffd is green"]
    assert memory.find(where={"metadata.note": "\ud83e"})
    assert memory.stats()["memories"] == 1


def test_a57_characters_stay_literal_in_context_and_export(memory, tmp_path):
    memory.remember("苏敏在青禾科技做测试", metadata={"部门": "质量"}, id="备忘1")
    assert "苏敏在青禾科技做测试" in memory.recall("苏敏").context()
    memory.export(tmp_path / "out.jsonl")
    exported = (tmp_path / "out.jsonl").read_text(encoding="utf-8")
    assert all(word in exported for word in ("苏敏在青禾科技做测试", "部门", "备忘1"))
    assert "\\u" not in exported


def test_a58_synchronous_calls_work_inside_a_running_loop(memory):
    async def cell():
        memory.remember("the kettle is green", id="k")
        hits = memory.recall("kettle")
        await memory.aremember("母亲喜欢听评弹")
        later = await memory.arecall("评弹")
        return hits.context(), later.context(), memory.get("k").content

    block, later, content = asyncio.run(cell())
    assert "green" in block
    assert "评弹" in later
    assert content == "the kettle is green"


def test_a49_one_engine_serves_several_event_loops(memory):
    for number in range(3):
        asyncio.run(memory.aremember(f"fact number {number} about kettles"))
    assert len(asyncio.run(memory.arecall("kettles", k=9, floor=None))) == 3


def test_recall_is_deterministic_and_leaves_the_store_as_it_is(open_memory, tmp_path):
    path = tmp_path / "r.db"
    memory = open_memory(path)
    memory.remember_many(
        [{"text": f"kettle {i % 7} of shed {i % 5}", "session": f"s{i % 4}"} for i in range(60)]
    )
    before = memory.stats()
    once = [(h.unit.id, h.score, h.relevance) for h in memory.recall("kettle shed", k=20, floor=None)]
    memory.close()
    again = open_memory(path)
    assert [(h.unit.id, h.score, h.relevance) for h in again.recall("kettle shed", k=20, floor=None)] == once
    assert again.stats() == before


def test_scores_fall_and_stay_in_range(memory):
    memory.remember_many([{"text": f"kettle {i} in the shed"} for i in range(40)], consolidate=False)
    scores = [
        hit.score
        for hit in memory.recall("Which kettle is in the shed? And where is kettle 7?", k=30, floor=None)
    ]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert np.isfinite(scores).all()


def test_k_bounds(memory):
    memory.remember("the only kettle")
    assert len(memory.recall("kettle", k=20)) == 1
    assert len(memory.recall("kettle", k=0)) == 0
    with pytest.raises(InvalidInput, match="k must be"):
        memory.recall("kettle", k=-1)
    assert memory.recall("   ") is not None


def test_as_of_answers_by_what_held_then(memory, clock):
    memory.remember("My favourite editor is Alder.", speaker="Mira", timestamp="2031-01-01")
    memory.remember("My favourite editor is now Birch.", speaker="Mira", timestamp="2031-03-01")
    then = memory.recall("favourite editor", as_of="2031-02-01", floor=None)
    assert [hit.unit.content for hit in then] == ["My favourite editor is Alder."]
    assert [h.unit.content for h in memory.recall("favourite editor", floor=None)] == [
        "My favourite editor is now Birch."
    ]


def test_known_at_answers_by_what_was_known_then(memory, clock):
    memory.remember("The shed key is blue.", timestamp="2031-01-01")
    known = clock.now()
    clock.advance(days=10)
    memory.remember("The attic key is green.", timestamp="2031-01-02")
    assert found(memory, "key", known_at=known + timedelta(days=1)) == ["The shed key is blue."]


def test_a_closed_handle_says_so(tmp_path):
    memory = Hindsight.open(tmp_path / "c.db", embedder=None)
    memory.close()
    memory.close()
    with pytest.raises(Exception, match="closed"):
        memory.recall("x")


@pytest.mark.parametrize(
    ("before", "now", "question"),
    [
        ("I live in Bergen.", "I moved to Tromsø.", "Do I still live in Bergen?"),
        ("The gateway port is 7420.", "The gateway port is 7421 now.", "Is the gateway port 7420?"),
        ("小林住在大连。", "小林搬到了厦门。", "小林还住在大连吗？"),
    ],
)
def test_a16_what_the_old_value_answers_leads_to_the_new_one(before, now, question):
    with Hindsight.open(":memory:", "u", embedder=HashEmbedder(384)) as memory:
        memory.remember(before, timestamp=LONG_AGO, speaker="user")
        memory.remember(now, timestamp=LONG_AGO + timedelta(days=30), speaker="user")
        memory.remember("The lighthouse was painted white.", timestamp=LONG_AGO + timedelta(days=31))
        assert {unit.content: unit.status for unit in memory.find(status="superseded")} == {
            before: Status.SUPERSEDED
        }
        hits = memory.recall(question, now=LONG_AGO + timedelta(days=40))
        assert [hit.unit.content for hit in hits][:1] == [now]
        assert all(hit.unit.status is Status.ACTIVE for hit in hits)
        assert hits[0].via is not None
        assert hits[0].via.kind is LinkKind.EVOLVES
        assert [old.content for old in hits[0].predecessors] == [before]
        held = memory.recall(question, now=LONG_AGO + timedelta(days=40), as_of=LONG_AGO + timedelta(days=10))
        assert [hit.unit.content for hit in held][:1] == [before]
