"""The network of memories, and the names by which it holds together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

from hindsight_core.engine.checks import text_of
from hindsight_core.engine.parts import Parts
from hindsight_core.errors import InvalidInput
from hindsight_core.graph.aliases import MERGE, SPLIT, Aliases, Decision, check, dump, load, said_in, without
from hindsight_core.graph.build import build
from hindsight_core.ports import Visibility
from hindsight_core.scope import covers
from hindsight_core.stores.codec import encode_scope
from hindsight_core.unit import MemoryUnit, Scope, Status

if TYPE_CHECKING:
    import networkx as nx


def graph(parts: Parts, scopes: tuple[Scope, ...], now: datetime) -> nx.MultiDiGraph[str]:
    """The graph of everything these scopes hold, whatever its status."""
    visible = Visibility(scopes=scopes, now=now, statuses=frozenset(Status), unindexed=True)
    units = parts.store.find(visible)
    by_scope: dict[Scope, list[MemoryUnit]] = {}
    for unit in units:
        if unit.status is Status.ACTIVE:
            by_scope.setdefault(unit.scope, []).append(unit)
    meta = parts.store.meta()

    @cache
    def aliases(scope: Scope) -> Aliases:
        decisions = [
            decision
            for length in range(1, len(scope) + 1)
            if any(covers(prefix, scope[:length]) for prefix in scopes)
            for decision in load(meta.get(_setting(scope[:length])))
        ]
        return Aliases(decisions, said_in(by_scope.get(scope, ())))

    return build(units, aliases, now=now, decay=parts.profile.decay)


def _setting(scope: Scope) -> str:
    return f"names {encode_scope(scope)}"


class Names:
    """Which names mean one thing in a scope and below: what the user has decided. See `graph.aliases`."""

    def __init__(self, parts: Parts, scope: Scope, now: datetime) -> None:
        self._parts = parts
        self._scope = scope
        self._now = now

    def decisions(self) -> list[Decision]:
        """Merges and splits, in the order they were made."""
        return load(self._parts.store.meta().get(_setting(self._scope)))

    def groups(self) -> dict[str, list[str]]:
        """What has several names by these decisions: its key, and all of them."""
        return Aliases(self.decisions()).groups()

    def merge(self, *names: str) -> str:
        """Several names mean one thing; the first is what it is called.

        Returns:
            An id by which it can be undone.

        Raises:
            InvalidInput: Fewer than two names, or names that differ in a number.
        """
        check([text_of(name, "a name") for name in names])
        return self._decide(MERGE, names)

    def split(self, name: str) -> str:
        """A name stands alone, whatever memories say; returns an id by which that can be undone."""
        if not text_of(name, "name").strip():
            raise InvalidInput("a name must not be blank")
        return self._decide(SPLIT, (name,))

    def undo(self, id: str) -> None:
        """Take a merge or a split back.

        Raises:
            NotFound: There is none with that id.
        """
        self._change(lambda made: without(made, id))

    def _decide(self, kind: str, names: Sequence[str]) -> str:
        id = self._parts.new_id(self._now)
        self._change(lambda made: [*made, Decision(id, kind, tuple(names))])
        return id

    def _change(self, change: Callable[[list[Decision]], list[Decision]]) -> None:
        """Read and write in one transaction, so that nobody's decision is lost who decides at the same time."""
        store, batch = self._parts.store, self._parts.new_id(self._now)
        with store.write(actor="user", batch=batch, now=self._now) as tx:
            tx.set_meta(_setting(self._scope), dump(change(self.decisions())))
