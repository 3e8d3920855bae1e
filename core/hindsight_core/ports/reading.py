"""What a store is asked: who may see what, probes, and the columns that answer them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from hindsight_core.ports.arrays import Doubles, Floats, Ids, Ints
from hindsight_core.ports.models import Told
from hindsight_core.unit import Key, MemoryUnit, Scope, Status

if TYPE_CHECKING:
    from hindsight_core.filters import Filter


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
        learnt_mean: Mean sum of `Candidates.learnt` over all visible memories; 0 when the probe asks for no tokens.
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
        learnt: float32 (n, L) product of the learnt weights of memory and question for each of its tokens; None when it has none.
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


@dataclass(frozen=True, slots=True)
class Gist:
    """What of a memory is looked at when another one comes in beside it.

    Attributes:
        key: Which memory.
        told: What it says.
        links: How many it has.
    """

    key: Key
    told: Told
    links: int

    @classmethod
    def of(cls, unit: MemoryUnit) -> Gist:
        """The gist of a memory."""
        return cls(unit.key, Told.by(unit), len(unit.related_ids))


class Reading(Protocol):
    """A consistent view for the length of one recall."""

    def expect(self, probes: Sequence[Probe]) -> None:
        """A hint: these very probes are about to be given to `search` or `holders`.

        A store that is asked over a network sends what they need with its next request; no answer depends on it.
        """
        ...

    def begin_search(self, visible: Visibility, vectors: Sequence[Floats]) -> None:
        """A hint: `search` is about to be asked for these very vectors.

        A store that keeps them in memory begins to compare them beside what its caller does meanwhile; no answer depends
        on it.
        """
        ...

    def begin_near(self, visible: Visibility, vectors: Floats, *, top: int, least: float) -> None:
        """A hint: `near` is about to be asked for this, in this reading or the next one; likewise."""
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

    def gists(self, rows: Ints) -> list[Gist]:
        """`Gist.of` each, in that order."""
        ...
