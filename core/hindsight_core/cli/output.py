"""What a command prints: JSON with fixed keys, or tables.

A memory is an object with the names of `unit.MemoryUnit`; times are ISO 8601, what is not known is null. A hit is
`{"rank", "score", "relevance", "signals": {name: {"raw", "value", "weighted"}}, "via", "unit", "predecessors",
"contradicts"}`. Chinese and everything else stands as itself.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from hindsight_core.recall import Hit, Hits
from hindsight_core.unit import MemoryUnit

_PIPED_WIDTH = 120
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LONGEST = 300

SIGNALS = ("vector", "keyword", "entity", "recency", "importance", "association")


def plain(value: Any) -> Any:
    """A value of this package as JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return value


def hits_json(hits: Hits) -> dict[str, Any]:
    """A recall as JSON."""
    return {
        "query": hits.query,
        "recall_id": hits.recall_id,
        "hits": [
            {
                "rank": rank,
                "score": hit.score,
                "relevance": hit.relevance,
                "signals": plain(hit.signals),
                "via": plain(hit.via),
                "unit": plain(hit.unit),
                "predecessors": plain(hit.predecessors),
                "contradicts": plain(hit.contradicts),
            }
            for rank, hit in enumerate(hits, 1)
        ],
    }


def emit(as_json: bool, value: Any, *shown: RenderableType) -> None:
    """Print a value as JSON, or what people are shown instead."""
    if as_json:
        sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")
        return
    console = terminal()
    for item in shown:
        console.print(item)


def terminal() -> Console:
    """Standard output for tables; wide when it is no terminal, as a pipe has no edge."""
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _PIPED_WIDTH
    return Console(file=sys.stdout, width=width, highlight=False, markup=False, emoji=False)


def words(text: str, longest: int = _LONGEST) -> Text:
    """Text of a memory for a table: shortened, and without what could steer a terminal."""
    text = _CONTROL.sub("\ufffd", text)
    return Text(text if len(text) <= longest else text[: longest - 1] + "…")


def when(instant: datetime | None) -> str:
    """A date and time as people read it."""
    return instant.strftime("%Y-%m-%d %H:%M") if instant else "undated"


def units_table(units: Iterable[MemoryUnit], title: str | None = None) -> Table:
    """Memories, one a row."""
    table = Table(title=title, title_justify="left")
    for name in ("id", "when", "speaker", "memory", "type", "importance", "status"):
        table.add_column(name, overflow="fold", ratio=1 if name == "memory" else None)
    for unit in units:
        table.add_row(
            words(unit.id),
            when(unit.timestamp),
            words(unit.source.speaker or ""),
            words(unit.content),
            str(unit.memory_type),
            f"{unit.importance:.2f}",
            str(unit.status),
        )
    return table


def hits_table(hits: Iterable[Hit], title: str | None = None) -> Table:
    """Hits with what each signal gave to the score."""
    hits = list(hits)
    names = [name for name in SIGNALS if any(name in hit.signals for hit in hits)]
    table = Table(title=title, title_justify="left")
    table.add_column("", justify="right")
    table.add_column("memory", ratio=1, overflow="fold")
    for name in ("relevance", "score", *names):
        table.add_column(name, justify="right")
    for rank, hit in enumerate(hits, 1):
        head = " · ".join(
            part for part in (when(hit.unit.timestamp), hit.unit.source.speaker, hit.unit.id) if part
        )
        text = Text.assemble(words(hit.unit.content), "\n", (str(words(head)), "dim"))
        for older in hit.predecessors:
            text.append(f"\npreviously: {words(older.content)}", "dim")
        for other in hit.contradicts:
            text.append(f"\nin contradiction with: {words(other.content)}", "dim")
        if hit.via is not None:
            text.append(f"\nover {hit.via.kind} of {words(hit.via.id)}", "dim")
        shares = [f"{hit.signals[name].weighted:.3f}" if name in hit.signals else "" for name in names]
        table.add_row(str(rank), text, f"{hit.relevance:.2f}", f"{hit.score:.3f}", *shares)
    return table


def pairs_table(
    rows: Iterable[tuple[object, object]], columns: tuple[str, str], title: str | None = None
) -> Table:
    """Two columns."""
    table = Table(title=title, title_justify="left")
    for name in columns:
        table.add_column(name, overflow="fold")
    for left, right in rows:
        table.add_row(words(str(left)), words(str(right)))
    return table
