"""What signals are measured against in a large scope, estimated from two strata.

What a reading has fetched counts as itself; the rest of what may be seen is what the sample says of it. For a rare word, whose
holders are all fetched, that is exact; for a common one the sample is large enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hindsight_core.ports import Bank, Doubles, Floats, Ints, Probe
from hindsight_core.stores.qdrant.columns import Columns, Flags
from hindsight_core.stores.qdrant.points import (
    Sparse,
)
from hindsight_core.stores.qdrant.scene import Scene
from hindsight_core.stores.qdrant.schema import sparse
from hindsight_core.stores.qdrant.view import View
from hindsight_core.stores.qdrant.window import Window


@dataclass(frozen=True, slots=True)
class Measured:
    """What a probe is measured against; arrays by term and by entity."""

    bank: Bank
    rarity: Doubles
    passed_over: Flags
    names: Doubles
    average: float


class Measuring(Window):
    """A window with statistics over everything that may be seen."""

    def __init__(self, view: View, scene: Scene, dimension: int | None) -> None:
        super().__init__(view, scene, dimension)
        self._measured: dict[int, tuple[Probe, Measured]] = {}

    def _weighted(self, probe: Probe) -> tuple[Sparse, Sparse]:
        """Words and names of a probe with the weights that the sample gives them."""
        rows = self._shown(probe.visible)
        rows = rows[rows < self._sampled]
        size = max(self._size(probe.visible), 1)
        part = size / max(len(rows), 1)
        held = (self._once(Columns.counts, probe.terms, rows) > 0).sum(axis=0)
        named = self._once(Columns.named, probe.entities, rows).sum(axis=0)
        words = probe.term_weights * _rarity(size, held * part)
        return sparse(probe.terms, words), sparse(probe.entities, _rarity(size, named * part))

    def _measure(self, probe: Probe, rows: Ints) -> Measured:
        """Statistics over what may be seen, of which these rows are here."""
        fetched = np.isin(rows, np.fromiter(self._fetched, np.int64, len(self._fetched)))
        size = max(self._size(probe.visible), len(rows)) if len(rows) else 0
        sampled = int((~fetched).sum())
        rest = (size - int(fetched.sum())) / sampled if sampled else 0.0
        weight = np.where(fetched, 1.0, rest)
        total = float(weight.sum())
        counts = self._once(Columns.counts, probe.terms, rows)
        term_df = weight @ (counts > 0)
        name_df = weight @ self._once(Columns.named, probe.entities, rows)
        length = self._of(lambda block: block.length, rows).astype(np.float64)
        passed_over = np.zeros(len(probe.terms), np.bool_) if probe.common is None else term_df > probe.common
        measured = Measured(
            bank=_NOTHING,
            rarity=np.where(passed_over, 0.0, _rarity(size, term_df)),
            passed_over=passed_over,
            names=_rarity(size, name_df),
            average=float(weight @ length) / max(total, 1.0) or 1.0,
        )
        keyword = (bm25(counts, length, measured, probe) @ probe.term_weights).astype(np.float64)
        cosine = self._once(Columns.cosine, probe.vector, rows).astype(np.float64)
        has = ~np.isnan(cosine)
        times = self._of(lambda block: block.rows.timestamp, rows)
        cosine_mean, cosine_std = _moments(cosine[has], weight[has])
        keyword_mean, keyword_std = _moments(keyword, weight)
        learnt_mean, learnt_std = 0.0, 0.0
        if len(probe.learnt) and len(rows):
            learnt_mean, learnt_std = _moments(
                self._once(Columns.learnt, probe, rows).sum(axis=1, dtype=np.float64), weight
            )
        bank = Bank(
            size=size,
            cosine_mean=cosine_mean,
            cosine_std=cosine_std,
            keyword_mean=keyword_mean if size else 0.0,
            keyword_std=keyword_std if size else 0.0,
            term_df=np.round(term_df).astype(np.int64),
            entity_df=np.round(name_df).astype(np.int64),
            newest=float(np.fmax.reduce(times, initial=np.nan)),
            learnt_mean=learnt_mean,
            learnt_std=learnt_std,
        )
        measured = replace(measured, bank=bank)
        self._measured[id(probe)] = probe, measured
        return measured


_NOTHING = Bank(
    size=0, cosine_mean=0, cosine_std=0, keyword_mean=0, keyword_std=0,
    term_df=np.zeros(0, np.int64), entity_df=np.zeros(0, np.int64), newest=np.nan,
)  # fmt: skip


def _rarity(size: int, df: NDArray[Any]) -> Doubles:
    """As the index's `idf`, of estimated numbers, too."""
    found: Doubles = np.log1p((size - np.minimum(df, size) + 0.5) / (df + 0.5))
    return found


def bm25(counts: Floats, length: NDArray[np.generic], measured: Measured, probe: Probe) -> Floats:
    """What each term gives to the score of each memory, (n, T)."""
    norm = probe.k1 * (1 - probe.b + probe.b * length.astype(np.float64) / measured.average)
    parts = measured.rarity * (probe.k1 + 1) * counts / np.maximum(counts + norm[:, None], 1e-12)
    found: Floats = parts.astype(np.float32)
    return found


def _moments(values: Doubles, weight: Doubles) -> tuple[float, float]:
    total = float(weight.sum())
    if not total:
        return np.nan, np.nan
    mean = float(weight @ values) / total
    return round(mean, 7), round(max(float(weight @ (values - mean) ** 2) / total, 0.0) ** 0.5, 7)
