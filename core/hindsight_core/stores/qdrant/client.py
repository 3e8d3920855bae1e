"""Qdrant by `qdrant-client`: a server or cluster by URL, or the client's memory mode.

Requests go out in batches and are tried again, with growing pauses, when the server was busy, restarting or out of reach
(429, 5xx, a lost connection, a timeout). That is safe, since every write says what a point is, never how it changes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from threading import RLock
from typing import Any, TypeVar

from hindsight_core.errors import InvalidInput, MissingExtra, StoreBusy, StoreError, StoreUnwritable
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
from hindsight_core.stores.qdrant.schema import INDEXES, TENANT

try:
    import httpx
    from qdrant_client import QdrantClient, models
    from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse
except ImportError as missing:  # pragma: no cover - the extra is among the development tools
    raise MissingExtra("Qdrant", "qdrant") from missing

T = TypeVar("T")
BATCH = 128
PAGE = 1000
MEMORY = ":memory:"
_PAUSE, _LONGEST = 0.1, 5.0
_OLDEST = (1, 16)


class ClientPoints:
    """See `points.Points`.

    Args:
        client: Connected.
        name: First part of the collections' names.
        place: For messages.
        shared: Whether it is a server.
        settings: Passed on to every `create_collection`: shard_number, replication_factor, write_consistency_factor,
            on_disk_payload, hnsw_config, optimizers_config, quantization_config, sharding_method, ...
        attempts: How often a request is tried.
    """

    def __init__(
        self,
        client: QdrantClient,
        name: str,
        *,
        place: str,
        shared: bool,
        settings: Mapping[str, Any],
        attempts: int = 5,
    ) -> None:
        self.place = place
        self.shared = shared
        self._client = client
        self._name = name
        self._settings = dict(settings)
        self._attempts = attempts
        self._dimension: int | None = None
        self._lock = RLock()  # the memory mode is not made for threads; a server needs no lock

    @classmethod
    def connect(
        cls, url: str, name: str, *, api_key: str | None, timeout: float, settings: Mapping[str, Any]
    ) -> ClientPoints:
        """A server by URL, or ":memory:"."""
        if url == MEMORY:
            client = QdrantClient(MEMORY)
        else:
            client = QdrantClient(
                url=url, api_key=api_key, timeout=max(1, round(timeout)), check_compatibility=False
            )
        points = cls(client, name, place=url, shared=url != MEMORY, settings=settings)
        if points.shared:
            points.check_release()
        return points

    def check_release(self) -> None:
        """Refuse a server that does not know conditional updates: writers could not take turns.

        Raises:
            StoreError: It is too old.
        """
        found = self._ask(self._client.info).version
        if tuple(int(part) for part in found.split("-")[0].split(".")[:2]) < _OLDEST:
            oldest = ".".join(map(str, _OLDEST))
            raise StoreError(
                f"{self.place}: the server is release {found}; Hindsight needs {oldest} or newer"
            )

    # -- asking ----------------------------------------------------------------------------------------------

    def _ask(self, request: Callable[[], T]) -> T:
        pause = _PAUSE
        for attempt in range(1, self._attempts + 1):
            wait = pause
            try:
                if self.shared:
                    return request()
                with self._lock:
                    return request()
            except ResourceExhaustedResponse as error:
                failed: Exception = error
                wait = max(wait, min(float(error.retry_after_s or 0), _LONGEST))
            except UnexpectedResponse as error:
                if error.status_code is None or (error.status_code < 500 and error.status_code != 429):
                    raise self._ours(error) from error
                failed = error
            except (ResponseHandlingException, httpx.TransportError) as error:
                failed = error
            if attempt == self._attempts:
                raise self._gave_up(failed) from failed
            time.sleep(wait)
            pause = min(2 * pause, _LONGEST)
        raise AssertionError("unreachable")

    def _gave_up(self, error: Exception) -> StoreError:
        code = getattr(error, "status_code", None)
        if isinstance(error, ResourceExhaustedResponse) or code == 429:
            return StoreBusy(f"{self.place}: the server refuses further requests for now; try again later")
        what = f"answered {code}" if code else "could not be reached"
        return StoreError(f"{self.place}: the server {what}, {self._attempts} times in a row; see its log")

    def _ours(self, error: UnexpectedResponse) -> StoreError | InvalidInput:
        if error.status_code in (401, 403):
            return StoreUnwritable(f"{self.place}: the server refuses this key; check api_key and its rights")
        if error.status_code == 404:
            return StoreError(
                f"{self.place}: a collection of {self._name!r} is missing; open the store again"
            )
        if error.status_code == 413:
            return InvalidInput("a memory is larger than the server takes (service.max_request_size_mb)")
        return StoreError(f"{self.place}: the server refused a request ({error.status_code})")

    # -- collections -----------------------------------------------------------------------------------------

    def _collection(self, name: str, dimension: int | None) -> str:
        return f"{self._name}_{name}_{dimension or 0}" if name == UNITS else f"{self._name}_{name}"

    def _of(self, name: str) -> str:
        return self._collection(name, self._dimension)

    def has_units(self, dimension: int | None) -> bool:
        """Whether the units' collection of a dimension is there."""
        return self._ask(lambda: self._client.collection_exists(self._collection(UNITS, dimension)))

    def use_units(self, dimension: int | None) -> None:
        """Which units' collection `UNITS` means from now on."""
        self._dimension = dimension

    def prepare(self) -> None:
        """Make the collections that are missing, but for the units'."""
        for name in (SIDE, EVENTS):
            self._make(
                name, self._collection(name, None), vectors={}, sparse=None, settings=_plain(self._settings)
            )

    def prepare_units(self, dimension: int | None) -> None:
        """Make the units' collection of a dimension, when it is missing."""
        # Unit vectors: the dot product is the cosine, and what is stored is what was given.
        dense = models.VectorParams(size=dimension, distance=models.Distance.DOT) if dimension else None
        self._make(
            UNITS,
            self._collection(UNITS, dimension),
            vectors={} if dense is None else {DENSE: dense},
            sparse={WORDS: models.SparseVectorParams(), NAMES: models.SparseVectorParams()},
            settings=self._settings,
        )

    def _make(self, name: str, collection: str, *, vectors: Any, sparse: Any, settings: Any) -> None:
        def there() -> bool:
            return self._ask(lambda: self._client.collection_exists(collection))

        if there():
            return
        try:
            self._ask(
                lambda: self._client.create_collection(
                    collection, vectors_config=vectors, sparse_vectors_config=sparse, **settings
                )
            )
        except StoreError:  # another process may have been faster
            if not there():
                raise
        self._index(name, collection)

    def _index(self, name: str, collection: str) -> None:
        if not self.shared:
            return
        wanted: dict[str, Any] = dict(INDEXES[name])
        wanted[TENANT] = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
        for key, kind in wanted.items():
            self._ask(partial(self._client.create_payload_index, collection, key, kind, wait=True))

    def drop_units(self, dimension: int | None) -> None:
        """Delete the units' collection of a dimension."""
        self._ask(lambda: self._client.delete_collection(self._collection(UNITS, dimension)))

    # -- points ----------------------------------------------------------------------------------------------

    def upsert(self, name: str, points: Sequence[Point], *, only_if: Condition | None = None) -> None:
        """Write points whole."""
        condition = None if only_if is None else models.Filter(**only_if)
        for part in _parts(points):
            made = [
                models.PointStruct(id=p.id, payload=p.payload, vector=named(p, self._dimension, _sparse))
                for p in part
            ]
            self._ask(partial(self._client.upsert, self._of(name), made, wait=True, update_filter=condition))

    def delete(self, name: str, ids: Sequence[PointId]) -> None:
        """Delete points."""
        for part in _parts(ids, PAGE):
            gone = models.PointIdsList(points=[*part])
            self._ask(partial(self._client.delete, self._of(name), gone, wait=True))

    def retrieve(
        self, name: str, ids: Sequence[PointId], fields: Sequence[str] | None = None
    ) -> dict[PointId, Payload]:
        """Payloads by id."""
        found: dict[PointId, Payload] = {}
        for part in _parts(ids, PAGE):
            records = self._ask(
                partial(self._client.retrieve, self._of(name), part, with_payload=_wanted(fields))
            )
            found |= {id_of(record.id): record.payload or {} for record in records}
        return found

    def scroll(
        self, name: str, where: Condition, fields: Sequence[str] | None = None, *, after: int | None = None
    ) -> Iterator[tuple[PointId, Payload]]:
        """Every point that matches, in order of ids."""
        condition = models.Filter(**where)
        offset: Any = None if after is None else after + 1
        while True:
            records, offset = self._ask(
                partial(
                    self._client.scroll,
                    self._of(name),
                    scroll_filter=condition,
                    limit=PAGE,
                    offset=offset,
                    with_payload=_wanted(fields),
                )
            )
            yield from ((id_of(record.id), record.payload or {}) for record in records)
            if offset is None:
                return

    def query(self, queries: Sequence[Query], fields: Sequence[str]) -> list[list[tuple[PointId, Payload]]]:
        """Several searches of the units as one request."""
        requests = [_request(query, list(fields)) for query in queries]
        answers = self._ask(partial(self._client.query_batch_points, self._of(UNITS), requests))
        return [[(id_of(point.id), point.payload or {}) for point in answer.points] for answer in answers]

    def count(self, name: str, where: Condition) -> int:
        """How many points match."""
        condition = models.Filter(**where)
        return self._ask(
            partial(self._client.count, self._of(name), count_filter=condition, exact=True)
        ).count

    def distinct(self, name: str, key: str, where: Condition) -> list[str]:
        """The values of a keyword field."""
        condition = models.Filter(**where)
        found = self._ask(
            partial(
                self._client.facet,
                self._of(name),
                key=key,
                facet_filter=condition,
                limit=1_000_000,
                exact=True,
            )
        )
        return [str(hit.value) for hit in found.hits]

    # -- the rest --------------------------------------------------------------------------------------------

    def stored_bytes(self) -> int:
        """A rough figure: a server does not tell. Two KB of payload and the vectors for each unit."""
        units = self.count(UNITS, {"must": []})
        return 1 + units * (2_000 + 8 * (self._dimension or 0)) + 2_000 * self.count(EVENTS, {"must": []})

    def sync(self) -> None:
        """A server writes its log before it answers."""

    def optimize(self) -> None:
        """A server does that by itself."""

    def faults(self) -> list[tuple[str, str]]:
        """Collections that the server itself reports as unwell."""
        found = []
        for name in (UNITS, EVENTS, SIDE):
            known = self._ask(partial(self._client.get_collection, self._of(name)))
            if known.status == models.CollectionStatus.RED:
                found.append((f"the server reports {self._of(name)} as failed", "see the server's log"))
        return found

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def _wanted(fields: Sequence[str] | None) -> bool | list[str]:
    return True if fields is None else list(fields)


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What of the settings also holds for collections without vectors."""
    return {
        key: value for key, value in settings.items() if key not in ("quantization_config", "hnsw_config")
    }


def _parts(items: Sequence[T], size: int = BATCH) -> Iterator[list[T]]:
    rest = iter(items)
    while part := list(islice(rest, size)):
        yield part


def _sparse(one: Sparse) -> Any:
    return models.SparseVector(indices=one.indices, values=one.values)


def _request(query: Query, fields: list[str]) -> models.QueryRequest:
    wanted: Any = None
    if isinstance(query.vector, Sparse):
        wanted = _sparse(query.vector)
    elif query.vector is not None:
        wanted = models.NearestQuery(nearest=query.vector.tolist())
    elif query.by is not None:
        order = models.OrderBy(key=query.by, direction=models.Direction.DESC)
        wanted = models.OrderByQuery(order_by=order)
    return models.QueryRequest(
        query=wanted,
        using=query.using if query.vector is not None else None,
        filter=models.Filter(**query.where),
        limit=query.limit,
        with_payload=fields,
    )
