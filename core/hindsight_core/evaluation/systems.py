"""What is measured, behind one interface: load a bank, answer a question with ids.

`HindsightSystem` is a memory under a profile; the baselines of `evaluation.baselines` stand behind the same two methods. A
system sees the question's text, its moment and the turns before it. It never sees a label.

A long memory may be stored in pieces. Every system sees the same pieces, and answers with the memory a piece is of, at
the rank of the best one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

from hindsight_core.clock import FixedClock
from hindsight_core.engine import Hindsight
from hindsight_core.engine.recollection import says_something, worth_telling
from hindsight_core.errors import InvalidInput, InvalidSettings
from hindsight_core.evaluation.dataset import Memory, Question
from hindsight_core.evaluation.without import SWITCHES, without
from hindsight_core.ports import Embedder, Floats, Reranker, SparseEmbedder
from hindsight_core.profiles import DEFAULT, Profile
from hindsight_core.recall import Hits, render
from hindsight_core.reranking import BoundedReranker

UNDATED = datetime(2000, 1, 1, tzinfo=UTC)
"""The present of a bank in which nothing has a date; any instant would do."""

TOLD, TOLD_TOKENS = 5, 400
"""Memories and tokens that `recollect` brings up at most, by default."""

_PIECES_PER_MEMORY = 3
"""Pieces asked for per memory wanted, since several may be of one memory."""
_TOKENS_PER_PIECE = 10
"""Hardly any piece with its date takes less room in a text block."""


@dataclass(frozen=True, slots=True)
class Found:
    """A memory found, with its relevance in 0..1 on the system's own scale."""

    id: str
    relevance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a system gives for a question.

    Attributes:
        ranking: The best there is, best first, distinct; no floor.
        returned: What its user would get, floor and all; None for a system without a floor.
        seconds: What its user would wait, embedding apart.
        shown: Ids in the text block of at most so many tokens that would go into a prompt.
        told: Ids that would be brought up unasked, none where it is better to say nothing; None for a system that only
            answers.
    """

    ranking: tuple[Found, ...]
    returned: tuple[Found, ...] | None
    seconds: float
    shown: Callable[[int], set[str]]
    told: frozenset[str] | None = None


class System(Protocol):
    """Something that remembers and answers."""

    name: str

    def load(self, bank: str, memories: Sequence[Memory]) -> None:
        """Remember a bank, in the order given; banks are kept apart."""
        ...

    def ask(self, question: Question, *, now: datetime, k: int, superseded: bool) -> Answer:
        """Answer from the question's bank.

        Args:
            question: Without its labels.
            now: The moment of asking.
            k: Memories wanted.
            superseded: Superseded memories are wanted too.
        """
        ...

    def close(self) -> None:
        """Release everything."""
        ...


class Stopwatch:
    """An embedder that keeps count of the time spent in it, so that it can be left out of a latency."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.spent = 0.0

    @property
    def dimension(self) -> int:
        """That of the embedder."""
        return self._embedder.dimension

    @property
    def fingerprint(self) -> str:
        """That of the embedder."""
        return self._embedder.fingerprint

    def embed_documents(self, texts: list[str]) -> Floats:
        """As the embedder."""
        return self._timed(lambda: self._embedder.embed_documents(texts))

    def embed_query(self, text: str) -> Floats:
        """As the embedder."""
        return self._timed(lambda: self._embedder.embed_query(text))

    def _timed(self, call: Callable[[], Floats]) -> Floats:
        start = perf_counter()
        try:
            return call()
        finally:
            self.spent += perf_counter() - start


def distinct(found: Iterable[Found]) -> tuple[Found, ...]:
    """Each memory once, at the place of its best piece."""
    best: dict[str, Found] = {}
    for one in found:
        best.setdefault(one.id, one)
    return tuple(best.values())


@dataclass(slots=True)
class _Loaded:
    """Banks that several systems may share: which memory each stored piece is of."""

    owner: dict[str, dict[str, str]] = field(default_factory=dict)


