"""Words: which memories hold a term, how often, and what that is worth (BM25).

Postings are kept as one long array of slots and one of counts, sorted by term and within a term by slot. New ones
gather in a dictionary and are merged in when they are many; a merge copies everything, so what counts as many grows
with the size and each posting is copied a bounded number of times on average (the idea of the log-structured merge
tree: O'Neil et al., Acta Informatica 33, 1996). Reading out of the dictionary is slow, so they are merged as well once that
has cost as much as a merge does: together they never take more than twice what would have been best (the ski rental
problem: Karlin et al., Algorithmica 3, 1988).

BM25 (Robertson & Zaragoza, "The Probabilistic Relevance Framework", 2009) with the never negative

    idf = ln(1 + (N - n + 1/2) / (n + 1/2))
    part of a term = idf * (k1 + 1) * count / (count + k1 * (1 - b + b * length / average length))

where N memories are visible and n of them hold the term.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hindsight_core.ports import Doubles, Floats, Ids, Ints
from hindsight_core.stores.index.columns import Small, offsets_of, ranges, sizes_of
from hindsight_core.stores.index.mask import Mask
from hindsight_core.text.hashing import COUNT_BITS, COUNT_MASK

Counts = NDArray[np.uint8]

_FEW = 1 << 16  # new postings that are never merged, however small the index
_SHARE = 32  # nor while they are less than one in so many
_COPIED = 24  # postings copied by a merge in the time that reading a new one takes
_LOWER = np.uint64(24)  # bits of a term that sorting by digits leaves for later
_SHORT = 1 << 14  # below this, sorting by digits does not pay
_GALLOP = 8  # a list so many times longer than the visible memories is searched for each of them
_NO_TERMS: Ids = np.zeros(0, np.uint64)
_NO_SLOTS: Small = np.zeros(0, np.int32)


@dataclass(frozen=True, slots=True)
class Lists:
    """Visible memories holding some terms, one list behind the other.

    Attributes:
        slots: int64, ascending within a list.
        counts: uint8, how often the term is held.
        bounds: List t is `slots[bounds[t]:bounds[t + 1]]`.
    """

    slots: Ints
    counts: Counts
    bounds: Ints

    @property
    def df(self) -> Ints:
        """Length of each list."""
        return sizes_of(self.bounds)

    def without(self, terms: NDArray[np.bool_]) -> Lists:
        """The same with the lists of some terms empty."""
        sizes: Ints = np.where(terms, 0, self.df)
        kept = ranges(self.bounds[:-1], self.bounds[:-1] + sizes)
        return Lists(self.slots.take(kept), self.counts.take(kept), offsets_of(sizes))

    def among(self, place: Small) -> tuple[Ints, Ints, Small]:
        """Which entries are about some slots: positions of entries and of their terms, and the places of their slots.

        Args:
            place: Of every slot there is, -1 for those that are not meant.
        """
        if not len(self.slots):
            none = self.slots[:0]
            return none, none, place[:0]
        places = place.take(self.slots)
        entries = (places >= 0).nonzero()[0]
        return entries, self.bounds.searchsorted(entries, "right") - 1, places.take(entries)


class Postings:
    """The inverted index over terms, by slot."""

    def __init__(self) -> None:
        self._terms: Ids = np.zeros(0, np.uint64)
        self._start: Ints = np.zeros(1, np.int64)
        self._slots: Small = np.zeros(0, np.int32)
        self._counts: Counts = np.zeros(0, np.uint8)
        # New ones by term: slot and count in one number, packed as term and count are.
        self._new: defaultdict[int, list[int]] = defaultdict(list)
        self._new_size = 0
        self._new_read = 0

    @property
    def nbytes(self) -> int:
        """Bytes of the sorted arrays."""
        return self._terms.nbytes + self._start.nbytes + self._slots.nbytes + self._counts.nbytes

    def extend(self, packed: Ids, slots: Small) -> None:
        """Add packed terms with their slots, which are higher than all before and ascending.

        A term given twice for one slot is taken once.
        """
        if self._new_size + len(packed) > max(_FEW, len(self._slots) // _SHARE):
            self.merge(packed, slots)
            return
        for term, slot in zip(packed.tolist(), slots.tolist(), strict=True):
            entries = self._new[term >> COUNT_BITS]
            if not entries or entries[-1] >> COUNT_BITS != slot:
                entries.append(slot << COUNT_BITS | term & COUNT_MASK)
        self._new_size += len(packed)

    def merge(self, packed: Ids, slots: Small) -> None:
        """As `extend`, but sort these and everything new into the arrays."""
        packed, slots = self._with_new(packed, slots)
        terms, sizes, slots, counts = _lists(packed, slots)
        at, known = self._find(terms)
        behind = np.repeat(self._start[at + known], sizes)  # the end of the term's list: new slots are higher
        self._slots = np.insert(self._slots, behind, slots) if len(self._slots) else slots
        self._counts = np.insert(self._counts, behind, counts) if len(self._counts) else counts
        totals = sizes_of(self._start)
        totals[at[known]] += sizes[known]
        self._terms = np.insert(self._terms, at[~known], terms[~known])
        self._start = offsets_of(np.insert(totals, at[~known], sizes[~known]))

    def _with_new(self, packed: Ids, slots: Small) -> tuple[Ids, Small]:
        if not self._new:
            return packed, slots
        entries = np.array([entry for entries in self._new.values() for entry in entries], np.int64)
        terms = np.repeat(
            np.array(list(self._new), np.uint64), [len(entries) for entries in self._new.values()]
        )
        self._new.clear()
        self._new_size = self._new_read = 0
        new = terms << np.uint64(COUNT_BITS) | (entries & COUNT_MASK).astype(np.uint64)
        return (
            np.concatenate([new, packed]),
            np.concatenate([(entries >> COUNT_BITS).astype(np.int32), slots]),
        )

    def remap(self, kept: Ints, before: int) -> None:
        """Follow a compaction of `before` slots: the i-th of `kept` becomes slot i, the others are gone."""
        self.merge(_NO_TERMS, _NO_SLOTS)
        place = np.full(before, -1, np.int32)
        place[kept] = np.arange(len(kept))
        slots = place.take(self._slots)
        alive = slots >= 0
        sizes = np.add.reduceat(alive, self._start[:-1], dtype=np.int64)  # no list is empty
        self._slots, self._counts = slots[alive], self._counts[alive]
        self._terms = self._terms[sizes > 0]
        self._start = offsets_of(sizes[sizes > 0])

    def find(self, terms: Ids, mask: Mask) -> Lists:
        """The visible memories holding each term."""
        wanted = terms >> np.uint64(COUNT_BITS)
        return self._read(wanted, *self._bounds(wanted), mask)

    def find_rare(self, terms: Ids, mask: Mask, common: int) -> tuple[Lists, Ints]:
        """The same without the lists of terms that more than `common` hold, and how many hold each term."""
        wanted = terms >> np.uint64(COUNT_BITS)
        start, stop = self._bounds(wanted)
        if not mask.full:  # only reading a list tells how long it is
            lists = self._read(wanted, start, stop, mask)
            df = lists.df
            return lists.without(df > common) if (df > common).any() else lists, df
        new = [len(self._new.get(term, ())) for term in wanted.tolist()]
        df = stop - start + np.array(new, np.int64)
        rare = df <= common
        return self._read(wanted * rare, start * rare, stop * rare, mask), df

    def _bounds(self, wanted: Ids) -> tuple[Ints, Ints]:
        """Where the merged list of each term begins and ends."""
        if self._new_read > self._new_size + len(self._slots) // _COPIED:
            self.merge(_NO_TERMS, _NO_SLOTS)
        at, known = self._find(wanted)
        return self._start[at * known], self._start[(at + 1) * known]

    def _read(self, wanted: Ids, start: Ints, stop: Ints, mask: Mask) -> Lists:
        if mask.selective:
            slots, counts, sizes = self._looked_up(start, stop, mask)
        else:
            sizes = stop - start
            held = np.flatnonzero(sizes)  # most names a question might contain are none
            ends = zip(start[held].tolist(), stop[held].tolist(), strict=True)
            lists = [slice(*each) for each in ends] or [slice(0)]
            slots = np.concatenate([self._slots[each] for each in lists])
            counts = np.concatenate([self._counts[each] for each in lists])
        if self._new:
            slots, counts, sizes = self._and_new(wanted, slots, counts, sizes)
        bounds = offsets_of(sizes)
        if not mask.full and len(slots):
            visible = np.flatnonzero(mask.member.take(slots))
            slots, counts, bounds = (
                slots.take(visible),
                counts.take(visible),
                np.searchsorted(visible, bounds),
            )
        return Lists(slots.astype(np.int64), counts, bounds)

    def _looked_up(self, start: Ints, stop: Ints, mask: Mask) -> tuple[Small, Counts, Ints]:
        """The merged lists, long ones only where they are about one of few visible memories."""
        few = mask.slots.astype(np.int32)  # searched in lists of the same type
        slots, counts, sizes = [self._slots[:0]], [self._counts[:0]], []
        for first, end in zip(start.tolist(), stop.tolist(), strict=True):
            held, count = self._slots[first:end], self._counts[first:end]
            if len(held) > _GALLOP * len(few):
                place = np.minimum(np.searchsorted(held, few), len(held) - 1)
                hit = np.flatnonzero(held[place] == few)
                held, count = few[hit], count[place[hit]]
            slots.append(held)
            counts.append(count)
            sizes.append(len(held))
        return np.concatenate(slots), np.concatenate(counts), np.array(sizes, np.int64)

    def _and_new(self, wanted: Ids, slots: Small, counts: Counts, sizes: Ints) -> tuple[Small, Counts, Ints]:
        """Lists with what is not yet merged: it is of later slots, and so goes behind."""
        new = [self._new.get(term, ()) for term in wanted.tolist()]
        more = np.array([len(entries) for entries in new], np.int64)
        if not more.any():
            return slots, counts, sizes
        packed = np.array([entry for entries in new for entry in entries], np.int64)
        self._new_read += len(packed)
        behind = np.repeat(np.cumsum(sizes), more)
        return (
            np.insert(slots, behind, packed >> COUNT_BITS),
            np.insert(counts, behind, packed & COUNT_MASK),
            sizes + more,
        )

    def _find(self, terms: Ids) -> tuple[Ints, NDArray[np.bool_]]:
        at = np.searchsorted(self._terms, terms)
        if not len(self._terms):
            return at, np.zeros(len(terms), np.bool_)
        return at, self._terms[np.minimum(at, len(self._terms) - 1)] == terms


def _lists(packed: Ids, slots: Small) -> tuple[Ids, Ints, Small, Counts]:
    """Terms, the length of each one's list, and the lists."""
    order = _order(packed)
    terms = packed.take(order)  # still packed; many bytes, so no more copies than needed
    counts = terms.astype(np.uint8)  # the low bits
    terms >>= np.uint64(COUNT_BITS)
    start = _starts(terms)
    upper = terms[start] >> _LOWER
    mixed = np.unique(upper[1:][upper[1:] == upper[:-1]])  # terms that differ in their lower bits only
    if len(mixed):
        bounds = np.append(start, len(terms))
        for value in mixed:
            part = slice(*bounds[np.searchsorted(upper, [value, value + np.uint64(1)])])
            within = np.argsort(terms[part], kind="stable")
            for column in (terms, order, counts):
                column[part] = column[part][within]
        start = _starts(terms)
    slots = slots.take(order)
    repeated = np.zeros(len(terms), np.bool_)
    np.equal(slots[1:], slots[:-1], out=repeated[1:])
    repeated[start] = False
    if repeated.any():
        terms, slots, counts = terms[~repeated], slots[~repeated], counts[~repeated]
        start = _starts(terms)
    return terms[start], sizes_of(np.append(start, len(terms))), slots, counts


