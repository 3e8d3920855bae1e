"""Chat messages as things to remember, and episodes as chat messages again.

The text of a message is what is remembered; what the text does not say (tool calls, images, ids, usage) is kept beside it
as JSON, so the message comes back whole. Context blocks of a memory that were put into a message are cut out of what is
remembered: what was recalled is not told again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    BaseMessageChunk,
    HumanMessage,
    message_chunk_to_message,
    messages_from_dict,
)

from hindsight_core.recall.context import without_blocks
from hindsight_core.unit import Episode
from hindsight_langchain._documents import plain

MESSAGE = "langchain"
"""Key of an episode's envelope under which a message keeps what its text does not say."""

SPEAKERS = {"human": "user", "ai": "assistant"}
_EMPTY: tuple[Any, ...] = (None, "", False, [], {})


def text_of(message: BaseMessage) -> str:
    """The words of a message, without images and other parts."""
    content = message.content
    if isinstance(content, str):
        return content
    parts = [part if isinstance(part, str) else part.get("text") for part in content]
    return "\n".join(part for part in parts if isinstance(part, str) and part)


def as_text(value: Any) -> str:
    """What a chain was given or gave, as text: a message, messages (the last one), or any value as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, BaseMessage):
        return text_of(value)
    if isinstance(value, list) and value and isinstance(value[-1], BaseMessage):
        return text_of(value[-1])
    return json.dumps(value, ensure_ascii=False, default=str)


def as_message(value: Any, kind: type[BaseMessage]) -> BaseMessage:
    """What a chain was given or gave, as a message of a kind; messages stay as they are."""
    if isinstance(value, list) and value and isinstance(value[-1], BaseMessage):
        value = value[-1]
    return value if isinstance(value, BaseMessage) else kind(content=as_text(value))


def item(message: BaseMessage, session: str | None) -> dict[str, Any]:
    """A message as an item to remember. Only what people and models say is searched; tools and instructions are kept."""
    if isinstance(message, BaseMessageChunk):
        message = message_chunk_to_message(message)
    text = without_blocks(text_of(message))
    said = message.type in SPEAKERS and bool(text.strip())
    rest = {
        name: value
        for name, value in message.model_dump().items()
        if name not in ("type", "content") and value not in _EMPTY
    }
    if not isinstance(message.content, str):
        rest["content"] = message.content
    elif not said:
        rest["content"] = text
    # A tool's artifact or a parsed answer may be any object; what JSON cannot hold is not kept.
    rest = json.loads(json.dumps(rest, ensure_ascii=False, default=lambda _: None, skipkeys=True))
    return {
        "text": text if text.strip() else json.dumps(rest, ensure_ascii=False),
        "speaker": SPEAKERS.get(message.type, message.type),
        "session": session,
        "indexed": said,
        "envelope": {MESSAGE: {"type": message.type, **rest}} if rest else {},
    }


def message(episode: Episode) -> BaseMessage:
    """The message an episode was, or that what was told otherwise amounts to."""
    kept = episode.envelope.get(MESSAGE)
    if isinstance(kept, Mapping):
        data = {"content": episode.text, **plain(kept)}
        return messages_from_dict([{"type": data.pop("type"), "data": data}])[0]
    speaker = episode.source.speaker
    if speaker == "assistant":
        return AIMessage(content=episode.text)
    return HumanMessage(content=episode.text, name=None if speaker in (None, "user") else speaker)
