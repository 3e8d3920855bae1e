"""What of a chat message is worth learning, and what a message is a question about.

User and assistant messages are learned by their text. Tool results and system prompts are not: they are machinery. A
block of memories that was put into a message on its way to the LLM is taken out again before anything is stored, so that
what is remembered is never learned as if it had been said anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock

from hindsight_core import Hindsight, Hits
from hindsight_core.recall.context import without_blocks

EARLIER = 2
"""Turns before a question that help to understand it."""

_SPEAKERS = {
    MessageRole.USER: "user",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.CHATBOT: "assistant",
    MessageRole.MODEL: "assistant",
}
_ANSWER = "\nAnswer:"


def cleaned(message: ChatMessage) -> ChatMessage | None:
    """A deep copy without memory blocks; None for a message that was nothing else."""
    copy = message.model_copy(deep=True)
    blocks: list[Any] = []
    for block in copy.blocks:
        if isinstance(block, TextBlock) and (rest := without_blocks(block.text)) != block.text:
            if not rest:
                continue
            block.text = rest
        blocks.append(block)
    if copy.blocks and not blocks:
        return None
    copy.blocks = blocks
    return copy


def text_of(message: ChatMessage) -> str:
    """The text of a message; of the reasoning a ReAct agent leaves as its message, only the answer."""
    text = "\n".join(block.text for block in message.blocks if isinstance(block, TextBlock)).strip()
    if message.role == MessageRole.ASSISTANT and text.startswith("Thought:") and _ANSWER in text:
        text = text.rpartition(_ANSWER)[2].strip()
    return text


def item_of(message: ChatMessage, session: str | None) -> dict[str, Any] | None:
    """What `Hindsight.remember_many` takes, for a message; None where there is nothing to learn."""
    speaker, text = _SPEAKERS.get(message.role), text_of(message)
    return {"text": text, "speaker": speaker, "session": session} if speaker and text else None


def question_of(messages: Sequence[ChatMessage]) -> tuple[int, str] | None:
    """Where the last user message with text stands, and that text."""
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].role == MessageRole.USER and (text := text_of(messages[place])):
            return place, text
    return None


def earlier_texts(messages: Sequence[ChatMessage]) -> list[str]:
    """The last few things said, oldest first."""
    said = [text for message in messages if message.role in _SPEAKERS and (text := text_of(message))]
    return said[-EARLIER:]


def recalled(
    memory: Hindsight, messages: Sequence[ChatMessage], question: str, *, k: int, where: dict[str, Any] | None
) -> Hits:
    """What a question brings to mind, understood by the messages before it.

    They may as well lead away from it: where they leave nothing relevant, the question is asked by itself.
    """
    earlier = earlier_texts(messages)
    hits = memory.recall(question, k=k, history=earlier, where=where)
    return hits if hits or not earlier else memory.recall(question, k=k, where=where)
