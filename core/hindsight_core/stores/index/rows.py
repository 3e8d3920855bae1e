"""What a store feeds the index: memories as columns, a batch at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hindsight_core.ports import Doubles, Floats, Ids, Ints
from hindsight_core.text.learnt import FIRST_WORD
from hindsight_core.unit import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """A batch of n memories.

    Variable-length parts are concatenated; memory i owns `part[offsets[i]:offsets[i + 1]]`.

    Attributes:
        row: int64 (n,) the store's row ids: positive, small (a table of 4 bytes per id ever given is kept), never
            given to another memory.
        scope: Whose.
        id: Unique within its scope.
        seq: int64 (n,) order of arrival, unique over the store.
        status: int8 (n,) index into list(Status).
        memory_type: int8 (n,) index into list(MemoryType).
        timestamp: float64 (n,) epoch seconds; nan = None, here and below.
        recorded_at: float64 (n,).
        valid_from: float64 (n,).
        valid_to: float64 (n,).
        expires_at: float64 (n,).
        weight_at: float64 (n,).
        indexed: bool (n,) may be found by search.
        importance: float32 (n,).
        weight: float32 (n,).
        group: Session, else document, else None; names are apart in different scopes.
        turn: int64 (n,) position within the group; -1 = unknown.
        vectors: float32 (n, dimension); a row of nan = no vector; None = none has one.
        terms: uint64, packed: the hash in the high 56 bits, the count (at most 255) in the low 8, sorted and distinct per
            memory; learnt terms come first (see `text.learnt`).
        term_offsets: int64 (n + 1,).
        entities: uint64, hashed entity keys; naming one twice counts once.
        entity_offsets: int64 (n + 1,).
        spans: float64 (m, 2) the times [start, end) a memory is about; an open end is -inf or +inf.
        span_offsets: int64 (n + 1,).
    """

    row: Ints
    scope: list[Scope]
    id: list[str]
    seq: Ints
    status: NDArray[np.int8]
    memory_type: NDArray[np.int8]
    timestamp: Doubles
    recorded_at: Doubles
    valid_from: Doubles
    valid_to: Doubles
    expires_at: Doubles
    weight_at: Doubles
    indexed: NDArray[np.bool_]
    importance: Floats
    weight: Floats
    group: list[str | None]
    turn: Ints
    vectors: Floats | None
    terms: Ids
    term_offsets: Ints
    entities: Ids
    entity_offsets: Ints
    spans: Doubles
    span_offsets: Ints

    @property
    def has_tokens(self) -> bool:
        """Whether any memory has learnt terms."""
        first = self.term_offsets[:-1][self.term_offsets[1:] > self.term_offsets[:-1]]
        return bool((self.terms[first] < FIRST_WORD).any())
