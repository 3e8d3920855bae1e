"""The few things a store asks of Qdrant, whichever way it is reached, and its filters read in Python.

A point is an id, a payload and, among the units, vectors. Filters are written in Qdrant's own JSON form, so one filter goes
to a server, to the in-process engine and, for what an open transaction has changed, to `matches`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

from hindsight_core.ports import Floats

PointId = str | int
Payload = dict[str, Any]
Condition = Mapping[str, Any]
"""A filter or one of its conditions, in Qdrant's JSON form."""

UNITS, EVENTS, SIDE = "units", "events", "side"
DENSE, WORDS, NAMES = "dense", "words", "names"


@dataclass(frozen=True, slots=True)
class Sparse:
    """A sparse vector: distinct indices below 2**32 and their values."""

    indices: list[int]
    values: list[float]


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of a unit; `dense` is float32 (dimension,) or None."""

    dense: Floats | None
    words: Sparse
    names: Sparse


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One search of a batch.

    Attributes:
        vector: What to be near to, None to order by `by` instead.
        using: Which vector.
        where: The filter.
        limit: At most so many.
        by: Payload field to order by, largest first, when there is no vector.
    """

    where: Condition
    limit: int
    vector: Floats | Sparse | None = None
    using: str = DENSE
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """A point as written."""

    id: PointId
    payload: Payload
    vectors: Vectors | None = None


def named(point: Point, dimension: int | None, sparse: Callable[[Sparse], Any]) -> dict[str, Any]:
    """The vectors of a point as a back end takes them: by name, a dense one only of the collection's dimension."""
    found = point.vectors
    if found is None:
        return {}
    vectors: dict[str, Any] = {}
    if found.dense is not None and len(found.dense) == dimension:
        vectors[DENSE] = found.dense.tolist()
    return vectors | {
        key: sparse(one) for key, one in ((WORDS, found.words), (NAMES, found.names)) if one.indices
    }


def id_of(found: Any) -> PointId:
    """The id of a point as a back end gives it back."""
    return str(found) if isinstance(found, UUID) else found


class Points(Protocol):
    """Collections of points. Every write is idempotent: points are written whole and deleted by id.

    Attributes:
        place: Path or URL, for messages.
        shared: Whether other processes may write at the same time.
    """

    place: str
    shared: bool

    def prepare(self) -> None:
        """Make the collections that are missing, but for the units'."""
        ...

    def prepare_units(self, dimension: int | None) -> None:
        """Make the units' collection of a dimension, when it is missing."""
        ...

    def drop_units(self, dimension: int | None) -> None:
        """Delete the units' collection of a dimension; none there is fine."""
        ...

    def has_units(self, dimension: int | None) -> bool:
        """Whether the units' collection of a dimension is there."""
        ...

    def use_units(self, dimension: int | None) -> None:
        """Which units' collection `UNITS` means from now on."""
        ...

    def upsert(self, name: str, points: Sequence[Point], *, only_if: Condition | None = None) -> None:
        """Write points whole; with `only_if`, a point that is there changes only where the condition holds."""
        ...

    def delete(self, name: str, ids: Sequence[PointId]) -> None:
        """Delete points; unknown ids are ignored."""
        ...

    def retrieve(
        self, name: str, ids: Sequence[PointId], fields: Sequence[str] | None = None
    ) -> dict[PointId, Payload]:
        """Payloads by id, of those that exist; all fields when none are named."""
        ...

    def scroll(
        self, name: str, where: Condition, fields: Sequence[str] | None = None, *, after: int | None = None
    ) -> Iterator[tuple[PointId, Payload]]:
        """Every point that matches, in order of ids; with `after`, those with a larger (whole) number."""
        ...

    def query(self, queries: Sequence[Query], fields: Sequence[str]) -> list[list[tuple[PointId, Payload]]]:
        """Several searches of the units as one request."""
        ...

    def count(self, name: str, where: Condition) -> int:
        """How many points match, exactly."""
        ...

    def distinct(self, name: str, key: str, where: Condition) -> list[str]:
        """The values of a keyword field."""
        ...

    def stored_bytes(self) -> int:
        """Bytes on disk, or a rough figure where that cannot be asked."""
        ...

    def sync(self) -> None:
        """Let what was written survive a power cut, where that is not so already."""
        ...

    def optimize(self) -> None:
        """Merge segments and build indexes now; may take long."""
        ...

    def faults(self) -> list[tuple[str, str]]:
        """What is wrong, each with its remedy."""
        ...

    def close(self) -> None:
        """Let go."""
        ...


# -- filters -------------------------------------------------------------------------------------------------


def both(*conditions: Condition) -> Condition:
    """All of these hold."""
    return {"must": list(conditions)}


def either(*conditions: Condition) -> Condition:
    """At least one holds."""
    return {"should": list(conditions)}


def no(condition: Condition) -> Condition:
    """It does not hold."""
    return {"must_not": [condition]}


def among(key: str, values: Sequence[str | int]) -> Condition:
    """A field has one of these values (an array: one of its elements)."""
    return {"key": key, "match": {"any": list(values)}}


def equals(key: str, value: str | int | bool) -> Condition:
    """A field has this value; flags are kept as 0 and 1, which all three back ends compare alike."""
    return {"key": key, "match": {"value": int(value) if isinstance(value, bool) else value}}


def ranged(key: str, **bounds: float) -> Condition:
    """A number lies within bounds `gt`, `gte`, `lt`, `lte`."""
    return {"key": key, "range": bounds}


def empty(key: str) -> Condition:
    """A field is missing, null or an empty array."""
    return {"is_empty": {"key": key}}


EVERYTHING: Condition = {"must": []}


def matches(payload: Mapping[str, Any], where: Condition) -> bool:
    """Whether a payload meets a filter made by the functions above."""
    if "is_empty" in where:
        return not _values(payload, where["is_empty"]["key"])
    if "key" in where:
        found = _values(payload, where["key"])
        if "match" in where:
            match = where["match"]
            wanted = match["any"] if "any" in match else [match["value"]]
            return any(_typed(value) in map(_typed, wanted) for value in found)
        return any(_within(value, where["range"]) for value in found)
    return (
        all(matches(payload, part) for part in where.get("must", ()))
        and not any(matches(payload, part) for part in where.get("must_not", ()))
        and (not where.get("should") or any(matches(payload, part) for part in where["should"]))
    )


def _typed(value: Any) -> tuple[type, Any]:
    return type(value), value


def _values(payload: Mapping[str, Any], key: str) -> list[Any]:
    head, _, inner = key.partition('."')
    value = payload.get(head)
    if inner:
        value = value.get(inner[:-1]) if isinstance(value, Mapping) else None
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


_TESTS = {
    "gt": lambda a, b: a > b,
    "gte": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "lte": lambda a, b: a <= b,
}


def _within(value: Any, bounds: Mapping[str, float]) -> bool:
    return isinstance(value, int | float) and all(
        _TESTS[name](value, bound) for name, bound in bounds.items()
    )


@dataclass(slots=True)
class Overlay:
    """What an open transaction has changed: payloads by id, None for a deleted point."""

    changed: dict[str, dict[PointId, Payload | None]] = field(
        default_factory=lambda: {UNITS: {}, EVENTS: {}, SIDE: {}}
    )
