"""The port to a language model: messages and a JSON schema go in, text and a token count come out.

One method, so that a client of any make is a bridge of a few lines. What every client needs besides (patience, limits, a
meter, a cache) is put around it by `Chat`; what the answer means is up to whoever asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, runtime_checkable

from hindsight_core.errors import ModelError, ModelUnavailable
from hindsight_core.waiting import asked_to_wait, nobody_listens

_AGAIN = frozenset((408, 409, 425, 429))
"""Status codes besides 5xx after which the same request may succeed later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a prompt."""

    role: Literal["system", "user"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """What a model is asked.

    Attributes:
        messages: The prompt.
        schema: JSON schema of the answer, in the strict subset (every property required, none besides).
        about: Texts of memories in the prompt: erasing one of them erases what was kept of the answer.
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, Any]
    about: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one answer, as the model's server counts them."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """What a model answered.

    Attributes:
        text: Its words, not yet read.
        usage: Tokens; None where the server does not say.
        truncated: It stopped because it had reached its limit.
    """

    text: str
    usage: Usage | None = None
    truncated: bool = False


@runtime_checkable
class ChatModel(Protocol):
    """A language model.

    Attributes:
        name: Of the model, for the meter, the cache and messages; holds no secret.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    def complete(self, request: ChatRequest) -> ChatReply:
        """Ask once.

        Raises:
            ModelUnavailable: No answer; the same may be asked again.
            AnswerUnusable: A refusal, or nothing.
            ModelError: Anything else.
        """
        ...


def spelled_out(request: ChatRequest) -> tuple[Message, ...]:
    """The messages with the schema in words, for a model that takes no schema of its own."""
    schema = json.dumps(request.schema, ensure_ascii=False)
    first, *rest = request.messages
    told = f"{first.content}\n\nAnswer with one JSON value and nothing else. JSON schema: {schema}"
    return (replace(first, content=told), *rest)


def model_error(error: Exception, name: str) -> ModelError:
    """What an error of a client library means here; the message holds neither text nor key."""
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
    kind = type(error).__name__
    if isinstance(status, int):
        told = f"{name} answered with status {status} ({kind})"
        if status in _AGAIN or status >= 500:
            return ModelUnavailable(told, asked_to_wait(error))
        return ModelError(told)
    kinds = " ".join(cls.__name__ for cls in type(error).__mro__)
    if isinstance(error, OSError) or any(word in kinds for word in ("Timeout", "Connection", "Transport")):
        return ModelUnavailable(f"{name} cannot be reached ({kind})", down=nobody_listens(error))
    return ModelError(f"{name} cannot be asked ({kind})")
