"""Everything the engine needs from outside, as small Protocols, and the values that cross them.

An implementation need not inherit from anything here; it needs the methods. A store is the largest: it keeps
units (`Transaction`, `Library`) and answers probes (`Reading`). A probe is answered with *columns* (NumPy arrays
over candidates), never with per-row objects: fusion is then one pure function over arrays, and it sees the same
inputs whatever the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hindsight_core.unit import Entity, Episode, Key, MemoryType, MemoryUnit, Scope, Status

if TYPE_CHECKING:
    from hindsight_core.filters import Filter
    from hindsight_core.journal import Event

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]
Ids = NDArray[np.uint64]
"""Hashed terms or entity keys, one uint64 each (see `text.hashing`)."""


# -- small ports ---------------------------------------------------------------------------------------------


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


# -- writing -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    """What search needs of a unit beyond its fields.

    Attributes:
        vector: float32, shape (dimension,), length 1; None when the store has no embedder.
        terms: Packed terms of the text, sorted (see `text.tokens.pack`), behind those of its tokens where a sparse embedder
            weighed them (see `text.learnt`).
    """

    vector: Floats | None
    terms: Ids


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A use as it is kept beside the journal: the unit's strength after it.

    Attributes:
        key: Which memory.
        weight: Strength as of `at`.
        at: When it was used.
        access_count: Uses so far.
    """

    key: Key
    weight: float
    at: datetime
    access_count: int


class Transaction(Protocol):
    """One atomic write: all of it is stored, or nothing. Reads in it see its own writes and no one else's later ones."""

    def get(self, key: Key) -> MemoryUnit | None:
        """The unit as it stands inside this transaction."""
        ...

    def repeats(self, scope: Scope, content: str) -> list[MemoryUnit]:
        """Active units of exactly this scope that say the same words (see `text.keys.digest`), oldest first."""
        ...

    def units_of(self, scope: Scope, episode: str) -> list[MemoryUnit]:
        """As `Library.units_of`, inside this transaction."""
        ...

    def put(self, unit: MemoryUnit, entry: IndexEntry | None, *, reason: str) -> MemoryUnit:
        """Insert or replace a unit and journal it, all of it or (when it is refused) nothing of it.

        Links are the complete set of this unit's links. The store keeps their other ends (which is no event of the other
        unit), leaves out links to what does not exist, and orders them by id, kind and direction.

        Args:
            unit: The unit; `seq` is assigned by the store on insertion and kept on replacement. A removed unit that comes
                back with its `seq` keeps it.
            entry: Its index entry. None keeps the stored one of the same content, and brings back the one that the
                journal keeps of a removed unit or of earlier content; a unit with `indexed=False` needs none.
            reason: Why, in a few words without memory text.

        Returns:
            The unit as stored.

        Raises:
            InvalidInput: No entry is known, a vector of another dimension, metadata that is not JSON, a time entity
                whose key is no span.
        """
        ...

    def remove(self, key: Key, *, reason: str) -> None:
        """Delete a unit and every link to it; the journal keeps it, so the batch can be undone.

        Raises:
            NotFound: There is none.
        """
        ...

    def erase(self, key: Key) -> None:
        """Remove a unit for good: unit, episode span, journal contents, derived rows. A tombstone stays.

        Works for a unit that was removed, too. What others took over of it goes as well: occurrences of its wording or
        from its place, and the history of units that were merged away into it. The bytes are overwritten when the
        transaction ends, which rewrites the file: erase many units in one transaction.

        Raises:
            NotFound: There is none and there never was.
        """
        ...

    def let_go(self, keys: Iterable[Key], *, before: datetime) -> None:
        """Empty what the journal holds of units that are gone, and that nothing has happened to since an instant.

        Their events stay in their places as tombstones, as after `erase`. A unit that is there, or was until later,
        is left alone.
        """
        ...

    def put_episode(self, episode: Episode) -> None:
        """Insert or replace an episode."""
        ...

    def use(self, uses: Iterable[Use]) -> None:
        """Record uses in the aggregates; not journalled, never moves other columns."""
        ...

    def set_vectors(self, vectors: Mapping[Key, Floats]) -> None:
        """Replace the vectors of units, which stay as they are; not journalled. Every index takes them up."""
        ...

    def set_terms(self, terms: Mapping[Key, Ids]) -> None:
        """Replace the packed terms of units; as `set_vectors` otherwise."""
        ...

    def log_recall(self, recall_id: str, scope: Scope, at: datetime, keys: Sequence[Key]) -> None:
        """Remember which memories a recall gave, so that feedback can refer to it later."""
        ...

    def set_meta(self, name: str, value: str) -> None:
        """Set one of the store's own settings (calibration, ...).

        A store understands three names: with a new "embedder.fingerprint" the journal forgets its vectors, so that no undo
        brings back one of another model, and with a new "keywords.fingerprint" its learnt terms; "embedder.dimension" (set by
        the first vector otherwise) is what vectors must have.
        """
        ...


