"""What a memory can be asked for: its values by field, each with its kind.

A field of a unit has none, one or several values. Text, numbers, booleans and instants are kinds apart: values of different
kinds are never equal and have no order. Filters, counts and stores all read memories through this module, so that they
agree on what a memory says of itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum, StrEnum
from typing import Any, NamedTuple

from hindsight_core.errors import InvalidInput
from hindsight_core.text.keys import normalise_key, storable
from hindsight_core.text.times.instants import as_aware
from hindsight_core.unit import MemoryType, MemoryUnit, Status

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_ISO = re.compile(r"\d{4}([-/])\d{1,2}\1\d{1,2}(?:[T\s]|$)", re.ASCII)
_INT64 = range(-(1 << 63), 1 << 63)


def micros(instant: datetime) -> int:
    """An instant as whole microseconds since 1970, exactly."""
    return (instant - _EPOCH) // _MICROSECOND


class Kind(StrEnum):
    """The type of a value; values of different kinds are never equal and have no order."""

    NONE = "z"
    FLAG = "b"
    NUMBER = "n"
    TEXT = "s"
    INSTANT = "t"


class Value(NamedTuple):
    """A value and its kind; instants are microseconds since 1970."""

    kind: Kind
    value: Any


NONE = Value(Kind.NONE, None)


def number(value: float) -> Value:
    """A number as both Python and SQLite compare it; NaN is no value."""
    if isinstance(value, int):
        if value in _INT64:
            return Value(Kind.NUMBER, value)
        try:
            return Value(Kind.NUMBER, float(value))
        except OverflowError:
            return Value(Kind.NUMBER, math.inf if value > 0 else -math.inf)
    return NONE if math.isnan(value) else Value(Kind.NUMBER, float(value))


def metadata_values(item: Any, path: str = "") -> Iterator[tuple[str, Value]]:
    """Every value in a JSON object with its dotted path; a string that is an ISO date counts as an instant, too."""
    if isinstance(item, Mapping):
        for key, inner in item.items():
            yield from metadata_values(inner, f"{path}.{storable(key)}" if path else storable(key))
    elif isinstance(item, list | tuple):
        for inner in item:
            yield from metadata_values(inner, path)
    elif isinstance(item, bool):
        yield path, Value(Kind.FLAG, item)
    elif isinstance(item, int | float):
        yield path, number(item)
    elif isinstance(item, str):
        yield path, Value(Kind.TEXT, storable(item))
        if _ISO.match(item):
            try:
                yield path, Value(Kind.INSTANT, micros(as_aware(item)))
            except InvalidInput:  # looks like a date and is none: text only
                return


Read = Callable[[MemoryUnit], Any]


@dataclass(frozen=True, slots=True)
class Field:
    """How a field is read from a unit, and what may be asked of it.

    Attributes:
        kind: The kind of its values; NONE = any (metadata).
        column: Its column in a table of units; empty when it can have several values.
        read: Its value in a unit, None when it has none.
        choices: All values it can have; they have no order.
        paths: Where its values are among `attributes`, when it can have several.
    """

    kind: Kind
    column: str = ""
    read: Read | None = None
    choices: type[Enum] | None = None
    paths: tuple[str, ...] = ()

    @property
    def ordered(self) -> bool:
        """Whether smaller and larger mean something."""
        if self.paths:
            return self.kind is Kind.NONE
        return self.kind is not Kind.FLAG and self.choices is None


ENTITY, ENTITY_NAME, ENTITY_TYPE = "entity", "entity_name", "entity_type"
METADATA = "metadata."

FIELDS: Mapping[str, Field] = {
    "id": Field(Kind.TEXT, "id", lambda u: u.id),
    "speaker": Field(Kind.TEXT, "speaker", lambda u: u.source.speaker),
    "session": Field(Kind.TEXT, "session", lambda u: u.source.session),
    "document": Field(Kind.TEXT, "document", lambda u: u.source.document),
    "uri": Field(Kind.TEXT, "uri", lambda u: u.source.uri),
    "type": Field(Kind.TEXT, "type", lambda u: u.memory_type.value, MemoryType),
    "status": Field(Kind.TEXT, "status", lambda u: u.status.value, Status),
    "importance": Field(Kind.NUMBER, "importance", lambda u: u.importance),
    "weight": Field(Kind.NUMBER, "weight", lambda u: u.weight),
    "access_count": Field(Kind.NUMBER, "access_count", lambda u: u.access_count),
    "pinned": Field(Kind.FLAG, "pinned", lambda u: u.pinned),
    "timestamp": Field(Kind.INSTANT, "timestamp", lambda u: u.timestamp),
    "recorded_at": Field(Kind.INSTANT, "recorded_at", lambda u: u.recorded_at),
    "valid_from": Field(Kind.INSTANT, "valid_from", lambda u: u.valid_from),
    "valid_to": Field(Kind.INSTANT, "valid_to", lambda u: u.valid_to),
    "entity": Field(Kind.TEXT, paths=(ENTITY, ENTITY_NAME)),
    "entity_type": Field(Kind.TEXT, paths=(ENTITY_TYPE,)),
}
"""What can be asked for, beside `metadata.NAME`. `weight` is the strength as stored, before decay."""


def attributes(unit: MemoryUnit) -> Iterator[tuple[str, Value]]:
    """The values of everything that can have several, by path: entities and metadata.

    An entity is found by its key and by its name; a time entity's span is a name only, so that counting entities does
    not count days.
    """
    for entity in unit.entities:
        key, name = storable(normalise_key(entity.key)), storable(normalise_key(entity.name))
        yield ENTITY if entity.type != "time" else ENTITY_NAME, Value(Kind.TEXT, key)
        if name != key:
            yield ENTITY_NAME, Value(Kind.TEXT, name)
        yield ENTITY_TYPE, Value(Kind.TEXT, storable(entity.type))
    for path, value in metadata_values(unit.metadata, ""):
        if value.kind is not Kind.NONE:
            yield METADATA + path, value


def values_of(unit: MemoryUnit, field: Field) -> list[Value]:
    """The values a field has in a unit."""
    if field.read is None:
        return [value for path, value in attributes(unit) if path in field.paths]
    value = field.read(unit)
    if value is None:
        return []
    if field.kind is Kind.INSTANT:
        value = micros(value)
    elif field.kind is Kind.TEXT:
        value = storable(value)
    return [number(value) if field.kind is Kind.NUMBER else Value(field.kind, value)]
