"""`HindsightChatMessageHistory`: the transcript of a session, and a memory of what was said in it.

    RunnableWithMessageHistory(chain, lambda session_id: HindsightChatMessageHistory(memory, session_id), ...)

`messages` is the transcript: complete, in order, the same after a restart. What people and models say in it is also
remembered, so that any other session of the same scope can recall it. Secrets are redacted where the profile says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import BaseMessage

from hindsight_core import Hindsight
from hindsight_core.engine import opened
from hindsight_core.errors import InvalidInput
from hindsight_langchain import _messages


class HindsightChatMessageHistory(BaseChatMessageHistory):
    """Messages of one session, kept in a memory.

    Args:
        memory: Where they are kept. Sessions of other scopes are other sessions, whatever their name.
        session: Name of the session.
    """

    def __init__(self, memory: Hindsight, session: str) -> None:
        if not isinstance(session, str) or not session.strip():
            raise InvalidInput("a session needs a name that is not blank")
        self.memory = opened(memory)
        self.session = session

    @property
    def messages(self) -> list[BaseMessage]:
        """All messages, oldest first. Assigning adds what is new at the end, or else replaces the session."""
        return [_messages.message(episode) for episode in self.memory.transcript(self.session)]

    @messages.setter
    def messages(self, wanted: Sequence[BaseMessage]) -> None:
        present = self.messages
        if list(wanted[: len(present)]) != present:
            self.clear()
            present = []
        self.add_messages(wanted[len(present) :])

    async def aget_messages(self) -> list[BaseMessage]:
        """As `messages`, off the event loop."""
        return [_messages.message(episode) for episode in await self.memory.atranscript(self.session)]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages at the end and remember what they say."""
        self.memory.remember_many(
            [_messages.item(message, self.session) for message in messages], resumable=False, progress=False
        )

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """As `add_messages`, off the event loop."""
        await self.memory.aremember_many(
            [_messages.item(message, self.session) for message in messages], resumable=False, progress=False
        )

    def clear(self) -> None:
        """Empty the session and forget what only it has told; what other sessions told stays."""
        self.memory.forget_session(self.session)

    async def aclear(self) -> None:
        """As `clear`, off the event loop."""
        await self.memory.aforget_session(self.session)

    def __repr__(self) -> str:
        return f"<HindsightChatMessageHistory session={self.session!r}>"
