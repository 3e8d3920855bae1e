"""LlamaIndex adapter: an existing query engine, chat engine or agent gets a long-term memory by changing one line.

Importing this package needs no framework; asking for one of its names does, and says what to install if it is missing.

- `HindsightRetriever`: recall behind the retriever interface; `.as_query_engine()` included.
- `HindsightMemory`, `HindsightMemoryBlock`: memory of an agent or chat engine, whole or as one block of the stock one.
- `HindsightVectorStore`: for `VectorStoreIndex`, ingestion pipelines and whatever else wants a vector store.
- `HindsightToolSpec`: tools for agents that decide themselves what to remember.
- `adopt`: takes over the nodes of an index that already exists, with their vectors.
- `LlamaIndexEmbedder`, `HindsightEmbedding`: any embedding model of the framework inside the engine, and the reverse.
- `LlamaIndexChat`: any LLM of the framework as the engine's language model.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hindsight_llamaindex.adoption import adopt
    from hindsight_llamaindex.block import HindsightMemoryBlock
    from hindsight_llamaindex.bridges import HindsightEmbedding, LlamaIndexChat, LlamaIndexEmbedder
    from hindsight_llamaindex.memory import HindsightMemory
    from hindsight_llamaindex.retriever import HindsightRetriever
    from hindsight_llamaindex.tools import HindsightToolSpec
    from hindsight_llamaindex.vectorstore import HindsightVectorStore

__all__ = [
    "HindsightEmbedding",
    "HindsightMemory",
    "HindsightMemoryBlock",
    "HindsightRetriever",
    "HindsightToolSpec",
    "HindsightVectorStore",
    "LlamaIndexChat",
    "LlamaIndexEmbedder",
    "adopt",
]

_MODULES = {
    "HindsightEmbedding": "bridges",
    "HindsightMemory": "memory",
    "HindsightMemoryBlock": "block",
    "HindsightRetriever": "retriever",
    "HindsightToolSpec": "tools",
    "HindsightVectorStore": "vectorstore",
    "LlamaIndexChat": "bridges",
    "LlamaIndexEmbedder": "bridges",
    "adopt": "adoption",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        found = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "llama_index":
            raise
        from hindsight_core.errors import MissingExtra

        raise MissingExtra(f"{__name__}.{name}", "llamaindex") from error
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
