"""LlamaIndex adapter: an existing query engine or agent gets a long-term memory without being rewritten.

Importing this package needs no framework. What it is going to offer, as drop-ins for the framework's own parts:

- `HindsightRetriever`, `HindsightVectorStore`: recall behind the retriever and vector store interfaces.
- `HindsightMemory`, `HindsightMemoryBlock`: memory of an agent or chat engine, whole or as one block of it.
- `HindsightToolSpec`: tools for agents.
- `adopt`: takes over the nodes of an index that already exists.
"""

from __future__ import annotations

from typing import NoReturn

_PLANNED = frozenset(
    {
        "HindsightMemory",
        "HindsightMemoryBlock",
        "HindsightRetriever",
        "HindsightToolSpec",
        "HindsightVectorStore",
        "adopt",
    }
)


def __getattr__(name: str) -> NoReturn:
    if name in _PLANNED:
        # An ImportError, since Python replaces the message of an AttributeError in `from ... import name`.
        raise ImportError(f"{__name__}.{name} is not part of this release yet", name=__name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
