"""Relevance: how sure we are that a memory speaks to a question at all, in 0..1 and without looking at the others.

`score` ranks within one recall and is relative to it. Relevance is absolute: it uses the calibrated cosine
`(cos - background) / (1 - background)` and the share of the question's own words, weighted by how telling they are,
that the memory (with its window) contains. It means the same in a store of one memory and of a million.
"""

from __future__ import annotations

import numpy as np

from hindsight_core.ports import Bank, Candidates, Doubles, Floats


def coverage(covered: Doubles, weights: Floats, bank: Bank) -> Doubles:
    """Share of the question's terms that a memory holds, (n,) in 0..1, telling terms counting more.

    A term that no visible memory holds counts in full: a question about unknown things is not covered.
    """
    df = bank.term_df.astype(np.float64)
    telling = (
        weights.astype(np.float64) * np.log1p((bank.size - df + 0.5) / (df + 0.5))
        if bank.size
        else weights * 0.0
    )
    total = float(telling.sum())
    if total <= 0:
        return np.zeros(len(covered))
    return np.asarray((covered > 0) @ telling / total, dtype=np.float64)


def relevance(candidates: Candidates, background: float | None, covered: Doubles) -> Doubles:
    """Relevance of n candidates.

    Args:
        candidates: For their cosines.
        background: Mean cosine of unrelated question and passage; None without an embedder.
        covered: Share of the question's words they hold, (n,).
    """
    if background is None:
        return covered
    near = np.clip(
        (np.nan_to_num(candidates.cosine, nan=background) - background) / (1 - background), 0.0, 1.0
    )
    # Either may be right alone: another wording shares no words, a bare version number has no meaning.
    return np.asarray(np.clip(1.0 - (1.0 - near) * (1.0 - 0.6 * covered), 0.0, 1.0), dtype=np.float64)
