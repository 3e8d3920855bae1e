"""The direct way in, for key-value and vector interfaces: what is kept under a key is one memory, exactly as given.

Nothing is split, merged or compared, and no episode is written: the caller's record is the memory, and keeping the
key again replaces it. Vectors may come with the items, so that a collection can be taken over without embedding it anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from hindsight_core.encode import index_text
from hindsight_core.engine import intake
from hindsight_core.engine.checks import listed, shown
from hindsight_core.engine.items import Item, clean, make_item
from hindsight_core.engine.keywords import packed_terms
from hindsight_core.engine.lifecycle import reinstate
from hindsight_core.engine.parts import Parts, check_models
from hindsight_core.engine.transfer import everything
from hindsight_core.errors import InvalidInput
from hindsight_core.ports import Extraction, Floats, IndexEntry, Told, Transaction
from hindsight_core.scope import covers, parse_scope
from hindsight_core.unit import Key, MemoryUnit, Scope, Status, Units


@dataclass(frozen=True, slots=True)
class Record:
    """One item to keep, with its address and, where it came with one, its vector."""

    item: Item
    scope: Scope
    vector: Floats | None

    @property
    def key(self) -> Key:
        """Where it is kept."""
        return (self.scope, self.item.id or "")


def records(
    parts: Parts,
    items: Iterable[Mapping[str, Any]],
    vectors: Sequence[Any] | None,
    own: Scope,
    now: datetime,
) -> list[Record]:
    """Items checked; the last one under a key is the one that counts.

    Raises:
        InvalidInput: Naming the position of the first bad item.
    """
    given = listed(items, "items")
    vectors = None if vectors is None else listed(vectors, "vectors")
    if vectors is not None and len(vectors) != len(given):
        raise InvalidInput(f"{len(vectors)} vectors were given for {len(given)} items")
    found: dict[Key, Record] = {}
    for position, fields in enumerate(given):
        try:
            fields = dict(fields) if isinstance(fields, Mapping) else fields
            scope = below(own, fields.pop("scope", None) if isinstance(fields, dict) else None)
            item = make_item(fields, now)
            if item.id is None:
                raise InvalidInput("an item to keep needs an id")
            vector = None if vectors is None else fitting(parts, vectors[position])
        except InvalidInput as error:
            raise InvalidInput(f"item {position}: {error}") from error
        record = Record(intake.redacted(item, parts.profile), scope, vector)
        found[record.key] = record
    return list(found.values())


def below(own: Scope, scope: Iterable[str] | str | None) -> Scope:
    """A scope at or below the written one."""
    if scope is None:
        return own
    wanted = parse_scope(scope)
    if not covers(own, wanted):
        raise InvalidInput("an item's scope must be the written scope or lie below it")
    return wanted


def fitting(parts: Parts, vector: Any) -> Floats | None:
    """A vector as the store keeps it: float32 of the embedder's dimension, length 1."""
    if vector is None:
        return None
    if parts.embedder is None:
        raise InvalidInput(
            "there is no embedder, so vectors cannot be used; open the memory with the one that made them"
        )
    try:
        row = np.asarray(vector, dtype=np.float32)
    except (TypeError, ValueError):
        row = np.empty(0, dtype=np.float32)
    norm = float(np.linalg.norm(row)) if row.ndim == 1 else 0.0
    if row.shape != (parts.embedder.dimension,) or not np.isfinite(norm) or norm == 0.0:
        raise InvalidInput(f"a vector must be {parts.embedder.dimension} finite numbers that are not all 0")
    return np.asarray(row / norm, dtype=np.float32)


def keep(
    parts: Parts, kept: Sequence[Record], dropped: Sequence[Key], now: datetime, *, batch: str
) -> list[MemoryUnit]:
    """Keep and drop in one transaction; dropping what is not there is fine."""
    there = parts.store.get([record.key for record in kept])
    fresh = [not _same_text(old, record, now) for record, old in zip(kept, there, strict=True)]
    read = [record for record, new in zip(kept, fresh, strict=True) if new]
    found = dict(zip((r.key for r in read), _extracted(parts, [r.item for r in read]), strict=True))
    ready = _entries(parts, [r for r, new in zip(kept, fresh, strict=True) if new and r.item.indexed])
    with parts.store.write(actor="user", batch=batch, now=now) as tx:
        if ready:
            check_models(parts)
        for scope, id in dict.fromkeys((scope, clean(id)) for scope, id in dropped):
            unit = tx.get((scope, id))
            if unit is not None:
                reinstate(tx, unit)
                tx.remove(unit.key, reason="forgotten")
        return [_put(parts, tx, record, found, ready, now) for record in kept]


def _alive(unit: MemoryUnit | None, now: datetime) -> bool:
    return unit is not None and (unit.expires_at is None or unit.expires_at > now)


def _same_text(old: MemoryUnit | None, record: Record, now: datetime) -> bool:
    """Whether what is stored says the same, so that it need not be read and embedded again."""
    item = record.item
    return (
        old is not None
        and _alive(old, now)
        and record.vector is None
        and old.content == item.text
        and old.indexed == item.indexed
        and index_text("", old.source) == index_text("", item.source)
    )


