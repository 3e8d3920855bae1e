"""Relevance: how sure we are that a memory speaks to a question at all, in 0..1 and without looking at the others.

`score` ranks within one recall and is relative to it. Relevance is absolute: it uses the calibrated cosine
`(cos - background) / (1 - background)`, the background measured for this question and this memory (see
`embedding.local_background`), and the share of the question's own words, weighted by how telling they are,
that the memory (with its window) contains. It means the same in a store of one memory and of a million.
"""

from __future__ import annotations

import numpy as np

from hindsight_core.ports import Bank, Doubles, Floats, Ints

_WORDS = 0.5
"""How far words alone can carry relevance where there are vectors to ask as well."""


def rarity(df: Ints, size: int) -> Doubles:
    """How telling a word or name is that `df` of `size` memories hold: ln(1 + (size - df + 1/2) / (df + 1/2)), as in BM25."""
    often = df.astype(np.float64)
    # Counts may be estimates, and then more than there are.
    return np.log1p((np.maximum(size - often, 0.0) + 0.5) / (often + 0.5))


def coverage(covered: Doubles, weights: Floats, bank: Bank) -> Doubles:
    """Share of the question's terms that a memory holds, (n,) in 0..1, telling terms counting more.

    A term that no visible memory holds counts in full: a question about unknown things is not covered.
    """
    telling = weights.astype(np.float64) * rarity(bank.term_df, bank.size)
    total = float(telling.sum())
    if total <= 0:
        return np.zeros(len(covered))
    return np.asarray((covered > 0) @ telling / total, dtype=np.float64)


def relevance(cosine: Floats, background: Doubles | None, covered: Doubles) -> Doubles:
    """Relevance of n candidates, each by itself.

    Either meaning or words may be right alone: another wording shares no words, a bare version number has no meaning.
    So they are joined as independent signs are (noisy or).

    Args:
        cosine: float32 (n,); nan where a memory has no vector.
        background: float64 (n,) what the cosine would be without any relation; None without an embedder.
        covered: Share of the question's words they hold, (n,).
    """
    own = covered
    if background is not None:
        near = np.fmax((cosine - background) / (1.0 - background), 0.0).clip(max=1.0)  # fmax passes over nan
        own = 1.0 - (1.0 - near) * (1.0 - _WORDS * np.sqrt(covered))
    return np.asarray(own, dtype=np.float64)


def beside_the_surest(own: Doubles) -> Doubles:
    """Relevance of the candidates of one recall, given that of each by itself.

    A memory beside one that surely answers is more likely right than the same memory beside nothing, so each is
    averaged with the surest.
    """
    return np.asarray((own + own.max(initial=0.0)) / 2.0, dtype=np.float64)
