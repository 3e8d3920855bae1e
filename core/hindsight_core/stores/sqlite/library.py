"""Exact access: by key, by filter, by episode; counts and sizes."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hindsight_core.attributes import ENTITY, METADATA, Kind, attributes
from hindsight_core.errors import InvalidInput
from hindsight_core.ports import Visibility, Vital
from hindsight_core.stores.codec import decode_episode, decode_scope, encode_scope
from hindsight_core.stores.seen import check
from hindsight_core.stores.sqlite import rows, visibility
from hindsight_core.stores.sqlite.failures import damaged
from hindsight_core.text.keys import storable
from hindsight_core.unit import Episode, Key, MemoryUnit, Scope, Status

COUNTED = ("entity", "type", "status", "day", "speaker", "session")
_VITALS = 2048  # read at a time
_STATUS = {status.value: status for status in Status}


def rows_of(
    connection: sqlite3.Connection, keys: Sequence[Key], *, indexed: bool = False
) -> list[int | None]:
    """Rows by key, None where there is none (or, with `indexed`, none that search finds)."""
    wanted = [(encode_scope(scope), storable(id)) for scope, id in keys]
    by_scope: dict[str, set[str]] = {}
    for scope, id in wanted:
        by_scope.setdefault(scope, set()).add(id)
    places: dict[tuple[str, str], int] = {}
    for scope, ids in by_scope.items():
        for part in rows.chunks(ids):
            found = connection.execute(
                "SELECT id, row FROM unit WHERE scope = (SELECT id FROM scope WHERE path = ?)"
                f" AND id IN ({rows.marks(part)}) AND indexed >= ?",
                (scope, *part, indexed),
            )
            places |= {(scope, id): row for id, row in found}
    return [places.get(key) for key in wanted]


def get(connection: sqlite3.Connection, keys: Sequence[Key], path: str) -> list[MemoryUnit | None]:
    """Units by key, None where there is none."""
    places = rows_of(connection, keys)
    present = dict.fromkeys(row for row in places if row is not None)
    units = dict(zip(present, rows.units_at(connection, present, path), strict=True))
    return [None if row is None else units[row] for row in places]


def units_of(connection: sqlite3.Connection, scope: Scope, episode: str, path: str) -> list[MemoryUnit]:
    """Units that came from an episode or were said again in it, in order of the text."""
    id = storable(episode)
    found = connection.execute(
        "SELECT attribute.row FROM attribute JOIN unit ON unit.row = attribute.row"
        " WHERE attribute.path = ? AND kind = ? AND value = ? AND scope = (SELECT id FROM scope WHERE path = ?)",
        (rows.EPISODE, Kind.TEXT.value, id, encode_scope(scope)),
    )
    units = rows.units_at(connection, [row for (row,) in found], path)

    def place(unit: MemoryUnit) -> tuple[int, int]:
        sources = [unit.source, *(occurrence.source for occurrence in unit.occurrences)]
        starts = [s.span[0] for s in sources if s.episode == id and s.span is not None]
        return min(starts, default=0), unit.seq

    return sorted(units, key=place)


def vital_rows(connection: sqlite3.Connection, visible: Visibility, after: int) -> list[tuple[Any, ...]]:
    """The next visible units by row, unindexed ones included, as `vitals_of` reads them; an empty list is the end."""
    _present_only(visible)
    condition, params = visibility.where(connection, replace(visible, unindexed=True))
    # Without an index, since that of scopes would have to sort all of a scope for every page.
    return connection.execute(
        "SELECT unit.row, scope.path, unit.id, status, pinned, importance, weight, weight_at, last_access,"
        " recorded_at / 1e6, expires_at / 1e6, seq FROM unit NOT INDEXED JOIN scope ON scope.id = unit.scope"
        f" WHERE unit.row > ? AND {condition} ORDER BY unit.row LIMIT {_VITALS}",
        [after, *params],
    ).fetchall()


def vitals_of(read: Iterable[tuple[Any, ...]], path: str) -> list[Vital]:
    """Strength and standing, from rows."""
    scopes = _Scopes()
    try:
        return [
            Vital(
                key=(scopes[scope], id),
                status=_STATUS[status],
                pinned=bool(pinned),
                importance=importance,
                weight=weight,
                weight_at=datetime.fromisoformat(weight_at).timestamp(),
                last_read=recorded_at
                if last_access is None
                else datetime.fromisoformat(last_access).timestamp(),
                expires_at=expires_at,
                seq=seq,
            )
            for _, scope, id, status, pinned, importance, weight, weight_at, last_access, recorded_at, expires_at, seq in read
        ]
    except (ValueError, KeyError) as error:
        raise damaged(path, error) from error


def without_vector(connection: sqlite3.Connection, visible: Visibility) -> list[Key]:
    """Visible indexed units that have no vector, or one of another length than the store's, in order of arrival."""
    return _lacking(connection, visible, _BARE)


def without_tokens(connection: sqlite3.Connection, visible: Visibility) -> list[Key]:
    """Visible indexed units without learnt terms, which would come first and have no upper half, in order of arrival."""
    return _lacking(connection, visible, "substr(terms, 5, 4) != x'00000000'")


