"""What two facts have in common: words, values, slots, subjects; and what one denies of the other."""

from __future__ import annotations

from collections.abc import Iterable, Set

from hindsight_core.consolidate.lazy import Lazy
from hindsight_core.consolidate.lexicon import SLOTS, word_set
from hindsight_core.consolidate.marks import Mark
from hindsight_core.consolidate.same import opposed
from hindsight_core.consolidate.statement import Clause, Fact
from hindsight_core.consolidate.values import Value, comparable, same_amount

_HAN = "\u3400"
_NEGATORS = word_set(
    "not no never don't doesn't didn't isn't aren't wasn't weren't hasn't haven't hadn't won't can't cannot without hardly"
)
_NEGATED = Lazy("(?:不|没有?|别|未|无)[^，。]{0,2}$")
_VERBS = "喝吃抽打坐骑开看听学养穿戴住用"
"""They form words with their objects: 喝茶 is found in "茶不喝了" as well."""
_SOURCES = word_set("from off of")
_PLACED = word_set("in on at into")
_PHRASE = 2
"""Topical words that stand for one value: "on local disk"."""
_MOST_CLAUSES = 4
_REACH = 8
"""How far from a value, in words or characters, its slot may be named."""

Pairs = list[tuple[Value, Value]]


def shared_keys(later: Fact, earlier: Fact) -> frozenset[str]:
    """The keys of the earlier fact that the later one holds too, Chinese ones wherever its segmenter cut."""
    found = [
        key
        for key in earlier.keys
        if key in later.keys
        or key in later.words
        or (key >= _HAN and _in_han(key, later, key in earlier.names))
    ]
    return frozenset((*found, *(earlier.codes & later.codes)))


def _in_han(key: str, fact: Fact, name: bool) -> bool:
    if key in fact.han:
        return True
    if name:  # a particle may cling to it
        return any(key.startswith(known) for known in fact.names if len(known) > 1)
    return _part_of(key, fact.han)


def _part_of(key: str, text: str) -> bool:
    """Whether a longer Chinese word occurs in part: 打网球 / 网球."""
    return (
        key in text
        or (len(key) > 2 and (key[1:] in text or key[:-1] in text))
        or (len(key) > 1 and key[0] in _VERBS and key[1:] in text)
    )


def foreign(keys: Iterable[str], fact: Fact) -> frozenset[str]:
    """Those keys that a fact does not hold."""
    return frozenset(
        key for key in keys if key not in fact.keys and key not in fact.words and key not in fact.han
    )


def coverage(fact: Fact, shared: Set[str], kept: int) -> float:
    """Which share of a fact, or of the clause that makes most of it, is shared: 0..1.

    Args:
        fact: The fact.
        shared: What of it the other fact holds; a name counts double, and so does a code.
        kept: How many of its values the other fact holds.
    """
    extra = 2 * len(fact.codes & shared) + kept
    parts = [clause.keys for clause in fact.clauses if 2 * len(clause.keys) >= len(fact.keys)]
    return max(
        ((_weight(keys & shared, fact) + extra) / (_weight(keys, fact) + extra or 1) for keys in parts),
        default=0.0,
    )


def _weight(keys: Set[str], fact: Fact) -> int:
    return len(keys) + len(keys & fact.names)


def parts(fact: Fact) -> tuple[Clause, ...]:
    """Its clauses, without the sentence as a whole."""
    return fact.clauses[1 : 1 + _MOST_CLAUSES] if len(fact.clauses) > 1 else fact.clauses


def values(later: Fact, earlier: Fact) -> tuple[int, Pairs | None]:
    """How many values both give, and the pairs (new, old) in which they differ.

    None instead of pairs when the later fact itself names two other values: its former value is not ours.
    """
    kept: int = 0
    changed: Pairs = []
    for old in earlier.values:
        rivals = {new for new in later.values if comparable(new, old)}
        if not rivals and old.kind == "count":  # "1,200 subscribers", "subscribers: 1,500"
            rivals = {
                new for new in later.values if new.kind == "count" and _counts(new, old, later, earlier)
            }
        others = [new for new in rivals if not same_amount(new, old)]
        if len(others) == 1:  # perhaps with the former value beside it: "from 20 to 50"
            changed.append((others[0], old))
        elif len(others) < len(rivals):
            kept += old.kind != "rate"
        elif rivals:
            return kept, None
    return kept, changed


def _counts(new: Value, old: Value, later: Fact, earlier: Fact) -> bool:
    """Whether of two counts one leaves out what is counted, and its sentence names it elsewhere."""
    if new.unit and old.unit:
        return False
    unit, other = (old.unit, later) if old.unit else (new.unit, earlier)
    return unit in other.keys or unit in other.han


def same_slot(later: Fact, earlier: Fact, pairs: Pairs) -> bool:
    """Whether two differing values stand near the same word."""
    for new, old in pairs:
        near = {word for clause in later.clauses[:_MOST_CLAUSES] for word in _near(clause, new)}
        text = "".join(near)
        for clause in earlier.clauses[:_MOST_CLAUSES]:
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