def _starts(terms: Ids) -> Ints:
    """Where another term begins."""
    other = np.ones(len(terms), np.bool_)
    np.not_equal(terms[1:], terms[:-1], out=other[1:])
    return np.flatnonzero(other)


def _order(packed: Ids) -> Ints:
    """A stable order of packed terms by their upper 32 bits at least.

    NumPy sorts integers of 16 bits by counting them and larger ones by comparing, so millions are sorted by two digits.
    """
    if len(packed) < _SHORT:
        return np.argsort(packed >> np.uint64(COUNT_BITS), kind="stable")
    digits = packed.astype("<u8", copy=False).view("<u2").reshape(-1, 4)
    order = np.argsort(digits[:, 2], kind="stable")
    return order.take(np.argsort(digits[:, 3].take(order), kind="stable"))


def idf(size: int, df: Ints) -> Doubles:
    """ln(1 + (N - n + 1/2) / (n + 1/2)) for each n, always above 0."""
    return np.log1p((size - df + 0.5) / (df + 0.5))


def bm25(lists: Lists, length: Small, idf: Doubles, *, average: float, k1: float, b: float) -> Floats:
    """What each term gives to the score of each memory holding it: one number per entry of the lists.

    Args:
        lists: The entries.
        length: Number of terms of the memory of each entry.
        idf: One number per list.
        average: Mean length of the visible memories.
        k1: Saturation.
        b: Length normalisation.
    """
    count = lists.counts.astype(np.float32)
    part = np.repeat((idf * (k1 + 1)).astype(np.float32), lists.df)
    part *= count
    norm = length.astype(np.float32)
    norm *= np.float32(k1 * b / average)
    norm += np.float32(k1 * (1 - b))
    count += norm
    part /= count
    return part
