"""The verdict on two statements: same, evolved, contradicting, related, or nothing to do with each other."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from hindsight_core.consolidate.change import replaces
from hindsight_core.consolidate.lexicon import word_set
from hindsight_core.consolidate.marks import Mark
from hindsight_core.consolidate.same import repeats
from hindsight_core.consolidate.statement import Fact, Statement

RELATED_FROM = 0.5


class Verdict(StrEnum):
    SAME = "same"
    EVOLVES = "evolves"
    CONTRADICTS = "contradicts"
    RELATED = "related"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class Decision:
    verdict: Verdict
    reason: str
    earlier_wins: bool = False


_MACHINES = word_set("assistant ai bot system agent model")


def decide(new: Statement, old: Statement, *, similarity: float | None, new_time: datetime | None, old_time: datetime | None, new_seq: int, old_seq: int) -> Decision:
    backwards = new_time < old_time if new_time and old_time and new_time != old_time else new_seq < old_seq
    later, earlier = (old, new) if backwards else (new, old)
    if reason := repeats(new, old, similarity):
        return Decision(Verdict.SAME, reason)
    verdict, reason = _compare(later, earlier)
    if verdict is Verdict.NEW:
        verdict, reason = _related(new, old, similarity)
    return Decision(verdict, reason, backwards and verdict is Verdict.EVOLVES)


def _compare(later: Statement, earlier: Statement) -> tuple[Verdict, str]:
    best = Verdict.NEW, ""
    apart = later.speaker != earlier.speaker and later.speaker is not None and earlier.speaker is not None
    if apart and later.speaker in _MACHINES:
        return best
    record = later.speaker is None and earlier.speaker is None
    for told in earlier.facts:
        for fact in later.facts + later.pairs:
            if apart and (fact.first or told.first):
                continue
            found = replaces(fact, told, record=record)
            if found is None:
                continue
            replaced, reason = found
            if replaced and _whole(told, earlier):
                return Verdict.EVOLVES, reason
            best = (Verdict.RELATED, f"replaces a part of it: {reason}") if replaced else (Verdict.CONTRADICTS, reason)
    return best


def _whole(told: Fact, earlier: Statement) -> bool:
    return earlier.whole and not earlier.marks & Mark.ASKS and len(earlier.keys - told.keys) <= 2


def _related(new: Statement, old: Statement, similarity: float | None) -> tuple[Verdict, str]:
    if similarity is not None and similarity >= RELATED_FROM:
        return Verdict.RELATED, "similar"
    if len(new.keys & old.keys) >= 2:
        return Verdict.RELATED, "shared words"
    return Verdict.NEW, ""