def another_subject(later: Fact, earlier: Fact, shared: Set[str]) -> bool:
    """Whether two facts speak of two things of one kind: the red van and the blue van."""
    for clause in parts(later):
        strangers = foreign(clause.subject, earlier)
        if strangers and earlier.subject and not clause.keys.isdisjoint(shared):
            if clause.subject & earlier.subject and earlier.subject - shared:
                return True
            elsewhere = (
                shared <= earlier.names or max(strangers) < _HAN
            )  # a Chinese subject is often left out
            if (
                strangers == clause.subject
                and elsewhere
                and shared.isdisjoint(earlier.subject)
                and not _leaves(clause, shared)
            ):
                return True
        if any(opposed(clause.sides, other.sides) for other in parts(earlier)):
            return True
    subject = earlier.subject | later.subject
    for modifier, head in later.modified:
        if head in shared and foreign((modifier,), earlier):
            others = {other for other, same in earlier.modified if same == head}
            if (others and others.isdisjoint(shared) and head in subject) or (
                not others and head in later.attributes
            ):
                return True
    return False


def nouns(fact: Fact) -> frozenset[str]:
    """What a fact talks about, but for its verbs; with verbs when there is nothing else."""
    clause = fact.clauses[0]
    verbs = {word for word, kind in zip(clause.words, clause.kinds, strict=True) if kind in "vp"}
    return (fact.keys - verbs) or fact.keys


def narrowed(later: Fact, earlier: Fact, shared: Set[str]) -> bool:
    """Whether the later fact speaks of more than the earlier one, or of a special case: the *design* team, the *metrics* port."""
    strangers = foreign(later.keys, earlier)
    if not {value.kind for value in later.values} <= {value.kind for value in earlier.values}:
        return True
    if any(
        key not in later.keys and key not in later.words and key not in later.han
        for key in shared - earlier.codes
    ):
        return True  # met in part only
    if len(strangers) > min(2, len(earlier.keys)) or any(
        key.endswith(head) for key in strangers if key >= _HAN for head in shared
    ):
        return True
    return any(head in shared and foreign((modifier,), earlier) for modifier, head in later.modified)


def _leaves(clause: Clause, shared: Set[str]) -> bool:
    """Whether something is left behind: "from Cardol to Presil"."""
    return any(
        word in _SOURCES and not shared.isdisjoint(clause.words[at + 1 : at + 3])
        for at, word in enumerate(clause.words)
    )


def ends(later: Fact, told: Set[str]) -> bool:
    """Whether the clause that tells an end speaks of what was told before."""
    if not later.clauses:
        return bool(told)
    return any(
        clause.marks & Mark.ENDED and any(_holds(clause, key) for key in told) for clause in later.clauses
    )


def _holds(clause: Clause, key: str) -> bool:
    return key in clause.keys if key < _HAN else _part_of(key, "".join(dict.fromkeys(clause.words)))


def theme(fact: Fact) -> str:
    """The last topical word of its first clause: what a state is about."""
    clause = parts(fact)[0]
    last = next(
        (
            word
            for word, kind in zip(reversed(clause.words), reversed(clause.kinds), strict=True)
            if kind in "kn"
        ),
        "",
    )
    return SLOTS.get(last, last)


def one_word_apart(later: Fact, earlier: Fact, shared: Set[str]) -> bool:
    """Whether a clause is said again with one word for another: "prefer window seats", "prefer aisle seats"."""
    return any(
        len(old.keys & shared & new.keys) >= 2
        and len(old.keys - shared) == 1
        and len(foreign(new.keys, earlier)) == 1
        for new in parts(later)
        for old in parts(earlier)
    )


def one_swapped(later: Fact, earlier: Fact, shared: Set[str]) -> bool:
    """Whether a clause is said again with another word in the same place: "we pay in crowns", "since May we pay in euros"."""
    for new in parts(later):
        fresh = foreign(new.keys, earlier)
        if not 0 < len(fresh) <= _PHRASE or new.keys.isdisjoint(shared):
            continue
        for old in parts(earlier):
            left = old.keys - shared
            if 0 < len(left) <= _PHRASE and (before := _before(old, left)) and before == _before(new, fresh):
                return True
    return False


def _before(clause: Clause, phrase: Set[str]) -> str:
    """The verb or preposition that a phrase follows; "" when it follows none or is none."""
    places = [at for at, word in enumerate(clause.words) if SLOTS.get(word, word) in phrase]
    first = places[0] if places else 0
    if not first or places[-1] - first >= len(places) or clause.kinds[first - 1] not in "vpl":
        return ""
    word = clause.words[first - 1]
    return "in" if word in _PLACED else word


def denies(later: Fact, earlier: Fact, shared: Set[str], *, strict: bool) -> bool:
    """Whether a clause denies what one of the earlier fact affirms, or the other way round.

    Args:
        later: The fact told later.
        earlier: The fact told before.
        shared: What both talk about.
        strict: Whether the two must say the same in everything else.
    """
    for new in parts(later):
        for old in parts(earlier):
            if strict and (
                len(old.keys) < 2 or not old.keys <= shared or len(foreign(new.keys, earlier)) > 1
            ):
                continue
            if any(_denied(new, key) not in (None, _denied(old, key)) for key in old.keys & shared):
                return True
    return False


def _denied(clause: Clause, key: str) -> bool | None:
    """Whether a clause holds a word under a negation; None when it does not hold it."""
    if key in clause.atoms and key < _HAN:
        return not _NEGATORS.isdisjoint(clause.words[: clause.atoms.index(key)])
    key = next((word for word in clause.words if SLOTS.get(word) == key), key)
    text = "".join(atom for atom in clause.atoms if isinstance(atom, str))
    place = text.find(key)
    return None if place < 0 else _NEGATED.search(text, 0, place) is not None
