"""`HindsightStore`: a memory as LangGraph's long-term store.

    graph = builder.compile(checkpointer=saver, store=HindsightStore(Hindsight.open("agent.db", scope="app")))

A namespace is a scope below the memory's, a key is a memory's id, a value its metadata; the words of the value are what
is searched, along all four paths. An item is exactly what was put: never split, never merged with another.

- `SearchItem.score` is the absolute relevance in 0..1; items come in the order of the memory's own ranking. As the
  interface promises, `limit` items come back however far off; `floor=` sets a least relevance.
- `index=False` (or no words at the indexed paths) keeps an item from being found by a query, and from being swept.
- An expired item is gone at once, for every way of reading. `sweep_ttl()` frees its place; there is no thread for it.
- Overwriting keeps `created_at`. Deleted items stay in the journal until its retention ends; `erase` is the engine's.
- A batch reads the state before it and writes in one transaction; of several puts of a key the last counts.
- Items that the engine itself remembered in a namespace read as {"content": text} with their metadata.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)

from hindsight_core import Hindsight, Hits, MemoryUnit
from hindsight_core.engine import opened
from hindsight_core.errors import InvalidInput
from hindsight_core.scope import covers
from hindsight_core.unit import Scope
from hindsight_langchain import _values
from hindsight_langchain._documents import narrowed, plain

VALUE, UPDATED, TTL = "value", "updated_at", "ttl_minutes"
_STALE = 0.01
"""A time to live is renewed on reading once this share of it has passed, so that reading twice writes once."""


class HindsightStore(BaseStore):
    """Items of LangGraph as memories.

    Args:
        memory: Where they are kept; namespaces lie below its scope.
        fields: Paths whose words are searched, such as ["content", "tags[*]"]; all words by default.
        ttl: LangGraph's time-to-live settings: default_ttl and refresh_on_read.
        floor: Least relevance of what a query finds; None for no floor.
        reinforce: Count what a query finds as used.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: Hindsight,
        *,
        fields: Sequence[str] | None = None,
        ttl: TTLConfig | None = None,
        floor: float | None = None,
        reinforce: bool = True,
    ) -> None:
        if isinstance(fields, str):
            raise InvalidInput("fields is a list of paths, not one string")
        self.memory = opened(memory)
        self.fields = tuple(fields) if fields is not None else (_values.WHOLE,)
        self.ttl_config = ttl
        self.floor = floor
        self.reinforce = reinforce

    def __repr__(self) -> str:
        return f"<HindsightStore on {self.memory!r}>"

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`, off the event loop."""
        return await asyncio.to_thread(self.batch, list(ops))

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations: all reads first, then all writes in one transaction."""
        given = list(ops)
        for op in given:
            _check(op)
        gets = {i: self._key(op.namespace, op.key) for i, op in enumerate(given) if isinstance(op, GetOp)}
        found = dict(zip(gets, self.memory.parts.store.get(list(gets.values())), strict=True))
        results = [self._read(op, found.get(i)) for i, op in enumerate(given)]
        self._write({(op.namespace, op.key): op for op in given if isinstance(op, PutOp)})
        return results

    def sweep_ttl(self) -> int:
        """Free the place of expired items; returns how many there were."""
        return self.memory.expire()

    # -- reading -------------------------------------------------------------------------------------------------

    def _read(self, op: Op, unit: MemoryUnit | None) -> Result:
        match op:
            case GetOp():
                if unit is None or self._expired(unit):
                    return None
                self._renew([unit], op.refresh_ttl)
                return Item(**self._fields(unit))
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._namespaces(op)
        return None

    def _search(self, op: SearchOp) -> list[SearchItem]:
        if op.limit < 0 or op.offset < 0:
            raise InvalidInput("limit and offset must not be negative")
        wanted = op.filter or {}
        for test in wanted.values():  # said even when there is nothing to compare
            _values.meets({}, {"": test})
        handle = narrowed(self.memory, *op.namespace_prefix)
        where = _values.necessary(wanted, f"metadata.{VALUE}")
        if op.query:
            hits = self._ranked(handle, op, wanted, where)
            if self.reinforce:
                handle.use(hits)
            scored: list[tuple[MemoryUnit, float | None]] = [(hit.unit, hit.relevance) for hit in hits]
        else:
            units = [unit for unit in handle.find(where=where) if _values.meets(_value(unit), wanted)]
            scored = [(unit, None) for unit in units[op.offset : op.offset + op.limit]]
        self._renew([unit for unit, _ in scored], op.refresh_ttl)
        return [SearchItem(**self._fields(unit), score=score) for unit, score in scored]

    def _ranked(
        self, handle: Hindsight, op: SearchOp, wanted: Mapping[str, Any], where: dict[str, Any] | None
    ) -> Hits:
        """The page of hits that was asked for; what the engine could not check may make it ask for more."""
        need = k = op.offset + op.limit
        while True:
            hits = handle.recall(op.query or "", k=k, where=where, floor=self.floor, fill=self.floor is None)
            fitting = hits.only(lambda hit: _values.meets(_value(hit.unit), wanted))
            if len(fitting) >= need or len(hits) < k:
                return fitting[op.offset : need]
            k *= 4

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        depth = len(self.memory.scope)
        below = {scope[depth:] for scope in self.memory.scopes() if covers(self.memory.scope, scope)} - {()}
        conditions = op.match_conditions or ()
        found = {space[: op.max_depth] for space in below if all(_matches(c, space) for c in conditions)}
        return sorted(found)[op.offset : op.offset + op.limit]

    def _fields(self, unit: MemoryUnit) -> dict[str, Any]:
        told = unit.metadata.get(UPDATED) if VALUE in unit.metadata else None
        return {
            "namespace": unit.scope[len(self.memory.scope) :],
            "key": unit.id,
            "value": plain(_value(unit)),
            "created_at": unit.recorded_at,
            "updated_at": datetime.fromisoformat(told) if isinstance(told, str) else unit.recorded_at,
        }

    def _expired(self, unit: MemoryUnit) -> bool:
        return unit.expires_at is not None and unit.expires_at <= self._now()

    def _renew(self, units: Sequence[MemoryUnit], wanted: bool) -> None:
        """Let read items live on for their full time."""
        for unit in units if wanted else ():
            minutes = unit.metadata.get(TTL)
            if unit.expires_at is None or not isinstance(minutes, int | float):
                continue
            until = self._now() + timedelta(minutes=minutes)
            if until - unit.expires_at >= timedelta(minutes=minutes * _STALE):
                narrowed(self.memory, *unit.scope[len(self.memory.scope) :]).update(unit.id, expires_at=until)

    # -- writing -------------------------------------------------------------------------------------------------

    def _write(self, puts: Mapping[tuple[tuple[str, ...], str], PutOp]) -> None:
        if not puts:
            return
        now = self._now()
        self.memory.keep(
            [self._record(op, now) for op in puts.values() if op.value is not None],
            drop=[self._key(op.namespace, op.key) for op in puts.values() if op.value is None],
        )

    def _record(self, op: PutOp, now: datetime) -> dict[str, Any]:
        value = dict(op.value or {})
        paths: Sequence[str] = () if op.index is False else self.fields if op.index is None else op.index
        text = _values.text_at(value, paths)
        about: dict[str, Any] = {VALUE: value, UPDATED: now.isoformat()}
        if op.ttl is not None:
            about[TTL] = op.ttl
        return {
            "text": text or _values.as_json(value),
            "id": op.key,
            "scope": self._key(op.namespace, op.key)[0],
            "metadata": about,
            "timestamp": now,
            "expires_at": None if op.ttl is None else _after(now, op.ttl),
            "indexed": bool(text),
            "pinned": not text,
        }

    def _key(self, namespace: tuple[str, ...], key: str) -> tuple[Scope, str]:
        return (*self.memory.scope, *namespace), str(key)

    def _now(self) -> datetime:
        return self.memory.parts.clock.now()


def _after(now: datetime, minutes: float) -> datetime | None:
    """When a time to live ends; None beyond the end of the calendar."""
    try:
        return now + timedelta(minutes=minutes)
    except OverflowError:
        return None
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"ttl is a number of minutes, not {minutes!r}") from error


def _value(unit: MemoryUnit) -> Mapping[str, Any]:
    value = unit.metadata.get(VALUE)
    if isinstance(value, Mapping):
        return value
    return {"content": unit.content, **unit.metadata}


def _check(op: Op) -> None:
    """Namespaces are checked here as well, since a batch may come from elsewhere than the store's own methods."""
    match op:
        case GetOp():
            namespace: Sequence[str] = op.namespace
        case PutOp():
            namespace = op.namespace
            if not namespace:
                raise InvalidNamespaceError("a namespace cannot be empty")
        case SearchOp():
            namespace = op.namespace_prefix
        case ListNamespacesOp():
            namespace = [label for condition in op.match_conditions or () for label in condition.path]
        case _:
            raise InvalidInput(f"unknown operation {type(op).__name__}")
    for label in namespace:
        if not isinstance(label, str) or not label.strip() or "." in label or "\x00" in label:
            raise InvalidNamespaceError(
                f"the label {label!r} must be a string that is not blank, without periods and NUL characters"
            )


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    """Whether a namespace begins or ends with a path, in which * stands for any label."""
    if condition.match_type not in ("prefix", "suffix"):
        raise InvalidInput(f"namespaces match by prefix or suffix, not by {condition.match_type!r}")
    size = len(condition.path)
    if len(namespace) < size:
        return False
    part = namespace[:size] if condition.match_type == "prefix" else namespace[len(namespace) - size :]
    return all(wanted in ("*", label) for wanted, label in zip(condition.path, part, strict=True))
