"""The chat history: an append-only transcript that comes back whole, and a memory of what was said in it."""

import copy
import threading
import warnings

import pytest

pytest.importorskip("langchain_core", reason="needs langchain-core")

from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder

from hindsight_core.errors import InvalidInput
from hindsight_langchain import HindsightChatMessageHistory

CALL = {"name": "look_up", "args": {"city": "巴黎"}, "id": "c1", "type": "tool_call"}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
CONVERSATION = [
    SystemMessage("Be brief.", id="s"),
    HumanMessage("What is the weather in 巴黎?", id="h1"),
    AIMessage("", tool_calls=[CALL], id="a1"),
    ToolMessage("sunny, 25°", tool_call_id="c1", id="t1"),
    AIMessage(
        "It is sunny.",
        id="a2",
        response_metadata={"model": "m"},
        usage_metadata={"input_tokens": 3, "output_tokens": 4, "total_tokens": 7},
    ),
    HumanMessage([{"type": "text", "text": "What is on this picture?"}, IMAGE], id="h2"),
    HumanMessage([IMAGE]),
    AIMessage([{"type": "text", "text": "A cat."}, {"type": "text", "text": "And a hat."}]),
    HumanMessage("ok", name="mira", additional_kwargs={"x": 1}),
    HumanMessage("ok"),
    HumanMessage("ok"),
]


@pytest.fixture
def history(memory):
    return HindsightChatMessageHistory(memory, "s1")


async def test_every_message_comes_back_whole_and_in_order(history):
    assert history.messages == []
    history.add_messages(CONVERSATION[:4])
    await history.aadd_messages(CONVERSATION[4:])
    assert history.messages == CONVERSATION
    assert await history.aget_messages() == CONVERSATION
    assert [type(m) for m in history.messages] == [type(m) for m in CONVERSATION]


def test_only_what_was_said_is_searched(history, memory):
    history.add_messages(CONVERSATION)
    indexed = {unit.content for unit in memory.find() if unit.indexed}
    assert indexed == {
        "What is the weather in 巴黎?",
        "It is sunny.",
        "What is on this picture?",
        "A cat.\nAnd a hat.",
        "ok",
    }
    assert {unit.source.speaker for unit in memory.find() if unit.content == "It is sunny."} == {"assistant"}
    assert all(unit.metadata == {} for unit in memory.find())


def test_the_convenience_methods_and_chunks(history):
    history.add_user_message("hello")
    history.add_ai_message("你好")
    history.add_message(AIMessageChunk("streamed", id="r"))
    assert history.messages == [HumanMessage("hello"), AIMessage("你好"), AIMessage("streamed", id="r")]
    assert str(history) == "Human: hello\nAI: 你好\nAI: streamed"


def test_what_json_cannot_hold_is_left_out_not_fatal(history):
    history.add_messages(
        [ToolMessage("found", tool_call_id="c", artifact=[Document("x")]), AIMessage("x" * 5000)]
    )
    assert history.messages[0].content == "found"
    assert history.messages[1] == AIMessage("x" * 5000)


def test_it_survives_a_restart_and_a_broken_embedder(tmp_path, open_memory):
    from hindsight_core.embedding import HashEmbedder

    class Breaks(HashEmbedder):
        broken = False

        def embed_documents(self, texts):
            if self.broken:
                raise RuntimeError("down")
            return super().embed_documents(texts)

    embedder = Breaks()
    first = open_memory(tmp_path / "m.db", embedder=embedder)
    embedder.broken = True
    HindsightChatMessageHistory(first, "s").add_messages(CONVERSATION)
    first.close()
    second = open_memory(tmp_path / "m.db")
    assert HindsightChatMessageHistory(second, "s").messages == CONVERSATION


def test_sessions_and_scopes_are_apart(memory):
    one = HindsightChatMessageHistory(memory.within("u1"), "s")
    other = HindsightChatMessageHistory(memory.within("u2"), "s")
    third = HindsightChatMessageHistory(memory.within("u1"), "s2")
    for history, text in ((one, "I live in Oslo."), (other, "I live in Rome."), (third, "I work at night.")):
        history.add_user_message(text)
    one.clear()
    assert one.messages == []
    assert other.messages == [HumanMessage("I live in Rome.")]
    assert third.messages == [HumanMessage("I work at night.")]
    assert [u.content for u in memory.within("u1").find()] == ["I work at night."]
    one.add_user_message("I live in Oslo.")
    assert one.messages == [HumanMessage("I live in Oslo.")]


