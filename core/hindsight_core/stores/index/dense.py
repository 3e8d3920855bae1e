"""Vectors, searched exactly.

At this size an exact scan takes milliseconds and loses nothing. The products are summed by `np.einsum` rather than
by BLAS: one pass at memory speed in one thread, whereas a BLAS kernel may be slow for one long matrix times one
vector, and its threads stall each other when cores are shared. And each row's sum does not depend on where the row
lies, so that equal vectors get equal cosines in every scan, and ties are ties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise

import numpy as np

from hindsight_core.errors import InvalidInput
from hindsight_core.ports import Floats, Ints
from hindsight_core.stores.index.columns import Growing
from hindsight_core.stores.index.mask import Mask
from hindsight_core.threads import beside, shared

Near = tuple[Ints, Floats]
"""Slots and their cosines."""

_MANY = 4  # so many queries are worth a matrix product
_PRODUCTS = 1 << 22  # cosines computed at a time
_SLACK = 1e-5  # more than single precision can err by, for vectors of length 1
_PIECE = 2048  # rows: a thread that is woken takes as long to begin as another one to scan these
_LARGE = (
    1 << 14
)  # rows scanned in a millisecond or so, in one go: a thread that comes back for more is in the way
_CHUNK = 512  # rows gathered at a time: they stay in the cache between copying and multiplying


class Vectors:
    """One vector per slot, or none. In float32: NumPy multiplies float16 an order of magnitude slower."""

    def __init__(self, dimension: int | None) -> None:
        self._dimension = dimension
        self._vectors = Growing(np.float32, dimension or 0)
        self._has = Growing(np.bool_)
        self._lacking = 0

    @property
    def nbytes(self) -> int:
        """Bytes of the vectors."""
        return self._vectors.nbytes + self._has.nbytes

    @property
    def complete(self) -> bool:
        """Whether every slot has a vector."""
        return not self._lacking

    def reserve(self, count: int) -> None:
        """Make room for so many vectors more: growing step by step would copy gigabytes."""
        self._vectors.reserve(count)

    def extend(self, vectors: Floats | None, count: int) -> None:
        """Append the vectors of the next `count` slots."""
        if vectors is None:
            vectors = np.full((count, self._dimension or 0), np.nan, np.float32)
            has = np.zeros(count, np.bool_)
        else:
            self._check(vectors.shape[1:])
            has = ~np.isnan(np.einsum("ij->i", vectors))
        self._vectors.extend(vectors)
        self._has.extend(has)
        if not has.all():
            self._vectors.view[-count:][~has] = 0  # a scan passes over them, and nan would only make noise
            self._lacking += count - int(has.sum())

    def keep(self, slots: Ints) -> None:
        """Retain only these ascending slots."""
        self._vectors.keep(slots)
        self._has.keep(slots)
        self._lacking = len(slots) - int(self._has.view.sum())

    def of(self, slots: Ints) -> Floats:
        """The vectors of some slots, a copy; nan where there is none."""
        vectors = self._vectors.view[slots]
        if self._lacking:
            vectors[~self._has.view[slots]] = np.nan
        return vectors

    def scan(self, query: Floats, mask: Mask) -> Floats:
        """Cosine of every visible memory, in the order of `mask.slots`; nan where there is no vector."""
        return self.scanning(query, mask)()

    def scanning(self, query: Floats, mask: Mask) -> Callable[[], Floats]:
        """Begin a scan beside other work; what is returned takes its share of it and gives the result."""
        vectors, query, slots = self._vectors.view, self._query(query), mask.slots
        cosine = np.empty(len(slots if mask.selective else vectors), np.float32)
        pieces: list[Callable[[], object]] = []
        for start, end in pairwise(_parts(len(cosine))):
            part = slice(start, end)
            if mask.selective:
                pieces.append(partial(self._gather, query, slots[part], cosine[part]))
            else:
                pieces.append(partial(np.einsum, "ij,j->i", vectors[part], query, out=cosine[part]))
        finish = shared(pieces)

        def found() -> Floats:
            finish()
            visible = cosine if mask.selective or mask.full else cosine[slots]
            return self._blank(visible, slots)

        return found

    def cosines(self, query: Floats, slots: Ints) -> Floats:
        """The same for any slots."""
        cosine = np.empty(len(slots), np.float32)
        self._gather(self._query(query), slots, cosine)
        return self._blank(cosine, slots)

    def _gather(self, query: Floats, slots: Ints, cosine: Floats) -> None:
        room = np.empty((min(_CHUNK, len(slots)), len(query)), np.float32)
        for start in range(0, len(slots), _CHUNK):
            part = slots[start : start + _CHUNK]
            rows = room[: len(part)]
            np.take(self._vectors.view, part, axis=0, out=rows, mode="clip")  # "raise" would copy once more
            np.einsum("ij,j->i", rows, query, out=cosine[start : start + len(part)])

    def near(self, queries: Floats, mask: Mask, *, top: int, least: float) -> Callable[[], Iterable[Near]]:
        """Begin to search what is near, beside other work; what is returned waits for the end of it.

        Returns:
            For each query, the visible slots that can be among its `top` with a cosine of at least `least`, a few more, and
            their cosines.
        """
        self._check(queries.shape[1:])

        def among(cosine: Floats, slack: float) -> tuple[Ints, Floats]:
            near = (cosine >= least - slack).nonzero()[0]
            best = cosine[near]
            if len(near) > top:
                kept = best >= np.partition(best, -top)[-top] - slack
                near, best = near[kept], best[kept]
            return mask.slots[near], best

        def multiplied() -> list[Near]:
            # Several queries are multiplied at once by BLAS, whose last digits depend on where a vector lies.
            found = [among(approximate, _SLACK)[0] for approximate in self._products(queries, mask)]
            return [(slots, self.cosines(query, slots)) for query, slots in zip(queries, found, strict=True)]

        if len(queries) >= _MANY:
            return beside(multiplied, worthwhile=True)
        begun = [self.scanning(query, mask) for query in queries]
        return lambda: [among(scan(), 0.0) for scan in begun]

    def _products(self, queries: Floats, mask: Mask) -> Iterator[Floats]:
        vectors = self._vectors.view[mask.slots] if mask.selective else self._vectors.view
        step = max(_PRODUCTS // max(len(vectors), 1), 1)
        for start in range(0, len(queries), step):
            for cosine in queries[start : start + step].astype(np.float32, copy=False) @ vectors.T:
                visible = cosine if mask.selective or mask.full else cosine[mask.slots]
                yield self._blank(visible, mask.slots)

    def _blank(self, cosine: Floats, slots: Ints) -> Floats:
        if self._lacking:
            cosine[~self._has.view[slots]] = np.nan
        return cosine

    def _query(self, query: Floats) -> Floats:
        self._check(query.shape)
        return np.ascontiguousarray(query, np.float32)

    def _check(self, shape: tuple[int, ...]) -> None:
        if shape != (self._dimension,):
            raise InvalidInput(f"a vector of shape {shape} for an index of dimension {self._dimension}")


def _parts(rows: int) -> list[int]:
    """Where rows are cut into pieces: a small one for this thread, a large one for another, and what either may take."""
    if rows <= 2 * _PIECE:
        return [0, rows]
    large = min(max(rows // 2, _LARGE), rows)
    return [0, _PIECE, *range(large, rows, 2 * _PIECE), rows]
