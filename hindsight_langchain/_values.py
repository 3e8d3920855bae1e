"""Values of a LangGraph store: the text by which one is found, and the filters that it meets.

LangGraph's own stores disagree on filters where a key is missing or types differ. Here a missing key is null, a comparison
of order holds between two numbers or two strings only, and true is not 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langgraph.store.base import get_text_at_path

from hindsight_core.errors import InvalidInput

WHOLE = "$"
_ORDER = {
    "$gt": lambda a, b: a > b,
    "$gte": lambda a, b: a >= b,
    "$lt": lambda a, b: a < b,
    "$lte": lambda a, b: a <= b,
}
OPERATORS = ("$eq", "$ne", *_ORDER)


def text_at(value: Mapping[str, Any], paths: Sequence[str]) -> str:
    """The words of a value at some paths, a line each; "" when there are none. "$" is all of it, as words rather than JSON."""
    lines: list[str] = []
    for path in paths:
        if path in (WHOLE, ""):
            found = list(_words(value))
            lines += [line if len(found) == 1 else f"{name}: {line}" for name, line in found]
        else:
            lines += get_text_at_path(dict(value), path)
    return "\n".join(line for line in lines if line.strip())


def _words(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _words(inner, f"{name}.{key}" if name else key)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _words(inner, name)
    elif isinstance(value, bool):
        yield name, "true" if value else "false"
    elif value is not None and str(value).strip():
        yield name, str(value)


def as_json(value: Mapping[str, Any]) -> str:
    """A value as text for one that is not searched."""
    return json.dumps(value, ensure_ascii=False, default=str)


def equal(one: Any, other: Any) -> bool:
    """Equality of JSON values; numbers equal across int and float, and never a boolean."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(equal(a, b) for a, b in zip(one, other, strict=True))
    return bool(one == other)


def meets(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a value meets a filter.

    Raises:
        InvalidInput: An operator that LangGraph does not have.
    """
    return all(_meets(_at(value, name), test) for name, test in wanted.items())


def _at(value: Mapping[str, Any], name: str) -> Any:
    """The value under a name, which may be a path into nested objects; None where there is none."""
    if name in value:
        return value[name]
    found: Any = value
    for step in name.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def _meets(found: Any, test: Any) -> bool:
    if not isinstance(test, Mapping):
        return equal(found, test)
    if not any(str(name).startswith("$") for name in test):
        return isinstance(found, Mapping) and meets(found, test)
    return all(_compare(found, operator, operand) for operator, operand in test.items())


def _compare(found: Any, operator: str, operand: Any) -> bool:
    if operator in ("$eq", "$ne"):
        return equal(found, operand) is (operator == "$eq")
    if operator not in _ORDER:
        raise InvalidInput(f"unknown operator {operator!r}; a store's filter knows {', '.join(OPERATORS)}")
    return _kind(found) == _kind(operand) is not None and _ORDER[operator](found, operand)


def _kind(value: Any) -> str | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else None


def necessary(wanted: Mapping[str, Any], prefix: str) -> dict[str, Any] | None:
    """What the engine can check of a filter before it ranks: never more than the filter asks, often all of it."""
    clauses: list[dict[str, Any]] = []
    for name, test in wanted.items():
        tests = test if isinstance(test, Mapping) else {"$eq": test}
        for operator, operand in tests.items():
            if operator in ("$eq", *_ORDER) and (
                _kind(operand) or (operator == "$eq" and isinstance(operand, bool))
            ):
                clauses.append({f"{prefix}.{name}": {operator: operand}})
    return {"$and": clauses} if clauses else None
