"""Scopes: whose memory. A tuple of segments, compared segment by segment and exactly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from hindsight_core.errors import InvalidInput
from hindsight_core.text.keys import storable
from hindsight_core.unit import Scope

_HINT = 'pass a non-empty string such as "user-42", or a tuple of them such as ("team", "user-42")'


def parse_scope(value: str | Iterable[str]) -> Scope:
    """A scope from a string (one segment) or an iterable of segments.

    Raises:
        InvalidInput: Empty, blank or non-string segments; an empty scope never means "everything".
    """
    if isinstance(value, str):
        segments: tuple[str, ...] = (value,)
    elif isinstance(value, Iterable) and not isinstance(value, Set | Mapping):  # those have no order
        segments = tuple(value)
    else:
        raise InvalidInput(f"a scope cannot be a {type(value).__name__}: {_HINT}")
    if not segments:
        raise InvalidInput(f"a scope must not be empty: {_HINT}")
    for segment in segments:
        if not isinstance(segment, str):
            raise InvalidInput(f"a scope segment must be a string, not {type(segment).__name__}: {_HINT}")
        if not segment.strip():
            raise InvalidInput(f"a scope segment must not be blank: {_HINT}")
        if "\x00" in segment:
            raise InvalidInput("a scope segment must not contain a NUL character")
    return tuple(storable(segment) for segment in segments)


def covers(prefix: Scope, scope: Scope) -> bool:
    """Whether `scope` is `prefix` or lies below it, by whole segments."""
    return scope[: len(prefix)] == prefix


def narrow(reach: Iterable[Scope], to: Scope) -> bool:
    """Whether reading `to` stays within what `reach` allows."""
    return any(covers(prefix, to) for prefix in reach)
