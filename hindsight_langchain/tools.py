"""Tools by which an agent handles its memory itself: remember, recall, forget, and say what helped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field

from hindsight_core import Hindsight, Hit
from hindsight_core.engine import opened
from hindsight_core.errors import NotFound
from hindsight_core.recall.context import without_blocks
from hindsight_langchain._documents import configured, described, narrowed

NOTHING = "Nothing relevant is remembered."


class Remember(BaseModel):
    """What `remember` takes."""

    text: str = Field(
        description="One fact, decision or preference, as a full sentence that can stand alone."
    )


class Recall(BaseModel):
    """What `recall` takes."""

    query: str = Field(description="The question, in any language; names, dates and numbers help.")
    k: int = Field(default=5, ge=1, le=50, description="How many memories at most.")


class Forget(BaseModel):
    """What `forget` takes."""

    id: str = Field(description="The id of the memory, as recall shows it.")


class Feedback(BaseModel):
    """What `feedback` takes."""

    id: str = Field(description="The id of the memory, as recall shows it.")
    helpful: bool = Field(description="True if it helped to answer, false if it was wrong or in the way.")


def create_memory_tools(memory: Hindsight, *, max_tokens: int = 800) -> list[BaseTool]:
    """The tools remember, recall, forget and feedback, on one memory.

    `config["configurable"]["hindsight_scope"]` narrows a call to a scope below the memory's, `thread_id` names the session
    of what is remembered. Forgotten memories stay in the journal until its retention ends.

    Args:
        memory: The memory.
        max_tokens: Limit of what recall shows.
    """
    opened(memory)

    def handle(config: RunnableConfig) -> Hindsight:
        return narrowed(memory, *configured(config))

    def remember(text: str, config: RunnableConfig) -> str:
        text = without_blocks(text)
        if not text.strip():
            return "There was nothing to remember."
        thread = config.get("configurable", {}).get("thread_id")
        units = handle(config).remember(text, session=None if thread is None else str(thread))
        return f"Remembered as {', '.join(unit.id for unit in units)}."

    def recall(query: str, config: RunnableConfig, k: int = 5) -> tuple[str, list[Document]]:
        hits = handle(config).recall(query, k=k)
        return hits.context(max_tokens, ids=True) or NOTHING, [described(hit) for hit in hits]

    def forget(id: str, config: RunnableConfig) -> str:
        try:
            handle(config).forget(id)
        except NotFound:
            return "There is no memory with that id."
        return "Forgotten."

    def feedback(id: str, helpful: bool, config: RunnableConfig) -> str:
        own = handle(config)
        try:
            hit = Hit(unit=own.get(id), score=0.0, relevance=0.0)
        except NotFound:
            return "There is no memory with that id."
        moved = own.feedback(hit, 1 if helpful else -1)
        return "Noted." if moved else "That memory is shared and cannot be rated here."

    return [
        _tool(
            remember,
            Remember,
            "Keep a fact, decision or preference in long-term memory, beyond this conversation.",
        ),
        _tool(
            recall, Recall, "Look up what long-term memory holds about a question.", "content_and_artifact"
        ),
        _tool(forget, Forget, "Remove one memory that the user wants gone or that is wrong."),
        _tool(
            feedback, Feedback, "Say whether a recalled memory helped, so that useful ones gain importance."
        ),
    ]


def _tool(
    call: Callable[..., Any], takes: type[BaseModel], description: str, gives: Any = "content"
) -> BaseTool:
    async def acall(config: RunnableConfig, **arguments: Any) -> Any:
        return await asyncio.to_thread(call, config=config, **arguments)

    return StructuredTool.from_function(
        func=call,
        coroutine=acall,
        name=call.__name__,
        description=description,
        args_schema=takes,
        response_format=gives,
    )
