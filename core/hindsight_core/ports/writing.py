"""What a store is told: index entries, uses, and the transaction that takes them in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from hindsight_core.ports.arrays import Floats, Ids
from hindsight_core.unit import Episode, Key, MemoryUnit, Scope

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    """What search needs of a unit beyond its fields.

    Attributes:
        vector: float32, shape (dimension,), length 1; None when the store has no embedder.
        terms: Packed terms of the text, sorted (see `text.tokens.pack`), behind those of its tokens where a sparse embedder
            weighed them (see `text.learnt`).
    """

    vector: Floats | None
    terms: Ids


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A use as it is kept beside the journal: the unit's strength after it.

    Attributes:
        key: Which memory.
        weight: Strength as of `at`.
        at: When it was used.
        access_count: Uses so far.
    """

    key: Key
    weight: float
    at: datetime
    access_count: int


class Transaction(Protocol):
    """One atomic write: all of it is stored, or nothing. Reads in it see its own writes and no one else's later ones."""

    def get(self, key: Key) -> MemoryUnit | None:
        """The unit as it stands inside this transaction."""
        ...

    def repeats(self, scope: Scope, content: str) -> list[MemoryUnit]:
        """Active units of exactly this scope that say the same words (see `text.keys.digest`), oldest first."""
        ...

    def units_of(self, scope: Scope, episode: str) -> list[MemoryUnit]:
        """As `Library.units_of`, inside this transaction."""
        ...

    def put(self, unit: MemoryUnit, entry: IndexEntry | None, *, reason: str) -> MemoryUnit:
        """Insert or replace a unit and journal it, all of it or (when it is refused) nothing of it.

        Links are the complete set of this unit's links. The store keeps their other ends (which is no event of the other
        unit), leaves out links to what does not exist, and orders them by id, kind and direction.

        Args:
            unit: The unit; `seq` is assigned by the store on insertion and kept on replacement. A removed unit that comes
                back with its `seq` keeps it.
            entry: Its index entry. None keeps the stored one of the same content, and brings back the one that the
                journal keeps of a removed unit or of earlier content; a unit with `indexed=False` needs none.
            reason: Why, in a few words without memory text.

        Returns:
            The unit as stored.

        Raises:
            InvalidInput: No entry is known, a vector of another dimension, metadata that is not JSON, a time entity
                whose key is no span.
        """
        ...

    def remove(self, key: Key, *, reason: str) -> None:
        """Delete a unit and every link to it; the journal keeps it, so the batch can be undone.

        Raises:
            NotFound: There is none.
        """
        ...

    def erase(self, key: Key) -> None:
        """Remove a unit for good: unit, episode span, journal contents, derived rows. A tombstone stays.

        Works for a unit that was removed, too. What others took over of it goes as well: occurrences of its wording or
        from its place, and the history of units that were merged away into it. The bytes are overwritten when the
        transaction ends, which rewrites the file: erase many units in one transaction.

        Raises:
            NotFound: There is none and there never was.
        """
        ...

    def let_go(self, keys: Iterable[Key], *, before: datetime) -> None:
        """Empty what the journal holds of units that are gone, and that nothing has happened to since an instant.

        Their events stay in their places as tombstones, as after `erase`. A unit that is there, or was until later,
        is left alone.
        """
        ...

    def put_episode(self, episode: Episode) -> None:
        """Insert or replace an episode."""
        ...

    def use(self, uses: Iterable[Use]) -> None:
        """Record uses in the aggregates; not journalled, never moves other columns."""
        ...

    def set_vectors(self, vectors: Mapping[Key, Floats]) -> None:
        """Replace the vectors of units, which stay as they are; not journalled. Every index takes them up."""
        ...

    def set_terms(self, terms: Mapping[Key, Ids]) -> None:
        """Replace the packed terms of units; as `set_vectors` otherwise."""
        ...

    def log_recall(self, recall_id: str, scope: Scope, at: datetime, keys: Sequence[Key]) -> None:
        """Remember which memories a recall gave, so that feedback can refer to it later."""
        ...

    def set_meta(self, name: str, value: str) -> None:
        """Set one of the store's own settings (calibration, ...).

        A store understands three names: with a new "embedder.fingerprint" the journal forgets its vectors, so that no undo
        brings back one of another model, and with a new "keywords.fingerprint" its learnt terms; "embedder.dimension" (set by
        the first vector otherwise) is what vectors must have.
        """
        ...
