"""In and out: JSON lines that hold everything a store knows of a scope, vectors apart.

The first line names the format. Then episodes, then memories, one a line, scopes relative to the one exported, so that
they can be read into another. Vectors belong to a model and are made anew on import.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hindsight_core.encode import index_text
from hindsight_core.engine import intake
from hindsight_core.engine.checks import check_episode, check_unit
from hindsight_core.engine.parts import Parts, check_models
from hindsight_core.engine.progress import track
from hindsight_core.errors import InvalidInput, StoreUnwritable
from hindsight_core.ports import Visibility
from hindsight_core.stores.codec import decode_episode, decode_unit, encode_episode, encode_unit
from hindsight_core.unit import Episode, MemoryUnit, Scope, Status

FORMAT = "hindsight-export"
VERSION = 1
_BATCH = 256
_DATABASE = b"SQLite format 3\x00"


def everything(scope: Scope) -> Visibility:
    """All there is below a scope: every status, unindexed and expired memories included."""
    return Visibility(
        scopes=(scope,), now=datetime.min.replace(tzinfo=UTC), statuses=frozenset(Status), unindexed=True
    )


def export(parts: Parts, scope: Scope, path: Path) -> int:
    """Write a scope and all below it; the file appears whole or not at all. Returns the number of memories."""
    path = Path(os.path.realpath(path))  # what a link points to is written, and the link stays
    if os.path.exists(path) and not os.path.isfile(path):
        raise InvalidInput(f"{path.name[:40]} is no file that can be replaced; export to a file of its own")
    _spare_stores(path)
    units = parts.store.find(everything(scope), newest_first=False)
    depth = len(scope)
    temporary = path.with_name(path.name + ".part")
    try:
        with temporary.open("w", encoding="utf-8") as out:
            out.write(json.dumps({"format": FORMAT, "version": VERSION}) + "\n")
            for below in parts.store.scopes(scope):
                for episode in parts.store.episodes(below):
                    line = {
                        "episode": json.loads(encode_episode(replace(episode, scope=episode.scope[depth:])))
                    }
                    out.write(json.dumps(line, ensure_ascii=False) + "\n")
            for unit in units:
                line = {"memory": json.loads(encode_unit(replace(unit, scope=unit.scope[depth:])))}
                out.write(json.dumps(line, ensure_ascii=False) + "\n")
        os.replace(temporary, path)
    except OSError as error:
        raise StoreUnwritable(f"cannot write the export {path.name[:40]}: {error.strerror}") from error
    finally:
        with suppress(OSError):  # gone when all went well
            temporary.unlink(missing_ok=True)
    return len(units)


def _spare_stores(path: Path) -> None:
    """Refuse to put an export in the place of a store, this one or another, or of its log."""
    names = (path, *(path.with_name(path.name.removesuffix(end)) for end in ("-wal", "-shm")))
    for named in names:
        with suppress(OSError), named.open("rb") as there:
            if there.read(len(_DATABASE)) == _DATABASE:
                raise InvalidInput(f"{path.name} belongs to a database; export to a file of its own")


def _read(path: Path, scope: Scope) -> tuple[list[Episode], list[MemoryUnit]]:
    episodes: list[Episode] = []
    units: list[MemoryUnit] = []
    for number, line in _lines(path):
        try:
            if "episode" in line:
                episode = decode_episode(json.dumps({"scope": [], **line["episode"]}))
                check_episode(episode)
                intake.asked_for(episode)
                episodes.append(replace(episode, scope=(*scope, *episode.scope)))
            else:
                unit = decode_unit(json.dumps({"scope": [], **line["memory"]}))
                check_unit(unit)
                units.append(replace(unit, scope=(*scope, *unit.scope), seq=0))
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise InvalidInput(f"line {number} of the export is damaged; nothing was imported") from error
    return episodes, units


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with path.open(encoding="utf-8") as source:
            for number, raw in enumerate(source, 1):
                line = json.loads(raw)
                if number > 1:
                    yield number, line
                elif line.get("format") != FORMAT:
                    raise InvalidInput(
                        f"{path.name} is not an export of Hindsight: its first line names no format"
                    )
                elif not isinstance(line.get("version"), int) or line["version"] > VERSION:
                    raise InvalidInput(f"{path.name} was written by a newer release; update hindsight-memory")
            if source.tell() == 0:
                raise InvalidInput(f"{path.name} is empty and no export of Hindsight")
    except FileNotFoundError as error:
        raise InvalidInput(f"there is no file {path.name[:40]}") from error
    except OSError as error:
        raise InvalidInput(f"{path.name[:40]} cannot be read: {error.strerror}") from error
    except (ValueError, AttributeError, RecursionError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"{path.name} is damaged or not an export; nothing was imported") from error


def import_(parts: Parts, scope: Scope, path: Path, now: datetime, progress: bool | None) -> int:
    """Read an export; the file is checked whole first, memories already there are left as they are."""
    episodes, units = _read(path, scope)
    batch = parts.new_id(now)
    with parts.store.write(actor="import", batch=batch, now=now) as tx:
        present = {
            (e.scope, e.id) for below in parts.store.scopes(scope) for e in parts.store.episodes(below)
        }
        for episode in episodes:
            if (episode.scope, episode.id) not in present:
                tx.put_episode(episode)
    added = 0
    links = {unit.key: unit.related_ids for unit in units}
    starts = range(0, len(units), _BATCH)
    for start in track(starts, total=len(units), step=_BATCH, label="importing", show=progress):
        part = units[start : start + _BATCH]
        there = parts.store.get([unit.key for unit in part])
        new = [unit for unit, old in zip(part, there, strict=True) if old is None]
        entries = intake.entries(parts, [index_text(unit.content, unit.source) for unit in new])
        with parts.store.write(actor="import", batch=batch, now=now) as tx:
            check_models(parts)
            for unit, entry in zip(new, entries, strict=True):
                if tx.get(unit.key) is None:
                    tx.put(replace(unit, related_ids=()), entry, reason="imported")
                    added += 1
    _relink(parts, links, batch, now)
    return added


def _relink(parts: Parts, links: dict[Any, Any], batch: str, now: datetime) -> None:
    """Links come last, when both ends are there."""
    with parts.store.write(actor="import", batch=batch, now=now) as tx:
        for key, wanted in links.items():
            unit = tx.get(key) if wanted else None
            if unit is None:
                continue
            have = {(link.id, link.kind) for link in unit.related_ids}
            new = [
                link
                for link in wanted
                if (link.id, link.kind) not in have and tx.get((key[0], link.id)) is not None
            ]
            if new:
                tx.put(replace(unit, related_ids=(*unit.related_ids, *new)), None, reason="links imported")
