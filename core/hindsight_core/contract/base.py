"""What the parts of the contract share: how a store is opened, and made-up memories to put into it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from hindsight_core.journal import Event
from hindsight_core.ports import Capabilities, Ids, IndexEntry, Probe, Reading, Store, Visibility
from hindsight_core.text.hashing import stable_id
from hindsight_core.text.learnt import pack_weights, token_ids
from hindsight_core.text.tokens import pack
from hindsight_core.unit import MemoryUnit, Scope, Status

NOW = datetime(2031, 5, 4, 12, tzinfo=UTC)
MEI: Scope = ("kestrel", "mei")
TEAM: Scope = ("kestrel",)
EVERY_STATUS = frozenset(Status)


def day(number: int) -> datetime:
    """Noon, so many days after the first of May."""
    return datetime(2031, 5, 1, 12, tzinfo=UTC) + timedelta(days=number)


def unit(id: str, content: str = "", scope: Scope = MEI, **fields: Any) -> MemoryUnit:
    """A memory; what is not given is plain."""
    plain: dict[str, Any] = {"recorded_at": NOW, "weight_at": NOW}
    return MemoryUnit(scope=scope, id=id, content=content or f"memory {id}", **(plain | fields))


def entry(
    words: str = "", vector: Sequence[float] | None = None, tokens: Mapping[int, float] | None = None
) -> IndexEntry:
    """An index entry whose terms are the words as they stand, behind tokens with learnt weights."""
    return IndexEntry(
        vector=None if vector is None else np.array(vector, np.float32), terms=terms_of(words, tokens or {})
    )


def terms_of(words: str, tokens: Mapping[int, float]) -> Ids:
    """Packed terms: tokens and words."""
    packed = pack(words.split())
    return np.concatenate([pack_weights(tokens), packed]) if tokens else packed


def visible(*scopes: Scope, **conditions: Any) -> Visibility:
    """What may be seen; everything of Mei's if nothing is said."""
    return Visibility(scopes=scopes or (MEI,), now=conditions.pop("now", NOW), **conditions)


def probe(
    seen: Visibility,
    *,
    vector: Sequence[float] | None = None,
    words: Mapping[str, float] | None = None,
    entities: Sequence[str] = (),
    tokens: Mapping[int, float] | None = None,
    **settings: Any,
) -> Probe:
    """A question; words and tokens have weights, entities are named by key."""
    words, tokens = words or {}, tokens or {}
    return Probe(
        visible=seen,
        vector=None if vector is None else np.array(vector, np.float32),
        terms=np.array([stable_id(word) for word in words], np.uint64),
        term_weights=np.array(list(words.values()), np.float32),
        entities=np.array([stable_id(key) for key in entities], np.uint64),
        learnt=token_ids(tokens),
        learnt_weights=np.array(list(tokens.values()), np.float32),
        **({"k1": 1.2, "b": 0.4} | settings),
    )


def found(reading: Reading, question: Probe) -> list[str]:
    """The ids that a search brings, sorted."""
    return sorted(reading.search(question)[0].ids)


def plain(unit: MemoryUnit | None) -> MemoryUnit | None:
    """A memory without the place it was given in the order of arrival."""
    return None if unit is None else replace(unit, seq=0)


TOLERANCE = 1e-4


def assert_close(array: object, wanted: object) -> None:
    """Equal up to the tolerance, nan where nan is wanted."""
    np.testing.assert_allclose(
        np.asarray(array, np.float64), np.asarray(wanted, np.float64), atol=TOLERANCE, rtol=0
    )


@contextmanager
def refused(kind: type[Exception]) -> Iterator[None]:
    """What is inside must raise this error."""
    try:
        yield
    except kind:
        return
    raise AssertionError(f"{kind.__name__} was not raised")


class ContractBase:
    """How a store under test is opened."""

    capabilities: ClassVar[Capabilities] = Capabilities()

    def make_store(self, folder: Path) -> Store:
        """Open the store kept in `folder`, making it when there is none. To be written by the subclass."""
        raise NotImplementedError

    @contextmanager
    def opened(self, folder: Path) -> Iterator[Store]:
        """A store that is closed at the end."""
        store = self.make_store(folder)
        try:
            yield store
        finally:
            store.close()

    def need(self, capability: str) -> None:
        """Skip, visibly, what the store does not promise."""
        if not getattr(self.capabilities, capability):
            import pytest

            pytest.skip(self.capabilities.notes.get(capability, f"the store does not promise: {capability}"))

    def put(
        self,
        store: Store,
        *memories: MemoryUnit | tuple[MemoryUnit, IndexEntry | None],
        batch: str = "batch",
        now: datetime = NOW,
    ) -> list[MemoryUnit]:
        """Store memories in one write; without an entry of their own they are found by the words of their content."""
        with store.write(actor="test", batch=batch, now=now) as tx:
            pairs = [m if isinstance(m, tuple) else (m, entry(m.content)) for m in memories]
            return [tx.put(one, its_entry, reason="test") for one, its_entry in pairs]

    def get(self, store: Store, id: str, scope: Scope = MEI) -> MemoryUnit | None:
        """One memory by id."""
        return store.get([(scope, id)])[0]

    def undo(self, store: Store, batch: str, now: datetime = NOW) -> None:
        """Walk a batch backwards, as the engine does."""
        events: Iterable[Event] = reversed(list(store.events(batch=batch)))
        with store.write(actor="undo", batch=f"undo {batch}", now=now) as tx:
            for event in events:
                if event.before is None:
                    tx.remove(event.key, reason="undo")
                else:
                    tx.put(event.before, None, reason="undo")
