"""The later life of memories: the sweep, undoing a batch, and the timeline of a fact.

A sweep is planned on columns (`forget.plan`), carried out in small transactions of one journal batch, each memory
checked again inside its transaction, so recalls go on meanwhile and what was used or changed since is left alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from hindsight_core.consolidate import Verdict
from hindsight_core.embedding import calibrate, uncalibrate
from hindsight_core.engine.parts import Parts
from hindsight_core.engine.settle import Neighbour, verdict
from hindsight_core.engine.transfer import everything
from hindsight_core.errors import InvalidInput, NotFound
from hindsight_core.forget import Fate, Step, plan
from hindsight_core.journal import Event
from hindsight_core.ports import Transaction, Visibility, Vital
from hindsight_core.strength import weight_now
from hindsight_core.tables import html_table
from hindsight_core.unit import Key, Link, LinkKind, MemoryUnit, Occurrence, Scope, Status, Units

MERGE_ABOVE = 0.90
"""Calibrated similarity from which a sweep looks whether two memories say the same."""
_CHUNK = 64
"""Memories changed per transaction: a recall never waits long for one."""
_COMPARED = 512
_NEAREST = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """What a sweep did, or would do.

    Attributes:
        steps: Every step with its reason, in order.
        batch: Name of the journal batch, for `undo`; None for a dry run or when there was nothing to do.
        looked_at: How many memories were considered.
        skipped: Steps not carried out because the memory had changed meanwhile.
    """

    steps: tuple[Step, ...]
    batch: str | None
    looked_at: int
    skipped: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """Number of steps by fate."""
        return dict(Counter(step.fate.value for step in self.steps))

    def _repr_html_(self) -> str:
        return html_table(("memory", "fate", "reason"), ((s.key[1], s.fate, s.reason) for s in self.steps))


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


# -- sweep -------------------------------------------------------------------------------------------------------


def sweep(
    parts: Parts, scope: Scope, now: datetime, *, dry_run: bool, keep: int | None, since: int | None = None
) -> Sweep:
    """Sweep a scope and all below it; see `forget.plan` for the rules.

    Args:
        parts: The engine's parts.
        scope: Which scope.
        now: The present moment.
        dry_run: Only say what would happen.
        keep: At most so many stay active.
        since: Compare for merging only what changed after this journal event; None compares everything.
    """
    if keep is not None and (isinstance(keep, bool) or not isinstance(keep, int) or keep < 0):
        raise InvalidInput(f"keep must be a whole number from 0 or None, not {keep!r}")
    vitals = list(parts.store.vitals(everything(scope)))
    profile = parts.profile
    steps = plan(vitals, now, decay=profile.decay, archive_below=profile.archive_below, keep=keep)
    leaving = {step.key for step in steps}
    merges = list(_merges(parts, scope, vitals, leaving, now, since))
    steps = sorted([*steps, *merges], key=_order(vitals))
    if dry_run or not steps:
        return Sweep(steps=tuple(steps), batch=None, looked_at=len(vitals))
    batch = parts.new_id(now)
    planned = {vital.key: vital for vital in vitals}
    done: list[Step] = []
    for start in range(0, len(steps), _CHUNK):
        with parts.store.write(actor="sweep", batch=batch, now=now) as tx:
            for step in steps[start : start + _CHUNK]:
                if _carry_out(tx, step, planned, now, profile.decay):
                    done.append(step)
    return Sweep(
        steps=tuple(done),
        batch=batch if done else None,
        looked_at=len(vitals),
        skipped=len(steps) - len(done),
    )


def _order(vitals: Sequence[Vital]) -> Callable[[Step], tuple[int, Key]]:
    arrival = {vital.key: vital.seq for vital in vitals}
    return lambda step: (arrival[step.key], step.key)


def _unchanged(unit: MemoryUnit, planned: Vital) -> bool:
    return (
        unit.status is planned.status
        and unit.pinned is planned.pinned
        and abs(unit.weight_at.timestamp() - planned.weight_at) < 1e-3
        and abs(unit.importance - planned.importance) < 1e-9
    )


def _carry_out(tx: Transaction, step: Step, planned: dict[Key, Vital], now: datetime, decay: float) -> bool:
    unit = tx.get(step.key)
    if unit is None or not _unchanged(unit, planned[step.key]):
        return False
    if step.fate is Fate.DELETE:
        tx.remove(step.key, reason=step.reason)
    elif step.fate is Fate.ARCHIVE:
        left = weight_now(unit.weight, (now - unit.weight_at).total_seconds(), decay)
        archived = replace(unit, status=Status.ARCHIVED, weight=left, weight_at=max(now, unit.weight_at))
        tx.put(archived, None, reason=step.reason)
    else:
        assert step.into is not None
        heavier = tx.get(step.into)
        if heavier is None or not _unchanged(heavier, planned[step.into]):
            return False
        tx.put(_absorbed(heavier, unit, now), None, reason="took in one that says the same")
        tx.remove(unit.key, reason=step.reason)
    return True


def _absorbed(heavier: MemoryUnit, lighter: MemoryUnit, now: datetime) -> MemoryUnit:
    """The heavier memory with everything of the lighter one that is not already in it."""
    said = Occurrence(
        source=lighter.source,
        timestamp=lighter.timestamp,
        recorded_at=lighter.recorded_at,
        text=lighter.content if lighter.content != heavier.content else None,
    )
    names = {entity.key for entity in heavier.entities}
    links = [
        link for link in lighter.related_ids if link.id != heavier.id and link.kind is not LinkKind.SIMILAR
    ]
    read = [at for at in (heavier.last_access, lighter.last_access) if at is not None]
    return replace(
        heavier,
        occurrences=(*heavier.occurrences, said, *lighter.occurrences),
        entities=(*heavier.entities, *(e for e in lighter.entities if e.key not in names)),
        related_ids=(*(link for link in heavier.related_ids if link.id != lighter.id), *links),
        importance=max(heavier.importance, lighter.importance),
        access_count=heavier.access_count + lighter.access_count,
        last_access=max(read, default=None),
    )


def _merges(
    parts: Parts, scope: Scope, vitals: Sequence[Vital], leaving: set[Key], now: datetime, since: int | None
) -> Iterator[Step]:
    """Pairs of active memories of one scope that say the same; the heavier one stays."""
    if parts.calibration is None:
        return
    strength = {
        v.key: weight_now(v.weight, now.timestamp() - v.weight_at, parts.profile.decay) for v in vitals
    }
    staying = [v for v in vitals if v.status is Status.ACTIVE and v.key not in leaving]
    if since is not None:
        changed = {event.key for event in parts.store.events(after=since, scopes=[scope])}
        staying = [v for v in staying if v.key in changed]
    gone: set[Key] = set()
    by_scope: dict[Scope, list[Key]] = {}
    for vital in staying:
        by_scope.setdefault(vital.key[0], []).append(vital.key)
    for below, keys in by_scope.items():
        for start in range(0, len(keys), _COMPARED):
            for one, other in _alike(parts, below, keys[start : start + _COMPARED], now):
                if one.key in gone or other.key in gone or one.key in leaving or other.key in leaving:
                    continue
                lighter, heavier = sorted((one, other), key=lambda u: (strength[u.key], u.importance, -u.seq))
                if lighter.caller_id or lighter.pinned:
                    lighter, heavier = heavier, lighter
                if lighter.caller_id or lighter.pinned:
                    continue
                gone.add(lighter.key)
                yield Step(
                    key=lighter.key, fate=Fate.MERGE, reason="says the same as another", into=heavier.key
                )


def _alike(
    parts: Parts, scope: Scope, keys: Sequence[Key], now: datetime
) -> Iterator[tuple[MemoryUnit, MemoryUnit]]:
    assert parts.calibration is not None
    visible = Visibility(scopes=(scope,), now=now)
    with parts.store.reading(visible) as view:
        rows = view.rows_of(keys)
        rows = rows[rows >= 0]
        vectors = view.vectors(rows)
        sound = ~np.isnan(vectors).any(axis=1)
        rows, vectors = rows[sound], vectors[sound]
        if not len(rows):
            return
        least = uncalibrate(MERGE_ABOVE, parts.calibration.passage)
        near, cosines = view.near(visible, vectors, top=_NEAREST, least=least)
        similar = calibrate(cosines, parts.calibration.passage)
        close = (near >= 0) & (near != rows[:, None])
        wanted = np.unique(np.concatenate([rows[close.any(axis=1)], near[close]]))
        units = dict(zip(wanted.tolist(), view.units(wanted), strict=True))
    for i, j in zip(*np.nonzero(close), strict=True):
        one, other = units[int(rows[i])], units[int(near[i, j])]
        if one.scope == other.scope and one.status is other.status is Status.ACTIVE:
            later, earlier = sorted((one, other), key=lambda u: u.seq, reverse=True)
            if verdict(later, Neighbour(earlier, float(similar[i, j]))).verdict is Verdict.SAME:
                yield one, other


# -- undo --------------------------------------------------------------------------------------------------------


def undo(parts: Parts, scope: Scope, batch: str, now: datetime) -> Undone:
    """Bring back what a batch changed in a scope and below.

    Raises:
        NotFound: No batch of that name changed anything in the written scope.
    """
    changes: dict[Key, list[Event]] = {}
    for event in parts.store.events(batch=batch, scopes=[scope]):
        changes.setdefault(event.key, []).append(event)
    if not changes:
        raise NotFound("no batch of that name in the scope this handle writes")
    restored: list[Key] = []
    skipped: list[tuple[Key, str]] = []
    name = parts.new_id(now)
    with parts.store.write(actor="undo", batch=name, now=now) as tx:
        back: list[tuple[Key, MemoryUnit | None]] = []
        for key, events in changes.items():
            before, after, current = events[0].before, events[-1].after, tx.get(key)
            if any(event.erased for event in events):
                skipped.append((key, "erased"))
            elif not _as_left(current, after):
                skipped.append((key, "changed since"))
            elif before is not None or current is not None:
                back.append((key, _with_uses(before, current)))
        # Memories return before links to them do.
        for key, unit in back:
            if unit is None:
                tx.remove(key, reason="undone")
            else:
                tx.put(unit, None, reason="undone")
            restored.append(key)
        for key, unit in back:
            current = tx.get(key)
            if unit is not None and current is not None and set(current.related_ids) != set(unit.related_ids):
                tx.put(replace(current, related_ids=unit.related_ids), None, reason="links undone")
    return Undone(restored=tuple(restored), skipped=tuple(skipped), batch=name)


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
