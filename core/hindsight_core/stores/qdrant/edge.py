"""Qdrant Edge: the engine inside this process, in a folder, without a server.

What it is good at it does: acknowledged writes are in its write-ahead log and survive the end of the process, and with
`durability="full"` (a flush at each commit) a power cut as well. Its limits are handled here:

- One opener. A second one, in this process or another, is refused with an error that names the folder.
- No fork. A child that inherited the engine would hang; it gets an error instead.
- It holds Python's lock during a call, and its writers are not made for threads: one lock, one call at a time.
- It grows. Changed points leave dead ones behind until `optimize`, which blocks for seconds to minutes, so that it
  runs only when asked for; `faults` says when that is due.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar
from weakref import WeakSet

from hindsight_core.errors import MissingExtra, NotAStore, StoreBusy, StoreClosed, StoreError, StoreUnwritable
from hindsight_core.stores.qdrant.points import (
    DENSE,
    EVENTS,
    NAMES,
    SIDE,
    UNITS,
    WORDS,
    Condition,
    Payload,
    Point,
    PointId,
    Query,
    Sparse,
    id_of,
    named,
)
from hindsight_core.stores.qdrant.schema import FEW_INDEXES, INDEXES, TENANT

try:
    import qdrant_edge as edge
except ImportError as missing:  # pragma: no cover - the extra is among the development tools
    raise MissingExtra("Qdrant Edge", "qdrant") from missing

T = TypeVar("T")
MARK = "hindsight.json"
_PAGE = 1000
_MANY_SEGMENTS = 24


_OPEN: WeakSet[EdgePoints] = WeakSet()


def _in_child() -> None:
    """What a forked child inherits of the engine has no threads and would crash when it is taken down: it is let stand."""
    for points in _OPEN:
        for shard in points.shards():
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(shard))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


class EdgePoints:
    """See `points.Points`.

    Args:
        folder: Made when it is not there; its parent is not.
        durability: "full" or "normal".
    """

    shared = False

    def __init__(self, folder: Path, *, durability: str) -> None:
        self.place = str(folder)
        self._folder = folder
        self._durable = durability == "full"
        self._pid = os.getpid()
        self._lock = RLock()
        self._shards: dict[str, Any] = {}
        self._dimension: int | None = None
        _OPEN.add(self)
        self._mark()
        try:
            for name in (EVENTS, SIDE):
                self._open(name)
        except BaseException:
            self.close()
            raise

    def _mark(self) -> None:
        mark = self._folder / MARK
        try:
            self._folder.mkdir(exist_ok=True)
            if not mark.exists():
                if any(self._folder.iterdir()):
                    raise NotAStore(f"{self.place} holds something else; name an empty or a new folder")
                mark.write_text(json.dumps({"format": 1}), encoding="utf-8")
        except OSError as error:
            raise StoreUnwritable(f"{self.place}: the folder cannot be used ({error.strerror})") from error

    def _open(self, name: str) -> Any:
        if name not in self._shards:
            path = self._folder / name
            made = path.exists() and any(path.iterdir())
            try:
                if made:
                    self._shards[name] = edge.EdgeShard.load(str(path))
                else:
                    path.mkdir(exist_ok=True)
                    self._shards[name] = edge.EdgeShard.create(str(path), self._config(name))
            except Exception as error:  # the engine raises nothing more specific
                raise self._ours(error) from error
            if not made:
                self._index(name)
        return self._shards[name]

    def _config(self, name: str) -> Any:
        dimension = int(name.partition("_")[2] or 0) if name.startswith(UNITS) else 0
        vectors = (
            {DENSE: edge.EdgeVectorParams(size=dimension, distance=edge.Distance.Dot)} if dimension else None
        )
        sparse = {key: edge.EdgeSparseVectorParams() for key in (WORDS, NAMES)}
        return edge.EdgeConfig(vectors=vectors, sparse_vectors=sparse, wal_enabled=True)

    def _index(self, name: str) -> None:
        kinds = {
            "keyword": edge.PayloadSchemaType.Keyword,
            "integer": edge.PayloadSchemaType.Integer,
            "float": edge.PayloadSchemaType.Float,
        }
        known = {**INDEXES[name.partition("_")[0]], TENANT: "keyword"}
        for key in FEW_INDEXES[name.partition("_")[0]]:
            self._shards[name].update(edge.UpdateOperation.create_field_index(key, kinds[known[key]]))

    def _ours(self, error: Exception) -> StoreError:
        text = str(error)
        if "WouldBlock" in text:
            return StoreBusy(
                f"{self.place}: it is open already, here or in another process, and Qdrant Edge has one opener at a time;"
                " close the other one, or run a Qdrant server for several"
            )
        return StoreError(f"{self.place}: Qdrant Edge failed; see the cause")

    def _ask(self, name: str, request: Callable[[Any], T]) -> T:
        if os.getpid() != self._pid:
            raise StoreError(
                f"{self.place}: a forked child cannot use its parent's Qdrant Edge; start children before opening it"
            )
        with self._lock:
            if not self._shards:
                raise StoreClosed(f"{self.place}: the store was closed; open it again")
            try:
                return request(self._open(self._of(name)))
            except StoreError:
                raise
            except Exception as error:  # the engine raises nothing more specific
                raise self._ours(error) from error

    # -- collections -----------------------------------------------------------------------------------------

    def _of(self, name: str) -> str:
        return f"{UNITS}_{self._dimension or 0}" if name == UNITS else name

    def has_units(self, dimension: int | None) -> bool:
        """Whether the units' shard of a dimension is there."""
        return (self._folder / f"{UNITS}_{dimension or 0}").exists()

    def use_units(self, dimension: int | None) -> None:
        """Which units' shard `UNITS` means from now on."""
        self._dimension = dimension

    def prepare(self) -> None:
        """Done when it was opened."""

    def prepare_units(self, dimension: int | None) -> None:
        """Make the units' shard of a dimension, when it is missing."""
        with self._lock:
            self._open(f"{UNITS}_{dimension or 0}")

    def drop_units(self, dimension: int | None) -> None:
        """Delete the units' shard of a dimension."""
        name = f"{UNITS}_{dimension or 0}"
        with self._lock:
            shard = self._shards.pop(name, None)
            if shard is not None:
                shard.close()
            shutil.rmtree(self._folder / name, ignore_errors=True)

    # -- points ----------------------------------------------------------------------------------------------

    def upsert(self, name: str, points: Sequence[Point], *, only_if: Condition | None = None) -> None:
        """Write points whole."""
        made = [edge.Point(p.id, named(p, self._dimension, _sparse), p.payload) for p in points]
        condition = None if only_if is None else _filter(only_if)
        self._ask(name, lambda shard: shard.update(edge.UpdateOperation.upsert_points(made, condition)))

    def delete(self, name: str, ids: Sequence[PointId]) -> None:
        """Delete points."""
        self._ask(name, lambda shard: shard.update(edge.UpdateOperation.delete_points(list(ids))))

    def retrieve(
        self, name: str, ids: Sequence[PointId], fields: Sequence[str] | None = None
    ) -> dict[PointId, Payload]:
        """Payloads by id."""
        wanted = True if fields is None else list(fields)
        records = self._ask(name, lambda shard: shard.retrieve(list(ids), wanted, False))
        return {id_of(record.id): record.payload or {} for record in records}

    def scroll(
        self, name: str, where: Condition, fields: Sequence[str] | None = None, *, after: int | None = None
    ) -> Iterator[tuple[PointId, Payload]]:
        """Every point that matches, in order of ids."""
        condition = _filter(where)
        wanted = True if fields is None else list(fields)
        offset: Any = None if after is None else after + 1
        while True:
            request = edge.ScrollRequest(
                offset=offset, limit=_PAGE, filter=condition, with_payload=wanted, with_vector=False
            )
            records, offset = self._ask(name, lambda shard, request=request: shard.scroll(request))  # type: ignore[misc]
            yield from ((id_of(record.id), record.payload or {}) for record in records)
            if offset is None:
                return

    def query(self, queries: Sequence[Query], fields: Sequence[str]) -> list[list[tuple[PointId, Payload]]]:
        """Several searches of the units as one batch."""
        requests = edge.QueryBatchRequest([_request(query, list(fields)) for query in queries])
        answers = self._ask(UNITS, lambda shard: shard.query_batch(requests))
        return [[(id_of(point.id), point.payload or {}) for point in answer] for answer in answers]

    def count(self, name: str, where: Condition) -> int:
        """How many points match."""
        request = edge.CountRequest(exact=True, filter=_filter(where))
        return int(self._ask(name, lambda shard: shard.count(request)))

    def distinct(self, name: str, key: str, where: Condition) -> list[str]:
        """The values of a keyword field."""
        request = edge.FacetRequest(key, limit=1_000_000, exact=True, filter=_filter(where))
        hits = self._ask(name, lambda shard: shard.facet(request)).hits
        return [str(hit.value._0 if hasattr(hit.value, "_0") else hit.value) for hit in hits]

    # -- the rest --------------------------------------------------------------------------------------------

    def stored_bytes(self) -> int:
        """Bytes of all files."""
        return sum(_bytes(path) for path in self._folder.rglob("*") if path.is_file())

    def sync(self) -> None:
        """Flush every shard, with `durability="full"`."""
        if self._durable:
            self._each(lambda shard: shard.flush())

    def optimize(self) -> None:
        """Merge segments and build indexes; blocks everything for seconds to minutes."""
        self._each(lambda shard: shard.optimize())

    def _each(self, request: Callable[[Any], object]) -> None:
        for name in list(self._shards):
            with self._lock:
                request(self._shards[name])

    def faults(self) -> list[tuple[str, str]]:
        """Growth that an `optimize` would take back."""
        segments = self._ask(UNITS, lambda shard: shard.info()).segments_count
        if segments > _MANY_SEGMENTS:
            return [(f"{segments} segments slow searches down", "call optimize() while nobody waits")]
        return []

    def shards(self) -> list[Any]:
        """The engine's objects."""
        return list(self._shards.values())

    def close(self) -> None:
        """Flush and let go; a forked child lets go without touching what is its parent's."""
        with self._lock:
            shards, self._shards = list(self._shards.values()), {}
            if os.getpid() == self._pid:
                for shard in shards:
                    shard.close()