async def test_clear_forgets_only_what_was_told_nowhere_else(memory):
    for session in ("s1", "s2"):
        await HindsightChatMessageHistory(memory, session).aadd_messages([HumanMessage("I like jazz.")])
    await HindsightChatMessageHistory(memory, "s1").aclear()
    assert [u.content for u in memory.find()] == ["I like jazz."]
    assert HindsightChatMessageHistory(memory, "s2").messages == [HumanMessage("I like jazz.")]


def test_assigning_messages_adds_the_tail_or_starts_anew(history):
    history.messages = [HumanMessage("a"), AIMessage("b")]
    history.messages = [HumanMessage("a"), AIMessage("b"), HumanMessage("c")]
    assert len(history.memory.transcript("s1")) == 3
    history.messages = [HumanMessage("z")]
    assert history.messages == [HumanMessage("z")]


def test_a_session_the_engine_wrote_reads_as_messages(memory):
    memory.remember("The port is 7421.", speaker="Mira", session="s")
    memory.remember("Noted.", speaker="assistant", session="s")
    memory.remember("thanks", speaker="user", session="s")
    assert HindsightChatMessageHistory(memory, "s").messages == [
        HumanMessage("The port is 7421.", name="Mira"),
        AIMessage("Noted."),
        HumanMessage("thanks"),
    ]


def test_many_writers_lose_nothing(memory):
    histories = [HindsightChatMessageHistory(memory, "s") for _ in range(4)]

    def write(history, name):
        for i in range(5):
            history.add_messages([HumanMessage(f"{name} asks {i}"), AIMessage(f"answer {name} {i}")])

    threads = [threading.Thread(target=write, args=(h, n)) for n, h in enumerate(histories)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    said = [m.content for m in histories[0].messages]
    assert len(said) == 40
    for n in range(4):
        own = [text for text in said if text.startswith((f"{n} asks", f"answer {n}"))]
        assert own == [text for i in range(5) for text in (f"{n} asks {i}", f"answer {n} {i}")]


async def test_runnable_with_message_history_keeps_the_thread(memory):
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("history"), ("human", "{question}")])
    seen = []

    def look(value):
        seen.append([m.content for m in value.to_messages()])
        return value

    def model():
        return prompt | look | GenericFakeChatModel(messages=iter([AIMessage("first"), AIMessage("second")]))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from langchain_core.runnables.history import RunnableWithMessageHistory

        chain = RunnableWithMessageHistory(
            model(),
            lambda session_id: HindsightChatMessageHistory(memory, session_id),
            input_messages_key="question",
            history_messages_key="history",
        )
    config = {"configurable": {"session_id": "s"}}
    chain.invoke({"question": "one?"}, config)
    parts = [part async for part in chain.astream({"question": "two?"}, config)]
    assert "".join(part.content for part in parts) == "second"
    assert seen == [["one?"], ["one?", "first", "two?"]]
    kept = HindsightChatMessageHistory(memory, "s").messages
    assert [(m.type, m.content) for m in kept] == [
        ("human", "one?"), ("ai", "first"), ("human", "two?"), ("ai", "second"),
    ]  # fmt: skip


def test_secrets_and_erased_words_are_not_in_what_is_kept_beside_the_text(memory):
    history = HindsightChatMessageHistory(memory, "s")
    key = "sk-" + "a1B2" * 12
    history.add_messages([HumanMessage([{"type": "text", "text": f"my key is {key}"}, IMAGE], id="h")])
    assert key not in str(history.messages)
    assert history.messages[0].content[1] == IMAGE
    memory.erase(memory.find()[0].id)
    assert history.messages == []


def test_a_session_needs_a_name_and_shows_no_content(memory, history):
    with pytest.raises(InvalidInput, match="session"):
        HindsightChatMessageHistory(memory, " ")
    assert repr(history) == "<HindsightChatMessageHistory session='s1'>"
    assert copy.deepcopy(history).memory is memory
