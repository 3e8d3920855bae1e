"""A question for a value meets two turns that give one: the later value stands first.

Both turns stay, as each says more than that value (see `consolidate.asked`). So nothing is hidden: of two among the best
hits the later one is put directly above the earlier, and only for the question that asks for what has changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hindsight_core.consolidate import AskedValue, asked_value
from hindsight_core.consolidate.asked import Given, tells_of_change
from hindsight_core.consolidate.decide import MACHINES
from hindsight_core.recall import Hit
from hindsight_core.text.keys import normalise_key
from hindsight_core.unit import MemoryUnit

_TOP = 10
_NEARLY = 0.6
"""Share of the earlier one's score that the later one must have on its own: what lies far behind answers something else."""


def looked_through(question: str, k: int) -> int:
    """How many hits to bring for k of them: the later value may be among the next ones."""
    return max(k, _TOP) if asked_value(question) is not None else k


def latest_value_first(question: str, hits: Sequence[Hit]) -> list[Hit]:
    """The hits, each directly above the best of those whose asked value it overtakes; all others keep their order."""
    found = list(hits)
    asked = asked_value(question) if len(hits) > 1 else None
    if asked is None:
        return found
    given = _Given(asked)
    for hit in hits[1:_TOP]:
        if hit.unit.source.speaker in MACHINES or not hit.unit.source.speaker:
            continue
        place = next(at for at, one in enumerate(found) if one is hit)
        for at, above in enumerate(found[:place]):
            if (
                hit.score >= _NEARLY * above.score
                and _follows(hit.unit, above.unit)
                and given.changed(hit)
                and given.of(hit).overtakes(given.of(above))
                and not _about_another(question, hit.unit, above.unit)
            ):
                found.insert(at, replace(found.pop(place), score=above.score))
                break
    return found


def _follows(later: MemoryUnit, earlier: MemoryUnit) -> bool:
    """Whether the same person says something later, or says it after an assistant did."""
    one, other = later.source.speaker, earlier.source.speaker
    if later.scope != earlier.scope or (other != one and other not in MACHINES):
        return False
    if later.timestamp is None or earlier.timestamp is None or later.timestamp == earlier.timestamp:
        return later.seq > earlier.seq and (later.timestamp is None) == (earlier.timestamp is None)
    return later.timestamp > earlier.timestamp


def _about_another(question: str, later: MemoryUnit, earlier: MemoryUnit) -> bool:
    """Whether the later one names something else where the earlier one names what the question asks about."""
    asked, told, before = (normalise_key(text) for text in (question, later.content, earlier.content))
    here, there = ({entity.key for entity in unit.entities} for unit in (later, earlier))
    return any(key in asked and key not in told for key in there - here) and any(
        key in told and key not in before  # as written: no date, and nobody who only speaks
        for key in here - there
    )


class _Given:
    """What the hits of one question give, each read once and only when it matters."""

    def __init__(self, asked: AskedValue) -> None:
        self._asked = asked
        self._read: dict[int, Given] = {}

    def changed(self, hit: Hit) -> bool:
        return id(hit) in self._read or tells_of_change(hit.unit.content)

    def of(self, hit: Hit) -> Given:
        if id(hit) not in self._read:
            self._read[id(hit)] = self._asked.given(hit.unit.content)
        return self._read[id(hit)]
