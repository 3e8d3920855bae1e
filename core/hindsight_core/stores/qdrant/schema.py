"""What a unit, an event and the rest look like as points.

Three collections. A *unit* is a point with a dense vector, two sparse ones (words; names) and an indexed payload that holds
all of it, so that any answer comes with what it needs. An *event* of the journal is a payload under its number.
Everything else is a payload in the third collection: an episode, a setting, a past recall, and each unit's *aside*,
which holds what changes without the unit: its uses and its links. A server rewrites a point, vectors and all, for any
change of its payload; the asides are small, so that reinforcing and linking cost little.

`tenant` is the exact scope; `scopes` lists it with all its prefixes, so that reading below a prefix is one keyword match.
`n` is the number of the write that made the point what it is: a reader that has seen up to n asks for what is above.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any
from uuid import UUID, uuid5

import numpy as np

from hindsight_core.attributes import Kind, Value, attributes, micros
from hindsight_core.errors import InvalidInput, StoreCorrupted
from hindsight_core.ports import Floats, Ids
from hindsight_core.stores.codec import decode_scope, decode_unit, dumps, encode_scope, encode_unit
from hindsight_core.stores.index import Rows
from hindsight_core.stores.qdrant.points import EVENTS, SIDE, UNITS, Payload, Point, PointId, Sparse, Vectors
from hindsight_core.stores.sqlite.rows import entity_hashes, time_spans
from hindsight_core.text.hashing import COUNT_BITS, COUNT_MASK
from hindsight_core.text.keys import digest, storable
from hindsight_core.text.learnt import WEIGHT, tokens_in
from hindsight_core.unit import Key, MemoryType, MemoryUnit, Scope, Status

TENANT = "tenant"
_SPACE = UUID("7c9e6679-7425-40de-944b-e07fc1f90ae7")
_INT64 = range(-(1 << 63), 1 << 63)
NEVER = -(1 << 62)
"""Where undated memories stand in the order of time."""

_TYPICAL = 30.0
"""Words of a typical memory. Only the server's choice of candidates uses it; scores are computed here."""

_KEYWORDS = (
    "scopes", "id", "status", "type", "speaker", "session", "document", "uri", "digest", "episodes", "a", "paths",
    "group", "day",
)  # fmt: skip
_INTEGERS = (
    "n", "order", "at", "recorded", "begin", "to", "from", "expires", "turn", "names", "size", "seq", "indexed",
    "pinned",
)  # fmt: skip
INDEXES: Mapping[str, Mapping[str, str]] = {
    UNITS: {
        **dict.fromkeys(_KEYWORDS, "keyword"),
        **dict.fromkeys(_INTEGERS, "integer"),
        **dict.fromkeys(("lot", "importance", "span_from", "span_to"), "float"),
    },
    EVENTS: {
        **dict.fromkeys(("scopes", "id", "batch"), "keyword"),
        **dict.fromkeys(("at", "n", "lost", "gone"), "integer"),
    },
    SIDE: {
        **dict.fromkeys(("kind", "scopes", "session", "id", "name"), "keyword"),
        **dict.fromkeys(("n", "number"), "integer"),
    },
}
"""Payload fields that filters use, and their kind. `tenant` is one more: the keyword by which a server keeps each
scope's points together."""

FEW_INDEXES: Mapping[str, tuple[str, ...]] = {
    UNITS: (
        TENANT, "scopes", "status", "indexed", "expires", "n", "lot", "at", "order", "a", "digest", "episodes", "group",
        "turn",
    ),
    EVENTS: (TENANT, "scopes", "id", "batch", "n"),
    SIDE: (TENANT, "scopes", "kind", "name", "n"),
}  # fmt: skip
"""Those an embedded engine gets: each costs it files and time to open, and it reads the payloads of a folder quickly."""

SEARCHED = (
    TENANT, "id", "seq", "status", "type", "at", "recorded", "from", "to", "expires", "weight_at", "indexed",
    "importance", "weight", "group", "turn", "v", "w", "e", "spans",
)  # fmt: skip
"""Fields that searching needs."""

_STATUS = {status.value: code for code, status in enumerate(Status)}
_TYPE = {kind.value: code for code, kind in enumerate(MemoryType)}


def point_id(kind: str, scope: Scope, id: str) -> str:
    """The id of a point, the same in every process: any id of a caller becomes a UUID."""
    return str(uuid5(_SPACE, f"{kind}\n{encode_scope(scope)}\n{storable(id)}"))


def unit_id(key: Key) -> str:
    """The id of a unit's point, and of its aside."""
    return point_id("unit", *key)


