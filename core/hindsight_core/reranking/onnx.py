"""Cross-encoders exported to ONNX, from a folder: no torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hindsight_core.embedding.folder import read_folder
from hindsight_core.embedding.onnx import OnnxModel
from hindsight_core.ports import Floats, Ints
from hindsight_core.text.keys import storable


class OnnxReranker:
    """A cross-encoder for ONNX Runtime; constructing one reads the folder's settings only.

    Args:
        folder: With tokenizer.json and model.onnx (or onnx/model.onnx).
        file: The ONNX file, where there are several.
        threads: Threads that one run uses.

    Raises:
        InvalidInput: The folder lacks something, or an argument is wrong.
    """

    def __init__(self, folder: str | Path, *, file: str | None = None, threads: int | None = None) -> None:
        self._model = OnnxModel(read_folder(folder, file), threads, pairs=True)

    def rerank(self, query: str, passages: Sequence[str]) -> Floats:
        """One score in 0..1 per passage, shape (n,).

        Raises:
            MissingExtra: ONNX Runtime or the tokenizers are not installed.
            EmbeddingError: The model cannot be loaded or run.
        """
        if not passages:
            return np.zeros(0, np.float32)
        return self._model.run([(storable(query), storable(passage)) for passage in passages], _probability)


def _probability(logits: NDArray[Any], mask: Ints) -> Floats:
    """Of one logit its logistic; of two (not relevant, relevant) the softmax of the second."""
    values = logits.reshape(len(logits), -1).astype(np.float64)
    odds = values[:, 0] if values.shape[1] == 1 else values[:, 1] - values[:, 0]
    return logistic(odds)


def logistic(values: NDArray[np.float64]) -> Floats:
    """1 / (1 + exp(-x)), without overflow."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * values)), dtype=np.float32)
