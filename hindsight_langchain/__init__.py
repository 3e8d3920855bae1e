"""LangChain and LangGraph adapter: an existing agent gets a long-term memory without being rewritten.

Importing this package needs no framework. What it is going to offer, as drop-ins for the framework's own parts:

- `HindsightRetriever`, `HindsightVectorStore`: recall behind the retriever and vector store interfaces.
- `HindsightMemory`, `HindsightChatMessageHistory`: memory of a chain, history of a chat.
- `HindsightStore`: a LangGraph store.
- `HindsightMiddleware`, `create_memory_tools`: for agents.
- `adopt`: takes over the documents of a store that already exists.
"""

from __future__ import annotations

from typing import NoReturn

_PLANNED = frozenset(
    {
        "HindsightChatMessageHistory",
        "HindsightMemory",
        "HindsightMiddleware",
        "HindsightRetriever",
        "HindsightStore",
        "HindsightVectorStore",
        "adopt",
        "create_memory_tools",
    }
)


def __getattr__(name: str) -> NoReturn:
    if name in _PLANNED:
        # An ImportError, since Python replaces the message of an AttributeError in `from ... import name`.
        raise ImportError(f"{__name__}.{name} is not part of this release yet", name=__name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
