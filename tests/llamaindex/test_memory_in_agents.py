"""The memory in the framework's agents and chat engines, before whose eyes every trap of theirs lies."""

import pytest

pytest.importorskip("llama_index.core", reason="needs llama-index-core")
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ToolCallBlock
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory
from llama_index.core.memory.memory import InsertMethod
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context

from hindsight_llamaindex import HindsightMemory, HindsightMemoryBlock, HindsightToolSpec

# The framework's own agents call what it and pydantic have deprecated since.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

FACT = "My allergy is hazelnuts."
QUESTION = "What is my allergy?"


def seen(messages):
    return "\n".join(message.content or "" for message in messages)


class Answering(MockFunctionCallingLLM):
    """Answers with what it was shown, and keeps it; calls `look` first where it is told to."""

    def __init__(self, *, call=None):
        shown = []

        def respond(messages, **kwargs):
            shown.append([message.model_copy(deep=True) for message in messages])
            if call and messages[-1].role != "tool":
                return ChatMessage(
                    role="assistant",
                    blocks=[ToolCallBlock(tool_call_id="c1", tool_name=call, tool_kwargs={"what": "x"})],
                )
            return ChatMessage(
                role="assistant", content="Hazelnuts." if "hazelnuts" in seen(messages) else "No idea."
            )

        super().__init__(response_generator=respond)
        object.__setattr__(self, "shown", shown)


@pytest.fixture
def known(memory):
    """A memory that was told the fact in an earlier conversation."""
    HindsightMemory(memory, session="yesterday").put(ChatMessage(role="user", content=FACT))
    return memory


def look(what: str) -> str:
    """Look something up."""
    return f"found {what}"


def contents(messages):
    return [(message.role.value, message.content) for message in messages]


async def test_function_agent_remembers_across_conversations(known):
    llm, chat = Answering(), HindsightMemory(known)
    answer = await FunctionAgent(tools=[], llm=llm, system_prompt="Be kind.").run(QUESTION, memory=chat)
    assert str(answer) == "Hazelnuts."
    assert [message.role.value for message in llm.shown[0]] == ["system", "user"]
    assert contents(chat.get_all()) == [("user", QUESTION), ("assistant", "Hazelnuts.")]
    assert {unit.content for unit in known.find()} == {FACT, QUESTION, "Hazelnuts."}


async def test_tool_rounds_see_the_memory_and_leave_the_conversation_whole(known):
    llm, chat = Answering(call="look"), HindsightMemory(known)
    agent = FunctionAgent(tools=[FunctionTool.from_defaults(look)], llm=llm)
    assert str(await agent.run(QUESTION, memory=chat)) == "Hazelnuts."
    assert all("hazelnuts" in seen(messages) for messages in llm.shown)
    assert [message.role.value for message in chat.get_all()] == ["user", "assistant", "tool", "assistant"]
    assert not any("found x" in unit.content for unit in known.find())
    assert all(not unit.occurrences for unit in known.find())


async def test_a_second_run_in_the_same_context_goes_on(known):
    llm, chat = Answering(), HindsightMemory(known)
    agent = FunctionAgent(tools=[], llm=llm)
    context = Context(agent)
    await agent.run(QUESTION, memory=chat, ctx=context)
    await agent.run("And again?", ctx=context)
    # Between runs the framework writes its context down; what goes on is the memory it has read back.
    chat = await context.store.get("memory")
    assert [role for role, _ in contents(chat.get_all())] == ["user", "assistant"] * 2
    assert "And again?" in {unit.content for unit in known.find()}


async def test_the_context_comes_back_with_its_conversation(known):
    agent = FunctionAgent(tools=[], llm=Answering())
    context = Context(agent)
    await agent.run(QUESTION, memory=HindsightMemory(known, session="mine"), ctx=context)
    again = Context.from_dict(agent, context.to_dict())
    restored = await again.store.get("memory")
    assert isinstance(restored, HindsightMemory)
    assert (restored.session, restored.memory) == ("mine", known)
    assert contents(restored.get_all()) == [("user", QUESTION), ("assistant", "Hazelnuts.")]
    await agent.run("And again?", ctx=again)
    assert len((await again.store.get("memory")).get_all()) == 4


async def test_chat_history_given_to_a_run_replaces_and_is_not_learned(known):
    chat = HindsightMemory(known)
    history = [ChatMessage(role="user", content="Hello."), ChatMessage(role="assistant", content="Hi.")]
    await FunctionAgent(tools=[], llm=Answering()).run(QUESTION, chat_history=history, memory=chat)
    assert [text for _, text in contents(chat.get_all())] == ["Hello.", "Hi.", QUESTION, "Hazelnuts."]
    assert not {"Hello.", "Hi."} & {unit.content for unit in known.find()}


