"""A question, analysed once: words, names, the time it asks for, and what came before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from hindsight_core.ports import Floats, Ids
from hindsight_core.text.hashing import stable_id
from hindsight_core.text.keys import normalise_key
from hindsight_core.text.times import TimeSpan, window_of
from hindsight_core.text.tokens import query_terms

HISTORY_SHARE = 0.3
"""How much a word of an earlier turn counts beside a word of the question itself."""

_WORD = re.compile(r"[^\W_]+(?:[-._/@:'&+#][^\W_]+)*[+#]*", re.UNICODE)
_HAN = re.compile(r"[\u3400-\u9fff]+")
_LONGEST_NAME = 4
_MOST_KEYS = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What recall knows of a question.

    Attributes:
        text: The question.
        terms: uint64 (T,) hashed terms, distinct.
        term_names: The T terms themselves, for explanations.
        term_weights: float32 (T,).
        own: bool (T,) whether a term is of the question itself rather than of its history.
        entities: uint64 (E,) hashed keys of every name the question might contain; the store knows which exist.
        vector: float32 (dimension,) or None.
        window: The time asked for, or None.
    """

    text: str
    terms: Ids
    term_names: tuple[str, ...]
    term_weights: Floats
    own: np.ndarray
    entities: Ids
    vector: Floats | None
    window: TimeSpan | None

    @property
    def epoch_window(self) -> tuple[float, float] | None:
        """The window in epoch seconds; open ends are infinite."""
        if self.window is None:
            return None
        start, end = self.window.start, self.window.end
        return (start.timestamp() if start else -np.inf, end.timestamp() if end else np.inf)


def possible_names(text: str) -> list[str]:
    """Normalised keys of all runs of 1-4 words, and of 2-6 Han characters: any of them may be a known entity."""
    keys: dict[str, None] = {}
    words = [(m.start(), m.end()) for m in _WORD.finditer(text)]
    for size in range(_LONGEST_NAME, 0, -1):
        for first in range(len(words) - size + 1):
            start, end = words[first][0], words[first + size - 1][1]
            if end - start <= 60:
                keys[normalise_key(text[start:end])] = None
    for run in _HAN.finditer(text):
        chars = run.group()
        for size in range(2, 7):
            for first in range(len(chars) - size + 1):
                keys[normalise_key(chars[first : first + size])] = None
    keys.pop("", None)
    return list(keys)[:_MOST_KEYS]


def analyse(
    text: str,
    *,
    now: datetime,
    vector: Floats | None,
    history: Sequence[str] = (),
    history_vectors: Sequence[Floats] = (),
) -> Question:
    """Analyse a question.

    Args:
        text: The question.
        now: What "yesterday" refers to.
        vector: Its embedding, or None.
        history: The turns before it, oldest first; they resolve what a follow-up leaves unsaid.
        history_vectors: Their embeddings, same order; may be empty.
    """
    weights: dict[str, float] = dict(query_terms(text))
    own = len(weights)
    for age, turn in enumerate(reversed(history), 1):
        for term, weight in query_terms(turn):
            if term not in weights:
                weights[term] = weight * HISTORY_SHARE / age
    mixed = vector
    if vector is not None and history_vectors:
        total = vector.astype(np.float64)
        for age, earlier in enumerate(reversed(history_vectors), 1):
            total = total + earlier * (HISTORY_SHARE / age)
        mixed = (total / max(float(np.linalg.norm(total)), 1e-9)).astype(np.float32)
    names = tuple(weights)
    ids = [stable_id(name) for name in names]
    entities = [stable_id(key) for key in possible_names(text)]
    return Question(
        text=text,
        terms=np.array(ids, dtype=np.uint64),
        term_names=names,
        term_weights=np.fromiter(weights.values(), dtype=np.float32, count=len(weights)),
        own=np.arange(len(names)) < own,
        entities=np.array(list(dict.fromkeys(entities)), dtype=np.uint64),
        vector=mixed,
        window=window_of(text, now),
    )
