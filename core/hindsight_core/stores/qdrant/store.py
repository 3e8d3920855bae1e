"""The store itself: opening, taking turns, transactions; everything else is passed on."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from hindsight_core.errors import InvalidInput, StoreBusy, StoreClosed, StoreError
from hindsight_core.journal import Event
from hindsight_core.ports import Visibility, Vital
from hindsight_core.stores.qdrant import library
from hindsight_core.stores.qdrant.commit import Lease, State, commit, finish, pending, read_state
from hindsight_core.stores.qdrant.far import FarReading
from hindsight_core.stores.qdrant.points import Overlay, Points
from hindsight_core.stores.qdrant.reading import NearReading
from hindsight_core.stores.qdrant.replica import QdrantReplica
from hindsight_core.stores.qdrant.scene import Scene
from hindsight_core.stores.qdrant.transaction import QdrantTransaction
from hindsight_core.stores.qdrant.view import View
from hindsight_core.stores.seen import check
from hindsight_core.unit import Episode, Key, MemoryUnit, Scope

MEMORY = ":memory:"
_HELD = 100_000
"""Memories held in this process at most, over all scopes read lately; about 10 KB each."""


class QdrantStore:
    """See `ports.Store`. Safe to use from any thread.

    Inside a write, the same thread's other calls see what the write has done so far; no one else does. A write inside a
    reading is refused.
    """

    def __init__(self, points: Points, *, whole: int, timeout: float) -> None:
        self._points: Points | None = points
        self._whole = whole
        self._timeout = timeout
        self._lease = Lease(points, timeout)
        self._scenes: OrderedDict[tuple[Scope, ...], Scene] = OrderedDict()
        self._write_lock = threading.Lock()
        self._scene_lock = threading.Lock()
        self._writing: int | None = None
        self._reading: int | None = None
        self._used: list[tuple[Scope, ...]] = []  # by readings that are open
        self._view: View | None = None  # of the open write
        self._state: State | None = None
        self._settle()

    @classmethod
    def connect(
        cls,
        url: str,
        *,
        api_key: str | None = None,
        name: str = "hindsight",
        timeout: float = 10.0,
        whole: int = 5_000,
        **settings: Any,
    ) -> Self:
        """Open a memory on a Qdrant server or cluster; its collections are made when they are not there.

        Args:
            url: Such as "http://localhost:6333" or "https://xyz.cloud.qdrant.io:6333"; ":memory:" for nothing kept.
            api_key: Where the server asks for one.
            name: First part of the collections' names; several memories may share a server.
            timeout: Seconds a request may take, and that a write waits for its turn.
            whole: Scopes of at most so many memories are read once and searched in this process.
            **settings: Passed on when collections are made: shard_number, replication_factor, on_disk_payload,
                hnsw_config, optimizers_config, quantization_config, ...

        Raises:
            MissingExtra: `qdrant-client` is not installed.
            StoreError: The server cannot be reached or refuses; the subclass says why.
        """
        from hindsight_core.stores.qdrant.client import ClientPoints

        if not url or not isinstance(url, str):
            raise InvalidInput("url is such as http://localhost:6333")
        points = ClientPoints.connect(url, name, api_key=api_key, timeout=timeout, settings=settings)
        return cls._opened(points, whole, timeout)

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, durability: str = "full", whole: int = 5_000) -> Self:
        """Open a memory in a folder, searched by Qdrant Edge in this process; made when it is not there.

        Args:
            folder: On a local disk; its parent must exist.
            durability: "full": what a write returned survives a power cut. "normal": it survives the end of the process.
            whole: Scopes of at most so many memories are read once and searched by this package's own index.

        Raises:
            MissingExtra: `qdrant-edge-py` is not installed.
            StoreBusy: It is open already, here or in another process.
            NotAStore: The folder holds something else.
            StoreUnwritable: The folder cannot be used.
        """
        from hindsight_core.stores.qdrant.edge import EdgePoints

        if durability not in ("full", "normal"):
            raise InvalidInput(f"durability is one of full, normal, not {durability!r}")
        return cls._opened(EdgePoints(Path(folder), durability=durability), whole, 30.0)

    @classmethod
    def _opened(cls, points: Points, whole: int, timeout: float) -> Self:
        try:
            return cls(points, whole=whole, timeout=timeout)
        except BaseException:
            points.close()
            raise

    def _settle(self) -> None:
        """Make what is missing, and carry out what a writer that died had written down."""
        points = self._held()
        points.prepare()
        if pending(points):
            self._lease.take()
            try:
                finish(points, self._lease)
            finally:
                self._lease.release()
        state = read_state(points)
        points.prepare_units(state.dimension)
        points.use_units(state.dimension)

    def __repr__(self) -> str:
        points = self._points
        return "<QdrantStore closed>" if points is None else f"<QdrantStore {points.place!r}>"

    def _held(self) -> Points:
        if self._points is None:
            raise StoreClosed("the store was closed; open it again")
        return self._points

    # -- writing ---------------------------------------------------------------------------------------------

    @contextmanager
    def write(
        self, *, actor: str, batch: str, now: datetime, durable: bool = True
    ) -> Iterator[QdrantTransaction]:
        """Begin an atomic write; it is stored when the block ends, and gone when the block raises."""
        points = self._lock_for_writing()
        try:
            self._lease.take()
            try:
                finish(points, self._lease)
                before = self._current(points)
                self._view = View(points, Overlay())
                tx = QdrantTransaction(
                    self._view, before, actor=actor, batch=batch, now=now, keep=self._lease.keep
                )
                self._state = tx.state
                try:
                    yield tx
                finally:
                    tx.open = False
                if tx.touched:
                    commit(points, tx.overlay, tx.state, before, self._lease)
                    if durable:
                        points.sync()
                    points.use_units(tx.state.dimension)
            finally:
                self._view = self._state = None
                self._lease.release()
        finally:
            self._unlock()

    def _lock_for_writing(self) -> Points:
        points, me = self._held(), threading.get_ident()
        if self._writing == me:
            raise StoreError("this thread is writing already; end that write first")
        if self._reading == me:
            raise StoreError("this thread is reading; end the reading before writing")
        if not self._write_lock.acquire(timeout=self._timeout):
            raise StoreBusy(f"{points.place}: another thread kept writing for too long; try again")
        if self._points is None:
            self._write_lock.release()
            raise StoreClosed("the store was closed; open it again")
        self._writing = me
        return points

    def _unlock(self) -> None:
        if self._reading == self._writing:
            self._reading = None
            self._scene_lock.release()
        self._writing = None
        self._write_lock.release()

    def _current(self, points: Points) -> State:
        """The counters as stored; from here on `UNITS` means the right collection."""
        state = read_state(points)
        if self._writing in (None, threading.get_ident()):  # else that write says which
            points.use_units(state.dimension)
        return state

    # -- reading ---------------------------------------------------------------------------------------------

    @contextmanager
    def reading(self, visible: Visibility) -> Iterator[NearReading | FarReading]:
        """A consistent view, caught up with everything committed so far by any process."""
        check(visible)
        points, me = self._held(), threading.get_ident()
        inside = self._reading == me
        if not inside:
            self._scene_lock.acquire()
            self._reading = me
        used = visible.scopes in self._used
        try:
            view, state = self._shown(points)
            scene = self._scene(visible.scopes)
            if not used:
                scene.catch_up(view, state)
            self._used.append(visible.scopes)
            kind = NearReading if scene.complete else FarReading
            found = kind(view, scene, state.dimension)
            try:
                yield found
            finally:
                found.open = False
                self._used.pop()
        finally:
            # Inside a write the index shows what is not stored yet, so nobody else may look until the write ends.
            if not inside and self._writing != me:
                self._reading = None
                self._scene_lock.release()

    def _shown(self, points: Points) -> tuple[View, State]:
        if self._writing == threading.get_ident():
            assert self._view is not None
            assert self._state is not None
            return self._view, replace(self._state, n=self._state.n - 1)
        return View(points), self._current(points)

    def _scene(self, scopes: tuple[Scope, ...]) -> Scene:
        if scopes not in self._scenes:
            self._scenes[scopes] = Scene(scopes, whole=self._whole)
        self._scenes.move_to_end(scopes)
        while len(self._scenes) > 1 and sum(len(scene.payloads) for scene in self._scenes.values()) > _HELD:
            self._scenes.popitem(last=False)
        return self._scenes[scopes]

    def _look(self) -> View:
        points = self._held()
        if self._writing == threading.get_ident() and self._view is not None:
            return self._view
        if points.shared:
            self._current(points)
        return View(points)

    # -- library ---------------------------------------------------------------------------------------------

    def get(self, keys: Sequence[Key]) -> list[MemoryUnit | None]:
        """Units by key, None where there is none."""
        return library.get(self._look(), keys)

    def units_of(self, scope: Scope, episode: str) -> list[MemoryUnit]:
        """Units that came from an episode or were said again in it, in order of the text."""
        return library.units_of(self._look(), scope, episode)

    def vitals(self, visible: Visibility) -> list[Vital]:
        """Strength and standing of every visible unit, unindexed ones included, in order of arrival."""
        return library.vitals(self._look(), visible)

    def without_vector(self, visible: Visibility) -> list[Key]:
        """Visible indexed units that have no vector, in order of arrival."""
        return library.without_vector(self._look(), visible, self._dimension())

    def without_tokens(self, visible: Visibility) -> list[Key]:
        """Visible indexed units that have no learnt terms, in order of arrival."""
        return library.without_tokens(self._look(), visible)

    def find(
        self, visible: Visibility, *, limit: int | None = None, offset: int = 0, newest_first: bool = True
    ) -> list[MemoryUnit]:
        """Units that match exactly, by (timestamp, seq); the undated count as oldest."""
        return library.find(self._look(), visible, limit=limit, offset=offset, newest_first=newest_first)

    def count(self, visible: Visibility, *, by: str | None = None) -> dict[str, int]:
        """Counts, the largest first; memories without a value are left out."""
        return library.count(self._look(), visible, by=by)

    def episodes(
        self, scope: Scope, ids: Sequence[str] | None = None, *, session: str | None = None
    ) -> list[Episode]:
        """Episodes by id or of one session, in order of turn, time and arrival."""
        return library.episodes(self._look(), scope, ids, session)

    def scopes(self, prefix: Scope = ()) -> list[Scope]:
        """Scopes under a prefix that hold at least one unit or episode."""
        return library.scopes(self._look(), prefix)

    def stats(self, visible: Visibility) -> Mapping[str, Any]:
        """Counts over what is visible, and the size of the whole store."""
        return library.stats(self._look(), visible, self._dimension())

    def check(self) -> list[tuple[str, str]]:
        """What is wrong with the store, each with its remedy; reads all of it."""
        view = self._look()
        return [*self._held().faults(), *library.faults(view, read_state(view.points))]

    def meta(self) -> Mapping[str, str]:
        """The store's own settings."""
        return library.meta(self._look())

    def _dimension(self) -> int | None:
        return self._shown(self._held())[1].dimension

    def optimize(self) -> None:
        """Merge segments and build indexes now, where the engine does not do that by itself (Qdrant Edge)."""
        self._held().optimize()

    # -- journal ---------------------------------------------------------------------------------------------

    def events(
        self,
        *,
        after: int = 0,
        key: Key | None = None,
        batch: str | None = None,
        scopes: Sequence[Scope] | None = None,
    ) -> Iterator[Event]:
        """Events in order of their sequence number."""
        return library.events(self._look(), after=after, key=key, batch=batch, scopes=scopes)

    def position(self) -> int:
        """Number of the last event; 0 when there is none."""
        return self._shown(self._held())[1].event

    def changed(self, *, after: int, scopes: Sequence[Scope]) -> list[Key]:
        """The units in these scopes and below that events after this number are about, each once."""
        return library.changed(self._look(), after, scopes)

    def recall_log(self, recall_id: str) -> tuple[Scope, list[Key]] | None:
        """Scope and memories of a past recall."""
        return library.recall_log(self._look(), recall_id)

    # -- moving ----------------------------------------------------------------------------------------------

    def view(self) -> View:
        """What is stored, for the parts of this package."""
        return self._look()

    def replica(self) -> QdrantReplica:
        """Everything as records, to be moved; see `stores.moving`."""
        return QdrantReplica(self)

    # -- the end ---------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Release everything; any later call raises StoreClosed. Closing twice is fine."""
        points, me = self._points, threading.get_ident()
        if points is None:
            return
        if me in (self._writing, self._reading):
            raise StoreError("end this thread's write or reading before closing the store")
        with self._write_lock, self._scene_lock:
            self._points = None
            self._scenes.clear()
            points.close()
