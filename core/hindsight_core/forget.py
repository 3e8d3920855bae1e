"""Forgetting on purpose: what a sweep would do, and why, as a pure plan.

    strength below the profile's threshold         -> archived   (not when pinned, nor at importance 0.8 and above:
                                                     explicit facts, preferences and decisions do not end by idleness)
    archived for 30 days, unread for 90, importance < 0.3 -> deleted  (the journal keeps it while its retention lasts)
    more active memories than the cap              -> archived, weakest first, important ones last, pinned never
    expired                                        -> deleted
    two that say the same                          -> merged, the heavier one stays (decided by `consolidate`, see
                                                     `engine.alike`)

The plan is a function of the memories and `now` alone: the same state gives the same plan, and once it is carried
out a second one is empty. Archiving writes the strength down anew (same value, `weight_at` = now), so an archived
memory's `weight_at` tells since when it rests. Thresholds are those of the design's origin (ORIGIN: below .1 to archive; unread for 90 days and
importance below .3 deleted).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from hindsight_core.ports import Vital
from hindsight_core.strength import DAY, weight_now
from hindsight_core.unit import Key, Status

LASTING = 0.8
"""From this importance on, idleness does not end a memory."""
SMALL = 0.3
"""Below this importance an archived memory that nobody reads is deleted."""
UNREAD_DAYS = 90.0
ARCHIVED_DAYS = 30.0
"""So long a memory stays archived, and can be brought back, before it may be deleted."""


RETENTION_DAYS = 30.0
"""So long a batch can be undone; then the journal lets go of what it holds of memories that are gone."""


class Fate(StrEnum):
    """What a sweep does with a memory."""

    ARCHIVE = "archive"
    DELETE = "delete"
    MERGE = "merge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing a sweep does.

    Attributes:
        key: To which memory.
        fate: What.
        reason: Why, in words without memory text.
        into: For a merge, the memory that stays.
    """

    key: Key
    fate: Fate
    reason: str
    into: Key | None = None


def plan(
    memories: Iterable[Vital], now: datetime, *, decay: float, archive_below: float, keep: int | None = None
) -> list[Step]:
    """What a sweep would do with each memory by itself.

    Args:
        memories: All that may be swept, in any order.
        now: The present moment.
        decay: Strength kept per day.
        archive_below: Strength below which a memory is archived.
        keep: At most so many stay active; None for no cap.

    Returns:
        Steps by (seq, id) of their memory; one per memory at most.
    """
    moment = now.timestamp()
    steps: dict[Key, Step] = {}
    active: list[tuple[bool, float, float, int, Vital]] = []
    known = sorted(memories, key=lambda m: (m.seq, m.key))
    for memory in known:
        strength = weight_now(memory.weight, moment - memory.weight_at, decay)
        unread = (moment - memory.last_read) / DAY
        if memory.expires_at is not None and memory.expires_at <= moment:
            steps[memory.key] = Step(key=memory.key, fate=Fate.DELETE, reason="expired")
        elif memory.pinned:
            continue
        elif memory.status is Status.ARCHIVED:
            rested = (moment - memory.weight_at) / DAY
            if rested >= ARCHIVED_DAYS and unread >= UNREAD_DAYS and memory.importance < SMALL:
                reason = f"archived, unread for {unread:.0f} days, importance {memory.importance:.2f} below {SMALL}"
                steps[memory.key] = Step(key=memory.key, fate=Fate.DELETE, reason=reason)
        elif memory.status is Status.ACTIVE:
            if strength < archive_below and memory.importance < LASTING:
                reason = f"strength {strength:.3f} below {archive_below:g}"
                steps[memory.key] = Step(key=memory.key, fate=Fate.ARCHIVE, reason=reason)
            elif keep is not None:
                active.append((memory.importance >= LASTING, strength, memory.importance, memory.seq, memory))
    if keep is not None:
        pinned = sum(m.pinned and m.status is Status.ACTIVE and m.key not in steps for m in known)
        surplus = max(len(active) + pinned - keep, 0)
        weakest = sorted(active, key=lambda row: (*row[:4], row[4].key))[:surplus]
        for _, strength, _, _, memory in weakest:
            reason = f"more than {keep} active memories; strength {strength:.3f} is among the least"
            steps[memory.key] = Step(key=memory.key, fate=Fate.ARCHIVE, reason=reason)
    return [steps[memory.key] for memory in known if memory.key in steps]
