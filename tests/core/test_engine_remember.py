"""Remembering: what goes in comes out byte for byte, nothing is lost, nothing is stored twice."""

import threading
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from hindsight_core import Hindsight, profiles
from hindsight_core.embedding import HashEmbedder
from hindsight_core.errors import HindsightError, InvalidInput, NotFound
from hindsight_core.unit import MemoryType, Status

NOW = datetime(2031, 5, 20, 9, 0, tzinfo=UTC)


def test_a_turn_becomes_one_memory_with_everything_it_was_given(memory):
    (unit,) = memory.remember(
        "Kestrel 的网关端口是 7421。",
        speaker="Mira",
        session="s1",
        timestamp="2031-05-01T09:00+08:00",
        id="note-1",
        turn=3,
        metadata={"project": "kestrel", "tags": ["ops", "网关"]},
        importance=0.9,
        memory_type="semantic",
        pinned=True,
        expires_at="2032-01-01",
    )
    assert unit == memory.get("note-1")
    assert unit.content == "Kestrel 的网关端口是 7421。"
    assert (unit.scope, unit.id, unit.caller_id) == (("u",), "note-1", True)
    assert (unit.source.speaker, unit.source.session, unit.source.turn) == ("Mira", "s1", 3)
    assert unit.timestamp == datetime(2031, 5, 1, 1, 0, tzinfo=UTC)
    assert unit.timestamp.utcoffset() == timedelta(hours=8)
    assert unit.metadata == {"project": "kestrel", "tags": ["ops", "网关"]}
    assert (unit.importance, unit.weight, unit.memory_type) == (0.9, 0.9, MemoryType.SEMANTIC)
    assert unit.pinned
    assert unit.expires_at == datetime(2032, 1, 1, tzinfo=UTC)
    assert (unit.recorded_at, unit.status, unit.seq > 0) == (NOW, Status.ACTIVE, True)


def test_without_a_timestamp_it_was_said_now_and_none_means_undated(memory):
    assert memory.remember("said now")[0].timestamp == NOW
    assert memory.remember("some time ago", timestamp=None)[0].timestamp is None


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"text": ""}, "text"),
        ({"text": " \n"}, "text"),
        ({"text": None}, "text"),
        ({"text": b"bytes"}, "text"),
        ({"text": "x", "importance": 7}, "importance"),
        ({"text": "x", "importance": float("nan")}, "importance"),
        ({"text": "x", "memory_type": "vague"}, "episodic"),
        ({"text": "x", "timestamp": "last week"}, "timestamp"),
        ({"text": "x", "timestamp": 1_700_000_000}, "timestamp"),
        ({"text": "x", "metadata": ["a"]}, "metadata"),
        ({"text": "x", "metadata": {"a": object()}}, "metadata.a"),
        ({"text": "x", "metadata": {1: "a"}}, "keys"),
        ({"text": "x", "id": ""}, "id"),
        ({"text": "x", "turn": -1}, "turn"),
        ({"text": "x", "source": {"page": 3}}, "page"),
        ({"text": "x", "indexed": 1}, "indexed"),
        ({"text": "x", "colour": "red"}, "colour"),
    ],
)
def test_bad_input_names_the_field_and_stores_nothing(memory, fields, names):
    with pytest.raises(InvalidInput, match=names):
        memory.remember_many([{"text": "good"}, fields])
    assert memory.stats()["memories"] == memory.stats()["episodes"] == 0


def test_a_batch_names_the_position_of_the_bad_item(memory):
    with pytest.raises(InvalidInput, match="item 1"):
        memory.remember_many([{"text": "good"}, {"text": ""}])


def test_running_an_ingest_again_adds_nothing_twice(memory):
    items = [{"text": f"第 {i} 条：the kettle boils", "session": "s", "turn": i} for i in range(30)]
    items += [{"text": "ok", "session": "s"}, {"text": "ok", "session": "s"}, {"text": "with id", "id": "n1"}]
    first = memory.remember_many(items)
    before = memory.stats()
    again = memory.remember_many(items)
    assert memory.stats() == before
    assert [[u.id for u in units] for units in again] == [[u.id for u in units] for units in first]


def test_an_interrupted_ingest_goes_on_where_it_stopped(open_memory):
    class Fails(HashEmbedder):
        calls = 0

        def embed_documents(self, texts):
            Fails.calls += 1
            if Fails.calls == 3:
                raise KeyboardInterrupt
            return super().embed_documents(texts)

    items = [{"text": f"fact number {i}"} for i in range(600)]
    memory = open_memory(embedder=Fails())
    Fails.calls = 0
    with pytest.raises(KeyboardInterrupt):
        memory.remember_many(items)
    assert memory.stats()["memories"] == 512
    memory.remember_many(items)
    assert memory.stats()["memories"] == 600


def test_the_same_id_again_replaces_the_text_and_keeps_the_life(memory):
    memory.remember(
        "The port is 7420.", id="port", importance=0.9, metadata={"team": "ops"}, timestamp="2031-05-01"
    )
    memory.remember("The port is 7421.", id="port")
    unit = memory.get("port")
    assert (unit.content, unit.importance, unit.metadata) == ("The port is 7421.", 0.9, {"team": "ops"})
    assert unit.timestamp == datetime(2031, 5, 1, tzinfo=UTC)
    assert memory.stats()["memories"] == 1
    assert [h.unit.content for h in memory.recall("port 7420", floor=None)] == ["The port is 7421."]


