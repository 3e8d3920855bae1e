"""From items of a model's answer to extractions: each is checked by itself, and repaired where its meaning is plain."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from hindsight_core.errors import AnswerUnusable, InvalidInput
from hindsight_core.llm.grounding import fault, occurs
from hindsight_core.llm.prompts import RELATIONS
from hindsight_core.ports import Extraction, ExtractionContext, Opinion, Relation, Told
from hindsight_core.text.entities import ASSISTANTS, GENERIC_SPEAKERS, MOST, find_entities
from hindsight_core.text.keys import normalise_key
from hindsight_core.text.times import as_aware
from hindsight_core.unit import Entity, MemoryType

log = logging.getLogger(__name__)

_LONGEST = 240
_MOST_BY_ASSISTANT = 0.5
_NEUTRAL = 0.5
_SEPARATORS = re.compile(r"\s*[,，、;；\n]\s*")
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:/\s*10)?\s*\Z")
_PRONOUNS = frozenset(
    [
        "i",
        "me",
        "my",
        "mine",
        "you",
        "your",
        "he",
        "him",
        "his",
        "she",
        "her",
        "it",
        "its",
        "we",
        "us",
        "our",
        "they",
        "them",
        "their",
        "this",
        "that",
        "我们",
        "你们",
        "他",
        "她",
        "它",
        "他们",
        "她们",
        "它们",
        "咱们",
        "自己",
        "大家",
        "这",
        "那",
    ]
)
_ALIASES = {
    "company": "organisation", "organization": "organisation", "org": "organisation", "team": "organisation",
    "location": "place", "city": "place", "country": "place", "people": "person", "name": "person",
    "software": "system", "product": "system", "tool": "system", "service": "system", "technology": "system",
    "file": "path", "url": "path", "id": "identifier", "book": "title", "film": "title", "movie": "title",
    "人": "person", "人名": "person", "公司": "organisation", "组织": "organisation", "机构": "organisation",
    "地点": "place", "地名": "place", "软件": "system", "产品": "system", "系统": "system", "配置": "config", "版本": "version",
}  # fmt: skip


def items_of(answer: Any) -> list[Mapping[str, Any]]:
    """The items of an answer, whether it is an object that holds them, a list of them, or one alone.

    Raises:
        AnswerUnusable: It is something else.
    """
    if isinstance(answer, Mapping):
        listed = answer.get("items", [answer] if "id" in answer or "summary" in answer else None)
    else:
        listed = answer
    if not isinstance(listed, list):
        raise AnswerUnusable("the answer is no list of items")
    return [item for item in listed if isinstance(item, Mapping)]


def number_of(item: Mapping[str, Any], count: int) -> int | None:
    """Which of the texts 1..count an item is about, counted from 0; None when it names another."""
    raw = item.get("id", 1 if count == 1 else None)
    if isinstance(raw, str) and raw.strip().lstrip("#").isdecimal():
        raw = int(raw.strip().lstrip("#"))
    if isinstance(raw, bool) or not isinstance(raw, int) or not 1 <= raw <= count:
        return None
    return raw - 1


def relation_of(item: Mapping[str, Any]) -> Relation | None:
    """The relation an item names; None for any other word."""
    raw = item.get("relation")
    named = raw.strip().casefold() if isinstance(raw, str) else None
    return next((relation for relation in RELATIONS if relation == named), None)


def extraction(
    item: Mapping[str, Any], text: str, context: ExtractionContext, known: Sequence[Told]
) -> Extraction:
    """What an item says about its text.

    Args:
        item: As the model gave it.
        text: The text it is about.
        context: When and by whom that was said.
        known: What the ids "k1", "k2", ... stand for.

    Raises:
        AnswerUnusable: There is no summary, or it is not made of the text.
    """
    summary = item.get("summary")
    if not isinstance(summary, str) or not summary.strip():
        raise AnswerUnusable("an item without a summary")
    summary = " ".join(summary.split())
    reason = fault(summary, text, context.speaker)
    if reason is not None:
        raise AnswerUnusable(f"a summary refused: {reason}")
    by_assistant = normalise_key(context.speaker or "") in ASSISTANTS
    importance = _importance(item.get("importance"))
    return Extraction(
        summary=summary if len(summary) <= _LONGEST else summary[:_LONGEST].rstrip() + "…",
        entities=_entities(item, text, context),
        importance=min(importance, _MOST_BY_ASSISTANT) if by_assistant else importance,
        memory_type=_memory_type(item.get("memory_type")),
        opinions=_opinions(item.get("relations"), known),
    )


def _importance(raw: Any) -> float:
    """0..1 of the rubric's 1-10; what is below 1 was meant as 0..1 already."""
    if isinstance(raw, str) and (written := _AMOUNT.match(raw)) is not None:
        raw = float(written[1])
    if isinstance(raw, bool) or not isinstance(raw, int | float) or raw != raw:
        return _NEUTRAL
    return round(min(1.0, max(0.0, raw if raw < 1 else raw / 10)), 6)


