"""What uses a LangGraph store works on ours unchanged: a graph's nodes, injected tools, langmem's memory tools."""

import warnings

import pytest

pytest.importorskip("langgraph.graph", reason="needs langgraph")

from typing import Annotated, TypedDict

from langgraph.config import get_store
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore

from hindsight_langchain import HindsightStore


class State(TypedDict):
    said: str
    found: Annotated[list[str], lambda _, new: new]


def note(state: State, *, store: BaseStore):
    store.put(("notes",), state["said"], {"content": state["said"]})
    return {}


async def anote(state: State, *, store: BaseStore):
    await store.aput(("notes",), state["said"], {"content": state["said"]})
    return {}


def look(state: State):
    return {"found": [item.value["content"] for item in get_store().search(("notes",), query=state["said"])]}


def build(store, noting):
    builder = StateGraph(State)
    builder.add_node("note", noting)
    builder.add_node("look", look)
    builder.add_edge(START, "note")
    builder.add_edge("note", "look")
    builder.add_edge("look", END)
    return builder.compile(store=store)


async def test_a_graph_reads_and_writes_it(memory):
    store = HindsightStore(memory)
    assert build(store, note).invoke({"said": "green tea"})["found"] == ["green tea"]
    assert (await build(store, anote).ainvoke({"said": "green rice"}))["found"] == ["green rice", "green tea"]


async def test_langmem_tools_work_unchanged(memory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        langmem = pytest.importorskip("langmem", reason="needs langmem")
    store = HindsightStore(memory)
    namespace = ("memories", "{user}")
    manage = langmem.create_manage_memory_tool(namespace, store=store)
    search = langmem.create_search_memory_tool(namespace, store=store)
    config = {"configurable": {"user": "mira"}}
    said = manage.invoke({"content": "Mira drinks green tea.", "action": "create"}, config)
    key = said.rsplit(" ", 1)[-1]
    assert store.get(("memories", "mira"), key).value == {"content": "Mira drinks green tea."}
    await manage.ainvoke({"content": "Mira drinks black coffee.", "action": "update", "id": key}, config)
    assert "black coffee" in search.invoke({"query": "What does Mira drink?"}, config)
    assert "Mira" not in search.invoke({"query": "drink"}, {"configurable": {"user": "leo"}})
    await manage.ainvoke({"action": "delete", "id": key}, config)
    assert store.search(("memories",)) == []
