"""The network of what is remembered: memories, the entities they name, and the links between them.

    graph = memory.graph()                        # a networkx.MultiDiGraph
    neighbourhood(graph, "Redis", hops=1)
    explain(graph, one, other)                    # why two memories belong together
    communities(graph)
    cypher(graph), graphml(graph), to_json(graph)

`build` says what nodes and edges are, `aliases` which names mean one thing, `walk` what can be read off the graph,
`export` and `neo4j` how it gets into other tools. For analysis: recall itself walks its own index.
"""

from hindsight_core.graph.aliases import Aliases, Decision
from hindsight_core.graph.build import build, entity_node, memory_node
from hindsight_core.graph.export import cypher, graphml, statements, to_json
from hindsight_core.graph.neo4j import sync
from hindsight_core.graph.walk import Step, communities, explain, neighbourhood, pagerank, rerank

__all__ = [
    "Aliases",
    "Decision",
    "Step",
    "build",
    "communities",
    "cypher",
    "entity_node",
    "explain",
    "graphml",
    "memory_node",
    "neighbourhood",
    "pagerank",
    "rerank",
    "statements",
    "sync",
    "to_json",
]
