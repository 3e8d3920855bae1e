"""Embedding with the seams checked: what an embedder gives back is either a sound vector or a reported error.

Embedders are other people's code, often behind a network: they fail, they return lists of the wrong length, they
return nan. Here such a fault costs the one text it belongs to and nothing else. A failing batch is halved until the
bad text stands alone; a bad text that is long is tried again in pieces, whose mean stands for it (an endpoint that
refuses 40,000 tokens takes 160 short pieces gladly); and an embedder that fails everywhere, or says that it is not
available, is not asked forever.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hindsight_core.errors import EmbedderUnavailable, EmbeddingError
from hindsight_core.ports import Embedder, Floats
from hindsight_core.text.keys import storable

_PIECE = 1000
"""Characters of a piece of a long text: below the input limit of every embedder in use, in any script."""

_GIVE_UP = 8
"""Texts that fail alone before any succeeds; then the embedder itself is taken to be down."""


def embed_checked(
    embedder: Embedder, texts: list[str]
) -> tuple[list[Floats | None], list[tuple[int, EmbeddingError]]]:
    """Embed passages; one bad text does not lose the others.

    Args:
        embedder: Any embedder.
        texts: Passages.

    Returns:
        One float32 vector of length 1 and shape (dimension,) per text, None where it failed; and (index, error) of
        those that failed, in order. No error message holds text; the original error is its `__cause__`.
    """
    batch = _Batch(embedder, [storable(text) for text in texts])
    batch.run(0, len(texts))
    return batch.vectors, sorted(batch.failures, key=lambda failure: failure[0])


def embed_query_checked(embedder: Embedder, text: str) -> Floats:
    """Embed one question.

    Returns:
        float32, shape (dimension,), length 1.

    Raises:
        EmbeddingError: It failed, with the original error as cause.
    """
    text = storable(text)
    call = embedder.embed_query

    def one(piece: str) -> Floats:
        row: Floats = _sound(_called(lambda: [call(piece)]), 1, embedder)[0]
        return row

    try:
        return _fit(one(text))
    except EmbedderUnavailable:
        raise
    except EmbeddingError:
        if len(text) <= _PIECE:
            raise
        return _mean([one(piece) for piece in _pieces(text)])


class _Batch:
    """One call of `embed_checked`: which texts have their vector, which have failed."""

    def __init__(self, embedder: Embedder, texts: list[str]) -> None:
        self.embedder = embedder
        self.texts = texts
        self.vectors: list[Floats | None] = [None] * len(texts)
        self.failures: list[tuple[int, EmbeddingError]] = []
        self.succeeded = False

    def run(self, start: int, stop: int) -> None:
        """Embed texts[start:stop], halving on failure."""
        if start == stop:
            return
        if len(self.failures) >= _GIVE_UP and not self.succeeded:
            error = self.failures[-1][1]
            self.failures += [(index, error) for index in range(start, stop)]
            return
        try:
            rows = self._embed(self.texts[start:stop])
        except EmbedderUnavailable as error:
            self.failures += [(index, error) for index in range(start, stop)]
            return
        except EmbeddingError as error:
            if stop - start == 1:
                self._alone(start, error)
            else:
                middle = (start + stop) // 2
                self.run(start, middle)
                self.run(middle, stop)
            return
        for index, row in enumerate(rows, start):
            try:
                self.vectors[index] = _fit(row)
                self.succeeded = True
            except EmbeddingError as error:
                self.failures.append((index, error))

    def _alone(self, index: int, error: EmbeddingError) -> None:
        text = self.texts[index]
        try:
            if len(text) <= _PIECE:
                raise error
            self.vectors[index] = _mean(list(self._embed(_pieces(text))))
            self.succeeded = True
        except EmbeddingError as last:
            self.failures.append((index, last))

    def _embed(self, texts: list[str]) -> Floats:
        return _sound(_called(lambda: self.embedder.embed_documents(texts)), len(texts), self.embedder)


def _called(call: Callable[[], object]) -> object:
    try:
        return call()
    except EmbeddingError:
        raise
    except Exception as error:  # an embedder may raise anything; it is mapped, with the cause kept
        raise EmbeddingError(f"the embedder failed with {type(error).__name__}") from error


def _sound(given: object, count: int, embedder: Embedder) -> Floats:
    """The result as an array of the promised shape."""
    try:
        rows = np.asarray(given, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise EmbeddingError("the embedder returned something that is not an array of numbers") from error
    if rows.shape != (count, embedder.dimension):
        raise EmbeddingError(
            f"the embedder returned shape {rows.shape} for {count} texts of dimension {embedder.dimension}"
        )
    return rows


def _fit(row: Floats) -> Floats:
    """One vector, finite and of length 1."""
    if not np.isfinite(row).all():
        raise EmbeddingError("the embedder returned a vector that is not finite")
    norm = float(np.linalg.norm(row.astype(np.float64)))
    if norm == 0.0:
        raise EmbeddingError("the embedder returned a vector of zeros")
    return np.asarray(row / norm, dtype=np.float32)


def _mean(rows: list[Floats]) -> Floats:
    return _fit(np.mean([_fit(row) for row in rows], axis=0))


def _pieces(text: str) -> list[str]:
    """The text in pieces of at most `_PIECE` characters, cut at the last blank of each where there is one."""
    pieces, rest = [], text
    while len(rest) > _PIECE:
        cut = rest.rfind(" ", _PIECE // 2, _PIECE) + 1 or _PIECE
        pieces.append(rest[:cut])
        rest = rest[cut:]
    return [*pieces, rest]
