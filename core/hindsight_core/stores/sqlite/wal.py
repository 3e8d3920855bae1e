"""Damage to the write-ahead log, told from a log that was merely cut short.

SQLite replays the log up to the first frame whose checksum fails and silently drops the rest. After a crash that is
right: the torn frames belong to a commit nobody was told of. In a log damaged later it would lose acknowledged
commits without a word, so a log with a broken header, or with further commits behind a broken frame, is an
error that names the file, before SQLite has touched it.

The format, with its running checksum s0 += x0 + s1, s1 += x1 + s0, is https://www.sqlite.org/fileformat2.html
section 4. One frame's checksum is linear in the one before and in its words (mod 2**32), so all frames are one matrix product.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hindsight_core.errors import StoreCorrupted

_HEADER, _FRAME = 32, 24
_MAGIC = 0x377F0682  # the last bit says whether the checksummed words are big-endian
_LATER_COMMITS = 2  # one commit may be torn by a power cut; a second one behind it was acknowledged

Words = NDArray[np.uint32]


def check(path: str) -> None:
    """Refuse a damaged log of the store at `path`.

    Raises:
        StoreCorrupted: Commits in the log cannot be read; nothing was changed.
    """
    log = Path(f"{path}-wal")
    # A frame that another process is writing right now looks torn; it has been written by the second look.
    if log.exists() and not _sound(log.read_bytes()) and not _sound(log.read_bytes()):
        raise StoreCorrupted(
            f"{log} is damaged; restore it from a copy, or move it away to open the store without its latest changes"
        )


def _sound(data: bytes) -> bool:
    if len(data) < _HEADER or not any(data[:_HEADER]):
        return True
    header = np.frombuffer(data, ">u4", 8).astype(np.uint32)
    page = int(header[2])
    if int(header[0]) & ~1 != _MAGIC or page < 512 or page & (page - 1):
        return False
    word = ">u4" if int(header[0]) & 1 else "<u4"
    first = _sums(np.frombuffer(data, word, 6)[None, :], np.zeros((1, 2), np.uint32))
    if not np.array_equal(first[0], header[6:8]):
        return False
    size = _FRAME + page
    count = (len(data) - _HEADER) // size
    frames = np.frombuffer(data, np.uint8, count * size, _HEADER).reshape(count, size)
    heads = frames[:, :_FRAME].copy().view(">u4").astype(np.uint32)
    current = (heads[:, 2:4] == header[4:6]).all(axis=1)  # frames left over from an older log follow
    summed = np.concatenate([frames[:, :8], frames[:, _FRAME:]], axis=1).view(word)
    stored = heads[:, 4:6]
    valid = current & (_sums(summed, np.concatenate([first, stored[:-1]])) == stored).all(axis=1)
    if valid.all():
        return True
    behind = slice(int(np.argmin(valid)) + 1, None)
    return int(np.count_nonzero(current[behind] & (heads[behind, 1] > 0))) < _LATER_COMMITS


def _sums(words: NDArray[Any], before: Words) -> Words:
    """Checksums, uint32 (n, 2), of n rows of words, each going on from the checksum in `before`."""
    step, weights = _weights(words.shape[1] // 2)
    found: Words = before[: len(words)] @ step + words.astype(np.uint32) @ weights
    return found


@lru_cache(maxsize=4)
def _weights(pairs: int) -> tuple[Words, Words]:
    """What `pairs` pairs of words make of a checksum, (2, 2), and what each word adds to it, (2 * pairs, 2)."""
    pair = np.array(
        [[1, 1], [1, 2]], np.uint32
    )  # s0 + s1, then s0 + 2 s1; symmetric, so it acts from either side
    step = np.eye(2, dtype=np.uint32)
    weights = np.empty((pairs, 2, 2), np.uint32)
    for k in range(pairs - 1, -1, -1):
        weights[k] = np.array([[1, 1], [0, 1]], np.uint32) @ step
        step = step @ pair
    return step, weights.reshape(2 * pairs, 2)
