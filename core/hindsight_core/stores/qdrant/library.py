"""Exact access: by key, by filter, by episode; counts, the journal, past recalls."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from hindsight_core.attributes import METADATA, Kind, micros
from hindsight_core.errors import InvalidInput, StoreCorrupted
from hindsight_core.journal import Event
from hindsight_core.ports import Visibility, Vital
from hindsight_core.stores.codec import decode_episode, decode_scope, encode_scope
from hindsight_core.stores.qdrant import filters
from hindsight_core.stores.qdrant.commit import State
from hindsight_core.stores.qdrant.points import (
    EVENTS,
    SIDE,
    UNITS,
    Condition,
    Payload,
    PointId,
    among,
    both,
    empty,
    equals,
    no,
    ranged,
)
from hindsight_core.stores.qdrant.schema import TENANT, past_unit, point_id, unit_id, unpacked
from hindsight_core.stores.qdrant.view import EPISODE, META, RECALL, View, exactly
from hindsight_core.stores.seen import check, sees
from hindsight_core.stores.sqlite.library import COUNTED, labels
from hindsight_core.stores.sqlite.rows import label
from hindsight_core.text.keys import storable
from hindsight_core.text.learnt import tokens_in
from hindsight_core.unit import Episode, Key, MemoryUnit, Scope, Status

_NEVER = datetime.min.replace(tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIELDS = {"type": "type", "status": "status", "day": "day", "speaker": "speaker", "session": "session"}


def get(view: View, keys: Sequence[Key]) -> list[MemoryUnit | None]:
    """Units by key, None where there is none."""
    ids = [unit_id(key) for key in keys]
    units = view.units(ids) if ids else {}
    return [units.get(id) for id in ids]


def units_of(view: View, scope: Scope, episode: str) -> list[MemoryUnit]:
    """Units that came from an episode or were said again in it, in order of the text."""
    id = storable(episode)

    def place(unit: MemoryUnit) -> tuple[int, int]:
        sources = [unit.source, *(occurrence.source for occurrence in unit.occurrences)]
        starts = [s.span[0] for s in sources if s.episode == id and s.span is not None]
        return min(starts, default=0), unit.seq

    condition = both(exactly(encode_scope(scope)), among("episodes", [id]))
    return sorted(view.where_units(condition), key=place)


# -- what may be seen ----------------------------------------------------------------------------------------


def then(view: View, visible: Visibility) -> dict[PointId, MemoryUnit]:
    """The units that have changed since `known_at`, as they were at that instant; empty without `known_at`."""
    if visible.known_at is None:
        return {}
    condition = both(filters.under(visible.scopes), ranged("at", gt=micros(visible.known_at)))
    first: dict[PointId, tuple[int, str]] = {}
    for number, event in view.scroll(EVENTS, condition, (TENANT, "id", "before", "after", "erased")):
        side = event.get("before", event.get("after"))
        id = unit_id((decode_scope(event[TENANT]), event["id"]))
        if side is not None and (id not in first or int(number) < first[id][0]):
            first[id] = int(number), side
    there = view.retrieve(UNITS, first, ("recorded",)) if first else {}
    return {
        id: past_unit(first[id][1], view.place)
        for id, payload in there.items()
        if payload["recorded"] <= micros(visible.known_at)
    }


def shown(view: View, visible: Visibility) -> Iterator[MemoryUnit]:
    """Every unit that may be seen, as it was at `known_at`, in no order."""
    past = then(view, visible)
    keys = {unit.key for unit in past.values()}
    yield from (unit for unit in view.visible(visible) if unit.key not in keys)
    yield from (unit for unit in past.values() if sees(visible, unit))


def find(
    view: View, visible: Visibility, *, limit: int | None, offset: int, newest_first: bool
) -> list[MemoryUnit]:
    """Units that match exactly, by (timestamp, seq); the undated count as oldest."""
    check(visible)
    if offset < 0 or (limit is not None and limit < 0):
        raise InvalidInput("limit and offset must not be negative")
    end = None if limit is None else offset + limit
    seen = filters.seen(visible)
    if visible.known_at is not None or end is None:
        units = sorted(shown(view, visible), key=_age, reverse=newest_first)
        return units[offset:end]
    # Only the order is read of all; the units themselves of those that are asked for.
    light = [
        (payload["order"], payload["seq"], id)
        for id, payload in view.scroll(UNITS, seen.condition, ("order", "seq"))
    ]
    light.sort(reverse=newest_first)
    found: list[MemoryUnit] = []
    for start in range(0, len(light), 500):
        page = (
            [id for *_, id in light[start : start + 500]]
            if not seen.exact
            else [i for *_, i in light[offset:end]]
        )
        units_ = view.units(page)
        found += [units_[id] for id in page if id in units_ and sees(visible, units_[id])]
        if seen.exact:
            return found
        if len(found) >= end:
            break
    return found[offset:end]


def _age(unit: MemoryUnit) -> tuple[datetime, int]:
    return unit.timestamp or _NEVER, unit.seq


def count(view: View, visible: Visibility, *, by: str | None) -> dict[str, int]:
    """Counts, the largest first, then by name; memories without a value are left out."""
    check(visible)
    if by is not None and by not in COUNTED and not (by.startswith(METADATA) and len(by) > len(METADATA)):
        raise InvalidInput(f"cannot count by {by[:40]!r}; count by {', '.join(COUNTED)} or metadata.NAME")
    seen = filters.seen(visible)
    counts: Counter[str] = Counter()
    if not seen.exact:
        counts = Counter(name for unit in shown(view, visible) for name in labels(unit, by))
    elif by is None:
        if view.overlay is None:
            return {"": view.points.count(UNITS, seen.condition)}
        counts[""] = sum(1 for _ in view.scroll(UNITS, seen.condition, ("id",)))
    elif by in _FIELDS:
        for _, payload in view.scroll(UNITS, seen.condition, (_FIELDS[by],)):
            if by in payload:
                counts[payload[by]] += 1
    else:
        for _, payload in view.scroll(UNITS, seen.condition, ("a",)):
            counts.update(_values(payload.get("a", ()), storable(by)))
    if by is None:
        return {"": counts[""]}
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _values(attributes: Iterable[str], path: str) -> Iterator[str]:
    for text in attributes:
        if text.startswith(json.dumps([path], ensure_ascii=False)[:-1]):
            at, kind, value = json.loads(text)
            if at == path and kind != Kind.INSTANT.value:
                yield str(value).lower() if kind == Kind.FLAG.value else label(value)


def vitals(view: View, visible: Visibility) -> list[Vital]:
    """Strength and standing of every visible unit, unindexed ones included, in order of arrival."""
    visible = replace(_present(visible), unindexed=True)
    seen = filters.seen(visible)
    fields = (
        TENANT,
        "id",
        "seq",
        "status",
        "pinned",
        "importance",
        "weight",
        "weight_at",
        "recorded",
        "read",
        "expires",
        "body",
    )
    asides = view.asides(filters.under(visible.scopes))
    found = []
    for id, p in view.scroll(UNITS, seen.condition, fields[:-1] if seen.exact else fields):
        if not seen.exact and not sees(visible, view.whole({id: p})[id]):
            continue
        weight, weight_at = p["weight"], p["weight_at"]
        last_read = (p["read"] if "read" in p else p["recorded"]) / 1e6
        used = asides.get(id, {})
        if "weight" in used:
            weight, weight_at = used["weight"], _seconds(used["weight_at"])
            last_read = _seconds(used["last_access"])
        found.append(
            Vital(
                key=(decode_scope(p[TENANT]), p["id"]),
                status=Status(p["status"]),
                pinned=bool(p["pinned"]),
                importance=p["importance"],
                weight=weight,
                weight_at=weight_at,
                last_read=last_read,
                expires_at=p["expires"] / 1e6 if "expires" in p else None,
                seq=p["seq"],
            )
        )
    return sorted(found, key=lambda vital: vital.seq)


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def without_vector(view: View, visible: Visibility, dimension: int | None) -> list[Key]:
    """Visible indexed units that have no vector, or one of another length than the store's, in order of arrival."""
    found = _searchable(view, visible, ("seq",), no(equals("size", dimension or -1)))
    return [(decode_scope(p[TENANT]), p["id"]) for p in found]


