"""One way to look at the points, whether a transaction is open or not: what it has changed lies over what is stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from hindsight_core.journal import ordered
from hindsight_core.ports import Visibility
from hindsight_core.stores.qdrant import filters
from hindsight_core.stores.qdrant.points import (
    SIDE,
    UNITS,
    Condition,
    Overlay,
    Payload,
    PointId,
    Points,
    among,
    both,
    equals,
    matches,
)
from hindsight_core.stores.qdrant.schema import TENANT, body, unit_id
from hindsight_core.stores.seen import sees
from hindsight_core.unit import Key, Link, LinkKind, MemoryUnit

ASIDE, EPISODE, META, RECALL = "aside", "episode", "meta", "recall"


class View:
    """What can be read: stored points, under what an open transaction has changed.

    Attributes:
        points: The collections.
        overlay: The open transaction's changes, or None.
    """

    def __init__(self, points: Points, overlay: Overlay | None = None) -> None:
        self.points = points
        self.overlay = overlay

    @property
    def place(self) -> str:
        """Path or URL, for messages."""
        return self.points.place

    # -- points ----------------------------------------------------------------------------------------------

    def retrieve(
        self, name: str, ids: Iterable[PointId], fields: Sequence[str] | None = None
    ) -> dict[PointId, Payload]:
        """Payloads by id, of those that exist, in the order asked for."""
        wanted = list(dict.fromkeys(ids))
        over = self.overlay.changed[name] if self.overlay is not None else {}
        missing = [id for id in wanted if id not in over]
        found = self.points.retrieve(name, missing, fields) if missing else {}
        both_ = {id: over[id] if id in over else found.get(id) for id in wanted}
        return {id: payload for id, payload in both_.items() if payload is not None}

    def scroll(
        self, name: str, where: Condition, fields: Sequence[str] | None = None, *, after: int | None = None
    ) -> Iterator[tuple[PointId, Payload]]:
        """Every point that matches; of numbered ones those above `after`, in order."""
        over = self.overlay.changed[name] if self.overlay is not None else {}
        for id, payload in self.points.scroll(name, where, fields, after=after):
            if id not in over:
                yield id, payload
        for id, changed in over.items():
            if changed is not None and matches(changed, where) and (after is None or int(id) > after):
                yield id, changed

    # -- units -----------------------------------------------------------------------------------------------

    def units(self, ids: Iterable[PointId]) -> dict[PointId, MemoryUnit]:
        """Units by the id of their point, with links and uses."""
        wanted = list(ids)
        return self.whole(self.retrieve(UNITS, wanted, ("body",)))

    def whole(self, payloads: dict[PointId, Payload]) -> dict[PointId, MemoryUnit]:
        """Units from their payloads."""
        if not payloads:
            return {}
        asides = self.retrieve(SIDE, payloads)
        return {id: complete(body(p, self.place), asides.get(id)) for id, p in payloads.items()}

    def unit(self, key: Key) -> MemoryUnit | None:
        """One unit by key."""
        id = unit_id(key)
        return self.units([id]).get(id)

    def visible(self, visible: Visibility) -> Iterator[MemoryUnit]:
        """Every unit that may be seen of the present, in no order."""
        condition = filters.seen(visible).condition
        page: dict[PointId, Payload] = {}
        for id, payload in self.scroll(UNITS, condition, ("body",)):
            page[id] = payload
            if len(page) == 1000:
                yield from (unit for unit in self.whole(page).values() if sees(visible, unit))
                page = {}
        yield from (unit for unit in self.whole(page).values() if sees(visible, unit))

    def where_units(self, where: Condition) -> list[MemoryUnit]:
        """The units that match a condition."""
        return list(self.whole(dict(self.scroll(UNITS, where, ("body",)))).values())

    def asides(self, condition: Condition) -> dict[PointId, Payload]:
        """Asides of the units in some scopes."""
        return dict(self.scroll(SIDE, both(equals("kind", ASIDE), condition)))


def exactly(scope: str) -> Condition:
    """Points of exactly this scope, given as text."""
    return among(TENANT, [scope])


def links_in(aside: Payload | None) -> tuple[Link, ...]:
    """The links in an aside."""
    found = [] if aside is None else aside.get("links", [])
    return tuple(Link(id, LinkKind(kind), out) for id, kind, out in found)


def complete(unit: MemoryUnit, aside: Payload | None) -> MemoryUnit:
    """A unit with what its aside says."""
    if aside is None:
        return replace(unit, related_ids=()) if unit.related_ids else unit
    changes: dict[str, object] = {"related_ids": ordered(links_in(aside))}
    if "weight" in aside:
        changes |= {
            "weight": aside["weight"],
            "weight_at": datetime.fromisoformat(aside["weight_at"]),
            "last_access": datetime.fromisoformat(aside["last_access"]),
            "access_count": aside["access_count"],
        }
    return replace(unit, **changes)  # type: ignore[arg-type]
