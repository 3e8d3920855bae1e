"""Whether one fact replaces another, or speaks against it.

Two kinds of evidence. A fact *restated* in the same words with another value in a slot that holds one (see
`template`). And a fact *said to have changed*: the later one talks about what the earlier one was about and
carries a sign of change that fits: another value near the same word, an end, an opposite, a switch.
"""

from __future__ import annotations

from collections.abc import Iterator

from hindsight_core.consolidate.lexicon import IMMUTABLE, UNIQUE_KIN, word_set
from hindsight_core.consolidate.marks import Mark
from hindsight_core.consolidate.overlap import (
    another_subject,
    coverage,
    denies,
    ends,
    foreign,
    narrowed,
    one_word_apart,
    parts,
    same_slot,
    shared_keys,
    theme,
    values,
)
from hindsight_core.consolidate.same import opposed
from hindsight_core.consolidate.statement import Fact
from hindsight_core.consolidate.template import other_value

_STRONG = Mark.ENDED | Mark.CHANGED
_SIGN = _STRONG | Mark.NOW
_ANY = _SIGN | Mark.FRESH | Mark.LASTS | Mark.WISH
_UNREAL = Mark.SUPPOSES | Mark.REPORTS | Mark.ASKS
_VERBAL = word_set("@home @job")
"""Slots that a verb alone may name ("finished work"): too little to tell what has ended."""
_TIMES = frozenset(["date", "weekday", "year"])
_SHORT = 8
"""A fact of so many words is one fact; a longer one must be met more fully to be replaced."""
_MET, _MET_WHEN_LONG = 0.25, 0.5

Finding = tuple[bool, str]
"""Whether it is replaced (True) or contradicted (False), and why."""


def replaces(later: Fact, earlier: Fact, *, record: bool) -> Finding | None:
    """Whether a fact replaces an earlier one or contradicts it; None when neither.

    Args:
        later: The fact told later.
        earlier: The fact told before.
        record: Whether both stand in documents rather than in what somebody said: a record is corrected by its next
            edition, while a person who names two birthdays was wrong once.
    """
    if earlier.marks & Mark.EVENT or (later.marks & (_UNREAL | Mark.ONCE) and not later.marks & Mark.LASTS):
        return None
    shared: frozenset[str] | None = None
    if later.kin != earlier.kin:
        shared = shared_keys(later, earlier)
        if shared.isdisjoint(earlier.names & (earlier.subject | later.subject)):
            return None
    for reason in _restated(later, earlier):
        if not record and _cannot_change(earlier):
            return False, "what cannot change has two values"
        return True, reason
    marks = later.marks if earlier.marks & Mark.PLANS or later.marks & Mark.LASTS else later.sure
    if not (marks & _ANY or (marks | earlier.marks) & Mark.NOT or (later.values and earlier.values)):
        return None
    if later.marks & Mark.ADDS and not marks & _STRONG:
        return None
    if shared is None:
        shared = shared_keys(later, earlier)
    return _said(later, earlier, shared, marks) or _moved(later, earlier, marks)


def _restated(later: Fact, earlier: Fact) -> Iterator[str]:
    for new in later.clauses:
        planned = new.marks & ~earlier.marks & Mark.PLANS and not new.marks & Mark.LASTS
        if not planned and not new.marks & (_UNREAL | Mark.ONCE | Mark.ADDS):
            for old in earlier.clauses[:2]:
                if reason := other_value(new, old):
                    yield reason


def _cannot_change(fact: Fact) -> bool:
    return not IMMUTABLE.isdisjoint(fact.words) or any(word in fact.han for word in ("出生", "生日"))


