"""What embedders have in common whose models want other words in front of a question than of a passage."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from hindsight_core.embedding.prompts import Prompts
from hindsight_core.ports import Floats


class Prompted(ABC):
    """An embedder that puts a prefix in front of a text and embeds both kinds of text alike."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Length of a vector."""

    @property
    @abstractmethod
    def prompts(self) -> Prompts:
        """What stands in front of texts."""

    @abstractmethod
    def _embed(self, texts: list[str], prefix: str) -> Floats:
        """Vectors of at least one text, each behind a prefix, shape (n, dimension), rows of length 1."""

    def embed_documents(self, texts: list[str]) -> Floats:
        """Vectors of passages of any length, shape (n, dimension), rows of length 1.

        Raises:
            MissingExtra: What runs the model is not installed.
            EmbedderUnavailable: It cannot be reached, or refuses whatever it is asked.
            EmbeddingError: It cannot be loaded or run, or failed on a text.
        """
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        return self._embed(texts, self.prompts.passage)

    def embed_query(self, text: str) -> Floats:
        """Vector of a question, shape (dimension,), length 1; errors as for `embed_documents`."""
        vector: Floats = self._embed([text], self.prompts.query)[0]
        return vector
