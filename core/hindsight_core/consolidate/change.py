"""Whether one fact replaces another, or speaks against it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set

from hindsight_core.consolidate.lexicon import IMMUTABLE, SLOTS, word_set
from hindsight_core.consolidate.marks import Mark
from hindsight_core.consolidate.same import opposed
from hindsight_core.consolidate.statement import Clause, Fact
from hindsight_core.consolidate.template import other_value
from hindsight_core.consolidate.values import Value, comparable, same_amount

_STRONG = Mark.ENDED | Mark.CHANGED
_SIGN = _STRONG | Mark.NOW
_UNREAL = Mark.SUPPOSES | Mark.REPORTS | Mark.ASKS
_HAN = "\u3400"
_NEGATORS = word_set("not no never don't doesn't didn't isn't aren't wasn't weren't won't can't cannot without hardly")
_NEGATED = re.compile("(?:不|没有?|别|未|无)(?:太|会|是|=|能|再|想|要|用|很|大|怎么)?$")
_MOST_CLAUSES = 4
_REACH = 8
_SHORT = 8
"""A fact of so many words is one fact; a longer one must be met more fully to be replaced."""


def replaces(later: Fact, earlier: Fact, *, record: bool) -> tuple[bool, str] | None:
    """Whether a fact replaces an earlier one (True) or contradicts it (False), and why; None when neither.

    Args:
        later: The fact told later.
        earlier: The fact told before.
        record: Whether both stand in documents rather than in what somebody said: a record is corrected by its next
            edition, while a person who names two birthdays was wrong once.
    """
    shared = found_in(earlier.keys, later) | (earlier.codes & later.codes)
    if later.kin != earlier.kin and shared.isdisjoint(earlier.names & (earlier.subject | later.subject)):
        return None
    if later.marks & (_UNREAL | Mark.ONCE) and not later.marks & Mark.LASTS:
        return None
    if earlier.marks & Mark.EVENT:
        return None
    for reason in _templates(later, earlier):
        if not record and _cannot_change(earlier):
            return False, "what cannot change has two values"
        return True, reason
    marks = later.marks if earlier.marks & Mark.PLANS or later.marks & Mark.LASTS else later.sure
    if later.marks & Mark.ADDS and not marks & _STRONG:
        return None
    return _said(later, earlier, shared, marks) or _moved(later, earlier, marks)


def found_in(keys: Iterable[str], fact: Fact) -> frozenset[str]:
    """Those keys that a fact holds too, Chinese ones wherever its segmenter cut."""
    return frozenset(key for key in keys if key in fact.keys or key in fact.words or (key >= _HAN and _in_han(key, fact)))


def _in_han(key: str, fact: Fact) -> bool:
    return key in fact.han or any(key.startswith(name) for name in fact.names if len(name) > 1)


def _templates(later: Fact, earlier: Fact) -> Iterator[str]:
    for new in later.clauses:
        if not new.marks & (_UNREAL | Mark.ONCE | Mark.ADDS) and (new.marks & Mark.LASTS or not new.marks & ~earlier.marks & Mark.PLANS):
            for old in earlier.clauses[:2]:
                if reason := other_value(new, old):
                    yield reason


def _cannot_change(fact: Fact) -> bool:
    return not IMMUTABLE.isdisjoint(fact.words) or any(word in fact.han for word in ("出生", "生日"))


def _said(later: Fact, earlier: Fact, shared: frozenset[str], marks: Mark) -> tuple[bool, str] | None:
    """Judge by what both talk about and by the signs of change in the later one."""
    kept, changed = _values(later, earlier)
    core = shared - (earlier.subject & earlier.names) - earlier.kin
    if not core and not kept and not (changed and earlier.kin and earlier.keys <= shared):
        return None
    if changed is None or another_subject(later, earlier, shared):
        return None
    share = _coverage(earlier, shared, kept)
    least = 0.3 if len(earlier.keys) <= _SHORT else 0.5
    told = core - earlier.subject
    if changed and marks & (_SIGN | Mark.FRESH) and share >= least and (core - earlier.names or not core) and (not core or _same_slot(later, earlier, changed)):
        return True, "another value"
    if opposed(earlier.ends, later.ends) and share >= least and (marks & _SIGN or marks & earlier.marks & Mark.WISH):
        return True, "the opposite"
    negative = all(clause.marks & (Mark.NOT | Mark.ENDED) for clause in earlier.clauses)
    if marks & Mark.ENDED and not negative and _ends(later, told) and (share >= max(0.34, least) or (share >= least and _object(earlier) in told)):
        return True, "it ended"
    named = earlier.subject - earlier.names and earlier.subject <= shared and "=" in earlier.clauses[0].kinds
    if marks & Mark.CHANGED and (share >= max(0.34, least) or named):
        return True, "it changed"
    if marks & (Mark.CHANGED | Mark.NOW) and _one_word_apart(later, earlier, shared):
        return True, "another value by now"
    if marks & Mark.NOW and len(earlier.subject) >= 2 and earlier.subject <= shared and share >= 0.7:
        return True, "another value by now"
    if (marks | earlier.marks) & Mark.NOT:
        if marks & Mark.NOW and share >= 0.5 and _denies(later, earlier, shared, strict=False):
            return True, "the opposite by now"
        if len(earlier.keys) <= _SHORT and _denies(later, earlier, shared, strict=True):
            return False, "the opposite"
    return None


def _values(later: Fact, earlier: Fact) -> tuple[int, list[tuple[Value, Value]] | None]:
    """How many values both give, and the pairs in which they differ; None when the later fact has its own former value."""
    kept, changed = 0, []
    for old in earlier.values:
        rivals = [new for new in later.values if comparable(new, old)]
        if any(same_amount(new, old) for new in rivals):
            kept += 1
        elif len(set(rivals)) > 1:
            return kept, None
        else:
            changed += [(new, old) for new in rivals]
    return kept, changed


def _ends(later: Fact, told: Set[str]) -> bool:
    """Whether the clause that tells an end speaks of what was told before."""
    if not later.clauses:
        return bool(told)
    return any(clause.marks & Mark.ENDED and any(_holds(clause, key) for key in told) for clause in later.clauses)


def _holds(clause: Clause, key: str) -> bool:
    return key in clause.keys or (key >= _HAN and key in "".join(word for word in dict.fromkeys(clause.words)))


def _object(fact: Fact) -> str:
    """The last word with a topic of the first clause: what a state is about."""
    clause = fact.clauses[min(1, len(fact.clauses) - 1)]
    last = next((word for word, kind in zip(reversed(clause.words), reversed(clause.kinds), strict=True) if kind in "kn"), "")
    return SLOTS.get(last, last)


def _moved(later: Fact, earlier: Fact, marks: Mark) -> tuple[bool, str] | None:
    """Moving house: the new home need not name the old one, nor the slot."""
    if "@home" not in later.slots & earlier.slots or not marks & _STRONG:
        return None
    alone = (later.first or not later.subject) and earlier.first and ("we" in later.words) == ("we" in earlier.words)
    if later.kin == earlier.kin and (alone or later.subject & earlier.subject & earlier.names):
        return True, "moved"
    return None


def _same_slot(later: Fact, earlier: Fact, pairs: list[tuple[Value, Value]]) -> bool:
    """Whether two comparable values stand near the same word."""
    for new, old in pairs:
        near = [word for clause in later.clauses[-_MOST_CLAUSES:] for word in _near(clause, new)]
        text = "".join(near)
        for clause in earlier.clauses[-_MOST_CLAUSES:]:
            if any(word in near or (word >= _HAN and word in text) for word in _near(clause, old)):
                return True
    return False


def _near(clause: Clause, value: Value) -> list[str]:
    """The topical words around a value."""
    if value not in clause.atoms:
        return []
    place = clause.atoms.index(value)
    around = range(max(0, place - _REACH), min(len(clause.atoms), place + _REACH))
    return [SLOTS.get(clause.words[at], clause.words[at]) for at in around if clause.kinds[at] in "kavn"]


def _coverage(fact: Fact, shared: Set[str], kept: int) -> float:
    """Which share of a fact, or of the clause that makes most of it, is found in the other; names count double."""
    codes = 2 * len(fact.codes & shared) + kept
    parts = [clause.keys for clause in fact.clauses if 2 * len(clause.keys) >= len(fact.keys)]
    return max(((_weight(keys & shared, fact) + codes) / (_weight(keys, fact) + codes or 1) for keys in parts), default=0.0)


def _weight(keys: Set[str], fact: Fact) -> int:
    return len(keys) + len(keys & fact.names)


def another_subject(later: Fact, earlier: Fact, shared: Set[str]) -> bool:
    """Whether two facts speak of two things of one kind: the red van and the blue van."""
    for clause in later.clauses:
        foreign = _foreign(clause.subject, earlier)
        if foreign and earlier.subject:
            if clause.subject & earlier.subject and 2 * len(earlier.subject - shared) >= len(earlier.subject):
                return True
            if foreign == clause.subject and shared <= earlier.names - earlier.subject:
                return True
    subject = earlier.subject | later.subject
    for modifier, head in later.modified:
        if head in shared and _foreign((modifier,), earlier):
            others = {other for other, same in earlier.modified if same == head}
            if (others and others.isdisjoint(shared) and head in subject) or (not others and head in later.attributes):
                return True
    return False


def _foreign(keys: Iterable[str], fact: Fact) -> frozenset[str]:
    return frozenset(key for key in keys if key not in fact.keys and key not in fact.words and key not in fact.han)


def _one_word_apart(later: Fact, earlier: Fact, shared: Set[str]) -> bool:
    """Whether a clause says another clause again with one word for another: "prefer window seats", "prefer aisle seats"."""
    for new in later.clauses[-_MOST_CLAUSES:]:
        for old in earlier.clauses[-_MOST_CLAUSES:]:
            if len(old.keys & shared & new.keys) >= 2 and len(old.keys - shared) == 1 and len(_foreign(new.keys, earlier)) == 1:
                return True
    return False


def _denies(later: Fact, earlier: Fact, shared: Set[str], *, strict: bool) -> bool:
    """Whether a clause denies what one of the earlier fact affirms, or the other way round.

    Args:
        strict: Whether the two must say the same in everything else.
    """
    for new in later.clauses[-_MOST_CLAUSES:]:
        for old in earlier.clauses[-_MOST_CLAUSES:]:
            if strict and (len(old.keys) < 2 or not old.keys <= shared or len(_foreign(new.keys, earlier)) > 1):
                continue
            if any(_denied(new, key) not in (None, _denied(old, key)) for key in old.keys & shared):
                return True
    return False


def _denied(clause: Clause, key: str) -> bool | None:
    """Whether a clause holds a word under a negation; None when it does not hold it."""
    if key in clause.atoms:
        return not _NEGATORS.isdisjoint(clause.words[: clause.atoms.index(key)])
    key = next((word for word in clause.words if SLOTS.get(word) == key), key)
    text = "".join(atom for atom in clause.atoms if isinstance(atom, str))
    place = text.find(key)
    return None if place < 0 else _NEGATED.search(text, 0, place) is not None
