"""Memories fetched from the engine as columns, and the exact signals of a probe over them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hindsight_core.ports import Doubles, Floats, Ids, Ints, Probe, Visibility
from hindsight_core.scope import covers
from hindsight_core.stores.qdrant.points import Payload
from hindsight_core.stores.qdrant.schema import rows
from hindsight_core.stores.seen import statuses_of
from hindsight_core.text.hashing import COUNT_BITS, COUNT_MASK
from hindsight_core.text.learnt import FIRST_WORD, WEIGHT
from hindsight_core.unit import Status

Flags = NDArray[np.bool_]
_STATUSES = list(Status)


class Columns:
    """A block of n memories.

    Attributes:
        rows: The columns as the index takes them.
        length: int32 (n,) number of terms, tokens not counted.
    """

    def __init__(self, payloads: Sequence[Payload], dimension: int | None) -> None:
        self.rows = rows(payloads, range(len(payloads)), dimension)
        self._terms = self.rows.terms >> np.uint64(COUNT_BITS)
        self._counts = (self.rows.terms & np.uint64(COUNT_MASK)).astype(np.float32)
        self._term_owner = _owners(self.rows.term_offsets)
        self._name_owner = _owners(self.rows.entity_offsets)
        words = self._counts * (self.rows.terms >= FIRST_WORD)
        self.length = np.bincount(self._term_owner, words, len(payloads)).astype(np.int32)

    def __len__(self) -> int:
        """Number of memories."""
        return len(self.rows.id)

    def cosine(self, vector: Floats | None) -> Floats:
        """Cosines with a vector, float32 (n,); nan where there is none."""
        if vector is None or self.rows.vectors is None:
            return np.full(len(self), np.nan, np.float32)
        found: Floats = self.rows.vectors @ vector.astype(np.float32)
        return found

    def counts(self, terms: Ids) -> Floats:
        """How often each memory holds each term, float32 (n, T)."""
        found = np.zeros((len(self), len(terms)), np.float32)
        at, which = _places(terms >> np.uint64(COUNT_BITS), self._terms)
        found[self._term_owner[at], which] = self._counts[at]
        return found

    def learnt(self, probe: Probe) -> Floats:
        """Products of learnt weights with those of a probe's tokens, float32 (n, L)."""
        found: Floats = WEIGHT.take(self.counts(probe.learnt).astype(np.int64)) * probe.learnt_weights
        return found

    def named(self, names: Ids) -> Flags:
        """Which memories name which entity, bool (n, E)."""
        found = np.zeros((len(self), len(names)), np.bool_)
        at, which = _places(names, self.rows.entities)
        found[self._name_owner[at], which] = True
        return found

    def in_window(self, windows: Doubles) -> Flags:
        """Which were said in one of the windows, or speak of a time in one."""
        time, spans = self.rows.timestamp, self.rows.spans
        owner = _owners(self.rows.span_offsets)
        inside = np.zeros(len(self), np.bool_)
        for start, end in windows.tolist():
            inside |= (time >= start) & (time < end)
            inside[owner[(spans[:, 0] < end) & ((spans[:, 1] > start) | (spans[:, 0] >= start))]] = True
        return inside

    def shown(self, visible: Visibility) -> Flags:
        """Which may be seen, the caller's filter and `known_at` apart."""
        found = self.rows
        keep = found.indexed & ~(found.expires_at <= visible.now.timestamp())
        if visible.known_at is None:
            codes = [_STATUSES.index(status) for status in statuses_of(visible)]
            keep &= np.isin(found.status, codes)
        if visible.as_of is not None and visible.known_at is None:
            instant = visible.as_of.timestamp()
            begin = np.where(np.isnan(found.valid_from), found.timestamp, found.valid_from)
            keep &= ~(begin > instant) & ~(found.valid_to <= instant)
        known = {scope: any(covers(prefix, scope) for prefix in visible.scopes) for scope in set(found.scope)}
        return keep & np.array([known[scope] for scope in found.scope], np.bool_)


def _owners(offsets: Ints) -> Ints:
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _places(wanted: Ids, held: Ids) -> tuple[Ints, Ints]:
    """Where something wanted is held, and which it is."""
    if not len(wanted):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    order = np.argsort(wanted)
    place = np.minimum(np.searchsorted(wanted[order], held), len(wanted) - 1)
    at = np.flatnonzero(wanted[order][place] == held)
    return at, order[place[at]]
