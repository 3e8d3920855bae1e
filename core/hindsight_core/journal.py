"""The journal: every change of a unit is one event, holding the unit before and after it.

Replaying events in order rebuilds the units (`replay`); walking a batch backwards undoes it. Uses are not
events: they are aggregates, or a busy agent would write more history than memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from hindsight_core.unit import Key, MemoryUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One change of one unit.

    Attributes:
        seq: Position in the journal, counted from 1 without reuse.
        key: Which unit.
        before: The unit before, None for an insertion.
        after: The unit after, None for a removal.
        reason: Why, in a few words without memory text.
        actor: Who: "user", "consolidate", "sweep", "undo", ...
        batch: The operation it belongs to; a batch can be undone as a whole.
        at: When.
        erased: A tombstone: the unit was erased and both sides are gone for good.
    """

    seq: int
    key: Key
    before: MemoryUnit | None
    after: MemoryUnit | None
    reason: str
    actor: str
    batch: str
    at: datetime
    erased: bool = False


def replay(events: Iterable[Event]) -> dict[Key, MemoryUnit]:
    """Rebuild the units from a journal, starting from nothing."""
    units: dict[Key, MemoryUnit] = {}
    for event in events:
        if event.after is None:
            units.pop(event.key, None)
        else:
            units[event.key] = event.after
    return units
