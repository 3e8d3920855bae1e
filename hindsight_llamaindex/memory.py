"""`HindsightMemory`: the memory of an agent or chat engine.

    agent = FunctionAgent(tools=tools, llm=llm)
    await agent.run("What do you know about me?", memory=HindsightMemory(memory))

What is put is remembered at once and for good; what is got is the conversation of this session, as much of it as the token limit
allows, together with what the last user message brings to mind. `get_all` is the conversation as it was, without
memories. The handle's scope says whose memory it is; the session is one conversation in it.

**Where memories stand.** By default before the text of the user message they belong to, in a copy: there every agent sees
them, whereas `ReActAgent` drops a leading system message. Where that message is not part of the history yet (the context
chat engines ask before they put), and with `insert_method="system"`, they stand in a system message in front.

**What is not touched.** `set` replaces the conversation and learns nothing, `reset` ends the conversation and forgets
nothing: call `put_messages` for the one and `memory.clear()` on the handle for the other. What is handed out are copies;
what was injected is not learned when it comes back.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr
from llama_index.core.llms.llm import LLM
from llama_index.core.memory.memory import InsertMethod
from llama_index.core.memory.types import BaseMemory
from llama_index.core.utils import get_tokenizer

from hindsight_core import Hindsight
from hindsight_core.engine import opened
from hindsight_core.errors import HindsightError, InvalidInput
from hindsight_llamaindex.handles import describe, restore
from hindsight_llamaindex.messages import cleaned, item_of, question_of, recalled, text_of

log = logging.getLogger(__name__)

DEFAULT_TOKEN_LIMIT = 30_000
CONTEXT_SHARE = 0.75
"""Share of an LLM's context window that the conversation may take, as in `ChatMemoryBuffer`."""
MEDIA_TOKENS = 256
"""Counted for an image or another block that is not text, as in the framework."""

_Turn = tuple[ChatMessage, tuple[str, ...]]


