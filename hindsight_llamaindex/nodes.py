"""Memories as nodes and nodes as memories, both ways without loss.

A node becomes one memory under its own id: its text is the content, its metadata the memory's, its document the memory's
document, and what else makes it that node (relationships, excluded keys, templates, its class) is kept beside its
metadata and comes back. A memory that never was a node becomes a `TextNode`: scalars of its metadata stay what they
are, lists and objects become JSON text, its own fields appear under `hindsight_...`, and the whole memory stands in one key
as JSON, so that nothing is lost when the node passes through a store for flat scalars.

What was added to the metadata is kept from the embedding model, and from the LLM, too, except when and by whom a memory
was said.

**Scores.** A node's score is the hit's relevance, which means the same in every store, so that a fixed cut-off does. The
order is the engine's, whose ranking weighs more than relevance does. Where a lower hit is the more relevant one, every
hit above it carries its relevance: scores descend, sorting by them changes nothing, and a cut-off never drops a
memory that is relevant enough. Both numbers as measured are in the metadata.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from llama_index.core.schema import (
    BaseNode,
    MetadataMode,
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
    TextNode,
)
from llama_index.core.vector_stores.utils import metadata_dict_to_node

from hindsight_core import Hit, MemoryUnit
from hindsight_core.engine.items import instant
from hindsight_core.errors import InvalidInput
from hindsight_core.stores.codec import decode_unit, encode_unit
from hindsight_core.unit import LinkKind, Scope

PREFIX = "hindsight_"
"""What every key that this package adds to a node's metadata begins with."""
SHAPE = "_llama_index"
"""Key in a memory's metadata of what makes it a node again."""
IS_NODE = {"$not": {f"metadata.{SHAPE}.class_name": None}}
"""Filter: memories that were nodes."""

_UNIT = f"{PREFIX}unit"
_SHOWN = (f"{PREFIX}timestamp", f"{PREFIX}speaker")
_ELSEWHERE = frozenset({"id_", "embedding", "metadata", "text"})


def item_of(node: BaseNode, *, timestamp_key: str = "timestamp") -> dict[str, Any]:
    """What `Hindsight.keep` takes, for a node.

    Args:
        node: Any node with text.
        timestamp_key: Metadata key that dates it; a node without it, or with something else there, is undated.
    """
    text = node.get_content(metadata_mode=MetadataMode.NONE)
    unit = unit_of(node)
    if unit is not None:  # it left as a node and comes back as the memory it was
        return {
            "id": node.node_id,
            "text": text,
            "timestamp": unit.timestamp,
            "source": unit.source,
            "metadata": dict(unit.metadata),
            "importance": unit.importance,
            "memory_type": unit.memory_type,
            "expires_at": unit.expires_at,
            "pinned": unit.pinned,
        }
    shape = node.model_dump(mode="json", exclude=set(_ELSEWHERE))
    if isinstance(shape.get("text_resource"), dict):
        shape["text_resource"]["text"] = ""
    return {
        "id": node.node_id,
        "text": text,
        "timestamp": _dated(node.metadata.get(timestamp_key)),
        "source": {"document": node.ref_doc_id} if node.ref_doc_id else None,
        "metadata": {**node.metadata, SHAPE: shape},
    }


def _dated(value: Any) -> Any:
    try:
        return instant(value, "timestamp")
    except InvalidInput:
        return None


def node_of(unit: MemoryUnit) -> BaseNode:
    """A memory as a node: the very node it was made from, or a new `TextNode`."""
    shape = unit.metadata.get(SHAPE)
    if shape is None:
        return _text_node(unit)
    content = {**shape, "id_": unit.id, "metadata": _without_shape(unit), "text": unit.content}
    stored = {"_node_content": json.dumps(content), "_node_type": shape.get("class_name")}
    return metadata_dict_to_node(stored, text=unit.content)


def unit_of(node: BaseNode) -> MemoryUnit | None:
    """The memory a node was made from by this package; None for any other node."""
    text = node.metadata.get(_UNIT)
    return decode_unit(text) if isinstance(text, str) else None


def _without_shape(unit: MemoryUnit) -> dict[str, Any]:
    return {key: value for key, value in unit.metadata.items() if key != SHAPE}


def _text_node(unit: MemoryUnit) -> TextNode:
    added = {**_fields(unit), _UNIT: encode_unit(unit)}
    relationships: dict[NodeRelationship, Any] = {}
    if unit.source.document is not None:
        relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=unit.source.document)
    for link in unit.related_ids:
        if link.kind is LinkKind.FOLLOWS:
            direction = NodeRelationship.PREVIOUS if link.outgoing else NodeRelationship.NEXT
            relationships[direction] = RelatedNodeInfo(node_id=link.id)
    return TextNode(
        id_=unit.id,
        text=unit.content,
        metadata={key: _flat(value) for key, value in unit.metadata.items()} | added,
        relationships=relationships,
        excluded_embed_metadata_keys=list(added),
        excluded_llm_metadata_keys=[key for key in added if key not in _SHOWN],
    )


def _flat(value: Any) -> Any:
    return (
        value
        if value is None or isinstance(value, str | int | float)
        else json.dumps(value, ensure_ascii=False)
    )


def _fields(unit: MemoryUnit) -> dict[str, Any]:
    """A memory's own fields as scalars, under the names the filters know."""
    found = {
        "timestamp": unit.timestamp.isoformat(timespec="seconds") if unit.timestamp else None,
        "speaker": unit.source.speaker,
        "session": unit.source.session,
        "document": unit.source.document,
        "type": unit.memory_type.value,
        "status": unit.status.value,
        "importance": unit.importance,
    }
    return {f"{PREFIX}{name}": value for name, value in found.items() if value is not None}


def scores_of(hits: Sequence[Hit]) -> list[float]:
    """Scores of hits in the engine's order: relevance, at least that of every hit below."""
    scores: list[float] = []
    best = 0.0
    for hit in reversed(hits):
        best = max(best, hit.relevance)
        scores.append(best)
    return scores[::-1]


def scored_nodes(hits: Sequence[Hit]) -> list[NodeWithScore]:
    """Hits as nodes with scores, in order, each with its signals in the metadata."""
    ids = _distinct(hits)
    return [
        NodeWithScore(node=_hit_node(hit, id), score=score)
        for hit, id, score in zip(hits, ids, scores_of(hits), strict=True)
    ]


def _hit_node(hit: Hit, id: str) -> BaseNode:
    node = node_of(hit.unit)
    measured = {"score": hit.score, "relevance": hit.relevance}
    measured |= {f"signal_{name}": signal.weighted for name, signal in hit.signals.items()}
    added = _fields(hit.unit) | {_UNIT: encode_unit(hit.unit)}
    added |= {f"{PREFIX}{name}": round(value, 6) for name, value in measured.items()}
    hidden = [key for key in added if key not in node.metadata]
    node.id_ = id
    node.metadata = {**node.metadata, **added}
    node.excluded_embed_metadata_keys = [*node.excluded_embed_metadata_keys, *hidden]
    node.excluded_llm_metadata_keys = [*node.excluded_llm_metadata_keys, *hidden]
    return node


def _distinct(hits: Iterable[Hit]) -> list[str]:
    """Node ids: the memories' own. Scopes may share an id, and the framework drops a node whose id it has seen."""
    seen: dict[str, Scope] = {}
    ids = []
    for hit in hits:
        first = seen.setdefault(hit.unit.id, hit.unit.scope)
        ids.append(hit.unit.id if first == hit.unit.scope else "/".join((*hit.unit.scope, hit.unit.id)))
    return ids
