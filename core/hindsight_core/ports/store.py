"""A store as a whole: the library of units, their journal, and what a back end can do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from hindsight_core.ports.reading import Reading, Visibility
from hindsight_core.ports.writing import Transaction
from hindsight_core.unit import Episode, Key, MemoryUnit, Scope, Status

if TYPE_CHECKING:
    from hindsight_core.journal import Event


@dataclass(frozen=True, slots=True)
class Vital:
    """Strength and standing of a unit; times in epoch seconds.

    Attributes:
        key: Which.
        status: Where it stands.
        pinned: Never swept.
        importance: 0..1.
        weight: Strength as of `weight_at`.
        weight_at: When that was.
        last_read: Last use, or when it was recorded.
        expires_at: Gone after this, or None.
        seq: Order of arrival.
    """

    key: Key
    status: Status
    pinned: bool
    importance: float
    weight: float
    weight_at: float
    last_read: float
    expires_at: float | None
    seq: int


class Library(Protocol):
    """Exact access by key and by filter."""

    def get(self, keys: Sequence[Key]) -> list[MemoryUnit | None]:
        """Units by key, None where there is none. Visibility is the caller's business."""
        ...

    def units_of(self, scope: Scope, episode: str) -> list[MemoryUnit]:
        """Units that came from an episode or were said again in it, whatever their status, in order of the text."""
        ...

    def vitals(self, visible: Visibility) -> list[Vital]:
        """What a sweep needs of every visible unit, unindexed ones included, without loading them; in order of arrival."""
        ...

    def without_vector(self, visible: Visibility) -> list[Key]:
        """Visible indexed units that have no vector, in order of arrival."""
        ...

    def without_tokens(self, visible: Visibility) -> list[Key]:
        """Visible indexed units that have no learnt terms, in order of arrival."""
        ...

    def find(
        self, visible: Visibility, *, limit: int | None = None, offset: int = 0, newest_first: bool = True
    ) -> list[MemoryUnit]:
        """Units that match exactly, by (timestamp, seq); undated ones count as the oldest."""
        ...

    def count(self, visible: Visibility, *, by: str | None = None) -> dict[str, int]:
        """Counts by "entity", "type", "status", "day", "speaker", "session" or "metadata.KEY"; {"": n} for None.

        The largest first, then by name. A unit without a value is counted nowhere, one with several once under each.
        Entities are counted under their keys (time spans are none), days as they were where it was said.
        """
        ...

    def episodes(
        self, scope: Scope, ids: Sequence[str] | None = None, *, session: str | None = None
    ) -> list[Episode]:
        """Episodes by id or of one session, in order of turn, time and arrival; all of the scope when neither is given."""
        ...


class Journal(Protocol):
    """What happened, in order."""

    def events(
        self,
        *,
        after: int = 0,
        key: Key | None = None,
        batch: str | None = None,
        scopes: Sequence[Scope] | None = None,
    ) -> Iterator[Event]:
        """Events in order of their sequence number: of exactly this key, of one batch, in these scopes and below."""
        ...

    def position(self) -> int:
        """Number of the last event; 0 when there is none."""
        ...

    def changed(self, *, after: int, scopes: Sequence[Scope]) -> list[Key]:
        """The units in these scopes and below that events after this number are about, each once; gone ones too."""
        ...

    def recall_log(self, recall_id: str) -> tuple[Scope, list[Key]] | None:
        """Scope and memories of a past recall."""
        ...


@runtime_checkable
class Store(Library, Journal, Protocol):
    """A place where memories live."""

    def write(
        self, *, actor: str, batch: str, now: datetime, durable: bool = True
    ) -> AbstractContextManager[Transaction]:
        """Begin an atomic write; commits when the block ends, rolls back when it raises.

        With `durable` false it outlives this process, and the machine's power only once a later write is durable.

        Inside the block, the same thread's other calls to the store (also `reading`) see what it has written so far, and
        nobody else does. A write inside a reading is refused.
        """
        ...

    def reading(self, visible: Visibility) -> AbstractContextManager[Reading]:
        """A consistent view, caught up with everything committed so far by any process."""
        ...

    def meta(self) -> Mapping[str, str]:
        """The store's own settings."""
        ...

    def scopes(self, prefix: Scope = ()) -> list[Scope]:
        """Scopes under a prefix that hold at least one unit or episode."""
        ...

    def stats(self, visible: Visibility) -> Mapping[str, Any]:
        """Counts and sizes over what is visible.

        "memories", "active", "archived", "superseded", "episodes", "pending" (episodes not encoded), "links",
        "entities" (distinct), "without_vector", "oldest", "newest" (ISO), "file_bytes" (of the whole store).
        """
        ...

    def check(self) -> list[tuple[str, str]]:
        """What is wrong with the store itself, each with its remedy; empty when it is sound."""
        ...

    def close(self) -> None:
        """Release everything; any later call raises StoreClosed. Closing twice is fine."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a store promises beyond the contract; a missing one is skipped visibly by the contract suite.

    Attributes:
        persistent: Survives closing.
        multiprocess: Several processes may open it at once.
        atomic: A transaction is all or nothing even when the process is killed.
        erases_bytes: After `erase` no byte of the text is left in any file.
        exact_statistics: `Bank` is exact however many memories may be seen; else it is estimated beyond some number.
    """

    persistent: bool = True
    multiprocess: bool = True
    atomic: bool = True
    erases_bytes: bool = True
    exact_statistics: bool = True
    notes: Mapping[str, str] = field(default_factory=dict)