def _lacking(connection: sqlite3.Connection, visible: Visibility, what: str) -> list[Key]:
    _present_only(visible)
    condition, params = visibility.where(connection, visible)
    scopes = _Scopes()
    read = connection.execute(
        "SELECT scope.path, unit.id FROM unit JOIN scope ON scope.id = unit.scope JOIN entry ON entry.row = unit.row"
        f" WHERE indexed AND {what} AND {condition} ORDER BY seq",
        params,
    )
    return [(scopes[scope], id) for scope, id in read]


_BARE = (
    "ifnull(length(vector), 0) <> 4 * ifnull((SELECT value FROM meta WHERE name = 'embedder.dimension'), 1)"
)


class _Scopes(dict[str, Scope]):
    """Scopes by their text, each decoded once."""

    def __missing__(self, path: str) -> Scope:
        return self.setdefault(path, decode_scope(path))


def _present_only(visible: Visibility) -> None:
    check(visible)
    if visible.known_at is not None:
        raise InvalidInput("this is a question about the present; leave known_at out")


def find(
    connection: sqlite3.Connection,
    visible: Visibility,
    path: str,
    *,
    limit: int | None,
    offset: int,
    newest_first: bool,
) -> list[MemoryUnit]:
    """Units that match exactly, by (timestamp, seq); the undated count as oldest."""
    check(visible)
    if offset < 0 or (limit is not None and limit < 0):
        raise InvalidInput("limit and offset must not be negative")
    past = visibility.then(connection, visible, path)
    if not past:
        condition, params = visibility.where(connection, visible)
        order = "DESC" if newest_first else "ASC"
        found = connection.execute(
            f"SELECT unit.row FROM unit WHERE {condition} ORDER BY timestamp {order}, seq {order} LIMIT ? OFFSET ?",
            [*params, -1 if limit is None else limit, offset],
        )
        return rows.units_at(connection, [row for (row,) in found], path)
    units = list(_shown(connection, visible, past, path))
    units.sort(key=lambda u: (u.timestamp or _NEVER, u.seq), reverse=newest_first)
    return units[offset : None if limit is None else offset + limit]


_NEVER = datetime.min.replace(tzinfo=UTC)


def _shown(
    connection: sqlite3.Connection, visible: Visibility, past: dict[int, MemoryUnit], path: str
) -> Iterator[MemoryUnit]:
    found = visibility.rows_at(connection, visible, past)
    yield from rows.units_at(connection, [row for row in found if row not in past], path)
    yield from (past[row] for row in found if row in past)


def count(
    connection: sqlite3.Connection, visible: Visibility, path: str, *, by: str | None
) -> dict[str, int]:
    """Counts, the largest first, then by name; memories without a value are left out.

    Entities are counted under their keys, time spans not among them; numbers of metadata as text.
    """
    check(visible)
    if by is not None and by not in COUNTED and not (by.startswith(METADATA) and len(by) > len(METADATA)):
        raise InvalidInput(f"cannot count by {by[:40]!r}; count by {', '.join(COUNTED)} or metadata.NAME")
    past = visibility.then(connection, visible, path)
    if past:
        units = _shown(connection, visible, past, path)
        counts = Counter(label for unit in units for label in labels(unit, by))
    else:
        counts = Counter()
        for value, number in connection.execute(*_count_sql(connection, visible, by)):
            counts[rows.label(value)] += number
    if by is None:
        return {"": counts[""]}
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _count_sql(connection: sqlite3.Connection, visible: Visibility, by: str | None) -> tuple[str, list[Any]]:
    condition, params = visibility.where(connection, visible)
    if by is None:
        return f"SELECT '', count(*) FROM unit WHERE {condition}", params
    if by != ENTITY and not by.startswith(METADATA):
        return (
            f"SELECT unit.{by}, count(*) FROM unit WHERE {condition} AND unit.{by} IS NOT NULL GROUP BY 1",
            params,
        )
    return (
        "SELECT CASE kind WHEN 'b' THEN CASE value WHEN 0 THEN 'false' ELSE 'true' END ELSE value END, count(*)"
        " FROM attribute JOIN unit ON unit.row = attribute.row"
        f" WHERE attribute.path = ? AND kind != ? AND {condition} GROUP BY kind, value",
        [storable(by), Kind.INSTANT.value, *params],
    )


def labels(unit: MemoryUnit, by: str | None) -> Iterable[str]:
    """The names under which a unit is counted."""
    match by:
        case None:
            return [""]
        case "type":
            return [unit.memory_type.value]
        case "status":
            return [unit.status.value]
        case "day":
            return [] if unit.timestamp is None else [unit.timestamp.date().isoformat()]
        case "speaker" | "session":
            value = getattr(unit.source, by)
            return [] if value is None else [value]
    found = {value for path, value in attributes(unit) if path == by and value.kind is not Kind.INSTANT}
    return [str(v.value).lower() if v.kind is Kind.FLAG else rows.label(v.value) for v in found]


