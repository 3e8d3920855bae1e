"""Changes that are implied: the later fact need not name the slot of the earlier one.

A correction of what was just said, a state that ends as states of its kind end (see `kinds`), a former value named beside a
new one, a bare "I switched to ...", a wish for the same thing done in another way.
"""

from __future__ import annotations

from hindsight_core.consolidate.kinds import PERSONAL, SIGNED, kinds
from hindsight_core.consolidate.lazy import Lazy
from hindsight_core.consolidate.lexicon import MANY, SWITCHES, word_set
from hindsight_core.consolidate.marks import Mark
from hindsight_core.consolidate.overlap import another_subject, foreign, nouns, parts, two_sides, values
from hindsight_core.consolidate.statement import Clause, Fact

_HAN = "\u3400"
_STRONG = Mark.ENDED | Mark.CHANGED
_SIGN = _STRONG | Mark.NOW | Mark.LASTS
_UNREAL = Mark.SUPPOSES | Mark.REPORTS | Mark.ASKS | Mark.ONCE
_OWN_HAN = word_set("满 说 去 来 到")
"""Verbs that a tagger may take for a subject."""


def corrected(later: Fact, earlier: Fact, shared: frozenset[str]) -> str | None:
    """Whether what is said to be wrong is the earlier fact: the same but for one value or word."""
    if not later.marks & Mark.CORRECTS or another_subject(later, earlier, shared):
        return None
    _, changed = values(later, earlier)
    if changed and len(changed) == 1 and earlier.keys <= shared:
        return "corrected"
    for new in parts(later):
        for old in parts(earlier):
            alike = new.atoms[:1] == old.atoms[:1] and new.atoms != old.atoms
            if alike and len(old.keys - shared) <= 1 < len(old.atoms):
                return "corrected"
    return None


def of_one_kind(later: Fact, earlier: Fact, shared: frozenset[str]) -> str | None:
    """A state of some kind, and what ends or replaces one of that kind."""
    told = kinds(earlier.clauses[0].said, earlier.clauses[0].han, change=False)
    if not told:
        return None
    kept, changed = values(later, earlier)
    again = not changed and earlier.names <= shared and kept == len(earlier.values)
    if (again and (earlier.names or kept)) or not later.marks & _SIGN:
        told -= SIGNED
    for clause in parts(later):
        if clause.marks & (_UNREAL | Mark.ADDS) or clause.marks & (Mark.PLANS | Mark.LASTS) == Mark.PLANS:
            continue
        found = told & kinds(clause.said, clause.han, change=True)
        if not found or two_sides(clause, earlier, shared):
            continue
        if not found.isdisjoint(PERSONAL) and _own(clause, later, earlier):
            return "a state of its kind began or ended"
        about = (earlier.subject or nouns(earlier)) | earlier.codes
        if "lead" in found:
            about |= nouns(earlier)
        met = {
            key for key in shared if key in clause.keys | later.codes or (key >= _HAN and key in clause.han)
        }
        if met & about and (about <= met or not another_subject(later, earlier, shared)):
            return "a state of its kind began or ended"
    return None


def _own(clause: Clause, later: Fact, earlier: Fact) -> bool:
    """Whether both speak of the speaker alone, or of the speaker and others."""
    if not (earlier.first and later.first) or ("we" in later.words) != ("we" in earlier.words):
        return False
    return (
        clause.words[:1] in (("i",), ("we",), ("i'd",), ("i'll",))
        or clause.subject <= earlier.keys | _OWN_HAN
    )


def displaced(later: Fact, earlier: Fact) -> str | None:
    """The former value is named, and beside it one that holds now: "Haldane couldn't deliver, so we went with Brome"."""
    former = earlier.names - earlier.subject
    if not former or not later.names or later.marks & Mark.ADDS or not former <= later.keys | later.words:
        return None
    slot = earlier.keys - former - earlier.kin
    for clause in parts(later):
        if clause.marks & (_UNREAL | Mark.PLANS) or not foreign(later.names & clause.keys, earlier):
            continue
        signed = clause.marks & (_STRONG | Mark.NOW) or "old" in later.words
        apart = former.isdisjoint(clause.keys)
        if clause.marks & Mark.CHANGED or (apart and (signed or slot & clause.keys)):
            return "another took its place"
    return None


