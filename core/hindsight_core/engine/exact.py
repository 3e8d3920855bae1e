"""Exact questions to a memory: by id, by filter, counts, history, and how the store is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.engine import lifecycle, network, reading, upkeep
from hindsight_core.engine.aio import off_loop
from hindsight_core.engine.checks import known_as, listed, text_of, whole
from hindsight_core.engine.handle import Handle
from hindsight_core.engine.items import Instant, instant
from hindsight_core.errors import InvalidInput, NotFound
from hindsight_core.ports import Floats, Visibility
from hindsight_core.unit import Episode, MemoryUnit, Scope, Status, Units

if TYPE_CHECKING:
    import networkx as nx

Where = Mapping[str, Any]


class ExactQuestions(Handle):
    """What a handle answers without weighing anything; nothing here writes."""

    def get(self, id: str | int, *, scope: str | Iterable[str] | None = None) -> MemoryUnit:
        """A memory by id, whatever its status.

        Raises:
            NotFound: None under that id in what this handle reads.
        """
        unit = upkeep.lookup(self._parts.store, self._scopes(scope), known_as(id), self._scope)
        if unit is None:
            raise NotFound("no memory with that id in the scopes this handle reads")
        return unit

    def find(
        self,
        *,
        entity: str | None = None,
        where: Where | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        status: Status | str | None = None,
        scope: str | Iterable[str] | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> Units:
        """Memories that match exactly, newest first; superseded and archived ones only when `status` asks for them."""
        visible = self._visible(entity, where, since, until, status, scope)
        if limit is not None:
            whole(limit, "limit")
        return Units(self._parts.store.find(visible, limit=limit, offset=whole(offset, "offset")))

    def aggregate(
        self,
        by: str | None = None,
        *,
        entity: str | None = None,
        where: Where | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        status: Status | str | None = None,
        scope: str | Iterable[str] | None = None,
    ) -> dict[str, int]:
        """Counts by "entity", "type", "status", "day", "speaker", "session" or "metadata.KEY"."""
        if by is not None:
            text_of(by, "by")
        return self._parts.store.count(self._visible(entity, where, since, until, status, scope), by=by)

    def _visible(
        self,
        entity: str | None,
        where: Where | None,
        since: Instant | None,
        until: Instant | None,
        status: Status | str | None,
        scope: str | Iterable[str] | None,
    ) -> Visibility:
        return reading.exact(
            scopes=self._scopes(scope),
            now=self._now(),
            where=reading.dated(where, instant(since, "since"), instant(until, "until"), entity=entity),
            status=status,
        )

    def scopes(self) -> dict[Scope, int]:
        """The scopes read by this handle that hold active memories, with how many."""
        return upkeep.scopes(self._parts, self._reach, self._now())

    def transcript(self, session: str) -> list[Episode]:
        """The episodes of one session of the written scope, in order."""
        return self._parts.store.episodes(self._scope, session=known_as(session, "session"))

    def history(self, id: str | int) -> Units:
        """The timeline of a fact: every value it has had, oldest first.

        Raises:
            NotFound: None under that id in what this handle reads.
        """
        return lifecycle.history(self._parts, self.get(id))

    def vectors(self, units: Iterable[MemoryUnit]) -> list[Floats | None]:
        """The vectors of memories, float32 (dimension,); None where there is none."""
        wanted = listed(units, "units")
        if not all(isinstance(unit, MemoryUnit) for unit in wanted):
            raise InvalidInput("vectors takes memories")
        return reading.vectors(self._parts, [unit.key for unit in wanted], self._reach, self._now())

    def stats(self) -> upkeep.Stats:
        """Counts and sizes over what this handle reads."""
        return upkeep.stats(self._parts, self._reach, self._now())

    def doctor(self) -> list[upkeep.Finding]:
        """Check the store: what is wrong and what to do about it; empty when all is well."""
        return upkeep.doctor(self._parts, self._reach, self._now())

    def graph(self, *, now: Instant | None = None) -> nx.MultiDiGraph[str]:
        """Memories, the entities they name and the links between them, as a networkx graph; see `hindsight_core.graph`.

        Raises:
            MissingExtra: networkx is not installed.
        """
        return network.graph(self._parts, self._reach, self._now(now))

    @property
    def names(self) -> network.Names:
        """Which names mean one thing in the written scope: merge and split them, and undo that."""
        return network.Names(self._parts, self._scope, self._now())

    # -- the same, off the event loop ------------------------------------------------------------------------

    aget = off_loop(get)
    afind = off_loop(find)
    aaggregate = off_loop(aggregate)
    atranscript = off_loop(transcript)
    ascopes = off_loop(scopes)
    ahistory = off_loop(history)
    avectors = off_loop(vectors)
    astats = off_loop(stats)
    adoctor = off_loop(doctor)
    agraph = off_loop(graph)
