"""The values a memory is made of: frozen, slotted, compared by content.

A *unit* is one remembered fact; an *episode* is the raw text as it was given, kept so that nothing said is
ever lost. Values never change: a transition makes a new unit (`dataclasses.replace`) and one journal event
that holds the unit before and after, so replaying the journal gives the same state.

All instants are aware datetimes; naive input is read as UTC where it enters the engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from hindsight_core.tables import html_table

Scope = tuple[str, ...]
Key = tuple[Scope, str]
"""A memory's address: its scope and its id, unique together."""


class MemoryType(StrEnum):
    """What kind of memory: something that happened, something that holds, or how something is done."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"


class Status(StrEnum):
    """Where a memory stands in its life."""

    ACTIVE = "active"
    ARCHIVED = "archived"
    SUPERSEDED = "superseded"


class LinkKind(StrEnum):
    """Why two memories are linked; every link is stored at both ends."""

    FOLLOWS = "follows"
    SIMILAR = "similar"
    ENTITY = "entity"
    EVOLVES = "evolves"
    CONTRADICTS = "contradicts"
    MERGED = "merged"


DIRECTED = frozenset({LinkKind.FOLLOWS, LinkKind.EVOLVES, LinkKind.MERGED})
"""Kinds whose two ends differ: one is `outgoing` (the later, the successor, the survivor), the other is not."""


@dataclass(frozen=True, slots=True)
class Entity:
    """Something a memory is about.

    Attributes:
        name: The words as written.
        type: person, system, config, version, time, ...: one of the profile's types.
        key: The normalised form under which equal entities meet (NFKC, case-folded, spaces collapsed).
    """

    name: str
    type: str
    key: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link to another memory of the same scope.

    Attributes:
        id: The other memory.
        kind: Why they are linked.
        outgoing: For a directed kind, whether this end is the later one (for EVOLVES: this memory is the
            successor of `id`; for FOLLOWS: this memory comes after `id`; for MERGED: it took `id` in). True for the
            other kinds.
    """

    id: str
    kind: LinkKind
    outgoing: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a memory comes from.

    Attributes:
        speaker: Who said it.
        document: Id of the document, when it comes from one.
        uri: Where that document can be found.
        session: Conversation or sitting it belongs to.
        turn: Position within the session or document, counted from 0.
        section: Heading path within the document, such as "Install > Linux".
        span: Character offsets of the content within its episode.
        episode: Id of the episode that holds the raw text.
    """

    speaker: str | None = None
    document: str | None = None
    uri: str | None = None
    session: str | None = None
    turn: int | None = None
    section: str | None = None
    span: tuple[int, int] | None = None
    episode: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """One time a fact was said; `text` is kept only where the wording differs from the unit's content."""

    source: Source
    timestamp: datetime | None
    recorded_at: datetime
    text: str | None = None


def _empty() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUnit:
    """One remembered fact. Field by field as published in the design.

    Attributes:
        scope: Whose memory; compared segment by segment, exactly.
        id: Unique within its scope, time-ordered unless the caller brought an own id.
        seq: Order of arrival over the whole store; breaks ties of time. 0 until stored.
        content: The text, byte-exact (after redaction of secrets).
        summary: The core fact in one sentence.
        entities: What it is about.
        timestamp: When it was said or happened; None = undated, which is never "newest".
        occurrences: Every further time it was said.
        valid_from: From when the fact held; None = unknown, read as `timestamp`.
        valid_to: Until when the fact held; None = still holds.
        recorded_at: When this store learned it.
        last_access: Last real use.
        access_count: Number of real uses.
        pinned: Never swept.
        expires_at: Gone after this instant.
        indexed: Found by search, or only by key and filters.
        importance: 0..1, the rubric's 1-10 over 10.
        weight: Strength, as of `weight_at`; decays (see `strength.weight_now`).
        weight_at: The instant `weight` refers to.
        source: Where it comes from.
        related_ids: Links to other memories of the scope, always stored at both ends.
        memory_type: Episodic, semantic or procedural.
        status: Active, archived, or superseded (history).
        caller_id: Whether the caller chose the id; such a memory is never merged away.
        metadata: The caller's own JSON object.
    """

    scope: Scope
    id: str
    content: str
    recorded_at: datetime
    weight_at: datetime
    seq: int = 0
    summary: str = ""
    entities: tuple[Entity, ...] = ()
    timestamp: datetime | None = None
    occurrences: tuple[Occurrence, ...] = ()
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    last_access: datetime | None = None
    access_count: int = 0
    pinned: bool = False
    expires_at: datetime | None = None
    indexed: bool = True
    importance: float = 0.5
    weight: float = 0.5
    source: Source = field(default_factory=Source)
    related_ids: tuple[Link, ...] = ()
    memory_type: MemoryType = MemoryType.EPISODIC
    status: Status = Status.ACTIVE
    caller_id: bool = False
    metadata: Mapping[str, Any] = field(default_factory=_empty)

    @property
    def key(self) -> Key:
        """The memory's address."""
        return (self.scope, self.id)

    def _repr_html_(self) -> str:
        return html_table(("field", "value"), ((f.name, getattr(self, f.name)) for f in fields(self)))


class Units(list[MemoryUnit]):
    """A list of memories that shows itself as a table in a notebook."""

    def _repr_html_(self) -> str:
        return html_table(
            ("id", "when", "speaker", "memory", "type", "importance", "status"),
            (
                (
                    unit.id,
                    unit.timestamp.date().isoformat() if unit.timestamp else "",
                    unit.source.speaker or "",
                    unit.content,
                    unit.memory_type,
                    f"{unit.importance:.2f}",
                    unit.status,
                )
                for unit in self
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """The raw text as given (secrets redacted), stored before anything else is attempted.

    Attributes:
        scope: Whose.
        id: Unique within its scope.
        text: The text.
        source: Speaker, session, document.
        timestamp: When it was said.
        recorded_at: When it was stored.
        state: "pending" until its units are stored, then "encoded"; a pending one can be processed again. "cleared" when
            its units were taken back with all of their scope or batch: told again, it is encoded again.
        metadata: What the caller gave with it.
        envelope: What came around the text and is no part of the memory, such as a message's own id and tool calls.
        given: While it is pending, what else was asked for its units (importance, an end, ...), so that a process which is
            killed before they are stored loses none of it.
    """

    scope: Scope
    id: str
    text: str
    recorded_at: datetime
    source: Source = field(default_factory=Source)
    timestamp: datetime | None = None
    state: str = "pending"
    metadata: Mapping[str, Any] = field(default_factory=_empty)
    envelope: Mapping[str, Any] = field(default_factory=_empty)
    given: Mapping[str, Any] = field(default_factory=_empty)
