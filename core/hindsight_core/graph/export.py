"""The graph for other tools: GraphML, JSON and Cypher.

Cypher is written as parameterised batches of MERGE, which can be run any number of times: nodes are found by their id and
brought up to date, edges are made once. `statements` is what `neo4j.sync` sends; `cypher` is the same as text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hindsight_core.graph.build import ENTITY, MEMORY, networkx

if TYPE_CHECKING:
    import networkx as nx

BATCH = 500
_LABEL = {MEMORY: "Memory", ENTITY: "Entity"}

Statement = tuple[str, dict[str, Any]]
"""A query and its parameters."""


def graphml(graph: nx.MultiDiGraph[str]) -> str:
    """As GraphML, for Gephi, Cytoscape or yEd."""
    return "\n".join(networkx().generate_graphml(graph))


def to_json(graph: nx.MultiDiGraph[str]) -> str:
    """As JSON: {"nodes": [{"id", ...}], "edges": [{"source", "target", "key", "kind"}]}."""
    data = networkx().node_link_data(graph, edges="edges", name="node")
    nodes = [{"node": fields.pop("node"), **fields} for fields in data["nodes"]]
    return json.dumps({"nodes": nodes, "edges": data["edges"]}, ensure_ascii=False, indent=1)


def statements(graph: nx.MultiDiGraph[str]) -> Iterator[Statement]:
    """Batches of MERGE for a property graph: nodes first, then edges, each found by its `node`."""
    for label in _LABEL.values():
        yield (
            f"CREATE CONSTRAINT hindsight_{label.lower()} IF NOT EXISTS FOR (n:{label}) REQUIRE n.node IS UNIQUE",
            {},
        )
    for kind, label in _LABEL.items():
        rows = [
            {"node": node, "fields": {k: v for k, v in fields.items() if k != "kind"}}
            for node, fields in sorted(graph.nodes(data=True))
            if fields["kind"] == kind
        ]
        for batch in _batches(rows):
            yield (
                f"UNWIND $rows AS row MERGE (n:{label} {{node: row.node}}) SET n += row.fields",
                {"rows": batch},
            )
    pairs: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    for source, target, kind in sorted(graph.edges(keys=True)):
        ends = graph.nodes[source]["kind"], graph.nodes[target]["kind"]
        pairs.setdefault((_LABEL[ends[0]], _LABEL[ends[1]], kind), []).append(
            {"source": source, "target": target}
        )
    for (one, other, kind), edges in sorted(pairs.items()):
        for batch in _batches(edges):
            yield (
                f"UNWIND $rows AS row MATCH (a:{one} {{node: row.source}}), (b:{other} {{node: row.target}})"
                f" MERGE (a)-[:{kind.upper()}]->(b)",
                {"rows": batch},
            )


def _batches(rows: list[Any]) -> Iterator[list[Any]]:
    return (rows[start : start + BATCH] for start in range(0, len(rows), BATCH))


def cypher(graph: nx.MultiDiGraph[str]) -> str:
    """The statements as a script, with their parameters written out."""
    lines = []
    for query, parameters in statements(graph):
        for name, value in parameters.items():
            query = query.replace(f"${name}", _literal(value))
        lines.append(query + ";")
    return "\n".join(lines) + "\n"


def _literal(value: Any) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{key}: {_literal(inner)}" for key, inner in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_literal, value)) + "]"
        case str():
            # Cypher reads the escapes of JSON strings, but not code points beyond 16 bits; those stay as they are.
            return json.dumps(value, ensure_ascii=False)
        case _:
            return json.dumps(value)
