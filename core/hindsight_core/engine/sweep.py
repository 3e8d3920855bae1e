"""The sweep: planned on columns, carried out in small transactions of one journal batch.

Each memory is checked again inside its transaction, so recalls and writes go on meanwhile, and what was used or
changed since is left alone. Strength is looked at anew in every sweep; whether two memories say the same only for what
changed since the last sweep of the scope, whose place in the journal the store keeps. A full sweep compares everything.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice

from hindsight_core.engine.alike import merges
from hindsight_core.engine.checks import whole
from hindsight_core.engine.lifecycle import reinstate
from hindsight_core.engine.parts import FINGERPRINT, Parts
from hindsight_core.engine.settle import joinable, joined
from hindsight_core.engine.transfer import everything
from hindsight_core.forget import RETENTION_DAYS, Fate, Step, plan
from hindsight_core.ports import Transaction, Vital
from hindsight_core.strength import weight_now
from hindsight_core.tables import html_table
from hindsight_core.unit import Key, LinkKind, MemoryUnit, Occurrence, Scope, Status

_EVENTS = 5000
"""Events of the journal looked at in one sweep for what can be let go."""
_CHUNK = 32
"""Memories changed per transaction: neither a recall nor a write waits long for one."""


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


def sweep(
    parts: Parts, scope: Scope, now: datetime, *, dry_run: bool, keep: int | None, full: bool = False
) -> Sweep:
    """Sweep a scope and all below it; see `forget.plan` for the rules.

    Args:
        parts: The engine's parts.
        scope: Which scope.
        now: The present moment.
        dry_run: Only say what would happen.
        keep: At most so many stay active.
        full: Compare everything for merging, and not only what changed since the last sweep.
    """
    if keep is not None:
        whole(keep, "keep")
    store, profile = parts.store, parts.profile
    # Read first: what changes while this sweep looks is looked at again by the next.
    position = store.position()
    vitals = store.vitals(everything(scope))
    steps = plan(vitals, now, decay=profile.decay, archive_below=profile.archive_below, keep=keep)
    leaving = {step.key for step in steps}
    mark = None if full else _mark(parts, scope)
    wanted = None if mark is None else set(store.changed(after=mark, scopes=[scope]))
    steps += merges(parts, vitals, wanted, leaving, now)
    concerned = {step.key for step in steps}
    planned = {vital.key: vital for vital in vitals if vital.key in concerned}
    steps.sort(key=lambda step: (planned[step.key].seq, step.key))
    if dry_run:
        return Sweep(steps=tuple(steps), batch=None, looked_at=len(vitals))
    batch = parts.new_id(now)
    done = _carry_out(parts, scope, steps, planned, position, batch, now)
    if position != mark:
        with store.write(actor="sweep", batch=batch, now=now) as tx:
            at = {"event": position, "embedder": store.meta().get(FINGERPRINT)}
            tx.set_meta(_mark_name(scope), json.dumps(at))
    _let_go(parts, scope, batch, now)
    return Sweep(
        steps=tuple(done),
        batch=batch if done else None,
        looked_at=len(vitals),
        skipped=len(steps) - len(done),
    )


def _let_go(parts: Parts, scope: Scope, batch: str, now: datetime) -> None:
    """Empty the journal of memories that have been gone for longer than a batch can be undone.

    The journal is gone through once, oldest events first, some thousand in one sweep; the store keeps how far.
    """
    try:
        before = now - timedelta(days=RETENTION_DAYS)
    except OverflowError:  # the calendar's first month: nothing is that old
        return
    seen = mark = int(parts.store.meta().get(_let_go_name(scope), "0"))
    gone: list[Key] = []
    for event in islice(parts.store.events(after=mark, scopes=[scope]), _EVENTS):
        if event.at >= before:
            break
        seen = event.seq
        if event.after is None and not event.erased:
            gone.append(event.key)
    if seen > mark:
        with parts.store.write(actor="sweep", batch=batch, now=now) as tx:
            tx.let_go(gone, before=before)
            tx.set_meta(_let_go_name(scope), str(seen))


def _let_go_name(scope: Scope) -> str:
    return f"let go.{json.dumps(scope, ensure_ascii=False)}"


def _mark_name(scope: Scope) -> str:
    return f"swept.{json.dumps(scope, ensure_ascii=False)}"


def _mark(parts: Parts, scope: Scope) -> int | None:
    """Up to which journal event everything has been compared, by the present embedder; None when never."""
    meta = parts.store.meta()
    held = json.loads(meta.get(_mark_name(scope), "null"))
    return held["event"] if held is not None and held["embedder"] == meta.get(FINGERPRINT) else None


def _carry_out(
    parts: Parts,
    scope: Scope,
    steps: Sequence[Step],
    planned: Mapping[Key, Vital],
    position: int,
    batch: str,
    now: datetime,
) -> list[Step]:
    """Do what was planned at a position of the journal, but for what others have changed since."""
    others: set[Key] = set()
    done: list[Step] = []
    for start in range(0, len(steps), _CHUNK):
        with parts.store.write(actor="sweep", batch=batch, now=now) as tx:
            others.update(parts.store.changed(after=position, scopes=[scope]))
            for step in steps[start : start + _CHUNK]:
                touched = step.key in others or (step.into is not None and step.into in others)
                if not touched and _do(tx, step, planned[step.key].weight_at, now, parts.profile.decay):
                    done.append(step)
            position = parts.store.position()
    return done


def _do(tx: Transaction, step: Step, weighed_at: float, now: datetime, decay: float) -> bool:
    """One step; False when the memory was used since it was planned."""
    unit = tx.get(step.key)
    if unit is None:
        return False
    if step.fate is Fate.MERGE:
        heavier = None if step.into is None else tx.get(step.into)
        if heavier is None or not joinable(heavier, unit):
            return False
        tx.put(_absorbed(heavier, unit), None, reason="took in one that says the same")
        tx.remove(unit.key, reason=step.reason)
        return True
    if abs(unit.weight_at.timestamp() - weighed_at) > 1e-3:
        return False
    if step.fate is Fate.DELETE:
        if unit.expires_at is not None and unit.expires_at <= now:
            reinstate(tx, unit)  # as when it is forgotten: what it had replaced holds again
        tx.remove(step.key, reason=step.reason)
    else:
        left = weight_now(unit.weight, (now - unit.weight_at).total_seconds(), decay)
        archived = replace(unit, status=Status.ARCHIVED, weight=left, weight_at=max(now, unit.weight_at))
        tx.put(archived, None, reason=step.reason)
    return True


def _absorbed(heavier: MemoryUnit, lighter: MemoryUnit) -> MemoryUnit:
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
        **joined(heavier, lighter),
        access_count=heavier.access_count + lighter.access_count,
        last_access=max(read, default=None),
    )
