"""Erasing: no trace of a memory stays in any point.

What goes is what goes in a file (see `stores.traces`): the unit, its passages in the episodes, everything under its key in
the journal, and what others took over of it. The bytes are another matter: an engine frees them when it next merges
the segment they were in, and a snapshot taken before still holds them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hindsight_core.attributes import micros
from hindsight_core.errors import NotFound
from hindsight_core.stores.codec import encode_scope, encode_unit
from hindsight_core.stores.qdrant import library
from hindsight_core.stores.qdrant.points import EVENTS, UNITS, PointId, both, equals
from hindsight_core.stores.qdrant.schema import past_unit, unit_id, unit_payload
from hindsight_core.stores.qdrant.view import exactly
from hindsight_core.stores.traces import FILLER, Traces, place, without
from hindsight_core.text.keys import storable
from hindsight_core.unit import Key, MemoryUnit, Scope

if TYPE_CHECKING:
    from hindsight_core.stores.qdrant.transaction import QdrantTransaction


def erase(tx: QdrantTransaction, key: Key) -> None:
    """Remove every trace of a memory, present or past, and leave a tombstone.

    Raises:
        NotFound: There is none under that key and there never was, or it was erased already.
    """
    scope, id = key
    traces = Traces()
    present = tx.view.unit(key)
    history = _history(tx, key)
    if present is None and not history:
        raise NotFound("no memory with that id in that scope, now or in the past")
    for unit in history if present is None else [*history, present]:
        traces.add(unit)
    if present is not None:
        tx.delete(present)
    _empty(tx, scope, [id])
    _scrub(tx, scope, traces)
    _fill(tx, scope, traces)
    tx.event(key, None, None, "erased", None)
    number = tx.state.event
    tx.set_event(number, {**tx.overlay.changed[EVENTS][number], "erased": 1})  # type: ignore[dict-item]


def _history(tx: QdrantTransaction, key: Key) -> list[MemoryUnit]:
    condition = both(exactly(encode_scope(key[0])), equals("id", key[1]))
    return [
        past_unit(event[side], tx.view.place)
        for _, event in tx.view.scroll(EVENTS, condition, ("before", "after"))
        for side in ("before", "after")
        if side in event
    ]


def let_go(tx: QdrantTransaction, keys: Iterable[Key], before: datetime) -> None:
    """Empty what the journal holds of units that are gone; see `ports.Transaction.let_go`."""
    for scope, id in keys:
        condition = both(exactly(encode_scope(scope)), equals("id", storable(id)))
        events = list(tx.view.scroll(EVENTS, condition))
        there = tx.view.retrieve(UNITS, [unit_id((scope, storable(id)))])
        if not there and all(event["at"] < micros(before) for _, event in events):
            _empty(tx, scope, [storable(id)])


def _empty(tx: QdrantTransaction, scope: Scope, ids: Iterable[str]) -> None:
    for id in ids:
        condition = both(exactly(encode_scope(scope)), equals("id", id))
        for number, event in list(tx.view.scroll(EVENTS, condition)):
            kept = {k: v for k, v in event.items() if k not in ("before", "after", "v", "w", "lost")}
            tx.set_event(int(number), {**kept, "erased": 1})


def _scrub(tx: QdrantTransaction, scope: Scope, traces: Traces) -> None:
    """Take the traces out of other memories and their history."""
    there = exactly(encode_scope(scope))
    for id, payload in list(tx.view.scroll(UNITS, both(there))):
        scrubbed = without(past_unit(payload["body"], tx.view.place), traces)
        if scrubbed is not None:
            tx.overlay.changed[UNITS][id] = unit_payload(
                scrubbed, payload.get("v"), payload.get("w", ""), tx.state.n
            )
    absorbed = set()
    for number, event in list(tx.view.scroll(EVENTS, both(there))):
        sides = {side: past_unit(event[side], tx.view.place) for side in ("before", "after") if side in event}
        changed: dict[str, Any] = {}
        for side, unit in sides.items():
            if (scrubbed := without(unit, traces)) is not None:
                changed[side] = encode_unit(scrubbed)
        if any(unit.content in traces.texts for unit in sides.values()) and not _alive(
            tx, scope, event["id"]
        ):
            absorbed.add(event["id"])
        if changed:
            tx.set_event(int(number), {**event, **changed})
    _empty(tx, scope, absorbed)


def _alive(tx: QdrantTransaction, scope: Scope, id: str) -> bool:
    point: PointId = unit_id((scope, id))
    return bool(tx.view.retrieve(UNITS, [point], ("id",)))


def _fill(tx: QdrantTransaction, scope: Scope, traces: Traces) -> None:
    """Fill up what was said in the episodes; an episode with nothing else in it goes."""
    for id, span, text in traces.passages:
        for episode in library.episodes(tx.view, scope, [id], None):
            start, end = place(episode.text, span, text)
            filled = episode.text[:start] + FILLER * (end - start) + episode.text[end:]
            if filled.replace(FILLER, "").strip():
                tx.put_episode(replace(episode, text=filled, envelope={}))
            else:
                tx.drop_episode(scope, id)