def test_a_long_turn_becomes_numbered_parts_of_the_same_turn(memory):
    text = " ".join(f"Sentence {i} speaks of topic {i}." for i in range(200))
    units = memory.remember(text, id="long", speaker="Mira", session="s", turn=4)
    assert [u.id for u in units] == [f"long#{i}" for i in range(1, len(units) + 1)]
    assert all(len(u.content) <= 2000 for u in units)
    assert {u.source.turn for u in units} == {4}
    assert {text[slice(*u.source.span)] for u in units} == {u.content for u in units}
    shorter = memory.remember("Now it is short.", id="long")
    assert [u.id for u in shorter] == ["long"]
    assert memory.stats()["memories"] == 1


def test_a_document_is_split_and_keeps_its_headings(memory):
    text = (
        "# Guide\n\n## Ports\n\n"
        + "The gateway listens on 7421. " * 15
        + "\n\n## Logs\n\nLogs go to /var/log/kestrel."
    )
    units = memory.remember(text, source="docs/guide.md")
    assert len(units) >= 2
    assert {u.source.document for u in units} == {"docs/guide.md"}
    assert [u.source.turn for u in units] == list(range(len(units)))
    assert any("Logs" in (u.source.section or "") for u in units)


def test_what_was_said_twice_is_one_memory_with_two_occurrences(memory):
    (first,) = memory.remember("阳台上种了三盆薄荷", speaker="林")
    (again,) = memory.remember("阳台上种了三盆薄荷", speaker="林", session="s2")
    assert again.id == first.id
    assert [o.source.session for o in again.occurrences] == ["s2"]
    assert memory.stats()["memories"] == 1
    assert len(memory.remember("阳台上种了三盆薄荷", consolidate=False)) == 1
    assert memory.stats()["memories"] == 2


def test_what_is_said_again_keeps_the_links_that_its_own_batch_gave_it(memory):
    (first,) = memory.remember("My office is on the third floor of the mill by the river.")
    more = "The office on the third floor of the mill by the river has a new coffee machine."
    memory.remember_many(
        [{"text": more}, {"text": "My office is on the third floor in the mill by the river."}]
    )
    new, old = memory.find()
    assert (old.id, len(old.occurrences), new.content) == (first.id, 1, more)
    assert [link.id for link in old.related_ids] == [new.id]


def test_a_failing_embedder_loses_no_words_and_the_gap_is_reported(open_memory, caplog):
    class Broken(HashEmbedder):
        def embed_documents(self, texts):
            if any("marigold" in text for text in texts):
                raise RuntimeError("400 too long")
            return super().embed_documents(texts)

    memory = open_memory(embedder=Broken())
    stored = memory.remember_many([{"text": "the gate word is marigold"}, {"text": "the shed is green"}])
    assert [len(units) for units in stored] == [1, 1]
    assert memory.recall("marigold")[0].unit.content == "the gate word is marigold"
    assert any("reembed" in finding.remedy for finding in memory.doctor())
    assert "marigold" not in caplog.text


def test_a_failing_extractor_loses_no_words_and_can_be_made_good(open_memory, caplog):
    class Broken:
        def extract(self, text, context):
            raise RuntimeError("model is down")

    memory = open_memory(extractor=Broken())
    (unit,) = memory.remember("Mira leads Kestrel")
    assert memory.recall("Who leads Kestrel?")[0].unit.id == unit.id
    assert memory.stats()["pending"] == 1
    assert "Mira" not in caplog.text


def test_unindexed_memories_are_found_by_key_and_filter_only(memory):
    memory.remember("the vault opens at noon", id="v", indexed=False)
    assert not memory.recall("vault noon", floor=None)
    assert memory.get("v").content == "the vault opens at noon"
    assert [u.id for u in memory.find(where={"id": "v"})] == ["v"]


def test_expired_memories_are_gone(memory, clock):
    memory.remember("the code is marigold", id="c", expires_at=NOW + timedelta(hours=1))
    assert memory.recall("marigold")
    clock.advance(hours=2)
    assert not memory.recall("marigold", floor=None)
    assert not memory.find(where={"id": "c"})


def test_a50_two_simultaneous_adds_of_one_fact_are_one_memory(open_memory):
    slow = threading.Barrier(2)

    class Slow(HashEmbedder):
        def embed_documents(self, texts):
            if "ferns" in texts[0]:
                slow.wait(timeout=10)
            return super().embed_documents(texts)

    memory = open_memory(embedder=Slow())
    other = memory.within("other")
    for handles, count in (((memory, memory), 1), ((memory.within("x"), other), 2)):
        threads = [threading.Thread(target=h.remember, args=("Water the ferns on Sundays",)) for h in handles]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=20)
        assert sum(len(h.find()) for h in {id(h): h for h in handles}.values()) == count
        memory.clear()


def test_forgetting_and_not_finding(memory):
    memory.remember("a fact", id="f")
    assert memory.forget("f").id == "f"
    with pytest.raises(NotFound):
        memory.get("f")
    with pytest.raises(NotFound):
        memory.forget("f")
    memory.remember("a fact", id="f")
    assert memory.get("f").content == "a fact"


def test_every_error_is_ours(memory):
    for call in (lambda: memory.get("nope"), lambda: memory.recall(7), lambda: memory.feedback("x", 1)):
        with pytest.raises(HindsightError):
            call()


def test_a_callable_or_no_embedder_will_do(open_memory, tmp_path):
    plain = open_memory(tmp_path / "plain.db", embedder=None)
    plain.remember("母亲喜欢听评弹")
    assert plain.recall("评弹")[0].unit.content == "母亲喜欢听评弹"
    assert any("no embedder" in finding.problem for finding in plain.doctor())

    def lengths(texts):
        return np.array([[1.0, len(text)] for text in texts])

    with Hindsight.open(tmp_path / "own.db", embedder=lengths, profile=profiles.TECH_DOCS) as own:
        own.remember("some text")
        assert own.recall("text")
