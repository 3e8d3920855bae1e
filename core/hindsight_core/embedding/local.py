"""The bundled embedder: multilingual-e5-small, offline, about a hundred languages, 384 numbers per text.

Constructing one loads nothing. The model is loaded by the first text, once per process for all of them; the first
time on a machine it is also prepared for ONNX Runtime, which takes a few seconds, and kept in the cache folder
(HINDSIGHT_CACHE_DIR, or the platform's own). Where ONNX Runtime is not installed or cannot run it, the slower engine
that comes with the weights is used: the vectors are interchangeable, so the fingerprint is the same.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import threading
from functools import lru_cache
from typing import Literal

from hindsight_core.embedding.e5.runtimes import EngineRuntime, OnnxRuntime, Runtime
from hindsight_core.embedding.e5.weights import checksum, installed
from hindsight_core.errors import EmbeddingError, InvalidInput, MissingExtra
from hindsight_core.ports import Floats
from hindsight_core.text.keys import storable

log = logging.getLogger(__name__)

_VECTORS = 1
"""Counts changes that make vectors no longer interchangeable with earlier ones."""


class LocalEmbedder:
    """The bundled multilingual model; safe to call from any number of threads.

    Args:
        threads: Threads that compute at the same time; None for as many as this process may use.
        runtime: "onnx", "engine" (the slow one), or "auto": the first where it works, else the second.

    Raises:
        InvalidInput: An argument is wrong.
    """

    dimension = 384

    def __init__(
        self, *, threads: int | None = None, runtime: Literal["auto", "onnx", "engine"] = "auto"
    ) -> None:
        if threads is not None and threads < 1:
            raise InvalidInput(f"threads must be at least 1, not {threads}")
        if runtime not in ("auto", "onnx", "engine"):
            raise InvalidInput(f'runtime must be "auto", "onnx" or "engine", not {runtime!r}')
        self._threads = threads or _usable_cpus()
        self._kind = runtime

    @property
    def fingerprint(self) -> str:
        """Model, weights and prefixes.

        Raises:
            MissingExtra: The weights are not installed.
        """
        return _fingerprint()

    def require(self) -> None:
        """Check that the weights are installed, without loading them.

        Raises:
            MissingExtra: They are not.
        """
        installed()

    def embed_documents(self, texts: list[str]) -> Floats:
        """Vectors of passages of any length: shape (n, 384).

        Raises:
            MissingExtra: The weights are not installed.
            EmbeddingError: The model cannot be loaded.
        """
        return _loaded(self._kind, self._threads).embed([_plain(text) for text in texts], query=False)

    def embed_query(self, text: str) -> Floats:
        """Vector of a question, shape (384,).

        Raises:
            MissingExtra: The weights are not installed.
            EmbeddingError: The model cannot be loaded.
        """
        vector: Floats = _loaded(self._kind, self._threads).embed([_plain(text)], query=True)[0]
        return vector


def _plain(text: str) -> str:
    """Without lone surrogates, which have no encoding, and without NUL, at which the engine would stop reading."""
    return storable(text).replace("\0", " ")


@lru_cache(maxsize=1)
def _fingerprint() -> str:
    return f"multilingual-e5-small-q4/{checksum(installed())[:12]}/query-passage/{_VECTORS}"


def _usable_cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Models:
    """The models loaded in this process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.loaded: dict[tuple[str, int], Runtime] = {}

    def get(self, kind: str, threads: int) -> Runtime:
        """Load once."""
        with self.lock:
            if (kind, threads) not in self.loaded:
                self.loaded[kind, threads] = _load(kind, threads)
            return self.loaded[kind, threads]


_models = _Models()


def _loaded(kind: str, threads: int) -> Runtime:
    return _models.get(kind, threads)


def _start_afresh() -> None:
    """In a forked child: neither the lock nor the threads of the parent's models can be relied on."""
    global _models
    _models = _Models()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)


def _load(kind: str, threads: int) -> Runtime:
    path = installed()
    if kind == "engine":
        return EngineRuntime(path, threads)
    missing = [name for name in ("onnxruntime", "tokenizers") if importlib.util.find_spec(name) is None]
    try:
        if missing:
            raise MissingExtra("the fast runtime of the bundled model", "local")
        return OnnxRuntime(path, threads)
    except (ImportError, EmbeddingError) as error:
        if kind == "onnx":
            raise
        log.warning("the bundled model runs slowly, by its own engine: %s", error)
        return EngineRuntime(path, threads)
