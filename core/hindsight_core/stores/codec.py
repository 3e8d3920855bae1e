"""Units and episodes as JSON text and back, without loss: what a store keeps and what an export holds.

Instants are written in ISO form with their own offset; what is empty is left out. Lone surrogates are replaced by
U+FFFD on the way in, since no encoding can hold them. Metadata that JSON cannot hold raises `InvalidInput`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any

from hindsight_core.errors import InvalidInput
from hindsight_core.text.keys import storable
from hindsight_core.unit import (
    Entity,
    Episode,
    Link,
    LinkKind,
    MemoryType,
    MemoryUnit,
    Occurrence,
    Scope,
    Source,
    Status,
)


def _json_default(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_json_default).encode


def dumps(value: Any) -> str:
    """Compact JSON whose text every encoding can hold.

    Raises:
        InvalidInput: Something in it is not JSON.
    """
    try:
        return storable(_encode(value))
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput(
            "metadata must be a JSON object: strings, numbers, True, False, None, lists, dicts"
        ) from None


def encode_unit(unit: MemoryUnit) -> str:
    """A unit as JSON."""
    fields: dict[str, Any] = {
        "scope": unit.scope,
        "id": unit.id,
        "seq": unit.seq,
        "content": unit.content,
        "summary": unit.summary,
        "entities": [(e.name, e.type, e.key) for e in unit.entities],
        "timestamp": _written(unit.timestamp),
        "occurrences": [_occurrence(o) for o in unit.occurrences],
        "valid_from": _written(unit.valid_from),
        "valid_to": _written(unit.valid_to),
        "recorded_at": unit.recorded_at.isoformat(),
        "last_access": _written(unit.last_access),
        "access_count": unit.access_count,
        "pinned": unit.pinned,
        "expires_at": _written(unit.expires_at),
        "unindexed": not unit.indexed,
        "source": _source(unit.source),
        "related_ids": [(link.id, link.kind.value, link.outgoing) for link in unit.related_ids],
        "caller_id": unit.caller_id,
        "metadata": unit.metadata,
    }
    kept = {name: value for name, value in fields.items() if value}
    kept |= {  # zero and the first of a list mean something here
        "importance": unit.importance,
        "weight": unit.weight,
        "weight_at": unit.weight_at.isoformat(),
        "memory_type": unit.memory_type.value,
        "status": unit.status.value,
    }
    return dumps(kept)


def decode_unit(text: str) -> MemoryUnit:
    """The unit that `encode_unit` wrote."""
    return unit_from(json.loads(text))


def unit_from(fields: Mapping[str, Any], **known: Any) -> MemoryUnit:
    """A unit from its JSON object; `known` fields (already decoded) take the place of those in it."""
    get = fields.get
    decoded: dict[str, Any] = {
        "scope": tuple(get("scope", ())),
        "id": get("id", ""),
        "seq": get("seq", 0),
        "content": get("content", ""),
        "summary": get("summary", ""),
        "entities": tuple([Entity(name, type, key) for name, type, key in get("entities", ())]),
        "timestamp": _read(get("timestamp")),
        "occurrences": tuple([_occurrence_from(o) for o in get("occurrences", ())]),
        "valid_from": _read(get("valid_from")),
        "valid_to": _read(get("valid_to")),
        "recorded_at": datetime.fromisoformat(fields["recorded_at"]),
        "last_access": _read(get("last_access")),
        "access_count": get("access_count", 0),
        "pinned": get("pinned", False),
        "expires_at": _read(get("expires_at")),
        "indexed": not get("unindexed", False),
        "importance": fields["importance"],
        "weight": fields["weight"],
        "weight_at": datetime.fromisoformat(fields["weight_at"]),
        "source": _source_from(get("source", {})),
        "related_ids": tuple([Link(id, LinkKind(kind), out) for id, kind, out in get("related_ids", ())]),
        "memory_type": MemoryType(fields["memory_type"]),
        "status": Status(fields["status"]),
        "caller_id": get("caller_id", False),
        "metadata": get("metadata", {}),
    }
    return MemoryUnit(**(decoded | known))


def encode_episode(episode: Episode) -> str:
    """An episode as JSON."""
    fields: dict[str, Any] = {
        "scope": episode.scope,
        "id": episode.id,
        "text": episode.text,
        "recorded_at": episode.recorded_at.isoformat(),
        "source": _source(episode.source),
        "timestamp": _written(episode.timestamp),
        "state": episode.state,
        "metadata": episode.metadata,
        "envelope": episode.envelope,
        "given": episode.given,
    }
    return dumps({name: value for name, value in fields.items() if value})


def decode_episode(text: str) -> Episode:
    """The episode that `encode_episode` wrote."""
    fields = json.loads(text)
    return Episode(
        scope=tuple(fields["scope"]),
        id=fields["id"],
        text=fields.get("text", ""),
        recorded_at=datetime.fromisoformat(fields["recorded_at"]),
        source=_source_from(fields.get("source", {})),
        timestamp=_read(fields.get("timestamp")),
        state=fields.get("state", ""),
        metadata=fields.get("metadata", {}),
        envelope=fields.get("envelope", {}),
        given=fields.get("given", {}),
    )


def encode_scope(scope: Scope) -> str:
    """A scope as a JSON list; the text of a prefix, without its bracket, begins the text of all below it."""
    return dumps(scope)


def decode_scope(text: str) -> Scope:
    """The scope that `encode_scope` wrote."""
    return tuple(json.loads(text))


def _written(instant: datetime | None) -> str | None:
    return None if instant is None else instant.isoformat()


def _read(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


_SOURCE = tuple(field.name for field in fields(Source))


def _source(source: Source) -> dict[str, Any]:
    return {name: value for name in _SOURCE if (value := getattr(source, name)) is not None}


def _source_from(fields: Mapping[str, Any]) -> Source:
    span = fields.get("span")
    return Source(**{**fields, "span": None if span is None else (span[0], span[1])})


def _occurrence(occurrence: Occurrence) -> dict[str, Any]:
    return {
        "source": _source(occurrence.source),
        "timestamp": _written(occurrence.timestamp),
        "recorded_at": occurrence.recorded_at.isoformat(),
        "text": occurrence.text,
    }


def _occurrence_from(fields: Mapping[str, Any]) -> Occurrence:
    return Occurrence(
        source=_source_from(fields["source"]),
        timestamp=_read(fields["timestamp"]),
        recorded_at=datetime.fromisoformat(fields["recorded_at"]),
        text=fields["text"],
    )
