"""Arithmetic on arrays that NumPy alone does not do well."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Real = TypeVar("Real", np.float32, np.float64)
Whole = TypeVar("Whole", bound=np.integer[Any])

_ALONE = 1 << 18
"""Multiplications that BLAS does in the calling thread (OpenBLAS: up to so many in a product of matrices)."""


def distinct(values: NDArray[Whole]) -> NDArray[Whole]:
    """`np.unique` for a few hundred integers that are mostly in order already: several times faster."""
    if len(values) < 2 or (values[1:] > values[:-1]).all():
        return values
    values = np.sort(values)
    first = np.empty(len(values), np.bool_)
    first[0] = True
    np.not_equal(values[1:], values[:-1], out=first[1:])
    return values[first]


def product(one: NDArray[Real], two: NDArray[Real]) -> NDArray[Real]:
    """`one @ two.T` for small matrices, shapes (n, d) and (m, d), without waking the threads of BLAS.

    Those threads wait for each other: where cores are shared, a product of microseconds then takes milliseconds.
    """
    step = max(_ALONE // max(two.size, 1), 1)
    result = np.empty((len(one), len(two)), np.result_type(one, two))
    for start in range(0, len(one), step):
        np.matmul(one[start : start + step], two.T, out=result[start : start + step])
    return result
