"""Whether one fact replaces another, or speaks against it.

Three kinds of evidence. A fact *restated* in the same words with another value in a slot that holds one (see
`template`). A fact *said to have changed*: the later one talks about what the earlier one was about and carries a sign
of change that fits: another value near the same word, an end, an opposite. And a change that is *implied* (see `implied`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hindsight_core.consolidate import implied
from hindsight_core.consolidate.lexicon import IMMUTABLE, KIN, MANY, OPPOSITES, SWITCHES, UNIQUE_KIN, word_set
from hindsight_core.consolidate.marks import Mark
from hindsight_core.consolidate.overlap import (
    another_subject,
    coverage,
    denies,
    ends,
    foreign,
    narrowed,
    nouns,
    one_swapped,
    one_word_apart,
    parts,
    same_slot,
    shared_keys,
    theme,
    values,
)
from hindsight_core.consolidate.same import opposed
from hindsight_core.consolidate.slot import another_slot, renewed
from hindsight_core.consolidate.statement import Clause, Fact
from hindsight_core.consolidate.template import other_value

_STRONG = Mark.ENDED | Mark.CHANGED
_SIGN = _STRONG | Mark.NOW
_ANY = _SIGN | Mark.FRESH | Mark.LASTS | Mark.WISH
_UNREAL = Mark.SUPPOSES | Mark.REPORTS | Mark.ASKS
_HAN = "\u3400"
_VERBAL = word_set("@home @job")
"""Slots that a verb alone may name ("finished work"): too little to tell what has ended."""
_BY_ROLE = word_set("boss subordinate customer")
"""Whose kin they are is no question of whose fact it is."""
_TIMES = frozenset(["date", "weekday", "year"])
_AREAS = frozenset(["squar", "sqm", "acre", "平米", "平方", "平"])
_SHORT = 8
"""A fact of so many words is one fact; a longer one must be met more fully to be replaced."""
_MET, _MET_WHEN_LONG = 0.25, 0.5
_TOPICS = 2
"""Of so many topics one must be met by its word, and not only by a value that both give."""


class Finding(NamedTuple):
    """What a fact does to an earlier one.

    Attributes:
        replaced: It is replaced; else contradicted.
        reason: Why.
    """

    replaced: bool
    reason: str


def replaces(later: Fact, earlier: Fact, *, record: bool) -> Finding | None:
    """Whether a fact replaces an earlier one or contradicts it; None when neither.

    Args:
        later: The fact told later.
        earlier: The fact told before.
        record: Whether both stand in documents rather than in what somebody said: a record is corrected by its next
            edition, while a person who names two birthdays was wrong once.
    """
    happened = earlier.marks & Mark.EVENT and not (
        earlier.marks & Mark.CHANGED if earlier.values else earlier.marks & Mark.NOT
    )
    if happened or (later.marks & (_UNREAL | Mark.ONCE) and not later.marks & Mark.LASTS):
        return None
    shared = shared_keys(later, earlier)
    if _of_another(later, earlier, shared):
        return None
    for reason in _restated(later, earlier):
        if not record and _cannot_change(earlier, later):
            return Finding(False, "what cannot change has two values")
        return Finding(True, reason)
    if found := implied.corrected(later, earlier, shared) or implied.addressed(later, earlier, later.marks):
        return Finding(True, found)
    firm = earlier.marks & Mark.PLANS or later.marks & Mark.LASTS or "instead" in later.words
    marks = later.marks if firm else later.sure
    signed = marks & _ANY or (marks | earlier.marks) & Mark.NOT or (later.values and earlier.values)
    adds = later.marks & Mark.ADDS and not marks & _STRONG
    if signed and not adds and (finding := _said(later, earlier, shared, marks)):
        return finding
    if (
        signed
        and not adds
        and (found := implied.moved(later, earlier, marks) or implied.switched(later, earlier, marks))
    ):
        return Finding(True, found)
    return None


def _of_another(later: Fact, earlier: Fact, shared: frozenset[str]) -> bool:
    """Whether the two facts are about two people: the speaker and somebody else, or the speaker's mother and aunt."""
    if later.kin != earlier.kin:
        about = (earlier.names & later.subject) | (earlier.subject - KIN.keys())
        if shared.isdisjoint(about) or (later.kin - earlier.kin - _BY_ROLE and not earlier.kin):
            return True
    if later.first or not later.clauses or earlier.clauses[0].words[:1] not in (("i",), ("我",)):
        return False
    if foreign(later.clauses[0].subject & later.names, earlier):
        return True
    subjects = [part.subject for part in parts(later)]
    return all(
        subject and max(subject) < _HAN and foreign(subject, earlier) and subject.isdisjoint(earlier.keys)
        for subject in subjects
    )