# -- reading -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Visibility:
    """Which memories may be seen at all. Applied before anything is counted, ranked or returned.

    Attributes:
        scopes: Prefixes of whole segments that may be read; never empty.
        now: Memories expired by then are gone.
        statuses: Which statuses are shown.
        where: The caller's filter.
        as_of: Only what held at that instant: `valid_from` (or `timestamp`; undated counts as always) <= as_of <
            `valid_to`; superseded memories are then visible while they held.
        known_at: Only what had been recorded by that instant, judged and shown as it was then. Exact for all that is
            journalled; uses are not, text is searched as it is today, and what is gone by now does not come back.
        unindexed: Also memories stored with `indexed=False` (for exact queries, never for search).
    """

    scopes: tuple[Scope, ...]
    now: datetime
    statuses: frozenset[Status] = frozenset({Status.ACTIVE})
    where: Filter | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    unindexed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One question, analysed, as the store sees it.

    Attributes:
        visible: What may be seen.
        vector: float32 (dimension,), or None: the vector channel is off.
        terms: uint64 (T,) hashed query terms, distinct.
        term_weights: float32 (T,).
        entities: uint64 (E,) hashed keys of what the question names, distinct: entity keys, and `text.keys.speaker_key` of
            who said it.
        windows: float64 (w, 2) of [start, end) in epoch seconds, open ends infinite; no row = no time asked for.
        top: How many candidates each channel may bring.
        common: Query terms held by more visible memories than this are ignored; None = none is.
        k1: BM25 term saturation.
        b: BM25 length normalisation.
        learnt: uint64 (L,) hashed tokens of the question, distinct, where a sparse embedder weighed them.
        learnt_weights: float32 (L,).
    """

    visible: Visibility
    vector: Floats | None
    terms: Ids
    term_weights: Floats
    entities: Ids
    windows: Doubles = field(default_factory=lambda: np.empty((0, 2)))
    top: int = 100
    common: int | None = None
    k1: float = 0.9
    b: float = 0.7
    learnt: Ids = field(default_factory=lambda: np.empty(0, np.uint64))
    learnt_weights: Floats = field(default_factory=lambda: np.empty(0, np.float32))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bank:
    """Statistics over everything the probe may see (only that: statistics must not leak between scopes).

    Attributes:
        size: Number of visible memories N.
        cosine_mean: Mean cosine of the query with all visible vectors; nan when there are none.
        cosine_std: Its standard deviation.
        keyword_mean: Mean weighted BM25 sum over all visible memories, those without any query term counting 0.
        keyword_std: Its standard deviation.
        term_df: int64 (T,) number of visible memories holding each query term.
        entity_df: int64 (E,) the same for query entities.
        newest: Epoch seconds of the newest dated visible memory; nan when none is dated.
        learnt_mean: Mean of `Candidates.learnt` over all visible memories; 0 when the probe asks for no tokens.
        learnt_std: Its standard deviation.
    """

    size: int
    cosine_mean: float
    cosine_std: float
    keyword_mean: float
    keyword_std: float
    term_df: Ints
    entity_df: Ints
    newest: float
    learnt_mean: float = 0.0
    learnt_std: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Columns over n candidates; `rows` are handles valid within the same `Reading` only, distinct.

    Attributes:
        rows: int64 (n,).
        ids: The ids, list of n strings (ties are broken by them).
        cosine: float32 (n,); nan where a memory has no vector or the probe has none.
        terms: float32 (n, T) BM25 contribution of each query term, before `term_weights`.
        entities: bool (n, E) which query entities the memory names.
        timestamp: float64 (n,) epoch seconds; nan = undated.
        in_window: bool (n,) said in one of the windows, or about a time in one.
        importance: float32 (n,).
        weight: float32 (n,) strength as of `weight_at`.
        weight_at: float64 (n,) epoch seconds.
        memory_type: int8 (n,) index into list(MemoryType).
        status: int8 (n,) index into list(Status).
        seq: int64 (n,) order of arrival.
        group: int64 (n,) code of the session or document it belongs to within its scope; -1 = none.
        length: int32 (n,) number of terms in the memory, tokens not counted.
        learnt: float32 (n,) dot product with the learnt weights of the question's tokens; None when it has none.
    """

    rows: Ints
    ids: list[str]
    cosine: Floats
    terms: Floats
    entities: NDArray[np.bool_]
    timestamp: Doubles
    in_window: NDArray[np.bool_]
    importance: Floats
    weight: Floats
    weight_at: Doubles
    memory_type: NDArray[np.int8]
    status: NDArray[np.int8]
    seq: Ints
    group: Ints
    length: NDArray[np.int32]
    learnt: Floats | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edges:
    """Directed edges between memories, by row handle: activation may flow from source to target.

    Attributes:
        source: int64 (m,).
        target: int64 (m,).
        kind: int8 (m,) index into list(LinkKind); FOLLOWS for neighbours within a group, ENTITY for a shared entity,
            else the kind of the stored link.
        distance: int32 (m,) steps within the group for FOLLOWS (1 = adjacent), 1 otherwise.
        entity: uint64 (m,) the shared entity's hash for ENTITY, 0 otherwise.
        degree: int32 (m,) number of visible memories naming that entity, 0 otherwise.
    """

    source: Ints
    target: Ints
    kind: NDArray[np.int8]
    distance: NDArray[np.int32]
    entity: Ids
    degree: NDArray[np.int32]


