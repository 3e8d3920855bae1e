"""Texts longer than a model reads: cut into windows, whose mean stands for the text.

A model that reads 512 tokens drops the rest without a word, and with it the fact in the last line. So a long text is cut
where its tokens end, each window is embedded with the same prefix, and the text's vector is the mean of the windows'
vectors, weighted by their tokens and scaled to length 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hindsight_core.ports import Doubles, Floats

Window = tuple[str, int]
"""A piece of a text and its number of tokens."""


def cut_at_tokens(text: str, offsets: Sequence[tuple[int, int]], room: int) -> list[Window]:
    """A text as windows of at most `room` tokens.

    Args:
        text: The text.
        offsets: Where each of its tokens begins and ends, in characters.
        room: Tokens a window may hold, at least 1.
    """
    if len(offsets) <= room:
        return [(text, len(offsets))]
    windows = []
    for at in range(0, len(offsets), room):
        part = offsets[at : at + room]
        windows.append((text[part[0][0] : part[-1][1]], len(part)))
    return windows


def cut_by_estimate(text: str, count: Callable[[str], int], room: int) -> list[Window]:
    """The same where only a count of tokens is known: halved, at a blank where there is one, until it fits."""
    size = count(text)
    if size <= room or len(text) < 2:
        return [(text, size)]
    middle = len(text) // 2
    blank = text.rfind(" ", middle // 2, middle + 1)
    cut = blank + 1 if blank > 0 else middle
    return [*cut_by_estimate(text[:cut], count, room), *cut_by_estimate(text[cut:], count, room)]


def embed_windows(
    texts: Sequence[str], cut: Callable[[str], list[Window]], embed: Callable[[list[str]], Floats]
) -> Floats:
    """Vectors of texts of any length, shape (n, dimension), rows of length 1.

    Args:
        texts: At least one.
        cut: A text as windows.
        embed: Vectors of windows, shape (m, dimension).
    """
    windows = [cut(text) for text in texts]
    vectors = embed([piece for of_text in windows for piece, _ in of_text]).astype(np.float64)
    starts = np.cumsum([0, *(len(of_text) for of_text in windows[:-1])])
    sizes = np.array([max(size, 1) for of_text in windows for _, size in of_text], np.float64)
    return unit_length(np.add.reduceat(unit_length(vectors) * sizes[:, None], starts, axis=0))


def unit_length(rows: Doubles | Floats) -> Floats:
    """Rows scaled to length 1; rows of zeros stay."""
    norms = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    return np.asarray(rows / np.where(norms > 0.0, norms, 1.0), dtype=np.float32)
