"""Answers from an index: the channels, their best, and exact columns over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hindsight_core.arrays import distinct
from hindsight_core.errors import InvalidInput, StoreError
from hindsight_core.ports import Bank, Candidates, Doubles, Edges, Floats, Ints, Probe
from hindsight_core.stores.index.columns import Small
from hindsight_core.stores.index.contents import Contents
from hindsight_core.stores.index.dense import Near
from hindsight_core.stores.index.entities import shared
from hindsight_core.stores.index.mask import Mask
from hindsight_core.stores.index.postings import Lists, bm25, idf
from hindsight_core.stores.index.select import Column, first
from hindsight_core.text.learnt import WEIGHT
from hindsight_core.unit import LinkKind

_KINDS = list(LinkKind)
_KEPT = 4


@dataclass(frozen=True, slots=True)
class _Found:
    """What a probe finds: `parts` is BM25, an entry for each of `terms`; `learnt` lists of tokens with products of weights."""

    probe: Probe
    mask: Mask
    term_df: Ints
    terms: Lists
    parts: Floats
    entities: Lists
    learnt: tuple[Lists, Floats] | None
    cosine: list[Floats] = field(default_factory=list)  # of all visible memories, once they were compared


@dataclass(frozen=True, slots=True, eq=False)
class _Near:
    """The nearest memories asked for last: a writer has them searched before it takes the lock, and asks inside.

    Attributes:
        mask: What may be seen.
        vectors: What to be near to.
        top: At most so many for each.
        least: Only with a cosine of at least this.
        found: Waits for the search; for each vector the slots that can be among its `top` and a few more, with cosines.
    """

    mask: Mask
    vectors: Floats
    top: int
    least: float
    found: Callable[[], Iterable[Near]]

    def answers(self, mask: Mask, vectors: Floats, top: int, least: float) -> bool:
        """Whether this is what is asked for."""
        return (self.mask, self.top, self.least) == (mask, top, least) and np.array_equal(
            self.vectors, vectors
        )


class SearchIndex(Contents):
    """The memories of one store, ready to be searched.

    Args:
        dimension: Length of the vectors; None when there are none.
    """

    def _clear(self) -> None:
        super()._clear()
        self._found: list[_Found] = []
        self._begun: list[tuple[Floats, Mask, Callable[[], Floats]]] = []
        self._near: _Near | None = None

    def _pass_on(self) -> None:
        super()._pass_on()
        self._found.clear()
        self._begun.clear()
        self._near = None

    def begin_search(self, mask: Mask, vectors: Sequence[Floats]) -> None:
        """Begin to compare vectors that `search` will be asked about; see `ports.Reading.begin_search`."""
        self._check(mask)
        self._begun = [(vector, mask, self._vectors.scanning(vector, mask)) for vector in vectors]

    def search(self, probe: Probe, mask: Mask) -> tuple[Candidates, Bank]:
        """Union of the best candidates of each channel, in order of arrival; see `ports.Reading.search`.

        Of equally good ones those with the smaller id are taken, of equal ids (in different scopes) the earlier
        arrival. In the time channel a memory without vector, or without a query term, counts 0 for it.
        """
        self._check(mask)
        vector, slots, size = probe.vector, mask.slots, len(self._memories)
        scanned = self._scanning(vector, mask) if vector is not None else None
        found = self._find(probe, mask)
        keyword = self._keyword(found)
        worded = np.flatnonzero(keyword > 0)
        words = keyword[worded]
        channels = [self._best(probe.top, worded, -words)]
        learnt_mean, learnt_std = 0.0, 0.0
        if found.learnt is not None:
            lists, parts = found.learnt
            learnt = np.bincount(lists.slots, parts, size)
            weighed = np.flatnonzero(learnt > 0)
            learnt_mean, learnt_std = _moments(learnt[weighed], len(mask))
            channels.append(self._best(probe.top, weighed, -learnt[weighed]))
        if len(found.entities.slots):
            df = found.entities.df
            entity = np.bincount(found.entities.slots, np.repeat(idf(len(mask), df), df), size)
            named = np.flatnonzero(entity > 0)
            channels.append(self._best(probe.top, named, -entity[named]))

        if scanned is None:
            cosine = np.full(len(slots), np.nan, np.float32)
            seen = cosine[:0]
        else:
            cosine = scanned()
            found.cosine.append(cosine)
            seen, seen_at = cosine, slots
            if not self._vectors.complete:
                has = ~np.isnan(cosine)
                seen, seen_at = cosine[has], slots[has]
            channels.append(self._best(probe.top, seen_at, -seen))

        if len(probe.windows):
            time = self._memories.timestamp.view.take(slots)
            within = np.flatnonzero(self._in_window(probe, slots))
            evidence = np.nan_to_num(cosine[within]).astype(np.float64) + keyword[slots[within]]
            newest = np.where(np.isnan(time[within]), np.inf, -time[within])
            channels.append(self._best(probe.top, slots[within], -evidence, newest))

        best = distinct(np.concatenate(channels))
        best = best[np.argsort(self._memories.seq.view[best])]
        cosine_mean, cosine_std = _moments(seen, len(seen))
        keyword_mean, keyword_std = _moments(words, len(mask))
        bank = Bank(
            size=len(mask),
            cosine_mean=cosine_mean,
            cosine_std=cosine_std,
            keyword_mean=keyword_mean if len(mask) else 0.0,
            keyword_std=keyword_std if len(mask) else 0.0,
            term_df=found.term_df.copy(),
            entity_df=found.entities.df,
            newest=mask.newest,
            learnt_mean=learnt_mean,
            learnt_std=learnt_std,
        )
        return self._candidates(found, best, cosine[_places(mask, best)]), bank

    def _scanning(self, vector: Floats, mask: Mask) -> Callable[[], Floats]:
        for at, (begun, seen, scan) in enumerate(self._begun):
            if begun is vector and seen is mask:
                del self._begun[at]
                return scan
        return self._vectors.scanning(vector, mask)

    def signals(self, probe: Probe, mask: Mask, rows: Ints) -> Candidates:
        """Exact columns for given visible rows, in that order."""
        self._check(mask)
        slots, found = self._slots(mask, rows), self._find(probe, mask)
        if found.cosine:
            cosine = found.cosine[0].take(_places(mask, slots))
        elif probe.vector is not None:
            cosine = self._vectors.cosines(probe.vector, slots)
        else:
            cosine = np.full(len(slots), np.nan, np.float32)
        return self._candidates(found, slots, cosine)

    def holders(self, probe: Probe, mask: Mask) -> tuple[Ints, Ints]:
        """The best of the keyword channel alone, and how many visible memories hold each term; see `ports.Reading.holders`."""
        self._check(mask)
        found = self._find(probe, mask)
        keyword = self._keyword(found)
        worded = np.flatnonzero(keyword > 0)
        best = self._best(probe.top, worded, -keyword[worded])
        return self._memories.row.view[best], found.term_df.copy()

    def held(self, probe: Probe, mask: Mask, rows: Ints) -> NDArray[np.bool_]:
        """Which of given visible rows, in that order, hold which term; see `ports.Reading.held`."""
        self._check(mask)
        slots, found = self._slots(mask, rows), self._find(probe, mask)
        place, count, inverse = self._places(slots)
        _, term, row = found.terms.among(place)
        held = np.zeros((count, len(probe.terms)), np.bool_)
        held[row, term] = True
        return held if inverse is None else held[inverse]

    def neighbours(
        self, probe: Probe, mask: Mask, rows: Ints, *, reach: int, entities: int, hub: int
    ) -> Edges:
        """Edges within sessions and over shared entities; see `ports.Reading.neighbours`. Stored links are not here.

        Steps within a session count visible memories only. A seed is not among its own neighbours.
        """
        self._check(mask)
        seeds = distinct(self._slots(mask, rows))
        none = seeds[:0]
        seed, member, distance = none, none, none.astype(np.int32)
        if reach > 0:
            seed, member, distance = self._groups.around(mask, seeds, reach)
        source, target, entity, degree = none, none, none.astype(np.uint64), none.astype(np.int32)
        if entities > 0:
            source, target, entity, degree = shared(
                self._memories, self._entities, mask, seeds, limit=entities, hub=hub
            )
        row = self._memories.row.view
        steps, shares = len(seed), len(source)
        return Edges(
            source=row[np.concatenate([seed, source])],
            target=row[np.concatenate([member, target])],
            kind=np.repeat(
                np.array([_KINDS.index(LinkKind.FOLLOWS), _KINDS.index(LinkKind.ENTITY)], np.int8),
                [steps, shares],
            ),
            distance=np.concatenate([distance, np.ones(shares, np.int32)]),
            entity=np.concatenate([np.zeros(steps, np.uint64), entity]),
            degree=np.concatenate([np.zeros(steps, np.int32), degree]),
        )

    def begin_near(self, mask: Mask, vectors: Floats, *, top: int, least: float) -> None:
        """Begin what `near` will be asked for; see `ports.Reading.begin_near`."""
        self._check(mask)
        begun = self._vectors.near(vectors, mask, top=top, least=least)
        self._near = _Near(mask, vectors.copy(), top, least, begun)

    def near(self, mask: Mask, vectors: Floats, *, top: int, least: float) -> tuple[Ints, Floats]:
        """The nearest visible memories of each vector; see `ports.Reading.near`. Ties by id, as in `search`."""
        self._check(mask)
        if self._near is None or not self._near.answers(mask, vectors, top, least):
            self.begin_near(mask, vectors, top=top, least=least)
        assert self._near is not None
        rows = np.full((len(vectors), top), -1, np.int64)
        cosines = np.full((len(vectors), top), np.nan, np.float32)
        for i, (slots, cosine) in enumerate(self._near.found()):
            order = np.argsort(-cosine)
            if (cosine[order[1:]] == cosine[order[:-1]]).any():
                order = np.lexsort((self._memories.id_rank(slots), -cosine))
            order = order[: min(top, np.count_nonzero(cosine >= least))]
            rows[i, : len(order)] = self._memories.row.view[slots[order]]
            cosines[i, : len(order)] = cosine[order]
        return rows, cosines

    def vectors(self, mask: Mask, rows: Ints) -> Floats:
        """Vectors of given visible rows, in that order; a row of nan where there is none."""
        self._check(mask)
        return self._vectors.of(self._slots(mask, rows))

    def shows(self, mask: Mask, rows: Ints) -> NDArray[np.bool_]:
        """Whether each of any rows is visible."""
        self._check(mask)
        slots = self._memories.places.find(rows)
        shown: NDArray[np.bool_] = mask.member[slots] & (slots >= 0)
        return shown

    def _check(self, mask: Mask) -> None:
        if mask.version != self._version:
            raise StoreError("the index changed during this reading; open a new one")

    def _slots(self, mask: Mask, rows: Ints) -> Ints:
        slots = self._memories.places.find(rows)
        if not (slots >= 0).all() or not mask.member[slots].all():
            raise InvalidInput("rows must come from this reading")
        return slots

    def _find(self, probe: Probe, mask: Mask) -> _Found:
        """Look up the probe's terms and entities; the latest are kept: one recall asks several times, about a few probes."""
        for known in self._found:
            if known.probe is probe and known.mask is mask:
                return known
        if probe.common is None:
            terms = self._terms.find(probe.terms, mask)
            term_df = terms.df
        else:
            terms, term_df = self._terms.find_rare(probe.terms, mask, probe.common)
        parts = bm25(
            terms,
            self._memories.length.view.take(terms.slots),
            idf(len(mask), terms.df),
            average=mask.average,
            k1=probe.k1,
            b=probe.b,
        )
        entities = self._entities.find(probe.entities, mask)
        found = _Found(
            probe=probe,
            mask=mask,
            term_df=term_df,
            terms=terms,
            parts=parts,
            entities=entities,
            learnt=self._learnt(probe, mask),
        )
        self._found = [found, *self._found[: _KEPT - 1]]
        return found

    def _learnt(self, probe: Probe, mask: Mask) -> tuple[Lists, Floats] | None:
        """Products of learnt weights, an entry for each memory and token; None when the probe asks for no tokens."""
        if not len(probe.learnt):
            return None
        lists = self._terms.find(probe.learnt, mask)
        return lists, np.repeat(probe.learnt_weights, lists.df) * WEIGHT.take(lists.counts)

    def _keyword(self, found: _Found) -> Doubles:
        """Weighted BM25 sum of every memory, by slot."""
        weights = np.repeat(found.probe.term_weights.astype(np.float64), found.terms.df)
        weights *= found.parts
        return np.bincount(found.terms.slots, weights, len(self._memories)).astype(np.float64, copy=False)

    def _best(self, top: int, slots: Ints, *columns: NDArray[Any]) -> Ints:
        """The best slots by columns aligned with them (smaller is better), then by id."""
        memories = self._memories
        order: list[Column] = [column.__getitem__ for column in columns]
        order += [
            lambda at: memories.id_order(slots[at], 0),
            lambda at: memories.id_order(slots[at], 1),
            lambda at: memories.id_rank(slots[at]),
        ]
        return slots[first(len(slots), top, order)]

    def _places(self, slots: Ints) -> tuple[Small, int, Ints | None]:
        """A place for each of some slots, by slot; how many are different; and the place of each where some are equal."""
        place = np.full(len(self._memories), -1, np.int32)
        place[slots] = np.arange(len(slots), dtype=np.int32)
        of_each = place.take(slots)
        if (of_each == np.arange(len(slots))).all():
            return place, len(slots), None
        return place, len(slots), of_each.astype(np.int64)

    def _in_window(self, probe: Probe, slots: Ints) -> NDArray[np.bool_]:
        inside = np.zeros(len(slots), np.bool_)
        if not len(probe.windows):
            return inside
        about = np.zeros(len(self._memories), np.bool_)
        time = self._memories.timestamp.view[slots]
        begins, ends = self._memories.spans.values.view.T
        for start, end in probe.windows.tolist():
            inside |= (time >= start) & (time < end)
            # A span of no length is in the window when it begins there.
            overlaps = (begins < end) & ((ends > start) | (begins >= start))
            about[self._memories.spans.owner.view[overlaps]] = True
        inside |= about[slots]
        return inside

    def _candidates(self, found: _Found, slots: Ints, cosine: Floats) -> Candidates:
        memories, probe = self._memories, found.probe
        place, count, inverse = self._places(slots)
        terms = np.zeros((count, len(probe.terms)), np.float32)
        entries, term, row = found.terms.among(place)
        terms[row, term] = found.parts.take(entries)
        entities = np.zeros((count, len(probe.entities)), np.bool_)
        _, entity, row = found.entities.among(place)
        entities[row, entity] = True
        learnt = None
        if found.learnt is not None:
            lists, parts = found.learnt
            learnt = np.zeros((count, len(probe.learnt)), np.float32)
            entries, token, row = lists.among(place)
            learnt[row, token] = parts[entries]
            learnt = learnt if inverse is None else learnt[inverse]
        return Candidates(
            rows=memories.row.view.take(slots),
            ids=memories.ids(slots),
            cosine=cosine,
            terms=terms if inverse is None else terms[inverse],
            entities=entities if inverse is None else entities[inverse],
            timestamp=memories.timestamp.view.take(slots),
            in_window=self._in_window(probe, slots),
            importance=memories.importance.view.take(slots),
            weight=memories.weight.view.take(slots),
            weight_at=memories.weight_at.view.take(slots),
            memory_type=memories.memory_type.view.take(slots),
            status=memories.status.view.take(slots),
            seq=memories.seq.view.take(slots),
            group=memories.group.view.take(slots).astype(np.int64),
            length=memories.length.view.take(slots),
            learnt=learnt,
        )


def _places(mask: Mask, slots: Ints) -> Ints:
    """Where visible slots are among all visible ones."""
    return slots if mask.full else np.searchsorted(mask.slots, slots)


def _moments(values: NDArray[Any], size: int) -> tuple[float, float]:
    """Mean and standard deviation of `size` numbers of which all but `values` are 0; nan of none.

    Rounded, so that the order of summation, which replacing memories changes, leaves no trace in the ranking.
    """
    if not size:
        return np.nan, np.nan
    numbers = values.astype(np.float64)
    mean = float(numbers.sum()) / size
    squares = max(float(np.einsum("i,i->", numbers, numbers)) - size * mean**2, 0.0)
    return round(mean, 7), round((squares / size) ** 0.5, 7)
