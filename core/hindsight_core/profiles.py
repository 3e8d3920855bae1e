"""Settings, frozen and checked, and the presets that bundle them.

A profile says how a memory weighs its signals and how fast it forgets. The weights of the three named presets
are the published ones of the design; `DEFAULT` is set by measurement on several kinds of data at once.

Checks by hand: .99 ** 30 = .740, .99 ** 90 = .405, exp(-.05 * 30) = .223.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from hindsight_core.errors import InvalidSettings

ENTITY_TYPES = frozenset(
    {"person", "organisation", "place", "system", "config", "version", "identifier", "path", "title", "time"}
)
"""Every entity type the rules extractor knows; a profile picks from these or names its own for another extractor."""


def _check(subject: object, faults: Iterator[str]) -> None:
    found = list(faults)
    if found:
        raise InvalidSettings(type(subject).__name__, found)


def _outside(owner: Any, low: float, high: float, *names: str) -> Iterator[str]:
    for name in names:
        value = getattr(owner, name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            yield f"{name} must be a number, not {type(value).__name__}"
        elif not math.isfinite(value) or not low <= value <= high:
            yield f"{name} must be in {low:g}..{high:g}, not {value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Weights of the five signals; scaled to sum 1 where they are used, so only their ratios matter.

    Attributes:
        vector: Meaning.
        keyword: Words.
        entity: Names the question and the memory share.
        recency: exp(-lambda * days).
        importance: Importance scaled by strength.
    """

    vector: float = 0.40
    keyword: float = 0.22
    entity: float = 0.20
    recency: float = 0.10
    importance: float = 0.10

    def __post_init__(self) -> None:
        _check(self, self._faults())

    def _faults(self) -> Iterator[str]:
        names = [f.name for f in fields(self)]
        faults = list(_outside(self, 0.0, 1000.0, *names))
        yield from faults
        if not faults and self.vector + self.keyword + self.entity <= 0:
            yield "at least one of vector, keyword and entity must be above 0"

    @property
    def total(self) -> float:
        """The sum that brings scores to 0..1."""
        return self.vector + self.keyword + self.entity + self.recency + self.importance


@dataclass(frozen=True, slots=True, kw_only=True)
class Spreading:
    """Association: how far activation flows from a hit to what it is linked with; 0 switches a path off.

    Attributes:
        turn: A turn is read as the centre of a window: words of the turn d steps away count turn / d.
        turn_meaning: The same for meaning: turn_meaning / d of how much the neighbour's cosine exceeds the mean.
        reach: Neighbouring turns looked at, before and after.
        fade: A memory of so many words takes half of that from its neighbours; a longer one has its own words. Over a
            bridge, too, it takes half: a long one holds something of everything.
        session: Share of the evidence of the best memory of the same session or document.
        named: What naming all that the question names is worth, in deviations of the vector channel.
        speaker: What being said by the one person the question names is worth, in the same unit.
        bridge: Share handed over rare words or names that the question does not contain, to memories that answer
            what is left of the question.
        seeds: Best hits from which bridges start.
        link: Share handed over a stored link.
        cover: Once a hit holds a word of the question, later hits get so much less for holding it too: several
            memories that answer different parts come before several that answer the same part.
        repeat: What a later hit loses for saying nearly the same as an earlier one.
    """

    turn: float = 0.7
    turn_meaning: float = 0.3
    reach: int = 2
    fade: float = 60.0
    session: float = 0.4
    named: float = 0.3
    speaker: float = 1.3
    bridge: float = 1.2
    seeds: int = 3
    link: float = 0.3
    cover: float = 0.25
    repeat: float = 0.5

    def __post_init__(self) -> None:
        _check(self, self._faults())

    def _faults(self) -> Iterator[str]:
        yield from _outside(self, 0.0, 1.0, "turn", "turn_meaning", "session", "link", "cover")
        yield from _outside(self, 0.0, 5.0, "bridge", "repeat", "named", "speaker")
        yield from _outside(self, 0, 10, "reach")
        yield from _outside(self, 1e-6, 1e9, "fade")
        yield from _outside(self, 0, 50, "seeds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Everything that can be tuned about one memory.

    Attributes:
        name: Shown in stats and reports.
        weights: Of the five signals.
        spreading: Association.
        recency_rate: Lambda of exp(-lambda * days), per day.
        age: Share of the recency weight that mere age gets; the time a question asks for gets all of it.
        decay: Strength kept per day.
        archive_below: Strength below which a sweep archives.
        retrieval_bonus: Strength added by a real use, capped at 1.
        refractory: Seconds within which repeated use counts once.
        floor: Least `relevance` a hit must have; None returns whatever ranks highest.
        mention: Least `relevance` of the best hit for `recollect` to bring it up unasked.
        channel_top: Candidates each channel may bring.
        entity_types: What the extractor looks for.
        redact_secrets: Replace keys, tokens and passwords before anything is stored.
    """

    name: str = "default"
    weights: Weights = field(default_factory=Weights)
    spreading: Spreading = field(default_factory=Spreading)
    recency_rate: float = 0.05
    age: float = 0.3
    decay: float = 0.99
    archive_below: float = 0.10
    retrieval_bonus: float = 0.10
    refractory: float = 3600.0
    floor: float | None = 0.34
    mention: float = 0.4
    channel_top: int = 64
    entity_types: frozenset[str] = ENTITY_TYPES
    redact_secrets: bool = True

    def __post_init__(self) -> None:
        _check(self, self._faults())

    def _faults(self) -> Iterator[str]:
        if not self.name:
            yield "name must not be empty"
        yield from _outside(self, 0.0, 100.0, "recency_rate")
        yield from _outside(self, 0.0, 1.0, "age", "archive_below", "retrieval_bonus", "mention")
        yield from _outside(self, 1e-6, 1.0, "decay")
        yield from _outside(self, 0.0, 1e9, "refractory")
        yield from _outside(self, 1, 10_000, "channel_top")
        if self.floor is not None:
            yield from _outside(self, 0.0, 1.0, "floor")
        if isinstance(self.entity_types, str):
            yield "entity_types must be a set of names, not one string"


DEFAULT = Profile()
TECH_DOCS = Profile(
    name="tech_docs",
    weights=Weights(vector=0.40, keyword=0.25, entity=0.20, recency=0.05, importance=0.10),
    age=1.0,
)
ASSISTANT = Profile(
    name="assistant",
    weights=Weights(vector=0.30, keyword=0.15, entity=0.15, recency=0.25, importance=0.15),
    age=1.0,
    decay=0.97,
    archive_below=0.15,
)
SUPPORT = Profile(
    name="support",
    weights=Weights(vector=0.35, keyword=0.30, entity=0.20, recency=0.10, importance=0.05),
    age=1.0,
    decay=0.995,
    archive_below=0.08,
)
