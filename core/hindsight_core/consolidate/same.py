"""When two texts are one memory: the same words, or the same meaning with nothing in it that distinguishes.

A high cosine alone says little: "port 7420" and "port 7421", "I like tea" and "I don't like tea", 三楼 and 四楼 lie closer
to each other than most paraphrases. So every difference in numbers, dates, units, names, polarity, opposites,
quantifiers or manner (a question, a plan, a one-off) keeps two texts apart, however similar they are.
"""

from __future__ import annotations

from collections import Counter

from hindsight_core.consolidate.lazy import Lazy
from hindsight_core.consolidate.marks import Mark
from hindsight_core.consolidate.statement import Statement
from hindsight_core.consolidate.values import Value, comparable, same_amount

SAME_FROM = 0.95
"""Calibrated similarity from which other words may say the same (the article this design follows: .90 too eager, .98 too shy)."""
SAME_WORDS_FROM = 0.5
"""Similarity that texts of the same topical words must still have: they may say it in another order."""

_NUMERAL = Lazy(r"[\d〇零一二两三四五六七八九十百千]")
_MANNER = Mark.ENDED | Mark.ONCE | Mark.ASKS | Mark.PLANS | Mark.SUPPOSES | Mark.REPORTS | Mark.NOT


def repeats(one: Statement, other: Statement, similarity: float | None) -> str | None:
    """Why two texts say the same, or None; symmetric.

    Args:
        one: A statement.
        other: Another.
        similarity: Their calibrated similarity; None without an embedder.
    """
    if one.digest == other.digest:
        return None if one.first and _apart(one, other) else "same words"
    if not (one.whole and other.whole) or distinguished(one, other):
        return None
    words, others = (Counter(what for what, kind in text.content if kind != "#") for text in (one, other))
    added, missing = words - others, others - words
    if not added and not missing:
        events = (one.marks ^ other.marks) & Mark.EVENT
        return (
            "same words in other forms"
            if words and not events and (similarity is None or similarity >= SAME_WORDS_FROM)
            else None
        )
    if similarity is None or similarity < SAME_FROM:
        return None
    if added and missing and not (_verbs(one, added) and _verbs(other, missing)):
        return None  # one word stands for another: the red van, the blue van
    return "same meaning"


def distinguished(one: Statement, other: Statement) -> bool:
    """Whether something keeps two texts apart however similar they are; symmetric."""
    return (
        bool((one.marks ^ other.marks) & _MANNER)
        or ((one.first or other.first) and _apart(one, other))
        or opposed(one.ends, other.ends)
        or opposed(one.quantities, other.quantities)
        or (bool(one.persons and other.persons) and one.persons != other.persons)
        or not _same_values(one, other)
        or _names(one, other) != _names(other, one)
    )


def opposed(one: frozenset[tuple[int, int]], other: frozenset[tuple[int, int]]) -> bool:
    """Whether two sets of axis ends disagree on an axis both name."""
    if one == other or not one or not other:
        return False
    axes = {axis for axis, _ in one} & {axis for axis, _ in other}
    return any(
        {end for axis, end in one if axis == at}.isdisjoint(end for axis, end in other if axis == at)
        for at in axes
    )


def _apart(one: Statement, other: Statement) -> bool:
    return one.speaker != other.speaker and one.speaker is not None and other.speaker is not None


def _same_values(one: Statement, other: Statement) -> bool:
    """Whether the values and symbols of two texts are the same, in the same order for the same kind."""
    left = [value for value, kind in one.content if kind in "#s"]
    right = [value for value, kind in other.content if kind in "#s"]
    if left == right:
        return True
    return len(left) == len(right) and all(_equal(a, b) for a, b in zip(left, right, strict=True))


def _equal(one: str | Value, other: str | Value) -> bool:
    if isinstance(one, Value) and isinstance(other, Value):
        return same_amount(one, other) and (
            comparable(one, other) or (one.kind == other.kind == "count" and "" in (one.unit, other.unit))
        )
    return one == other


def _names(one: Statement, other: Statement) -> list[str | Value]:
    """What either text writes as a name, or with a number in it, in the order of the first."""
    named = {what for text in (one, other) for what, kind in text.content if kind == "n"}
    words = (what for what, kind in one.content if kind not in "#s")
    return [what for what in words if what in named or _NUMERAL.search(str(what))]


def _verbs(text: Statement, words: Counter[str | Value]) -> bool:
    return all(kind == "v" for what, kind in text.content if what in words)
