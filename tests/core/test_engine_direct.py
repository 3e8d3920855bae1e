"""Keeping records as given, for key-value and vector interfaces; and what else adapters ask of the engine."""

import copy
import pickle
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from hindsight_core.clock import FixedClock
from hindsight_core.embedding import HashEmbedder
from hindsight_core.errors import InvalidInput
from hindsight_core.unit import Status

NOW = datetime(2031, 5, 20, 9, 0, tzinfo=UTC)


def test_a_record_is_one_memory_however_long_and_however_alike(memory):
    long = "The kettle boils at noon. 水在中午烧开。" * 200
    memory.keep([{"text": long, "id": "a"}, {"text": long, "id": "b"}, {"text": long, "id": "中文"}])
    assert [memory.get(id).content for id in ("a", "b", "中文")] == [long] * 3
    assert memory.stats()["memories"] == 3
    assert memory.stats()["episodes"] == 0
    assert memory.doctor() == []


def test_keeping_again_replaces_all_that_was_given_and_keeps_the_life(open_memory):
    clock = FixedClock(NOW)
    memory = open_memory(clock=clock)
    memory.keep([{"text": "tea", "id": "a", "metadata": {"v": 1, "old": True}, "expires_at": "2031-06-01"}])
    memory.use(memory.recall("tea", floor=None))
    clock.set(NOW + timedelta(days=1))
    memory.keep([{"text": "tea", "id": "a", "metadata": {"v": 2}}])
    unit = memory.get("a")
    assert (dict(unit.metadata), unit.expires_at) == ({"v": 2}, None)
    assert (unit.recorded_at, unit.timestamp, unit.access_count) == (NOW, NOW, 1)
    memory.keep([{"text": "咖啡", "id": "a"}])
    unit = memory.get("a")
    assert (unit.content, unit.recorded_at, unit.timestamp) == ("咖啡", NOW, NOW + timedelta(days=1))
    assert [h.unit.id for h in memory.recall("咖啡")] == ["a"]
    assert not memory.recall("tea")


def test_an_expired_record_starts_a_new_life(open_memory):
    clock = FixedClock(NOW)
    memory = open_memory(clock=clock)
    memory.keep([{"text": "tea", "id": "a", "expires_at": NOW + timedelta(minutes=5)}])
    clock.set(NOW + timedelta(minutes=6))
    memory.keep([{"text": "tea", "id": "a"}])
    assert memory.get("a").recorded_at == NOW + timedelta(minutes=6)


def test_what_has_expired_is_forgotten_on_demand(open_memory):
    clock = FixedClock(NOW)
    memory = open_memory(clock=clock)
    memory.keep(
        [{"text": "tea", "id": str(i), "scope": ("u", "x"), "pinned": True, "expires_at": NOW + timedelta(minutes=i)}
         for i in (5, 15)]
    )  # fmt: skip
    clock.set(NOW + timedelta(minutes=5))
    assert [u.id for u in memory.find()] == ["15"]
    assert (memory.expire(), memory.expire()) == (1, 0)
    assert memory.scopes() == {("u", "x"): 1}


def test_an_archived_record_wakes_up_when_it_is_kept_again(memory):
    memory.keep([{"text": "tea", "id": "a"}])
    memory.update("a", status="archived")
    memory.keep([{"text": "tea", "id": "a"}])
    assert memory.get("a").status is Status.ACTIVE


def test_indexed_comes_and_goes(memory):
    for indexed in (False, True, False):
        memory.keep([{"text": "green tea", "id": "a", "indexed": indexed}])
        assert len(memory.recall("green tea", floor=None)) == indexed
        assert [u.id for u in memory.find()] == ["a"]


def test_keep_and_drop_over_scopes_is_one_transaction(memory):
    memory.keep([{"text": "tea", "id": "a", "scope": ("u", "x")}, {"text": "rice", "id": "a"}])
    assert memory.scopes() == {("u",): 1, ("u", "x"): 1}
    memory.keep([{"text": "milk", "id": "b"}], drop=[(("u", "x"), "a"), "missing"])
    assert memory.scopes() == {("u",): 2}
    assert sorted(u.content for u in memory.find()) == ["milk", "rice"]


@pytest.mark.parametrize(
    ("items", "options", "names"),
    [
        ([{"text": "x"}], {}, "item 0.*id"),
        ([{"text": "x", "id": "a"}, {"text": "", "id": "b"}], {}, "item 1.*text"),
        ([{"text": "x", "id": "a", "scope": ("v",)}], {}, "item 0.*scope"),
        ([{"text": "x", "id": "a"}], {"vectors": []}, "0 vectors"),
        ([{"text": "x", "id": "a"}], {"vectors": [[1.0, 2.0]]}, "256 finite"),
        ([{"text": "x", "id": "a"}], {"drop": [(("v",), "a")]}, "scope"),
    ],
)
def test_bad_records_store_nothing(memory, items, options, names):
    with pytest.raises(InvalidInput, match=names):
        memory.keep(items, **options)
    assert memory.stats()["memories"] == 0


