"""Whether what has changed is the slot that was told: its name taken up again, or another one named."""

from __future__ import annotations

from hindsight_core.consolidate.lazy import Lazy
from hindsight_core.consolidate.lexicon import SWITCHES, word_set
from hindsight_core.consolidate.marks import Mark
from hindsight_core.consolidate.overlap import foreign, parts
from hindsight_core.consolidate.statement import Fact

_NEW = Lazy(r"\bnew (\w{3,})(?= (?:is|are|in|on|at|now|and|called|named|from|for|who|to)\b| #|$)")
_GIVES_HAN = Lazy("[用设叫选]")
_REPLACES = Lazy(
    r"\b(?:changed|switched|set|updated|renamed|converted|upgraded|moved) to\b|\breplaced (?:by|with)\b"
)
_REPLACES_HAN = Lazy("[改换变][成为用叫到]|更[名换改]|升级?[到至为成]|定为|最[后终](?:选|定|用)")
_MOVES = Lazy(
    r"\b(?:moved|moving|changed|switched|set|updated|shifted|transferred|migrated|renamed) ((?:[\w'-]+ ){1,4}?)"
    r"(?:to|into|onto|from|by|with|for)\b"
)
_PART = Lazy("换了一?[块个台条把张套件副根双]新?(..)")
_MEASURED = frozenset(["version", "count", "money", "span", "rate"])
_OBJECTLESS = word_set("over it them back everything all away on off out me us him her")


def renewed(later: Fact, earlier: Fact) -> bool:
    """Whether what was given a value is given another: "the mascot is ...", "the mascot was changed to ...", "a new mascot"."""
    named = [word for clause in later.clauses[:1] for word in _NEW.findall(clause.said)]
    slots = earlier.keys - earlier.names if "=" in earlier.clauses[0].kinds else ()
    if any(word.startswith(key) for word in named for key in slots):
        return True
    for old in parts(earlier):
        if not old.subject or not ("=" in old.kinds or _GIVES_HAN.search(old.han)):
            continue
        for new in parts(later):
            if (
                foreign(new.subject - SWITCHES, earlier)
                or not new.subject & old.subject
                or not foreign(new.keys, earlier)
            ):
                continue
            if _REPLACES.search(new.said) or _REPLACES_HAN.search(new.han):
                return True
            by_now = new.marks & (Mark.NOW | Mark.CHANGED) and "=" in new.kinds and "=" in old.kinds
            if by_now and new.subject == old.subject and (old.han or "a" in old.kinds):
                return True
    return False


def another_slot(later: Fact, earlier: Fact, shared: frozenset[str]) -> bool:
    """Whether what has changed is called by a name the earlier fact does not hold: 年会的主持人 after 年会在12月."""
    for clause in parts(later):
        if not clause.marks & Mark.CHANGED:
            continue
        if any(value.kind in _MEASURED for value in clause.values) and not earlier.values:
            return True  # "upgraded it to 7.0", after who leads it
        if len(clause.subject) > 1 and clause.subject & shared:
            pairs = zip(clause.words, clause.kinds, strict=True)
            topics = [word for word, kind in pairs if word in clause.subject and kind in "kna"]
            if topics and foreign(topics[-1:], earlier):
                return True
        if (part := _PART.search(clause.han)) and part[1] not in earlier.han:
            return True
        if moved := _MOVES.search(clause.said):  # "moved the Norway book to": what was moved
            words = moved[1].split()
            met = any(word.startswith(key[:6]) for word in words for key in shared)
            if not met and (len(words) > 1 or words[0] not in _OBJECTLESS):
                return True
    return False