def _extracted(parts: Parts, items: Sequence[Item]) -> list[Extraction]:
    """What each item is about; one that no search finds is read by the rules."""
    asked = [
        (item.text, intake.context_of(parts, Told(item.text, item.source.speaker, item.timestamp)))
        for item in items
    ]
    searched = intake.extracted(parts, [one for one, item in zip(asked, items, strict=True) if item.indexed])
    found = iter(searched)
    return [
        next(found)[0] if item.indexed else parts.fallback.extract(text, context)
        for item, (text, context) in zip(items, asked, strict=True)
    ]


def _entries(parts: Parts, new: Sequence[Record]) -> dict[Key, IndexEntry]:
    bare = [record for record in new if record.vector is None]
    texts = [index_text(record.item.text, record.item.source) for record in bare]
    made = dict(zip((r.key for r in bare), intake.entries(parts, texts), strict=True))
    given = [record for record in new if record.vector is not None]
    packed = packed_terms(parts.keywords, [index_text(r.item.text, r.item.source) for r in given])
    for record, held in zip(given, packed, strict=True):
        made[record.key] = IndexEntry(vector=record.vector, terms=held)
    return made


def _put(
    parts: Parts,
    tx: Transaction,
    record: Record,
    found: dict[Key, Extraction],
    ready: dict[Key, IndexEntry],
    now: datetime,
) -> MemoryUnit:
    item, key = record.item, record.key
    old = tx.get(key)
    same = _same_text(old, record, now)
    if not same and key not in found:  # changed by another writer meanwhile
        (found[key],) = _extracted(parts, [item])
        ready |= _entries(parts, [record] if item.indexed else [])
    new = _unit(record, found.get(key), now)
    if old is not None and _alive(old, now):
        new = _over(old, new, item, same=same, now=now)
    return tx.put(new, None if same else ready.get(key), reason="kept")


def _unit(record: Record, found: Extraction | None, now: datetime) -> MemoryUnit:
    item = record.item
    importance = item.importance if item.importance is not None else found.importance if found else 0.5
    unit = MemoryUnit(
        scope=record.scope,
        id=record.key[1],
        content=item.text,
        timestamp=item.timestamp,
        valid_from=item.timestamp,
        recorded_at=now,
        expires_at=item.expires_at,
        pinned=item.pinned,
        indexed=item.indexed,
        importance=importance,
        weight=importance,
        weight_at=now,
        source=item.source,
        caller_id=True,
        metadata=item.metadata,
    )
    if found is None:
        return unit
    return replace(
        unit,
        summary=found.summary,
        entities=found.entities,
        memory_type=item.memory_type or found.memory_type,
    )


def _over(old: MemoryUnit, new: MemoryUnit, item: Item, *, same: bool, now: datetime) -> MemoryUnit:
    """The new record in the place of the old: all that was given is new, what the memory lived through stays."""
    undated = same and not item.dated
    awake = old.status is Status.ACTIVE
    return replace(
        new,
        summary=old.summary if same else new.summary,
        entities=old.entities if same else new.entities,
        memory_type=item.memory_type or (old.memory_type if same else new.memory_type),
        timestamp=old.timestamp if undated else new.timestamp,
        valid_from=old.valid_from if undated else new.valid_from,
        recorded_at=old.recorded_at,
        last_access=old.last_access,
        access_count=old.access_count,
        importance=old.importance if item.importance is None else new.importance,
        weight=old.weight if awake else new.importance,
        weight_at=old.weight_at if awake else now,
        related_ids=old.related_ids,
        occurrences=old.occurrences if same else (),
    )


def keys(own: Scope, dropped: Iterable[str | tuple[Iterable[str], str]]) -> list[Key]:
    """Keys from ids of the written scope and (scope, id) pairs."""
    found: list[Key] = []
    for one in listed(dropped, "drop"):
        match one:
            case str():
                found.append((own, one))
            case (scope, str() as id):
                found.append((below(own, scope), id))
            case _:
                raise InvalidInput(f"what to drop is an id or a (scope, id) pair, not {shown(one)}")
    return found


def expire(parts: Parts, scope: Scope, now: datetime) -> int:
    """Forget what has expired."""
    moment = now.timestamp()
    vitals = parts.store.vitals(everything(scope))
    gone = [v.key for v in vitals if v.expires_at is not None and v.expires_at <= moment]
    if gone:
        keep(parts, [], gone, now, batch=parts.new_id(now))
    return len(gone)


def forget_session(parts: Parts, scope: Scope, session: str, now: datetime) -> Units:
    """Forget what came from one session only, and take its episodes out of it."""
    gone = Units()
    with parts.store.write(actor="user", batch=parts.new_id(now), now=now) as tx:
        for episode in parts.store.episodes(scope, session=session):
            for unit in tx.units_of(scope, episode.id):
                sources = [unit.source, *(occurrence.source for occurrence in unit.occurrences)]
                if all(source.session == session for source in sources):
                    reinstate(tx, unit)
                    tx.remove(unit.key, reason="its session was cleared")
                    gone.append(unit)
            tx.put_episode(replace(episode, source=replace(episode.source, session=None)))
    return gone
