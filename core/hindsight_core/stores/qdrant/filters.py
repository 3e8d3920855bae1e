"""Visibility and the caller's filter as conditions on points.

A condition here may let too much through, never too little: a server has no order of texts, and a unit's uses stand in its
aside. Each translation therefore says whether it is exact; where it is not, the caller looks at the units it gets.
"""

from __future__ import annotations

from typing import NamedTuple

from hindsight_core.attributes import FIELDS, METADATA, Kind, Value, micros
from hindsight_core.filters import All, Compare, Either, Node, Not
from hindsight_core.ports import Visibility
from hindsight_core.stores.codec import encode_scope
from hindsight_core.stores.qdrant.points import (
    EVERYTHING,
    Condition,
    among,
    both,
    either,
    empty,
    equals,
    no,
    ranged,
)
from hindsight_core.stores.qdrant.schema import attribute
from hindsight_core.stores.seen import statuses_of
from hindsight_core.text.keys import storable
from hindsight_core.unit import Scope

_RANGE = {"$gt": "gt", "$gte": "gte", "$lt": "lt", "$lte": "lte"}
_COLUMNS = {
    "id": "id", "speaker": "speaker", "session": "session", "document": "document", "uri": "uri", "type": "type",
    "status": "status", "importance": "importance", "pinned": "pinned", "timestamp": "at", "recorded_at": "recorded",
    "valid_from": "from", "valid_to": "to",
}  # fmt: skip
"""Payload fields of a filter's fields. What a use changes (weight, access_count) is not among them."""


class Translated(NamedTuple):
    """A condition, and whether it holds for exactly the units that are meant."""

    condition: Condition
    exact: bool


_ANY = Translated(EVERYTHING, False)
_NONE: Condition = among("status", [])


def under(scopes: tuple[Scope, ...]) -> Condition:
    """Any of these scopes or what lies below; the empty scope is everything."""
    if not all(scopes):
        return EVERYTHING
    return among("scopes", [encode_scope(scope) for scope in scopes])


def seen(visible: Visibility) -> Translated:
    """What may be seen of the present; with `known_at`, everything recorded by then, whatever its status was."""
    parts: list[Condition] = [under(visible.scopes)]
    exact = visible.known_at is None
    if not visible.unindexed:
        parts.append(equals("indexed", True))
    if visible.known_at is not None:
        return Translated(both(*parts, ranged("recorded", lte=micros(visible.known_at))), False)
    parts.append(among("status", sorted(status.value for status in statuses_of(visible))))
    parts.append(either(empty("expires"), ranged("expires", gt=micros(visible.now))))
    if visible.as_of is not None:
        instant = micros(visible.as_of)
        parts.append(either(empty("begin"), ranged("begin", lte=instant)))
        parts.append(either(empty("to"), ranged("to", gt=instant)))
    if visible.where is not None:
        condition, fits = _node(visible.where.root)
        parts.append(condition)
        exact = exact and fits
    return Translated(both(*parts), exact)


def _node(node: Node) -> Translated:
    if isinstance(node, Compare):
        return _compare(node)
    if isinstance(node, Not):
        condition, exact = _node(node.part)
        return Translated(no(condition), True) if exact else _ANY
    parts = [_node(part) for part in node.parts]
    exact = all(part.exact for part in parts)
    if isinstance(node, All):
        return Translated(both(*(part.condition for part in parts)), exact)
    assert isinstance(node, Either)
    if not parts:
        return Translated(both(_NONE), True)
    return Translated(either(*(part.condition for part in parts)), exact)


def _compare(node: Compare) -> Translated:
    if node.field in _COLUMNS:
        return _column(_COLUMNS[node.field], node)
    if node.field in FIELDS and not FIELDS[node.field].paths:
        return _ANY
    paths = (
        FIELDS[node.field].paths
        if node.field in FIELDS
        else (METADATA + storable(node.field[len(METADATA) :]),)
    )
    return _attribute(paths, node)


def _column(key: str, node: Compare) -> Translated:
    found: list[Condition] = []
    values = [operand for operand in node.operands if operand.kind is not Kind.NONE]
    if len(values) < len(node.operands):
        found.append(empty(key))
    for value in values:
        if value.kind in (Kind.NUMBER, Kind.INSTANT):
            bounds = {"gte": value.value, "lte": value.value}
            found.append(
                ranged(key, **(bounds if node.operator == "$eq" else {_RANGE[node.operator]: value.value}))
            )
        elif node.operator == "$eq":
            found.append(equals(key, value.value))
        else:
            return _ANY
    return Translated(either(*found) if found else both(_NONE), True)


def _attribute(paths: tuple[str, ...], node: Compare) -> Translated:
    found: list[Condition] = []
    words: list[str] = []
    for value in node.operands:
        if value.kind is Kind.NONE:
            found.append(no(among("paths", list(paths))))
        elif node.operator == "$eq":
            words += [attribute(path, value) for path in paths]
        elif value.kind is Kind.TEXT or any('"' in path or "\\" in path for path in paths):
            return _ANY
        else:
            found += [_ordered(path, node.operator, value) for path in paths]
    if words:
        found.append(among("a", words))
    return Translated(either(*found) if found else both(_NONE), True)


def _ordered(path: str, operator: str, value: Value) -> Condition:
    return ranged(f'num."{value.kind.value}:{path}"', **{_RANGE[operator]: float(value.value)})
