"""The small ports: the clock, and whatever may stand behind embedding, extraction, judging and ranking again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol, runtime_checkable

from hindsight_core.ports.arrays import Floats
from hindsight_core.unit import Entity, MemoryType, MemoryUnit


class Clock(Protocol):
    """Tells the time; the engine's only source of "now"."""

    def now(self) -> datetime:
        """The current instant, aware."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns text into vectors.

    Attributes:
        dimension: Length of a vector.
        fingerprint: Stable name of model, weights and prefixes; equal fingerprints mean interchangeable vectors.
    """

    @property
    def dimension(self) -> int: ...  # noqa: D102

    @property
    def fingerprint(self) -> str: ...  # noqa: D102

    def embed_documents(self, texts: list[str]) -> Floats:
        """Vectors of passages: float32, shape (len(texts), dimension), rows of length 1."""
        ...

    def embed_query(self, text: str) -> Floats:
        """Vector of a question: float32, shape (dimension,), length 1."""
        ...


@runtime_checkable
class SparseEmbedder(Protocol):
    """Gives the tokens of a text learnt weights, whose dot product is a keyword score.

    Attributes:
        sparse_fingerprint: Stable name of model and weights; equal ones mean interchangeable tokens and weights.
    """

    @property
    def sparse_fingerprint(self) -> str: ...  # noqa: D102

    def sparse_documents(self, texts: list[str]) -> Sequence[Mapping[int, float]]:
        """For each passage its tokens (below 2**24 - 1) with their weights; what has none counts 0."""
        ...

    def sparse_query(self, text: str) -> Mapping[int, float]:
        """The same of a question."""
        ...


@dataclass(frozen=True, slots=True)
class Told:
    """A text with who said it and when: all there is to judge by what it means for another."""

    text: str
    speaker: str | None
    timestamp: datetime | None

    @classmethod
    def by(cls, unit: MemoryUnit) -> Told:
        """A memory as it is judged."""
        return cls(unit.content, unit.source.speaker, unit.timestamp)


Relation = Literal["same", "evolves", "contradicts", "new"]
"""What a text means for an earlier one: it says the same, replaces it, cannot hold beside it, or none of these."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What somebody thinks a text means for one that is remembered; the engine decides what comes of it."""

    known: Told
    relation: Relation


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionContext:
    """What an extractor may know besides the text.

    Attributes:
        timestamp: When it was said; relative times in the text refer to it. None when unknown.
        speaker: Who said it.
        entity_types: The entity types to look for (the profile's).
        near: What is remembered that is near it, nearest first; only given to an extractor with `extract_many`.
    """

    timestamp: datetime | None
    speaker: str | None
    entity_types: frozenset[str]
    near: tuple[Told, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What an extractor found in one piece of text.

    Attributes:
        summary: The core fact in one sentence, in the language of the text.
        entities: What it is about; a time entity's key is its span "start/end" in ISO form (either may be empty).
        importance: 0..1 by the rubric.
        memory_type: Episodic, semantic or procedural.
        opinions: What it means for what is near, where the extractor can say.
    """

    summary: str
    entities: tuple[Entity, ...]
    importance: float
    memory_type: MemoryType
    opinions: tuple[Opinion, ...] = ()


class Extractor(Protocol):
    """Finds summary, entities, importance and type of a piece of text.

    One that does better with many pieces at once may also have the method of `BatchExtractor`.
    """

    def extract(self, text: str, context: ExtractionContext) -> Extraction:
        """Extract from one piece of text; never changes it."""
        ...


@runtime_checkable
class BatchExtractor(Protocol):
    """An extractor that takes many pieces at once."""

    def extract_many(
        self, pieces: Sequence[tuple[str, ExtractionContext]]
    ) -> Sequence[Extraction | Exception]:
        """For each piece an extraction, or why there is none: `AnswerUnusable` where asking again is of no use."""
        ...


class Judge(Protocol):
    """Says what a text means for an earlier one that is near it, where rules cannot tell."""

    def judge(self, pairs: Sequence[tuple[Told, Told]]) -> Sequence[Relation | None]:
        """For each pair (later, earlier) the relation; None where it does not say. The most alike pairs come first."""
        ...


class Reranker(Protocol):
    """Scores passages against a question more carefully than fusion can."""

    def rerank(self, query: str, passages: Sequence[str]) -> Floats:
        """One score in 0..1 per passage, shape (len(passages),)."""
        ...
