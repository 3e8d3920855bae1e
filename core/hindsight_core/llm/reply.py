"""Reading what a model wrote: from text that holds JSON somewhere to a JSON value.

Models wrap their answer in fences and prose, think aloud before it, and stop in the middle when they reach their limit.
Thoughts are dropped before anything is read; of an answer that stops, the items that are complete are kept.
"""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import Any, NamedTuple

from hindsight_core.errors import AnswerUnusable

_THOUGHT = re.compile(
    r"<(think|thinking|thought|reasoning)\b[^>]*>.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE
)
_THOUGHT_END = re.compile(r"\A.*</(?:think|thinking|thought|reasoning)\s*>", re.DOTALL | re.IGNORECASE)
_ANSWERS_AT_ONCE = re.compile(r"\s*(?:[{\[]|```)")
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_OPENING = re.compile(r"[{\[]")
_FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)```", re.DOTALL)
_TRIES = 64
"""Brackets at which a value is looked for; prose may hold some."""


class Read(NamedTuple):
    """A JSON value, and whether it was cut off (then only its complete items are there)."""

    value: Any
    truncated: bool


def read_json(text: str) -> Read:
    """The JSON value in a model's answer.

    The largest one counts, as prose before an answer may quote a small one. Thoughts of the model are no part of it.

    Raises:
        AnswerUnusable: There is none.
    """
    plain = _spoken(text)
    best: tuple[int, Any] | None = None
    for part in (*_FENCE.findall(plain), plain):
        for size, value in _values(part):
            if best is None or size > best[0]:
                best = size, value
        if best is not None:
            return Read(best[1], truncated=False)
    rest = _complete_items(plain)
    if rest is None:
        raise AnswerUnusable("the answer holds no JSON")
    return Read(rest, truncated=True)


def _spoken(text: str) -> str:
    """The answer without thoughts; one that begins with JSON has none, whatever its strings quote."""
    if _ANSWERS_AT_ONCE.match(text) is not None:
        return text
    # Some templates open the thought inside the prompt, so that only its end is seen.
    return _THOUGHT_END.sub("", _THOUGHT.sub("", text))


def _values(text: str) -> list[tuple[int, Any]]:
    """Outermost JSON objects and arrays of a text with their lengths."""
    decoder = json.JSONDecoder()
    found: list[tuple[int, Any]] = []
    place = tries = 0
    while tries < _TRIES and (opening := _OPENING.search(text, place)) is not None:
        tries += 1
        start = opening.start()
        try:
            value, place = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = _scan(text, start)[0]
            if not found and end is None and _opens(text, start):
                return []  # cut off: what is complete inside is an item and not the answer
            try:
                value = decoder.decode(_TRAILING_COMMA.sub("", text[start:end]))
            except (ValueError, RecursionError):
                place = start + 1
                continue
            place = end or len(text)
        found.append((place - start, value))
    return found


def _opens(text: str, start: int) -> bool:
    """Whether a bracket begins JSON rather than a remark."""
    return text[start + 1 : start + 64].lstrip()[:1] in ('"', "{", "[")


def _complete_items(text: str) -> Any:
    """What is complete of a list of objects that stops in the middle; None when there is no such list."""
    for opening in islice(_OPENING.finditer(text), _TRIES):
        end, cuts = _scan(text, opening.start()) if _opens(text, opening.start()) else (0, [])
        if end is not None:
            continue
        for cut, closers in reversed(cuts):
            try:
                return json.loads(text[opening.start() : cut] + closers)
            except (ValueError, RecursionError):
                continue
    return None


def _scan(text: str, start: int) -> tuple[int | None, list[tuple[int, str]]]:
    """Walk over a value: where it ends (None = nowhere), and where an item of its outer list ended, with what closes it."""
    stack: list[str] = []
    cuts: list[tuple[int, str]] = []
    quoted = escaped = False
    for place in range(start, len(text)):
        character = text[place]
        if quoted:
            quoted = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            quoted = True
        elif character in "{[":
            stack.append("}" if character == "{" else "]")
        elif character in "}]" and stack:
            stack.pop()
            if not stack:
                return place + 1, cuts
            if character == "}" and stack in (["]"], ["}", "]"]):
                cuts.append((place + 1, "".join(reversed(stack))))
    return None, cuts
