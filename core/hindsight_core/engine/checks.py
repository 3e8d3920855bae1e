"""Checks of what a caller hands over: each returns the value in its one form, or says which argument is wrong.

A message shows a piece of the value, never all of it, and showing it cannot fail either.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from hindsight_core.errors import InvalidInput
from hindsight_core.scope import parse_scope
from hindsight_core.unit import Episode, MemoryUnit, Source

_SHOWN = 60
_LARGEST = 10**60

Choice = TypeVar("Choice", bound=StrEnum)


def shown(value: Any) -> str:
    """A value for a message: short, and without failing on one that is nested too deeply or too long to print."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 (a caller's own repr may raise anything)
        text = f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def listed(value: Any, name: str) -> list[Any]:
    """The members of a list or another iterable; a text is none, though Python would take it letter by letter."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InvalidInput(f"{name} must be a list, not {type(value).__name__}")
    return list(value)


def text_of(value: Any, name: str) -> str:
    """A string as it is."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be a string, not {type(value).__name__}")
    return value


def known_as(value: Any, name: str = "id") -> str:
    """A name the caller chose, as it is kept: a string, or a whole number written out."""
    if isinstance(value, int) and not isinstance(value, bool):
        if abs(value) < _LARGEST:
            return str(value)
        raise InvalidInput(f"{name} is too large a number; pass a string")
    return text_of(value, name)


def whole(value: Any, name: str) -> int:
    """A whole number from 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInput(f"{name} must be a whole number from 0, not {shown(value)}")
    return value


def file_path(value: Any) -> Path:
    """The path of a file."""
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    try:
        if isinstance(text, str) and text.strip() and b"\x00" not in os.fsencode(text):
            return Path(text)
    except UnicodeError:  # a lone surrogate: no file is called so
        pass
    raise InvalidInput(f"a file is named by its path, not by {shown(value)}")


def choice(kind: type[Choice], value: Any, name: str) -> Choice:
    """A member of an enumeration, from itself or its value."""
    known = [member.value for member in kind]
    if not isinstance(value, str) or value not in known:
        raise InvalidInput(f"{name} must be one of {', '.join(known)}, not {shown(value)}")
    return kind(value)


# -- what an export holds ------------------------------------------------------------------------------------


_LARGEST = 2**63
"""Whole numbers from here on fit no store."""


def check_unit(unit: MemoryUnit) -> None:
    """Refuse a memory, read from a file, that no `remember` could have made.

    Raises:
        ValueError: Something in it is not what it must be.
    """
    _check_place(unit.scope, unit.id, unit.content, unit.metadata)
    sources = [unit.source, *(said.source for said in unit.occurrences)]
    for source in sources:
        _check_source(source)
    names = [part for entity in unit.entities for part in (entity.name, entity.type, entity.key)]
    texts = [*names, *(link.id for link in unit.related_ids), unit.summary]
    texts += [said.text for said in unit.occurrences if said.text is not None]
    flags = (unit.pinned, unit.indexed, unit.caller_id, *(link.outgoing for link in unit.related_ids))
    dates = (
        unit.timestamp,
        unit.valid_from,
        unit.valid_to,
        unit.recorded_at,
        unit.last_access,
        unit.expires_at,
    )
    said_at = [at for said in unit.occurrences for at in (said.timestamp, said.recorded_at)]
    _require(all(isinstance(text, str) for text in texts))
    _require(all(isinstance(flag, bool) for flag in flags))
    _require(all(_is_instant(at) for at in (*dates, *said_at, unit.weight_at)))
    _require(_is_number(unit.importance) and 0.0 <= unit.importance <= 1.0)
    _require(_is_number(unit.weight) and 0.0 <= unit.weight <= 1.0)
    _require(whole(unit.access_count, "access_count") < _LARGEST)


def check_episode(episode: Episode) -> None:
    """Refuse an episode, read from a file, that no `remember` could have made.

    Raises:
        ValueError: Something in it is not what it must be.
    """
    _check_place(episode.scope, episode.id, episode.text, episode.metadata)
    _check_source(episode.source)
    dates = (episode.timestamp, episode.recorded_at)
    _require(isinstance(episode.state, str) and isinstance(episode.envelope, dict))
    _require(all(_is_instant(at) for at in dates))


def _require(fit: bool) -> None:
    if not fit:
        raise ValueError


def _is_instant(at: datetime | None) -> bool:
    """Whether it has a zone, and a year in UTC as well, or is none at all."""
    return at is None or (at.utcoffset() is not None and bool(at.astimezone(UTC)))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_place(scope: Any, id: Any, text: Any, metadata: Any) -> None:
    for segment in scope:
        parse_scope((segment,))
    _require(isinstance(id, str) and bool(id.strip()) and isinstance(text, str) and bool(text.strip()))
    _require(isinstance(metadata, dict))
    json.dumps(metadata, allow_nan=False)


def _check_source(source: Source) -> None:
    texts = (
        source.speaker, source.document, source.uri, source.session, source.section, source.episode
    )  # fmt: skip
    _require(all(text is None or isinstance(text, str) for text in texts))
    for number in (source.turn, *(source.span or ())):
        _require(number is None or 0 <= whole(number, "a position") < _LARGEST)
