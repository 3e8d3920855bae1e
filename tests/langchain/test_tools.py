"""The memory tools: the standard suites as they are, and what they do."""

import pytest

pytest.importorskip("langchain_tests", reason="needs langchain-tests")

from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from hindsight_langchain import create_memory_tools
from hindsight_langchain.tools import NOTHING

EXAMPLES = {
    "remember": {"text": "The user prefers short answers."},
    "recall": {"query": "Does the user drink green tea?", "k": 2},
    "forget": {"id": "tea"},
    "feedback": {"id": "tea", "helpful": True},
}


@pytest.fixture
def tools(memory):
    memory.remember("The user drinks green tea.", id="tea", importance=0.5)
    return {tool.name: tool for tool in create_memory_tools(memory)}


class _Example:
    """Gives a standard suite the tool it is named after."""

    name = ""

    @pytest.fixture(autouse=True)
    def _tools(self, tools):
        self.tools = tools

    @property
    def tool_constructor(self):
        return self.tools[self.name]

    @property
    def tool_invoke_params_example(self):
        return EXAMPLES[self.name]


class TestRememberUnit(_Example, ToolsUnitTests):
    name = "remember"


class TestRememberIntegration(_Example, ToolsIntegrationTests):
    name = "remember"


class TestRecallUnit(_Example, ToolsUnitTests):
    name = "recall"


class TestRecallIntegration(_Example, ToolsIntegrationTests):
    name = "recall"


class TestForgetUnit(_Example, ToolsUnitTests):
    name = "forget"


class TestForgetIntegration(_Example, ToolsIntegrationTests):
    name = "forget"


class TestFeedbackUnit(_Example, ToolsUnitTests):
    name = "feedback"


class TestFeedbackIntegration(_Example, ToolsIntegrationTests):
    name = "feedback"


async def test_a_fact_lives_from_remember_to_forget(tools, memory):
    said = tools["remember"].invoke({"text": "我的桌子在 14 号房间。"}, {"configurable": {"thread_id": "t"}})
    id = said.removeprefix("Remembered as ").removesuffix(".")
    assert memory.get(id).source.session == "t"
    call = {"type": "tool_call", "id": "1", "name": "recall", "args": {"query": "我的桌子在哪里"}}
    for message in (tools["recall"].invoke(call), await tools["recall"].ainvoke(call)):
        assert id in message.content
        assert "14" in message.content
        assert message.artifact[0].id == id
    assert tools["forget"].invoke({"id": id}) == "Forgotten."
    assert await tools["forget"].ainvoke({"id": id}) == "There is no memory with that id."
    assert tools["recall"].invoke({"query": "我的桌子在哪里"}) == NOTHING


def test_feedback_moves_importance(tools, memory):
    assert tools["feedback"].invoke({"id": "tea", "helpful": True}) == "Noted."
    assert memory.get("tea").importance == 0.6
    tools["feedback"].invoke({"id": "tea", "helpful": False})
    assert memory.get("tea").importance == 0.5
    assert tools["feedback"].invoke({"id": "?", "helpful": True}) == "There is no memory with that id."


def test_what_recall_showed_is_not_remembered_again(tools, memory):
    shown = tools["recall"].invoke({"query": "green tea"})
    assert tools["remember"].invoke({"text": shown}) == "There was nothing to remember."
    assert memory.stats()["memories"] == 1


async def test_a_run_reaches_its_own_scope_only(tools, memory):
    config = {"configurable": {"hindsight_scope": ["users", "u1"]}}
    assert tools["recall"].invoke({"query": "green tea"}, config) == NOTHING
    assert tools["forget"].invoke({"id": "tea"}, config) == "There is no memory with that id."
    await tools["remember"].ainvoke({"text": "The user likes jazz."}, config)
    assert [u.content for u in memory.within("users", "u1").find()] == ["The user likes jazz."]


def test_schemas_show_neither_config_nor_memory(tools):
    assert {name: sorted(tool.args) for name, tool in tools.items()} == {
        "remember": ["text"], "recall": ["k", "query"], "forget": ["id"], "feedback": ["helpful", "id"],
    }  # fmt: skip
    assert all(argument["description"] for tool in tools.values() for argument in tool.args.values())
    assert "Hindsight " not in repr(tools)


async def test_async_leaves_the_loop_free(open_memory, needs_loop):
    memory = open_memory(embedder=needs_loop)
    memory.remember("The user drinks green tea.")
    recall = create_memory_tools(memory)[1]
    async with needs_loop.beating():
        assert "green tea" in await recall.ainvoke({"query": "green tea"})
