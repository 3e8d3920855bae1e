"""Moving a memory from one store to another, journal and all.

A store shows itself as *records*: plain JSON objects of a few kinds, each in an order of its own. `copy` reads them from one
store and writes them to another, a batch at a time, and with each batch, in the same write, how far it has come. Broken off,
it goes on from there. At the end both stores are read once more, and must agree in the number of records and in a checksum
of each kind.

Nothing is worked out anew: ids, times, the order of arrival, the numbers of events, uses, links and vectors are carried
over, so undoing, erasing and asking for the past work as before.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Protocol

from hindsight_core.errors import InvalidInput, StoreError
from hindsight_core.ports import Store
from hindsight_core.stores.codec import dumps

KINDS = ("meta", "counters", "episode", "unit", "links", "event", "recall")
"""What a store consists of, in the order it is moved."""

MARK = "migration"
BATCH = 256

Record = dict[str, Any]
"""`meta`: name, value. `counters`: seq, event. `episode`: json. `unit`: json (without links), v, w (packed in base64, as
in Qdrant's payloads). `links`: scope, id, links. `event`: seq, scope, id, before, after, reason, actor, batch, written, erased,
v, w. `recall`: id, scope, written, keys. What is empty is left out."""

Progress = Callable[[str, int], None]
"""Told the kind that is being moved, and how many of it have been."""


class Replica(Protocol):
    """A store's records, out and in."""

    def records(self, kind: str, after: int) -> Iterator[tuple[int, Record]]:
        """Records of a kind behind a place, with their places, ascending."""
        ...

    def absorb(self, tx: Any, kind: str, records: Sequence[tuple[int, Record]]) -> None:
        """Write records of a kind, in a transaction of this store; what is there is replaced."""
        ...


@dataclass(frozen=True, slots=True)
class Moved:
    """What was moved: the number of records of each kind, and the checksum that both stores have."""

    counts: dict[str, int]
    checksum: str


def replica(store: Store) -> Replica:
    """The records of a store.

    Raises:
        InvalidInput: It is of a kind that cannot show them.
    """
    found = getattr(store, "replica", None)
    if found is None:
        raise InvalidInput(f"a {type(store).__name__} cannot be moved; export its memories and import them")
    made: Replica = found()
    return made


def copy(
    source: Store, target: Store, *, name: str, now: datetime, progress: Progress = lambda kind, count: None
) -> Moved:
    """Move everything from one store to another, which is empty or holds the beginning of the same move.

    Args:
        source: Left as it is; it should not be written to meanwhile.
        target: Where to.
        name: Of the source, by which a move that was broken off is known again.
        now: When.
        progress: Told how far it is.

    Raises:
        InvalidInput: The target holds something else.
        StoreError: The two do not agree at the end, as when the source was written to meanwhile.
    """
    reading, writing = replica(source), replica(target)
    start, place = _begun(target, name)
    for kind in KINDS[KINDS.index(start) :]:
        count = 0
        records = reading.records(kind, place if kind == start else -1)
        while batch := list(islice(records, BATCH)):
            batch = [(at, record) for at, record in batch if record.get("name") != MARK]
            with target.write(actor="migrate", batch="migrate", now=now) as tx:
                writing.absorb(tx, kind, batch)
                if batch:
                    tx.set_meta(MARK, json.dumps({"from": name, "kind": kind, "after": batch[-1][0]}))
            count += len(batch)
            progress(kind, count)
    moved = fingerprint(reading)
    if fingerprint(writing) != moved:
        raise StoreError(
            "the two stores do not agree after the move, as when the source was written to meanwhile; nothing in the source"
            " was changed: move it again, to a new place"
        )
    with target.write(actor="migrate", batch="migrate", now=now) as tx:
        tx.set_meta(MARK, json.dumps({"from": name, "kind": "", "after": 0}))
    return moved


def _begun(target: Store, name: str) -> tuple[str, int]:
    """Where a move goes on: kind and place."""
    mark = target.meta().get(MARK)
    if mark is None:
        if target.position() or target.scopes() or target.meta():
            raise InvalidInput("the place to move to holds memories already; name a new one")
        return KINDS[0], -1
    known = json.loads(mark)
    if known["from"] != name or known["kind"] == "":
        raise InvalidInput(
            "the place to move to holds another memory, or one that was moved already; name a new one"
        )
    return known["kind"], known["after"]


def fingerprint(shown: Replica) -> Moved:
    """Numbers and checksum of all records; places do not count, order does."""
    digest = hashlib.sha256()
    counts = {}
    for kind in KINDS:
        counts[kind] = 0
        for _, record in shown.records(kind, -1):
            if record.get("name") != MARK:
                counts[kind] += 1
                digest.update(f"{kind} {dumps(dict(sorted(record.items())))}\n".encode())
    return Moved(counts, digest.hexdigest())
