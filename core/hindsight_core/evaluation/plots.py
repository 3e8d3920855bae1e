"""Plots as SVG, drawn by hand: three kinds are needed, and a page with them must open without anything else.

Every text is escaped. Colours come from the style sheet of the page (classes `c0`, `c1`, ...), so that a plot follows a
dark theme.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from hindsight_core.evaluation.significance import Estimate

COLOURS = 8
_ROW = 18
_LEFT = 250
_WIDTH = 900
_RIGHT = 150


def bars(rows: Sequence[tuple[str, Sequence[tuple[str, Estimate]]]]) -> str:
    """Horizontal bars from 0 to 1 with their 95 % intervals.

    Args:
        rows: Per group its name and its bars, each a series name and a figure. A figure over nothing leaves a gap.
    """
    series = list(dict.fromkeys(name for _, cells in rows for name, _ in cells))
    height = sum(len(cells) * _ROW + 14 for _, cells in rows) + 30
    span = _WIDTH - _LEFT - _RIGHT
    parts = [_axis(height, span)]
    y = 10.0
    for label, cells in rows:
        middle = y + len(cells) * _ROW / 2 + 4
        parts.append(f'<text x="{_LEFT - 10}" y="{middle:.0f}" text-anchor="end">{escape(label)}</text>')
        for name, value in cells:
            if value.n:
                colour = series.index(name) % COLOURS
                parts.append(_bar(y, span, colour, f"{name}, {label}", value))
            y += _ROW
        y += 14
    return f'<svg viewBox="0 0 {_WIDTH} {height}" role="img">{"".join(parts)}</svg>{legend(series)}'


def _axis(height: int, span: int) -> str:
    marks = []
    for tenth in range(0, 11, 2):
        x = _LEFT + span * tenth / 10
        marks.append(f'<line class="grid" x1="{x:.0f}" y1="6" x2="{x:.0f}" y2="{height - 22}"/>')
        marks.append(
            f'<text class="small" x="{x:.0f}" y="{height - 8}" text-anchor="middle">{tenth / 10:g}</text>'
        )
    return "".join(marks)


def _bar(y: float, span: int, colour: int, title: str, value: Estimate) -> str:
    end = _LEFT + span * value.mean
    low, high = _LEFT + span * value.low, _LEFT + span * value.high
    middle = y + _ROW / 2 - 1
    note = f"{title}: {value.mean:.3f} [{value.low:.3f} - {value.high:.3f}], {value.n} questions"
    return (
        f'<g><title>{escape(note)}</title><rect class="c{colour}" x="{_LEFT}" y="{y:.1f}" '
        f'width="{max(end - _LEFT, 0):.1f}" height="{_ROW - 3}"/>'
        f'<line class="whisker" x1="{low:.1f}" y1="{middle:.1f}" x2="{high:.1f}" y2="{middle:.1f}"/>'
        f'<text class="small" x="{max(end, high) + 6:.1f}" y="{middle + 4:.1f}">{value.mean:.3f}</text></g>'
    )


def curves(series: Sequence[tuple[str, Sequence[tuple[float, float]]]], x_label: str, y_label: str) -> str:
    """Lines over 0..1 in both directions; points that are nan are left out."""
    left, bottom, width, height = 60, 300, 560, 280
    parts = []
    for tenth in range(0, 11, 2):
        x, y = left + width * tenth / 10, bottom - height * tenth / 10
        parts.append(f'<line class="grid" x1="{x:.0f}" y1="{bottom - height}" x2="{x:.0f}" y2="{bottom}"/>')
        parts.append(f'<line class="grid" x1="{left}" y1="{y:.0f}" x2="{left + width}" y2="{y:.0f}"/>')
        parts.append(
            f'<text class="small" x="{x:.0f}" y="{bottom + 16}" text-anchor="middle">{tenth / 10:g}</text>'
        )
        parts.append(
            f'<text class="small" x="{left - 8}" y="{y + 4:.0f}" text-anchor="end">{tenth / 10:g}</text>'
        )
    for number, (name, points) in enumerate(series):
        path = " ".join(
            f"{left + width * x:.1f},{bottom - height * y:.1f}"
            for x, y in points
            if not (math.isnan(x) or math.isnan(y))
        )
        parts.append(
            f'<polyline class="s{number % COLOURS}" points="{path}"><title>{escape(name)}</title></polyline>'
        )
    parts.append(
        f'<text x="{left + width / 2:.0f}" y="{bottom + 34}" text-anchor="middle">{escape(x_label)}</text>'
    )
    parts.append(f'<text x="{left}" y="{bottom - height - 8}">{escape(y_label)}</text>')
    box = f'viewBox="0 -4 {_WIDTH} {bottom + 50}"'
    return f'<svg {box} role="img">{"".join(parts)}</svg>{legend([name for name, _ in series])}'


def legend(names: Sequence[str]) -> str:
    """The colours of series, in order."""
    items = "".join(
        f'<span><i class="c{number % COLOURS}"></i>{escape(name)}</span>' for number, name in enumerate(names)
    )
    return f'<p class="legend">{items}</p>'
