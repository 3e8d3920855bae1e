"""Which units may be seen, said in SQL and as of a past state of knowledge; `stores.seen` says it on a unit in hand.

`known_at` needs the journal: a unit that changed later is judged, and shown, as it was just before its first later
event. That is exact for everything journalled (text, status, validity, metadata) as long as the unit still exists; uses are not
journalled, and a unit removed or erased since does not come back.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from hindsight_core.attributes import micros
from hindsight_core.ports import Visibility
from hindsight_core.stores.codec import encode_scope
from hindsight_core.stores.seen import sees, statuses_of
from hindsight_core.stores.sqlite.rows import marks, past_unit
from hindsight_core.unit import MemoryUnit, Scope

Sql = tuple[str, list[Any]]


def under(prefix: Scope) -> Sql:
    """A condition on `scope`: a prefix itself or what lies below it; `()` is everything."""
    if not prefix:
        return "1", []
    path = encode_scope(prefix)
    below = path[:-1] + ","
    return "scope.path = ? OR (scope.path >= ? AND scope.path < ?)", [path, below, below[:-1] + "-"]


def in_scopes(connection: sqlite3.Connection, scopes: tuple[Scope, ...], column: str) -> Sql:
    """A condition on a column of scope numbers: any of these prefixes."""
    parts = [under(prefix) for prefix in scopes]
    among = f"SELECT id FROM scope WHERE {' OR '.join(sql for sql, _ in parts)}"
    params = [p for _, params in parts for p in params]
    first = [number for (number,) in connection.execute(f"{among} LIMIT 2", params)]
    if len(first) == 1:  # one scope, as mostly: its index then also gives the order of time
        return f"{column} = ?", first
    return f"{column} IN ({among})", params


def where(connection: sqlite3.Connection, visible: Visibility) -> Sql:
    """A condition on `unit`. With `known_at`, right for units that have not changed since."""
    statuses = sorted(status.value for status in statuses_of(visible))
    scope, params = in_scopes(connection, visible.scopes, "unit.scope")
    parts = [
        scope,
        f"unit.status IN ({marks(statuses)})",
        "(unit.expires_at IS NULL OR unit.expires_at > ?)",
    ]
    params += [*statuses, micros(visible.now)]
    if not visible.unindexed:
        parts.append("unit.indexed = 1")
    if visible.as_of is not None:
        parts.append("ifnull(coalesce(unit.valid_from, unit.timestamp) <= ?, 1)")
        parts.append("ifnull(? < unit.valid_to, 1)")
        params += [micros(visible.as_of)] * 2
    if visible.known_at is not None:
        parts.append("unit.recorded_at <= ?")
        params.append(micros(visible.known_at))
    if visible.where is not None:
        condition, more = visible.where.to_sql()
        parts.append(f"({condition})")
        params += more
    return " AND ".join(parts), params


def then(connection: sqlite3.Connection, visible: Visibility, path: str) -> dict[int, MemoryUnit]:
    """The units that have changed since `known_at`, by row, as they were at that instant; empty without `known_at`."""
    if visible.known_at is None:
        return {}
    scope, params = in_scopes(connection, visible.scopes, "unit.scope")
    instant = micros(visible.known_at)
    rows = connection.execute(
        "SELECT event.row, ifnull(event.before, event.after) FROM event JOIN ("
        "  SELECT min(event.seq) AS first FROM event JOIN unit ON unit.row = event.row"
        f"  WHERE event.at > ? AND NOT event.erased AND unit.recorded_at <= ? AND {scope} GROUP BY event.row"
        ") ON event.seq = first",
        [instant, instant, *params],
    )
    return {row: past_unit(text, path) for row, text in rows}


def rows_at(connection: sqlite3.Connection, visible: Visibility, past: dict[int, MemoryUnit]) -> list[int]:
    """Rows of the units that may be seen, in no order."""
    condition, params = where(connection, visible)
    rows = [row for (row,) in connection.execute(f"SELECT unit.row FROM unit WHERE {condition}", params)]
    if visible.known_at is None:
        return rows
    return [row for row in rows if row not in past] + [
        row for row, unit in past.items() if sees(visible, unit)
    ]