def _restated(later: Fact, earlier: Fact) -> Iterator[str]:
    for new in later.clauses:
        planned = new.marks & ~earlier.marks & Mark.PLANS and not new.marks & Mark.LASTS
        if not planned and not new.marks & (_UNREAL | Mark.ONCE | Mark.ADDS):
            for old in earlier.clauses[:2]:
                if reason := other_value(new, old):
                    yield reason


def _cannot_change(earlier: Fact, later: Fact) -> bool:
    """Whether another value is a mistake somewhere: a birth, or how large a flat is when nobody says that it was changed."""
    if not IMMUTABLE.isdisjoint(earlier.words) or any(word in earlier.han for word in ("出生", "生日")):
        return True
    return not later.marks & _SIGN and any(value.unit in _AREAS for value in earlier.values)


def _said(later: Fact, earlier: Fact, shared: frozenset[str], marks: int) -> Finding | None:
    kept, changed = values(later, earlier)
    if changed is None or another_subject(later, earlier, shared):
        return None
    core = shared - (earlier.subject & earlier.names) - earlier.kin - SWITCHES
    # "My daughter is seven" / "turned eight"; "I weigh 82 kilos" / "down to 78 kilos": the unit says what it is about.
    unit_alone = bool(changed) and (
        (bool(earlier.kin) and earlier.keys <= shared)
        or (
            bool(marks & (_STRONG if earlier.keys else _ANY))
            and len(later.keys) <= 2
            and bool(changed[0][0].unit)
        )
    )
    apart = opposed(earlier.ends, later.ends)
    somebody = earlier.kin or earlier.first or earlier.subject & shared
    if not core and not kept and not unit_alone and not (apart and somebody):
        return Finding(True, "another value of the same") if renewed(later, earlier) else None
    # Two slots differ: the timeout of one is changed and then that of another; the exam on Monday takes 90 minutes, that on
    # Thursday 120.
    unmet = earlier.names - shared or (earlier.subject and earlier.subject.isdisjoint(shared))
    if changed and unmet and foreign(later.names, earlier):
        return None
    if not marks & _STRONG and len({new.kind for new, _ in changed}) > 1:
        return None
    share = 1.0 if unit_alone else coverage(earlier, shared, kept)
    met = share >= (_MET if len(earlier.keys) <= _SHORT else _MET_WHEN_LONG)
    near = (
        unit_alone
        or (not core and len(earlier.keys) < _TOPICS)
        or (core - earlier.names and changed and same_slot(later, earlier, changed))
    )
    if met and changed and near:
        kinds = {new.kind for new, _ in changed}
        happened = _happened(later, {new for new, _ in changed})
        # ... or merely another day or hour at which something happened
        hour = happened and kinds <= _TIMES | {"clock"}
        once = hour or kinds <= _TIMES
        if marks & (_SIGN | Mark.LASTS) or (marks & Mark.FRESH and not once):
            return Finding(True, "another value")
        if (
            share == 1
            and not hour
            and not _cannot_change(earlier, later)
            and earlier.kin <= UNIQUE_KIN
            and not narrowed(later, earlier, shared)
        ):
            return Finding(True, "another value of the same")
    if renewed(later, earlier):
        return Finding(True, "another value of the same")
    bare = earlier.first and later.first and len(earlier.keys) == 1 and earlier.keys <= OPPOSITES.keys()
    wishes = marks & earlier.marks & Mark.WISH
    if (met or bare) and apart and (marks & (_SIGN | Mark.FRESH | Mark.LASTS) or wishes):
        return Finding(True, "the opposite")
    told = core - earlier.subject
    topics = nouns(earlier)
    ended = all(clause.marks & (Mark.NOT | Mark.ENDED) for clause in earlier.clauses)
    over = (told & topics if topics - shared else told) - _VERBAL
    if met and marks & Mark.ENDED and not ended and ends(later, over):
        return Finding(True, "it ended")
    changes = marks & Mark.CHANGED and ((met and told - SWITCHES - _VERBAL) or _names_slot(earlier, shared))
    if changes and not another_slot(later, earlier, shared):
        return Finding(True, "it changed")
    if share >= 0.5 and marks & Mark.LASTS and marks & Mark.WISH and theme(earlier) in told:
        return Finding(True, "another wish")
    by_now = marks & (Mark.LASTS | Mark.NOW) and not earlier.values and not _holds_many(earlier)
    if by_now and one_swapped(later, earlier, shared):
        return Finding(True, "another word in its place")
    left = earlier.keys - shared
    if (
        left
        and left <= earlier.names
        and share >= 0.5
        and marks & Mark.LASTS
        and foreign(later.names, earlier)
    ):
        return Finding(True, "another one from now on")
    if _by_now(later, earlier, shared, marks, share):
        return Finding(True, "another value by now")
    return _opposite(later, earlier, shared, marks, share)


