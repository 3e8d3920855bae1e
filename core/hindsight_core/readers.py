"""Files to remember: a chat as JSON lines, or documents in Markdown or plain text.

A chat is one JSON object a line: `text`, and optionally `id`, `speaker`, `session`, `timestamp` and the other
arguments of `remember`; whatever else a line holds becomes metadata, so nothing is lost and all of it can be filtered.
A folder gives one document per `.md` or `.txt` file, named by its path within the folder. What says nothing of its time
is undated: the moment of an import is not the moment something was said.

A file is read to its end before anything is handed on. Bad lines are reported together, each by its number, and never
quoted: they may hold what nobody wants in a log.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from hindsight_core.errors import InvalidInput

CHAT_SUFFIXES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
DOCUMENT_SUFFIXES = (".md", ".txt")

_WHO_AND_WHEN = ("text", "id", "speaker", "session", "turn", "timestamp", "source")
_HOW = ("metadata", "importance", "memory_type", "expires_at", "indexed", "pinned")
_ARGUMENTS = frozenset({*_WHO_AND_WHEN, *_HOW})
_SHOWN = 5

Item = dict[str, Any]
Check = Callable[[Item], object]
"""Raises `InvalidInput` for an item that could not be remembered."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that cannot be used: where it stands, and what is wrong with it."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


@dataclass(frozen=True, slots=True)
class Input:
    """What was read: items for `remember_many`, and what was left out on request."""

    items: tuple[Item, ...]
    skipped: tuple[Fault, ...] = ()


def read_input(path: str | Path, *, check: Check | None = None, skip_bad: bool = False) -> Input:
    """Read a chat, a document or a folder of documents.

    Args:
        path: A `.jsonl` file (may be gzipped), a `.md` or `.txt` file, or a folder of these two.
        check: Further says what cannot be remembered; its errors are reported by line like all others.
        skip_bad: Leave out what is bad rather than refuse all of it.

    Raises:
        InvalidInput: Naming every bad line, or saying why there is nothing to read.
    """
    path = Path(path)
    if path.is_dir():
        found = _documents(path)
    elif not path.exists():
        raise InvalidInput(f"no such file or folder: {path}")
    elif path.name.lower().endswith(DOCUMENT_SUFFIXES):
        found = iter([_document(path, path.name)])
    elif path.name.lower().endswith(CHAT_SUFFIXES):
        found = _chat(json_lines(path))
    else:
        raise InvalidInput(
            f"{path}: not a kind of file that is read; give .jsonl, .md, .txt or a folder of .md and .txt"
        )
    return _sorted_out(str(path), found, check, skip_bad)


def read_chat(
    lines: Iterable[bytes], name: str, *, check: Check | None = None, skip_bad: bool = False
) -> Input:
    """Read a chat from lines of bytes, such as standard input; `name` stands for it in errors. Else as `read_input`."""
    return _sorted_out(name, _chat(_parsed(lines)), check, skip_bad)


def json_lines(path: Path) -> Iterator[tuple[str, Any | Fault]]:
    """Each line that is not blank: its place ("line 7"), and the value it holds or the fault it has.

    Raises:
        InvalidInput: The file cannot be read at all.
    """
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
            yield from _parsed(lines)
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput(f"{path} cannot be read: {_reason(error)}") from error


def refuse(name: str, faults: Iterable[Fault], remedy: str) -> NoReturn:
    """Raise one error that names the first faults and counts the rest."""
    faults = list(faults)
    rest = f"; and {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else ""
    raise InvalidInput(f"{name}: {'; '.join(map(str, faults[:_SHOWN]))}{rest}. {remedy}")


def _sorted_out(
    name: str, found: Iterable[tuple[str, Item | Fault]], check: Check | None, skip_bad: bool
) -> Input:
    items, faults = [], []
    for where, item in found:
        if isinstance(item, dict) and check is not None:
            try:
                check(item)
            except InvalidInput as error:
                item = Fault(where, str(error))
        if isinstance(item, Fault):
            faults.append(item)
        else:
            items.append(item)
    if faults and not skip_bad:
        refuse(name, faults, "Nothing was stored; mend the input or leave out what is bad (--skip-bad)")
    if not items and not faults:
        raise InvalidInput(f"{name}: nothing to remember in it")
    return Input(tuple(items), tuple(faults))


def _parsed(lines: Iterable[bytes]) -> Iterator[tuple[str, Any | Fault]]:
    for number, raw in enumerate(lines, 1):
        where = f"line {number}"
        try:
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            if text:
                yield where, json.loads(text, parse_constant=_no_constant)
        except UnicodeDecodeError:
            yield where, Fault(where, "not UTF-8")
        except json.JSONDecodeError as error:
            yield where, Fault(where, f"not JSON ({error.msg}, column {error.colno})")
        except (ValueError, RecursionError):
            yield where, Fault(where, "not JSON (NaN, an infinity, or nested too deeply)")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _chat(lines: Iterable[tuple[str, Any | Fault]]) -> Iterator[tuple[str, Item | Fault]]:
    first_with: dict[str, str] = {}
    for where, value in lines:
        item = value if isinstance(value, Fault) else _turn(where, value)
        if isinstance(item, dict) and "id" in item:
            name = str(item["id"])
            if name in first_with:
                item = Fault(
                    where, f"its id is already used on {first_with[name]}, and would replace what is there"
                )
            else:
                first_with[name] = where
        yield where, item


def _turn(where: str, value: Any) -> Item | Fault:
    if not isinstance(value, Mapping):
        return Fault(where, f"a JSON {_kind(value)}, not an object")
    if not isinstance(value.get("text"), str) or not value["text"].strip():
        return Fault(
            where, 'has no "text"' if "text" not in value else '"text" is not a string that says something'
        )
    given = {name: field for name, field in value.items() if field is not None and field != ""}
    item: Item = {name: field for name, field in given.items() if name in _ARGUMENTS}
    rest = {name: field for name, field in given.items() if name not in _ARGUMENTS}
    if rest and isinstance(item.get("metadata", {}), Mapping):
        item["metadata"] = {**rest, **item.get("metadata", {})}
    item.setdefault("timestamp", None)
    return item


def _kind(value: Any) -> str:
    names = {bool: "boolean", str: "string", list: "array", type(None): "null"}
    return names.get(type(value), "number")


def _documents(folder: Path) -> Iterator[tuple[str, Item | Fault]]:
    faults: list[Fault] = []

    def unreadable(error: OSError) -> None:
        where = Path(error.filename or folder)
        faults.append(Fault(where.relative_to(folder).as_posix(), f"cannot be read: {_reason(error)}"))

    for parent, folders, files in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.lower().endswith(DOCUMENT_SUFFIXES) and not name.startswith("."):
                path = Path(parent, name)
                yield _document(path, path.relative_to(folder).as_posix())
    yield from ((fault.where, fault) for fault in faults)


def _document(path: Path, name: str) -> tuple[str, Item | Fault]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        return name, Fault(name, "not UTF-8")
    except OSError as error:
        return name, Fault(name, f"cannot be read: {_reason(error)}")
    if not text.strip():
        return name, Fault(name, "empty")
    return name, {"text": text, "source": name, "timestamp": None}


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
