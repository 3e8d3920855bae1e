"""The later life of memories: undoing a batch, the timeline of a fact, and what an end does to what came before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from hindsight_core.engine.parts import Parts
from hindsight_core.errors import NotFound
from hindsight_core.forget import RETENTION_DAYS
from hindsight_core.journal import Event, mirrored, ordered
from hindsight_core.ports import Transaction
from hindsight_core.unit import Key, Link, LinkKind, MemoryUnit, Scope, Status, Units


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What an undo did.

    Attributes:
        restored: Memories brought back to what they were before the batch.
        skipped: Memories left as they are, with the reason: changed since, or erased.
        batch: The batch of the undo itself.
    """

    restored: tuple[Key, ...]
    skipped: tuple[tuple[Key, str], ...]
    batch: str


# -- undo --------------------------------------------------------------------------------------------------------


def undo(parts: Parts, scope: Scope, batch: str, now: datetime) -> Undone:
    """Bring back what a batch changed in a scope and below.

    Raises:
        NotFound: No batch of that name changed anything in the written scope, or it is too long ago.
    """
    changes: dict[Key, list[Event]] = {}
    for event in parts.store.events(batch=batch, scopes=[scope]):
        changes.setdefault(event.key, []).append(event)
    if not changes:
        raise NotFound("no batch of that name in the scope this handle writes")
    ended = max(events[-1].at for events in changes.values())
    if now - ended > timedelta(days=RETENTION_DAYS):
        raise NotFound(f"that batch is more than {RETENTION_DAYS:.0f} days old and can no longer be undone")
    restored: list[Key] = []
    skipped: list[tuple[Key, str]] = []
    name = parts.new_id(now)
    with parts.store.write(actor="undo", batch=name, now=now) as tx:
        back: dict[Key, MemoryUnit | None] = {}
        for key, events in changes.items():
            before, after, current = events[0].before, events[-1].after, tx.get(key)
            if any(event.erased for event in events):
                skipped.append((key, "erased"))
            elif not _as_left(current, after):
                skipped.append((key, "changed since"))
            elif before is not None or current is not None:
                back[key] = _with_uses(before, current)
        for key in [key for key in back if _still_replaced(tx.get(key), back)]:
            skipped.append((key, "what replaced it has changed since"))
            del back[key]
        links = _links_back(tx, changes, back)
        # Memories return before links to them do.
        for key, unit in back.items():
            if unit is None:
                tx.remove(key, reason="undone")
            else:
                tx.put(replace(unit, related_ids=links[key]), None, reason="undone")
            restored.append(key)
        _clear_episodes(parts, tx, changes, {key for key, unit in back.items() if unit is None})
        for key in links:
            current = tx.get(key)
            if current is not None and set(current.related_ids) != set(links[key]):
                tx.put(replace(current, related_ids=links[key]), None, reason="links undone")
    return Undone(restored=tuple(restored), skipped=tuple(skipped), batch=name)


def _still_replaced(current: MemoryUnit | None, back: dict[Key, MemoryUnit | None]) -> bool:
    """Whether a memory would hold again although a successor of it stays."""
    if current is None or current.status is not Status.SUPERSEDED:
        return False
    before = back[current.key]
    successors = [
        link.id for link in current.related_ids if link.kind is LinkKind.EVOLVES and not link.outgoing
    ]
    return (
        before is not None
        and before.status is Status.ACTIVE
        and any((current.scope, id) not in back for id in successors)
    )


def _links_back(
    tx: Transaction, changes: dict[Key, list[Event]], back: dict[Key, MemoryUnit | None]
) -> dict[Key, tuple[Link, ...]]:
    """The links of the memories that return: those of before, and those made since by others.

    A link is journalled at the end that was put; the other end's next event shows it as well. So of two memories of one
    batch the one that changed first knows whether they had been linked before.
    """
    place = {key: i for i, key in enumerate(changes)}
    links: dict[Key, set[Link]] = {key: set() for key, unit in back.items() if unit is not None}
    for key in links:
        scope, id = key
        before, after, current = changes[key][0].before, changes[key][-1].after, tx.get(key)
        had = set() if before is None else set(before.related_ids)
        left = set() if after is None else set(after.related_ids)
        since = (set() if current is None else set(current.related_ids)) - left
        for link in (*had, *since):
            other = (scope, link.id)
            if other not in back or (link in had and place[key] < place[other]):
                links[key].add(link)
                if other in links:
                    links[other].add(mirrored(link, id))
    return {key: ordered(found) for key, found in links.items()}


