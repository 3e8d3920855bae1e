"""Changes that are implied: the later fact need not name the slot of the earlier one.

A correction of what was just said, another name to be called by, a move to another home, a bare "I switched to ...".
"""

from __future__ import annotations

from hindsight_core.consolidate.lazy import Lazy
from hindsight_core.consolidate.lexicon import SWITCHES, word_set
from hindsight_core.consolidate.marks import Mark
from hindsight_core.consolidate.overlap import another_subject, foreign, nouns, parts, values
from hindsight_core.consolidate.statement import Fact

_STRONG = Mark.ENDED | Mark.CHANGED


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


_CALLED = Lazy(r"\bcall me (?!back|later|when|if|on|at|in|a|the)(?P<name>\w+)")
_CALLED_HAN = Lazy("(?:[叫喊]|称呼)我(?![们的去来起回吃])(?P<name>[^，。吧就好了]{1,4})")


def addressed(later: Fact, earlier: Fact, marks: int) -> str | None:
    """How somebody wants to be called from now on, after another way."""
    if not marks & (Mark.LASTS | Mark.NOW | Mark.CHANGED):
        return None
    for pattern, texts in (
        (_CALLED, [[part.said for part in parts(fact)] for fact in (later, earlier)]),
        (_CALLED_HAN, [[part.han for part in parts(fact)] for fact in (later, earlier)]),
    ):
        new, old = (next(filter(None, map(pattern.search, found)), None) for found in texts)
        if new and old and new["name"] != old["name"]:
            return "another form of address"
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
