"""Filters: exact conditions on memories, in one small language.

    {"type": "semantic", "importance": {"$gte": 0.8}}                 both must hold
    {"$or": [{"entity": "Redis"}, {"metadata.team": {"$in": ["ops", "web"]}}]}
    {"timestamp": {"$gte": "2031-05-01", "$lt": "2031-06-01"}, "$not": {"speaker": "assistant"}}

A filter is a frozen tree; `matches` evaluates it on a unit and `to_sql` says the same to SQLite.

**Values.** A field of a unit has none, one or several values. `entity` and `entity_type` have one for each entity; a
list in the metadata has one for each element, and `metadata.a.b` reaches into nested objects, those in lists
included (a key that itself holds a dot reads like nesting). A comparison holds when *any* value of the same type meets it.
A missing value, a null, or one of another type meets none, so `$ne`, `$nin` and `$not`, which are the exact
opposites of `$eq`, `$in` and their filter, hold for it. `{"field": None}` asks for "has no value".

**Types.** Text, numbers, booleans and instants never equal each other: `True` is not `1`, `"1"` is not `1`. Text is compared by
code point. For a date field, a datetime, a date or an ISO string is an instant (naive is UTC, a bare date its
first moment). In metadata a string is text; asked with a datetime, the strings there that are ISO dates are
compared as instants.

An unknown field, operator or a value that cannot fit its field raises `InvalidInput`: nothing is silently ignored.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Any, Self

from hindsight_core.attributes import FIELDS, METADATA, NONE, Field, Kind, Value, micros, number, values_of
from hindsight_core.errors import InvalidInput
from hindsight_core.text.keys import normalise_key, storable
from hindsight_core.text.times.instants import as_aware
from hindsight_core.unit import MemoryUnit

_MAX_DEPTH = 50
_MAX_TESTS = 5_000


def _field(name: str) -> Field:
    if name in FIELDS:
        return FIELDS[name]
    if name.startswith(METADATA) and len(name) > len(METADATA):
        return Field(Kind.NONE, paths=(storable(name),))
    raise InvalidInput(
        f"unknown filter field {name!r}; fields are {', '.join(FIELDS)} and metadata.NAME for your own"
    )


# -- the tree ------------------------------------------------------------------------------------------------

_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_SYMBOL = {"$eq": "=", "$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
_OPPOSITE = {"$ne": "$eq", "$nin": "$in"}
OPERATORS = (*_COMPARE, "$in", *_OPPOSITE)

Sql = tuple[str, list[Any]]


@dataclass(frozen=True, slots=True)
class Compare:
    """One comparison: `operator` is $eq, $gt, $gte, $lt or $lte against any of `operands` (several for $in only)."""

    field: str
    operator: str
    operands: tuple[Value, ...]

    def matches(self, unit: MemoryUnit) -> bool:
        """Whether it holds for a unit."""
        values = [v for v in values_of(unit, _field(self.field)) if v.kind is not Kind.NONE]
        compare = _COMPARE[self.operator]
        return any(
            not values
            if wanted.kind is Kind.NONE
            else any(v.kind is wanted.kind and compare(v.value, wanted.value) for v in values)
            for wanted in self.operands
        )

    def to_sql(self) -> Sql:
        """A condition on the row `unit`, never null."""
        field = _field(self.field)
        render = _column_sql if field.column else _attribute_sql
        return render(field, self.operator, self.operands)


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds."""

    parts: tuple[Node, ...]

    def matches(self, unit: MemoryUnit) -> bool:
        """Whether it holds for a unit."""
        return all(part.matches(unit) for part in self.parts)

    def to_sql(self) -> Sql:
        """A condition on the row `unit`, never null."""
        return _joined(self.parts, " AND ", "1")


@dataclass(frozen=True, slots=True)
class Either:
    """At least one part holds."""

    parts: tuple[Node, ...]

    def matches(self, unit: MemoryUnit) -> bool:
        """Whether it holds for a unit."""
        return any(part.matches(unit) for part in self.parts)

    def to_sql(self) -> Sql:
        """A condition on the row `unit`, never null."""
        return _joined(self.parts, " OR ", "0")


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: Node

    def matches(self, unit: MemoryUnit) -> bool:
        """Whether it holds for a unit."""
        return not self.part.matches(unit)

    def to_sql(self) -> Sql:
        """A condition on the row `unit`, never null."""
        sql, params = self.part.to_sql()
        return f"NOT ({sql})", params


Node = Compare | All | Either | Not


@dataclass(frozen=True, slots=True)
class Filter:
    """A checked filter; equal filters are equal values and hash alike.

    Attributes:
        root: The tree: `Compare` leaves under `All`, `Either` and `Not`.
    """

    root: Node

    @classmethod
    def parse(cls, where: Mapping[str, Any]) -> Self:
        """Read a filter from its dict form; `{}` matches everything.

        Raises:
            InvalidInput: Naming what is wrong and what would be right.
        """
        root = _parse(where, 0)
        if _count(root) > _MAX_TESTS:
            raise InvalidInput(f"a filter may compare with at most {_MAX_TESTS} values")
        return cls(root)

    def matches(self, unit: MemoryUnit) -> bool:
        """Whether a unit meets it."""
        return self.root.matches(unit)

    def to_sql(self) -> Sql:
        """The same as a condition on SQLite's tables `unit` and `attribute`, never null, and its parameters."""
        return self.root.to_sql()


# -- reading the dict form -----------------------------------------------------------------------------------


