"""From memories to a graph of memories and entities.

Nodes are strings: `memory:SCOPE/ID` and `entity:KEY`. Edges say why: `names` from a memory to an entity; otherwise the kind
of the stored link, from the later end to the earlier where it has a direction, once where it has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import MissingExtra
from hindsight_core.graph.aliases import Aliases
from hindsight_core.strength import weight_now
from hindsight_core.text.keys import normalise_key
from hindsight_core.unit import DIRECTED, Key, MemoryUnit, Scope

if TYPE_CHECKING:
    import networkx as nx

MEMORY, ENTITY = "memory", "entity"
NAMES = "names"


def networkx() -> Any:
    """The library.

    Raises:
        MissingExtra: It is not installed.
    """
    try:
        import networkx as nx
    except ImportError as missing:
        raise MissingExtra("The entity graph", "graph") from missing
    return nx


def memory_node(key: Key) -> str:
    """The node of a memory; slashes within a name are written %2F, so that no two memories share a node."""
    names = (name.replace("%", "%25").replace("/", "%2F") for name in (*key[0], key[1]))
    return f"{MEMORY}:{'/'.join(names)}"


def entity_node(key: str) -> str:
    """The node of an entity, by the key of what its name means."""
    return f"{ENTITY}:{key}"


def build(
    units: Iterable[MemoryUnit], aliases: Callable[[Scope], Aliases], *, now: datetime, decay: float
) -> nx.MultiDiGraph[str]:
    """The graph of some memories.

    A memory has `content`, `status`, `type`, `importance`, `weight` (as of now), `timestamp`, `scope`, `id`; an entity
    `name`, `type`, `names` (all it goes by) and `mentions`. Links to memories that are not among them are left out.

    Args:
        units: The memories.
        aliases: Which names mean one thing in a scope.
        now: For the weights.
        decay: Strength kept per day.
    """
    graph = networkx().MultiDiGraph()
    units = sorted(units, key=lambda unit: (unit.scope, unit.id))
    for unit in units:
        at = unit.timestamp
        graph.add_node(
            memory_node(unit.key),
            kind=MEMORY,
            label=unit.summary or unit.content[:80],
            content=unit.content,
            scope="/".join(unit.scope),
            id=unit.id,
            status=unit.status.value,
            type=unit.memory_type.value,
            importance=unit.importance,
            weight=weight_now(unit.weight, (now - unit.weight_at).total_seconds(), decay=decay),
            timestamp="" if at is None else at.isoformat(),
        )
    for unit in units:
        node, names = memory_node(unit.key), aliases(unit.scope)
        for entity in unit.entities:
            if entity.type != "time":
                _name(graph, node, entity_node(names.key(entity.key)), entity.name, entity.type)
        for link in unit.related_ids:
            other = memory_node((unit.scope, link.id))
            first = link.outgoing if link.kind in DIRECTED else node < other
            if first and other in graph:
                graph.add_edge(node, other, key=link.kind.value, kind=link.kind.value)
    for names in map(aliases, {unit.scope for unit in units}):
        for key, group in names.groups().items():
            _also(graph, entity_node(key), group)
    return graph


def _also(graph: nx.MultiDiGraph[str], entity: str, names: Iterable[str]) -> None:
    """An entity goes by names that no memory here uses, too."""
    if entity in graph:
        known = graph.nodes[entity]["names"].split("; ")
        missing = set(names) - {normalise_key(name) for name in known}
        graph.nodes[entity]["names"] = "; ".join([*known, *sorted(missing)])


def _name(graph: nx.MultiDiGraph[str], memory: str, entity: str, name: str, type: str) -> None:
    if entity not in graph:
        graph.add_node(entity, kind=ENTITY, label=name, name=name, type=type, names=name, mentions=0)
    fields = graph.nodes[entity]
    known = fields["names"].split("; ")
    if name not in known:
        fields["names"] = "; ".join([*known, name])
    if not graph.has_edge(memory, entity, NAMES):
        graph.add_edge(memory, entity, key=NAMES, kind=NAMES)
        fields["mentions"] += 1
