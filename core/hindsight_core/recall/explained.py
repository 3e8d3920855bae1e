"""From ranked candidates to hits that can say what speaks for them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hindsight_core.ports import Candidates, Doubles, Floats, Ints, Reading
from hindsight_core.recall.asked import echoes
from hindsight_core.recall.evidence import keyword_sums
from hindsight_core.recall.fusion import SIGNALS, Fused, Signals
from hindsight_core.recall.hits import Hit, Signal, Via
from hindsight_core.unit import LinkKind


@dataclass(frozen=True, slots=True)
class Ranked:
    """What one aspect made of n candidates.

    Attributes:
        candidates: They.
        weights: Of the question's terms, (T,).
        signals: In 0..1.
        fused: Scores and shares.
        sure: Relevance, (n,); of those that were looked at.
        origin: Position over whose names activation came, (n,); -1 = none.
        carried: Position of the predecessor whose evidence each has, (n,); -1 = none.
        chosen: Positions and scores, best first.
    """

    candidates: Candidates
    weights: Floats
    signals: Signals
    fused: Fused
    sure: Doubles
    origin: Ints
    carried: Ints
    chosen: list[tuple[int, float]]

    def table(self, at: Ints) -> list[list[list[float]]]:
        """For some candidates, each of `SIGNALS` as measured, in 0..1, and as its share of the score."""
        found, learnt = self.candidates, self.candidates.learnt
        words = keyword_sums(
            (found.terms[at] * self.weights).sum(axis=1), None if learnt is None else learnt[at]
        )
        measured = [  # in their order
            found.cosine[at],
            words,
            found.entities[at].sum(axis=1),
            self.signals.recency[at],
            found.importance[at],
        ]
        scaled = [getattr(self.signals, name)[at] for name in SIGNALS]
        shares = [getattr(self.fused, name)[at] for name in SIGNALS]
        table: list[list[list[float]]] = np.array([measured, scaled, shares], np.float64).T.tolist()
        return table


def explained(
    view: Reading, ranked: list[Ranked], chosen: list[tuple[int, float]], question: str
) -> list[Hit]:
    """Hits out of what was chosen.

    Args:
        view: What the store shows.
        ranked: What each aspect of the question made of the same candidates.
        chosen: Positions and scores, best first.
        question: Its text.
    """
    at = np.array([i for i, _ in chosen], np.int64)
    units = view.units(ranked[0].candidates.rows[at])
    tables = [part.table(at) for part in ranked]
    hits = []
    for place, (unit, (i, score)) in enumerate(zip(units, chosen, strict=True)):
        best = max(range(len(ranked)), key=lambda part: float(ranked[part].fused.score[i]))
        one = ranked[best]
        values = zip(SIGNALS, tables[best][place], strict=True)
        signals = {name: Signal(*each) for name, each in values}
        via = None
        if one.carried[i] >= 0:
            via = Via(one.candidates.ids[one.carried[i]], LinkKind.EVOLVES, float(one.fused.vector[i]))
        elif one.origin[i] >= 0:
            share = float(one.signals.entity[i])
            via = Via(one.candidates.ids[one.origin[i]], LinkKind.ENTITY, share)
        relevance_ = max(float(part.sure[i]) for part in ranked)
        hits.append(Hit(unit=unit, score=score, relevance=relevance_, signals=signals, via=via))
    return _answers_first(hits, question)


def _answers_first(hits: list[Hit], question: str) -> list[Hit]:
    """The same with those last that only ask what is asked."""
    echo = [echoes(hit.unit.content, question) for hit in hits]
    if not any(echo) or all(echo):
        return hits
    answers = [hit for hit, asks in zip(hits, echo, strict=True) if not asks]
    last = answers[-1].score
    asking = [hit for hit, asks in zip(hits, echo, strict=True) if asks]
    return answers + [replace(hit, score=min(hit.score, last)) for hit in asking]
