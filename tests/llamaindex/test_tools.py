"""The tools, called as an agent calls them."""

import pytest

pytest.importorskip("llama_index.core", reason="needs llama-index-core")

from hindsight_llamaindex import HindsightToolSpec


@pytest.fixture
def tools(memory):
    return {tool.metadata.name: tool for tool in HindsightToolSpec(memory).to_tool_list()}


def test_names_descriptions_and_arguments(tools):
    assert list(tools) == ["remember", "recall", "forget", "feedback"]
    arguments = {
        name: list(tool.metadata.get_parameters_dict()["properties"]) for name, tool in tools.items()
    }
    assert arguments == {
        "remember": ["text"],
        "recall": ["query", "since", "until"],
        "forget": ["memory_id"],
        "feedback": ["memory_id", "helpful"],
    }
    assert all(tool.metadata.description for tool in tools.values())


async def test_a_life_with_both_sides_of_each_tool(tools, memory):
    assert "id m0-" in tools["remember"](text="Mirela plays the viola.").content
    assert "Remembered" in (await tools["remember"].acall(text="林岚弹琵琶。")).content
    block = tools["recall"](query="Who plays the viola?").content
    assert "Mirela plays the viola." in block
    (unit,) = [unit for unit in memory.find() if "viola" in unit.content]
    assert f"(id {unit.id})" in block
    assert "琵琶" in (await tools["recall"].acall(query="谁弹琵琶?")).content
    assert memory.get(unit.id).access_count == 1

    assert tools["feedback"](memory_id=unit.id, helpful=True).content == "Noted."
    assert memory.get(unit.id).importance == pytest.approx(unit.importance + 0.1)
    assert (await tools["feedback"].acall(memory_id=unit.id, helpful=False)).content == "Noted."
    assert memory.get(unit.id).importance == pytest.approx(unit.importance)

    assert tools["forget"](memory_id=unit.id).content == "Forgotten."
    assert (await tools["forget"].acall(memory_id=unit.id)).content.startswith(
        "Error: no memory with that id"
    )
    assert tools["recall"](query="Who plays the viola?").content == "Nothing relevant is remembered."


def test_a_window_of_time(tools, memory):
    memory.remember("The kiln was lit.", timestamp="2031-01-05")
    assert "kiln" in tools["recall"](query="kiln", since="2031-01-01", until="2031-02-01").content
    assert "Nothing" in tools["recall"](query="kiln", since="2031-02-01").content


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("remember", {"text": "  "}, "text must not be blank"),
        ("recall", {"query": "kiln", "since": "one of these days"}, "since"),
        ("forget", {"memory_id": "nobody"}, "no memory with that id"),
        ("feedback", {"memory_id": "nobody", "helpful": True}, "no memory with that id"),
    ],
)
def test_what_the_agent_gets_wrong_is_answered_in_words(tools, name, arguments, says):
    output = tools[name](**arguments)
    assert output.content.startswith("Error: ")
    assert says in output.content


def test_a_shared_memory_can_be_read_and_neither_judged_nor_forgotten(open_memory):
    open_memory(scope="team").remember("The kiln was lit.", id="k")
    spec = HindsightToolSpec(open_memory(scope="u", read=["team"]))
    assert "(id k)" in spec.recall("kiln")
    assert spec.feedback("k", True) == "That memory is shared and cannot be judged here."
    assert spec.forget("k").startswith("Error: ")
    assert HindsightToolSpec(open_memory(scope="other")).recall("kiln").startswith("Nothing")


async def test_the_loop_turns_meanwhile(open_memory, needs_loop):
    spec = HindsightToolSpec(open_memory(embedder=needs_loop))
    async with needs_loop.turning():
        await spec.aremember("The kiln was lit.")
    async with needs_loop.turning():
        assert "kiln" in await spec.arecall("kiln")