def _parse(where: Any, depth: int) -> Node:
    if not isinstance(where, Mapping):
        raise InvalidInput(
            f"a filter must be a dict such as {{'speaker': 'user'}}, not {type(where).__name__}"
        )
    if depth > _MAX_DEPTH:
        raise InvalidInput(f"a filter may be nested at most {_MAX_DEPTH} deep")
    parts: list[Node] = []
    for name, wanted in where.items():
        if not isinstance(name, str):
            raise InvalidInput(f"a filter's keys are field names, not {type(name).__name__}")
        if name in ("$and", "$or"):
            if not isinstance(wanted, Sequence) or isinstance(wanted, str) or not wanted:
                raise InvalidInput(f"{name} takes a list of at least one filter")
            inner = tuple(_parse(part, depth + 1) for part in wanted)
            parts.append(All(inner) if name == "$and" else Either(inner))
        elif name == "$not":
            parts.append(Not(_parse(wanted, depth + 1)))
        elif name.startswith("$"):
            raise InvalidInput(f"unknown operator {name}; around filters there are $and, $or and $not")
        else:
            parts.extend(_tests(name, wanted))
    return parts[0] if len(parts) == 1 else All(tuple(parts))


def _tests(name: str, wanted: Any) -> Iterator[Node]:
    field = _field(name)
    if not isinstance(wanted, Mapping):
        wanted = {"$eq": wanted}
    if not wanted:
        raise InvalidInput(f"the filter on {name} is empty; give a value or one of {', '.join(OPERATORS)}")
    for op, value in wanted.items():
        if op not in OPERATORS:
            raise InvalidInput(f"unknown operator {op!r} on {name}; operators are {', '.join(OPERATORS)}")
        positive = _OPPOSITE.get(op, op)
        if positive == "$in":
            if isinstance(value, str | bytes) or not isinstance(value, Sequence | set | frozenset):
                raise InvalidInput(f"{op} on {name} takes a list of values")
            operands = tuple(sorted({_operand(name, field, one) for one in value}, key=repr))
            test = Compare(name, "$eq", operands)
        else:
            operand = _operand(name, field, value)
            if positive != "$eq" and (operand.kind in (Kind.NONE, Kind.FLAG) or not field.ordered):
                raise InvalidInput(f"{name} has no order for {op} with that value; use $eq, $ne or $in")
            test = Compare(name, positive, (operand,))
        yield Not(test) if op in _OPPOSITE else test


def _operand(name: str, field: Field, value: Any) -> Value:
    if isinstance(value, Enum):
        value = value.value
    if value is None:
        return NONE
    if field.kind is Kind.INSTANT:
        return Value(Kind.INSTANT, micros(as_aware(value)))
    found = _plain(value)
    if found is None or (field.kind is not Kind.NONE and found.kind is not field.kind):
        wanted = {Kind.TEXT: "a string", Kind.NUMBER: "a number", Kind.FLAG: "True or False"}.get(
            field.kind, "a string, a number, True, False, None or a datetime"
        )
        raise InvalidInput(f"{name} is compared with {wanted}, not {type(value).__name__}")
    if field.choices is not None and found.value not in (choices := [c.value for c in field.choices]):
        raise InvalidInput(f"{name} is one of {', '.join(choices)}, not {found.value[:40]!r}")
    if name == "entity":
        return Value(Kind.TEXT, storable(normalise_key(found.value)))
    return found


def _plain(value: Any) -> Value | None:
    if isinstance(value, bool):
        return Value(Kind.FLAG, value)
    if isinstance(value, int | float):
        found = number(value)
        return None if found is NONE else found
    if isinstance(value, str):
        return Value(Kind.TEXT, storable(value))
    if isinstance(value, date):
        return Value(Kind.INSTANT, micros(as_aware(value)))
    return None


def _count(node: Node) -> int:
    match node:
        case Compare():
            return len(node.operands)
        case Not():
            return _count(node.part)
    return sum(map(_count, node.parts))


# -- SQL -----------------------------------------------------------------------------------------------------


def _joined(parts: tuple[Node, ...], word: str, empty: str) -> Sql:
    if not parts:
        return empty, []
    rendered = [part.to_sql() for part in parts]
    return word.join(f"({sql})" for sql, _ in rendered), [p for _, params in rendered for p in params]


def _column_sql(field: Field, op: str, operands: tuple[Value, ...]) -> Sql:
    column = f"unit.{field.column}"
    conditions, params = [], [v.value for v in operands if v.kind is not Kind.NONE]
    if params and op == "$eq":
        conditions.append(f"ifnull({column} IN ({', '.join('?' * len(params))}), 0)")
    elif params:
        conditions.append(f"ifnull({column} {_SYMBOL[op]} ?, 0)")
    if NONE in operands:
        conditions.append(f"{column} IS NULL")
    return " OR ".join(conditions) or "0", params


def _attribute_sql(field: Field, op: str, operands: tuple[Value, ...]) -> Sql:
    conditions: list[str] = []
    params: list[Any] = []
    paths = ", ".join("?" * len(field.paths))
    for kind in Kind:
        values = [v.value for v in operands if v.kind is kind]
        if not values:
            continue
        if kind is Kind.NONE:
            conditions.append(f"unit.row NOT IN (SELECT row FROM attribute WHERE path IN ({paths}))")
            params += field.paths
            continue
        meets = f"value IN ({', '.join('?' * len(values))})" if op == "$eq" else f"value {_SYMBOL[op]} ?"
        conditions.append(
            f"unit.row IN (SELECT row FROM attribute WHERE path IN ({paths}) AND kind = ? AND {meets})"
        )
        params += [*field.paths, kind.value, *values]
    return " OR ".join(conditions) or "0", params
