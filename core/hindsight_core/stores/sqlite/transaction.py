"""One atomic write. Every change of a unit is journalled here, and nowhere else are units changed.

Links belong to two units, but are no event of the second: linking a new memory to ten old ones is one event, and
undoing a batch does not fail because something newer was linked to it. The journal's `replay` mirrors links as `put`
does.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from hindsight_core.attributes import micros
from hindsight_core.errors import InvalidInput, NotFound, StoreError
from hindsight_core.journal import mirrored, ordered
from hindsight_core.ports import Floats, Ids, IndexEntry, Use
from hindsight_core.stores.codec import decode_unit, dumps, encode_episode, encode_scope, encode_unit
from hindsight_core.stores.sqlite import rows
from hindsight_core.stores.sqlite.erase import erase
from hindsight_core.stores.sqlite.failures import ours
from hindsight_core.stores.sqlite.library import units_of
from hindsight_core.text.keys import digest, storable
from hindsight_core.unit import DIRECTED, Episode, Key, Link, MemoryUnit, Scope, Status

KEPT_RECALLS = 10_000
DIMENSION = "embedder.dimension"
FINGERPRINT = "embedder.fingerprint"
TOKENS = "keywords.fingerprint"

Entry = tuple[bytes | None, bytes | None]
"""Vector and packed terms, as stored."""


class SqliteTransaction:
    """See `ports.Transaction`."""

    def __init__(
        self, connection: sqlite3.Connection, path: str, *, actor: str, batch: str, now: datetime
    ) -> None:
        self.connection = connection
        self.path = path
        self.now = now
        self.erased = False
        self.open = True
        self._actor = storable(actor)
        self._batch = storable(batch)
        self._scopes: dict[Scope, int] = {}
        self._next_row = 0
        self._dimension = _dimension(connection)

    # -- reading ---------------------------------------------------------------------------------------------

    @ours
    def get(self, key: Key) -> MemoryUnit | None:
        """The unit as it stands inside this transaction."""
        found = self._find(key)
        return None if found is None else found[1]

    @ours
    def repeats(self, scope: Scope, content: str) -> list[MemoryUnit]:
        """Active units of exactly this scope that say the same words, oldest first."""
        self._check()
        found = self.connection.execute(
            "SELECT row FROM unit WHERE digest = ? AND scope = ? AND status = ? ORDER BY seq",
            (digest(content), self.scope_number(scope), Status.ACTIVE.value),
        )
        return rows.units_at(self.connection, [row for (row,) in found], self.path)

    @ours
    def units_of(self, scope: Scope, episode: str) -> list[MemoryUnit]:
        """Units that came from an episode or were said again in it."""
        self._check()
        return units_of(self.connection, scope, episode, self.path)

    def scope_number(self, scope: Scope, *, create: bool = False) -> int:
        """The number of a scope; 0 when it has none and none is to be made."""
        if (number := self._scopes.get(scope)) is not None:
            return number
        if not scope:
            raise InvalidInput("a memory's scope must not be empty")
        path = encode_scope(scope)
        if create:
            self.connection.execute("INSERT OR IGNORE INTO scope (path) VALUES (?)", (path,))
        found = self.connection.execute("SELECT id FROM scope WHERE path = ?", (path,)).fetchone()
        if found is None:
            return 0
        return self._scopes.setdefault(scope, int(found[0]))

    def _find(self, key: Key) -> tuple[int, MemoryUnit] | None:
        self._check()
        return rows.unit_at_key(self.connection, self.scope_number(key[0]), storable(key[1]), self.path)

    def _check(self) -> None:
        if not self.open:
            raise StoreError("this write has ended; begin another with store.write(...)")

    # -- units -----------------------------------------------------------------------------------------------

    @ours
    def put(self, unit: MemoryUnit, entry: IndexEntry | None, *, reason: str) -> MemoryUnit:
        """Insert or replace a unit and journal it."""
        found = self._find(unit.key)
        scope = self.scope_number(unit.scope, create=True)
        row, before = found if found is not None else (self._new_row(), None)
        links, others = self._linkable(scope, row, unit)
        after = replace(
            unit,
            seq=before.seq if before is not None else self._seq(scope, unit, row),
            related_ids=links,
        )
        text = encode_unit(after)
        if "\ufffd" in text:  # perhaps put there in place of what no encoding can hold
            after = decode_unit(text)
        # Everything that can be refused is refused before the first row is written.
        content_lost = before is not None and before.content != after.content
        new_entry = self._entry(scope, before, after, entry)
        old_entry = self._stored_entry(row) if content_lost else (None, None)
        derived = rows.entity_hashes(after), rows.time_spans(after.entities)
        self.connection.execute(rows.INSERT, rows.columns(after, row, scope))
        self.connection.execute("REPLACE INTO body VALUES (?, ?)", (row, text))
        if new_entry is not None:
            self.connection.execute("REPLACE INTO entry VALUES (?, ?, ?, ?, ?)", (row, *new_entry, *derived))
        elif before is None or (before.entities, before.source) != (after.entities, after.source):
            self.connection.execute("UPDATE entry SET entities = ?, spans = ? WHERE row = ?", (*derived, row))
        self._write_attributes(row, before, after)
        self._write_links(row, () if before is None else before.related_ids, links, others, scope)
        self._journal(row, scope, after.id, before, text, reason, old_entry)
        return after

    @ours
    def remove(self, key: Key, *, reason: str) -> None:
        """Delete a unit and every link to it; the journal keeps it."""
        found = self._find(key)
        if found is None:
            raise NotFound("no memory with that id in that scope")
        row, before = found
        self._journal(
            row, self.scope_number(key[0]), before.id, before, None, reason, self._stored_entry(row)
        )
        self.delete(row, before)

    @ours
    def erase(self, key: Key) -> None:
        """Remove a unit for good, from the journal as well."""
        self._check()
        erase(self, (key[0], storable(key[1])))
        self.connection.execute("UPDATE counter SET value = 1 WHERE name = 'wipe'")
        self.erased = True

    def delete(self, row: int, unit: MemoryUnit) -> None:
        """Delete every row of a unit except its journal."""
        execute = self.connection.execute
        execute("DELETE FROM unit WHERE row = ?", (row,))
        execute("DELETE FROM body WHERE row = ?", (row,))
        execute("DELETE FROM entry WHERE row = ?", (row,))
        self.delete_attributes(row, rows.attributes_of(unit))
        execute(
            "DELETE FROM link WHERE other = ? AND row IN (SELECT other FROM link WHERE row = ?)", (row, row)
        )
        execute("DELETE FROM link WHERE row = ?", (row,))

    def _new_row(self) -> int:
        if not self._next_row:
            last = self.connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'unit'").fetchone()
            self._next_row = 1 if last is None else int(last[0]) + 1
        self._next_row += 1
        return self._next_row - 1

    def _seq(self, scope: int, unit: MemoryUnit, row: int) -> int:
        """A removed unit that comes back keeps its place in the order of arrival; a new one comes last."""
        if unit.seq and any(was.seq == unit.seq for was, _, _ in self._removed(scope, unit.id)):
            return unit.seq
        return row

    def _removed(self, scope: int, id: str) -> Iterator[tuple[MemoryUnit, bytes | None, bytes]]:
        """Earlier states of a key whose index entry the journal keeps, newest first."""
        for text, vector, terms in self.connection.execute(
            "SELECT before, vector, terms FROM event WHERE scope = ? AND id = ? AND terms IS NOT NULL"
            " ORDER BY seq DESC",
            (scope, storable(id)),
        ):
            yield rows.past_unit(text, self.path), vector, terms

    def _stored_entry(self, row: int) -> Entry:
        found = self.connection.execute("SELECT vector, terms FROM entry WHERE row = ?", (row,)).fetchone()
        return found[0], found[1]

    def _entry(
        self, scope: int, before: MemoryUnit | None, after: MemoryUnit, given: IndexEntry | None
    ) -> Entry | None:
        """Vector and terms to store, packed; None to leave what is there."""
        if given is not None:
            if given.vector is not None:
                self._check_dimension(len(given.vector))
            return rows.pack_vector(given.vector), rows.pack_ids(given.terms)
        if before is not None and before.content == after.content:
            return None
        for was, vector, terms in self._removed(scope, after.id):
            if was.content == after.content:
                return vector, terms
        if after.indexed:
            raise InvalidInput("an indexed memory with new content needs an index entry")
        return None, b""

    def _check_dimension(self, dimension: int) -> None:
        if self._dimension is None:
            self.set_meta(DIMENSION, str(dimension))
        elif dimension != self._dimension:
            raise InvalidInput(f"the store holds vectors of {self._dimension} dimensions, not of {dimension}")

    # -- what belongs to a unit ------------------------------------------------------------------------------

    def _write_attributes(self, row: int, before: MemoryUnit | None, after: MemoryUnit) -> None:
        new = rows.attributes_of(after)
        old = set() if before is None else rows.attributes_of(before)
        self.delete_attributes(row, old - new)
        self.connection.executemany(
            "INSERT OR IGNORE INTO attribute VALUES (?, ?, ?, ?)", [(*each, row) for each in new - old]
        )

    def delete_attributes(self, row: int, gone: set[rows.Attribute]) -> None:
        """Delete some attributes of a row."""
        self.connection.executemany(
            "DELETE FROM attribute WHERE path = ? AND kind = ? AND value = ? AND row = ?",
            [(*each, row) for each in gone],
        )

    def _linkable(self, scope: int, row: int, unit: MemoryUnit) -> tuple[tuple[Link, ...], dict[str, int]]:
        """The unit's links to memories that exist, as stored, and the rows of those memories."""
        others: dict[str, int] = {}
        for part in rows.chunks({storable(link.id) for link in unit.related_ids}):
            found = self.connection.execute(
                f"SELECT id, row FROM unit WHERE scope = ? AND id IN ({rows.marks(part)})", (scope, *part)
            )
            others |= {id: other for id, other in found if other != row}
        return ordered(
            Link(id, link.kind, link.outgoing or link.kind not in DIRECTED)
            for link in unit.related_ids
            if (id := storable(link.id)) in others
        ), others

    def _write_links(
        self,
        row: int,
        before: Sequence[Link],
        after: Sequence[Link],
        others: dict[str, int],
        scope: int,
    ) -> None:
        if gone := set(before) - set(after):
            missing = [link.id for link in gone if link.id not in others]
            found = self.connection.execute(
                f"SELECT id, row FROM unit WHERE scope = ? AND id IN ({rows.marks(missing)})",
                (scope, *missing),
            )
            others = others | dict(found)
            self.connection.executemany(
                "DELETE FROM link WHERE row = ? AND other = ? AND kind = ? AND outgoing = ?",
                [end for link in gone for end in _ends(row, others[link.id], link)],
            )
        self.connection.executemany(
            "INSERT OR IGNORE INTO link VALUES (?, ?, ?, ?)",
            [end for link in set(after) - set(before) for end in _ends(row, others[link.id], link)],
        )

    def _journal(
        self,
        row: int,
        scope: int,
        id: str,
        before: MemoryUnit | None,
        after: str | None,
        reason: str,
        entry: Entry,
    ) -> None:
        """Append an event; `entry` is the index entry that this change loses."""
        self.connection.execute(
            "INSERT INTO event (row, scope, id, before, after, reason, actor, batch, at, written, erased, vector, terms)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)",
            (
                row,
                scope,
                id,
                None if before is None else encode_unit(before),
                after,
                storable(reason),
                *self.signature,
                *entry,
            ),
        )

    @property
    def signature(self) -> tuple[str, str, int, str]:
        """Actor, batch and time of this transaction, as the journal holds them."""
        return self._actor, self._batch, micros(self.now), self.now.isoformat()

    @ours
    def let_go(self, keys: Iterable[Key], *, before: datetime) -> None:
        """Empty what the journal holds of units that are gone; see `ports.Transaction`."""
        self._check()
        self.connection.executemany(
            "UPDATE event SET before = NULL, after = NULL, vector = NULL, terms = NULL, erased = 1"
            " WHERE scope = ?1 AND id = ?2 AND NOT EXISTS (SELECT 1 FROM unit WHERE scope = ?1 AND id = ?2)"
            " AND NOT EXISTS (SELECT 1 FROM event late WHERE late.scope = ?1 AND late.id = ?2 AND late.at >= ?3)",
            [(self.scope_number(scope), storable(id), micros(before)) for scope, id in keys],
        )

    # -- beside the units ------------------------------------------------------------------------------------

    @ours
    def put_episode(self, episode: Episode) -> None:
        """Insert or replace an episode."""
        self._check()
        self.connection.execute(
            "INSERT INTO episode (scope, id, session, turn, timestamp, state, json) VALUES (?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (scope, id) DO UPDATE SET session = excluded.session, turn = excluded.turn,"
            " timestamp = excluded.timestamp, state = excluded.state, json = excluded.json",
            (
                self.scope_number(episode.scope, create=True),
                storable(episode.id),
                None if episode.source.session is None else storable(episode.source.session),
                episode.source.turn,
                None if episode.timestamp is None else micros(episode.timestamp),
                storable(episode.state),
                encode_episode(episode),
            ),
        )

    @ours
    def use(self, uses: Iterable[Use]) -> None:
        """Record uses in the aggregates."""
        self._check()
        used = self._count_up("uses")
        self.connection.executemany(
            "UPDATE unit SET weight = ?, weight_at = ?, last_access = ?, access_count = ?, used = ?"
            " WHERE scope = ? AND id = ?",
            [
                (
                    use.weight,
                    use.at.isoformat(),
                    use.at.isoformat(),
                    use.access_count,
                    used,
                    self.scope_number(use.key[0]),
                    storable(use.key[1]),
                )
                for use in uses
            ],
        )

    @ours
    def set_vectors(self, vectors: Mapping[Key, Floats]) -> None:
        """Replace the vectors of units, which stay as they are; keys without a unit are passed over."""
        self._check()
        for vector in vectors.values():
            self._check_dimension(len(vector))
        self._replace("vector", {key: rows.pack_vector(vector) for key, vector in vectors.items()})

    @ours
    def set_terms(self, terms: Mapping[Key, Ids]) -> None:
        """Replace the packed terms of units, which stay as they are; keys without a unit are passed over."""
        self._check()
        self._replace("terms", {key: rows.pack_ids(packed) for key, packed in terms.items()})

    def _replace(self, column: str, values: Mapping[Key, bytes | None]) -> None:
        """Replace a part of index entries, and mark their units as to be read again."""
        number = self._count_up("vectors")
        places = [(self.scope_number(scope), storable(id)) for scope, id in values]
        self.connection.executemany(
            f"UPDATE entry SET {column} = ? WHERE row = (SELECT row FROM unit WHERE scope = ? AND id = ?)",
            [(value, *place) for value, place in zip(values.values(), places, strict=True)],
        )
        self.connection.executemany(
            "UPDATE unit SET embedded = ? WHERE scope = ? AND id = ?", [(number, *place) for place in places]
        )

    def _count_up(self, name: str) -> int:
        self.connection.execute("UPDATE counter SET value = value + 1 WHERE name = ?", (name,))
        (value,) = self.connection.execute("SELECT value FROM counter WHERE name = ?", (name,)).fetchone()
        return int(value)

    @ours
    def log_recall(self, recall_id: str, scope: Scope, at: datetime, keys: Sequence[Key]) -> None:
        """Remember which memories a recall gave; only the newest recalls are kept."""
        self._check()
        cursor = self.connection.execute(
            "REPLACE INTO recall (id, scope, at, keys) VALUES (?, ?, ?, ?)",
            (storable(recall_id), encode_scope(scope), at.isoformat(), dumps(keys)),
        )
        self.connection.execute(
            "DELETE FROM recall WHERE row <= ?", ((cursor.lastrowid or 0) - KEPT_RECALLS,)
        )

    @ours
    def set_meta(self, name: str, value: str) -> None:
        """Set one of the store's own settings."""
        self._check()
        old = self.connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        self.connection.execute("REPLACE INTO meta VALUES (?, ?)", (storable(name), storable(value)))
        if name == FINGERPRINT and old is not None and old[0] != value:
            # An undo must not bring back vectors of another model; what comes back without one can be embedded again.
            self.connection.execute("UPDATE event SET vector = NULL WHERE vector IS NOT NULL")
        if name == TOKENS and old is not None and old[0] != value:  # the same of learnt terms
            self.connection.create_function("words_only", 1, rows.words_only, deterministic=True)
            self.connection.execute("UPDATE event SET terms = words_only(terms) WHERE terms IS NOT NULL")
        if name == DIMENSION:
            self._dimension = int(value)


def _dimension(connection: sqlite3.Connection) -> int | None:
    found = connection.execute("SELECT value FROM meta WHERE name = ?", (DIMENSION,)).fetchone()
    return None if found is None else int(found[0])


def _ends(row: int, other: int, link: Link) -> tuple[tuple[int, int, str, bool], ...]:
    """A link as stored, at both of its ends."""
    back = mirrored(link, "")
    return (row, other, link.kind.value, link.outgoing), (other, row, back.kind.value, back.outgoing)
