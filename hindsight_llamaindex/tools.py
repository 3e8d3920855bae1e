"""`HindsightToolSpec`: tools with which an agent decides itself what to remember.

    agent = FunctionAgent(tools=HindsightToolSpec(memory).to_tool_list(), llm=llm)

Each tool has a synchronous and an asynchronous side. What goes wrong through the agent's own arguments is answered in words,
so that it can try again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from llama_index.core.tools.tool_spec.base import BaseToolSpec

from hindsight_core import Hindsight, Hit
from hindsight_core.engine import opened
from hindsight_core.errors import InvalidInput, NotFound


class HindsightToolSpec(BaseToolSpec):
    """Remember, recall, forget and judge memories.

    Args:
        memory: The handle whose memories the agent works with.
        similarity_top_k: Most memories of one recall.
        max_tokens: Most tokens of what a recall shows.
    """

    spec_functions = [  # noqa: RUF012 (the framework reads it from the class)
        ("remember", "aremember"),
        ("recall", "arecall"),
        ("forget", "aforget"),
        ("feedback", "afeedback"),
    ]

    def __init__(self, memory: Hindsight, *, similarity_top_k: int = 5, max_tokens: int = 800) -> None:
        self._memory = opened(memory)
        self._top = similarity_top_k
        self._max_tokens = max_tokens

    def remember(self, text: str) -> str:
        """Remember a fact, preference or decision for later conversations. Say it in one full sentence."""

        def stored() -> str:
            units = self._memory.remember(text)
            return f"Remembered under the id {', '.join(unit.id for unit in units)}."

        return _answered(stored)

    def recall(self, query: str, since: str | None = None, until: str | None = None) -> str:
        """Recall what is remembered about a question, with the id of each memory.

        since and until are dates such as 2031-05-20 and limit the answer to what was said from the one to before the other.
        """

        def found() -> str:
            hits = self._memory.recall(query, k=self._top, since=since, until=until)
            return hits.context(self._max_tokens, ids=True) or "Nothing relevant is remembered."

        return _answered(found)

    def forget(self, memory_id: str) -> str:
        """Forget a memory that is wrong or no longer wanted, by the id that recall shows."""

        def gone() -> str:
            self._memory.forget(memory_id)
            return "Forgotten."

        return _answered(gone)

    def feedback(self, memory_id: str, helpful: bool) -> str:
        """Say whether a recalled memory was helpful, by the id that recall shows; helpful ones come up more easily."""

        def moved() -> str:
            unit = self._memory.get(memory_id)
            judged = self._memory.feedback(Hit(unit=unit, score=0.0, relevance=0.0), 1 if helpful else -1)
            return "Noted." if judged else "That memory is shared and cannot be judged here."

        return _answered(moved)

    async def aremember(self, text: str) -> str:
        """As `remember`."""
        return await asyncio.to_thread(self.remember, text)

    async def arecall(self, query: str, since: str | None = None, until: str | None = None) -> str:
        """As `recall`."""
        return await asyncio.to_thread(self.recall, query, since, until)

    async def aforget(self, memory_id: str) -> str:
        """As `forget`."""
        return await asyncio.to_thread(self.forget, memory_id)

    async def afeedback(self, memory_id: str, helpful: bool) -> str:
        """As `feedback`."""
        return await asyncio.to_thread(self.feedback, memory_id, helpful)


def _answered(act: Callable[[], str]) -> str:
    try:
        return act()
    except (InvalidInput, NotFound) as error:
        return f"Error: {error}"
