"""Recall without one channel, one kind of link, or the normalisation: what is off gives nothing, the rest is as before."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from hindsight_core import Hindsight
from hindsight_core.embedding import HashEmbedder
from hindsight_core.errors import InvalidInput
from hindsight_core.evaluation import HindsightSystem
from hindsight_core.evaluation.dataset import Kind, Memory, Question
from hindsight_core.evaluation.without import CHANNELS, SWITCHES, without
from hindsight_core.ports import Probe, Visibility
from hindsight_core.unit import Link, LinkKind

NOW = datetime(2031, 5, 20, tzinfo=UTC)
QUESTION = "What did Mira Okafor say about the pilot last week?"


@pytest.fixture
def memory():
    memory = Hindsight.open(":memory:", scope="u", embedder=HashEmbedder())
    turns = [
        ("The pilot at Harbour Bank starts in May.", 7),
        ("Mira Okafor signs the contract.", 7),
        ("The heron nests by the mill.", 7),
        ("阳台上种了三盆薄荷。", 90),
        ("The pilot was postponed again.", 90),
    ]
    memory.remember_many(
        [
            {
                "text": text,
                "id": str(i),
                "speaker": "Wim",
                "session": f"s{age}",
                "timestamp": NOW - timedelta(days=age),
            }
            for i, (text, age) in enumerate(turns)
        ],
        progress=False,
    )
    yield memory
    memory.close()


def recalled(memory):
    return {hit.unit.id: hit for hit in memory.recall(QUESTION, k=5, now=NOW, floor=None)}


@pytest.mark.parametrize("channel", ["vector", "keyword"])
def test_a_channel_that_is_off_gives_no_evidence(memory, channel):
    assert any(hit.signals[channel].value > 0 for hit in recalled(memory).values())
    hits = recalled(without(memory, f"channel.{channel}"))
    assert hits
    assert all(hit.signals[channel].value == 0 for hit in hits.values())
    others = {"vector", "keyword"} - {channel}
    assert any(hit.signals[other].value > 0 for hit in hits.values() for other in others)


def test_without_the_entity_channel_no_name_counts(memory):
    named = recalled(memory)["1"]
    assert named.signals["entity"].raw > 0
    assert recalled(without(memory, "channel.entity"))["1"].signals["entity"].raw == 0


def test_without_the_time_channel_the_time_asked_for_brings_nothing(memory):
    assert "2" in recalled(memory)
    without_words = "What happened last week?"
    assert {hit.unit.id for hit in memory.recall(without_words, k=5, now=NOW, floor=None)} >= {"0", "1", "2"}
    hits = without(memory, "channel.time").recall(without_words, k=5, now=NOW, floor=None)
    assert all(hit.signals["recency"].weighted == 0 for hit in hits)


def probe(memory):
    return Probe(
        visible=Visibility(scopes=memory.reach, now=NOW),
        vector=HashEmbedder().embed_query(QUESTION),
        terms=np.empty(0, np.uint64),
        term_weights=np.empty(0, np.float32),
        entities=np.empty(0, np.uint64),
    )


def kinds(memory):
    asked = probe(memory)
    with memory.parts.store.reading(asked.visible) as view:
        rows = view.rows_of([(("u",), str(i)) for i in range(5)])
        edges = view.neighbours(asked, rows, reach=2, entities=0, hub=0, links=rows)
    return {list(LinkKind)[kind] for kind in edges.kind.tolist()}


@pytest.mark.parametrize("kind", LinkKind)
def test_links_of_a_kind_that_is_off_do_not_exist(memory, kind):
    with memory.parts.store.write(actor="test", batch="b", now=NOW) as tx:
        unit = tx.get((("u",), "4"))
        links = tuple(Link(str(place % 4), other) for place, other in enumerate(LinkKind))
        tx.put(replace(unit, related_ids=links), None, reason="made for a test")
    assert kinds(memory) == set(LinkKind)
    assert kinds(without(memory, f"link.{kind}")) == set(LinkKind) - {kind}


def test_without_normalisation_a_question_has_no_scale_of_its_own(memory):
    asked = probe(memory)
    for handle, known in ((memory, True), (without(memory, "normalisation"), False)):
        with handle.parts.store.reading(asked.visible) as view:
            _, bank = view.search(asked)
        assert math.isfinite(bank.cosine_mean) is known
        assert math.isfinite(bank.keyword_mean) is known
        assert bank.size == 5
    assert recalled(without(memory, "normalisation"))


def test_what_can_be_switched_off():
    assert {f"channel.{channel}" for channel in CHANNELS} | {f"link.{kind}" for kind in LinkKind} < set(
        SWITCHES
    )
    with pytest.raises(InvalidInput, match=r"channel\.time"):
        without(Hindsight.open(":memory:", embedder=None), "channel.smell")


@pytest.mark.parametrize("name", SWITCHES)
def test_a_system_recalls_without_it_beside_one_that_does_not(name):
    first = HindsightSystem("all", embedder=HashEmbedder())
    first.load("b", [Memory(bank="b", id="m", text="Mira keeps the kettle in the attic.", timestamp=NOW)])
    less = HindsightSystem("less", embedder=HashEmbedder(), twin_of=first, switched_off=name)
    asked = Question(bank="b", id="q", text="Where is the kettle of Mira?", category="", kind=Kind.ANSWERABLE)
    for system in (first, less):
        answer = system.ask(asked, now=NOW, k=3, superseded=False)
        assert [found.id for found in answer.ranking] == ["m"]
    first.close()
