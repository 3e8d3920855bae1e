"""What a model wants to read in front of a question, and in front of a passage.

Retrieval models are trained with such prefixes, and lose accuracy without them. Where the model's folder says which
(`config_sentence_transformers.json`), that holds; else the families below are known by the model's name, from their
model cards:

    BAAI/bge-*-zh*    questions: 为这个句子生成表示以用于检索相关文章：
    BAAI/bge-*-en*    questions: "Represent this sentence for searching relevant passages: "
    intfloat/*e5-*    "query: " and "passage: "; the -instruct ones an instruction before questions only
    BAAI/bge-m3       nothing
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_E5_TASK = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
_FAMILIES: tuple[tuple[str, str, str], ...] = (
    (r"bge-m3", "", ""),
    (r"bge-.*zh", "为这个句子生成表示以用于检索相关文章：", ""),
    (r"bge-.*en", "Represent this sentence for searching relevant passages: ", ""),
    (r"e5-.*instruct", _E5_TASK, ""),
    (r"(?:^|[-_])e5-", "query: ", "passage: "),
)
_QUERY_NAMES = ("query", "s2p_query", "retrieval.query", "search_query")
_PASSAGE_NAMES = ("document", "passage", "retrieval.passage", "search_document", "corpus")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """Prefixes of one model.

    Attributes:
        query: In front of a question.
        passage: In front of a passage.
    """

    query: str = ""
    passage: str = ""


def prompts_for(
    name: str,
    stored: Mapping[str, str],
    *,
    query: str | None = None,
    passage: str | None = None,
) -> Prompts:
    """The prefixes of a model.

    Args:
        name: Its name or folder.
        stored: Prompts by name, as the model's own configuration holds them.
        query: The caller's own prefix, which wins; None for the model's.
        passage: The same for passages.
    """
    base = name.rstrip("/\\").replace("\\", "/").rpartition("/")[2].lower()
    known = next((prompts for pattern, *prompts in _FAMILIES if re.search(pattern, base)), ["", ""])
    of_query = next((stored[key] for key in _QUERY_NAMES if stored.get(key)), known[0])
    of_passage = next((stored[key] for key in _PASSAGE_NAMES if stored.get(key)), known[1])
    return Prompts(
        query=of_query if query is None else query, passage=of_passage if passage is None else passage
    )
