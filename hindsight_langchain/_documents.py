"""Memories as LangChain documents, and scopes as LangChain names them; shared by the surfaces."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config

from hindsight_core import Hindsight, Hit, MemoryUnit
from hindsight_core.scope import parse_scope

SCOPE = "hindsight_scope"
"""Key of `config["configurable"]` that narrows a call to a scope below the handle's: a name or a list of names."""

Segments = str | Iterable[str] | None


def segments(scope: Segments) -> tuple[str, ...]:
    """The segments of a scope below a handle's; none for None."""
    return () if scope is None else parse_scope(scope)


def configured(config: RunnableConfig | None) -> tuple[str, ...]:
    """The scope that a run's config names."""
    return segments(ensure_config(config).get("configurable", {}).get(SCOPE))


def narrowed(memory: Hindsight, *below: str) -> Hindsight:
    """The handle itself, or one on a scope below."""
    return memory.within(*below) if below else memory


def plain(value: Any) -> Any:
    """A JSON value as plain dicts and lists of its own, which the caller may change."""
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def described(hit: Hit) -> Document:
    """A hit as a document that can explain itself; metadata is JSON, and what the caller gave wins over ours."""
    unit, source = hit.unit, hit.unit.source
    found: dict[str, Any] = {
        "id": unit.id,
        "scope": list(unit.scope),
        "timestamp": unit.timestamp.isoformat() if unit.timestamp else None,
        "type": unit.memory_type.value,
        "importance": float(unit.importance),
        "entities": [{"name": entity.name, "type": entity.type} for entity in unit.entities],
        "score": float(hit.score),
        "relevance": float(hit.relevance),
        "signals": {
            name: {"raw": _number(s.raw), "value": _number(s.value), "weighted": _number(s.weighted)}
            for name, s in hit.signals.items()
        },
    }
    said = {"speaker": source.speaker, "session": source.session, "source": source.document}
    found |= {name: value for name, value in said.items() if value is not None}
    if hit.via is not None:
        found["via"] = {"id": hit.via.id, "kind": hit.via.kind.value}
    if hit.predecessors:
        found["previously"] = [older.content for older in hit.predecessors]
    if hit.contradicts:
        found["contradicts"] = [other.content for other in hit.contradicts]
    return Document(id=unit.id, page_content=unit.content, metadata=found | plain(unit.metadata))


def as_stored(unit: MemoryUnit) -> Document:
    """A memory as the document it was added as: the caller's metadata and nothing else."""
    return Document(id=unit.id, page_content=unit.content, metadata=plain(unit.metadata))
