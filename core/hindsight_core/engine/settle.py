"""Settling in: what a new memory means for those already there, and the reverse.

Runs inside the write transaction, over a view that already shows everything committed by anyone: two writers who tell the
same fact at once cannot both find nothing. Only active memories of exactly the written scope are compared. The
decision itself is `verdicts.verdict_on`, a pure function of two texts; here it is carried out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from hindsight_core.consolidate import Verdict
from hindsight_core.embedding import Calibration, calibrate, uncalibrate
from hindsight_core.engine.verdicts import Opinions, verdict_on
from hindsight_core.ports import Floats, Gist, IndexEntry, Reading, Told, Transaction, Visibility
from hindsight_core.strength import weight_now
from hindsight_core.unit import Key, Link, LinkKind, MemoryUnit, Occurrence, Scope, Status

NEAR = 6
"""Nearest memories a new one is compared with."""
LEAST = 0.3
"""Calibrated similarity below which two memories are not compared at all."""
MOST_OCCURRENCES = 32
"""Occurrences of one memory; then another begins. All of them are written again, twice to the journal, with each new
one, so that without a bound the thousandth "ok" of a chat would cost a thousand times the first."""
MAX_SIMILAR = 3
MAX_LINKS = 24
"""Links of kind SIMILAR a memory makes when it comes in, and how many links a memory may have for that to be added:
what is near everything is linked with everything otherwise."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory near a new one, with calibrated similarity."""

    gist: Gist
    similarity: float


def begin(
    view: Reading, entries: Sequence[IndexEntry], scope: Scope, now: datetime, calibration: Calibration
) -> None:
    """Let the store begin to search what is near new entries; `neighbourhood` then asks for it."""
    vectors = [entry.vector for entry in entries if entry.vector is not None]
    if vectors:
        least = uncalibrate(LEAST, calibration.passage)
        view.begin_near(Visibility(scopes=(scope,), now=now), np.stack(vectors), top=NEAR, least=least)


def neighbourhood(
    view: Reading | None,
    entries: Sequence[IndexEntry],
    scope: Scope,
    now: datetime,
    calibration: Calibration | None,
) -> list[list[Neighbour]]:
    """For each new entry the active memories of the scope that are near enough to be compared, nearest first."""
    nothing: list[list[Neighbour]] = [[] for _ in entries]
    if view is None or calibration is None:
        return nothing
    with_vector = [i for i, entry in enumerate(entries) if entry.vector is not None]
    if not with_vector:
        return nothing
    vectors = np.stack([entries[i].vector for i in with_vector])  # type: ignore[misc]
    least = uncalibrate(LEAST, calibration.passage)
    rows, cosines = view.near(Visibility(scopes=(scope,), now=now), vectors, top=NEAR, least=least)
    similar = calibrate(cosines, calibration.passage)
    wanted = np.unique(rows[rows >= 0])
    gists = dict(zip(wanted.tolist(), view.gists(wanted), strict=True))
    for place, i in enumerate(with_vector):
        for row, similarity in zip(rows[place].tolist(), similar[place].tolist(), strict=True):
            if row >= 0 and gists[row].key[0] == scope:
                nothing[i].append(Neighbour(gists[row], similarity))
    return nothing


def joinable(one: MemoryUnit, other: MemoryUnit) -> bool:
    """Whether two that say the same can be one memory without losing anything a caller asked for.

    Metadata that disagree and different ways to be found keep them apart, and so does a memory that is full.
    """
    if len(one.occurrences) + len(other.occurrences) >= MOST_OCCURRENCES:
        return False
    both = one.metadata.keys() & other.metadata.keys()
    return one.indexed is other.indexed and all(one.metadata[name] == other.metadata[name] for name in both)


def joined(one: MemoryUnit, other: MemoryUnit) -> dict[str, Any]:
    """What a memory becomes when it takes in another that says the same: the more lasting of the two."""
    ends = [unit.expires_at for unit in (one, other) if unit.expires_at is not None]
    return {
        "importance": max(one.importance, other.importance),
        "pinned": one.pinned or other.pinned,
        "expires_at": max(ends) if len(ends) == 2 else None,
        "metadata": {**other.metadata, **one.metadata},
    }


