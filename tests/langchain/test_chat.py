"""Any chat model as the engine's language model."""

import json

import pytest

pytest.importorskip("langchain_core", reason="needs langchain-core")
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda

from hindsight_core.errors import ModelError, ModelUnavailable
from hindsight_core.llm import Chat, ChatModel, ChatRequest, LLMExtractor, LLMJudge, Message
from hindsight_langchain import LangChainChat

TEXT = "我喜欢 green tea."


class Scripted(BaseChatModel):
    """Answers with one message and notes what it was asked."""

    answer: object = None
    asked: list = []
    model_name: str = "small"

    @property
    def _llm_type(self):
        return "scripted"

    def _generate(self, messages, stop=None, run_manager=None, **options):
        self.asked.append(messages)
        if isinstance(self.answer, Exception):
            raise self.answer
        return ChatResult(generations=[ChatGeneration(message=self.answer)])


def reply(content, **fields):
    return Scripted(answer=AIMessage(content, **fields), asked=[])


def item(**fields):
    return json.dumps({"items": [{"id": 1, "summary": TEXT, "importance": 9, **fields}]}, ensure_ascii=False)


def request(text="How many?"):
    return ChatRequest(
        messages=(Message(role="system", content="Count."), Message(role="user", content=text)),
        schema={"type": "object"},
    )


def test_a_chat_model_extracts_and_judges(open_memory):
    model = reply(item())
    memory = open_memory(extractor=LLMExtractor(LangChainChat(model)), judge=LLMJudge(LangChainChat(model)))
    (unit,) = memory.remember(TEXT, speaker="user")
    assert (unit.summary, unit.importance) == (TEXT, 0.9)
    system, human = model.asked[0]
    assert (system.type, human.type) == ("system", "human")
    assert "JSON schema" in system.content
    assert TEXT in human.content


def test_what_the_model_says_besides_its_text_is_kept():
    model = reply(
        [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": '{"n": 3}'}],
        usage_metadata={"input_tokens": 7, "output_tokens": 2, "total_tokens": 9},
        response_metadata={"finish_reason": "length"},
    )
    bridge = LangChainChat(model)
    assert isinstance(bridge, ChatModel)
    assert bridge.name == "langchain/Scripted/small"
    answer = bridge.complete(request())
    assert (answer.text, answer.truncated) == ('{"n": 3}', True)
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (7, 2)


def test_a_model_that_counts_nothing_is_taken_as_it_is():
    chat = Chat(LangChainChat(FakeListChatModel(responses=['{"n": 3}'])))
    assert chat.ask(request()).value == {"n": 3}
    assert (chat.tally.calls, chat.tally.unmetered) == (1, 1)


def test_faults_of_any_client_are_told_apart():
    class RateLimitError(Exception):
        status_code = 429

    class AuthenticationError(Exception):
        status_code = 401

    waits = []
    for error, kind in ((RateLimitError("x"), ModelUnavailable), (TimeoutError("x"), ModelUnavailable)):
        with pytest.raises(kind):
            Chat(LangChainChat(Scripted(answer=error, asked=[])), attempts=2, sleep=waits.append).ask(
                request()
            )
    assert waits == [0.5, 0.5]
    with pytest.raises(ModelError) as caught:
        Chat(LangChainChat(Scripted(answer=AuthenticationError("x"), asked=[]))).ask(request())
    assert not isinstance(caught.value, ModelUnavailable)


def test_callbacks_of_a_run_under_way_do_not_see_it():
    seen = []

    class Watching(BaseCallbackHandler):
        def on_chat_model_start(self, *args, **options):
            seen.append(args)

    model = reply('{"n": 3}')
    inside = RunnableLambda(lambda _: LangChainChat(model).complete(request()).text)
    assert inside.invoke("x", {"callbacks": [Watching()]}) == '{"n": 3}'
    assert RunnableLambda(lambda _: model.invoke("hello")).invoke("x", {"callbacks": [Watching()]})
    assert len(seen) == 1