async def test_state_written_into_the_prompt_does_not_reach_the_conversation(known):
    llm, chat = Answering(), HindsightMemory(known)
    agent = FunctionAgent(tools=[], llm=llm, initial_state={"mood": "sunny"})
    await agent.run(QUESTION, memory=chat)
    assert "sunny" in seen(llm.shown[0])
    assert contents(chat.get_all())[0] == ("user", QUESTION)
    assert not any("sunny" in unit.content for unit in known.find())


async def test_agent_workflow(known):
    chat = HindsightMemory(known)
    agent = FunctionAgent(name="cook", description="cooks", tools=[], llm=Answering())
    answer = await AgentWorkflow(agents=[agent], root_agent="cook").run(QUESTION, memory=chat)
    assert str(answer) == "Hazelnuts."


class Reasoning(MockLLM):
    """A ReAct model that answers by what it sees."""

    def __init__(self):
        super().__init__()
        object.__setattr__(self, "shown", [])

    async def achat(self, messages, **kwargs):
        self.shown.append(list(messages))
        answer = "Hazelnuts." if "hazelnuts" in seen(messages) else "No idea."
        return ChatResponse(
            message=ChatMessage(role="assistant", content=f"Thought: I see.\nAnswer: {answer}")
        )


@pytest.mark.parametrize("system_prompt", [None, "Be kind."])
async def test_react_agent_sees_the_memory_whether_or_not_it_has_a_system_prompt(known, system_prompt):
    llm, chat = Reasoning(), HindsightMemory(known)
    agent = ReActAgent(tools=[], llm=llm, system_prompt=system_prompt, streaming=False)
    assert str(await agent.run(QUESTION, memory=chat)) == "Hazelnuts."
    assert "hazelnuts" in seen(llm.shown[0])
    assert "Hazelnuts." in {unit.content for unit in known.find()}
    assert not any("Thought:" in unit.content for unit in known.find())


async def test_react_agent_drops_a_system_message_as_the_framework_does(known):
    """The trap itself: if this fails, the framework has changed and the default may move to the system message."""
    llm, chat = Reasoning(), HindsightMemory(known, insert_method="system")
    assert str(await ReActAgent(tools=[], llm=llm, streaming=False).run(QUESTION, memory=chat)) == "No idea."


async def test_react_agent_with_the_block_in_the_stock_memory(known):
    llm = Reasoning()
    stock = Memory.from_defaults(memory_blocks=[HindsightMemoryBlock(known)], insert_method=InsertMethod.USER)
    answer = await ReActAgent(tools=[], llm=llm, streaming=False).run(QUESTION, memory=stock)
    await stock.sql_store._async_engine.dispose()
    assert str(answer) == "Hazelnuts."


def test_simple_chat_engine_by_instance_and_by_class(known):
    chat = HindsightMemory(known)
    engine = SimpleChatEngine.from_defaults(llm=MockLLM(), memory=chat)
    assert "hazelnuts" in str(engine.chat(QUESTION))
    assert [role for role, _ in contents(engine.chat_history)] == ["user", "assistant"]
    engine.reset()
    assert engine.chat_history == []
    made = SimpleChatEngine.from_defaults(llm=MockLLM(), memory_cls=HindsightMemory)
    assert QUESTION in str(made.chat(QUESTION))
    made._memory.memory.close()


async def test_simple_chat_engine_asynchronous_and_streaming(known):
    chat = HindsightMemory(known)
    engine = SimpleChatEngine.from_defaults(llm=MockLLM(), memory=chat)
    assert "hazelnuts" in str(await engine.achat(QUESTION))
    streamed = engine.stream_chat(QUESTION)
    assert "hazelnuts" in "".join(streamed.response_gen)
    assert [role for role, _ in contents(engine.chat_history)] == ["user", "assistant"] * 2
    assert "<memories>" not in "".join(unit.content for unit in known.find())


async def test_an_agent_with_the_tools(known):
    calls = iter(
        [("remember", {"text": "Mirela plays the viola."}), ("recall", {"query": "Who plays the viola?"})]
    )

    def respond(messages, **kwargs):
        call = next(calls, None)
        if call is None:
            return ChatMessage(role="assistant", content=messages[-1].content)
        block = ToolCallBlock(tool_call_id=call[0], tool_name=call[0], tool_kwargs=call[1])
        return ChatMessage(role="assistant", blocks=[block])

    agent = FunctionAgent(
        tools=HindsightToolSpec(known).to_tool_list(), llm=MockFunctionCallingLLM(response_generator=respond)
    )
    answer = str(await agent.run("What do you know?"))
    assert "Mirela plays the viola." in answer
    assert "(id " in answer
