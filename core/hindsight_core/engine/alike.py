"""Which memories say the same as another, for a sweep: found by nearness, decided by `consolidate`, then a plan.

The heavier one stays. Taken from the heaviest downwards, a memory is merged into the heaviest one that says the same
and stays itself; so nothing is merged into what is merged away, and once the plan is carried out there is nothing left
to merge. A memory's nearest may all be on their way out and hide others; then it is compared again with those that stay.

Vectors are copied from the store block by block, each under a short lock, and compared outside of it: recalls go on
meanwhile, memory is bounded by the blocks, and a product of two blocks costs a fraction of as many single scans.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from time import sleep
from typing import Any

import numpy as np

from hindsight_core.consolidate import Verdict
from hindsight_core.embedding import Calibration, calibrate, uncalibrate
from hindsight_core.engine.parts import Parts
from hindsight_core.engine.settle import MOST_OCCURRENCES, joinable
from hindsight_core.engine.verdicts import verdict_on
from hindsight_core.forget import Fate, Step
from hindsight_core.ports import Floats, Ints, Told, Visibility, Vital
from hindsight_core.strength import weight_now
from hindsight_core.unit import Key, MemoryUnit, Scope, Status

MERGE_ABOVE = 0.90
"""Calibrated similarity from which a sweep looks whether two memories say the same."""
_NEAREST = 4
_BLOCK = 1024
"""Vectors copied in one reading: a few milliseconds."""
_HELD = 16
"""Blocks that are held while all others pass by."""
_ROWS = 512
"""Vectors multiplied with a block at a time."""
_SLACK = 1e-5
"""More than single precision can err by, for vectors of length 1."""
_READ = 256
"""Memories read at a time."""
_BREATH = 0.001
"""Seconds of rest between two readings: a lock let go and taken again at once leaves no chance to those who wait."""

Near = dict[Key, list[tuple[Key, float]]]


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
    into = dict[Key, Key]()
    while looked_at:
        near: Near = {}
        others = _by_scope([key for key in staying if key not in into])
        for scope, keys in _by_scope(looked_at).items():
            near |= _nearest(parts, parts.calibration, scope, keys, others.get(scope, []), now)
        _judge(parts, near, found)
        into = found.merged()
        looked_at = [
            key for key, its in near.items()
            if key not in into and len(its) == _NEAREST and any(other in into for other, _ in its)
        ]  # fmt: skip
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


def _nearest(
    parts: Parts,
    calibration: Calibration,
    scope: Scope,
    keys: Sequence[Key],
    others: Sequence[Key],
    now: datetime,
) -> Near:
    """For each memory the nearest others, nearest first, with their calibrated similarity; only those near enough."""
    least = uncalibrate(MERGE_ABOVE, calibration.passage)
    found: Near = {}
    blocks = _vectors(parts, scope, keys, now)
    while held := list(islice(blocks, _HELD)):
        mine = [key for block, _ in held for key in block]
        queries = np.concatenate([vectors for _, vectors in held])
        place = {key: at for at, key in enumerate(mine)}
        best: list[list[tuple[float, Key]]] = [[] for _ in mine]
        for theirs, vectors in _vectors(parts, scope, others, now):
            own = [(place[key], at) for at, key in enumerate(theirs) if key in place]
            for start in range(0, len(mine), _ROWS):
                cosines = queries[start : start + _ROWS] @ vectors.T
                for row, at in own:
                    if start <= row < start + _ROWS:
                        cosines[row - start, at] = -1.0
                for row in np.flatnonzero((cosines >= least - _SLACK).any(axis=1)).tolist():
                    near = _few(cosines[row], least)
                    exact = np.einsum("ij,j->i", vectors[near], queries[start + row])
                    more = [
                        (cosine, theirs[at]) for cosine, at in zip(exact.tolist(), near.tolist(), strict=True)
                    ]
                    close = [one for one in (*best[start + row], *more) if one[0] >= least]
                    best[start + row] = sorted(close, key=lambda one: (-one[0], one[1]))[:_NEAREST]
        for key, its in zip(mine, best, strict=True):
            found[key] = [(other, float(calibrate(cosine, calibration.passage))) for cosine, other in its]
    return found


def _few(cosines: Floats, least: float) -> Ints:
    """Where the nearest are, a few too many: the last digits of a product depend on where a vector lies."""
    close = np.flatnonzero(cosines >= least - _SLACK)
    if len(close) > _NEAREST:
        among = cosines[close]
        close = close[among >= np.partition(among, -_NEAREST)[-_NEAREST] - _SLACK]
    return close


def _vectors(
    parts: Parts, scope: Scope, keys: Sequence[Key], now: datetime
) -> Iterator[tuple[list[Key], Floats]]:
    """Blocks of memories with their vectors; those without one, or gone meanwhile, are left out."""
    visible = Visibility(scopes=(scope,), now=now, statuses=frozenset(Status))
    for start in range(0, len(keys), _BLOCK):
        part = keys[start : start + _BLOCK]
        if start:
            sleep(_BREATH)
        with parts.store.reading(visible) as view:
            rows = view.rows_of(part)
            vectors = view.vectors(rows[rows >= 0])
        sound = ~np.isnan(np.einsum("ij->i", vectors))
        there = [key for key, row in zip(part, rows.tolist(), strict=True) if row >= 0]
        yield [key for key, well in zip(there, sound.tolist(), strict=True) if well], vectors[sound]


def _judge(parts: Parts, near: Near, found: _Same) -> None:
    """Decide which of those that are near say the same."""
    pairs = [(key, other, similarity) for key, its in near.items() for other, similarity in its]
    for start in range(0, len(pairs), _READ):
        part = pairs[start : start + _READ]
        wanted = list(dict.fromkeys(key for one, other, _ in part for key in (one, other)))
        units = dict(zip(wanted, parts.store.get(wanted), strict=True))
        for key, its, similarity in part:
            one, other = units[key], units[its]
            if one is None or other is None or found.knows(key, its) or not joinable(one, other):
                continue
            later, earlier = (one, other) if one.seq > other.seq else (other, one)
            if verdict_on(Told.by(later), Told.by(earlier), similarity).verdict is Verdict.SAME:
                found.add(one, other)
