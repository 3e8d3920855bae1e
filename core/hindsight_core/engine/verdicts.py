"""What a text means for one that is there: by the rules, and where they leave it open by somebody's opinion.

Rules decide first. Only a pair that they leave open is shown to a model, and what that says is weighed: a value replaces
an earlier one only when both were said by the same side, and texts that differ in a number, a name or a negation are
never the same. Models are asked before the write lock is taken; inside, opinions are looked up.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from hindsight_core.consolidate import Decision, Statement, Verdict, decide, read_statement
from hindsight_core.consolidate.decide import RELATED_FROM
from hindsight_core.consolidate.lazy import Lazy
from hindsight_core.consolidate.same import distinguished
from hindsight_core.consolidate.statement import LONGEST
from hindsight_core.ports import Relation, Told

_STATED_AGAIN = 0.8
"""What states nothing (a question, a greeting) replaces nothing; it can be told again, and then lies nearer than this."""
_NOTHING = Decision(Verdict.NEW, "nothing in common")
_LONG = 6
"""Sentences of a text that no later one replaces as a whole, so that it need not be read to know it stays: reading is what
a write costs most."""
_ALIKE = 0.9
"""... unless it lies so near that it may say the same."""
_BELONGS = Decision(Verdict.RELATED, "too much is said for it to be replaced as a whole")
_ENDS = Lazy(r"[.!?](?=\s|$)|[。！？；;\n]")

Opinions = Mapping[tuple[Told, Told], Relation]
"""By (the text that comes in, the one that is there)."""


def verdict_on(new: Told, old: Told, similarity: float | None, opinion: Relation | None = None) -> Decision:
    """What `new` means for `old`.

    Args:
        new: What comes in.
        old: What is there.
        similarity: Their calibrated similarity; None without an embedder.
        opinion: What somebody thinks of it; it counts where the rules leave it open.
    """
    arrived_late = new.timestamp is not None and old.timestamp is not None and new.timestamp < old.timestamp
    if similarity is not None and similarity < _ALIKE and _is_long((new if arrived_late else old).text):
        return _BELONGS if opinion is None else _weighed(_BELONGS, opinion, new, old)
    said = statement(new)
    if not said.facts and similarity is not None and similarity < _STATED_AGAIN:
        return Decision(Verdict.RELATED, "similar") if similarity >= RELATED_FROM else _NOTHING
    found = decide(
        said,
        statement(old),
        similarity=similarity,
        new_time=new.timestamp,
        old_time=old.timestamp,
    )
    return found if opinion is None or not is_open(found) else _weighed(found, opinion, new, old)


def is_open(found: Decision) -> bool:
    """Whether the rules leave a pair open: near each other, and nothing that tells what one means for the other."""
    return found.verdict is Verdict.RELATED and not found.partly


def _is_long(text: str) -> bool:
    return len(text) > LONGEST or any(count == _LONG for count, _ in enumerate(_ENDS.finditer(text), 1))


def statement(told: Told) -> Statement:
    """What a text says, read once."""
    return _statement(told.text, told.speaker)


@lru_cache(maxsize=4096)
def _statement(text: str, speaker: str | None) -> Statement:
    return read_statement(text, speaker)


def _weighed(found: Decision, opinion: Relation, new: Told, old: Told) -> Decision:
    if opinion == "same":
        apart = distinguished(statement(new), statement(old))
        return found if apart else Decision(Verdict.SAME, "judged the same")
    if opinion == "new" or new.speaker != old.speaker:
        return found  # what another side says changes no fact
    if opinion == "contradicts" or (new.timestamp is None) != (old.timestamp is None):
        return Decision(Verdict.CONTRADICTS, "judged to contradict")
    earlier_wins = new.timestamp is not None and old.timestamp is not None and new.timestamp < old.timestamp
    return Decision(Verdict.EVOLVES, "judged a newer value", earlier_wins=earlier_wins)
