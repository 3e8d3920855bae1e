"""What the caller hands over, checked and brought into one form before anything is stored."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import Enum
from hashlib import blake2b
from pathlib import PurePath
from typing import Any

from hindsight_core.engine.checks import choice, known_as, shown, whole
from hindsight_core.errors import InvalidInput
from hindsight_core.text.times import as_aware
from hindsight_core.unit import MemoryType, Source

Instant = datetime | date | str


class NOW(Enum):
    """The default timestamp: said now. Pass None for something undated."""

    NOW = "now"


_DEEPEST = 100
_SURROGATE = re.compile("[\ud800-\udfff]")
_KEYS = frozenset(
    [
        "text",
        "id",
        "speaker",
        "session",
        "turn",
        "timestamp",
        "source",
        "metadata",
        "importance",
        "memory_type",
        "expires_at",
        "indexed",
        "pinned",
        "envelope",
    ]
)
_SOURCE_KEYS = ("document", "uri", "section", "turn", "session", "speaker")


def clean(text: str) -> str:
    """Replace lone surrogates, which no encoding can store, by U+FFFD; all else stays as it is."""
    return _SURROGATE.sub("\ufffd", text)


def clean_json(value: Any, path: str = "metadata", depth: int = 0) -> Any:
    """A JSON value with clean strings; dates become ISO text, tuples and sets lists.

    Raises:
        InvalidInput: Something JSON cannot hold, named by its path.
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return clean(value)
    if depth > _DEEPEST:
        raise InvalidInput(f"metadata is nested more than {_DEEPEST} deep, or holds itself")
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise InvalidInput(f"{path} is {value}, which JSON cannot hold; use None or a string")
        return value
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise InvalidInput(f"{path} has the key {shown(key)}; keys must be strings")
        return {clean(key): clean_json(item, f"{path}.{key}", depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        return [clean_json(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(items)]
    raise InvalidInput(
        f"{path} is a {type(value).__name__}; metadata must be JSON (strings, numbers, lists, objects)"
    )


def instant(value: Instant | None, name: str) -> datetime | None:
    """An aware datetime, or None; naive input is read as UTC."""
    if value is None:
        return None
    if not isinstance(value, datetime | date | str):
        raise InvalidInput(f"{name} must be a datetime or an ISO string, not {type(value).__name__}")
    try:
        return as_aware(value)
    except InvalidInput as error:
        raise InvalidInput(f"{name}: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing to remember, checked.

    Attributes:
        text: Clean text, not blank.
        timestamp: When it was said; None = undated.
        dated: Whether the caller gave the timestamp (None included) rather than leaving it at NOW.
        document: Whether it is a document to be split by paragraphs, rather than a turn kept whole.
        resumable: Whether its episode is named by what it says, so that running an ingest again adds nothing.
        envelope: Kept with the episode only; see `Episode`.
    """

    text: str
    id: str | None
    timestamp: datetime | None
    dated: bool
    source: Source
    document: bool
    metadata: Mapping[str, Any] = field(default_factory=dict)
    importance: float | None = None
    memory_type: MemoryType | None = None
    expires_at: datetime | None = None
    indexed: bool = True
    pinned: bool = False
    resumable: bool = False
    envelope: Mapping[str, Any] = field(default_factory=dict)


def _optional_text(given: Any, name: str) -> str | None:
    if given is None:
        return None
    value = known_as(given, name)
    if not value.strip():
        raise InvalidInput(f"{name} must not be blank; leave it out instead")
    if "\x00" in value:
        raise InvalidInput(f"{name} must not contain a NUL character")
    return clean(value)


def _unit_interval(value: Any, name: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise InvalidInput(f"{name} must be a number in 0..1 (the rubric's 1-10 over 10), not {shown(value)}")
    return float(value)


def _source(value: Any) -> Source:
    match value:
        case None:
            return Source()
        case Source():
            return value
        case str() | PurePath():
            name = _optional_text(str(value), "source")
            return Source(document=name, uri=name if name and ("/" in name or "\\" in name) else None)
        case Mapping():
            unknown = [name for name in value if name not in _SOURCE_KEYS]
            if unknown:
                raise InvalidInput(
                    f"source has unknown keys {shown(unknown)}; it takes document, uri, section, turn"
                )
            named: dict[str, Any] = {
                k: _turn(v) if k == "turn" else _optional_text(v, f"source.{k}") for k, v in value.items()
            }
            return Source(**named)
    raise InvalidInput(f"source must be a string, a mapping or a Source, not {type(value).__name__}")


def _turn(value: Any) -> int | None:
    if value is None:
        return None
    return whole(value, "turn")


def _flag(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"{name} must be True or False, not {shown(value)}")
    return value


def make_item(fields: Mapping[str, Any], now: datetime, *, resumable: bool = False) -> Item:
    """Check one item; `fields` are the keyword arguments of `remember` plus "text".

    Raises:
        InvalidInput: Naming the field, what is wrong and what would be right.
    """
    if not isinstance(fields, Mapping):
        raise InvalidInput(f'an item is a mapping such as {{"text": "..."}}, not {type(fields).__name__}')
    unknown = [name for name in fields if name not in _KEYS]
    if unknown:
        raise InvalidInput(
            f"unknown fields {shown(unknown)}; known are {sorted(_KEYS)}; put your own into metadata"
        )
    text = fields.get("text")
    if not isinstance(text, str):
        raise InvalidInput(f"text must be a string, not {type(text).__name__}")
    if not text.strip():
        raise InvalidInput("text must not be blank: there is nothing to remember")
    stamp = fields.get("timestamp", NOW.NOW)
    source = _source(fields.get("source"))
    source = replace(
        source,
        speaker=_optional_text(fields.get("speaker"), "speaker") or source.speaker,
        session=_optional_text(fields.get("session"), "session") or source.session,
        turn=_turn(fields.get("turn")) if fields.get("turn") is not None else source.turn,
    )
    metadata = fields.get("metadata")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise InvalidInput(f"metadata must be a JSON object (a dict), not {type(metadata).__name__}")
    memory_type = fields.get("memory_type")
    if memory_type is not None:
        memory_type = choice(MemoryType, memory_type, "memory_type")
    return Item(
        text=clean(text),
        id=_optional_text(fields.get("id"), "id"),
        timestamp=now if stamp is NOW.NOW else instant(stamp, "timestamp"),
        dated=stamp is not NOW.NOW,
        source=source,
        document=source.document is not None,
        metadata=clean_json(metadata or {}),
        importance=_unit_interval(fields.get("importance"), "importance"),
        memory_type=memory_type,
        expires_at=instant(fields.get("expires_at"), "expires_at"),
        indexed=_flag(fields.get("indexed", True), "indexed"),
        pinned=_flag(fields.get("pinned", False), "pinned"),
        resumable=resumable,
        envelope=clean_json(fields.get("envelope") or {}, "envelope"),
    )


def fingerprint(item: Item, ordinal: int) -> str:
    """What makes an item the same item when an ingest is run again.

    `ordinal` tells apart equal items of one call. A timestamp the caller did not give is not part of it.
    """
    stamp = item.timestamp.isoformat() if item.dated and item.timestamp else None
    source = item.source
    parts: Iterable[Any] = (
        source.document,
        source.session,
        source.turn,
        source.speaker,
        stamp,
        item.text,
        ordinal,
    )
    raw = json.dumps(parts, ensure_ascii=True).encode()
    return blake2b(raw, digest_size=16).hexdigest()