def _clear_episodes(parts: Parts, tx: Transaction, changes: dict[Key, list[Event]], gone: set[Key]) -> None:
    """Episodes none of whose memories is left may be told again."""
    told: dict[tuple[Scope, str], None] = {}
    for key in gone:
        left = changes[key][-1].after
        if left is not None and left.source.episode is not None:
            told[(left.scope, left.source.episode)] = None
    for scope, id in told:
        if not tx.units_of(scope, id):
            for episode in parts.store.episodes(scope, [id]):
                tx.put_episode(replace(episode, state="cleared"))


def _as_left(current: MemoryUnit | None, left: MemoryUnit | None) -> bool:
    """Whether a memory still is what the batch left, uses and links apart: those come from elsewhere."""
    if current is None or left is None:
        return current is left
    return _bare(current) == _bare(left)


def _bare(unit: MemoryUnit) -> MemoryUnit:
    return replace(
        unit, weight=0.0, weight_at=unit.recorded_at, last_access=None, access_count=0, related_ids=(), seq=0
    )


def _with_uses(before: MemoryUnit | None, current: MemoryUnit | None) -> MemoryUnit | None:
    """What it was before, with the uses it had since, if it was there to be used."""
    if before is None or current is None or current.access_count <= before.access_count:
        return before
    return replace(
        before,
        weight=current.weight,
        weight_at=current.weight_at,
        last_access=current.last_access,
        access_count=current.access_count,
    )


# -- history -----------------------------------------------------------------------------------------------------


def history(parts: Parts, unit: MemoryUnit) -> Units:
    """All values a fact has had, oldest first: whatever is joined with a memory by EVOLVES links."""
    found = {unit.key: unit}
    frontier = [unit]
    while frontier:
        linked: list[Key] = []
        for one in frontier:
            evolving: list[Link] = [link for link in one.related_ids if link.kind is LinkKind.EVOLVES]
            linked += [(one.scope, link.id) for link in evolving if (one.scope, link.id) not in found]
        frontier = [other for other in parts.store.get(list(dict.fromkeys(linked))) if other is not None]
        found |= {other.key: other for other in frontier}
    return Units(sorted(found.values(), key=lambda u: (u.valid_from or u.timestamp or u.recorded_at, u.seq)))


def reinstate(tx: Transaction, gone: MemoryUnit) -> None:
    """A successor is about to be gone for good: what it had replaced holds again, unless something else replaces it."""
    for link in gone.related_ids:
        if link.kind is not LinkKind.EVOLVES or not link.outgoing:
            continue
        past = tx.get((gone.scope, link.id))
        if past is None or past.status is not Status.SUPERSEDED:
            continue
        others = [
            other for other in past.related_ids
            if other.kind is LinkKind.EVOLVES and not other.outgoing and other.id != gone.id
        ]  # fmt: skip
        if not others:
            # A superseded link in the middle of a chain hands its end over to what came after it.
            later = [o for o in gone.related_ids if o.kind is LinkKind.EVOLVES and not o.outgoing]
            if gone.status is Status.SUPERSEDED and later:
                bridged = (*past.related_ids, *(Link(o.id, LinkKind.EVOLVES, outgoing=False) for o in later))
                tx.put(
                    replace(past, valid_to=gone.valid_to, related_ids=bridged),
                    None,
                    reason="its successor is gone",
                )
            else:
                tx.put(
                    replace(past, status=Status.ACTIVE, valid_to=None), None, reason="its successor is gone"
                )
