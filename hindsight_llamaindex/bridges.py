"""Models across the border: embedding models in both directions, language models into the engine.

`LlamaIndexEmbedder` lets the engine use any embedding model of LlamaIndex; questions and passages go through the model's
own two methods, so that its query and text instructions stay in force. `HindsightEmbedding` lets LlamaIndex use the
engine's embedder, so that an index over a `HindsightVectorStore` needs no second model. `LlamaIndexChat` lets the engine
ask any LLM of LlamaIndex.
"""

from __future__ import annotations

import asyncio
import threading
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding, Embedding
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import LLM, ChatMessage, ChatResponse
from llama_index.core.settings import Settings

from hindsight_core import Hindsight
from hindsight_core.embedding import embed_checked, embed_query_checked
from hindsight_core.errors import InvalidInput
from hindsight_core.llm import ChatReply, ChatRequest, Usage
from hindsight_core.llm.chat import spelled_out
from hindsight_core.ports import Embedder, Floats

_PROBE = "How many numbers are there in a vector?"
_SAME_QUESTION = 128
_DISTINGUISHING = (
    "query_instruction",
    "text_instruction",
    "normalize",
    "dimensions",
    "pooling",
    "max_length",
)


class LlamaIndexEmbedder:
    """An embedding model of LlamaIndex as the engine's embedder.

    The fingerprint, by which a store knows its vectors again, names the class, the model and what else changes the
    vectors: instructions, pooling, size.

    Args:
        embed_model: The model. None takes `Settings.embed_model`, asked for when first needed and kept from then on.
        name: Fingerprint to use instead, where the model's own name does not tell its versions apart.
    """

    def __init__(self, embed_model: BaseEmbedding | None = None, *, name: str | None = None) -> None:
        self._model = embed_model
        self._name = name
        self._dimension: int | None = None
        self._lock = threading.Lock()
        # An agent asks the same question in every round, and the model may be behind a network.
        self._question = lru_cache(maxsize=_SAME_QUESTION)(self._ask)

    @property
    def embed_model(self) -> BaseEmbedding:
        """The model it wraps."""
        with self._lock:
            if self._model is None:
                self._model = Settings.embed_model
            return self._model

    @property
    def dimension(self) -> int:
        """Length of a vector; the model is asked once."""
        if self._dimension is None:
            self._dimension = len(self.embed_model.get_query_embedding(_PROBE))
        return self._dimension

    @property
    def fingerprint(self) -> str:
        """Class, model, size, and a digest of what else distinguishes it."""
        if self._name is not None:
            return self._name
        model = self.embed_model
        traits = [(name, repr(getattr(model, name, None))) for name in _DISTINGUISHING]
        digest = blake2b(repr(traits).encode(), digest_size=4).hexdigest()
        return f"llama-index/{model.class_name()}/{model.model_name}/{self.dimension}/{digest}"

    def embed_documents(self, texts: list[str]) -> Floats:
        """Vectors of passages, shape (n, dimension), length 1."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        return _unit_length(self.embed_model.get_text_embedding_batch(list(texts)))

    def embed_query(self, text: str) -> Floats:
        """Vector of a question, shape (dimension,), length 1."""
        return self._question(text).copy()

    def _ask(self, text: str) -> Floats:
        row: Floats = _unit_length([self.embed_model.get_query_embedding(text)])[0]
        return row


def _unit_length(rows: list[Embedding]) -> Floats:
    found = np.asarray(rows, dtype=np.float32)
    return np.asarray(found / np.maximum(np.linalg.norm(found, axis=-1, keepdims=True), 1e-12), np.float32)


class LlamaIndexChat:
    """Any LLM of LlamaIndex as the engine's language model.

        memory = Hindsight.open("agent.db", extractor=LLMExtractor(LlamaIndexChat()))

    Args:
        llm: The LLM. None takes `Settings.llm`, asked for when first needed and kept from then on.
    """

    def __init__(self, llm: LLM | None = None) -> None:
        self._llm = llm
        self._lock = threading.Lock()

    @property
    def llm(self) -> LLM:
        """The LLM it wraps."""
        with self._lock:
            if self._llm is None:
                self._llm = Settings.llm
            return self._llm

    @property
    def name(self) -> str:
        """Class and model; only "llama-index" where the settings name none that can be used."""
        try:
            llm = self.llm
        except (ImportError, ValueError):
            return "llama-index"
        return f"llama-index/{llm.class_name()}/{llm.metadata.model_name}"

    def complete(self, request: ChatRequest) -> ChatReply:
        """Ask once; see `ChatModel`."""
        answer = self.llm.chat([ChatMessage(role=m.role, content=m.content) for m in spelled_out(request)])
        return ChatReply(
            text=answer.message.content or "", usage=_usage(answer), truncated=_finish(answer) == "length"
        )


def _usage(answer: ChatResponse) -> Usage | None:
    """Tokens where the integration tells them: beside the answer, or in the raw one."""
    raw = _get(answer.raw, "usage")
    for told in (answer.additional_kwargs, raw):
        sent, received = _get(told, "prompt_tokens"), _get(told, "completion_tokens")
        if isinstance(sent, int) and isinstance(received, int):
            return Usage(prompt_tokens=sent, completion_tokens=received)
    return None


def _finish(answer: ChatResponse) -> Any:
    choices = _get(answer.raw, "choices")
    return _get(choices[0], "finish_reason") if isinstance(choices, list) and choices else None


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


class HindsightEmbedding(BaseEmbedding):
    """The engine's embedder as an embedding model of LlamaIndex.

    Args:
        source: A memory, whose embedder is meant, or an embedder.
    """

    _embedder: Embedder = PrivateAttr()

    def __init__(self, source: Hindsight | Embedder, **settings: Any) -> None:
        embedder = source.parts.embedder if isinstance(source, Hindsight) else source
        if embedder is None:
            raise InvalidInput("this memory has no embedder; open it with one")
        super().__init__(**{"model_name": embedder.fingerprint, **settings})
        self._embedder = embedder

    @classmethod
    def class_name(cls) -> str:
        """Name of the class in serialised form."""
        return "HindsightEmbedding"

    def _get_query_embedding(self, query: str) -> Embedding:
        return [float(value) for value in embed_query_checked(self._embedder, query)]

    def _get_text_embedding(self, text: str) -> Embedding:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[Embedding]:
        rows, failures = embed_checked(self._embedder, texts)
        if failures:
            raise failures[0][1]
        return [[float(value) for value in row] for row in rows if row is not None]

    async def _aget_query_embedding(self, query: str) -> Embedding:
        return await asyncio.to_thread(self._get_query_embedding, query)

    async def _aget_text_embedding(self, text: str) -> Embedding:
        return await asyncio.to_thread(self._get_text_embedding, text)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[Embedding]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)
