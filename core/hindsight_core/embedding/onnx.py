"""Models in a folder, run by ONNX Runtime: no torch, whatever was exported with its tokenizer.

    Hindsight.open("agent.db", embedder=OnnxEmbedder("models/bge-small-zh-v1.5"))

The folder says how hidden states become one vector (see `embedding.folder`); `OnnxModel` is what embedders and
rerankers share: tokenise, pad, run. It is loaded by the first text, and anew in a forked child.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hindsight_core.embedding.folder import ModelFolder, digest_of, read_folder
from hindsight_core.embedding.prompted import Prompted
from hindsight_core.embedding.prompts import Prompts, prompts_for
from hindsight_core.embedding.windows import Window, cut_at_tokens, embed_windows
from hindsight_core.errors import EmbeddingError, InvalidInput, MissingExtra
from hindsight_core.locks import Lock
from hindsight_core.ports import Floats, Ints
from hindsight_core.text.keys import storable

_PROBE = "How many numbers are there in a vector?"
_BATCH = 16

Finish = Callable[[NDArray[Any], Ints], Floats]
"""Makes one row per text of the network's first result and the mask (n, tokens)."""


class OnnxModel:
    """A network with its tokenizer; safe to call from several threads.

    Args:
        folder: What the folder says.
        threads: Threads that one run uses; None for ONNX Runtime's own choice.
        pairs: It reads pairs of texts, the longer of which is cut where they do not fit; a single text is not cut.
    """

    def __init__(self, folder: ModelFolder, threads: int | None, *, pairs: bool = False) -> None:
        if threads is not None and threads < 1:
            raise InvalidInput(f"threads must be at least 1, not {threads}")
        self.folder = folder
        self._threads = threads
        self._pairs = pairs
        self._lock = Lock()
        # By process. That of the parent is kept in a forked child: to let go of it would wait for threads that are not there.
        self._loaded: dict[int, tuple[Any, Any]] = {}

    def _parts(self) -> tuple[Any, Any]:
        """Tokenizer and session."""
        with self._lock:
            if os.getpid() not in self._loaded:
                self._loaded[os.getpid()] = self._load()
            return self._loaded[os.getpid()]

    def _load(self) -> tuple[Any, Any]:
        require_onnx()
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        if self._threads is not None:
            options.intra_op_num_threads = self._threads
        try:
            tokenizer = Tokenizer.from_file(str(self.folder.path / "tokenizer.json"))
            graph = str(self.folder.graph)
            session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # both raise classes of their own, or a bare Exception
            raise EmbeddingError(f"the model in {self.folder.path} cannot be loaded") from error
        tokenizer.no_padding()
        if self._pairs:
            tokenizer.enable_truncation(self.folder.max_tokens, strategy="longest_first")
        else:
            tokenizer.no_truncation()
        return tokenizer, session

    def room(self, prefix: str) -> int:
        """Tokens left for a text behind a prefix, between the marks that the tokenizer puts around it."""
        tokenizer, _ = self._parts()
        taken = len(tokenizer.encode(prefix, add_special_tokens=True).ids)
        return max(1, self.folder.max_tokens - taken)

    def cut(self, text: str, room: int) -> list[Window]:
        """A text as windows of at most so many tokens."""
        tokenizer, _ = self._parts()
        return cut_at_tokens(text, tokenizer.encode(text, add_special_tokens=False).offsets, room)

    def run(self, texts: Sequence[str] | Sequence[tuple[str, str]], finish: Finish) -> Floats:
        """What `finish` makes of texts or pairs of texts, one row each; batches hold texts of about one length.

        Raises:
            MissingExtra: ONNX Runtime or the tokenizers are not installed.
            EmbeddingError: The model cannot be loaded or run.
        """
        tokenizer, session = self._parts()
        encodings = tokenizer.encode_batch(list(texts))
        wanted = [value.name for value in session.get_inputs()]
        by_length = sorted(range(len(encodings)), key=lambda row: len(encodings[row].ids))
        done: list[Floats] = []
        for start in range(0, len(by_length), _BATCH):
            part = [encodings[row] for row in by_length[start : start + _BATCH]]
            fed = {
                "input_ids": self._matrix([encoding.ids for encoding in part], self.folder.pad_id),
                "attention_mask": self._matrix([encoding.attention_mask for encoding in part], 0),
                "token_type_ids": self._matrix([encoding.type_ids for encoding in part], 0),
            }
            if unknown := [name for name in wanted if name not in fed]:
                raise EmbeddingError(f"the model wants {unknown[0]!r}, which is not known here")
            try:
                result = session.run(None, {name: fed[name] for name in wanted})[0]
            except Exception as error:  # ONNX Runtime raises classes of its own
                raise EmbeddingError("ONNX Runtime failed on a text") from error
            done.append(finish(np.asarray(result), fed["attention_mask"]))
        rows = np.concatenate(done)
        placed = np.empty_like(rows)
        placed[by_length] = rows
        return placed

    def _matrix(self, rows: Sequence[Sequence[int]], fill: int) -> Ints:
        """Rows filled up to one length, which is that the model reads at most."""
        width = min(max(map(len, rows)), self.folder.max_tokens)
        matrix = np.full((len(rows), max(width, 1)), fill, np.int64)
        for place, row in enumerate(rows):
            cut = row[:width]
            matrix[place, : len(cut)] = cut
        return matrix


