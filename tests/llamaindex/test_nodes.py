"""Memories as nodes and back, and the scores nodes carry."""

import json
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import pytest

pytest.importorskip("llama_index.core", reason="needs llama-index-core")
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.schema import (
    ImageNode,
    IndexNode,
    MetadataMode,
    Node,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
)

from hindsight_core import Hit, MemoryType, MemoryUnit, Status
from hindsight_core.unit import Entity, Link, LinkKind, Occurrence, Source
from hindsight_llamaindex.nodes import PREFIX, item_of, node_of, scored_nodes, scores_of, unit_of

NOW = datetime(2031, 5, 20, 9, 0, tzinfo=UTC)
CHINA = timezone(timedelta(hours=8))


def rich(**changes):
    """A memory that uses every field."""
    fields = {
        "scope": ("team", "u"),
        "id": "m1",
        "content": "缓存 listens on\nport 7420.",
        "summary": "port 7420",
        "entities": (Entity("Redis", "system", "redis"), Entity("昨天", "time", "2031-05-19/2031-05-20")),
        "timestamp": datetime(2031, 5, 19, 8, 30, 1, 250, tzinfo=CHINA),
        "occurrences": (
            Occurrence(source=Source(session="s2"), timestamp=None, recorded_at=NOW, text="端口"),
        ),
        "valid_from": NOW,
        "valid_to": NOW + timedelta(days=1),
        "recorded_at": NOW,
        "weight_at": NOW,
        "last_access": NOW,
        "access_count": 3,
        "pinned": True,
        "expires_at": NOW + timedelta(days=9),
        "importance": 0.8,
        "weight": 0.7,
        "seq": 12,
        "source": Source(document="d1", session="s1", speaker="林岚", span=(0, 9), turn=2, episode="e1"),
        "related_ids": (Link("m0", LinkKind.FOLLOWS), Link("m9", LinkKind.SIMILAR)),
        "memory_type": MemoryType.PROCEDURAL,
        "status": Status.SUPERSEDED,
        "metadata": {"team": "ops", "n": 1.5, "flag": True, "none": None, "deep": {"a": [1, {"b": "茶"}]}},
    }
    return MemoryUnit(**{**fields, **changes})


def hit(id="m1", score=0.5, relevance=0.5, **changes):
    return Hit(unit=rich(id=id, **changes), score=score, relevance=relevance)


def test_a47_a_memory_becomes_a_node_of_flat_json_and_comes_back_whole():
    node = node_of(rich())
    assert all(value is None or isinstance(value, str | int | float) for value in node.metadata.values())
    assert json.loads(node.metadata["deep"]) == {"a": [1, {"b": "茶"}]}
    assert node.metadata["hindsight_timestamp"] == "2031-05-19T08:30:01+08:00"
    again = TextNode.from_json(node.to_json())
    assert again == node
    assert unit_of(again) == rich()
    assert unit_of(TextNode(text="x")) is None


def test_what_was_added_is_kept_from_the_embedder_and_but_for_who_and_when_from_the_llm():
    (scored,) = scored_nodes([hit(metadata={"team": "ops"})])
    assert (
        scored.node.get_content(metadata_mode=MetadataMode.EMBED)
        == "team: ops\n\n缓存 listens on\nport 7420."
    )
    assert scored.node.get_content(metadata_mode=MetadataMode.LLM).splitlines()[:3] == [
        "team: ops",
        "hindsight_timestamp: 2031-05-19T08:30:01+08:00",
        "hindsight_speaker: 林岚",
    ]
    assert "hindsight_relevance" in scored.node.metadata


def test_document_and_neighbours_are_relationships():
    node = node_of(
        rich(related_ids=(Link("m0", LinkKind.FOLLOWS), Link("m2", LinkKind.FOLLOWS, outgoing=False)))
    )
    assert node.ref_doc_id == "d1"
    assert (node.prev_node.node_id, node.next_node.node_id) == ("m0", "m2")
    assert node_of(rich(source=Source(), related_ids=())).relationships == {}


