"""Active recall: speak up when something relevant is known, and only then."""

import numpy as np
import pytest

from hindsight_core import Profile
from hindsight_core.engine.recollection import says_something
from hindsight_core.errors import InvalidInput, InvalidSettings
from hindsight_core.recall.context import OPEN
from hindsight_core.reranking import BoundedReranker

SMALL_TALK = [
    "", "  ", "...", "👍", "ok", "Ok!", "yes", "no", "Thanks a lot!", "Great, thank you so much!", "Hello! How are you?",
    "good morning Mira", "sure, sounds good", "你好", "好的，谢谢", "谢谢你的帮助", "嗯嗯", "哈哈", "明白了", "再见", "是的。好的。",
]  # fmt: skip
CONTENT = [
    "Which port does the gateway use?", "I'm going to the dentist tomorrow.", "网关用哪个端口?", "Thanks! And the gateway?",
    "好的，证书什么时候到期", "ok let's move the gateway", "7420",
]  # fmt: skip


@pytest.mark.parametrize("message", SMALL_TALK)
def test_small_talk_says_nothing(message):
    assert not says_something(message)


@pytest.mark.parametrize("message", CONTENT)
def test_anything_else_may(message):
    assert says_something(message)


@pytest.fixture
def filled(memory):
    memory.remember("The gateway of the plant listens on port 7420.", id="port", timestamp="2031-05-01")
    memory.remember("网关的证书六月到期。", id="cert", timestamp="2031-05-02")
    return memory


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("Which port does the gateway of the plant listen on?", "7420"),
        ("网关的证书什么时候到期?", "六月到期"),
        ("I bought new curtains for the bathroom.", None),
        ("浴室要换新窗帘了。", None),
        ("Thanks!", None),
        ("谢谢！", None),
        ("", None),
    ],
)
def test_it_speaks_when_something_relevant_is_known(filled, message, told):
    block = filled.recollect(message)
    assert block is None if told is None else (block.startswith(OPEN) and told in block)


async def test_the_same_off_the_loop(filled):
    assert "7420" in await filled.arecollect("Which port does the gateway of the plant listen on?")
    assert await filled.arecollect("Thanks!") is None


def test_speaking_counts_as_a_use_and_silence_does_not(filled):
    filled.recollect("Thanks!")
    filled.recollect("I bought new curtains for the bathroom.")
    assert {unit.access_count for unit in filled.find()} == {0}
    filled.recollect("Which port does the gateway of the plant listen on?")
    assert filled.get("port").access_count == 1


def test_small_talk_is_not_even_searched(open_memory):
    class Untouchable:
        dimension, fingerprint = 8, "u"

        def embed_documents(self, texts):
            return np.eye(8, dtype=np.float32)[np.arange(len(texts)) % 8]

        def embed_query(self, text):
            if text in ("Thanks!", "谢谢！"):
                raise AssertionError("searched")
            return np.eye(8, dtype=np.float32)[len(text) % 8]

    memory = open_memory(embedder=Untouchable())
    assert memory.recollect("Thanks!") is None
    assert memory.recollect("谢谢！") is None


def test_it_asks_for_more_than_an_asked_recall(open_memory):
    question = "Does the plant have curtains?"
    timid = open_memory(profile=Profile(mention=1.0))
    timid.remember("The gateway of the plant listens on port 7420.")
    assert timid.recall(question)
    assert timid.recollect(question) is None
    bold = open_memory(":memory:", profile=Profile(mention=0.0))
    bold.remember("The gateway of the plant listens on port 7420.")
    assert bold.recollect(question)
    assert bold.recollect("Thanks!") is None


def test_with_nothing_known_it_is_silent_whatever_the_profile(open_memory):
    assert open_memory(profile=Profile(mention=0.0, floor=None)).recollect("Which port?") is None


@pytest.mark.parametrize("tokens", [40, 60, 400])
def test_it_keeps_to_the_budget(open_memory, tokens):
    memory = open_memory(count_tokens=len)
    memory.remember("Gateway port 7420.")
    block = memory.recollect("gateway port?", max_tokens=tokens)
    assert block is None or len(block) <= tokens
    assert (block is not None) == (tokens == 400)


class Grader:
    def __init__(self, *grades):
        self.grades = grades
        self.asked = []

    def rerank(self, query, passages):
        self.asked.append((query, list(passages)))
        if not self.grades:
            raise ConnectionError("no model")
        return np.array([self.grades[i % len(self.grades)] for i in range(len(passages))])


MESSAGE = "Which port does the gateway of the plant listen on?"


@pytest.mark.parametrize(("grades", "speaks"), [((0.9,), True), ((0.1,), False), ((), True)])
def test_a_grader_has_the_last_word_and_the_rules_when_it_fails(filled, grades, speaks):
    grader = Grader(*grades)
    assert (filled.recollect(MESSAGE, grader=grader) is not None) is speaks
    assert grader.asked[0][0] == MESSAGE


def test_only_what_it_grades_well_is_brought_up(open_memory):
    memory = open_memory()
    memory.remember("The gateway of the plant listens on port 7420.", consolidate=False)
    memory.remember("The gateway of the plant listens on port 9, once it is rebuilt.", consolidate=False)
    assert {"7420", "rebuilt"} <= set(memory.recollect(MESSAGE).replace(".", " ").split())

    class First(Grader):
        def rerank(self, query, passages):
            return np.array([float("7420" in passage) for passage in passages])

    block = memory.recollect(MESSAGE, grader=BoundedReranker(First(), milliseconds=None))
    assert "7420" in block
    assert "rebuilt" not in block


def test_it_is_not_asked_when_the_rules_keep_silent(filled):
    grader = Grader(1.0)
    assert filled.recollect("I bought new curtains for the bathroom.", grader=grader) is None
    assert grader.asked == []


def test_wrong_arguments_are_refused_before_anything_else(filled):
    with pytest.raises(InvalidInput):
        filled.recollect("Thanks!", grader=7)
    with pytest.raises(InvalidInput):
        filled.recollect(None)
    with pytest.raises(InvalidSettings, match="mention"):
        Profile(mention=1.5)