_USES = word_set(
    "use uses using write writes run runs drive drives ride rides bank play code work works take am read listen host"
)
_USES_HAN = Lazy("[用写跑开骑听读]")


def switched(later: Fact, earlier: Fact, marks: int) -> str | None:
    """After "I use Vim", "I switched to Helix": nothing else is named, so it can only be this."""
    if (
        not marks & Mark.CHANGED
        or not earlier.first
        or later.values
        or earlier.values
        or later.kin
        or earlier.kin
    ):
        return None
    bare = len(earlier.names) == 1 and nouns(earlier) <= earlier.names
    if not bare or ("we" in later.words) != ("we" in earlier.words):
        return None
    if _USES.isdisjoint(earlier.words) and not _USES_HAN.search(earlier.han):
        return None
    for clause in parts(later):
        named = clause.keys & later.names
        if clause.marks & Mark.CHANGED and foreign(named, earlier) and clause.keys <= later.names | SWITCHES:
            return "switched"
    return None


def moved(later: Fact, earlier: Fact, marks: int) -> str | None:
    """Moving house: the new home need not name the old one, nor the slot."""
    if later.values and earlier.values:  # "we moved the service to port 2940"
        return None
    if "@home" not in later.slots & earlier.slots or not marks & _STRONG or later.kin != earlier.kin:
        return None
    alone = (
        earlier.first
        and (later.first or not later.subject)
        and ("we" in later.words) == ("we" in earlier.words)
    )
    return "moved" if alone or later.subject & earlier.subject & earlier.names else None


def done_otherwise(later: Fact, earlier: Fact, shared: frozenset[str], marks: int) -> str | None:
    """The same thing wanted or done in another way: "my coffee black", "my coffee with oat milk these days"."""
    if not marks & (Mark.LASTS | Mark.NOW | Mark.CHANGED) or (earlier.values and not later.values):
        return None
    if (
        earlier.values
        and earlier.names
        and earlier.names.isdisjoint(shared)
        and foreign(later.names, earlier)
    ):
        return None  # two slots differ
    wished = later.first or (marks | earlier.marks) & Mark.WISH or marks & Mark.LASTS
    if not wished or not (earlier.first or earlier.marks & Mark.WISH or marks & Mark.LASTS):
        return None
    new_axes, old_axes = ({axis for axis, _ in fact.ends} for fact in (later, earlier))
    if new_axes and old_axes and new_axes.isdisjoint(old_axes):  # in Chinese is no answer to: at length
        return None
    for new in parts(later):
        if not foreign(new.keys, earlier):
            continue
        for old in parts(earlier):
            same = _things(old) & _things(new)
            relation = set(_RELATION.findall(old.said)) & set(_RELATION.findall(new.said))
            if later.first and earlier.first and (marks & Mark.LASTS or relation):
                same |= _verbs(old) & _verbs(new) - MANY
            if same and old.keys - shared:
                return "another way of the same"
    return None


_OWNED = Lazy(r"\b(?:my|our|your|for|for the) (\w+)")
_ORDERED = Lazy(
    r"\b(?:use|give|show|write|send|put|list|keep|make|explain|format|display|take|have)(?: me)? (\w+)"
)
_TOPIC_HAN = Lazy(
    r"^(?:请|以后|今后|现在|都|我|我们|把|给我|，)*([\u4e00-\u9fff]{2,4}?)(?:请|以后|今后|现在|都|用|写|列|要|里|放|发|给|找|的|，)"
)
_RELATION = Lazy(r"\b(\w+ (?:in|at|with|by|from))\b")
_NO_THINGS = word_set("me time first same")


def _things(clause: Clause) -> set[str]:
    """The thing a wish or habit is about: owned, ordered, or first behind the verb."""
    verb = clause.kinds.find("v")
    behind = zip(clause.words[verb + 1 :], clause.kinds[verb + 1 :], strict=False)
    found = {*_OWNED.findall(clause.said), *_ORDERED.findall(clause.said)} - _NO_THINGS
    found.update([word for word, kind in behind if kind == "k" and word < _HAN][:1])
    things = {key for key in clause.keys - SWITCHES if any(word.startswith(key) for word in found)}
    return things.union(_TOPIC_HAN.findall(clause.han)) - _NO_THINGS


def _verbs(clause: Clause) -> set[str]:
    return {word for word, kind in zip(clause.words, clause.kinds, strict=True) if kind == "v"} & clause.keys
