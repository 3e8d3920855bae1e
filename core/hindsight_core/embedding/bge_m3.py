"""bge-m3: one model that gives a vector and, beside it, a weight for each token.

    bge = BgeM3("BAAI/bge-m3")  # or its folder
    Hindsight.open("agent.db", embedder=bge, keywords=bge)

The weight of a token is a linear layer over its last hidden state, cut off below 0; of a token that occurs several times the
largest counts, and the marks around a text count nothing (J. Chen et al., "BGE M3-Embedding", 2024, section 3.2). The layer is
`sparse_linear.pt` beside the model.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from hindsight_core.embedding.folder import digest_of
from hindsight_core.embedding.sentence import SentenceTransformerEmbedder
from hindsight_core.errors import EmbeddingError
from hindsight_core.ports import Floats
from hindsight_core.text.keys import storable

_HEAD = "sparse_linear.pt"


class BgeM3(SentenceTransformerEmbedder):
    """bge-m3 by sentence-transformers: an `Embedder` and a `SparseEmbedder` in one, loaded once.

    Arguments as for `SentenceTransformerEmbedder`.
    """

    @cached_property
    def sparse_fingerprint(self) -> str:
        """That of the vectors, and a digest of the layer."""
        return f"bge-m3-sparse/{self.fingerprint}/{digest_of([self._head_file])}"

    def sparse_documents(self, texts: list[str]) -> list[dict[int, float]]:
        """Tokens of passages of any length with their weights.

        Raises:
            MissingExtra: sentence-transformers is not installed.
            EmbeddingError: The model cannot be loaded or run, or has no sparse layer.
        """
        return self._weights(texts, self.prompts.passage)

    def sparse_query(self, text: str) -> dict[int, float]:
        """The same of a question."""
        return self._weights([text], self.prompts.query)[0]

    @cached_property
    def _head_file(self) -> Path:
        if Path(self.model).is_dir():
            file = Path(self.model) / _HEAD
            if not file.is_file():
                raise EmbeddingError(f"{self.model} holds no {_HEAD}, so it gives no weights of tokens")
            return file
        self.require()
        from huggingface_hub import hf_hub_download

        try:
            return Path(hf_hub_download(self.model, _HEAD, revision=self._revision))
        except Exception as error:  # the hub raises classes of many libraries
            raise EmbeddingError(f"{_HEAD} of the model {self.model} cannot be fetched") from error

    @cached_property
    def _head(self) -> tuple[Floats, float]:
        """The layer: float32 (width,), and what is added."""
        self.require()
        import torch

        try:
            held = torch.load(self._head_file, map_location="cpu", weights_only=True)
            return held["weight"].float().numpy().reshape(-1), float(held["bias"])
        except Exception as error:  # torch, pickle and the file raise classes of their own
            raise EmbeddingError(f"{_HEAD} of the model {self.model} cannot be read") from error

    def _weights(self, texts: list[str], prefix: str) -> list[dict[int, float]]:
        model, (layer, bias) = self._loaded, self._head
        silent = set(model.tokenizer.all_special_ids)
        found: list[dict[int, float]] = [{} for _ in texts]
        pieces = [
            (weights, prefix + piece)
            for weights, text in zip(found, texts, strict=True)
            for piece, _ in self._windows(storable(text), prefix)
        ]
        for start in range(0, len(pieces), self._batch_size):
            part = pieces[start : start + self._batch_size]
            for (weights, piece), states in zip(part, self._states([p for _, p in part]), strict=True):
                tokens = model.tokenizer(piece, truncation=True, max_length=self._most)["input_ids"]
                for token, weight in zip(tokens, (states @ layer + bias).tolist(), strict=True):
                    if weight > weights.get(token, 0.0) and token not in silent:
                        weights[token] = weight
        return found

    def _states(self, texts: list[str]) -> list[Any]:
        """The last hidden states of texts, float32 (tokens, width) each."""
        try:
            found = self._loaded.encode(
                texts, output_value="token_embeddings", batch_size=self._batch_size, show_progress_bar=False,
                convert_to_numpy=False, prompt="",
            )  # fmt: skip
        except (RuntimeError, ValueError) as error:
            raise EmbeddingError(f"the model {self.model} failed on a text") from error
        return [states.detach().float().cpu().numpy() for states in found]
