"""Any endpoint that speaks OpenAI's embeddings protocol: OpenAI, and the servers of vLLM, Ollama, llama.cpp, TEI, ...

    Hindsight.open("agent.db", embedder=EndpointEmbedder("bge-m3", base_url="http://localhost:8080/v1"))

The `openai` client carries the requests. One that met a rate limit, a server's fault, a timeout or a broken connection is
repeated, waiting longer each time or as long as the server asks; where nothing listens it is not. What remains is told apart: an
endpoint that cannot be used at all (`EmbedderUnavailable`) is not asked again for each text, while a refused batch is halved until the
text at fault stands alone (see `embedding.checked`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Any

import numpy as np

from hindsight_core.embedding.prompted import Prompted
from hindsight_core.embedding.prompts import Prompts, prompts_for
from hindsight_core.embedding.windows import Window, cut_by_estimate, embed_windows
from hindsight_core.errors import EmbedderUnavailable, EmbeddingError, InvalidInput, MissingExtra
from hindsight_core.locks import Lock
from hindsight_core.ports import Floats
from hindsight_core.text.counting import estimate_tokens, token_counter
from hindsight_core.text.keys import storable
from hindsight_core.waiting import CONNECT_WITHIN, address_fault, asked_to_wait, nobody_listens

_PROBE = "How many numbers are there in a vector?"
_TEXT_AT_FAULT = frozenset({400, 413, 422})
_AGAIN = frozenset({408, 409, 425, 429})
"""Statuses besides 5xx after which the same request may succeed later."""
_BACKOFF, _LONGEST_WAIT = 0.5, 8.0
_NO_KEY = "none"
"""Servers at home want no key, and the client wants one."""


class EndpointEmbedder(Prompted):
    """Vectors from an OpenAI-compatible endpoint; safe to call from any number of threads.

    The fingerprint names model, size and prefixes, not the address: the same model behind another address gives the
    same vectors. Where one address serves another model under the same name, give `name`.

    Args:
        model: As the endpoint calls it.
        base_url: Its address, such as "http://localhost:8080/v1"; None for OpenAI's, or $OPENAI_BASE_URL.
        api_key: The key; None for $OPENAI_API_KEY, or none where there is none. It is shown nowhere.
        dimensions: Ask for vectors so long, where the model can shorten them.
        query_prefix: In front of questions; None for what the model's name is known to want (see `embedding.prompts`).
        passage_prefix: In front of passages; the same.
        max_tokens: Tokens of one text that the server takes; longer ones are cut into windows.
        batch_texts: Texts of one request at most.
        batch_tokens: Tokens of one request at most.
        count_tokens: The model's tokenizer, or a function that counts; an estimate by default.
        retries: How often a request is repeated that may succeed the next time.
        timeout: Seconds to wait for an answer; a connection is given five of them.
        rest: Seconds for which an endpoint that cannot be used is left alone, so that an outage is waited for once.
        name: Fingerprint to use.
        sleep: Waits.
        monotonic: Seconds that only ever grow.

    Raises:
        InvalidInput: An argument is wrong.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        dimensions: int | None = None,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        max_tokens: int = 8000,
        batch_texts: int = 128,
        batch_tokens: int = 100_000,
        count_tokens: Any = estimate_tokens,
        retries: int = 4,
        timeout: float = 30.0,
        rest: float = 30.0,
        name: str | None = None,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        if not model or name == "":
            raise InvalidInput("model and name must not be empty")
        numbers = {"max_tokens": max_tokens, "batch_texts": batch_texts, "batch_tokens": batch_tokens}
        numbers["dimensions"] = 1 if dimensions is None else dimensions
        if wrong := [key for key, value in numbers.items() if value < 1]:
            raise InvalidInput(f"{', '.join(wrong)} must be at least 1")
        if retries < 0 or rest < 0 or timeout <= 0:
            raise InvalidInput("retries and rest must be at least 0 and timeout above 0")
        self.model = model
        self.base_url = base_url or os.environ.get("OPENAI_BASE_URL") or None
        if fault := address_fault(self.base_url):
            raise InvalidInput(fault)
        self._key = api_key
        self._dimension = dimensions
        self._dimensions = dimensions
        self._prompts = prompts_for(model, {}, query=query_prefix, passage=passage_prefix)
        self._room = max_tokens
        self._batch = (batch_texts, max(batch_tokens, max_tokens))
        self._count: Callable[[str], int] = token_counter(count_tokens)
        self._retries = retries
        self._timeout = timeout
        self._name = name
        self._rest = rest
        self._sleep = sleep
        self._monotonic = monotonic
        self._resting_until = float("-inf")
        self._trouble = ""
        self._lock = Lock()
        self._client: Any = None
        self._pid = 0

    def __repr__(self) -> str:
        return f"EndpointEmbedder({self.model!r})"  # without its address, which may hold a password

    @property
    def prompts(self) -> Prompts:
        """What the model's name says, or what was given."""
        return self._prompts

    @property
    def dimension(self) -> int:
        """Length of a vector; the endpoint is asked once when it was not given."""
        if self._dimension is None:
            self._dimension = self._request([_PROBE]).shape[1]
        return self._dimension

    @property
    def fingerprint(self) -> str:
        """The name given, or model, size and prefixes."""
        return self._name if self._name is not None else self._named(self.dimension)

    def _named(self, dimension: int) -> str:
        prefixes = f"{self._prompts.query}\0{self._prompts.passage}"
        marks = f"/{blake2b(prefixes.encode(), digest_size=4).hexdigest()}" if prefixes != "\0" else ""
        return f"endpoint/{self.model}/{dimension}{marks}"

    def expect(self, fingerprint: str, dimension: int) -> bool:
        """Take the length of a vector from a store, for an endpoint that cannot be asked now.

        Returns:
            Whether the store's vectors are this model's by name; otherwise nothing is taken.
        """
        if self._named(dimension) != fingerprint:
            return False
        self._dimension = dimension
        return True

    def require(self) -> None:
        """Check that the client is installed and configured, without a request.

        Raises:
            MissingExtra: The client is not installed.
            InvalidInput: It lacks a key.
        """
        self._connected()

    def _embed(self, texts: list[str], prefix: str) -> Floats:
        room = max(1, self._room - self._count(prefix)) if prefix else self._room

        def cut(text: str) -> list[Window]:
            # A blank text is refused by many endpoints.
            return cut_by_estimate(storable(text) if text.strip() else ".", self._count, room)

        def embed(windows: list[str]) -> Floats:
            return np.concatenate(
                [self._request(batch) for batch in self._batches([prefix + window for window in windows])]
            )

        return embed_windows(texts, cut, embed)

    def _batches(self, texts: list[str]) -> Iterator[list[str]]:
        most, room = self._batch
        batch: list[str] = []
        tokens = 0
        for text in texts:
            size = self._count(text)
            if batch and (len(batch) == most or tokens + size > room):
                yield batch
                batch, tokens = [], 0
            batch.append(text)
            tokens += size
        yield batch

    def _request(self, texts: list[str]) -> Floats:
        left = self._resting_until - self._monotonic()
        if left > 0:
            raise EmbedderUnavailable(f"{self._trouble}; it is asked again in {left:.0f} s")
        try:
            return self._answer(texts)
        except EmbedderUnavailable as error:
            self._trouble = str(error)
            self._resting_until = self._monotonic() + self._rest
            raise

    def _answer(self, texts: list[str]) -> Floats:
        client = self._connected()
        import openai

        wanted = {} if self._dimensions is None else {"dimensions": self._dimensions}
        try:
            answer = self._patiently(
                lambda: client.embeddings.create(
                    model=self.model, input=texts, encoding_format="float", **wanted
                )
            )
        except openai.APIStatusError as error:
            kind = EmbeddingError if error.status_code in _TEXT_AT_FAULT else EmbedderUnavailable
            raise kind(f"the embedding endpoint answered {error.status_code}") from self._shown(error)
        except openai.APIConnectionError as error:  # timeouts too
            raise EmbedderUnavailable("the embedding endpoint cannot be reached") from self._shown(error)
        except openai.OpenAIError as error:
            raise EmbeddingError(
                f"the embedding endpoint failed with {type(error).__name__}"
            ) from self._shown(error)
        except ValueError as error:
            raise EmbeddingError("the embedding endpoint did not answer with vectors") from error
        return _rows(answer, len(texts))

    def _patiently(self, call: Callable[[], Any]) -> Any:
        """Ask again, waiting longer each time or as long as the server asks, but not where nothing listens."""
        import openai

        for attempt in range(self._retries + 1):
            try:
                return call()
            except (openai.APIConnectionError, openai.APIStatusError) as error:
                status = getattr(error, "status_code", None)
                lasts = status is not None and status not in _AGAIN and status < 500
                if attempt == self._retries or lasts or nobody_listens(error):
                    raise
                asked = asked_to_wait(error)
            self._sleep(min(_BACKOFF * 2**attempt if asked is None else asked, _LONGEST_WAIT))
        raise AssertionError("the last attempt returns or raises")

    def _shown(self, error: Exception) -> Exception | None:
        """The error as a cause, unless the server repeated the key in it."""
        return None if self._key and self._key in f"{error}{getattr(error, 'body', '')}" else error

    def _connected(self) -> Any:
        """The client of this process: connections do not survive a fork."""
        with self._lock:
            if self._client is None or self._pid != os.getpid():
                try:
                    import openai
                except ImportError as error:
                    raise MissingExtra("an embedding endpoint", "llm") from error
                try:
                    self._client = openai.OpenAI(
                        api_key=self._key
                        or os.environ.get("OPENAI_API_KEY")
                        or (_NO_KEY if self.base_url else None),
                        base_url=self.base_url,
                        max_retries=0,
                        timeout=openai.Timeout(self._timeout, connect=min(self._timeout, CONNECT_WITHIN)),
                    )
                except openai.OpenAIError as error:
                    raise InvalidInput("the embedding endpoint needs api_key or $OPENAI_API_KEY") from error
                self._key, self._pid = self._client.api_key, os.getpid()
            return self._client


def _rows(answer: Any, count: int) -> Floats:
    """The vectors of an answer, in the order of the texts."""
    data = getattr(answer, "data", None)
    if not isinstance(data, list) or len(data) != count:
        raise EmbeddingError(f"the embedding endpoint did not give one vector for each of {count} texts")
    try:
        ordered = sorted(data, key=lambda item: item.index if item.index is not None else 0)
        rows = np.asarray([item.embedding for item in ordered], dtype=np.float32)
    except (AttributeError, TypeError, ValueError) as error:
        raise EmbeddingError("the embedding endpoint did not answer with vectors") from error
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise EmbeddingError("the embedding endpoint did not answer with vectors of one length")
    return rows
