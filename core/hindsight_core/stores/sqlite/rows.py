"""Units as rows and rows as units.

A unit's `body` is its full JSON. Beside it stand the columns that are searched, filtered or sorted by, and those that change
without it: uses (`weight`, `weight_at`, `last_access`, `access_count`) and links, which are read from their own places.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from hindsight_core.attributes import Kind, attributes, micros
from hindsight_core.errors import InvalidInput
from hindsight_core.ports import Floats, Gist, Ids, Told
from hindsight_core.stores.codec import decode_scope, decode_unit, unit_from
from hindsight_core.stores.sqlite.failures import damaged
from hindsight_core.text.hashing import stable_id
from hindsight_core.text.keys import digest, speaker_key
from hindsight_core.text.learnt import tokens_in
from hindsight_core.text.times.instants import as_aware
from hindsight_core.unit import Entity, Link, LinkKind, MemoryUnit

CHUNK = 500
EPISODE = "episode"
"""Path of the attribute that names the episodes a unit was said in."""

T = TypeVar("T")
Attribute = tuple[str, str, Any]

COLUMNS = (
    "row, scope, id, seq, digest, type, status, importance, weight, weight_at, last_access, access_count, pinned, indexed, "
    "timestamp, recorded_at, valid_from, valid_to, expires_at, speaker, session, document, uri, turn, day"
)
INSERT = f"REPLACE INTO unit ({COLUMNS}) VALUES ({', '.join('?' * (COLUMNS.count(',') + 1))})"
_SAID = "json_extract(json, '$.content', '$.timestamp')"
"""Both as a JSON list: given as it is, a text would end at its first NUL."""
READ = "SELECT unit.row, json, seq, weight, weight_at, last_access, access_count FROM unit JOIN body ON body.row = unit.row"


def chunks(items: Iterable[T], size: int = CHUNK) -> Iterator[list[T]]:
    """Lists of at most `size` items."""
    rest = iter(items)
    while part := list(islice(rest, size)):
        yield part


def marks(items: Sequence[Any]) -> str:
    """As many question marks as items."""
    return ", ".join("?" * len(items))


def _micros(instant: datetime | None) -> int | None:
    return None if instant is None else micros(instant)


def columns(unit: MemoryUnit, row: int, scope: int) -> tuple[Any, ...]:
    """The values of `COLUMNS`; the unit's texts must be storable."""
    source = unit.source
    return (
        row,
        scope,
        unit.id,
        unit.seq,
        digest(unit.content),
        unit.memory_type.value,
        unit.status.value,
        unit.importance,
        unit.weight,
        unit.weight_at.isoformat(),
        None if unit.last_access is None else unit.last_access.isoformat(),
        unit.access_count,
        unit.pinned,
        unit.indexed,
        _micros(unit.timestamp),
        micros(unit.recorded_at),
        _micros(unit.valid_from),
        _micros(unit.valid_to),
        _micros(unit.expires_at),
        source.speaker,
        source.session,
        source.document,
        source.uri,
        source.turn,
        None if unit.timestamp is None else unit.timestamp.date().isoformat(),
    )


def attributes_of(unit: MemoryUnit) -> set[Attribute]:
    """Everything about a unit that can have several values, as (path, kind, value)."""
    found = {(path, value.kind.value, value.value) for path, value in attributes(unit)}
    for source in (unit.source, *(occurrence.source for occurrence in unit.occurrences)):
        if source.episode is not None:
            found.add((EPISODE, Kind.TEXT.value, source.episode))
    return found


def entity_hashes(unit: MemoryUnit) -> bytes:
    """Hashes of the entity keys and of the speaker, sorted and distinct; times are spans instead."""
    hashes = {stable_id(entity.key) for entity in unit.entities if entity.type != "time"}
    if unit.source.speaker:
        hashes.add(stable_id(speaker_key(unit.source.speaker)))
    return np.array(sorted(hashes), np.uint64).tobytes()


def time_spans(entities: Iterable[Entity]) -> bytes:
    """The [start, end) spans in epoch seconds that a unit speaks of; an open end is infinite.

    Raises:
        InvalidInput: The key of a time entity is not "start/end" in ISO form.
    """
    spans = sorted({_span(entity.key) for entity in entities if entity.type == "time"})
    return np.array(spans, np.float64).tobytes()


def _span(key: str) -> tuple[float, float]:
    start, slash, end = key.partition("/")
    if not slash:
        raise InvalidInput(
            'the key of a time entity must be "start/end" in ISO form; either side may be empty'
        )
    return (
        as_aware(start).timestamp() if start else float("-inf"),
        as_aware(end).timestamp() if end else float("inf"),
    )


