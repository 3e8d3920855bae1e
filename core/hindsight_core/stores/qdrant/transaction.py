"""One atomic write: everything is gathered in an overlay and stored at the end (see `commit`).

Rules are those of `ports.Transaction`: each change of a unit is one event, links are kept at both ends and are no event of
the other unit, and what is refused leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np

from hindsight_core.attributes import micros
from hindsight_core.errors import InvalidInput, NotFound, StoreError
from hindsight_core.journal import mirrored, ordered
from hindsight_core.ports import Floats, Ids, IndexEntry, Use
from hindsight_core.stores.codec import decode_unit, dumps, encode_episode, encode_scope, encode_unit
from hindsight_core.stores.qdrant import library
from hindsight_core.stores.qdrant.commit import State
from hindsight_core.stores.qdrant.erase import erase, let_go
from hindsight_core.stores.qdrant.points import EVENTS, SIDE, UNITS, Overlay, Payload, both, equals, ranged
from hindsight_core.stores.qdrant.schema import (
    TENANT,
    packed,
    past_unit,
    point_id,
    prefixes,
    unit_id,
    unit_payload,
    unpacked,
)
from hindsight_core.stores.qdrant.view import ASIDE, EPISODE, META, RECALL, View, exactly, links_in
from hindsight_core.text.keys import digest, storable
from hindsight_core.text.learnt import tokens_in
from hindsight_core.unit import DIRECTED, Episode, Key, Link, MemoryUnit, Scope, Status

KEPT_RECALLS = 10_000
DIMENSION = "embedder.dimension"
FINGERPRINT = "embedder.fingerprint"
TOKENS = "keywords.fingerprint"

Entry = tuple[str | None, str]
"""Vector and terms, packed."""


class QdrantTransaction:
    """See `ports.Transaction`.

    Attributes:
        view: What is stored, under what this write has changed.
        state: The counters as they will be.
        touched: Whether anything was written.
    """

    def __init__(
        self,
        view: View,
        state: State,
        *,
        actor: str,
        batch: str,
        now: datetime,
        keep: Callable[[], None] = lambda: None,
    ) -> None:
        assert view.overlay is not None
        self.view = view
        self.state = replace(state, n=state.n + 1)
        self.now = now
        self.open = True
        self._keep = keep
        self._changed = view.overlay.changed
        self._signature = {
            "actor": storable(actor),
            "batch": storable(batch),
            "at": micros(now),
            "written": now.isoformat(),
        }

    @property
    def touched(self) -> bool:
        """Whether anything was written."""
        return any(self._changed.values())

    @property
    def overlay(self) -> Overlay:
        """What was written."""
        assert self.view.overlay is not None
        return self.view.overlay

    def _check(self) -> None:
        if not self.open:
            raise StoreError("this write has ended; begin another with store.write(...)")
        self._keep()

    # -- reading ---------------------------------------------------------------------------------------------

    def get(self, key: Key) -> MemoryUnit | None:
        """The unit as it stands inside this transaction."""
        self._check()
        return self.view.unit(key)

    def repeats(self, scope: Scope, content: str) -> list[MemoryUnit]:
        """Active units of exactly this scope that say the same words, oldest first."""
        self._check()
        condition = both(
            exactly(encode_scope(scope)),
            equals("digest", digest(content).hex()),
            equals("status", Status.ACTIVE.value),
        )
        return sorted(self.view.where_units(condition), key=lambda unit: unit.seq)

    def units_of(self, scope: Scope, episode: str) -> list[MemoryUnit]:
        """Units that came from an episode or were said again in it."""
        self._check()
        return library.units_of(self.view, scope, episode)

    # -- units -----------------------------------------------------------------------------------------------

    def put(self, unit: MemoryUnit, entry: IndexEntry | None, *, reason: str) -> MemoryUnit:
        """Insert or replace a unit and journal it."""
        self._check()
        if not unit.scope:
            raise InvalidInput("a memory's scope must not be empty")
        id = unit_id(unit.key)
        stored = self.view.retrieve(UNITS, [id]).get(id)
        before = None if stored is None else self.view.whole({id: stored})[id]
        links, others = self._linkable(id, unit)
        after = replace(unit, seq=self._seq(unit) if before is None else before.seq, related_ids=links)
        text = encode_unit(after)
        if "\ufffd" in text:  # perhaps put there in place of what no encoding can hold
            after = decode_unit(text)
        # Everything that can be refused is refused before the first change.
        vector, terms = self._entry(stored, before, after, entry)
        payload = unit_payload(replace(after, related_ids=()), vector, terms, self.state.n)
        lost: Entry | None = None
        if before is not None and stored is not None and before.content != after.content:
            lost = stored.get("v"), stored.get("w", "")
        if before is None:
            self.state.seq = max(self.state.seq, after.seq)
        self._changed[UNITS][id] = payload
        old_links = () if before is None else before.related_ids
        self._write_links(id, after, old_links, links, others, new=before is None)
        self.event(unit.key, before, text, reason, lost)
        return after

    def remove(self, key: Key, *, reason: str) -> None:
        """Delete a unit and every link to it; the journal keeps it."""
        self._check()
        id = unit_id(key)
        stored = self.view.retrieve(UNITS, [id]).get(id)
        if stored is None:
            raise NotFound("no memory with that id in that scope")
        before = self.view.whole({id: stored})[id]
        self.event(key, before, None, reason, (stored.get("v"), stored.get("w", "")))
        self.delete(before)

    def erase(self, key: Key) -> None:
        """Remove a unit for good, from the journal as well."""
        self._check()
        erase(self, (key[0], storable(key[1])))

    def let_go(self, keys: Iterable[Key], *, before: datetime) -> None:
        """Empty what the journal holds of units that are gone; see `ports.Transaction`."""
        self._check()
        let_go(self, keys, before)

    def delete(self, unit: MemoryUnit) -> None:
        """Delete a unit's points and the other ends of its links; not its journal."""
        id = unit_id(unit.key)
        self._unlink(unit, {unit_id((unit.scope, link.id)): link for link in unit.related_ids})
        self._changed[UNITS][id] = None
        self._changed[SIDE][id] = None

    def _unlink(self, unit: MemoryUnit, others: Mapping[Any, Link]) -> None:
        asides = self.view.retrieve(SIDE, others)
        for other, aside in asides.items():
            kept = [link for link in links_in(aside) if link.id != unit.id]
            self._set_aside(str(other), unit.scope, {**aside, "links": _written(kept)})

    def _seq(self, unit: MemoryUnit) -> int:
        """A removed unit that comes back keeps its place in the order of arrival; a new one comes last."""
        if unit.seq and any(was.seq == unit.seq for was, _ in self._removed(unit.key)):
            return unit.seq
        return self.state.seq + 1

    def _removed(self, key: Key) -> Iterator[tuple[MemoryUnit, Entry]]:
        """Earlier states of a key whose index entry the journal keeps, newest first."""
        condition = both(exactly(encode_scope(key[0])), equals("id", storable(key[1])), equals("lost", True))
        for _, event in sorted(self.view.scroll(EVENTS, condition), reverse=True):
            yield past_unit(event["before"], self.view.place), (event.get("v"), event["w"])

    def _entry(
        self,
        stored: Payload | None,
        before: MemoryUnit | None,
        after: MemoryUnit,
        given: IndexEntry | None,
    ) -> Entry:
        """Vector and terms to store, packed."""
        if given is not None:
            if given.vector is not None:
                self._check_dimension(len(given.vector))
            vector = None if given.vector is None else packed(np.ascontiguousarray(given.vector, np.float32))
            return vector, packed(np.ascontiguousarray(given.terms, np.uint64))
        if stored is not None and before is not None and before.content == after.content:
            return stored.get("v"), stored.get("w", "")
        for was, entry in self._removed(after.key):
            if was.content == after.content:
                return entry
        if after.indexed:
            raise InvalidInput("an indexed memory with new content needs an index entry")
        return None, ""

    def _check_dimension(self, dimension: int) -> None:
        if self.state.dimension is None:
            self.set_meta(DIMENSION, str(dimension))
        elif dimension != self.state.dimension:
            raise InvalidInput(
                f"the store holds vectors of {self.state.dimension} dimensions, not of {dimension}"
            )

    # -- links -----------------------------------------------------------------------------------------------

    def _linkable(self, id: str, unit: MemoryUnit) -> tuple[tuple[Link, ...], dict[str, str]]:
        """The unit's links to memories that exist, as stored, and the points of those memories."""
        points = {
            other: unit_id((unit.scope, other)) for other in {storable(link.id) for link in unit.related_ids}
        }
        there = self.view.retrieve(UNITS, points.values(), ("id",)) if points else {}
        others = {other: point for other, point in points.items() if point in there and point != id}
        return ordered(
            Link(other, link.kind, link.outgoing or link.kind not in DIRECTED)
            for link in unit.related_ids
            if (other := storable(link.id)) in others
        ), others

    def _write_links(
        self,
        id: str,
        unit: MemoryUnit,
        before: Sequence[Link],
        after: Sequence[Link],
        others: dict[str, str],
        *,
        new: bool,
    ) -> None:
        """The unit's own aside, and the other ends of the links that came or went. Its uses are in the unit now."""
        if after or not new:
            self._set_aside(id, unit.scope, {"links": _written(after)})
        changed = set(before) ^ set(after)
        points = {link.id: others.get(link.id) or unit_id((unit.scope, link.id)) for link in changed}
        asides = self.view.retrieve(SIDE, points.values()) if points else {}
        for other, point in points.items():
            aside = asides.get(point, {})
            links = set(links_in(aside))
            for link in changed:
                if link.id == other:
                    back = mirrored(link, unit.id)
                    links = links | {back} if link in after else links - {back}
            self._set_aside(point, unit.scope, {**aside, "links": _written(ordered(links))})

    def _set_aside(self, id: str, scope: Scope, fields: Mapping[str, Any]) -> None:
        if not fields.get("links") and "weight" not in fields:
            there = self.view.retrieve(SIDE, [id])
            if not there:
                return
        self._changed[SIDE][id] = {
            **{key: value for key, value in fields.items() if value != []},
            "kind": ASIDE,
            TENANT: encode_scope(scope),
            "scopes": prefixes(scope),
            "n": self.state.n,
        }

    # -- the journal -----------------------------------------------------------------------------------------

    def event(
        self, key: Key, before: MemoryUnit | None, after: str | None, reason: str, lost: Entry | None
    ) -> None:
        """Append an event; `lost` is the index entry that this change loses."""
        self.state.event += 1
        fields: Payload = {
            TENANT: encode_scope(key[0]),
            "scopes": prefixes(key[0]),
            "id": storable(key[1]),
            "before": None if before is None else encode_unit(before),
            "after": after,
            "reason": storable(reason),
            "n": self.state.n,
            **self._signature,
        }
        if after is None:
            fields["gone"] = 1
        if lost is not None:
            fields |= {"lost": 1, "v": lost[0], "w": lost[1]}
        self._changed[EVENTS][self.state.event] = {k: v for k, v in fields.items() if v is not None}

    def set_event(self, number: int, fields: Payload) -> None:
        """Replace an event; for erasing only."""
        self._changed[EVENTS][number] = fields

    # -- beside the units ------------------------------------------------------------------------------------

    def put_episode(self, episode: Episode) -> None:
        """Insert or replace an episode."""
        self._check()
        id = point_id(EPISODE, episode.scope, episode.id)
        old = self.view.retrieve(SIDE, [id], ("number",)).get(id)
        if old is None:
            self.state.episode += 1
        fields: Payload = {
            "kind": EPISODE,
            TENANT: encode_scope(episode.scope),
            "scopes": prefixes(episode.scope),
            "id": storable(episode.id),
            "session": None if episode.source.session is None else storable(episode.source.session),
            "number": self.state.episode if old is None else old["number"],
            "state": storable(episode.state),
            "text": encode_episode(episode),
        }
        self._changed[SIDE][id] = {k: v for k, v in fields.items() if v is not None}

    def drop_episode(self, scope: Scope, id: str) -> None:
        """Delete an episode; for erasing only."""
        self._changed[SIDE][point_id(EPISODE, scope, id)] = None

    def use(self, uses: Iterable[Use]) -> None:
        """Record uses in the asides."""
        self._check()
        wanted = {unit_id(use.key): use for use in uses}
        there = self.view.retrieve(UNITS, wanted, ("id",)) if wanted else {}
        asides = self.view.retrieve(SIDE, there) if there else {}
        for id in there:
            use = wanted[str(id)]
            at = use.at.isoformat()
            self._set_aside(
                str(id),
                use.key[0],
                {
                    **asides.get(id, {}),
                    "weight": use.weight,
                    "weight_at": at,
                    "last_access": at,
                    "access_count": use.access_count,
                },
            )

    def set_vectors(self, vectors: Mapping[Key, Floats]) -> None:
        """Replace the vectors of units, which stay as they are; keys without a unit are passed over."""
        self._check()
        for vector in vectors.values():
            self._check_dimension(len(vector))
        self._replace(
            {
                key: {"v": packed(np.ascontiguousarray(vector, np.float32)), "size": len(vector)}
                for key, vector in vectors.items()
            }
        )

    def set_terms(self, terms: Mapping[Key, Ids]) -> None:
        """Replace the packed terms of units, which stay as they are; keys without a unit are passed over."""
        self._check()
        self._replace(
            {key: {"w": packed(np.ascontiguousarray(held, np.uint64))} for key, held in terms.items()}
        )

    def _replace(self, fields: Mapping[Key, Payload]) -> None:
        """Replace fields of units' payloads."""
        wanted = {unit_id(key): changed for key, changed in fields.items()}
        for id, payload in self.view.retrieve(UNITS, wanted).items():
            there = self._changed[UNITS].get(id) or payload
            self._changed[UNITS][id] = {**there, **wanted[str(id)], "n": self.state.n}

    def log_recall(self, recall_id: str, scope: Scope, at: datetime, keys: Sequence[Key]) -> None:
        """Remember which memories a recall gave; only the newest recalls are kept."""
        self._check()
        self.state.recall += 1
        self._changed[SIDE][point_id(RECALL, (), recall_id)] = {
            "kind": RECALL,
            "name": storable(recall_id),
            "number": self.state.recall,
            TENANT: encode_scope(scope),
            "keys": dumps(keys),
            "written": at.isoformat(),
        }
        if self.state.recall > KEPT_RECALLS and self.state.recall % 100 == 0:
            old = both(equals("kind", RECALL), ranged("number", lte=self.state.recall - KEPT_RECALLS))
            for id, _ in list(self.view.scroll(SIDE, old, ("number",))):
                self._changed[SIDE][id] = None

    def set_meta(self, name: str, value: str) -> None:
        """Set one of the store's own settings."""
        self._check()
        name, value = storable(name), storable(value)
        id = point_id(META, (), name)
        old = self.view.retrieve(SIDE, [id]).get(id)
        self._changed[SIDE][id] = {"kind": META, "name": name, "value": value}
        if name in (FINGERPRINT, TOKENS) and old is not None and old["value"] != value:
            # An undo must not bring back vectors or tokens of another model; what comes back without can be embedded again.
            forget = _without_vector if name == FINGERPRINT else _words_only
            for number, event in list(self.view.scroll(EVENTS, both(equals("lost", True)))):
                self._changed[EVENTS][number] = forget(self._changed[EVENTS].get(number) or event)
        if name == DIMENSION:
            self.state.dimension = int(value)


def _without_vector(event: Payload) -> Payload:
    return {key: kept for key, kept in event.items() if key != "v"}


def _words_only(event: Payload) -> Payload:
    terms = unpacked(event.get("w", ""), np.uint64)
    return {**event, "w": packed(terms[tokens_in(terms) :])}


def _written(links: Iterable[Link]) -> list[list[Any]]:
    return [[link.id, link.kind.value, link.outgoing] for link in links]