def _bytes(path: Path) -> int:
    """What a file takes up; the engine's are mostly holes, which take nothing where that can be told."""
    found = path.stat()
    return getattr(found, "st_blocks", found.st_size // 512 + 1) * 512


def _sparse(one: Sparse) -> Any:
    return edge.SparseVector(one.indices, one.values)


def _request(query: Query, fields: list[str]) -> Any:
    wanted: Any = None
    if isinstance(query.vector, Sparse):
        sparse = _sparse(query.vector)
        wanted = edge.Query.Nearest(sparse, using=query.using)
    elif query.vector is not None:
        wanted = edge.Query.Nearest(query.vector.tolist(), using=query.using)
    elif query.by is not None:
        wanted = edge.OrderBy(query.by, edge.Direction.Desc)
    return edge.QueryRequest(
        limit=query.limit, query=wanted, filter=_filter(query.where), with_payload=fields
    )


def _filter(where: Condition) -> Any:
    if not {"must", "should", "must_not"} & set(where):
        return edge.Filter(must=[_condition(where)])
    parts: dict[str, Any] = {
        key: [_condition(part) for part in where[key]]
        for key in ("must", "should", "must_not")
        if where.get(key)
    }
    return edge.Filter(**parts)


def _condition(where: Mapping[str, Any]) -> Any:
    if "is_empty" in where:
        return edge.IsEmptyCondition(where["is_empty"]["key"])
    if "has_id" in where:
        return edge.HasIdCondition(set(where["has_id"]))
    if "key" not in where:
        return _filter(where)
    if "range" in where:
        return edge.FieldCondition(where["key"], range=edge.RangeFloat(**where["range"]))
    match = where["match"]
    if "value" in match:
        return edge.FieldCondition(where["key"], match=edge.MatchValue(match["value"]))
    return edge.FieldCondition(where["key"], match=edge.MatchAny(match["any"]))
