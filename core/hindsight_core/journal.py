"""The journal: every change of a unit is one event, holding the unit before and after it.

Replaying events in order rebuilds the units (`replay`); walking a batch backwards undoes it. Uses are not
events: they are aggregates, or a busy agent would write more history than memory. Nor is a link that a memory gains or
loses because the *other* end changed: a link is one fact about two memories, told by the event that made it, so
that undoing a batch does not fail because something newer was linked to what it stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from hindsight_core.unit import DIRECTED, Key, Link, MemoryUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One change of one unit.

    Attributes:
        seq: Position in the journal, counted from 1 without reuse.
        key: Which unit.
        before: The unit before, None for an insertion.
        after: The unit after, None for a removal.
        reason: Why, in a few words without memory text; that of feedback quotes the question.
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


_FEEDBACK = re.compile(r"feedback ([+-]1)(?: on: (.*))?", re.DOTALL)
_LONGEST_QUESTION = 1_000


def feedback_reason(direction: int, question: str) -> str:
    """The reason of an event by which feedback, +1 or -1, moved a unit; "" where the question is not known."""
    return f"feedback {direction:+d}" + (f" on: {question[:_LONGEST_QUESTION]}" if question else "")


def feedback_of(event: Event) -> tuple[int, str] | None:
    """The direction and the question ("" where it is not known) of an event of feedback; None for any other."""
    match = _FEEDBACK.fullmatch(event.reason) if event.actor == "feedback" else None
    return None if match is None else (int(match[1]), match[2] or "")


def replay(events: Iterable[Event]) -> dict[Key, MemoryUnit]:
    """Rebuild the units from a journal, starting from nothing; links are kept at both ends, and only between both."""
    units: dict[Key, MemoryUnit] = {}
    for event in events:
        scope, id = event.key
        old = units.pop(event.key, None)
        new = event.after
        links: set[Link] = set()
        if new is not None:
            links = {link for link in new.related_ids if (scope, link.id) in units}
            units[event.key] = replace(new, related_ids=ordered(links))
        for link in links.symmetric_difference(() if old is None else old.related_ids):
            other = units.get((scope, link.id))
            if other is not None:
                back = {mirrored(link, id)}
                kept = set(other.related_ids) | back if link in links else set(other.related_ids) - back
                units[other.key] = replace(other, related_ids=ordered(kept))
    return units


def mirrored(link: Link, id: str) -> Link:
    """The same link as the other end holds it, where `id` is this end."""
    return Link(id, link.kind, not link.outgoing if link.kind in DIRECTED else True)


def ordered(links: Iterable[Link]) -> tuple[Link, ...]:
    """Links as a store keeps them: distinct, in order of id, kind and direction."""
    return tuple(sorted(set(links), key=lambda link: (link.id, link.kind.value, link.outgoing)))
