"""Entities: what a text is about, found by rules in Chinese, English and what mixes them.

Precision comes before recall. An entity links memories to each other and to questions; a wrong one that occurs
everywhere ties strangers together, while a missed one is still found by its words.

Four finders look at a text, the surest first: times (`text.times`), technical shapes (`technical`), Chinese
(`chinese`), English (`english`). Where two claim the same characters, the surer one has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain

from hindsight_core.text.entities.chinese import HAS_HAN, chinese
from hindsight_core.text.entities.english import english
from hindsight_core.text.entities.technical import Mention, technical
from hindsight_core.text.keys import normalise_key
from hindsight_core.text.times import find_times
from hindsight_core.unit import Entity

MOST = 24
"""No text is about more things than this; the first ones named are kept."""

GENERIC_SPEAKERS = frozenset(
    [
        "user",
        "assistant",
        "human",
        "ai",
        "bot",
        "system",
        "agent",
        "model",
        "tool",
        "function",
        "developer",
        "customer",
        "client",
        "me",
        "you",
        "unknown",
        "narrator",
        "用户",
        "助手",
        "系统",
        "机器人",
        "客服",
        "顾客",
        "客户",
        "我",
        "你",
    ]
)

ASSISTANTS = frozenset(("assistant", "ai", "bot", "agent", "model", "助手", "机器人", "客服"))
"""Those of them that are the agent's side: what they say is no fact about the user."""

_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)


# Letters and digits only: full-width punctuation is how Chinese is written.
_HALF_WIDTH = {
    wide: wide - 0xFEE0 for wide in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))
}


def find_entities(
    text: str, *, types: frozenset[str], now: datetime | None, speaker: str | None
) -> tuple[Entity, ...]:
    """Entities of a text in order of appearance, each key once, at most `MOST`.

    Args:
        text: The text; what stands in code fences is passed over.
        types: The types to find.
        now: The instant that relative times refer to; without it only absolute times are found.
        speaker: Who said it: a person the text is about, unless the name is that of a role.

    Returns:
        The speaker first, then what the text names.
    """
    if "```" in text or "~~~" in text:
        text = _FENCE.sub(lambda fence: " " * len(fence[0]), text)
    if not text.isascii():
        text = text.translate(_HALF_WIDTH)
    taken = bytearray(len(text))
    found: list[Mention] = []
    spans = dict(_times(text, now)) if "time" in types else {}
    for mention in chain(spans, _mentions(text)):
        if not any(taken[mention.start : mention.end]):
            taken[mention.start : mention.end] = b"\1" * (mention.end - mention.start)
            found.append(mention)
    entities: dict[str, Entity] = {}
    if speaker and "person" in types and (key := normalise_key(speaker)) and key not in GENERIC_SPEAKERS:
        entities[key] = Entity(speaker, "person", key)
    for mention in sorted(found):
        key = spans.get(mention) or normalise_key(mention.name)
        if mention.type in types and key and key not in entities:
            entities[key] = Entity(mention.name, mention.type, key)
            if len(entities) == MOST:
                break
    return tuple(entities.values())


def _times(text: str, now: datetime | None) -> Iterator[tuple[Mention, str]]:
    """Times with their keys "start/end"; without a reference only those that need none."""
    for span in find_times(text, now or _ANY_TIME):
        if now is not None or span.explicit:
            ends = (end.isoformat() if end is not None else "" for end in (span.start, span.end))
            yield Mention(*span.position, span.text, "time"), "/".join(ends)


def _mentions(text: str) -> Iterator[Mention]:
    yield from technical(text)
    if HAS_HAN.search(text) is not None:
        yield from chinese(text)
    yield from english(text)
