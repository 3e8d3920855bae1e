"""The verdict on two statements: same, evolved, contradicting, related, or nothing to do with each other.

Precision before recall: what evolves is hidden from now on, so a statement is superseded only when what it states as a
whole is replaced. A long turn that is met in part, and a turn that also asks for something, stay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from hindsight_core.consolidate.change import replaces
from hindsight_core.consolidate.doubt import doubtful
from hindsight_core.consolidate.lexicon import word_set
from hindsight_core.consolidate.marks import Mark
from hindsight_core.consolidate.same import repeats
from hindsight_core.consolidate.statement import Fact, Statement

RELATED_FROM = 0.5
"""Calibrated similarity from which two statements are worth a link."""
_SHARED_KEYS = 2
_BESIDES = 2
"""So many words an earlier statement may hold beyond the fact that is replaced."""
_UNMET = 3
"""So many topics of it, or a third of them, may the later statement leave unmentioned."""
_NEAR_RECORDS = 0.5
"""Passages of documents share words and signs of change with whatever is about the same field; what one of them replaces lies
nearer than this. (Of what one person says again, a third lies farther.)"""
_FEW = 4
"""Texts of so many sentences together are short enough to contradict each other as a whole."""
_SIGN = Mark.ENDED | Mark.CHANGED | Mark.NOW | Mark.LASTS
MACHINES = word_set("assistant ai bot system agent model")
"""Speakers who explain and repeat; what they say changes nobody's facts."""


class Verdict(StrEnum):
    """What a new statement means for an older one."""

    SAME = "same"
    EVOLVES = "evolves"
    CONTRADICTS = "contradicts"
    RELATED = "related"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict.

    Attributes:
        verdict: The verdict.
        reason: Why, in a few words without memory text.
        earlier_wins: The new statement is the older one: it takes its place in the timeline as history, and what
            was stored stays current. Only with EVOLVES, or partly.
        partly: The later statement replaces a part of the earlier one, which stays. Only with RELATED.
    """

    verdict: Verdict
    reason: str
    earlier_wins: bool = False
    partly: bool = False


def decide(
    new: Statement,
    old: Statement,
    *,
    similarity: float | None,
    new_time: datetime | None,
    old_time: datetime | None,
    arrived_later: bool = True,
) -> Decision:
    """Decide what a new statement means for a stored one.

    Args:
        new: The new statement.
        old: The stored one.
        similarity: Their calibrated similarity (cosine less background, 0..1); None without an embedder.
        new_time: When the new one was said (aware); None = undated.
        old_time: When the stored one was said (aware); None = undated.
        arrived_later: Whether `new` also arrived after `old`; decides where times are equal or missing.
    """
    if reason := repeats(new, old, similarity):
        return Decision(Verdict.SAME, reason)
    ordered = new_time is not None and old_time is not None and new_time != old_time
    is_later = new_time > old_time if ordered and new_time and old_time else arrived_later
    later, earlier = (new, old) if is_later else (old, new)
    decision = _compare(later, earlier)
    if decision is None:
        return _related(new, old, similarity)
    if decision.verdict is Verdict.EVOLVES and (_far(new, old, similarity) or doubtful(later, earlier)):
        return Decision(Verdict.RELATED, "in doubt both stay")
    if (
        decision.verdict is Verdict.EVOLVES
        and (new_time is None) != (old_time is None)
        and not later.marks & _SIGN
    ):
        return Decision(Verdict.CONTRADICTS, "two values, and no telling which is later")
    ordered = decision.verdict is Verdict.EVOLVES or decision.partly
    return replace(decision, earlier_wins=True) if ordered and not is_later else decision


def _compare(later: Statement, earlier: Statement) -> Decision | None:
    apart = later.speaker != earlier.speaker and later.speaker is not None and earlier.speaker is not None
    by_machine = later.speaker in MACHINES
    if by_machine and (apart or len(later.facts) > 2):  # what an assistant explains changes no fact
        return None
    record = later.speaker is None and earlier.speaker is None
    found: Decision | None = None
    for told in earlier.facts:
        for fact in later.facts + later.pairs:
            if apart and (fact.first or told.first):
                continue
            finding = replaces(fact, told, record=record)
            if finding is None:
                continue
            replaced, reason = finding
            if apart and not later.marks & _SIGN:  # two people, two values, and nobody says that it changed
                replaced = False
            if replaced and _whole(told, earlier) and _met(later, earlier):
                return Decision(Verdict.EVOLVES, reason)
            if replaced:
                found = Decision(Verdict.RELATED, f"replaces a part: {reason}", partly=True)
            elif len(later.facts) + len(earlier.facts) <= _FEW:
                found = Decision(Verdict.CONTRADICTS, reason)
    return found


def _far(new: Statement, old: Statement, similarity: float | None) -> bool:
    """Whether two texts that are not the same person's lie too far apart to be about one thing."""
    personal = new.speaker is not None and new.speaker == old.speaker
    return not personal and similarity is not None and similarity < _NEAR_RECORDS


def _whole(told: Fact, earlier: Statement) -> bool:
    """Whether a fact is all that a statement says."""
    if not earlier.whole or earlier.marks & Mark.ASKS or len(earlier.keys - told.keys) > _BESIDES:
        return False
    return all(fact is told or not fact.slots - told.slots for fact in earlier.facts)


def _met(later: Statement, earlier: Statement) -> bool:
    """Whether the later statement speaks of most of what the earlier one does: what it leaves out would be lost."""
    unmet = len(earlier.keys - later.keys)
    return unmet <= max(_UNMET, len(earlier.keys) // 3)


def _related(new: Statement, old: Statement, similarity: float | None) -> Decision:
    if similarity is not None and similarity >= RELATED_FROM:
        return Decision(Verdict.RELATED, "similar")
    if len(new.keys & old.keys) >= _SHARED_KEYS:
        return Decision(Verdict.RELATED, "about the same")
    return Decision(Verdict.NEW, "nothing in common")