class HindsightMemory(BaseMemory):
    """Conversation of one session, with what is remembered beyond it.

    Args:
        memory: The handle that remembers and recalls.
        session: Name of the conversation; a new one by default.
        settings: The fields below.

    Raises:
        InvalidInput: A memory that cannot be used.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    token_limit: int = Field(default=DEFAULT_TOKEN_LIMIT, gt=0, description="Most tokens that `get` returns.")
    memory_tokens: int = Field(default=800, ge=0, description="Most tokens of remembered text among them.")
    similarity_top_k: int = Field(default=5, ge=0, description="Most memories recalled.")
    insert_method: InsertMethod = Field(
        default=InsertMethod.USER, description="Memories stand in the user message, or in a system message."
    )
    session: str = Field(description="Name of the conversation.")
    tokenizer_fn: Callable[[str], Sequence[Any]] = Field(default_factory=get_tokenizer, exclude=True)

    _memory: Hindsight = PrivateAttr()
    _turns: list[_Turn] = PrivateAttr(default_factory=list)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, memory: Hindsight, *, session: str | None = None, **settings: Any) -> None:
        parts = opened(memory).parts
        super().__init__(**{**settings, "session": session or parts.new_id(parts.clock.now())})
        self._memory = memory
        describe(memory)

    @classmethod
    def class_name(cls) -> str:
        """Name of the class in serialised form."""
        return "HindsightMemory"

    @classmethod
    def from_defaults(
        cls,
        chat_history: list[ChatMessage] | None = None,
        llm: LLM | None = None,
        token_limit: int | None = None,
        memory: Hindsight | str | Path = ":memory:",
        **settings: Any,
    ) -> Self:
        """As other memories of the framework are made.

        Args:
            chat_history: Conversation so far; not learned.
            llm: Its context window gives the token limit, where none is given.
            token_limit: Most tokens that `get` returns.
            memory: A handle, or a file for one; ":memory:" remembers until the process ends.
            settings: As for the class.
        """
        if isinstance(chat_history, Hindsight):
            raise InvalidInput(
                "the first argument is a chat history; hand the memory over by name: memory=..."
            )
        handle = Hindsight.open(memory) if isinstance(memory, str | Path) else opened(memory)
        if token_limit is None and llm is not None:
            token_limit = int(llm.metadata.context_window * CONTEXT_SHARE)
        if token_limit is not None:
            settings["token_limit"] = token_limit
        made = cls(handle, **settings)
        made.set(chat_history or [])
        return made

    @property
    def memory(self) -> Hindsight:
        """The handle that remembers and recalls."""
        return self._memory

    # -- writing ---------------------------------------------------------------------------------------------

    def put(self, message: ChatMessage) -> None:
        """Add a message to the conversation and learn it."""
        self.put_messages([message])

    def put_messages(self, messages: list[ChatMessage]) -> None:
        """Add messages and learn them, in one go; when that fails, nothing was added."""
        clean = [copy for message in messages if (copy := cleaned(message)) is not None]
        items = [item_of(message, self.session) for message in clean]
        with self._lock:
            told = iter(
                self._memory.remember_many([item for item in items if item], resumable=False, progress=False)
            )
            for message, item in zip(clean, items, strict=True):
                self._turns.append((message, tuple(unit.id for unit in next(told)) if item else ()))

    def set(self, messages: list[ChatMessage]) -> None:
        """Replace the conversation; nothing is learned, and nothing learned is lost."""
        clean = [copy for message in messages if (copy := cleaned(message)) is not None]
        with self._lock:
            known = {(message.role, text_of(message)): ids for message, ids in self._turns}
            self._turns = [(message, known.get((message.role, text_of(message)), ())) for message in clean]

    def reset(self) -> None:
        """End the conversation; what was learned from it stays."""
        with self._lock:
            self._turns = []

    # -- reading ---------------------------------------------------------------------------------------------

    def get_all(self) -> list[ChatMessage]:
        """The whole conversation as it was put."""
        return [message.model_copy(deep=True) for message, _ in self._copy()]

    def get(
        self, input: str | ChatMessage | None = None, initial_token_count: int = 0, **kwargs: Any
    ) -> list[ChatMessage]:
        """The latest of the conversation, and what its last user message (or `input`) brings to mind.

        Args:
            input: What to recall for, where it is not the last user message.
            initial_token_count: Tokens of the limit that are taken already.
            kwargs: Not used; other memories take more.

        Returns:
            Copies. They begin with a system or user message, never with an answer or tool result whose question is
            gone, and always hold the latest turn, even where it alone exceeds the limit.
        """
        turns = self._copy()
        messages = [message for message, _ in turns]
        budget = self.token_limit - initial_token_count
        lead, start = self._window(messages, budget - self.memory_tokens)
        shown = [message.model_copy(deep=True) for message in [*messages[:lead], *messages[start:]]]
        room = min(self.memory_tokens, budget - sum(map(self._tokens, shown)))
        block, place = "", None
        asked = question_of(messages)
        question = text_of(input) if isinstance(input, ChatMessage) else (input or "").strip()
        if asked is not None and question in ("", asked[1]):
            place, question = asked
        if question and room > 0:
            here = [id for _, ids in turns[start:] for id in ids]
            block = self._recalled(question, messages[:place], here, room)
        if block:
            self._insert(shown, block, None if place is None or place < start else place - start + lead)
        return shown

    def _copy(self) -> list[_Turn]:
        with self._lock:
            return list(self._turns)

    def _window(self, messages: Sequence[ChatMessage], budget: int) -> tuple[int, int]:
        """How many system messages lead, and where the latest turns that fit begin."""
        lead = 0
        while lead < len(messages) and messages[lead].role == MessageRole.SYSTEM:
            lead += 1
        used = sum(self._tokens(message) for message in messages[:lead])
        start = len(messages)
        for place in range(len(messages) - 1, lead - 1, -1):
            used += self._tokens(messages[place])
            if used > budget and start < len(messages):
                break
            if messages[place].role == MessageRole.USER:
                start = place
        return lead, start

    def _tokens(self, message: ChatMessage) -> int:
        count = 0
        for block in message.blocks:
            count += self._count(block.text) if isinstance(block, TextBlock) else MEDIA_TOKENS
        return count + (self._count(str(message.additional_kwargs)) if message.additional_kwargs else 0)

    def _count(self, text: str) -> int:
        return len(self.tokenizer_fn(text))

    def _recalled(self, question: str, before: list[ChatMessage], here: list[str], room: int) -> str:
        """The block of memories for a question, without what the conversation itself shows; "" when recall fails."""
        where = {"id": {"$nin": here}} if here else None
        try:
            hits = recalled(self._memory, before, question, k=self.similarity_top_k, where=where)
            return hits.context(room, count_tokens=self._count)
        except HindsightError as error:
            log.warning("recall failed (%s); the conversation goes on without memories", type(error).__name__)
            return ""

    def _insert(self, shown: list[ChatMessage], block: str, place: int | None) -> None:
        if place is not None and self.insert_method is InsertMethod.USER:
            shown[place].blocks = [TextBlock(text=block + "\n"), *shown[place].blocks]
        elif shown and shown[0].role == MessageRole.SYSTEM:
            shown[0].blocks = [*shown[0].blocks, TextBlock(text=block)]
        else:
            shown.insert(0, ChatMessage(role=MessageRole.SYSTEM, content=block))

    # -- written down and taken up again -----------------------------------------------------------------------

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """The conversation and the name of the memory, as JSON; a workflow's context uses it."""
        turns = [
            {"message": message.model_dump(mode="json"), "ids": list(ids)} for message, ids in self._copy()
        ]
        return {**self.model_dump(mode="json"), "memory": describe(self._memory), "turns": turns}

    @classmethod
    def from_dict(cls, data: dict[str, Any], **kwargs: Any) -> Self:
        """What `to_dict` wrote. A memory still open in this process is used as it is; else its file is opened.

        Args:
            data: From `to_dict`.
            kwargs: Settings to change; `memory`, a handle, takes the place of the one named.
        """
        settings = {**data, **kwargs}
        turns = settings.pop("turns", [])
        memory = settings.pop("memory")
        settings.pop("class_name", None)
        made = cls(memory if isinstance(memory, Hindsight) else restore(memory), **settings)
        made._turns = [(ChatMessage.model_validate(turn["message"]), tuple(turn["ids"])) for turn in turns]
        return made

    def to_string(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_string(cls, json_str: str, **kwargs: Any) -> Self:
        """What `to_string` wrote."""
        return cls.from_dict(json.loads(json_str), **kwargs)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """A conversation of its own over the same memory."""
        return self.from_dict({**self.to_dict(), "memory": self._memory}, tokenizer_fn=self.tokenizer_fn)

    def __copy__(self) -> Self:
        return self.__deepcopy__()

    def __reduce__(self) -> tuple[Callable[[str], Self], tuple[str]]:
        return type(self).from_string, (self.to_string(),)