def prefixes(scope: Scope) -> list[str]:
    """A scope and all its prefixes, as text."""
    return [encode_scope(scope[:length]) for length in range(1, len(scope) + 1)]


def packed(array: np.ndarray[Any, Any]) -> str:
    """An array as text."""
    return b64encode(array.tobytes()).decode()


def unpacked(text: str, kind: Any) -> np.ndarray[Any, Any]:
    """The array that `packed` wrote."""
    return np.frombuffer(b64decode(text), kind)


def attribute(path: str, value: Value) -> str:
    """A value of a field that can have several, as a keyword; equal values of one kind are equal texts."""
    shown = value.value
    if value.kind is Kind.NUMBER and isinstance(shown, float) and shown.is_integer():
        shown = int(shown)
    return dumps(
        [path, value.kind.value, shown if shown not in (float("inf"), float("-inf")) else str(shown)]
    )


def unit_payload(unit: MemoryUnit, vector: str | None, terms: str, n: int) -> Payload:
    """The payload of a unit.

    Args:
        unit: Its texts must be storable. Links are not in it.
        vector: Packed, or None.
        terms: Packed.
        n: Number of the write.

    Raises:
        InvalidInput: Something in it is larger than the engine can hold, or no span.
    """
    source = unit.source
    if source.turn is not None and source.turn not in _INT64:
        raise InvalidInput("a whole number is larger than the store can hold (64 bits)")
    spans = np.frombuffer(time_spans(unit.entities), np.float64).reshape(-1, 2)
    names = np.frombuffer(entity_hashes(unit), np.uint64)
    values = list(attributes(unit))
    ordered: dict[str, list[Any]] = {}
    for path, value in values:
        if value.kind in (Kind.NUMBER, Kind.INSTANT) and abs(value.value) != float("inf"):
            ordered.setdefault(f"{value.kind.value}:{path}", []).append(float(value.value))
    begin = unit.timestamp if unit.valid_from is None else unit.valid_from
    sources = (source, *(occurrence.source for occurrence in unit.occurrences))
    fields: dict[str, Any] = {
        "at": _micros(unit.timestamp),
        "from": _micros(unit.valid_from),
        "to": _micros(unit.valid_to),
        "begin": _micros(begin),
        "expires": _micros(unit.expires_at),
        "read": _micros(unit.last_access),
        "speaker": source.speaker,
        "session": source.session,
        "document": source.document,
        "uri": source.uri,
        "turn": source.turn,
        "group": source.document if source.session is None else source.session,
        "day": None if unit.timestamp is None else unit.timestamp.date().isoformat(),
        "episodes": sorted({s.episode for s in sources if s.episode is not None}),
        "a": sorted({attribute(path, value) for path, value in values}),
        "paths": sorted({path for path, _ in values}),
        "num": ordered,
        "names": (names >> np.uint64(COUNT_BITS)).tolist(),
        "e": packed(names),
        "spans": [[_finite(start), _finite(end)] for start, end in spans.tolist()],
        "v": vector,
        "w": terms,
    }
    if len(spans):
        fields["span_from"] = _bounded(float(spans[:, 0].min()))
        fields["span_to"] = _bounded(float(spans[:, 1].max()))
    kept = {name: value for name, value in fields.items() if value not in (None, [], {}, "")}
    id = unit_id(unit.key)
    return kept | {
        TENANT: encode_scope(unit.scope),
        "scopes": prefixes(unit.scope),
        "id": unit.id,
        "n": n,
        "seq": unit.seq,
        "lot": lot(id),
        "order": NEVER if unit.timestamp is None else micros(unit.timestamp),
        "digest": digest(unit.content).hex(),
        "recorded": micros(unit.recorded_at),
        "weight_at": unit.weight_at.timestamp(),
        "weight": unit.weight,
        "importance": unit.importance,
        "status": unit.status.value,
        "type": unit.memory_type.value,
        "indexed": int(unit.indexed),
        "pinned": int(unit.pinned),
        "size": 0 if vector is None else len(unpacked(vector, np.float32)),
        "body": encode_unit(unit),
    }


def _micros(instant: Any) -> int | None:
    return None if instant is None else micros(instant)


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _bounded(value: float) -> float:
    return max(-1e15, min(1e15, value))


def lot(id: str) -> float:
    """A number in 0..1 that a point draws once and for all: the smallest lots are a fair sample, the same everywhere."""
    return int.from_bytes(blake2b(id.encode(), digest_size=6).digest(), "little") / (1 << 48)


def index_of(hashes: Ids) -> list[int]:
    """Hashed terms as indices of a sparse vector (32 bits of the hash; the few that meet only add candidates)."""
    found: list[int] = ((hashes >> np.uint64(COUNT_BITS)) & np.uint64(0xFFFFFFFF)).tolist()
    return found