def without_tokens(view: View, visible: Visibility) -> list[Key]:
    """Visible indexed units that have no learnt terms, in order of arrival."""
    found = _searchable(view, visible, ("seq", "w"))
    return [
        (decode_scope(p[TENANT]), p["id"])
        for p in found
        if not tokens_in(unpacked(p.get("w", ""), np.uint64))
    ]


def _searchable(view: View, visible: Visibility, fields: Sequence[str], *more: Condition) -> list[Payload]:
    """Payloads of visible indexed units that meet a condition, in order of arrival."""
    _present(visible)
    seen = filters.seen(replace(visible, unindexed=False))
    found = dict(view.scroll(UNITS, both(seen.condition, *more), (TENANT, "id", "body", *fields)))
    if not seen.exact:
        units = view.whole(found)
        found = {id: payload for id, payload in found.items() if sees(visible, units[id])}
    return sorted(found.values(), key=lambda payload: int(payload["seq"]))


def _present(visible: Visibility) -> Visibility:
    check(visible)
    if visible.known_at is not None:
        raise InvalidInput("this is a question about the present; leave known_at out")
    return visible


# -- beside the units ----------------------------------------------------------------------------------------


def episodes(view: View, scope: Scope, ids: Sequence[str] | None, session: str | None) -> list[Episode]:
    """Episodes by id or of one session, in order of turn, time and arrival."""
    if ids is not None:
        points = view.retrieve(SIDE, [point_id(EPISODE, scope, id) for id in ids]) if ids else {}
    else:
        parts = [equals("kind", EPISODE), exactly(encode_scope(scope))]
        if session is not None:
            parts.append(equals("session", storable(session)))
        points = dict(view.scroll(SIDE, both(*parts)))
    try:
        found = [(decode_episode(p["text"]), int(p["number"])) for p in points.values()]
    except (ValueError, KeyError, TypeError) as error:
        raise StoreCorrupted(f"{view.place}: a stored episode cannot be read; restore a snapshot") from error
    if ids is not None and session is not None:
        found = [
            (episode, number) for episode, number in found if episode.source.session == storable(session)
        ]

    def place(item: tuple[Episode, int]) -> tuple[Any, ...]:
        episode, number = item
        at = None if episode.timestamp is None else micros(episode.timestamp)
        return tuple((v is not None, v or 0) for v in (episode.source.turn, at, number))

    return [episode for episode, _ in sorted(found, key=place)]