class Settler:
    """Puts new memories of one transaction, each in the light of those near it and those put before it."""

    def __init__(
        self,
        tx: Transaction,
        view: Reading | None,
        scope: Scope,
        now: datetime,
        calibration: Calibration | None,
        opinions: Opinions | None = None,
        *,
        decay: float,
    ) -> None:
        self._opinions = opinions or {}
        self._decay = decay
        self._tx = tx
        self._now = now
        self._scope = scope
        self._calibration = calibration
        self._view = view
        # Nobody else can write while this transaction is open, so what was read stays true but for its own puts.
        self._changed: dict[Key, MemoryUnit] = {}
        self._linked: Counter[str] = Counter()
        self._fresh: list[Key] = []
        self._vectors: Floats | None = None

    def prepare(self, entries: Sequence[IndexEntry]) -> list[list[Neighbour]]:
        """Neighbours of all new entries, searched in one go."""
        return neighbourhood(self._view, entries, self._scope, self._now, self._calibration)

    def settle(
        self, unit: MemoryUnit, entry: IndexEntry, near: Sequence[Neighbour], *, mergeable: bool
    ) -> MemoryUnit:
        """Put one memory.

        Args:
            unit: The new memory.
            entry: Its index entry.
            near: What `prepare` found for it.
            mergeable: Whether it may become an occurrence of another (not when the caller chose its id).

        Returns:
            The memory that now holds what was said.
        """
        if mergeable:
            for same in self._tx.repeats(unit.scope, unit.content):
                if joinable(same, unit) and (same.expires_at is None or same.expires_at > self._now):
                    return self._again(same, unit)
        links: list[Link] = []
        replaced: list[Key] = []
        overtaken: MemoryUnit | None = None
        new = Told.by(unit)
        for neighbour in self._nearest(near, entry):
            gist = neighbour.gist
            opinion = self._opinions.get((new, gist.told)) if self._opinions else None
            decision = verdict_on(new, gist.told, neighbour.similarity, opinion)
            if decision.verdict is Verdict.SAME and mergeable:
                known = self._tx.get(gist.key)
                if known is not None and joinable(known, unit):
                    return self._again(known, unit)
            if decision.verdict is Verdict.EVOLVES and decision.earlier_wins:
                overtaken = overtaken or self._tx.get(gist.key)
            elif decision.verdict is Verdict.EVOLVES:
                replaced.append(gist.key)
            elif self._links_of(gist) >= MAX_LINKS:
                continue
            elif decision.verdict is Verdict.CONTRADICTS:
                links.append(Link(gist.key[1], LinkKind.CONTRADICTS))
            elif decision.verdict in (Verdict.RELATED, Verdict.SAME) and _similar(links) < MAX_SIMILAR:
                links.append(Link(gist.key[1], LinkKind.SIMILAR))
        links += [Link(id, LinkKind.EVOLVES, outgoing=True) for _, id in replaced]
        unit = replace(unit, related_ids=(*unit.related_ids, *links))
        if overtaken is not None:
            unit = self._into_the_past(unit, overtaken)
        stored = self._put(unit, entry, "remembered")
        self._linked.update(link.id for link in links)
        since = unit.valid_from or unit.timestamp or self._now
        for old in replaced:
            current = self._tx.get(old)  # linked by the put above
            if current is not None:
                ended = replace(current, status=Status.SUPERSEDED, valid_to=current.valid_to or since)
                self._put(ended, None, "a newer value was told")
        if entry.vector is not None:
            self._remember_fresh(stored.key, entry.vector)
        return stored

    def _remember_fresh(self, key: Key, vector: Floats) -> None:
        count = len(self._fresh)
        if self._vectors is None:
            self._vectors = np.empty((16, len(vector)), dtype=np.float32)
        elif count == len(self._vectors):
            self._vectors = np.concatenate([self._vectors, np.empty_like(self._vectors)])
        self._vectors[count] = vector
        self._fresh.append(key)

    def _links_of(self, gist: Gist) -> int:
        """Links it had when it was read, and those made to it since in this transaction."""
        return gist.links + self._linked[gist.key[1]]

    def _put(self, unit: MemoryUnit, entry: IndexEntry | None, reason: str) -> MemoryUnit:
        stored = self._tx.put(unit, entry, reason=reason)
        self._changed[stored.key] = stored
        return stored

    def _nearest(self, near: Sequence[Neighbour], entry: IndexEntry) -> list[Neighbour]:
        both = self._present([*near, *self._among_fresh(entry)])
        return sorted(both, key=lambda one: -one.similarity)[:NEAR]

    def _present(self, near: Sequence[Neighbour]) -> list[Neighbour]:
        """The neighbours as they stand now, still active; those of this transaction may have changed them."""
        present = []
        for one in near:
            changed = self._changed.get(one.gist.key)
            if changed is None:
                present.append(one)
            elif changed.status is Status.ACTIVE:
                present.append(Neighbour(Gist.of(changed), one.similarity))
        return present

    def _among_fresh(self, entry: IndexEntry) -> list[Neighbour]:
        """Memories put earlier in this transaction that are near."""
        if entry.vector is None or self._calibration is None or self._vectors is None:
            return []
        similar = calibrate(self._vectors[: len(self._fresh)] @ entry.vector, self._calibration.passage)
        best = [i for i in np.argsort(-similar, kind="stable")[:NEAR] if similar[i] >= LEAST]
        return [Neighbour(Gist.of(self._changed[self._fresh[i]]), float(similar[i])) for i in best]

    def _again(self, old: MemoryUnit, new: MemoryUnit) -> MemoryUnit:
        """The existing memory was said once more: it gains an occurrence; id, content and life stay.

        It is at least as strong as if it had been told now for the first time, and no stronger: said twenty times in an
        hour it is worth what it was worth the first time.
        """
        held = weight_now(old.weight, (self._now - old.weight_at).total_seconds(), self._decay)
        strength: dict[str, Any] = {"weight": new.weight, "weight_at": self._now} if held < new.weight else {}
        occurrence = Occurrence(
            source=new.source,
            timestamp=new.timestamp,
            recorded_at=new.recorded_at,
            text=new.content if new.content != old.content else None,
        )
        said = replace(old, occurrences=(*old.occurrences, occurrence), **joined(old, new), **strength)
        return self._put(said, None, "said again")

    def _into_the_past(self, unit: MemoryUnit, newer: MemoryUnit) -> MemoryUnit:
        """An older value told later: it takes its place before the newer one, which stays current.

        Where the newer one had a still older predecessor, the new memory comes between the two.
        """
        told = unit.timestamp
        ends = newer.valid_from or newer.timestamp or self._now
        earlier: MemoryUnit | None = None
        for link in newer.related_ids:
            if link.kind is LinkKind.EVOLVES and link.outgoing:
                past = self._tx.get((unit.scope, link.id))
                if (
                    past is None
                    or past.status is not Status.SUPERSEDED
                    or past.timestamp is None
                    or told is None
                ):
                    continue
                if past.timestamp >= told:
                    return self._into_the_past(unit, past)
                if earlier is None or past.timestamp > (earlier.timestamp or past.timestamp):
                    earlier = past
        links = [*unit.related_ids, Link(newer.id, LinkKind.EVOLVES, outgoing=False)]
        if earlier is not None and told is not None:
            links.append(Link(earlier.id, LinkKind.EVOLVES, outgoing=True))
            self._put(replace(earlier, valid_to=told), None, "an older value was told later")
        return replace(unit, related_ids=tuple(links), status=Status.SUPERSEDED, valid_to=ends)


def _similar(links: Sequence[Link]) -> int:
    return sum(link.kind is LinkKind.SIMILAR for link in links)
