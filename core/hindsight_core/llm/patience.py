"""`Chat`: a language model as the engine uses one, with patience, limits, a meter and a cache.

A request that got no answer is repeated a few times, waiting longer each time or as long as the server asks; where nothing
listens it is not. When all of that was in vain the model rests for a while: whoever asks meanwhile is told so at once, so that a server
that is gone costs nothing, and one that is overloaded costs a chat one wait and not one for each turn.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from hindsight_core.errors import AnswerUnusable, InvalidSettings, ModelError, ModelUnavailable
from hindsight_core.llm.cache import ReplyCache
from hindsight_core.llm.chat import ChatModel, ChatReply, ChatRequest, Usage, model_error
from hindsight_core.llm.openai_chat import OpenAIChat
from hindsight_core.llm.reply import Read, read_json
from hindsight_core.locks import Lock


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What was asked so far and what it cost.

    Attributes:
        calls: Answers that were paid for.
        cached: Answers taken from the cache.
        repeated: Requests sent again after no answer came.
        failed: Requests given up.
        prompt_tokens: Tokens sent, as the servers count them.
        completion_tokens: Tokens received.
        unmetered: Calls whose server gave no count.
        cost: By the prices given to `Chat`; 0 without.
    """

    calls: int = 0
    cached: int = 0
    repeated: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unmetered: int = 0
    cost: float = 0.0


class Chat:
    """A language model, asked with patience and within limits; safe from many threads.

    Args:
        model: A `ChatModel`, or the name of one behind the endpoint that the environment names (see `OpenAIChat`).
        cache: A file that keeps answers; none by default.
        price: What a million tokens cost, sent and received, in any currency.
        attempts: How often a request is sent at most.
        backoff: Seconds before the second attempt; doubled for each further one.
        longest: Longest wait in seconds, whatever the server asks for.
        patience: Seconds after which a request that got no answer is not repeated any more.
        concurrency: Requests under way at once.
        rest: Seconds for which a model that cannot be reached is left alone.
        sleep: Waits.
        monotonic: Seconds that only ever grow.
    """

    def __init__(
        self,
        model: ChatModel | str,
        *,
        cache: str | Path | None = None,
        price: tuple[float, float] = (0.0, 0.0),
        attempts: int = 4,
        backoff: float = 0.5,
        longest: float = 8.0,
        patience: float = 30.0,
        concurrency: int = 4,
        rest: float = 30.0,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        faults = [
            f"{n} must be at least 1"
            for n, v in (("attempts", attempts), ("concurrency", concurrency))
            if v < 1
        ]
        times = (
            ("backoff", backoff),
            ("longest", longest),
            ("rest", rest),
            ("patience", patience),
            ("price", min(price)),
        )
        faults += [f"{name} must not be negative" for name, value in times if value < 0]
        if faults:
            raise InvalidSettings("Chat", faults)
        self.model = OpenAIChat(model) if isinstance(model, str) else model
        self.concurrency = concurrency
        self._cache = None if cache is None else ReplyCache(cache)
        self._price = price
        self._attempts = attempts
        self._backoff = backoff
        self._longest = longest
        self._patience = patience
        self._rest = rest
        self._sleep = sleep
        self._monotonic = monotonic
        self._slots = threading.BoundedSemaphore(concurrency)
        self._lock = Lock()
        self._tally = Tally()
        self._resting_until = float("-inf")

    @property
    def name(self) -> str:
        """That of the model."""
        return self.model.name

    @property
    def tally(self) -> Tally:
        """What was asked so far."""
        return self._tally

    def __repr__(self) -> str:
        return f"<Chat {self.name}>"

    def complete(self, request: ChatRequest) -> ChatReply:
        """Ask, from the cache where the same was asked before; see `ChatModel`."""
        known = self._cache.get(self.name, request) if self._cache is not None else None
        if known is not None:
            self._count(cached=1)
            return known
        try:
            reply = self._patiently(request)
        except ModelError:
            self._count(failed=1)
            raise
        self._pay(reply.usage)
        if self._cache is not None and not reply.truncated:
            self._cache.put(self.name, request, reply)
        return reply

    def ask(self, request: ChatRequest) -> Read:
        """Ask for JSON and read it.

        Raises:
            AnswerUnusable: There is none in the answer.
            ModelError: As `complete`.
        """
        reply = self.complete(request)
        try:
            read = read_json(reply.text)
        except AnswerUnusable:
            if reply.truncated:
                raise AnswerUnusable("the answer was cut off at the model's limit") from None
            raise
        return Read(read.value, read.truncated or reply.truncated)

    def erase(self, texts: Iterable[str]) -> None:
        """Remove from the cache what was answered about memories with these texts."""
        if self._cache is not None:
            self._cache.erase(texts)

    def close(self) -> None:
        """Release the cache and, where it has any, the model's connections; closing twice is fine."""
        if self._cache is not None:
            self._cache.close()
        close = getattr(self.model, "close", None)
        if close is not None:
            close()

    def _patiently(self, request: ChatRequest) -> ChatReply:
        left = self._resting_until - self._monotonic()
        if left > 0:
            raise ModelUnavailable(f"{self.name} could not be reached and is asked again in {left:.0f} s")
        began = self._monotonic()
        for attempt in range(1, self._attempts + 1):
            try:
                return self._once(request)
            except ModelUnavailable as error:
                late = self._monotonic() - began >= self._patience
                if attempt == self._attempts or error.down or late:
                    self._resting_until = self._monotonic() + self._rest
                    raise
                asked = self._backoff * 2 ** (attempt - 1) if error.retry_after is None else error.retry_after
            self._count(repeated=1)
            self._sleep(min(asked, self._longest))
        raise AssertionError("the last attempt returns or raises")

    def _once(self, request: ChatRequest) -> ChatReply:
        try:
            with self._slots:
                return self.model.complete(request)
        except ModelError:
            raise
        except Exception as error:
            raise model_error(error, self.name) from error

    def _pay(self, usage: Usage | None) -> None:
        if usage is None:
            self._count(calls=1, unmetered=1)
            return
        sent, received = usage.prompt_tokens, usage.completion_tokens
        cost = (sent * self._price[0] + received * self._price[1]) / 1e6
        self._count(calls=1, prompt_tokens=sent, completion_tokens=received, cost=cost)

    def _count(self, **more: float) -> None:
        with self._lock:
            self._tally = replace(
                self._tally, **{name: getattr(self._tally, name) + value for name, value in more.items()}
            )


def as_chat(model: Chat | ChatModel | str) -> Chat:
    """What a caller passes as a model, with patience around it."""
    return model if isinstance(model, Chat) else Chat(model)
