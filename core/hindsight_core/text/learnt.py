"""Learnt terms: tokens of a model with the weights it gave them, beside the words in one packed list.

A sparse model (bge-m3, SPLADE) says how much each token of a text matters; the dot product of two such lists is a keyword
score whose idf and synonyms were learnt. A memory keeps them as it keeps its words: one number each, the id in the high 56 bits,
a code in the low 8. Ids of tokens are below 2**24 and hashes of words are 56 bits long, so in a sorted list the tokens come
first, and what is below `FIRST_WORD` is a token. (One word in four thousand million hashes down there; it would count as no word.)

A weight is kept on a geometric scale, 16 codes to each doubling: 2.2 % from the truth at most, from .001 to 60, whatever the
scale of the model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from hindsight_core.ports import Floats, Ids
from hindsight_core.text.hashing import COUNT_BITS, COUNT_MASK

FIRST_WORD = np.uint64(1 << 32)
"""Packed terms below it are tokens with learnt weights."""
MOST_TOKENS = (1 << 24) - 1
"""Ids of tokens are below."""
_WEIGHED = MOST_TOKENS << COUNT_BITS
"""Stands, with no weight, for the tokens of a text none of which weighs anything: it was weighed."""

_STEPS, _ONE = 16, 160
WEIGHT: Floats = np.exp2((np.arange(COUNT_MASK + 1) - _ONE) / _STEPS).astype(np.float32)
"""The weight of each code; 0 stands for a token that is not there."""
WEIGHT[0] = 0.0


def pack_weights(weights: Mapping[int, float]) -> Ids:
    """Tokens with their weights as sorted packed terms, at least one; what weighs next to nothing is left out."""
    packed = []
    for token, weight in weights.items():
        code = round(_ONE + _STEPS * math.log2(weight)) if weight > 0.0 else 0
        if code > 0:
            packed.append(token << COUNT_BITS | min(code, COUNT_MASK))
    return np.array(sorted(packed) or [_WEIGHED], np.uint64)


def token_ids(weights: Mapping[int, float]) -> Ids:
    """The tokens alone as hashed terms, as a probe asks for them."""
    return np.array(list(weights), np.uint64) << np.uint64(COUNT_BITS)


def tokens_in(terms: Ids) -> int:
    """How many of some sorted packed terms are tokens."""
    return int(np.searchsorted(terms, FIRST_WORD))
