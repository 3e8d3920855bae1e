"""Any function from texts to vectors, as an embedder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hindsight_core.errors import EmbeddingError, InvalidInput
from hindsight_core.locks import Lock
from hindsight_core.ports import Floats

_PROBE = "How many numbers are there in a vector?"


class CallableEmbedder:
    """Wraps `f(list of n texts) -> array-like of shape (n, dimension)`; questions and passages are treated alike.

    The fingerprint is what tells a store that its vectors still fit. Without a name it is made of the function's
    module, qualified name and dimension, so it does not see that a function of the same name now runs another model,
    nor tell two lambdas of one scope apart: give a name wherever that can happen.

    Args:
        function: The function; called with a list of str, must be safe to call from several threads.
        name: Fingerprint to use, such as "acme/embed-3@2026-01".
        dimension: Length of a vector; when not given, the function is asked once, with a short English sentence.
    """

    def __init__(
        self,
        function: Callable[[list[str]], Any],
        *,
        name: str | None = None,
        dimension: int | None = None,
    ) -> None:
        if name == "":
            raise InvalidInput("name must not be empty")
        if dimension is not None and dimension < 1:
            raise InvalidInput(f"dimension must be positive, not {dimension}")
        self._function = function
        self._name = name
        self._dimension = dimension
        self._lock = Lock()

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        with self._lock:
            if self._dimension is None:
                self._dimension = self._call([_PROBE]).shape[1]
            return self._dimension

    @property
    def fingerprint(self) -> str:
        """The name given, or module.qualname/dimension."""
        if self._name is not None:
            return self._name
        named = self._function if hasattr(self._function, "__qualname__") else type(self._function)
        return f"{named.__module__}.{named.__qualname__}/{self.dimension}"

    def embed_documents(self, texts: list[str]) -> Floats:
        """Vectors of passages, shape (n, dimension), scaled to length 1."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        return self._call(texts)

    def embed_query(self, text: str) -> Floats:
        """Vector of a question, shape (dimension,), scaled to length 1."""
        vector: Floats = self._call([text])[0]
        return vector

    def _call(self, texts: list[str]) -> Floats:
        try:
            rows = np.asarray(self._function(texts), dtype=np.float32)
        except Exception as error:  # the function may raise anything; it is mapped, with the cause kept
            raise EmbeddingError(f"the embedding function failed with {type(error).__name__}") from error
        if rows.ndim != 2 or rows.shape[0] != len(texts) or rows.shape[1] == 0:
            raise EmbeddingError(
                f"the embedding function returned shape {rows.shape} for {len(texts)} texts; (n, dimension) is needed"
            )
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(norms > 0.0, norms, 1.0), dtype=np.float32)