def scopes(view: View, prefix: Scope) -> list[Scope]:
    """Scopes under a prefix that hold a unit or an episode."""
    condition = both(filters.under((prefix,)))
    with_episodes = both(equals("kind", EPISODE), condition)
    if view.overlay is None:
        found = {
            *view.points.distinct(UNITS, TENANT, condition),
            *view.points.distinct(SIDE, TENANT, with_episodes),
        }
    else:
        found = {p[TENANT] for _, p in view.scroll(UNITS, condition, (TENANT,))}
        found |= {p[TENANT] for _, p in view.scroll(SIDE, with_episodes, (TENANT,))}
    return sorted(decode_scope(text) for text in found)


def meta(view: View) -> dict[str, str]:
    """The store's own settings."""
    return {p["name"]: p["value"] for _, p in view.scroll(SIDE, both(equals("kind", META)))}


def stats(view: View, visible: Visibility, dimension: int | None) -> Mapping[str, Any]:
    """Counts over what is visible; see `ports.Store.stats`."""
    by_status = count(view, visible, by="status")
    seen = filters.seen(visible)
    fields = ("at", "size", "indexed", "a", "id", TENANT) + (() if seen.exact else ("body",))
    payloads = dict(view.scroll(UNITS, seen.condition, fields))
    if not seen.exact:
        units = view.whole(payloads)
        payloads = {id: p for id, p in payloads.items() if sees(visible, units[id])}
    ends = 0
    for id, aside in view.asides(filters.under(visible.scopes)).items():
        if id in payloads:
            scope = decode_scope(aside[TENANT])
            ends += sum(unit_id((scope, link[0])) in payloads for link in aside.get("links", ()))
    entities = {name for p in payloads.values() for name in _values(p.get("a", ()), "entity")}
    dated = [p["at"] for p in payloads.values() if "at" in p]
    told = both(equals("kind", EPISODE), filters.under(visible.scopes))
    states = Counter(p["state"] for _, p in view.scroll(SIDE, told, ("state",)))
    return {
        "memories": sum(by_status.values()),
        **{status.value: by_status.get(status.value, 0) for status in Status},
        "episodes": sum(states.values()),
        "pending": states["pending"],
        "links": ends // 2,
        "entities": len(entities),
        "without_vector": sum(
            bool(p["indexed"]) and p["size"] != (dimension or -1) for p in payloads.values()
        ),
        "oldest": _iso(min(dated, default=None)),
        "newest": _iso(max(dated, default=None)),
        "file_bytes": view.points.stored_bytes(),
    }


