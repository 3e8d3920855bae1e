"""`HindsightMemoryBlock`: long-term memory as one block of the framework's own `Memory`.

    chat = Memory.from_defaults(memory_blocks=[HindsightMemoryBlock(memory)])

The stock memory hands its blocks only what overflows its queue, which a short chat never does. So the block also learns what
it is shown when it is asked; learning the same message of the same session again does nothing. `Memory` puts blocks
into a system message, which `ReActAgent` drops: use `insert_method="user"` there.

A block that raises ends the run of an agent, so failures of the store are logged and the chat goes on without.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.memory.memory import BaseMemoryBlock
from llama_index.core.utils import get_tokenizer

from hindsight_core import Hindsight, Hits
from hindsight_core.engine import opened
from hindsight_core.errors import HindsightError
from hindsight_llamaindex.messages import cleaned, item_of, question_of, recalled

log = logging.getLogger(__name__)

_Said = tuple[str | None, str, str]


class HindsightMemoryBlock(BaseMemoryBlock[str]):
    """Recalls for the last user message, and learns what is said.

    Args:
        memory: The handle that remembers and recalls.
        settings: The fields below, and those of any block.
    """

    # The text of a memory cannot write a tag that begins so, hence cannot close the block it stands in.
    name: str = "memories_recalled"
    description: str | None = "What is remembered from this and earlier conversations."
    priority: int = 1
    similarity_top_k: int = Field(default=5, ge=0, description="Most memories recalled.")
    max_tokens: int = Field(default=800, ge=0, description="Most tokens of the block.")
    same_session: bool = Field(default=False, description="Recall only what was said in this session.")

    _memory: Hindsight = PrivateAttr()
    _known: dict[_Said, tuple[str, ...]] = PrivateAttr(default_factory=dict)
    _shown: tuple[str, Hits] | None = PrivateAttr(default=None)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, memory: Hindsight, **settings: Any) -> None:
        super().__init__(**settings)
        self._memory = opened(memory)

    async def _aget(
        self, messages: list[ChatMessage] | None = None, session_id: str | None = None, **block_kwargs: Any
    ) -> str:
        return await asyncio.to_thread(self._recalled, messages or [], session_id)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        await asyncio.to_thread(self._learned, messages, None)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """The block with its least telling memories left out, so many tokens shorter; None when none fits."""
        shown = self._shown
        if shown is None or shown[0] != content:
            return None
        room = _count(content) - tokens_to_truncate
        return await asyncio.to_thread(_rendered, shown[1], room) or None

    def _recalled(self, messages: Sequence[ChatMessage], session: str | None) -> str:
        here = self._learned(messages, session)
        asked = question_of(messages)
        if asked is None:
            return ""
        place, question = asked
        clauses: list[dict[str, Any]] = [{"id": {"$nin": here}}] if here else []
        if self.same_session and session is not None:
            clauses.append({"session": session})
        where = {"$and": clauses} if clauses else None
        try:
            hits = recalled(self._memory, messages[:place], question, k=self.similarity_top_k, where=where)
            block = _rendered(hits, self.max_tokens)
        except HindsightError as error:
            log.warning("recall failed (%s); the block stays empty", type(error).__name__)
            return ""
        self._shown = (block, hits)
        return block

    def _learned(self, messages: Sequence[ChatMessage], session: str | None) -> list[str]:
        """Learn what is new among messages; the ids of the memories that hold them."""
        said: dict[_Said, dict[str, Any]] = {}
        for message in messages:
            copy = cleaned(message)
            item = copy and item_of(copy, session or message.additional_kwargs.get("session_id"))
            if item:
                said[(item["session"], item["speaker"], item["text"])] = item
        with self._lock:
            new = [key for key in said if key not in self._known]
            try:
                # Resumable: the same words of the same session are known again even after a restart.
                told = self._memory.remember_many([said[key] for key in new], progress=False)
            except HindsightError as error:
                log.warning("%d messages could not be learned (%s)", len(new), type(error).__name__)
                return []
            for key, units in zip(new, told, strict=True):
                self._known[key] = tuple(unit.id for unit in units)
            return [id for key in said for id in self._known[key]]


def _count(text: str) -> int:
    return len(get_tokenizer()(text))


def _rendered(hits: Hits, max_tokens: int) -> str:
    return hits.context(max(max_tokens, 0), count_tokens=_count)
