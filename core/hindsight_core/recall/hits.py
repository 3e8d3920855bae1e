"""What a recall returns: hits in order, each able to explain itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

from hindsight_core.tables import html_table
from hindsight_core.unit import LinkKind, MemoryUnit


@dataclass(frozen=True, slots=True)
class Signal:
    """One signal of one hit.

    Attributes:
        raw: As measured: calibrated cosine, BM25, share of named entities, age factor, importance by strength.
        value: Brought to 0..1 for this query.
        weighted: Its share of the score.
    """

    raw: float
    value: float
    weighted: float


@dataclass(frozen=True, slots=True)
class Via:
    """The association that carried activation to a hit: from which memory, over which kind of link."""

    id: str
    kind: LinkKind
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One recalled memory.

    Attributes:
        unit: The memory.
        score: 0..1, ranks within this recall.
        relevance: 0..1, absolute: the same meaning in a store of one memory and of a million.
        signals: By name: vector, keyword, entity, recency, importance, and rerank where a reranker looked at it.
        via: The link it came over, if any.
        predecessors: Earlier, superseded values of the same fact, newest first.
        contradicts: Active memories it is in contradiction with.
    """

    unit: MemoryUnit
    score: float
    relevance: float
    signals: Mapping[str, Signal] = field(default_factory=dict)
    via: Via | None = None
    predecessors: tuple[MemoryUnit, ...] = ()
    contradicts: tuple[MemoryUnit, ...] = ()

    def explain(self) -> str:
        """One line: which signal gave how much of the score."""
        parts = [
            f"{name} {s.weighted:.3f} (raw {s.raw:.3f})" for name, s in self.signals.items() if s.weighted
        ]
        if self.via is not None:
            parts.append(f"via {self.via.kind} of {self.via.id}")
        return f"score {self.score:.3f}, relevance {self.relevance:.2f}: " + ", ".join(parts)


Render = Callable[["Hits", int, Callable[[str], int] | None, bool], str]


class Hits(Sequence[Hit]):
    """Hits, best first.

    Attributes:
        query: The question.
        recall_id: Name of this recall, for `feedback`.
    """

    def __init__(self, hits: Sequence[Hit], *, query: str, recall_id: str, render: Render) -> None:
        self._hits = tuple(hits)
        self.query = query
        self.recall_id = recall_id
        self._render = render

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> Hits: ...
    def __getitem__(self, index: int | slice) -> Hit | Hits:
        if isinstance(index, slice):
            return Hits(self._hits[index], query=self.query, recall_id=self.recall_id, render=self._render)
        return self._hits[index]

    def __len__(self) -> int:
        return len(self._hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self._hits)

    def __repr__(self) -> str:
        return f"<Hits {len(self)} for recall {self.recall_id}>"

    def only(self, keep: Callable[[Hit], bool]) -> Hits:
        """The hits for which `keep` holds, in the same order, of the same recall."""
        hits = [hit for hit in self if keep(hit)]
        return Hits(hits, query=self.query, recall_id=self.recall_id, render=self._render)

    def context(
        self, max_tokens: int = 800, *, count_tokens: Callable[[str], int] | None = None, ids: bool = False
    ) -> str:
        """The block a prompt needs, at most `max_tokens` long; rendering it counts as a use of what it shows.

        Args:
            max_tokens: Limit for the whole block.
            count_tokens: Counts the tokens of a text; the handle's own way by default.
            ids: Show the id of each memory, for a reader who may act on it.

        Returns:
            Memories in time order, with dates and earlier values, inside a delimiter that their text cannot
            close; "" when there is nothing to show.
        """
        return self._render(self, max_tokens, count_tokens, ids)

    def explain(self) -> str:
        """One line per hit."""
        return "\n".join(f"{i}. {hit.unit.id}: {hit.explain()}" for i, hit in enumerate(self, 1))

    def _repr_html_(self) -> str:
        names = ["vector", "keyword", "entity", "recency", "importance", "rerank"]
        rows = []
        for rank, hit in enumerate(self, 1):
            when = hit.unit.timestamp.date().isoformat() if hit.unit.timestamp else ""
            cells = [
                str(rank),
                hit.unit.content,
                when,
                f"{hit.score:.3f}",
                f"{hit.relevance:.2f}",
            ]
            cells += [f"{hit.signals[n].weighted:.3f}" if n in hit.signals else "" for n in names]
            rows.append(cells)
        return html_table(["", "memory", "when", "score", "relevance", *names], rows)
