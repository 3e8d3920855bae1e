"""From settings to the parts they name."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from hindsight_core.embedding import CachedEmbedder, EndpointEmbedder
from hindsight_core.engine.parts import default_embedder
from hindsight_core.errors import InvalidSettings
from hindsight_core.llm import Chat, LLMExtractor, LLMJudge, OpenAIChat
from hindsight_core.ports import Embedder
from hindsight_core.reranking import BoundedReranker, LLMReranker, resolve_reranker
from hindsight_core.settings import Secret, Settings


def embedder_of(settings: Settings, stack: ExitStack) -> Embedder | None:
    """The embedder that settings name, through the cache where there is one; the stack closes it."""
    kind, _, model = settings.embedder.partition(":")
    if kind == "openai" and model:
        endpoint = EndpointEmbedder(
            model, base_url=settings.embedder_base_url, api_key=_key(settings.embedder_api_key)
        )
        endpoint.require()
        chosen: Embedder | None = endpoint
    else:
        chosen = default_embedder(None if settings.embedder == "none" else settings.embedder)
    if chosen is None or settings.embedding_cache is None:
        return chosen
    cached = CachedEmbedder(chosen, settings.embedding_cache)
    stack.callback(cached.close)
    return cached


def options_of(settings: Settings, stack: ExitStack) -> dict[str, Any]:
    """The arguments of `Hindsight.open` that settings stand for, all but the embedder.

    Raises:
        InvalidSettings: A reranker "llm" without an llm.
        MissingExtra: Something is not installed.
    """
    options: dict[str, Any] = {"profile": settings.profile, "scope": tuple(settings.scope.split("/"))}
    if settings.keywords is not None:
        options["keywords"] = settings.keywords
    chat: Chat | None = None
    if settings.llm is not None:
        model = OpenAIChat(settings.llm, base_url=settings.llm_base_url, api_key=_key(settings.llm_api_key))
        chat = Chat(model, cache=settings.llm_cache)
        stack.callback(chat.close)
        options |= {"extractor": LLMExtractor(chat), "judge": LLMJudge(chat)}
    if settings.reranker is not None:
        bounds: dict[str, Any] = {
            "candidates": settings.reranker_candidates,
            "milliseconds": settings.reranker_milliseconds,
        }
        if settings.reranker != "llm":
            options["reranker"] = resolve_reranker(settings.reranker, **bounds)
        elif chat is not None:
            options["reranker"] = BoundedReranker(LLMReranker(chat), **bounds)
        else:
            raise InvalidSettings("Settings", ['the reranker "llm" needs llm, a language model'])
    return options


def _key(secret: Secret | None) -> str | None:
    return None if secret is None else secret.reveal()
