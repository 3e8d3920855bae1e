"""The arrays that cross ports."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]
Ids = NDArray[np.uint64]
"""Hashed terms or entity keys, one uint64 each (see `text.hashing`)."""