def _iso(instant: int | None) -> str | None:
    return None if instant is None else (_EPOCH + timedelta(microseconds=instant)).isoformat()


def faults(view: View, state: State) -> list[tuple[str, str]]:
    """Links to nothing or at one end only, and asides without a unit."""
    units = dict(view.scroll(UNITS, both(), (TENANT, "id")))
    asides = view.asides(both())
    ends = {
        (id, unit_id((decode_scope(aside[TENANT]), other)))
        for id, aside in asides.items()
        for other, *_ in aside.get("links", ())
    }
    wrong = {
        "asides without a memory": sum(id not in units for id in asides),
        "links to nothing": sum(other not in units for _, other in ends),
        "links stored at one end only": sum((other, id) not in ends for id, other in ends),
        "events missing": abs(state.event - view.points.count(EVENTS, both())),
    }
    remedy = "export the memories and import them into a new store"
    return [(f"{number} {name}", remedy) for name, number in wrong.items() if number]


# -- the journal ---------------------------------------------------------------------------------------------


def events(
    view: View, *, after: int, key: Key | None, batch: str | None, scopes: Sequence[Scope] | None
) -> Iterator[Event]:
    """Events in order of their number."""
    parts: list[Condition] = []
    if key is not None:
        parts += [exactly(encode_scope(key[0])), equals("id", storable(key[1]))]
    if batch is not None:
        parts.append(equals("batch", storable(batch)))
    if scopes is not None:
        parts.append(filters.under(tuple(scopes)) if scopes else empty("at"))
    for number, p in view.scroll(EVENTS, both(*parts), after=after):
        before, after_ = p.get("before"), p.get("after")
        yield Event(
            seq=int(number),
            key=(decode_scope(p[TENANT]), p["id"]),
            before=None if before is None else past_unit(before, view.place),
            after=None if after_ is None else past_unit(after_, view.place),
            reason=p["reason"],
            actor=p["actor"],
            batch=p["batch"],
            at=datetime.fromisoformat(p["written"]),
            erased=bool(p.get("erased")),
        )


def changed(view: View, after: int, scopes: Sequence[Scope]) -> list[Key]:
    """The units in these scopes and below that events after this number are about, each once."""
    if not scopes:
        return []
    condition = both(filters.under(tuple(scopes)))
    found = view.scroll(EVENTS, condition, (TENANT, "id"), after=after)
    return list(dict.fromkeys((decode_scope(p[TENANT]), str(p["id"])) for _, p in found))


def recall_log(view: View, recall_id: str) -> tuple[Scope, list[Key]] | None:
    """Scope and memories of a past recall."""
    id = point_id(RECALL, (), recall_id)
    found = view.retrieve(SIDE, [id]).get(id)
    if found is None:
        return None
    return decode_scope(found[TENANT]), [(tuple(scope), key) for scope, key in json.loads(found["keys"])]
