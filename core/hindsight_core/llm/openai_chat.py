"""Any server that speaks the OpenAI chat protocol: the service itself, vLLM, llama.cpp, Ollama, LM Studio, gateways.

They do not all take the same request, so the client learns a server's dialect as it is refused: an answer by JSON schema
(in either of two spellings), else any JSON, else text with the schema in words; `max_tokens` or its newer name; a temperature
or none. What worked is used from then on.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from hindsight_core.errors import AnswerUnusable, InvalidSettings, MissingExtra, ModelUnavailable
from hindsight_core.llm.chat import ChatReply, ChatRequest, Usage, model_error, spelled_out
from hindsight_core.locks import Lock
from hindsight_core.waiting import CONNECT_WITHIN, address_fault

if TYPE_CHECKING:
    from openai import OpenAI

_Form = Literal["schema", "object", "json", "text"]
_FORMS: tuple[_Form, ...] = ("schema", "object", "json", "text")
"""By schema as OpenAI has it, by schema as llama.cpp has it, any JSON, text."""
_REFUSED = (400, 404, 415, 422, 501)
"""Statuses by which servers say that they do not take a request of this form."""


@dataclass(frozen=True, slots=True)
class _Dialect:
    """How one server wants to be asked."""

    form: _Form = "schema"
    limit: str = "max_tokens"
    temperature: bool = True

    def simpler(self, complaint: str) -> _Dialect | None:
        """The next thing to try after a refusal; None when nothing is left."""
        if self.limit == "max_tokens" and "max_completion_tokens" in complaint:
            return replace(self, limit="max_completion_tokens")
        if self.temperature and "temperature" in complaint:
            return replace(self, temperature=False)
        if self.form == "text":
            return None
        return replace(self, form=_FORMS[_FORMS.index(self.form) + 1])


class OpenAIChat:
    """A chat model behind an OpenAI-compatible endpoint.

    Args:
        model: Its name at that endpoint.
        base_url: The endpoint; by default the environment's OPENAI_BASE_URL, else the service itself.
        api_key: By default the environment's OPENAI_API_KEY; an endpoint of your own may need none.
        timeout: Seconds for one answer; a connection is given five of them.
        temperature: 0 gives the same answer to the same question, as far as the server keeps to it.
        max_tokens: Longest answer.

    Raises:
        MissingExtra: The extra [llm] is not installed.
        InvalidSettings: No key for the service itself, an address without http:// or a host, or numbers that make no sense.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
        temperature: float = 0.0,
        max_tokens: int = 4096,
    ) -> None:
        if find_spec("openai") is None:
            raise MissingExtra("A language model", "llm")
        self._base_url = base_url or os.environ.get("OPENAI_BASE_URL") or None
        self._api_key = api_key or os.environ.get("OPENAI_API_KEY") or ("none" if self._base_url else "")
        wrong = address_fault(self._base_url)
        faults = [] if wrong is None else [wrong]
        if not model:
            faults.append("model must name one")
        if not self._api_key:
            faults.append("no key: set OPENAI_API_KEY, or base_url for an endpoint of your own")
        if timeout <= 0:
            faults.append(f"timeout must be above 0 seconds, not {timeout}")
        if max_tokens < 1:
            faults.append(f"max_tokens must be at least 1, not {max_tokens}")
        if faults:
            raise InvalidSettings("OpenAIChat", faults)
        self._model = model
        self._timeout = timeout
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._dialect = _Dialect()
        self._client: OpenAI | None = None
        self._pid = 0
        self._lock = Lock()

    @property
    def name(self) -> str:
        """Model and host."""
        return f"{self._model}@{urlsplit(self._base_url or 'https://api.openai.com').hostname}"

    def __repr__(self) -> str:
        return f"<OpenAIChat {self.name}>"

    def complete(self, request: ChatRequest) -> ChatReply:
        """Ask once; see `ChatModel`."""
        import openai

        dialect = self._dialect
        while True:
            try:
                answer = self._connected().chat.completions.create(**self._arguments(request, dialect))
            except openai.APIStatusError as error:
                # Some servers call a format that they do not know a fault of their own.
                refused = error.status_code in _REFUSED or "response_format" in str(error)
                simpler = dialect.simpler(str(error)) if refused else None
                if simpler is None:
                    raise model_error(error, self.name) from error
                dialect = simpler
            except openai.APIError as error:
                raise model_error(error, self.name) from error
            except ValueError as error:  # a body that is no JSON
                raise ModelUnavailable(f"{self.name} sent an answer that is cut off or damaged") from error
            else:
                self._dialect = dialect
                return _reply(answer, self.name)

    def close(self) -> None:
        """Close its connections; closing twice is fine."""
        with self._lock:
            if self._client is not None and self._pid == os.getpid():
                self._client.close()
            self._client = None

    def _connected(self) -> OpenAI:
        """The client of this process: connections do not survive a fork."""
        from openai import OpenAI, Timeout

        with self._lock:
            if self._client is None or self._pid != os.getpid():
                timeout = Timeout(self._timeout, connect=min(self._timeout, CONNECT_WITHIN))
                self._client = OpenAI(
                    base_url=self._base_url, api_key=self._api_key, timeout=timeout, max_retries=0
                )
                self._pid = os.getpid()
            return self._client

    def _arguments(self, request: ChatRequest, dialect: _Dialect) -> dict[str, Any]:
        messages = request.messages if dialect.form == "schema" else spelled_out(request)
        arguments: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            dialect.limit: self._max_tokens,
        }
        if dialect.temperature:
            arguments["temperature"] = self._temperature
        if dialect.form == "schema":
            schema = {"name": "answer", "strict": True, "schema": dict(request.schema)}
            arguments["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif dialect.form == "object":
            arguments["response_format"] = {"type": "json_object", "schema": dict(request.schema)}
        elif dialect.form == "json":
            arguments["response_format"] = {"type": "json_object"}
        return arguments


def _reply(answer: Any, name: str) -> ChatReply:
    """Read an answer of the protocol; nothing in it is sure to be there or to be of the right type."""
    choices = getattr(answer, "choices", None)
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = getattr(choice, "message", None)
    if message is None:
        raise AnswerUnusable(f"{name} answered in another protocol")
    finish = getattr(choice, "finish_reason", None)
    if getattr(message, "refusal", None) or finish == "content_filter":
        raise AnswerUnusable(f"{name} refused to answer")
    # Reasoning comes in fields of its own on some servers; it is not the answer and is never looked at.
    content = getattr(message, "content", None)
    if isinstance(content, list):
        content = "".join(part.get("text") or "" for part in content if isinstance(part, dict))
    if not isinstance(content, str) or not content.strip():
        raise AnswerUnusable(f"{name} gave an empty answer")
    return ChatReply(text=content, usage=_usage(answer), truncated=finish == "length")


def _usage(answer: Any) -> Usage | None:
    usage = getattr(answer, "usage", None)
    counts = [getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens")]
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        return None
    return Usage(prompt_tokens=counts[0] or 0, completion_tokens=counts[1] or 0)
