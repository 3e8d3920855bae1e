"""What can be read off the graph: who is near whom, why two memories belong together, and what a walk from here meets.

Every edge has a *length*: a stored link 1, the naming of an entity the more the more memories name it, since sharing a
rare name explains more than sharing a common one. A walk goes over short edges more often than over long ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from hindsight_core.errors import InvalidInput, NotFound
from hindsight_core.graph.build import ENTITY, MEMORY, NAMES, networkx

if TYPE_CHECKING:
    import networkx as nx

DAMPING = 0.5
"""How often a walk goes on. Half, as in HippoRAG (Gutierrez et al. 2024): what matters is a step or two away."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an explanation: two nodes and what joins them."""

    source: str
    target: str
    kind: str


def neighbourhood(graph: nx.MultiDiGraph[str], entity: str, *, hops: int = 1) -> nx.MultiDiGraph[str]:
    """The part of the graph around an entity: what names it, what else that names, and so on for so many hops.

    Args:
        graph: From `memory.graph()`.
        entity: Its node, or one of its names.
        hops: A hop leads from an entity over a memory to other entities.

    Raises:
        NotFound: No entity goes by that name.
    """
    if hops < 0:
        raise InvalidInput("hops must not be negative")
    start = find(graph, entity)
    nearby = networkx().ego_graph(graph.to_undirected(as_view=True), start, radius=2 * hops)
    found: nx.MultiDiGraph[str] = graph.subgraph(nearby.nodes)
    return found


def find(graph: nx.MultiDiGraph[str], entity: str) -> str:
    """The node of an entity, given by node or by one of its names in any spelling.

    Raises:
        NotFound: No entity goes by that name.
    """
    from hindsight_core.text.keys import normalise_key

    if entity in graph and graph.nodes[entity]["kind"] == ENTITY:
        return entity
    wanted = normalise_key(entity)
    for node, fields in graph.nodes(data=True):
        if fields["kind"] == ENTITY and wanted in map(normalise_key, fields["names"].split("; ")):
            return str(node)
    raise NotFound("no memory in this graph names that")


def lengths(graph: nx.MultiDiGraph[str]) -> nx.Graph[str]:
    """The graph without directions, each pair joined by its shortest edge: attributes `length` and `kind`."""
    plain: nx.Graph[str] = networkx().Graph()
    plain.add_nodes_from(graph.nodes(data=True))
    for source, target, kind in sorted(graph.edges(keys=True)):
        length = 1.0 if kind != NAMES else 0.5 + math.log2(1 + graph.nodes[target]["mentions"]) / 2
        if not plain.has_edge(source, target) or plain.edges[source, target]["length"] > length:
            plain.add_edge(source, target, length=length, kind=kind)
    return plain


def explain(graph: nx.MultiDiGraph[str], one: str, other: str) -> list[Step]:
    """The shortest chain of links and shared names from one memory to another; empty when nothing joins them.

    Raises:
        NotFound: One of them is not in the graph.
    """
    for node in (one, other):
        if node not in graph:
            raise NotFound("that memory is not in this graph; nodes are named memory:SCOPE/ID")
    plain = lengths(graph)
    try:
        path = networkx().shortest_path(plain, one, other, weight="length")
    except networkx().NetworkXNoPath:
        return []
    return [Step(a, b, plain.edges[a, b]["kind"]) for a, b in pairwise(path)]


def communities(graph: nx.MultiDiGraph[str], *, seed: int = 0) -> list[frozenset[str]]:
    """Groups of nodes that belong together (Louvain, Blondel et al. 2008), the largest first; the same each time."""
    plain = lengths(graph)
    for _, _, fields in plain.edges(data=True):
        fields["pull"] = 1.0 / fields["length"]
    found = networkx().community.louvain_communities(plain, weight="pull", seed=seed)
    return sorted((frozenset(group) for group in found), key=lambda group: (-len(group), min(group)))


def pagerank(
    graph: nx.MultiDiGraph[str], seeds: Mapping[str, float], *, damping: float = DAMPING
) -> dict[str, float]:
    """How often a walk that keeps returning to the seeds meets each node (personalised PageRank, Haveliwala 2002).

    Args:
        graph: From `memory.graph()`.
        seeds: Nodes and their shares, above 0; those that are not in the graph are passed over.
        damping: How often the walk goes on instead of returning.

    Raises:
        InvalidInput: `seeds` is not a mapping.
    """
    if not isinstance(seeds, Mapping):
        raise InvalidInput('seeds must be a dict of nodes and shares, such as {"entity:kestrel": 1.0}')
    start = {node: share for node, share in seeds.items() if node in graph and share > 0}
    if not start:
        return {}
    plain = lengths(graph)
    for _, _, fields in plain.edges(data=True):
        fields["pull"] = 1.0 / fields["length"]
    found: dict[str, float] = networkx().pagerank(plain, damping, personalization=start, weight="pull")
    return found


def rerank(
    graph: nx.MultiDiGraph[str],
    scores: Sequence[tuple[str, float]],
    entities: Iterable[str] = (),
    *,
    share: float,
    k: int,
) -> list[tuple[str, float]]:
    """Memories by their own score and by what a walk from the best of them, and from entities, meets.

    Args:
        graph: From `memory.graph()`.
        scores: Memory nodes and scores in 0..1, from a recall.
        entities: Nodes of entities that the question names.
        share: Weight of the walk, 0..1; both sides are scaled to their best.
        k: At most so many.

    Returns:
        Memory nodes and scores, best first, ties by node.
    """
    seeds = dict(scores) | dict.fromkeys(entities, max((score for _, score in scores), default=1.0))
    met = pagerank(graph, seeds)
    # Superseded and archived memories may lie on the way; they are not answers unless the recall said so.
    own = dict(scores)
    walked = {
        node: value
        for node, value in met.items()
        if graph.nodes[node]["kind"] == MEMORY and (node in own or graph.nodes[node]["status"] == "active")
    }
    top, best = max(walked.values(), default=1.0), max(own.values(), default=1.0) or 1.0
    mixed = {
        node: (1 - share) * own.get(node, 0.0) / best + share * walked.get(node, 0.0) / top
        for node in {*own, *walked}
    }
    return sorted(mixed.items(), key=lambda item: (-item[1], item[0]))[:k]
