"""A Qdrant store as records, and records as a Qdrant store; see `stores.moving`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hindsight_core.attributes import micros
from hindsight_core.stores.codec import decode_episode, decode_scope, decode_unit, encode_unit
from hindsight_core.stores.moving import Record
from hindsight_core.stores.qdrant.commit import read_state
from hindsight_core.stores.qdrant.points import EVENTS, SIDE, UNITS, Payload, PointId, both, equals
from hindsight_core.stores.qdrant.schema import TENANT, body, prefixes, unit_id, unit_payload
from hindsight_core.stores.qdrant.transaction import QdrantTransaction
from hindsight_core.stores.qdrant.view import ASIDE, EPISODE, META, RECALL, View, complete, links_in
from hindsight_core.text.times.instants import as_aware

if TYPE_CHECKING:
    from hindsight_core.stores.qdrant.store import QdrantStore

_PAGE = 500
_EVENT = ("id", "before", "after", "reason", "actor", "batch", "written", "v", "w")


class QdrantReplica:
    """See `moving.Replica`."""

    def __init__(self, store: QdrantStore) -> None:
        self._store = store

    # -- out -------------------------------------------------------------------------------------------------

    def records(self, kind: str, after: int) -> Iterator[tuple[int, Record]]:
        """Records of a kind behind a place."""
        view = self._store.view()
        show: dict[str, Callable[[View, int], Iterator[tuple[int, Record]]]] = {
            "meta": _meta, "counters": _counters, "episode": _episodes, "unit": _units, "links": _links,
            "event": _events, "recall": _recalls,
        }  # fmt: skip
        return ((place, record) for place, record in show[kind](view, after) if place > after)

    # -- in --------------------------------------------------------------------------------------------------

    def absorb(self, tx: QdrantTransaction, kind: str, records: Sequence[tuple[int, Record]]) -> None:
        """Write records of a kind."""
        for place, record in records:
            match kind:
                case "meta":
                    tx.set_meta(record["name"], record["value"])
                case "counters":
                    tx.state.seq, tx.state.event = record["seq"], record["event"]
                case "episode":
                    tx.put_episode(decode_episode(record["json"]))
                case "unit":
                    unit = decode_unit(record["json"])
                    payload = unit_payload(unit, record.get("v"), record.get("w", ""), tx.state.n)
                    tx.overlay.changed[UNITS][unit_id(unit.key)] = payload
                case "links":
                    self._link(tx, record)
                case "event":
                    tx.overlay.changed[EVENTS][place] = _event_payload(record, tx.state.n)
                case "recall":
                    keys = [(tuple(scope), id) for scope, id in json.loads(record["keys"])]
                    tx.log_recall(
                        record["id"], decode_scope(record["scope"]), as_aware(record["written"]), keys
                    )

    def _link(self, tx: QdrantTransaction, record: Record) -> None:
        scope = decode_scope(record["scope"])
        tx.overlay.changed[SIDE][unit_id((scope, record["id"]))] = {
            "kind": ASIDE,
            TENANT: record["scope"],
            "scopes": prefixes(scope),
            "n": tx.state.n,
            "links": record["links"],
        }


def _event_payload(record: Record, n: int) -> Payload:
    fields: Payload = {name: record[name] for name in _EVENT if name in record}
    fields |= {
        TENANT: record["scope"],
        "scopes": prefixes(decode_scope(record["scope"])),
        "at": micros(as_aware(record["written"])),
        "n": n,
    }
    if "after" not in record:
        fields["gone"] = 1
    if "w" in record:
        fields["lost"] = 1
    if record.get("erased"):
        fields["erased"] = 1
    return fields


def _meta(view: View, after: int) -> Iterator[tuple[int, Record]]:
    found = sorted((p["name"], p["value"]) for _, p in view.scroll(SIDE, both(equals("kind", META))))
    return ((place, {"name": name, "value": value}) for place, (name, value) in enumerate(found))


def _counters(view: View, after: int) -> Iterator[tuple[int, Record]]:
    state = read_state(view.points)
    yield 0, {"seq": state.seq, "event": state.event}


def _episodes(view: View, after: int) -> Iterator[tuple[int, Record]]:
    found = [(p["number"], {"json": p["text"]}) for _, p in view.scroll(SIDE, both(equals("kind", EPISODE)))]
    yield from sorted(found, key=lambda item: int(item[0]))


def _ordered(view: View, after: int) -> Iterator[list[PointId]]:
    """Points of units in order of arrival, a page at a time."""
    light = sorted((p["seq"], id) for id, p in view.scroll(UNITS, both(), ("seq",)) if p["seq"] > after)
    for start in range(0, len(light), _PAGE):
        yield [id for _, id in light[start : start + _PAGE]]


def _units(view: View, after: int) -> Iterator[tuple[int, Record]]:
    for page in _ordered(view, after):
        asides = view.retrieve(SIDE, page)
        for id, payload in view.retrieve(UNITS, page, ("body", "v", "w", "seq")).items():
            unit = replace(complete(body(payload, view.place), asides.get(id)), related_ids=())
            record: dict[str, Any] = {"json": encode_unit(unit), "v": payload.get("v"), "w": payload.get("w")}
            yield payload["seq"], {key: value for key, value in record.items() if value}


def _links(view: View, after: int) -> Iterator[tuple[int, Record]]:
    for page in _ordered(view, after):
        asides = view.retrieve(SIDE, page)
        for id, payload in view.retrieve(UNITS, page, ("id", "seq", TENANT)).items():
            links = [[link.id, link.kind.value, link.outgoing] for link in links_in(asides.get(id))]
            if links:
                yield payload["seq"], {"scope": payload[TENANT], "id": payload["id"], "links": links}


def _events(view: View, after: int) -> Iterator[tuple[int, Record]]:
    for number, payload in view.scroll(EVENTS, both(), after=max(after, 0)):
        record = {name: payload[name] for name in _EVENT if payload.get(name) is not None}
        if payload.get("erased"):
            record["erased"] = True
        yield int(number), {"seq": int(number), "scope": payload[TENANT], **record}


def _recalls(view: View, after: int) -> Iterator[tuple[int, Record]]:
    found = [
        (
            p["number"],
            {"id": p["name"], "scope": p[TENANT], "written": p["written"], "keys": p["keys"]},
        )
        for _, p in view.scroll(SIDE, both(equals("kind", RECALL)))
    ]
    yield from sorted(found, key=lambda item: int(item[0]))
