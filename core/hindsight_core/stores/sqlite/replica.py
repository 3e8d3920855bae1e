"""A file as records, and records as a file; see `stores.moving`."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hindsight_core.attributes import micros
from hindsight_core.stores.codec import decode_episode, decode_scope, decode_unit, encode_unit
from hindsight_core.stores.moving import Record
from hindsight_core.stores.sqlite import rows
from hindsight_core.stores.sqlite.transaction import SqliteTransaction
from hindsight_core.text.times.instants import as_aware

if TYPE_CHECKING:
    from hindsight_core.stores.sqlite.store import SqliteStore

_PAGE = 256
_SEQUENCE = "SELECT ifnull(max(seq), 0) FROM sqlite_sequence WHERE name = '{}'"
_READ = {
    "meta": "SELECT row_number() OVER (ORDER BY name) - 1 AS place, name, value FROM meta",
    "counters": f"SELECT 0 AS place, ({_SEQUENCE.format('unit')}), ({_SEQUENCE.format('event')})",
    "episode": "SELECT row AS place, json FROM episode",
    "links": "SELECT seq AS place, path, unit.id, unit.row FROM unit JOIN scope ON scope.id = unit.scope"
    " WHERE EXISTS (SELECT 1 FROM link WHERE link.row = unit.row)",
    "event": "SELECT seq AS place, path, event.id, before, after, reason, actor, batch, written, erased, vector, terms"
    " FROM event JOIN scope ON scope.id = event.scope",
    "recall": "SELECT row AS place, id, scope, at, keys FROM recall",
    "unit": "SELECT unit.seq AS place, unit.row, vector, terms FROM unit JOIN entry ON entry.row = unit.row",
}


class SqliteReplica:
    """See `moving.Replica`."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store

    def records(self, kind: str, after: int) -> Iterator[tuple[int, Record]]:
        """Records of a kind behind a place, a page at a time."""
        while True:
            with self._store.snapshot() as connection:
                sql = f"SELECT * FROM ({_READ[kind]}) WHERE place > ? ORDER BY place LIMIT {_PAGE}"
                page = connection.execute(sql, (after,)).fetchall()
                shown = [(row[0], self._record(connection, kind, row)) for row in page]
            yield from shown
            if len(page) < _PAGE:
                return
            after = page[-1][0]

    def _record(self, connection: Any, kind: str, row: tuple[Any, ...]) -> Record:
        match kind:
            case "meta":
                return {"name": row[1], "value": row[2]}
            case "counters":
                return {"seq": row[1], "event": row[2]}
            case "episode":
                return {"json": row[1]}
            case "recall":
                return {"id": row[1], "scope": row[2], "written": row[3], "keys": row[4]}
            case "links":
                links = rows.links_of(connection, [row[3]])[row[3]]
                return {
                    "scope": row[1],
                    "id": row[2],
                    "links": [[link.id, link.kind.value, link.outgoing] for link in links],
                }
            case "unit":
                (unit,) = rows.units_at(connection, [row[1]], self._store.path)
                record = {
                    "json": encode_unit(replace(unit, related_ids=())),
                    "v": _text(row[2]),
                    "w": _text(row[3]),
                }
                return {key: value for key, value in record.items() if value}
        names = ("seq", "scope", "id", "before", "after", "reason", "actor", "batch", "written", "erased")
        shown: Record = dict(zip(names, row, strict=False)) | {"v": _text(row[10]), "w": _text(row[11])}
        shown["erased"] = bool(shown["erased"]) or None
        return {key: value for key, value in shown.items() if value is not None}

    def absorb(self, tx: SqliteTransaction, kind: str, records: Sequence[tuple[int, Record]]) -> None:
        """Write records of a kind. A unit's row is its place in the order of arrival."""
        execute = tx.connection.execute
        for place, record in records:
            match kind:
                case "meta":
                    tx.set_meta(record["name"], record["value"])
                case "counters":
                    for table, name in (("unit", "seq"), ("event", "event")):
                        execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
                        execute(
                            "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, record[name])
                        )
                case "episode":
                    tx.put_episode(decode_episode(record["json"]))
                case "unit":
                    self._unit(tx, record)
                case "links":
                    self._links(tx, record)
                case "event":
                    self._event(tx, place, record)
                case "recall":
                    keys = [(tuple(scope), id) for scope, id in json.loads(record["keys"])]
                    tx.log_recall(
                        record["id"], decode_scope(record["scope"]), as_aware(record["written"]), keys
                    )

    def _unit(self, tx: SqliteTransaction, record: Record) -> None:
        unit = decode_unit(record["json"])
        execute, row = tx.connection.execute, unit.seq
        execute(rows.INSERT, rows.columns(unit, row, tx.scope_number(unit.scope, create=True)))
        execute("REPLACE INTO body VALUES (?, ?)", (row, record["json"]))
        entry = _bytes(record.get("v")), _bytes(record.get("w")) or b""
        derived = rows.entity_hashes(unit), rows.time_spans(unit.entities)
        execute("REPLACE INTO entry VALUES (?, ?, ?, ?, ?)", (row, *entry, *derived))
        tx.connection.executemany(
            "INSERT OR IGNORE INTO attribute VALUES (?, ?, ?, ?)",
            [(*each, row) for each in rows.attributes_of(unit)],
        )

    def _links(self, tx: SqliteTransaction, record: Record) -> None:
        scope = tx.scope_number(decode_scope(record["scope"]))
        find = "SELECT row FROM unit WHERE scope = ? AND id = ?"
        (row,) = tx.connection.execute(find, (scope, record["id"])).fetchone()
        for id, kind, outgoing in record["links"]:
            (other,) = tx.connection.execute(find, (scope, id)).fetchone()
            tx.connection.execute(
                "INSERT OR IGNORE INTO link VALUES (?, ?, ?, ?)", (row, other, kind, outgoing)
            )

    def _event(self, tx: SqliteTransaction, place: int, record: Record) -> None:
        scope = tx.scope_number(decode_scope(record["scope"]), create=True)
        get = record.get
        tx.connection.execute(
            "REPLACE INTO event (seq, row, scope, id, before, after, reason, actor, batch, at, written, erased, vector, terms)"
            " VALUES (?, (SELECT row FROM unit WHERE scope = ? AND id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                place, scope, record["id"], scope, record["id"], get("before"), get("after"), record["reason"],
                record["actor"], record["batch"], micros(as_aware(record["written"])), record["written"],
                bool(get("erased")), _bytes(get("v")), _bytes(get("w")),
            ),
        )  # fmt: skip


def _text(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)