def pack_vector(vector: Floats | None) -> bytes | None:
    """A vector as stored."""
    return None if vector is None else np.ascontiguousarray(vector, np.float32).tobytes()


def pack_ids(ids: Ids) -> bytes:
    """Packed terms as stored."""
    return np.ascontiguousarray(ids, np.uint64).tobytes()


def words_only(terms: bytes) -> bytes:
    """Packed terms as stored, without learnt ones."""
    packed = np.frombuffer(terms, np.uint64)
    return packed[tokens_in(packed) :].tobytes()


# -- reading back --------------------------------------------------------------------------------------------


def links_of(connection: sqlite3.Connection, rows: Sequence[int]) -> dict[int, tuple[Link, ...]]:
    """The links of some rows, in their canonical order (id, kind, direction)."""
    found: dict[int, list[Link]] = {}
    for row, id, kind, outgoing in connection.execute(
        "SELECT link.row, unit.id, link.kind, link.outgoing FROM link JOIN unit ON unit.row = link.other"
        f" WHERE link.row IN ({marks(rows)}) ORDER BY link.row, unit.id, link.kind, link.outgoing",
        rows,
    ):
        found.setdefault(row, []).append(Link(id, LinkKind(kind), bool(outgoing)))
    return {row: tuple(links) for row, links in found.items()}


def decode(
    read: Sequence[tuple[Any, ...]], links: dict[int, tuple[Link, ...]], path: str
) -> list[MemoryUnit]:
    """Units from what `READ` gave.

    Raises:
        StoreCorrupted: A row does not read back.
    """
    try:
        return [
            unit_from(
                json.loads(body),
                seq=seq,
                weight=weight,
                weight_at=datetime.fromisoformat(weight_at),
                last_access=None if last_access is None else datetime.fromisoformat(last_access),
                access_count=access_count,
                related_ids=links.get(row, ()),
            )
            for row, body, seq, weight, weight_at, last_access, access_count in read
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise damaged(path, error) from error


def past_unit(text: str, path: str) -> MemoryUnit:
    """A unit as the journal holds it.

    Raises:
        StoreCorrupted: It does not read back.
    """
    try:
        return decode_unit(text)
    except (ValueError, KeyError, TypeError) as error:
        raise damaged(path, error) from error


def units_at(connection: sqlite3.Connection, rows: Iterable[int], path: str) -> list[MemoryUnit]:
    """The units of given rows, in that order; every row must exist."""
    found: list[MemoryUnit] = []
    for part in chunks(rows):
        read = {r[0]: r for r in connection.execute(f"{READ} WHERE unit.row IN ({marks(part)})", part)}
        found += decode([read[row] for row in part], links_of(connection, part), path)
    return found


def contents_at(connection: sqlite3.Connection, rows: Sequence[int], path: str) -> dict[int, str]:
    """The contents of some rows, without reading the rest of the units.

    Raises:
        StoreCorrupted: A row does not read back.
    """
    read = connection.execute(f"SELECT row, {_SAID} FROM body WHERE row IN ({marks(rows)})", rows)
    try:
        return {row: json.loads(said)[0] or "" for row, said in read}
    except (ValueError, TypeError) as error:
        raise damaged(path, error) from error


def gists_at(connection: sqlite3.Connection, rows: Sequence[int], path: str) -> dict[int, Gist]:
    """What of some rows is looked at when another memory comes in, without reading the rest of the units.

    Raises:
        StoreCorrupted: A row does not read back.
    """
    read = connection.execute(
        f"SELECT unit.row, scope.path, unit.id, {_SAID}, speaker,"
        " (SELECT count(*) FROM link WHERE link.row = unit.row)"
        " FROM unit JOIN body ON body.row = unit.row JOIN scope ON scope.id = unit.scope"
        f" WHERE unit.row IN ({marks(rows)})",
        rows,
    )
    found = {}
    try:
        for row, scope, id, said, speaker, links in read:
            text, at = json.loads(said)
            told = Told(text or "", speaker, None if at is None else datetime.fromisoformat(at))
            found[row] = Gist((decode_scope(scope), id), told, links)
    except (ValueError, TypeError) as error:
        raise damaged(path, error) from error
    return found


def unit_at_key(
    connection: sqlite3.Connection, scope: int, id: str, path: str
) -> tuple[int, MemoryUnit] | None:
    """Row and unit of a key."""
    read = connection.execute(f"{READ} WHERE unit.scope = ? AND unit.id = ?", (scope, id)).fetchone()
    if read is None:
        return None
    row = int(read[0])
    return row, decode([read], links_of(connection, (row,)), path)[0]


def label(value: Any) -> str:
    """A metadata value as the name of a count."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