def _memory_type(raw: Any) -> MemoryType:
    named = raw.strip().casefold() if isinstance(raw, str) else ""
    return MemoryType(named) if named in set(MemoryType) else MemoryType.EPISODIC


def _entities(item: Mapping[str, Any], text: str, context: ExtractionContext) -> tuple[Entity, ...]:
    """What the rules find, which is exact for identifiers and times, and what the model finds besides."""
    by_rules = find_entities(text, types=context.entity_types, now=context.timestamp, speaker=context.speaker)
    found = {entity.key: entity for entity in by_rules}
    for name, kind in _named(item.get("entities")):
        key = normalise_key(name)
        if key in found or key in GENERIC_SPEAKERS or key in _PRONOUNS or not occurs(name, text):
            continue
        kind = _ALIASES.get(kind, kind)
        if kind in context.entity_types and kind != "time":
            found[key] = Entity(name.strip(), kind, key)
    for entity in _times(item.get("times"), text, context):
        found.setdefault(entity.key, entity)
    return tuple(found.values())[:MOST]


def _named(raw: Any) -> list[tuple[str, str]]:
    """Names with their types: from objects, from plain strings, from one string with commas."""
    if isinstance(raw, str):
        raw = _SEPARATORS.split(raw)
    named = []
    for one in raw if isinstance(raw, list) else []:
        name, kind = (one.get("name"), one.get("type")) if isinstance(one, Mapping) else (one, None)
        if isinstance(name, str):
            named.append((name, kind.strip().casefold() if isinstance(kind, str) else "identifier"))
    return named


def _times(raw: Any, text: str, context: ExtractionContext) -> list[Entity]:
    """Expressions of time that the rules cannot read, as the model reads them."""
    if context.timestamp is None or "time" not in context.entity_types:
        return []
    found = []
    for one in raw if isinstance(raw, list) else []:
        words = one.get("words") if isinstance(one, Mapping) else None
        if not isinstance(words, str) or not occurs(words, text):
            continue
        if find_entities(words, types=frozenset({"time"}), now=context.timestamp, speaker=None):
            continue
        start, end = _instant(one.get("start"), context), _instant(one.get("end"), context)
        if start is not None and end is not None and start < end:
            found.append(Entity(words, "time", f"{start.isoformat()}/{end.isoformat()}"))
    return found


def _instant(raw: Any, context: ExtractionContext) -> datetime | None:
    """An ISO instant within a lifetime of the text's own; without an offset it is in the text's zone."""
    if not isinstance(raw, str) or context.timestamp is None:
        return None
    try:
        read = as_aware(raw, context.timestamp.tzinfo or UTC)
    except InvalidInput:
        return None
    return read if abs(read.year - context.timestamp.year) <= 100 else None


def _opinions(raw: Any, known: Sequence[Told]) -> tuple[Opinion, ...]:
    """Relations to what was shown; an id that was never offered means nothing."""
    ids = {f"k{i}": told for i, told in enumerate(known, 1)}
    found: dict[str, Opinion] = {}
    for one in raw if isinstance(raw, list) else []:
        relation = relation_of(one) if isinstance(one, Mapping) else None
        if relation is None:
            continue
        id = str(one.get("id")).strip()
        if id in ids:
            found.setdefault(id, Opinion(ids[id], relation))
        else:
            log.warning("the model named a memory that it was not shown; ignored")
    return tuple(found.values())
