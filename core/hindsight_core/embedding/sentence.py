"""Models of sentence-transformers, by name or from a folder.

    Hindsight.open("agent.db", embedder=SentenceTransformerEmbedder("BAAI/bge-large-zh-v1.5"))

The model's own pooling and prompts hold; where it has no prompts, those of its family do (see `embedding.prompts`), so
that bge-*-zh gets its query instruction and multilingual-e5 its "query: " and "passage: ".
"""

from __future__ import annotations

import importlib.util
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hindsight_core.embedding.folder import digest_of
from hindsight_core.embedding.prompted import Prompted
from hindsight_core.embedding.prompts import Prompts, prompts_for
from hindsight_core.embedding.windows import Window, cut_at_tokens, embed_windows
from hindsight_core.errors import EmbeddingError, InvalidInput, MissingExtra
from hindsight_core.locks import Lock
from hindsight_core.ports import Floats
from hindsight_core.text.keys import storable

_WEIGHTS = ("*.safetensors", "pytorch_model*.bin", "tokenizer.json")


class SentenceTransformerEmbedder(Prompted):
    """A model of sentence-transformers; it is loaded when first needed, once.

    Args:
        model: Its name on the Hugging Face hub, or its folder.
        query_prefix: In front of questions; None for what the model or its name says.
        passage_prefix: In front of passages; the same.
        device: "cpu", "cuda", ...; None for the best there is.
        batch_size: Windows computed at once.
        revision: Of the hub's model: a branch, tag or commit.

    Raises:
        InvalidInput: An argument is wrong.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        device: str | None = None,
        batch_size: int = 32,
        revision: str | None = None,
    ) -> None:
        if not str(model) or batch_size < 1:
            raise InvalidInput("model must not be empty, and batch_size must be at least 1")
        self.model = str(model)
        self._given = (query_prefix, passage_prefix)
        self._device = device
        self._batch_size = batch_size
        self._revision = revision
        self._lock = Lock()
        self._transformer: Any = None

    def __repr__(self) -> str:
        return f"SentenceTransformerEmbedder({self.model!r})"

    def require(self) -> None:
        """Check that sentence-transformers is installed, without loading anything.

        Raises:
            MissingExtra: It is not.
        """
        if importlib.util.find_spec("sentence_transformers") is None:
            raise MissingExtra("a model of sentence-transformers", "huggingface")

    @property
    def _loaded(self) -> Any:
        with self._lock:
            if self._transformer is None:
                self.require()
                from sentence_transformers import SentenceTransformer

                try:
                    self._transformer = SentenceTransformer(
                        self.model, device=self._device, revision=self._revision
                    )
                except Exception as error:  # hub, torch and the files raise classes of their own
                    raise EmbeddingError(f"the model {self.model} cannot be loaded") from error
            return self._transformer

    @cached_property
    def prompts(self) -> Prompts:
        """What the model or its name says, or what was given."""
        query, passage = self._given
        return prompts_for(self.model, dict(self._loaded.prompts or {}), query=query, passage=passage)

    @cached_property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self._loaded.encode([" "], show_progress_bar=False).shape[1])

    @cached_property
    def fingerprint(self) -> str:
        """Name, size, and a digest of weights (or the hub's commit), tokens read at most, and prefixes."""
        settings = (str(self._loaded.max_seq_length), self.prompts.query, self.prompts.passage)
        folder = Path(self.model)
        if folder.is_dir():
            files = [file for pattern in _WEIGHTS for file in folder.rglob(pattern)]
            return f"sentence-transformers/{folder.resolve().name}/{self.dimension}/{digest_of(files, *settings)}"
        commit = getattr(getattr(self._loaded[0], "auto_model", None), "config", None)
        named = str(getattr(commit, "_commit_hash", None) or self._revision or "")
        return f"sentence-transformers/{self.model}/{self.dimension}/{digest_of([], named, *settings)}"

    def _embed(self, texts: list[str], prefix: str) -> Floats:
        model = self._loaded

        def embed(windows: list[str]) -> Floats:
            # The prefix stands in the text: a prompt given by name would be put there twice by some models.
            whole = [prefix + window for window in windows]
            rows = model.encode(
                whole, batch_size=self._batch_size, show_progress_bar=False, convert_to_numpy=True, prompt=""
            )
            return np.asarray(rows, dtype=np.float32)

        try:
            return embed_windows(
                [storable(text) for text in texts], lambda text: self._windows(text, prefix), embed
            )
        except (RuntimeError, ValueError) as error:
            raise EmbeddingError(f"the model {self.model} failed on a text") from error

    @property
    def _most(self) -> int:
        """Tokens the model reads, marks included."""
        return self._loaded.max_seq_length or 512

    def _windows(self, text: str, prefix: str) -> list[Window]:
        tokenizer = self._loaded.tokenizer
        found = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        room = max(1, self._most - len(tokenizer.encode(prefix)))  # marks included
        return cut_at_tokens(text, found["offset_mapping"], room)
