"""LlamaIndex filters in the engine's filter language.

A key names the node's own metadata: `key="topic"` is the engine's `metadata.topic`. The memory's own fields carry the
prefix under which `nodes` shows them (`hindsight_speaker`, `hindsight_timestamp`, ...), and the three names
under which LlamaIndex stores a node's document (`ref_doc_id`, `doc_id`, `document_id`) ask for just that.

As in the framework, a missing value meets `!=` and `nin`, and the condition "not" holds when none of its filters does. Where
metadata holds a list, any of its elements may meet a comparison, so `any` is `in` and `contains` is `==`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

from hindsight_core.errors import InvalidInput
from hindsight_llamaindex.nodes import PREFIX

Where = dict[str, Any]

_DOCUMENT = frozenset({"ref_doc_id", "doc_id", "document_id"})
_OPERATORS: Mapping[FilterOperator, str] = {
    FilterOperator.EQ: "$eq",
    FilterOperator.NE: "$ne",
    FilterOperator.GT: "$gt",
    FilterOperator.GTE: "$gte",
    FilterOperator.LT: "$lt",
    FilterOperator.LTE: "$lte",
    FilterOperator.IN: "$in",
    FilterOperator.NIN: "$nin",
    FilterOperator.ANY: "$in",
    FilterOperator.CONTAINS: "$eq",
}


def where_of(filters: MetadataFilters | None) -> Where | None:
    """The engine's filter for LlamaIndex filters; None when they ask for nothing.

    Raises:
        InvalidInput: An operator that has no counterpart, or a value that does not fit its operator.
    """
    if filters is None or not filters.filters:
        return None
    parts = [where_of(part) if isinstance(part, MetadataFilters) else _one(part) for part in filters.filters]
    found = [part for part in parts if part is not None]
    if not found:
        return None
    match filters.condition or FilterCondition.AND:
        case FilterCondition.AND:
            return both(*found)
        case FilterCondition.OR:
            return {"$or": found}
        case FilterCondition.NOT:
            return {"$not": {"$or": found}}
    raise InvalidInput(f"unknown filter condition {filters.condition!r}; there are and, or and not")


def both(*parts: Where | None) -> Where | None:
    """All of several filters, those left out apart."""
    given = [part for part in parts if part]
    if not given:
        return None
    return given[0] if len(given) == 1 else {"$and": given}


def _one(test: MetadataFilter) -> Where:
    field = _field(test.key)
    if test.operator in (FilterOperator.TEXT_MATCH, FilterOperator.TEXT_MATCH_INSENSITIVE):
        raise InvalidInput(
            f"the filter operator {test.operator.value!r} on {test.key!r} is not supported: matching text is what recall "
            "does, so put the words into the query"
        )
    if test.operator is FilterOperator.IS_EMPTY:
        return {"$or": [{field: None}, {field: ""}]} if field.startswith("metadata.") else {field: None}
    if test.operator is FilterOperator.ALL:
        if not isinstance(test.value, list) or not test.value:
            raise InvalidInput(
                f"the filter operator 'all' on {test.key!r} takes a list of at least one value"
            )
        return {"$and": [{field: {"$eq": value}} for value in test.value]}
    if test.operator not in _OPERATORS:
        raise InvalidInput(f"the filter operator {test.operator!r} on {test.key!r} is not supported")
    return {field: {_OPERATORS[test.operator]: test.value}}


def _field(key: str) -> str:
    if key in _DOCUMENT:
        return "document"
    return key.removeprefix(PREFIX) if key.startswith(PREFIX) else f"metadata.{key}"
