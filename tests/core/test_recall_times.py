"""A question for a time and nothing else is answered by what is of that time; every other question asks for its topic too."""

import pytest

from hindsight_core.embedding import HashEmbedder

NOW = "2031-03-11T09:00+08:00"  # a Tuesday


@pytest.fixture(params=[HashEmbedder(), None], ids=["vectors", "words"])
def memory(request, open_memory, tmp_path):
    memory = open_memory(tmp_path / "m.db", embedder=request.param)
    memory.remember(
        "I prefer short answers.", id="before", speaker="user", timestamp="2031-03-02T09:00+08:00"
    )
    memory.remember("网关的端口是 7420。", id="monday", speaker="user", timestamp="2031-03-03T10:00+08:00")
    memory.remember(
        "Ilse Marten leads the Kestrel project.", id="thursday", timestamp="2031-03-06T15:30+08:00"
    )
    return memory


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was said last week?", {"monday", "thursday"}),
        ("What did I tell you last week?", {"monday", "thursday"}),
        ("What happened on March 6?", {"thursday"}),
        ("Did we talk about anything on 3 March?", {"monday"}),
        ("上周说过什么？", {"monday", "thursday"}),
        ("上周三之前说过什么？", {"before", "monday"}),
        ("3月6日发生了什么事？", {"thursday"}),
        ("我们 last week 聊了什么？", {"monday", "thursday"}),
        ("What was said in January?", set()),
        ("昨天说了什么？", set()),
        ("What did I say last week about sourdough?", set()),
        ("上周吃了什么？", set()),
        ("How are you today?", set()),
    ],
)
def test_a_time_alone_is_enough_to_ask_for(memory, question, expected):
    hits = memory.recall(question, now=NOW)
    assert {hit.unit.id for hit in hits} == expected


def test_what_is_of_another_time_does_not_answer_a_question_for_a_time(memory):
    hits = memory.recall("What was said last week?", now=NOW, floor=None)
    assert {hit.unit.id: hit.relevance for hit in hits if hit.relevance} == {"monday": 1.0, "thursday": 1.0}


def test_a_follow_up_still_asks_for_what_was_asked_before(memory):
    hits = memory.recall("And what last week?", history=["How do I bake sourdough bread?"], now=NOW)
    assert all(hit.relevance < 1.0 for hit in hits)
