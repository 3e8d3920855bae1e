"""What an index holds, and how it changes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from hindsight_core.ports import Doubles, Floats, Ints, Visibility
from hindsight_core.stores.index.columns import Small, sizes_of
from hindsight_core.stores.index.dense import Vectors
from hindsight_core.stores.index.groups import Groups
from hindsight_core.stores.index.mask import Mask, Masks, Scopes, visible_slots
from hindsight_core.stores.index.memories import Memories
from hindsight_core.stores.index.postings import Postings
from hindsight_core.stores.index.rows import Rows
from hindsight_core.threads import beside

_ONE = np.uint64(1)  # an entity is named once: its hash with this count makes a packed term
_MANY = 1 << 17  # terms that take some ten milliseconds to sort
_FEW_DEAD = 64  # so many are never worth a compaction


class Contents:
    """What an index holds: memories as columns, with their vectors, words and order, and what of them may be seen.

    Args:
        dimension: Length of the vectors; None when there are none.
    """

    def __init__(self, dimension: int | None) -> None:
        self._dimension = dimension
        self._version = 0
        self._clear()

    def _clear(self) -> None:
        self._memories = Memories()
        self._vectors = Vectors(self._dimension)
        self._terms = Postings()
        self._entities = Postings()
        self._scopes = Scopes()
        self._groups = Groups(self._memories)
        self._masks = Masks()

    def __len__(self) -> int:
        """Number of memories."""
        return len(self._memories) - self._memories.dead

    @property
    def memory_bytes(self) -> int:
        """Bytes of the arrays, vectors included; strings and dictionaries come on top."""
        return self._memories.nbytes + self._vectors.nbytes + self._terms.nbytes + self._entities.nbytes

    # -- changes ---------------------------------------------------------------------------------------------

    def load(self, batches: Iterable[Rows]) -> None:
        """Start anew from these memories."""
        self._clear()
        self._version += 1
        waiting = list(batches)
        terms = np.concatenate([np.zeros(0, np.uint64), *(rows.terms for rows in waiting)])
        entities = np.concatenate([np.zeros(0, np.uint64), *(rows.entities for rows in waiting)])
        slots = np.arange(sum(len(rows.id) for rows in waiting))
        none = slots[:0]
        term_slots = _repeat(
            slots, np.concatenate([none, *(sizes_of(rows.term_offsets) for rows in waiting)])
        )
        entity_slots = _repeat(
            slots, np.concatenate([none, *(sizes_of(rows.entity_offsets) for rows in waiting)])
        )
        self._memories.reserve(len(slots))
        self._vectors.reserve(len(slots))
        merged = beside(partial(self._terms.merge, terms, term_slots), worthwhile=len(terms) > _MANY)
        waiting.reverse()
        while waiting:
            self._append(waiting.pop())  # and let go of: nothing large is held twice
        merged()
        self._entities.merge(entities | _ONE, entity_slots)
        self._groups.build()

    def upsert(self, rows: Rows) -> None:
        """Insert memories, or replace those whose row id is known."""
        dead = self._memories.dead
        added = self._append(rows)
        self._terms.extend(rows.terms, _repeat(added, sizes_of(rows.term_offsets)))
        self._entities.extend(rows.entities | _ONE, _repeat(added, sizes_of(rows.entity_offsets)))
        self._groups.insert(added)
        if self._memories.dead > dead:
            self._changed()
            return
        self._pass_on()
        self._masks.grow(self._memories, added, self._version)

    def remove(self, row: Ints) -> None:
        """Remove memories; unknown row ids are ignored."""
        self._memories.bury(row)
        self._changed()

    def touch(self, row: Ints, weight: Floats, weight_at: Doubles) -> None:
        """Set strengths; unknown row ids are ignored. Masks stay valid."""
        slots = self._memories.places.find(row)
        known = slots >= 0
        self._memories.weight.view[slots[known]] = weight[known]
        self._memories.weight_at.view[slots[known]] = weight_at[known]

    def _pass_on(self) -> None:
        """Enter the next state: whatever was found in this one no longer holds."""
        self._version += 1

    def _append(self, rows: Rows) -> Ints:
        self._vectors.extend(rows.vectors, len(rows.id))
        added = self._memories.extend(rows)
        self._scopes.extend(self._memories, added)
        return added

    def _changed(self) -> None:
        self._pass_on()
        self._masks.clear()
        before = len(self._memories)
        if self._memories.dead <= max(before // 4, _FEW_DEAD):
            return
        kept = self._memories.compact()
        self._vectors.keep(kept)
        self._terms.remap(kept, before)
        self._entities.remap(kept, before)
        self._scopes = Scopes()
        self._scopes.extend(self._memories, np.arange(len(kept)))
        self._groups.build()

    def visible(self, visible: Visibility, allowed: Ints | None) -> Mask:
        """What a search may see.

        - Scopes by whole segments; the empty prefix is every scope.
        - `indexed` ones only, whatever `unindexed` says: that is for exact queries.
        - A memory is gone from the instant `expires_at` on, compared with `now`.
        - `as_of`: began (`valid_from`, else `timestamp`, else always) by then and ended (`valid_to`) later or never;
          superseded ones are shown too.
        - `known_at`: recorded by then. The columns do not say when a status changed: a superseded memory counts as
          active at `known_at` when its `valid_to` is open or later (it ends when its successor begins), any other
          status as it is today.

        Args:
            visible: The conditions; `where` is the caller's business.
            allowed: Row ids that pass `where`; None = all do. Unknown ones are ignored.
        """
        plain = allowed is None and visible.as_of is None and visible.known_at is None
        if plain and (kept := self._masks.find(visible)) is not None:
            return kept
        slots = visible_slots(self._memories, self._scopes, visible, allowed)
        mask = Mask(
            slots,
            len(self._memories),
            self._version,
            words=int(self._memories.length.view.take(slots).sum()),
            newest=float(np.fmax.reduce(self._memories.timestamp.view.take(slots), initial=np.nan)),
        )
        if plain:
            self._masks.keep(visible, mask, self._memories.expires_at.view)
        return mask


def _repeat(slots: Ints, times: Ints) -> Small:
    return np.repeat(slots.astype(np.int32), times)