def _said(later: Fact, earlier: Fact, shared: frozenset[str], marks: int) -> Finding | None:
    kept, changed = values(later, earlier)
    if changed is None or another_subject(later, earlier, shared):
        return None
    core = shared - (earlier.subject & earlier.names) - earlier.kin
    # "My daughter is seven" / "turned eight"; "I weigh 82 kilos" / "down to 78 kilos": the unit says what it is about.
    unit_alone = bool(changed) and (
        (bool(earlier.kin) and earlier.keys <= shared)
        or (bool(marks & _STRONG) and len(later.keys) <= 2 and bool(changed[0][0].unit))
    )
    apart = opposed(earlier.ends, later.ends)
    if not core and not kept and not unit_alone and not (apart and earlier.kin):
        return None
    share = 1.0 if unit_alone else coverage(earlier, shared, kept)
    met = share >= (_MET if len(earlier.keys) <= _SHORT else _MET_WHEN_LONG)
    if (
        met
        and changed
        and (unit_alone or not core or (core - earlier.names and same_slot(later, earlier, changed)))
    ):
        appointment = all(
            new.kind in _TIMES for new, _ in changed
        )  # or merely another day on which something happened
        if marks & (_SIGN | Mark.LASTS) or (marks & Mark.FRESH and not appointment):
            return True, "another value"
        if share == 1 and earlier.kin <= UNIQUE_KIN and not narrowed(later, earlier, shared):
            return True, "another value of the same"
    wishes = marks & earlier.marks & Mark.WISH
    if met and apart and (marks & (_SIGN | Mark.FRESH | Mark.LASTS) or wishes):
        return True, "the opposite"
    told = core - earlier.subject
    ended = all(clause.marks & (Mark.NOT | Mark.ENDED) for clause in earlier.clauses)
    if met and marks & Mark.ENDED and not ended and ends(later, told - _VERBAL):
        return True, "it ended"
    if marks & Mark.CHANGED and ((met and told) or _names_slot(earlier, shared)):
        return True, "it changed"
    if share >= 0.5 and marks & Mark.LASTS and marks & Mark.WISH and theme(earlier) in told:
        return True, "another wish"
    if _by_now(later, earlier, shared, marks, share):
        return True, "another value by now"
    return _opposite(later, earlier, shared, marks, share)


def _names_slot(earlier: Fact, shared: frozenset[str]) -> bool:
    """Whether all words for the slot are met, though none of the value: "the main store is ...", "the wire format uses ..."."""
    named = bool(earlier.subject - earlier.names) and earlier.subject <= shared
    return named and (len(earlier.subject) > 1 or "=" in earlier.clauses[0].kinds)


def _by_now(later: Fact, earlier: Fact, shared: frozenset[str], marks: int, share: float) -> bool:
    """Whether "now" tells of another value, rather than adding detail to the same."""
    if not marks & (Mark.NOW | Mark.CHANGED):
        return False
    if one_word_apart(later, earlier, shared):
        return True
    if not marks & Mark.NOW:
        return False
    if share >= 0.75 and not any(
        clause.marks & Mark.NOW and theme(earlier) in clause.keys for clause in parts(later)
    ):
        return True
    if not earlier.subject - earlier.names or not earlier.subject <= shared:
        return False
    renamed = bool(earlier.names - earlier.subject) and bool(foreign(later.names, earlier))
    return (renamed and share >= 0.3) or (len(earlier.subject) > 1 and share >= 0.5)


def _opposite(later: Fact, earlier: Fact, shared: frozenset[str], marks: int, share: float) -> Finding | None:
    if not (marks | earlier.marks) & Mark.NOT:
        return None
    gained = earlier.marks & Mark.NOT and marks & (Mark.FRESH | Mark.EVENT)
    if (marks & Mark.NOW or gained) and share >= 0.5 and denies(later, earlier, shared, strict=False):
        return True, "the opposite by now"
    if len(earlier.keys) <= _SHORT and denies(later, earlier, shared, strict=True):
        return False, "the opposite"
    return None


def _moved(later: Fact, earlier: Fact, marks: int) -> Finding | None:
    """Moving house: the new home need not name the old one, nor the slot."""
    if "@home" not in later.slots & earlier.slots or not marks & _STRONG or later.kin != earlier.kin:
        return None
    alone = (
        (later.first or not later.subject)
        and earlier.first
        and ("we" in later.words) == ("we" in earlier.words)
    )
    return (True, "moved") if alone or later.subject & earlier.subject & earlier.names else None
