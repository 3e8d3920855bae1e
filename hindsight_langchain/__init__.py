"""LangChain and LangGraph adapter: an existing agent gets a long-term memory without being rewritten.

Importing this package needs no framework; a name is loaded when it is first used. Drop-ins for the framework's own parts:

- `HindsightRetriever`, `HindsightVectorStore`: recall behind the retriever and vector store interfaces.
- `HindsightMemory`, `HindsightChatMessageHistory`: memory of a chain, history of a chat.
- `HindsightStore`: a LangGraph store.
- `HindsightMiddleware`, `create_memory_tools`: for agents.
- `LangChainEmbedder`, `LangChainChat`: any LangChain embeddings as the engine's embedder, any chat model as its language model.
- `adopt`: takes over the documents of a store that already exists, with their vectors.

Each takes a `Hindsight` handle and works in its scope. Where one retriever, agent or tool serves many users, name the user per
call: `config={"configurable": {"hindsight_scope": "user-42"}}` narrows it to that scope below the handle's.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hindsight_langchain.adoption import adopt
    from hindsight_langchain.bridges import LangChainChat, LangChainEmbedder
    from hindsight_langchain.history import HindsightChatMessageHistory
    from hindsight_langchain.memory import HindsightMemory
    from hindsight_langchain.middleware import HindsightMiddleware
    from hindsight_langchain.retriever import HindsightRetriever
    from hindsight_langchain.store import HindsightStore
    from hindsight_langchain.tools import create_memory_tools
    from hindsight_langchain.vectorstore import HindsightVectorStore

__all__ = [
    "HindsightChatMessageHistory",
    "HindsightMemory",
    "HindsightMiddleware",
    "HindsightRetriever",
    "HindsightStore",
    "HindsightVectorStore",
    "LangChainChat",
    "LangChainEmbedder",
    "adopt",
    "create_memory_tools",
]

_HOME = {
    "HindsightChatMessageHistory": ("history", "langchain"),
    "HindsightMemory": ("memory", "langchain-classic"),
    "HindsightMiddleware": ("middleware", "langchain"),
    "HindsightRetriever": ("retriever", "langchain"),
    "HindsightStore": ("store", "langchain"),
    "HindsightVectorStore": ("vectorstore", "langchain"),
    "LangChainChat": ("bridges", "langchain"),
    "LangChainEmbedder": ("bridges", "langchain"),
    "adopt": ("adoption", "langchain"),
    "create_memory_tools": ("tools", "langchain"),
}
"""Which module a name lives in, and which extra it needs."""


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, extra = _HOME[name]
    try:
        found = getattr(importlib.import_module(f"{__name__}.{module}"), name)
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0].startswith(("langchain", "langgraph")):
            from hindsight_core.errors import MissingExtra

            raise MissingExtra(f"{__name__}.{name}", extra) from missing
        raise
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
