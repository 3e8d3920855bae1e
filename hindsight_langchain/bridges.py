"""LangChain parts as parts of the engine."""

from __future__ import annotations

from contextvars import Context
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage

from hindsight_core.errors import EmbeddingError
from hindsight_core.llm import ChatReply, ChatRequest, Usage
from hindsight_core.llm.chat import spelled_out
from hindsight_core.ports import Floats
from hindsight_langchain._messages import text_of

_CUT = frozenset(("length", "max_tokens"))
_NAMES = ("model", "model_name", "model_id", "deployment", "deployment_name", "repo_id")


class LangChainEmbedder:
    """Any LangChain `Embeddings` as the engine's embedder.

        memory = Hindsight.open("agent.db", embedder=LangChainEmbedder(OpenAIEmbeddings(model="...")))

    The fingerprint, which a store remembers, is made of the class, the model it names and the dimension. Two models
    that name themselves alike need `name=` to be told apart.

    Args:
        embeddings: The embeddings.
        name: Fingerprint to use instead.
    """

    def __init__(self, embeddings: Embeddings, *, name: str | None = None) -> None:
        self.embeddings = embeddings
        self._name = name
        self._dimension: int | None = None

    @property
    def dimension(self) -> int:
        """Length of a vector; asked for once, with a short sentence."""
        if self._dimension is None:
            self._dimension = len(self.embeddings.embed_query("How long is a vector?"))
        return self._dimension

    @property
    def fingerprint(self) -> str:
        """Names class, model and dimension."""
        if self._name is not None:
            return self._name
        return f"{_named(self.embeddings)}/{self.dimension}"

    def embed_documents(self, texts: list[str]) -> Floats:
        """Vectors of passages, shape (n, dimension), scaled to length 1."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        return _scaled(self.embeddings.embed_documents(texts))

    def embed_query(self, text: str) -> Floats:
        """Vector of a question, shape (dimension,), scaled to length 1."""
        row: Floats = _scaled([self.embeddings.embed_query(text)])[0]
        return row


class LangChainChat:
    """Any LangChain chat model as the engine's language model.

        memory = Hindsight.open("agent.db", extractor=LLMExtractor(LangChainChat(ChatOpenAI(model="..."))))

    Args:
        model: The chat model.
    """

    def __init__(self, model: BaseChatModel) -> None:
        self.model = model

    @property
    def name(self) -> str:
        """Names class and model."""
        return _named(self.model)

    def complete(self, request: ChatRequest) -> ChatReply:
        """Ask once; see `ChatModel`. Callbacks and streams of a run under way do not see it."""
        kinds = {"system": SystemMessage, "user": HumanMessage}
        messages = [kinds[message.role](content=message.content) for message in spelled_out(request)]
        answer = Context().run(self.model.invoke, messages)
        used, told = answer.usage_metadata, answer.response_metadata
        return ChatReply(
            text=text_of(answer),
            usage=used and Usage(prompt_tokens=used["input_tokens"], completion_tokens=used["output_tokens"]),
            truncated=not _CUT.isdisjoint(
                str(told.get(key)).casefold() for key in ("finish_reason", "stop_reason", "done_reason")
            ),
        )


def _named(model: object) -> str:
    """Class and model of something of LangChain's."""
    named = next((m for n in _NAMES if isinstance(m := getattr(model, n, None), str) and m), "")
    return "/".join(part for part in ("langchain", type(model).__name__, named) if part)


def _scaled(rows: Any) -> Floats:
    vectors = np.asarray(rows, dtype=np.float32)
    if vectors.ndim != 2:
        raise EmbeddingError("the embeddings returned something that is not one vector per text")
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(norms > 0.0, norms, 1.0), dtype=np.float32)
