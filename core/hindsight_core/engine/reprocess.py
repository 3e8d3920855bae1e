"""Making good: what an extractor could not read when it was told is read again, in place.

A memory keeps its id, its content and all it has lived through; what is known about it changes. Importance and type change
only where they are still what the rules had found, so that neither a caller's own value nor feedback is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from hindsight_core.engine import intake
from hindsight_core.engine.parts import Parts
from hindsight_core.engine.progress import track
from hindsight_core.engine.transfer import everything
from hindsight_core.ports import Extraction, Told
from hindsight_core.unit import Episode, MemoryUnit, Scope

_BATCH = 32
"""Episodes or memories per transaction: what is done stays done when a run is interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reprocessed:
    """What was made good.

    Attributes:
        episodes: Episodes that were waiting and are not any longer.
        changed: Memories about which something else is known now.
        unchanged: Memories read again to the same result.
        waiting: Episodes that still wait: the extractor failed again.
        batch: For `undo`; None when no memory changed.
    """

    episodes: int = 0
    changed: int = 0
    unchanged: int = 0
    waiting: int = 0
    batch: str | None = None

    def __add__(self, other: Reprocessed) -> Reprocessed:
        return Reprocessed(
            episodes=self.episodes + other.episodes,
            changed=self.changed + other.changed,
            unchanged=self.unchanged + other.unchanged,
            waiting=self.waiting + other.waiting,
            batch=self.batch or other.batch,
        )


def reprocess(parts: Parts, scope: Scope, now: datetime, *, full: bool, progress: bool | None) -> Reprocessed:
    """Read again what waits, and with `full` every memory of exactly this scope."""
    pending = [episode for episode in parts.store.episodes(scope) if episode.state == "pending"]
    done = Reprocessed()
    batch = parts.new_id(now)
    if parts.extractor is parts.fallback and not full:
        # The rules have read these already; they go on waiting for the extractor that could not.
        bare = [episode for episode in pending if not parts.store.units_of(scope, episode.id)]
        done, pending = Reprocessed(waiting=len(pending) - len(bare)), bare
    starts = range(0, len(pending), _BATCH)
    for start in track(starts, total=len(pending), step=_BATCH, label="reading again", show=progress):
        one = _episodes(parts, pending[start : start + _BATCH], scope, now, batch)
        done += one
        if not one.episodes:  # nothing at all went through: the model is away
            left = len(pending) - start - _BATCH
            return done + Reprocessed(waiting=max(0, left))
    if full:
        waited = {episode.id for episode in pending}
        units = [u for u in parts.store.find(everything(scope)) if u.scope == scope]
        units = [unit for unit in units if unit.source.episode not in waited]
        starts = range(0, len(units), _BATCH)
        for start in track(starts, total=len(units), step=_BATCH, label="reading again", show=progress):
            read = _read(parts, units[start : start + _BATCH])
            done += _write(parts, read, (), now, batch)
            if all(intake.waits(error) for _, _, error in read):
                break
    return done


def _episodes(
    parts: Parts, episodes: Sequence[Episode], scope: Scope, now: datetime, batch: str
) -> Reprocessed:
    held = {episode.id: parts.store.units_of(scope, episode.id) for episode in episodes}
    bare = [episode for episode in episodes if not held[episode.id]]
    encoded = intake.encode_pending(parts, bare, scope, now, batch=batch) if bare else 0
    # A memory of another episode that was only said again in this one is none of its business.
    read = _read(parts, [u for id, units in held.items() for u in units if u.source.episode == id])
    failed = {unit.source.episode for unit, _, error in read if intake.waits(error)}
    ready = [episode for episode in episodes if held[episode.id] and episode.id not in failed]
    finished = encoded + len(ready)
    done = Reprocessed(episodes=finished, waiting=len(episodes) - finished, batch=batch if encoded else None)
    return done + _write(parts, read, ready, now, batch)


def _read(parts: Parts, units: Sequence[MemoryUnit]) -> list[tuple[MemoryUnit, Extraction, Exception | None]]:
    asked = [(unit.content, intake.context_of(parts, Told.by(unit))) for unit in units]
    found = intake.extracted(parts, asked)
    return [(unit, result, error) for unit, (result, error) in zip(units, found, strict=True)]


def _write(
    parts: Parts,
    read: Sequence[tuple[MemoryUnit, Extraction, Exception | None]],
    ready: Sequence[Episode],
    now: datetime,
    batch: str,
) -> Reprocessed:
    """Store what was found, unless the memory was changed meanwhile; `ready` episodes wait no longer."""
    changed = unchanged = 0
    with parts.store.write(actor="reprocess", batch=batch, now=now) as tx:
        for unit, found, error in read:
            current = tx.get(unit.key)
            if intake.waits(error) or current is None or current.content != unit.content:
                continue
            # Where the answer cannot be used, what an earlier one gave stands.
            better = current if error else replace(current, **_findings(parts, current, found))
            if better == current:
                unchanged += 1
            else:
                tx.put(better, None, reason="read again")
                changed += 1
        for episode in ready:
            tx.put_episode(replace(episode, state="encoded", given={}))
    return Reprocessed(changed=changed, unchanged=unchanged, batch=batch if changed else None)


def _findings(parts: Parts, unit: MemoryUnit, found: Extraction) -> dict[str, Any]:
    fields: dict[str, Any] = {"summary": found.summary, "entities": found.entities}
    rules = parts.fallback.extract(unit.content, intake.context_of(parts, Told.by(unit)))
    if unit.importance == rules.importance:
        fields["importance"] = found.importance
        if unit.weight == unit.importance:  # never used, never faded
            fields["weight"] = found.importance
    if unit.memory_type is rules.memory_type:
        fields["memory_type"] = found.memory_type
    return fields
