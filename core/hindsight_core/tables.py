"""Tables for people: one small HTML builder, used wherever a value shows itself in a notebook."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


def html_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """An HTML table; every cell is escaped."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
