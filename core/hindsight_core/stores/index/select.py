"""The first few in an order given by several columns, without sorting the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hindsight_core.ports import Ints

_BLOCK = 64

Column = Callable[[Any], NDArray[Any]]
"""Values at some positions, given as anything that indexes an array; smaller comes first. Never nan."""


def first(count: int, top: int, columns: Sequence[Column]) -> Ints:
    """The `top` first of `count` positions, in no particular order.

    The first column decides; where the cut falls among equals the next one decides, and so on. A column is therefore
    asked only about positions that all columns before it leave open.
    """
    if top <= 0:
        return np.zeros(0, np.int64)
    if count <= top:
        return np.arange(count)
    chosen: list[Ints] = []
    open_: Ints | None = None  # None = all
    for column in columns:
        values = column(slice(None) if open_ is None else open_)
        near = _near(values, top)
        values = values[near]
        open_ = near if open_ is None else open_[near]
        cut = np.partition(values, top - 1)[top - 1]
        chosen.append(open_[values < cut])
        open_ = open_[values == cut]
        top -= len(chosen[-1])
        if len(open_) == top:
            break
    assert open_ is not None
    return np.concatenate([*chosen, open_[:top]])


def _near(values: NDArray[Any], top: int) -> Ints:
    """Positions of all values that can be among the `top` smallest, and of a few others.

    `top` blocks whose smallest value is at most x hold `top` values of at most x. Looking for the smallest of each
    block is one fast pass, where a partition of everything takes several slow ones.
    """
    blocks = len(values) // _BLOCK
    if blocks <= top:
        return np.arange(len(values))
    least = (
        values[: blocks * _BLOCK].reshape(_BLOCK, blocks).min(axis=0)
    )  # every so many-th value: adds whole rows
    return np.flatnonzero(values <= np.partition(least, top - 1)[top - 1])