def require_onnx() -> None:
    """Check that ONNX Runtime and the tokenizers are installed, without loading them.

    Raises:
        MissingExtra: One is not.
    """
    if any(importlib.util.find_spec(name) is None for name in ("onnxruntime", "tokenizers")):
        raise MissingExtra("an ONNX model", "onnx")


def pool(hidden: NDArray[Any], mask: Ints, how: str) -> Floats:
    """Hidden states (n, tokens, width) as one vector each; what is (n, width) has been pooled by the network.

    Args:
        hidden: The network's result.
        mask: 1 where there is a token, 0 where a row was filled up.
        how: "cls", "mean", "max" or "last".
    """
    states = np.asarray(hidden, np.float32)
    if states.ndim == 2:
        return states
    there = mask[:, :, None].astype(np.float32)
    if how == "cls":
        pooled = states[:, 0]
    elif how == "last":
        last = mask.shape[1] - 1 - np.argmax(mask[:, ::-1], axis=1)
        pooled = states[np.arange(len(states)), last]
    elif how == "max":
        pooled = np.where(there > 0, states, -np.inf).max(axis=1)
    else:
        pooled = (states * there).sum(axis=1) / np.maximum(there.sum(axis=1), 1.0)
    return np.asarray(pooled, np.float32)


class OnnxEmbedder(Prompted):
    """An embedding model exported to ONNX with its tokenizer; constructing one reads the folder's settings only.

    Args:
        folder: With tokenizer.json and model.onnx (or onnx/model.onnx).
        file: The ONNX file, where there are several, such as "onnx/model_quantized.onnx".
        query_prefix: In front of questions; None for what the folder or the model's name says (see `embedding.prompts`).
        passage_prefix: In front of passages; the same.
        threads: Threads that one run uses.

    Raises:
        InvalidInput: The folder lacks something, or an argument is wrong.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        file: str | None = None,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        threads: int | None = None,
    ) -> None:
        found = read_folder(folder, file)
        given = {"query": query_prefix, "passage": passage_prefix}
        self._prompts = prompts_for(str(found.path), found.prompts, **given)
        self._model = OnnxModel(found, threads)

    def require(self) -> None:
        """Check that what runs it is installed.

        Raises:
            MissingExtra: ONNX Runtime or the tokenizers are not.
        """
        require_onnx()

    def __repr__(self) -> str:
        return f"OnnxEmbedder({str(self._model.folder.path)!r})"

    @cached_property
    def dimension(self) -> int:
        """Length of a vector; the model is asked once."""
        return int(self._embed([_PROBE], "").shape[1])

    @cached_property
    def fingerprint(self) -> str:
        """The folder's name, the size, and a digest of network, tokenizer, pooling and prefixes."""
        folder = self._model.folder
        files = [
            folder.graph,
            folder.path / "tokenizer.json",
            *folder.graph.parent.glob(f"{folder.graph.name}_data"),
        ]
        settings = (folder.pooling, str(folder.max_tokens), self.prompts.query, self.prompts.passage)
        return f"onnx/{folder.path.resolve().name}/{self.dimension}/{digest_of(files, *settings)}"

    @property
    def prompts(self) -> Prompts:
        """What the folder or its name says, or what was given."""
        return self._prompts

    def _embed(self, texts: list[str], prefix: str) -> Floats:
        model = self._model
        room = model.room(prefix)
        return embed_windows(
            [storable(text) for text in texts],
            lambda text: model.cut(text, room),
            lambda windows: model.run(
                [prefix + window for window in windows],
                lambda hidden, mask: pool(hidden, mask, model.folder.pooling),
            ),
        )
