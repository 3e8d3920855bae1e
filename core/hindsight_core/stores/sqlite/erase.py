"""Erasing: no byte of a memory stays in the file.

Inside the transaction: the unit and its rows; its passages in the episodes it was said in (filled up, so that other spans
keep their offsets); everything in the journal under its key, where a tombstone stays; and what others took over of
it: occurrences with its wording or from its place, and the history of memories that were merged away into it.

After the commit (`wipe`) the bytes themselves: `secure_delete` overwrites what is freed, but pages that SQLite has
rebalanced can hold stale copies in their gaps, so the file is written anew (VACUUM) and the log cut to nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import NotFound, StoreBusy
from hindsight_core.stores.codec import decode_episode, encode_episode, encode_unit
from hindsight_core.stores.sqlite import rows
from hindsight_core.stores.traces import FILLER, Traces, place, without
from hindsight_core.unit import Key, MemoryUnit

if TYPE_CHECKING:
    from hindsight_core.stores.sqlite.transaction import SqliteTransaction


def erase(tx: SqliteTransaction, key: Key) -> None:
    """Remove every trace of a memory, present or past, and leave a tombstone.

    Raises:
        NotFound: There is none under that key and there never was, or it was erased already.
    """
    scope, id = tx.scope_number(key[0]), key[1]
    traces = Traces()
    present = rows.unit_at_key(tx.connection, scope, id, tx.path)
    history = _history(tx, scope, id)
    if present is None and not history:
        raise NotFound("no memory with that id in that scope, now or in the past")
    for unit in history if present is None else [*history, present[1]]:
        traces.add(unit)
    if present is not None:
        tx.delete(*present)
    # What was asked about it goes with it, at the other memories of that answer too.
    tx.connection.execute(
        "UPDATE event SET reason = 'feedback' WHERE actor = 'feedback' AND batch IN"
        " (SELECT batch FROM event WHERE scope = ? AND id = ? AND actor = 'feedback')",
        (scope, id),
    )
    _empty_history(tx, scope, [id])
    _scrub(tx, scope, traces)
    _fill(tx, scope, traces.passages)
    tx.connection.execute(
        "INSERT INTO event (row, scope, id, reason, actor, batch, at, written, erased)"
        " VALUES (?, ?, ?, 'erased', ?, ?, ?, ?, 1)",
        (None if present is None else present[0], scope, id, *tx.signature),
    )


def _history(tx: SqliteTransaction, scope: int, id: str) -> list[MemoryUnit]:
    sides = tx.connection.execute(
        "SELECT before, after FROM event WHERE scope = ? AND id = ? AND NOT erased", (scope, id)
    ).fetchall()
    return [rows.past_unit(side, tx.path) for pair in sides for side in pair if side is not None]


def _empty_history(tx: SqliteTransaction, scope: int, ids: Iterable[str]) -> None:
    tx.connection.executemany(
        "UPDATE event SET before = NULL, after = NULL, vector = NULL, terms = NULL, erased = 1"
        " WHERE scope = ? AND id = ?",
        [(scope, id) for id in ids],
    )


def _scrub(tx: SqliteTransaction, scope: int, traces: Traces) -> None:
    """Take the traces out of other memories and their history."""
    needles = traces.needles()
    execute = tx.connection.execute

    def holding(column: str) -> str:
        return " OR ".join([f"instr({column}, ?)"] * len(needles))

    for row, text in execute(
        f"SELECT body.row, json FROM unit JOIN body ON body.row = unit.row WHERE scope = ? AND ({holding('json')})",
        [scope, *needles],
    ).fetchall():
        if (scrubbed := _without(text, traces, tx.path)) is not None:
            old, new = (rows.attributes_of(rows.past_unit(t, tx.path)) for t in (text, scrubbed))
            execute("UPDATE body SET json = ? WHERE row = ?", (scrubbed, row))
            tx.delete_attributes(row, old - new)
    absorbed = set()
    for seq, id, before, after, alive in execute(
        "SELECT seq, id, before, after,"
        " EXISTS (SELECT 1 FROM unit WHERE unit.scope = event.scope AND unit.id = event.id)"
        f" FROM event WHERE scope = ? AND ({holding('before')} OR {holding('after')})",
        [scope, *needles, *needles],
    ).fetchall():
        sides = [side for side in (before, after) if side is not None]
        if not alive and any(rows.past_unit(side, tx.path).content in traces.texts for side in sides):
            absorbed.add(id)
        for column, side in (("before", before), ("after", after)):
            if side is not None and (scrubbed := _without(side, traces, tx.path)) is not None:
                execute(f"UPDATE event SET {column} = ? WHERE seq = ?", (scrubbed, seq))
    _empty_history(tx, scope, absorbed)


def _without(text: str, traces: Traces, path: str) -> str | None:
    """A unit's JSON without occurrences that are traces; None when it has none."""
    scrubbed = without(rows.past_unit(text, path), traces)
    return None if scrubbed is None else encode_unit(scrubbed)


def _fill(
    tx: SqliteTransaction, scope: int, passages: Iterable[tuple[str, tuple[int, int] | None, str]]
) -> None:
    """Fill up what was said in the episodes; an episode with nothing else in it goes."""
    for id, span, text in passages:
        found = tx.connection.execute(
            "SELECT row, json FROM episode WHERE scope = ? AND id = ?", (scope, id)
        ).fetchone()
        if found is None:
            continue
        episode = decode_episode(found[1])
        start, end = place(episode.text, span, text)
        filled = episode.text[:start] + FILLER * (end - start) + episode.text[end:]
        if filled.replace(FILLER, "").strip():
            left = encode_episode(replace(episode, text=filled, envelope={}))
            tx.connection.execute("UPDATE episode SET json = ? WHERE row = ?", (left, found[0]))
        else:
            tx.connection.execute("DELETE FROM episode WHERE row = ?", (found[0],))


def wipe(connection: sqlite3.Connection, path: str) -> None:
    """Write the file anew and cut the log, so that freed bytes are gone; the caller holds the write lock.

    Raises:
        StoreBusy: Another process kept reading an old state. The memory is erased; its bytes go with the next wipe.
    """
    connection.execute("PRAGMA temp_store = FILE")  # the copy may be large; it holds only what is left
    connection.execute("VACUUM")
    connection.execute("PRAGMA temp_store = MEMORY")
    busy: Any = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    if busy:
        raise StoreBusy(
            f"{path}: the memory is erased, but another process reads an older state, so freed bytes are still in the"
            " file; they go when it is next opened or erased from"
        )
    connection.execute("UPDATE counter SET value = 0 WHERE name = 'wipe'")
