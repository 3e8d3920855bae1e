"""What one ranking is worth, as pure functions of ids.

    recall@k   share of the gold memories among the first k
    hit@k      whether any is;  all@k  whether all are
    nDCG@k     sum over gold found at rank r <= k of 1 / log2(r + 1), over the best such sum possible with min(|gold|, k)
               gold memories (K. Jarvelin, J. Kekalainen, "Cumulated gain-based evaluation of IR techniques", 2002;
               gains are binary here)
    MRR        1 / rank of the first gold memory, 0 when none was found (TREC-8 question answering track, 1999)

Ranks count from 1. An equivalent memory (`alt`) counts as its gold memory, once: finding both is finding one, and the
second of them takes up its place in the ranking like any other memory.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

_NO_ALT: Mapping[str, Collection[str]] = {}


@dataclass(frozen=True, slots=True)
class Judgement:
    """Where the gold memories stood in one ranking.

    Attributes:
        ranks: Of each gold memory found, ascending, from 1.
        wanted: How many there are.
    """

    ranks: tuple[int, ...]
    wanted: int

    def __post_init__(self) -> None:
        if self.wanted < 1:
            raise ValueError("a question without gold memories has no recall")

    def recall(self, k: int) -> float:
        """Share of the gold memories among the first k."""
        return self._within(k) / self.wanted

    def hit(self, k: int) -> float:
        """1 when any gold memory is among the first k, else 0."""
        return float(self._within(k) > 0)

    def all(self, k: int) -> float:
        """1 when every gold memory is among the first k, else 0."""
        return float(self._within(k) == self.wanted)

    def ndcg(self, k: int = 10) -> float:
        """Normalised discounted cumulative gain over the first k."""
        best = sum(1 / math.log2(rank + 1) for rank in range(1, min(self.wanted, k) + 1))
        return sum(1 / math.log2(rank + 1) for rank in self.ranks if rank <= k) / best

    def mrr(self) -> float:
        """One over the rank of the first gold memory."""
        return 1 / self.ranks[0] if self.ranks else 0.0

    def _within(self, k: int) -> int:
        return sum(rank <= k for rank in self.ranks)


def gold_at(
    found: Sequence[str], gold: Sequence[str], alt: Mapping[str, Collection[str]] = _NO_ALT
) -> dict[str, int]:
    """The rank at which each gold memory, or an equivalent of it, was first found.

    Args:
        found: Distinct ids, best first.
        gold: Ids wanted.
        alt: Equivalents of gold ids. One that is itself gold counts as itself; one that stands for several counts
            as the first of them that is still missing.
    """
    wanted = set(gold)
    stands_for: dict[str, list[str]] = {}
    for name in gold:
        for other in alt.get(name, ()):
            stands_for.setdefault(other, []).append(name)
    ranks: dict[str, int] = {}
    for rank, name in enumerate(found, 1):
        candidates = [name] if name in wanted else stands_for.get(name, [])
        for candidate in candidates:
            if candidate not in ranks:
                ranks[candidate] = rank
                break
    return ranks


def judge(
    found: Sequence[str], gold: Sequence[str], alt: Mapping[str, Collection[str]] = _NO_ALT
) -> Judgement:
    """Where the gold memories stand in a ranking; arguments as for `gold_at`."""
    return Judgement(tuple(sorted(gold_at(found, gold, alt).values())), len(set(gold)))


def stale_first(found: Sequence[str], first_gold: int | None, stale: Collection[str]) -> bool:
    """Whether a superseded memory ranks above the best gold one; a gold memory not found ranks below everything."""
    above = found if first_gold is None else found[: first_gold - 1]
    return any(name in stale for name in above)


@dataclass(frozen=True, slots=True)
class Abstention:
    """How well a system knows what it does not know.

    Attributes:
        silent_rightly: Questions without an answer for which nothing was returned.
        silent_wrongly: Questions with an answer for which nothing was returned.
        unanswerable: Questions without an answer.
    """

    silent_rightly: int
    silent_wrongly: int
    unanswerable: int

    @property
    def precision(self) -> float:
        """Share of silences that were right; nan when it was never silent."""
        silences = self.silent_rightly + self.silent_wrongly
        return self.silent_rightly / silences if silences else math.nan

    @property
    def recall(self) -> float:
        """Share of questions without an answer that were met with silence; nan when there are none."""
        return self.silent_rightly / self.unanswerable if self.unanswerable else math.nan