class Reading(Protocol):
    """A consistent view for the length of one recall."""

    def expect(self, probes: Sequence[Probe]) -> None:
        """A hint: these very probes are about to be given to `search` or `holders`.

        A store that is asked over a network sends what they need with its next request; no answer depends on it.
        """
        ...

    def search(self, probe: Probe) -> tuple[Candidates, Bank]:
        """Union of the top candidates of every channel that is on.

        Vector: by cosine. Keyword: by weighted BM25 sum, only > 0; by learnt weights as well, where the probe has some. Entity: by summed idf of named entities, only > 0.
        Time: in a window, best by (cosine + keyword), then newest, when a time is asked for. Ties by id.
        """
        ...

    def signals(self, probe: Probe, rows: Ints) -> Candidates:
        """Exact signals for given rows (which must come from this reading), in that order."""
        ...

    def holders(self, probe: Probe) -> tuple[Ints, Ints]:
        """The keyword channel alone: the rows of its top candidates in any order, and int64 (T,) as `Bank.term_df`."""
        ...

    def held(self, probe: Probe, rows: Ints) -> NDArray[np.bool_]:
        """Which of given rows (which must come from this reading) hold which of the probe's terms, bool (len(rows), T).

        Terms that the probe passes over as too common count as not held.
        """
        ...

    def neighbours(
        self, probe: Probe, rows: Ints, *, reach: int, entities: int, hub: int, links: Ints | None = None
    ) -> Edges:
        """Edges from rows to visible memories.

        Args:
            probe: Whose visibility applies.
            rows: Where activation starts.
            reach: Neighbours up to so many steps before and after in the same group; 0 = none.
            entities: At most so many memories per shared entity (newest first); 0 = none.
            hub: Entities named by more visible memories than this are not followed.
            links: Rows whose stored links are followed as well; None = none.
        """
        ...

    def rows_of(self, keys: Sequence[Key]) -> Ints:
        """Row handles of keys, int64 (len(keys),); -1 where a key is unknown or not indexed."""
        ...

    def near(self, visible: Visibility, vectors: Floats, *, top: int, least: float) -> tuple[Ints, Floats]:
        """The nearest visible memories of each of m vectors, by cosine, best first.

        Args:
            visible: What may be seen.
            vectors: float32 (m, dimension).
            top: At most so many for each.
            least: Only with a cosine of at least this.

        Returns:
            Rows int64 (m, top), filled up with -1, and cosines float32 (m, top), filled up with nan.
        """
        ...

    def vectors(self, rows: Ints) -> Floats:
        """Their vectors, float32 (n, dimension), a copy; a row of nan where there is none."""
        ...

    def units(self, rows: Ints) -> list[MemoryUnit]:
        """The memories themselves, in that order."""
        ...

    def texts(self, rows: Ints) -> list[str]:
        """Their contents alone, in that order."""
        ...


@dataclass(frozen=True, slots=True)
class Vital:
    """Strength and standing of a unit; times in epoch seconds.

    Attributes:
        key: Which.
        status: Where it stands.
        pinned: Never swept.
        importance: 0..1.
        weight: Strength as of `weight_at`.
        weight_at: When that was.
        last_read: Last use, or when it was recorded.
        expires_at: Gone after this, or None.
        seq: Order of arrival.
    """

    key: Key
    status: Status
    pinned: bool
    importance: float
    weight: float
    weight_at: float
    last_read: float
    expires_at: float | None
    seq: int