def _happened(later: Fact, new: set[object]) -> bool:
    """Whether the clause that holds a new value tells an event."""
    return any(part.marks & Mark.EVENT and not new.isdisjoint(part.values) for part in parts(later))


def _names_slot(earlier: Fact, shared: frozenset[str]) -> bool:
    """Whether all words for the slot are met, though none of the value: "the main store is ...", "the wire format uses ..."."""
    clause = earlier.clauses[0]
    if not earlier.subject - earlier.names or not earlier.subject <= shared:
        return False
    if not clause.definite and not clause.han:  # bare words may be somebody's name
        return False
    return len(earlier.subject) > 1 or "=" in clause.kinds


_ADDITIVE = word_set(
    "speak support know own collect studi learn contain includ handl cover 会 支持 懂 知道 有 养 擅长 精通 认识 拥有 收藏 学 包括"
)
"""Relations to which "now" adds."""


def _says(clause: Clause, keys: frozenset[str]) -> bool:
    return all(key in clause.keys or (key >= _HAN and key in clause.han) for key in keys)


def _holds_many(fact: Fact) -> bool:
    """Whether it tells of a relation to which another value is one more."""
    words = fact.clauses[0].words
    return not _ADDITIVE.isdisjoint(words) or not MANY.isdisjoint(words)


def _by_now(later: Fact, earlier: Fact, shared: frozenset[str], marks: int, share: float) -> bool:
    """Whether "now" tells of another value, rather than adding detail to the same."""
    if not marks & (Mark.NOW | Mark.CHANGED) or not _ADDITIVE.isdisjoint(earlier.clauses[0].words):
        return False
    if one_word_apart(later, earlier, shared):
        return True
    named = earlier.names | earlier.codes
    again = any(_says(part, earlier.keys) for part in parts(later)) or not later.clauses
    if named and earlier.keys | named <= shared and again:
        return False  # all of it is said again
    if not marks & Mark.NOW:
        return False
    if share >= 0.75 and not any(
        clause.marks & Mark.NOW and theme(earlier) in clause.keys for clause in parts(later)
    ):
        return True
    if not earlier.subject - earlier.names or not earlier.subject <= shared:
        return False
    clause = earlier.clauses[0]
    if not clause.definite and not clause.han:  # bare words may be somebody's name
        return False
    if later.subject and later.subject.isdisjoint(earlier.subject):
        return False
    renamed = bool(earlier.names - earlier.subject) and bool(foreign(later.names, earlier))
    return (renamed and share >= 0.3) or (len(earlier.subject) > 1 and share >= 0.5)


def _opposite(later: Fact, earlier: Fact, shared: frozenset[str], marks: int, share: float) -> Finding | None:
    if not (marks | earlier.marks) & Mark.NOT or nouns(earlier).isdisjoint(shared):
        return None
    gained = earlier.marks & Mark.NOT and marks & (Mark.FRESH | Mark.EVENT)
    if (marks & Mark.NOW or gained) and share >= 0.5 and denies(later, earlier, shared, strict=False):
        return Finding(True, "the opposite by now")
    if len(earlier.keys) <= _SHORT and denies(later, earlier, shared, strict=True):
        return Finding(False, "the opposite")
    return None
