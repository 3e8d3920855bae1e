"""Which memories say the same as another, for a sweep: found by nearness, decided by `consolidate`, then a plan.

The heavier one stays. Taken from the heaviest downwards, a memory is merged into the heaviest one that says the same
and stays itself; so nothing is merged into what is merged away, and once the plan is carried out there is nothing left
to merge. A memory's nearest may all be on their way out and hide others; then more of them are looked at.

What takes the store's reading lock is done in small parts, so that recalls go on in between.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from time import sleep
from typing import Any

import numpy as np

from hindsight_core.consolidate import Verdict
from hindsight_core.embedding import Calibration, calibrate, uncalibrate
from hindsight_core.engine.parts import Parts
from hindsight_core.engine.settle import MOST_OCCURRENCES, Neighbour, joinable, verdict
from hindsight_core.forget import Fate, Step
from hindsight_core.ports import Visibility, Vital
from hindsight_core.strength import weight_now
from hindsight_core.unit import Key, MemoryUnit, Scope, Status

MERGE_ABOVE = 0.90
"""Calibrated similarity from which a sweep looks whether two memories say the same."""
_NEAREST = 4
_COMPARED = 512
_COSINES = 1 << 20
"""Cosines computed in one reading: some milliseconds, about what a recall takes."""
_BREATH = 0.002


def merges(
    parts: Parts,
    vitals: Sequence[Vital],
    wanted: Collection[Key] | None,
    leaving: Collection[Key],
    now: datetime,
) -> list[Step]:
    """Merges among active memories, each within its own scope.

    Args:
        parts: The engine's parts.
        vitals: All memories that may be swept.
        wanted: Those to compare with all others; None for every one.
        leaving: Those that are archived or deleted anyway.
        now: The present moment.
    """
    if parts.calibration is None:
        return []
    staying = {v.key: v for v in vitals if v.status is Status.ACTIVE and v.key not in leaving}
    looked_at = list(staying) if wanted is None else [key for key in staying if key in wanted]
    found = _Same(staying, now, parts.profile.decay)
    part = min(max(_COSINES // max(len(staying), 1), 1), _COMPARED)
    top, into = _NEAREST, dict[Key, Key]()
    while looked_at:
        crowded: dict[Key, list[Key]] = {}
        for scope, keys in _by_scope(looked_at).items():
            for start in range(0, len(keys), part):
                if start:
                    sleep(_BREATH)  # a lock let go and taken again at once leaves no chance to those who wait
                crowded |= _look(parts, parts.calibration, scope, keys[start : start + part], top, found, now)
        into = found.merged()
        looked_at = [
            key for key, near in crowded.items()
            if key not in into and sum(k in staying and k not in into for k in near) < _NEAREST
        ]  # fmt: skip
        top *= 2
    return [
        Step(key=key, fate=Fate.MERGE, reason="says the same as another", into=kept)
        for key, kept in into.items()
    ]


class _Same:
    """Pairs that say the same, and what follows from them."""

    def __init__(self, staying: Mapping[Key, Vital], now: datetime, decay: float) -> None:
        self.staying = staying
        self._now = now.timestamp()
        self._decay = decay
        self._kept: set[Key] = set()
        self._pairs: dict[Key, set[Key]] = {}
        self._said: dict[Key, int] = {}
        self._metadata: dict[Key, Mapping[str, Any]] = {}

    def add(self, one: MemoryUnit, other: MemoryUnit) -> None:
        for unit, its in ((one, other), (other, one)):
            self._pairs.setdefault(unit.key, set()).add(its.key)
            self._said[unit.key], self._metadata[unit.key] = len(unit.occurrences), unit.metadata
            if unit.caller_id or unit.pinned:
                self._kept.add(unit.key)

    def knows(self, one: Key, other: Key) -> bool:
        return other in self._pairs.get(one, ())

    def merged(self) -> dict[Key, Key]:
        """What is merged into what; one that is pinned or named by the caller never is.

        As when something is told (`settle.joinable`): a memory holds a bounded number of occurrences, and metadata that
        disagree keep two apart, those it takes over on the way included.
        """

        def order(key: Key) -> tuple[bool, float, float, int, Key]:
            vital = self.staying[key]
            strength = weight_now(vital.weight, self._now - vital.weight_at, self._decay)
            return key in self._kept, strength, vital.importance, -vital.seq, key

        into: dict[Key, Key] = {}
        said, metadata = dict(self._said), dict(self._metadata)
        for key in sorted(self._pairs, key=order, reverse=True):
            if key in self._kept:
                continue
            own = metadata[key]
            for heavier in sorted(self._pairs[key], key=order, reverse=True):
                theirs = metadata[heavier]
                room = said[heavier] + said[key] < MOST_OCCURRENCES
                agree = all(own[name] == theirs[name] for name in own.keys() & theirs.keys())
                if heavier not in into and order(heavier) > order(key) and room and agree:
                    into[key] = heavier
                    said[heavier] += said[key] + 1
                    metadata[heavier] = {**own, **theirs}
                    break
        return into


def _by_scope(keys: Sequence[Key]) -> dict[Scope, list[Key]]:
    found: dict[Scope, list[Key]] = {}
    for key in keys:
        found.setdefault(key[0], []).append(key)
    return found


def _look(
    parts: Parts,
    calibration: Calibration,
    scope: Scope,
    keys: Sequence[Key],
    top: int,
    found: _Same,
    now: datetime,
) -> dict[Key, list[Key]]:
    """Compare some memories with all near them; returns those that had more near ones than were looked at, with these."""
    visible = Visibility(scopes=(scope,), now=now)
    with parts.store.reading(visible) as view:
        rows = view.rows_of(keys)
        rows = rows[rows >= 0]
        vectors = view.vectors(rows)
        sound = ~np.isnan(vectors).any(axis=1)
        rows, vectors = rows[sound], vectors[sound]
        if not len(rows):
            return {}
        least = uncalibrate(MERGE_ABOVE, calibration.passage)
        near, cosines = view.near(visible, vectors, top=top, least=least)
        close = (near >= 0) & (near != rows[:, None])
        wanted = np.unique(np.concatenate([rows[close.any(axis=1)], near[close]]))
        units = dict(zip(wanted.tolist(), view.units(wanted), strict=True))
    similar = calibrate(cosines, calibration.passage)
    for one, other, similarity in _pairs(rows.tolist(), near.tolist(), similar.tolist(), units):
        if one.scope != other.scope or found.knows(one.key, other.key):
            continue
        if one.key in found.staying and other.key in found.staying and joinable(one, other):
            later, earlier = (one, other) if one.seq > other.seq else (other, one)
            if verdict(later, Neighbour(earlier, similarity)).verdict is Verdict.SAME:
                found.add(one, other)
    return {
        units[row].key: [units[other].key for other in its]
        for row, its in zip(rows.tolist(), near.tolist(), strict=True)
        if its[-1] >= 0 and row in units
    }


def _pairs(
    rows: list[int], near: list[list[int]], similar: list[list[float]], units: Mapping[int, MemoryUnit]
) -> Iterator[tuple[MemoryUnit, MemoryUnit, float]]:
    for row, others, similarities in zip(rows, near, similar, strict=True):
        for other, similarity in zip(others, similarities, strict=True):
            if other >= 0 and other != row:
                yield units[row], units[other], similarity
