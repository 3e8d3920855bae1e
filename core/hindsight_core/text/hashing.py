"""Stable 64-bit ids for terms and entity keys.

Hashing instead of numbering: two processes that write at once need no shared vocabulary, and erasing a memory
leaves no word list behind. The low 8 bits stay free, so that a term and its count fit one integer. At a million
distinct terms the chance of any collision among 56 bits is about 1 in 140,000.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

COUNT_BITS = 8
COUNT_MASK = (1 << COUNT_BITS) - 1


@lru_cache(maxsize=1 << 17)
def stable_id(key: str) -> int:
    """The id of a string: 64 bits, the low 8 of them zero."""
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") & ~COUNT_MASK