def episodes(
    connection: sqlite3.Connection,
    scope: Scope,
    ids: Sequence[str] | None,
    session: str | None,
    path: str,
) -> list[Episode]:
    """Episodes by id or of one session, in order of turn, time and arrival."""
    condition, params = "scope = (SELECT id FROM scope WHERE path = ?)", [encode_scope(scope)]
    if session is not None:
        condition += " AND session = ?"
        params.append(storable(session))
    parts: Iterable[list[str]] = [[]] if ids is None else rows.chunks(dict.fromkeys(map(storable, ids)))
    found: list[tuple[Any, ...]] = []
    for part in parts:
        among = "" if ids is None else f" AND id IN ({rows.marks(part)})"
        found += connection.execute(
            f"SELECT turn, timestamp, row, json FROM episode WHERE {condition}{among}", [*params, *part]
        ).fetchall()
    found.sort(key=lambda r: tuple((v is not None, v or 0) for v in r[:3]))
    try:
        return [decode_episode(text) for *_, text in found]
    except (ValueError, KeyError, TypeError) as error:
        raise damaged(path, error) from error


def scopes(connection: sqlite3.Connection, prefix: Scope) -> list[Scope]:
    """Scopes under a prefix that hold a unit or an episode."""
    condition, params = visibility.under(prefix)
    found = connection.execute(
        f"SELECT path FROM scope WHERE ({condition}) AND (EXISTS (SELECT 1 FROM unit WHERE unit.scope = scope.id)"
        " OR EXISTS (SELECT 1 FROM episode WHERE episode.scope = scope.id)) ORDER BY path",
        params,
    )
    return sorted(decode_scope(path) for (path,) in found)


def stats(connection: sqlite3.Connection, visible: Visibility, path: str) -> dict[str, Any]:
    """Counts over what is visible; see `ports.Store.stats`."""
    by_status = count(connection, visible, path, by="status")
    condition, params = visibility.where(connection, visible)
    among = f"SELECT unit.row FROM unit WHERE {condition}"
    scope, in_scope = visibility.in_scopes(connection, visible.scopes, "episode.scope")

    def one(sql: str, *params: Any) -> tuple[Any, ...]:
        found: tuple[Any, ...] = connection.execute(sql, params).fetchone()
        return found

    oldest, newest, bare = one(
        "SELECT min(timestamp), max(timestamp), sum(indexed AND " + _BARE + ")"
        f" FROM unit JOIN entry ON entry.row = unit.row WHERE {condition}",
        *params,
    )
    episodes, pending = one(f"SELECT count(*), sum(state = 'pending') FROM episode WHERE {scope}", *in_scope)
    (ends,) = one(
        f"SELECT count(*) FROM link WHERE row IN ({among}) AND other IN ({among})", *params, *params
    )
    (entities,) = one(
        f"SELECT count(DISTINCT value) FROM attribute WHERE path = ? AND row IN ({among})", ENTITY, *params
    )
    return {
        "memories": sum(by_status.values()),
        **{status.value: by_status.get(status.value, 0) for status in Status},
        "episodes": episodes,
        "pending": pending or 0,
        "links": ends // 2,
        "entities": entities,
        "without_vector": bare or 0,
        "oldest": _iso(oldest),
        "newest": _iso(newest),
    }


def _iso(micros: int | None) -> str | None:
    if micros is None:
        return None
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)).isoformat()


def faults(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """What is wrong with the file, each with its remedy."""
    found = []
    damage = [text for (text,) in connection.execute("PRAGMA integrity_check(3)") if text != "ok"]
    if damage:
        found.append(("the file is damaged", "restore the file from a copy, or export what can be read"))
    for name, sql in _INVARIANTS.items():
        (number,) = connection.execute(sql).fetchone()
        if number:
            found.append((f"{number} {name}", "export the memories and import them into a new file"))
    if connection.execute("SELECT value FROM counter WHERE name = 'wipe'").fetchone()[0]:
        found.append(
            ("freed bytes of an erased memory are still in the file", "close every other process, reopen")
        )
    return found


_INVARIANTS: Mapping[str, str] = {
    "memories without content": "SELECT count(*) FROM unit WHERE row NOT IN (SELECT row FROM body)",
    "memories without an index entry": "SELECT count(*) FROM unit WHERE row NOT IN (SELECT row FROM entry)",
    "contents without a memory": "SELECT count(*) FROM body WHERE row NOT IN (SELECT row FROM unit)",
    "index entries without a memory": "SELECT count(*) FROM entry WHERE row NOT IN (SELECT row FROM unit)",
    "attributes without a memory": "SELECT count(*) FROM attribute WHERE row NOT IN (SELECT row FROM unit)",
    "links to nothing": "SELECT count(*) FROM link WHERE row NOT IN (SELECT row FROM unit)"
    " OR other NOT IN (SELECT row FROM unit)",
    "links stored at one end only": "SELECT count(*) FROM link WHERE NOT EXISTS ("
    "SELECT 1 FROM link AS back WHERE back.row = link.other AND back.other = link.row AND back.kind = link.kind)",
}