class Library(Protocol):
    """Exact access by key and by filter."""

    def get(self, keys: Sequence[Key]) -> list[MemoryUnit | None]:
        """Units by key, None where there is none. Visibility is the caller's business."""
        ...

    def units_of(self, scope: Scope, episode: str) -> list[MemoryUnit]:
        """Units that came from an episode or were said again in it, whatever their status, in order of the text."""
        ...

    def vitals(self, visible: Visibility) -> list[Vital]:
        """What a sweep needs of every visible unit, unindexed ones included, without loading them; in order of arrival."""
        ...

    def without_vector(self, visible: Visibility) -> list[Key]:
        """Visible indexed units that have no vector, in order of arrival."""
        ...

    def without_tokens(self, visible: Visibility) -> list[Key]:
        """Visible indexed units that have no learnt terms, in order of arrival."""
        ...

    def find(
        self, visible: Visibility, *, limit: int | None = None, offset: int = 0, newest_first: bool = True
    ) -> list[MemoryUnit]:
        """Units that match exactly, by (timestamp, seq); undated ones count as the oldest."""
        ...

    def count(self, visible: Visibility, *, by: str | None = None) -> dict[str, int]:
        """Counts by "entity", "type", "status", "day", "speaker", "session" or "metadata.KEY"; {"": n} for None.

        The largest first, then by name. A unit without a value is counted nowhere, one with several once under each.
        Entities are counted under their keys (time spans are none), days as they were where it was said.
        """
        ...

    def episodes(
        self, scope: Scope, ids: Sequence[str] | None = None, *, session: str | None = None
    ) -> list[Episode]:
        """Episodes by id or of one session, in order of turn, time and arrival; all of the scope when neither is given."""
        ...


class Journal(Protocol):
    """What happened, in order."""

    def events(
        self,
        *,
        after: int = 0,
        key: Key | None = None,
        batch: str | None = None,
        scopes: Sequence[Scope] | None = None,
    ) -> Iterator[Event]:
        """Events in order of their sequence number: of exactly this key, of one batch, in these scopes and below."""
        ...

    def position(self) -> int:
        """Number of the last event; 0 when there is none."""
        ...

    def changed(self, *, after: int, scopes: Sequence[Scope]) -> list[Key]:
        """The units in these scopes and below that events after this number are about, each once; gone ones too."""
        ...

    def recall_log(self, recall_id: str) -> tuple[Scope, list[Key]] | None:
        """Scope and memories of a past recall."""
        ...


@runtime_checkable
class Store(Library, Journal, Protocol):
    """A place where memories live."""

    def write(
        self, *, actor: str, batch: str, now: datetime, durable: bool = True
    ) -> AbstractContextManager[Transaction]:
        """Begin an atomic write; commits when the block ends, rolls back when it raises.

        With `durable` false it outlives this process, and the machine's power only once a later write is durable.

        Inside the block, the same thread's other calls to the store (also `reading`) see what it has written so far, and
        nobody else does. A write inside a reading is refused.
        """
        ...

    def reading(self, visible: Visibility) -> AbstractContextManager[Reading]:
        """A consistent view, caught up with everything committed so far by any process."""
        ...

    def meta(self) -> Mapping[str, str]:
        """The store's own settings."""
        ...

    def scopes(self, prefix: Scope = ()) -> list[Scope]:
        """Scopes under a prefix that hold at least one unit or episode."""
        ...

    def stats(self, visible: Visibility) -> Mapping[str, Any]:
        """Counts and sizes over what is visible.

        "memories", "active", "archived", "superseded", "episodes", "pending" (episodes not encoded), "links",
        "entities" (distinct), "without_vector", "oldest", "newest" (ISO), "file_bytes" (of the whole store).
        """
        ...

    def check(self) -> list[tuple[str, str]]:
        """What is wrong with the store itself, each with its remedy; empty when it is sound."""
        ...

    def close(self) -> None:
        """Release everything; any later call raises StoreClosed. Closing twice is fine."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a store promises beyond the contract; a missing one is skipped visibly by the contract suite.

    Attributes:
        persistent: Survives closing.
        multiprocess: Several processes may open it at once.
        atomic: A transaction is all or nothing even when the process is killed.
        erases_bytes: After `erase` no byte of the text is left in any file.
        exact_statistics: `Bank` is exact however many memories may be seen; else it is estimated beyond some number.
    """

    persistent: bool = True
    multiprocess: bool = True
    atomic: bool = True
    erases_bytes: bool = True
    exact_statistics: bool = True
    notes: Mapping[str, str] = field(default_factory=dict)
