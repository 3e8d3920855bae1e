"""The graph in Neo4j, brought up to date as often as one likes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from hindsight_core.errors import MissingExtra, StoreError
from hindsight_core.graph.export import statements

if TYPE_CHECKING:
    import networkx as nx


class Driver(Protocol):
    """What is used of `neo4j.Driver`."""

    def execute_query(self, query_: Any, parameters_: Any = None, *, database_: Any = None) -> Any:
        """Run a query in a transaction of its own, tried again where that helps."""
        ...


def connect(uri: str, user: str, password: str) -> Driver:
    """Neo4j's own driver.

    Raises:
        MissingExtra: It is not installed.
    """
    try:
        from neo4j import GraphDatabase
    except ImportError as missing:
        raise MissingExtra("Neo4j", "neo4j") from missing
    driver: Driver = GraphDatabase.driver(uri, auth=(user, password))
    return driver


def sync(graph: nx.MultiDiGraph[str], driver: Driver, *, database: str | None = None) -> int:
    """Bring a Neo4j database up to the graph: nodes and edges are made or updated, none is removed.

    Broken off, it is simply run again.

    Args:
        graph: From `memory.graph()`.
        driver: From `connect`, or your own.
        database: Which one; the server's default when left out.

    Returns:
        How many queries were sent.

    Raises:
        StoreError: The server refused one or could not be reached.
    """
    sent = 0
    for query, parameters in statements(graph):
        try:
            driver.execute_query(query, parameters, database_=database)
        except Exception as error:
            if type(error).__module__.split(".")[0] != "neo4j":
                raise
            raise StoreError(
                f"Neo4j refused query {sent + 1} of the sync; run it again once that is mended"
            ) from error
        sent += 1
    return sent