def test_given_vectors_are_used_instead_of_embedding(open_memory):
    class Counts(HashEmbedder):
        asked = 0

        def embed_documents(self, texts):
            Counts.asked += len(texts)
            return super().embed_documents(texts)

    memory = open_memory(embedder=Counts())
    Counts.asked = 0
    vector = HashEmbedder().embed_query("quite another text") * 3
    memory.keep([{"text": "x1", "id": "a"}, {"text": "x2", "id": "b"}], vectors=[vector, None])
    assert Counts.asked == 1
    first, second = memory.vectors([memory.get("a"), memory.get("b")])
    np.testing.assert_allclose(first, vector / 3, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(second), 1.0, atol=1e-6)


def test_a_question_may_be_a_vector(memory):
    memory.keep([{"text": "green tea", "id": "a"}, {"text": "a long train ride", "id": "b"}])
    vector = HashEmbedder().embed_query("train ride")
    assert memory.recall("", vector=vector.tolist(), floor=None)[0].unit.id == "b"
    with pytest.raises(InvalidInput, match="256 finite"):
        memory.recall("", vector=[0.0])


def test_an_interface_that_promises_k_results_gets_them(memory):
    memory.keep([{"text": text, "id": text} for text in ("foo", "bar", "网关")])
    assert [h.unit.id for h in memory.recall("bar", k=5, floor=None)] == ["bar"]
    hits = memory.recall("bar", k=5, floor=None, fill=True)
    assert hits[0].unit.id == "bar"
    assert {h.unit.id for h in hits} == {"foo", "bar", "网关"}
    assert [h.score for h in hits[1:]] == [0.0, 0.0]
    assert all(0.0 <= h.relevance < hits[0].relevance for h in hits[1:])
    assert len(memory.recall("bar", k=2, floor=None, fill=True)) == 2
    assert len(memory.recall("bar", k=5, fill=True, where={"id": "foo"})) == 1


def test_a_copy_of_what_holds_a_handle_holds_the_same_and_a_pickle_is_refused(memory):
    holder = copy.deepcopy({"memory": memory})
    assert holder["memory"] is memory
    with pytest.raises(InvalidInput, match="open the file again"):
        pickle.dumps(memory)


def test_more_hits_than_a_channel_brings_can_be_asked_for(memory):
    memory.keep([{"text": f"kettle number {i}", "id": str(i)} for i in range(130)])
    assert len(memory.recall("kettle", k=130, floor=None)) == 130


def test_use_counts_once_an_hour_and_feedback_knows_the_recall(open_memory):
    clock = FixedClock(NOW)
    memory = open_memory(clock=clock)
    memory.remember("green tea", id="a", importance=0.5)
    hits = memory.recall("green tea")
    for _ in range(5):
        memory.use(hits)
    memory.use(hits[0])
    assert memory.get("a").access_count == 1
    assert [u.id for u in memory.feedback(hits.recall_id, +1)] == ["a"]
    memory.use(memory.recall("nothing of the kind"))


def test_hits_can_be_narrowed_and_still_render(memory):
    memory.remember("green tea", id="a")
    memory.remember("green rice", id="b")
    hits = memory.recall("green", floor=None)
    only = hits.only(lambda hit: hit.unit.id == "b")
    assert [h.unit.id for h in only] == ["b"]
    assert only.recall_id == hits.recall_id
    assert "green rice" in only.context()
    assert "green tea" not in only.context()


def test_a_session_is_forgotten_except_for_what_was_told_elsewhere(memory):
    memory.remember("I like jazz.", session="s1")
    memory.remember("I like jazz.", session="s2")
    memory.remember("The port is 7421.", session="s1")
    gone = memory.forget_session("s1")
    assert [u.content for u in gone] == ["The port is 7421."]
    assert [u.content for u in memory.find()] == ["I like jazz."]
    assert memory.transcript("s1") == []
    assert len(memory.transcript("s2")) == 1
    assert memory.forget_session("s1") == []


def test_an_envelope_belongs_to_the_episode_and_not_to_the_memory(memory, tmp_path):
    key = "sk-" + "a1B2" * 12
    memory.remember_many([{"text": "ok", "session": "s", "envelope": {"n": 1, "键": [key]}}], resumable=False)
    memory.remember_many([{"text": "ok", "session": "s", "envelope": {"n": 2}}], resumable=False)
    first, second = (dict(e.envelope) for e in memory.transcript("s"))
    assert (first["n"], second) == (1, {"n": 2})
    assert key not in str(first)
    assert [(dict(u.metadata), len(u.occurrences)) for u in memory.find()] == [({}, 1)]
    memory.export(tmp_path / "x.jsonl")
    other = memory.within("copy")
    other.import_(tmp_path / "x.jsonl")
    assert [dict(e.envelope) for e in other.transcript("s")] == [first, second]
    with pytest.raises(InvalidInput, match=r"envelope\.x"):
        memory.remember_many([{"text": "no", "envelope": {"x": object()}}])


def test_an_erased_text_leaves_no_envelope_behind(memory):
    long = "The kettle boils at noon. " * 200
    units = memory.remember_many([{"text": long, "session": "s", "envelope": {"copy": long}}])[0]
    memory.erase(units[0].id)
    assert [dict(e.envelope) for e in memory.transcript("s")] == [{}]


def test_a_chat_says_ok_twice(memory):
    for _ in range(2):
        memory.remember_many([{"text": "ok", "session": "s", "speaker": "user"}], resumable=False)
    assert [e.text for e in memory.transcript("s")] == ["ok", "ok"]
    assert [len(u.occurrences) for u in memory.find()] == [1]
