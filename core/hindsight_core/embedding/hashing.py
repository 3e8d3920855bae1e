"""An embedder without a model: hashed words and character trigrams.

Every text becomes a bag of features (its words, the three-character pieces of each word, and for Chinese, Japanese and
Korean script its characters and pairs of characters); each feature is hashed to one place and one sign of the vector
("feature hashing", Weinberger et al. 2009, arXiv:0902.2206). Texts that share words come out near each other, texts
that share none nearly orthogonal. It knows nothing of meaning: it is for tests and demonstrations, where it is fast,
needs no file and gives the same vector in every process.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from hindsight_core.errors import InvalidInput
from hindsight_core.ports import Floats
from hindsight_core.text.keys import storable

_WORD = re.compile(r"\w+")
_IDEOGRAPHS = re.compile("[぀-ヿ㐀-鿿豈-﫿가-힯\U00020000-\U0003ffff]+")
_PIECE_WEIGHT = 0.4


class HashEmbedder:
    """Deterministic vectors of hashed words and character pieces, in any script.

    Args:
        dimension: Length of a vector; the smaller, the more unrelated words collide.
    """

    def __init__(self, dimension: int = 256) -> None:
        if dimension < 8:
            raise InvalidInput(f"dimension must be at least 8, not {dimension}")
        self.dimension = dimension
        self.fingerprint = f"hash-words-trigrams/{dimension}/1"

    def embed_documents(self, texts: list[str]) -> Floats:
        """Vectors of passages, shape (n, dimension)."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Floats:
        """Vector of one text, shape (dimension,); passages and questions are treated alike."""
        vector = np.zeros(self.dimension, np.float64)
        for feature, count in Counter(_features(text)).items():
            place, sign = _place(feature, self.dimension)
            vector[place] += sign * (_PIECE_WEIGHT if feature[0] == "#" else 1.0) * count**0.5
        norm = float(np.linalg.norm(vector))
        if norm == 0.0:
            place, _ = _place("", self.dimension)
            vector[place] = norm = 1.0
        return (vector / norm).astype(np.float32)


def _features(text: str) -> Iterator[str]:
    """Words as they are; pieces of words marked with a leading "#"."""
    for word in _WORD.findall(unicodedata.normalize("NFKC", storable(text)).casefold()):
        for run in _IDEOGRAPHS.findall(word):
            yield from run
            yield from (run[i : i + 2] for i in range(len(run) - 1))
        for rest in _IDEOGRAPHS.sub(" ", word).split():
            yield rest
            padded = f"<{rest}>"
            yield from ("#" + padded[i : i + 3] for i in range(len(padded) - 2))


@lru_cache(maxsize=65536)
def _place(feature: str, dimension: int) -> tuple[int, float]:
    number = int.from_bytes(blake2b(feature.encode(), digest_size=8).digest(), "little")
    return (number >> 1) % dimension, 1.0 if number & 1 else -1.0
