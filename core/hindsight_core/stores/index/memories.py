"""The memories themselves as columns, one slot each: everything but words and vectors."""

from __future__ import annotations

import numpy as np

from hindsight_core.ports import Ids, Ints
from hindsight_core.stores.index.columns import Codes, Growing, Places, Ragged, sizes_of
from hindsight_core.stores.index.rows import Rows
from hindsight_core.text.hashing import COUNT_MASK
from hindsight_core.text.learnt import FIRST_WORD
from hindsight_core.unit import Scope

_ID_BYTES = 16


class Memories:
    """The columns. Names follow `Rows`; `scope` and `group` are kept as codes.

    Attributes:
        live: False for slots whose memory was replaced or removed.
        dead: How many those are.
        length: Number of terms, repetitions counted, tokens not.
        entities: Hashed keys of the entities each memory names.
        spans: The times [start, end) each memory is about.
        scopes: Numbers of scopes.
        groups: Numbers of sessions and documents, by scope and name.
    """

    def __init__(self) -> None:
        self.row = Growing(np.int64)
        self.seq = Growing(np.int64)
        self.turn = Growing(np.int64)
        self.scope = Growing(np.int32)
        self.group = Growing(np.int32)
        self.length = Growing(np.int32)
        self.status = Growing(np.int8)
        self.memory_type = Growing(np.int8)
        self.indexed = Growing(np.bool_)
        self.live = Growing(np.bool_)
        self.timestamp = Growing(np.float64)
        self.recorded_at = Growing(np.float64)
        self.valid_from = Growing(np.float64)
        self.valid_to = Growing(np.float64)
        self.expires_at = Growing(np.float64)
        self.weight_at = Growing(np.float64)
        self.weight = Growing(np.float32)
        self.importance = Growing(np.float32)
        self._id_prefix = Growing(np.uint64, _ID_BYTES // 8)
        self.entities = Ragged(np.uint64)
        self.spans = Ragged(np.float64, 2)
        self._ids: Growing[np.object_] = Growing(np.object_)
        self._parts = [part for part in vars(self).values() if isinstance(part, Growing | Ragged)]
        self.scopes: Codes[Scope] = Codes()
        self.groups: Codes[tuple[Scope, str | None]] = Codes()
        self.places = Places()
        self.dead = 0

    def __len__(self) -> int:
        """Number of slots, dead ones included."""
        return len(self._ids)

    @property
    def nbytes(self) -> int:
        """Bytes of the columns."""
        return sum(part.nbytes for part in self._parts) + self.places.nbytes

    def reserve(self, count: int) -> None:
        """Make room for so many memories more."""
        for part in self._parts:
            part.reserve(count)

    def extend(self, rows: Rows) -> Ints:
        """Append a batch; memories it replaces die. Returns the new slots."""
        count = len(rows.id)
        slots = np.arange(len(self), len(self) + count)
        if self.places.are_new(rows.row):
            self.places.set(rows.row, slots)
            self.live.extend(np.ones(count, np.bool_))
        else:
            self.bury(rows.row)
            self.places.set(rows.row, slots)
            alive = (
                self.places.find(rows.row) == slots
            )  # of a row given twice in the batch the last one lives
            self.dead += count - int(np.count_nonzero(alive))
            self.live.extend(alive)
        self.row.extend(rows.row)
        self.seq.extend(rows.seq)
        self.turn.extend(rows.turn)
        self.status.extend(rows.status)
        self.memory_type.extend(rows.memory_type)
        self.indexed.extend(rows.indexed)
        self.timestamp.extend(rows.timestamp)
        self.recorded_at.extend(rows.recorded_at)
        self.valid_from.extend(rows.valid_from)
        self.valid_to.extend(rows.valid_to)
        self.expires_at.extend(rows.expires_at)
        self.weight_at.extend(rows.weight_at)
        self.weight.extend(rows.weight)
        self.importance.extend(rows.importance)
        self._ids.extend(np.array(rows.id, np.object_))
        self._id_prefix.extend(_prefixes(rows.id))
        self.scope.extend(self.scopes.codes(rows.scope))
        group = np.full(count, -1, np.int32)
        grouped = [i for i, name in enumerate(rows.group) if name is not None]
        group[grouped] = self.groups.codes([(rows.scope[i], rows.group[i]) for i in grouped])
        self.group.extend(group)
        totals = np.zeros(len(rows.terms) + 1, np.int64)
        counts = rows.terms & np.uint64(COUNT_MASK)
        if rows.has_tokens:  # which are no words
            counts[rows.terms < FIRST_WORD] = 0
        np.cumsum(counts, out=totals[1:], dtype=np.int64)
        self.length.extend(sizes_of(totals[rows.term_offsets]))
        self.entities.extend(rows.entities, sizes_of(rows.entity_offsets))
        self.spans.extend(rows.spans, sizes_of(rows.span_offsets))
        return slots

    def bury(self, row: Ints) -> None:
        """Let memories die; unknown row ids are ignored."""
        slots = self.places.find(row)
        if not (slots >= 0).any():
            return
        slots = np.unique(slots[slots >= 0])
        self.live.view[slots] = False
        self.places.clear(self.row.view[slots])
        self.dead += len(slots)

    def compact(self) -> Ints:
        """Move the living together. Returns where each lived before, ascending."""
        kept = np.flatnonzero(self.live.view)
        for part in self._parts:
            part.keep(kept)
        self.scopes.prune(self.scope.view)
        self.groups.prune(self.group.view)
        self.places.set(self.row.view, np.arange(len(kept)))
        self.dead = 0
        return kept

    def ids(self, slots: Ints) -> list[str]:
        """The ids of some slots."""
        found: list[str] = self._ids.view.take(slots).tolist()
        return found

    def id_order(self, slots: Ints, column: int) -> Ids:
        """Numbers ordered as the ids are: by the first eight bytes (column 0) or the next eight (column 1)."""
        numbers: Ids = self._id_prefix.view[slots, column]
        return numbers

    def id_rank(self, slots: Ints) -> Ints:
        """Position of each among these by whole id, then by arrival: for ids that begin alike."""
        arrival = np.argsort(self.seq.view[slots])
        ids = self.ids(slots[arrival])
        order = arrival[sorted(range(len(ids)), key=ids.__getitem__)]
        rank = np.empty(len(slots), np.int64)
        rank[order] = np.arange(len(slots))
        return rank


def _prefixes(ids: list[str]) -> Ids:
    """The first bytes of each id as big-endian numbers; UTF-8 sorts as code points do."""
    try:
        first = np.array(ids, f"S{_ID_BYTES}")  # cut or filled up with zeros
    except UnicodeEncodeError:  # not all of them are ASCII
        first = np.array([id_.encode("utf-8", "surrogatepass")[:_ID_BYTES] for id_ in ids], f"S{_ID_BYTES}")
    return first.view(">u8").astype(np.uint64).reshape(-1, _ID_BYTES // 8)
