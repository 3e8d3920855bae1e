"""Cross-encoders of sentence-transformers, by name or from a folder."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hindsight_core.errors import EmbeddingError, InvalidInput, MissingExtra
from hindsight_core.locks import Lock
from hindsight_core.ports import Floats
from hindsight_core.reranking.onnx import logistic
from hindsight_core.text.keys import storable


class CrossEncoderReranker:
    """A cross-encoder of sentence-transformers; it is loaded by the first question, once.

    Args:
        model: Its name on the Hugging Face hub, such as "BAAI/bge-reranker-v2-m3", or its folder.
        device: "cpu", "cuda", ...; None for the best there is.
        batch_size: Pairs computed at once.
        max_tokens: Tokens of question and passage together; None for what the model reads.

    Raises:
        InvalidInput: An argument is wrong.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        device: str | None = None,
        batch_size: int = 16,
        max_tokens: int | None = None,
    ) -> None:
        if not str(model) or batch_size < 1 or (max_tokens is not None and max_tokens < 8):
            raise InvalidInput("model must not be empty, batch_size at least 1, and max_tokens at least 8")
        self.model = str(model)
        self._device = device
        self._batch_size = batch_size
        self._max_tokens = max_tokens
        self._lock = Lock()
        self._loaded: Any = None

    def require(self) -> None:
        """Check that sentence-transformers is installed, without loading anything.

        Raises:
            MissingExtra: It is not.
        """
        if importlib.util.find_spec("sentence_transformers") is None:
            raise MissingExtra("a cross-encoder of sentence-transformers", "rerank")

    def rerank(self, query: str, passages: Sequence[str]) -> Floats:
        """One score in 0..1 per passage, shape (n,).

        Raises:
            MissingExtra: sentence-transformers is not installed.
            EmbeddingError: The model cannot be loaded or run.
        """
        if not passages:
            return np.zeros(0, np.float32)
        self.require()
        import torch

        pairs = [(storable(query), storable(passage)) for passage in passages]
        try:
            logits = self._model().predict(
                pairs,
                batch_size=self._batch_size,
                show_progress_bar=False,
                activation_fn=torch.nn.Identity(),  # some models squash their scores by themselves, some do not
                convert_to_numpy=True,
            )
        except (RuntimeError, ValueError, OSError) as error:
            raise EmbeddingError(f"the cross-encoder {self.model} cannot be loaded or run") from error
        values = np.asarray(logits, np.float64).reshape(len(pairs), -1)
        return logistic(values[:, 0] if values.shape[1] == 1 else values[:, 1] - values[:, 0])

    def _model(self) -> Any:
        with self._lock:
            if self._loaded is None:
                from sentence_transformers import CrossEncoder

                self._loaded = CrossEncoder(self.model, device=self._device, max_length=self._max_tokens)
            return self._loaded
