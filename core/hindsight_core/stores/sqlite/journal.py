"""Reading the journal."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from hindsight_core.journal import Event
from hindsight_core.stores.codec import decode_scope, encode_scope
from hindsight_core.stores.sqlite import visibility
from hindsight_core.stores.sqlite.failures import damaged
from hindsight_core.stores.sqlite.rows import past_unit
from hindsight_core.text.keys import storable
from hindsight_core.unit import Key, Scope

PAGE = 256


def page(
    connection: sqlite3.Connection,
    path: str,
    *,
    after: int,
    key: Key | None,
    batch: str | None,
    scopes: Sequence[Scope] | None,
) -> list[Event]:
    """The next events, at most `PAGE` of them; an empty list is the end."""
    parts, params = ["seq > ?"], [after]
    conditions: list[tuple[str, list[Any]]] = []
    if key is not None:
        # Exactly this scope: its number, not what lies below it.
        path_of = encode_scope(key[0])
        conditions.append(
            (
                "event.scope = (SELECT id FROM scope WHERE path = ?) AND event.id = ?",
                [path_of, storable(key[1])],
            )
        )
    if batch is not None:
        conditions.append(("batch = ?", [storable(batch)]))
    if scopes is not None:
        conditions.append(
            visibility.in_scopes(connection, tuple(scopes), "event.scope") if scopes else ("0", [])
        )
    for condition, more in conditions:
        parts.append(f"({condition})")
        params += more
    found = connection.execute(
        "SELECT seq, scope.path, event.id, before, after, reason, actor, batch, written, erased"
        f" FROM event JOIN scope ON scope.id = event.scope WHERE {' AND '.join(parts)} ORDER BY seq LIMIT {PAGE}",
        params,
    ).fetchall()
    return [
        Event(
            seq=seq,
            key=(decode_scope(scope), id),
            before=None if before is None else past_unit(before, path),
            after=None if after_ is None else past_unit(after_, path),
            reason=reason,
            actor=actor,
            batch=batch_,
            at=datetime.fromisoformat(written),
            erased=bool(erased),
        )
        for seq, scope, id, before, after_, reason, actor, batch_, written, erased in found
    ]


def changed(connection: sqlite3.Connection, after: int, scopes: Sequence[Scope]) -> list[Key]:
    """The units in these scopes and below that events after this number are about, each once."""
    if not scopes:
        return []
    condition, params = visibility.in_scopes(connection, tuple(scopes), "event.scope")
    # The plus keeps SQLite from walking a whole scope by the index of keys: what is new is little.
    found = connection.execute(
        "SELECT DISTINCT scope.path, event.id FROM event JOIN scope ON scope.id = event.scope"
        f" WHERE event.seq > ? AND {condition.replace('event.scope', '+event.scope', 1)}",
        [after, *params],
    )
    known: dict[str, Scope] = {}
    return [(known.get(path) or known.setdefault(path, decode_scope(path)), id) for path, id in found]


def recall_log(connection: sqlite3.Connection, recall_id: str, path: str) -> tuple[Scope, list[Key]] | None:
    """Scope and memories of a past recall."""
    found = connection.execute(
        "SELECT scope, keys FROM recall WHERE id = ?", (storable(recall_id),)
    ).fetchone()
    if found is None:
        return None
    try:
        return decode_scope(found[0]), [(tuple(scope), id) for scope, id in json.loads(found[1])]
    except (ValueError, TypeError) as error:
        raise damaged(path, error) from error
