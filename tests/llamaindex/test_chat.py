"""Any LLM of LlamaIndex as the engine's language model."""

import json

import pytest

pytest.importorskip("llama_index.core", reason="needs llama-index-core")
from llama_index.core import Settings
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.llms import MockLLM

from hindsight_core.errors import ModelError
from hindsight_core.llm import Chat, ChatModel, ChatRequest, LLMExtractor, Message
from hindsight_llamaindex import LlamaIndexChat

TEXT = "我喜欢 green tea."


class Scripted(MockLLM):
    """Answers with one text and notes what it was asked."""

    answer: str = ""
    asked: list = []
    raw: object = None
    counts: dict = {}

    def __init__(self, **fields):
        super().__init__()
        for name, value in fields.items():
            setattr(self, name, value)

    def chat(self, messages, **options):
        self.asked.append(messages)
        message = ChatMessage(role="assistant", content=self.answer)
        return ChatResponse(message=message, raw=self.raw, additional_kwargs=self.counts)


def reply(answer, **fields):
    return Scripted(answer=answer, asked=[], **fields)


def request():
    return ChatRequest(
        messages=(Message(role="system", content="Count."), Message(role="user", content="How many?")),
        schema={"type": "object"},
    )


def test_an_llm_extracts(open_memory):
    answer = {"items": [{"id": 1, "summary": TEXT, "importance": 9}]}
    llm = reply(json.dumps(answer, ensure_ascii=False))
    (unit,) = open_memory(extractor=LLMExtractor(LlamaIndexChat(llm))).remember(TEXT, speaker="user")
    assert (unit.summary, unit.importance) == (TEXT, 0.9)
    system, user = llm.asked[0]
    assert (system.role, user.role) == ("system", "user")
    assert "JSON schema" in system.content
    assert TEXT in user.content


class Raw:
    class Usage:
        prompt_tokens = 7
        completion_tokens = 2

    usage = Usage()
    choices = [{"finish_reason": "length"}]


@pytest.mark.parametrize(
    ("fields", "counts", "truncated"),
    [
        ({}, None, False),
        ({"counts": {"prompt_tokens": 7, "completion_tokens": 2}}, (7, 2), False),
        ({"raw": {"usage": {"prompt_tokens": 7, "completion_tokens": 2}, "choices": []}}, (7, 2), False),
        ({"raw": Raw()}, (7, 2), True),
        ({"raw": "text", "counts": {"prompt_tokens": "many"}}, None, False),
    ],
)
def test_tokens_and_limits_are_read_where_they_are_told(fields, counts, truncated):
    bridge = LlamaIndexChat(reply('{"n": 3}', **fields))
    assert isinstance(bridge, ChatModel)
    answer = bridge.complete(request())
    assert (answer.text, answer.truncated) == ('{"n": 3}', truncated)
    assert (answer.usage and (answer.usage.prompt_tokens, answer.usage.completion_tokens)) == counts


def test_the_settings_are_asked_when_needed_and_not_again(monkeypatch):
    bridge = LlamaIndexChat()
    llm = reply('{"n": 3}')
    monkeypatch.setattr(Settings, "_llm", llm)
    assert Chat(bridge).ask(request()).value == {"n": 3}
    monkeypatch.setattr(Settings, "_llm", MockLLM())
    assert bridge.llm is llm
    assert bridge.name.startswith("llama-index/")


def test_settings_without_a_usable_llm_are_a_fault_of_the_model_and_lose_no_words(monkeypatch, open_memory):
    def unusable(self):
        raise ImportError("`llama-index-llms-openai` package not found")

    monkeypatch.setattr(type(Settings), "llm", property(unusable))
    with pytest.raises(ModelError, match="llama-index cannot be asked"):
        Chat(LlamaIndexChat()).ask(request())
    memory = open_memory(extractor=LLMExtractor(LlamaIndexChat()))
    assert memory.remember(TEXT)[0].content == TEXT
    assert memory.stats()["pending"] == 1