NODES = [
    TextNode(
        id_="t1",
        text="The mill stands still.",
        metadata={"topic": "mill", "nested": {"a": [1, None]}},
        excluded_embed_metadata_keys=["topic"],
        excluded_llm_metadata_keys=["nested"],
        relationships={
            NodeRelationship.SOURCE: RelatedNodeInfo(node_id="d1", metadata={"k": "v"}, hash="h"),
            NodeRelationship.NEXT: RelatedNodeInfo(node_id="t2"),
            NodeRelationship.CHILD: [RelatedNodeInfo(node_id="c1")],
        },
        metadata_template="{key}={value}",
        metadata_separator="; ",
        text_template="{content} / {metadata_str}",
        start_char_idx=3,
        end_char_idx=25,
        mimetype="text/markdown",
    ),
    IndexNode(id_="i1", text="茶叶目录", index_id="catalogue"),
    ImageNode(id_="p1", text="a photograph of bees", image_path="bees.png"),
    Node(id_="n1", text_resource={"text": "a new kind of node"}, metadata={"a": 1}),
]


@pytest.mark.parametrize("node", NODES, ids=lambda node: node.class_name())
def test_a_node_comes_back_as_the_very_node_it_was(memory, node):
    memory.keep([item_of(node)])
    again = node_of(memory.get(node.node_id))
    assert type(again) is type(node)
    assert again.to_dict() == node.to_dict()
    for mode in MetadataMode:
        assert again.get_content(metadata_mode=mode) == node.get_content(metadata_mode=mode)


def test_a_recalled_node_shows_the_llm_what_it_always_showed(memory):
    memory.keep([item_of(NODES[0])])
    (scored,) = scored_nodes(memory.recall("mill"))
    for mode in (MetadataMode.LLM, MetadataMode.EMBED):
        assert scored.node.get_content(metadata_mode=mode) == NODES[0].get_content(metadata_mode=mode)
    assert scored.node.metadata.items() > NODES[0].metadata.items()
    assert scored.node.relationships == NODES[0].relationships


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2031-01-02", 2),
        ("2031-01-02T10:00+08:00", 2),
        ("next week, perhaps", None),
        (17, None),
        (None, None),
    ],
)
def test_a_node_is_dated_by_its_metadata_or_undated(memory, value, day):
    memory.keep([item_of(TextNode(id_="a", text="x", metadata={"when": value}), timestamp_key="when")])
    timestamp = memory.get("a").timestamp
    assert (timestamp and timestamp.day) == day


def test_a_memory_that_left_as_a_node_comes_back_as_the_memory_it_was(open_memory):
    ours, theirs = open_memory("ours.db"), open_memory("theirs.db")
    unit = ours.remember(
        "Mirela likes tea.", speaker="Mirela", session="s", timestamp="2031-01-01", metadata={"d": {"e": [1]}}
    )[0]
    (scored,) = scored_nodes(ours.recall("tea"))
    theirs.keep([item_of(scored.node)])
    found = theirs.get(unit.id)
    assert (found.content, found.metadata, found.timestamp, found.source.speaker) == (
        unit.content,
        {"d": {"e": [1]}},
        unit.timestamp,
        "Mirela",
    )


numbers = st.floats(0, 1, allow_nan=False)


@given(st.lists(numbers, max_size=12))
def test_scores_descend_reach_every_relevance_and_sorting_by_them_changes_nothing(relevances):
    hits = [hit(str(i), relevance=relevance) for i, relevance in enumerate(relevances)]
    scores = scores_of(hits)
    assert all(a >= b for a, b in pairwise(scores))
    assert all(score >= h.relevance for score, h in zip(scores, hits, strict=True))
    assert set(scores) <= set(relevances)
    order = sorted(range(len(hits)), key=lambda i: scores[i], reverse=True)
    assert order == list(range(len(hits)))


@given(st.lists(numbers, max_size=12))
def test_where_relevance_descends_by_itself_it_is_the_score(relevances):
    relevances.sort(reverse=True)
    assert scores_of([hit(relevance=relevance) for relevance in relevances]) == relevances


def test_two_scopes_may_share_an_id_and_both_are_shown():
    found = scored_nodes(
        [hit("m1", scope=("u",)), hit("m1", scope=("shared",)), hit("m2", scope=("shared",))]
    )
    assert [scored.node.node_id for scored in found] == ["m1", "shared/m1", "m2"]
    assert all(key.startswith(PREFIX) for key in found[0].node.excluded_embed_metadata_keys)
