"""One recall under one consistent view: search, associate, fuse, cut off, explain."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from hindsight_core.arrays import distinct
from hindsight_core.embedding import Calibration, local_background
from hindsight_core.ports import (
    Bank,
    Candidates,
    Doubles,
    Edges,
    Floats,
    Ids,
    Ints,
    Probe,
    Reading,
    Visibility,
)
from hindsight_core.profiles import Profile
from hindsight_core.recall.bridge import commonest, flow, open_terms, strengths
from hindsight_core.recall.coverage import POOL, cover, interleave
from hindsight_core.recall.evidence import (
    best_of_group,
    faded,
    gather,
    keyword_deviations,
    keyword_sums,
    scales,
    step_edges,
)
from hindsight_core.recall.explained import Ranked, explained
from hindsight_core.recall.fusion import Fused, Signals, fuse, order
from hindsight_core.recall.hits import Hit
from hindsight_core.recall.query import Aspect, Question
from hindsight_core.recall.relevance import beside_the_surest, coverage, rarity, relevance
from hindsight_core.strength import recency, weights_now
from hindsight_core.unit import LinkKind, Status


def searched(visible: Visibility) -> Visibility:
    """Where is searched for what may be seen.

    What no longer holds is not shown, but a question it answers is about what holds in its place.
    """
    if visible.as_of is not None or visible.known_at is not None:
        return visible
    return replace(visible, statuses=visible.statuses | {Status.SUPERSEDED})


def rank(
    view: Reading,
    question: Question,
    *,
    visible: Visibility,
    profile: Profile,
    calibration: Calibration | None,
    k: int,
    floor: float | None,
) -> list[Hit]:
    """The best k hits for a question.

    Args:
        view: What the store shows.
        question: Analysed.
        visible: What may be seen; its `now` is the present moment.
        profile: Weights and spreading.
        calibration: Of the embedder's cosines, None without one.
        k: At most so many.
        floor: Least relevance, or None.
    """
    return _Recall(view, question, visible, profile, calibration).hits(k, floor)


_FOLLOWS = list(LinkKind).index(LinkKind.FOLLOWS)
_EVOLVES = list(LinkKind).index(LinkKind.EVOLVES)
_SUPERSEDED = list(Status).index(Status.SUPERSEDED)
_LINKED = 5
"""Best candidates per channel whose stored links are followed."""
_PAST = 8
"""Best candidates that no longer hold whose successors are sought."""


@dataclass(frozen=True, slots=True)
class _Bridge:
    """Where activation may flow from the best hits: their open terms, and once built how common each is and the rows reached."""

    probe: Probe
    seeds: Ints
    held: list[list[int]]
    df: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    rows: Ints = field(default_factory=lambda: np.empty(0, np.int64))


class _Recall:
    """The state of one recall; lives as long as its view."""

    def __init__(
        self,
        view: Reading,
        question: Question,
        visible: Visibility,
        profile: Profile,
        calibration: Calibration | None,
    ) -> None:
        self.view = view
        self.question = question
        self.visible = visible
        self.seen = searched(visible)
        self.heirs = self.seen.statuses != visible.statuses
        self.profile = profile
        self.calibration = calibration
        weights = profile.weights
        scale = max(weights.vector, weights.keyword, weights.entity)
        self.ratio = np.array([weights.vector, weights.keyword, weights.entity]) / scale

    def hits(self, k: int, floor: float | None) -> list[Hit]:
        spreading = self.profile.spreading
        probes = [self._probe(aspect) for aspect in self.question.aspects]
        self.view.expect(probes)
        found = [self.view.search(probe) for probe in probes]
        rows = distinct(np.concatenate([candidates.rows for candidates, _ in found]))
        if not len(rows):
            return []
        linked = [
            self._linked(probe, candidates, bank)
            for probe, (candidates, bank) in zip(probes, found, strict=True)
        ]
        planned = [
            self._bridge(aspect, candidates, bank)
            for aspect, (candidates, bank) in zip(self.question.aspects, found, strict=True)
        ]
        self.view.expect([bridge.probe for bridge in planned if bridge])
        edges = self.view.neighbours(
            probes[0], rows, reach=spreading.reach, entities=0, hub=0, links=distinct(np.concatenate(linked))
        )
        bridges = [bridge and self._built(bridge) for bridge in planned]
        leads = [bridge.rows for bridge in bridges if bridge]
        rows = distinct(np.concatenate([rows, edges.target, *leads]))
        steps = step_edges(edges, rows)
        ranked = [
            self._aspect(aspect, probe, bank, bridge, edges, rows, steps, k, floor)
            for aspect, probe, (_, bank), bridge in zip(
                self.question.aspects, probes, found, bridges, strict=True
            )
        ]
        chosen = interleave([one.chosen for one in ranked], k)
        return explained(self.view, ranked, chosen, self.question.text)

    def _probe(self, aspect: Aspect) -> Probe:
        return Probe(
            visible=self.seen,
            vector=aspect.vector,
            terms=aspect.terms,
            term_weights=aspect.weights,
            entities=np.concatenate([self.question.entities, self.question.speakers]),
            windows=self.question.epoch_windows,
            top=self.profile.channel_top,
            learnt=aspect.learnt,
            learnt_weights=aspect.learnt_weights,
        )

    def _aspect(
        self,
        aspect: Aspect,
        probe: Probe,
        bank: Bank,
        bridge: _Bridge | None,
        edges: Edges,
        rows: Ints,
        steps: tuple[Ints, Ints, Ints],
        k: int,
        floor: float | None,
    ) -> Ranked:
        spreading = self.profile.spreading
        candidates = self.view.signals(probe, rows)
        evidence = gather(
            candidates, aspect.weights, bank, self.calibration, steps, spreading, aspect.unspaced
        )
        # Rows: vector, keyword, entity; all in deviations until they are scaled together below.
        active = np.stack([evidence.meaning, evidence.words, self._named(candidates, bank)])
        self._over_session(active, candidates)
        past, heir = self._succession(edges, candidates)
        total = self.ratio @ active
        carried = np.full(len(rows), -1)
        carried[heir[total[past] > total[heir]]] = past[total[past] > total[heir]]
        np.maximum.at(active.T, heir, active.T[past])
        self._over_links(edges, candidates, active)
        origin = self._over_bridge(aspect, bridge, candidates, bank.size, evidence.words_scale, active)

        if self.heirs:  # it has handed on what it had
            active[:, candidates.status == _SUPERSEDED] = 0.0
        signals, fused = self._fused(candidates, active)
        evident = self.ratio @ active > 0
        if self.question.windows:
            evident |= candidates.in_window
        if self.heirs:
            evident &= candidates.status != _SUPERSEDED
        best = order(np.where(evident, fused.score, -1.0), candidates.ids, max(POOL, k))
        best = [i for i in best if evident[i]]
        # What ranks lower is not shown, so it need not be looked at more closely.
        looked = best + distinct(past).tolist()
        vectors = self.view.vectors(candidates.rows[looked]) if aspect.vector is not None and best else None
        covered = coverage(evidence.covered[looked], aspect.telling, bank)
        sure = np.zeros(len(rows))
        if self.question.only_time:
            sure[best] = candidates.in_window[best]
        else:
            sure[looked] = self._sure(aspect, candidates.cosine[looked], vectors, covered)
            np.maximum.at(sure, heir, sure[past])
            sure[best] = beside_the_surest(sure[best])
        vectors = None if vectors is None else vectors[: len(best)]
        if floor is not None:
            kept = [place for place, i in enumerate(best) if sure[i] >= floor]
            best = [best[place] for place in kept]
            vectors = None if vectors is None else vectors[kept]
        top = max(float(active.max()), 1e-9)
        words = evidence.covered[best[:POOL]] * aspect.weights
        words *= self._keyword_share() / (evidence.words_scale * top)
        near = None if vectors is None else vectors[:POOL]
        chosen = cover(
            fused.score, best, words, near, k=k, share=spreading.cover, repeat=spreading.repeat / top
        )
        return Ranked(candidates, aspect.weights, signals, fused, sure, origin, carried, chosen)

    def _keyword_share(self) -> float:
        weights = self.profile.weights
        return weights.keyword / weights.total

    def _sure(self, aspect: Aspect, cosine: Floats, vectors: Floats | None, covered: Doubles) -> Doubles:
        if self.calibration is None or aspect.vector is None or vectors is None:
            return relevance(cosine, None, covered)
        return relevance(cosine, local_background(self.calibration, aspect.vector, vectors), covered)

    def _named(self, candidates: Candidates, bank: Bank) -> Doubles:
        """Names the question and the memory share, rarer ones counting more, and who said it; in deviations."""
        spreading, names = self.profile.spreading, len(self.question.entities)
        borne = bank.entity_df.nonzero()[0]  # few: most names a question might contain are none
        idf = rarity(bank.entity_df[borne], bank.size)
        shared = candidates.entities[:, borne].astype(np.float64)
        own = int(borne.searchsorted(names))  # behind them are the names of speakers
        named = np.einsum("ij,j->i", shared[:, :own], idf[:own])
        named *= spreading.named / max(float(idf[:own].sum()), 1e-9)
        if len(borne) - own == 1:  # of two people named, either may have said it
            named += shared[:, own] * spreading.speaker
        return np.asarray(named / max(float(self.ratio[2]), 1e-9))

    def _over_session(self, active: Doubles, candidates: Candidates) -> None:
        share = self.profile.spreading.session
        if share > 0:
            active += share * best_of_group(self.ratio @ active, active, candidates.group)

    def _linked(self, probe: Probe, candidates: Candidates, bank: Bank) -> Ints:
        """The candidates whose stored links are followed: the most similar, the most worded, the best that are past."""
        sums = candidates.terms @ probe.term_weights
        keyword = keyword_sums(sums, candidates.learnt)
        followed = []
        if self.profile.spreading.link > 0:
            followed += [np.argsort(-candidates.cosine, kind="stable")[:_LINKED]]  # nan comes last
            followed += [np.argsort(-keyword, kind="stable")[:_LINKED]]
        past = np.flatnonzero(candidates.status == _SUPERSEDED)
        if self.heirs and len(past):
            meaning, words = scales(bank, self.calibration)
            total = self.ratio[0] * meaning.standard(candidates.cosine[past].astype(np.float64))
            learnt = None if candidates.learnt is None else candidates.learnt[past]
            worded = words.standard(sums[past].astype(np.float64))
            total += self.ratio[1] * keyword_deviations(worded, learnt, bank)
            followed += [past[np.argsort(-total, kind="stable")[:_PAST]]]
        chosen: Ints = candidates.rows[np.concatenate(followed)] if followed else candidates.rows[:0]
        return chosen

    def _succession(self, edges: Edges, candidates: Candidates) -> tuple[Ints, Ints]:
        """Pairs of positions: a memory that no longer holds, and the one that holds in its place."""
        follows = np.flatnonzero(edges.kind == _EVOLVES) if self.heirs else edges.source[:0]
        past = np.searchsorted(candidates.rows, edges.source[follows])  # rows ascend
        heir = np.searchsorted(candidates.rows, edges.target[follows])
        passed = (candidates.status[past] == _SUPERSEDED) & (candidates.status[heir] != _SUPERSEDED)
        return past[passed], heir[passed]

    def _over_links(self, edges: Edges, candidates: Candidates, active: Doubles) -> None:
        """A memory linked with a good one gets a share of its evidence, from the best of those it is linked with."""
        stored = (edges.kind != _FOLLOWS).nonzero()[0]
        if not len(stored):
            return
        source = np.searchsorted(candidates.rows, edges.source[stored])  # rows ascend
        target = np.searchsorted(candidates.rows, edges.target[stored])
        total = self.ratio @ active
        ascending = np.argsort(total[source], kind="stable")
        best = np.full(len(candidates.rows), -1)
        best[target[ascending]] = source[ascending]  # the last write per target is its best source
        linked = np.flatnonzero(best >= 0)
        linked = linked[total[best[linked]] > total[linked]]
        active[:, linked] += self.profile.spreading.link * (active[:, best[linked]] - active[:, linked]).clip(
            0.0
        )

    def _bridge(self, aspect: Aspect, candidates: Candidates, bank: Bank) -> _Bridge | None:
        """What the best hits so far mention beyond the question."""
        spreading = self.profile.spreading
        if spreading.bridge <= 0 or not spreading.seeds:
            return None
        meaning, words = scales(bank, self.calibration)
        total = self.ratio[0] * meaning.standard(candidates.cosine.astype(np.float64))
        worded = words.standard(candidates.terms.astype(np.float64) @ aspect.weights)
        total += self.ratio[1] * keyword_deviations(worded, candidates.learnt, bank)
        if self.heirs:
            total[candidates.status == _SUPERSEDED] = 0.0
        seeds = candidates.rows[order(total, candidates.ids, spreading.seeds)]
        asked = frozenset(aspect.terms.tolist())
        held = [open_terms(text, asked) for text in self.view.texts(seeds)]
        terms: Ids = np.array(list(dict.fromkeys(term for seed in held for term in seed)), dtype=np.uint64)
        if not len(terms):
            return None
        probe = Probe(
            visible=self.seen,
            vector=None,
            terms=terms,
            term_weights=np.ones(len(terms), dtype=np.float32),
            entities=np.empty(0, dtype=np.uint64),
            top=self.profile.channel_top,
            common=commonest(bank.size),
        )
        return _Bridge(probe, seeds, held)

    def _built(self, bridge: _Bridge) -> _Bridge:
        """The same with the memories it leads to."""
        rows, df = self.view.holders(bridge.probe)
        return replace(bridge, rows=rows, df=df)

    def _over_bridge(
        self,
        aspect: Aspect,
        bridge: _Bridge | None,
        candidates: Candidates,
        size: int,
        words_scale: float,
        active: Doubles,
    ) -> Ints:
        """Let activation flow over the bridge; returns per candidate the position it came from, -1 for none."""
        if bridge is None:
            return np.full(len(candidates.rows), -1)
        total = self.ratio @ active
        seeds = np.searchsorted(candidates.rows, bridge.seeds)  # rows ascend
        held = self.view.held(bridge.probe, candidates.rows)
        joined = strengths(bridge.held, bridge.probe.terms, held, bridge.df, size)
        joined *= faded(candidates.length, self.profile.spreading, aspect.unspaced)
        left = aspect.weights.astype(np.float64) * (candidates.terms[seeds] <= 0)
        remaining = (left @ candidates.terms.T) / words_scale
        gain, origin = flow(total, seeds, joined, remaining, self.profile.spreading.bridge)
        # What arrives over shared names is credited to the entity signal.
        active[2] += gain / max(float(self.ratio[2]), 1e-9)
        return origin

    def _fused(self, candidates: Candidates, active: Doubles) -> tuple[Signals, Fused]:
        profile, now = self.profile, self.visible.now.timestamp()
        scaled = active / max(float(active.max()), 1e-9)
        strength = weights_now(candidates.weight, candidates.weight_at, now, profile.decay)
        signals = Signals(
            vector=scaled[0],
            keyword=scaled[1],
            entity=scaled[2],
            recency=recency(candidates.timestamp, now, profile.recency_rate),
            importance=candidates.importance.astype(np.float64) * np.clip(strength, 0.0, 1.0),
        )
        in_window = candidates.in_window if self.question.windows else None
        return signals, fuse(signals, profile.weights, candidates.memory_type, in_window, age=profile.age)