class HindsightSystem:
    """A Hindsight memory under a profile: one store, one scope per bank.

    Args:
        name: Shown in reports.
        profile: Weights, spreading, floor.
        embedder: Or None.
        path: Where the store is kept; a kept store is not filled again.
        twin_of: Read the store of this system rather than fill an own one. Right for profiles that differ in how
            they recall, not in how they encode; see `same_encoding`.
        switched_off: Something of `without.SWITCHES` that it recalls without.
        reranker: Looks at the best hits again.
        keywords: Gives words learnt weights; for a system with a store of its own.
    """

    def __init__(
        self,
        name: str,
        *,
        profile: Profile = DEFAULT,
        embedder: Embedder | None,
        path: str | Path = ":memory:",
        twin_of: HindsightSystem | None = None,
        switched_off: str | None = None,
        reranker: Reranker | BoundedReranker | None = None,
        keywords: SparseEmbedder | None = None,
    ) -> None:
        self.name = name
        self._watch = Stopwatch(embedder) if embedder is not None else None
        self._clock = FixedClock(UNDATED)
        self._twin = twin_of is not None
        self._loaded: _Loaded = twin_of._loaded if twin_of else _Loaded()
        self.memory: Hindsight = Hindsight.open(
            twin_of.memory.parts.store if twin_of else path,
            scope="evaluation",
            profile=profile,
            embedder=self._watch,
            clock=self._clock,
            reranker=reranker,
            keywords=keywords,
        )
        self._asked = self.memory if switched_off is None else without(self.memory, switched_off)

    def load(self, bank: str, memories: Sequence[Memory]) -> None:
        """Remember a bank at the moment of its last memory."""
        if self._twin:
            return
        self._clock.set(max((m.timestamp for m in memories if m.timestamp), default=UNDATED))
        stored = self.memory.within(bank).remember_many(
            [
                {
                    "text": memory.text,
                    "id": memory.id,
                    "speaker": memory.speaker,
                    "session": memory.session,
                    "timestamp": memory.timestamp,
                }
                for memory in memories
            ],
            progress=False,
        )
        self._loaded.owner[bank] = {
            unit.id: memory.id for memory, units in zip(memories, stored, strict=True) for unit in units
        }

    def owners(self, bank: str) -> dict[str, str]:
        """The memory that each stored piece of a bank is of, by the id of the piece."""
        return self._loaded.owner[bank]

    def ask(self, question: Question, *, now: datetime, k: int, superseded: bool) -> Answer:
        """Answer twice: as a user would, timed, and without a floor."""
        memory, owner = self._asked.within(question.bank), self.owners(question.bank)
        spent = self._watch.spent if self._watch else 0.0
        start = perf_counter()
        usual = memory.recall(
            question.text, k=k, now=now, history=question.history, include_history=superseded
        )
        seconds = perf_counter() - start - ((self._watch.spent if self._watch else 0.0) - spent)

        def deep(k: int) -> Hits:
            return memory.recall(
                question.text,
                k=k,
                now=now,
                history=question.history,
                include_history=superseded,
                floor=None,
            )

        def shown(tokens: int) -> set[str]:
            """In the block of the best pieces that fit, as many as there is room for."""
            # `Hits.context` would count as a use and so change what the next question finds.
            return {owner[hit.unit.id] for hit in render(list(deep(tokens // _TOKENS_PER_PIECE)), tokens)[1]}

        return Answer(
            ranking=distinct(
                Found(owner[hit.unit.id], hit.relevance) for hit in deep(k * _PIECES_PER_MEMORY)
            ),
            returned=distinct(Found(owner[hit.unit.id], hit.relevance) for hit in usual)
            if memory.profile.floor is not None
            else None,
            seconds=seconds,
            shown=shown,
            told=frozenset(owner[id] for id in _told(usual, memory.profile, question.text)),
        )

    def close(self) -> None:
        """Close the store, unless it is another system's."""
        if not self._twin:
            self.memory.close()


def _told(hits: Hits, profile: Profile, message: str) -> list[str]:
    """What `recollect` would bring up, without counting as a use."""
    worth = worth_telling(hits[:TOLD], profile, message) if says_something(message) else None
    return [hit.unit.id for hit in render(list(worth), TOLD_TOKENS)[1]] if worth else []


def same_encoding(a: Profile, b: Profile) -> bool:
    """Whether what is stored under one profile is what would be stored under the other."""
    return a.entity_types == b.entity_types and a.redact_secrets == b.redact_secrets


def ablations() -> list[str]:
    """Everything that can be switched off in a profile, by name: whatever may be 0. See also `without.SWITCHES`."""
    weights = [f"weights.{f.name}" for f in fields(DEFAULT.weights)]
    return [*weights, *(f"spreading.{name}" for name in _paths()), "spreading"]


def _paths() -> list[str]:
    """The fields of `Spreading` that say how much of something there is, and not of what kind."""
    paths = []
    for f in fields(DEFAULT.spreading):
        if isinstance(f.default, float):
            with suppress(InvalidSettings):
                _without(DEFAULT, [f.name])
                paths.append(f.name)
    return paths


def ablated(profile: Profile, name: str) -> Profile:
    """The profile with one signal, one path of association or all association switched off.

    Raises:
        InvalidInput: There is nothing of that name; the message lists what there is.
    """
    if name not in ablations():
        there = ", ".join([*ablations(), *SWITCHES])
        raise InvalidInput(f"nothing called {name!r} can be switched off; there are {there}")
    part, _, what = name.partition(".")
    if part == "weights":
        without = replace(profile, weights=replace(profile.weights, **{what: 0.0}))
    else:
        without = _without(profile, [what] if what else _paths())
    return replace(without, name=f"without {name}")


def _without(profile: Profile, paths: Iterable[str]) -> Profile:
    zeros: dict[str, Any] = dict.fromkeys(paths, 0.0)
    return replace(profile, spreading=replace(profile.spreading, **zeros))