def vectors_of(payload: Payload) -> Vectors:
    """The vectors of a unit's point, from its payload."""
    terms, names = unpacked(payload.get("w", ""), np.uint64), unpacked(payload.get("e", ""), np.uint64)
    counts = (terms & np.uint64(COUNT_MASK)).astype(np.float64)
    tokens = tokens_in(terms)
    share = counts / (counts + 0.9 * (0.3 + 0.7 * counts[tokens:].sum() / _TYPICAL))
    share[:tokens] = WEIGHT.take(counts[:tokens].astype(np.int64))
    vector = payload.get("v")
    return Vectors(
        dense=None if vector is None else unpacked(vector, np.float32),
        words=sparse(terms, share),
        names=sparse(names, np.ones(len(names))),
    )


def sparse(hashes: Ids, values: np.ndarray[Any, Any]) -> Sparse:
    """A sparse vector of hashed terms; where two share an index the larger value counts. Zeros are left out."""
    found: dict[int, float] = {}
    for index, value in zip(index_of(hashes), values.tolist(), strict=True):
        if value > found.get(index, 0.0):
            found[index] = value
    return Sparse(list(found), list(found.values()))


def made(name: str, id: PointId, payload: Payload) -> Point:
    """A point as it is written."""
    return Point(id, payload, vectors_of(payload) if name == UNITS else None)


def body(payload: Payload, place: str) -> MemoryUnit:
    """The unit in a payload, without its aside.

    Raises:
        StoreCorrupted: It does not read back.
    """
    return past_unit(payload["body"], place)


def past_unit(text: str, place: str) -> MemoryUnit:
    """A unit from its JSON.

    Raises:
        StoreCorrupted: It does not read back.
    """
    try:
        return decode_unit(text)
    except (ValueError, KeyError, TypeError) as error:
        raise StoreCorrupted(
            f"{place}: a stored memory cannot be read ({type(error).__name__}); restore a snapshot"
        ) from error


def rows(payloads: Sequence[Payload], numbers: Sequence[int], dimension: int | None) -> Rows:
    """Units as the search index takes them, under given row numbers."""

    def seconds(key: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.array([np.nan if key not in p else p[key] / 1e6 for p in payloads], np.float64)

    terms = [unpacked(p.get("w", ""), np.uint64) for p in payloads]
    names = [unpacked(p.get("e", ""), np.uint64) for p in payloads]
    spans = [p.get("spans", []) for p in payloads]
    return Rows(
        row=np.array(numbers, np.int64),
        scope=[decode_scope(p[TENANT]) for p in payloads],
        id=[p["id"] for p in payloads],
        seq=np.array([p["seq"] for p in payloads], np.int64),
        status=np.array([_STATUS[p["status"]] for p in payloads], np.int8),
        memory_type=np.array([_TYPE[p["type"]] for p in payloads], np.int8),
        timestamp=seconds("at"),
        recorded_at=seconds("recorded"),
        valid_from=seconds("from"),
        valid_to=seconds("to"),
        expires_at=seconds("expires"),
        weight_at=np.array([p["weight_at"] for p in payloads], np.float64),
        indexed=np.array([p["indexed"] for p in payloads], np.bool_),
        importance=np.array([p["importance"] for p in payloads], np.float32),
        weight=np.array([p["weight"] for p in payloads], np.float32),
        group=[p.get("group") for p in payloads],
        turn=np.array([p.get("turn", -1) for p in payloads], np.int64),
        vectors=matrix([p.get("v") for p in payloads], dimension),
        terms=_joined(terms),
        term_offsets=_offsets(terms),
        entities=_joined(names),
        entity_offsets=_offsets(names),
        spans=np.array(
            [
                (-np.inf if start is None else start, np.inf if end is None else end)
                for each in spans
                for start, end in each
            ],
            np.float64,
        ).reshape(-1, 2),
        span_offsets=_offsets(spans),
    )


def matrix(vectors: Sequence[str | None], dimension: int | None) -> Floats | None:
    """Packed vectors as rows; one that is missing, or of another length, is a row of nan."""
    if dimension is None or not any(vectors):
        return None
    found = np.full((len(vectors), dimension), np.nan, np.float32)
    for row, text in enumerate(vectors):
        if text is not None:
            vector = unpacked(text, np.float32)
            if len(vector) == dimension:
                found[row] = vector
    return found


def _joined(parts: Sequence[Ids]) -> Ids:
    return np.concatenate([np.zeros(0, np.uint64), *parts])


def _offsets(parts: Sequence[Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.cumsum([0, *map(len, parts)]).astype(np.int64)
