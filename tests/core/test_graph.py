"""The network of memories: what it holds, what can be read off it, and how it gets into other tools."""

import json
import os
from dataclasses import replace
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest

pytest.importorskip("networkx", reason="needs the extra [graph]")

import networkx as nx

from hindsight_core import graph as network
from hindsight_core.errors import InvalidInput, NotFound, StoreError
from hindsight_core.graph import (
    Step,
    communities,
    cypher,
    entity_node,
    explain,
    memory_node,
    neighbourhood,
    pagerank,
    rerank,
)
from hindsight_core.graph.aliases import Aliases, Decision, nearly_alike, numbers, said_in
from hindsight_core.graph.neo4j import connect
from hindsight_core.unit import Entity, Link, LinkKind, MemoryUnit, Status


def thing(name, kind="system"):
    return Entity(name, kind, name.casefold())


@pytest.fixture
def told(memory):
    """Five memories: a and b share Kestrel, b and c share Mei, c evolved into d, e stands alone."""
    memory.remember("Kestrel runs on port 7420.", id="a", consolidate=False)
    memory.remember("Mei owns Kestrel.", id="b", consolidate=False)
    memory.remember("Mei lives in Turin.", id="c", consolidate=False)
    memory.remember("Mei has moved to Oslo.", id="d", consolidate=False)
    memory.remember("薄荷要多浇水。", id="e", consolidate=False)
    store = memory.parts.store
    names = {
        "a": ["Kestrel"],
        "b": ["Mei", "Kestrel"],
        "c": ["Mei", "Turin"],
        "d": ["Mei", "Oslo"],
        "e": ["薄荷"],
    }
    with store.write(actor="test", batch="b", now=memory._now()) as tx:
        for id, each in names.items():
            unit = tx.get((("u",), id))
            links = (Link("c", LinkKind.EVOLVES),) if id == "d" else ()
            status = Status.SUPERSEDED if id == "c" else Status.ACTIVE
            changed = replace(unit, entities=tuple(map(thing, each)), related_ids=links, status=status)
            tx.put(changed, None, reason="test")
    return memory


def test_it_holds_memories_entities_and_links(told):
    graph = told.graph()
    kinds = nx.get_node_attributes(graph, "kind")
    assert sorted(n for n, kind in kinds.items() if kind == "memory") == [f"memory:u/{id}" for id in "abcde"]
    assert sorted(n for n, kind in kinds.items() if kind == "entity") == [
        "entity:kestrel", "entity:mei", "entity:oslo", "entity:turin", "entity:薄荷",
    ]  # fmt: skip
    assert graph.nodes["entity:mei"]["mentions"] == 3
    assert graph.nodes["memory:u/c"]["status"] == "superseded"
    assert graph.nodes["memory:u/a"]["weight"] == pytest.approx(
        graph.nodes["memory:u/a"]["importance"], abs=0.5
    )
    assert graph.has_edge("memory:u/d", "memory:u/c", "evolves")
    assert not graph.has_edge("memory:u/c", "memory:u/d")


def test_weights_are_as_of_now(told, clock):
    before = told.graph().nodes["memory:u/a"]["weight"]
    clock.advance(days=30)
    assert told.graph().nodes["memory:u/a"]["weight"] == pytest.approx(before * 0.99**30)


def test_it_shows_what_may_be_read_and_no_more(told, open_memory):
    other = told.within("work")
    other.remember("Zephyr is secret.", id="z")
    assert "memory:u/work/z" in told.graph()
    assert sorted(n for n in other.graph() if n.startswith("memory")) == ["memory:u/work/z"]


def test_scopes_and_ids_that_look_alike_have_nodes_of_their_own(open_memory):
    keys = [(("甲", "b"), "x"), (("甲/b",), "x"), (("甲",), "b/x"), (("甲%2Fb",), "x")]
    for scope, id in keys:
        open_memory(scope=scope).remember("Kestrel runs on port 7421.", id=id)
    graph = open_memory(scope="甲", read=[scope for scope, _ in keys]).graph()
    assert len({memory_node(key) for key in keys} & set(graph)) == len(keys)
    assert memory_node(keys[0]) == "memory:甲/b/x"


def test_a_neighbourhood_goes_over_memories(told):
    graph = told.graph()
    assert sorted(neighbourhood(graph, "KESTREL", hops=1)) == [
        "entity:kestrel", "entity:mei", "memory:u/a", "memory:u/b",
    ]  # fmt: skip
    assert sorted(neighbourhood(graph, "薄荷", hops=5)) == ["entity:薄荷", "memory:u/e"]
    with pytest.raises(NotFound):
        neighbourhood(graph, "nobody")


def test_an_explanation_is_the_shortest_chain(told):
    graph = told.graph()
    assert explain(graph, "memory:u/a", "memory:u/b") == [
        Step("memory:u/a", "entity:kestrel", "names"), Step("entity:kestrel", "memory:u/b", "names"),
    ]  # fmt: skip
    assert explain(graph, "memory:u/d", "memory:u/c") == [Step("memory:u/d", "memory:u/c", "evolves")]
    assert explain(graph, "memory:u/a", "memory:u/e") == []
    assert explain(graph, "memory:u/a", "memory:u/a") == []
    with pytest.raises(NotFound):
        explain(graph, "memory:u/a", "memory:u/x")


def test_communities_are_the_same_each_time(told):
    found = communities(told.graph())
    assert frozenset({"entity:薄荷", "memory:u/e"}) in found
    assert found == communities(told.graph())
    assert sum(map(len, found)) == len(told.graph())


def test_a_walk_meets_what_is_near(told):
    met = pagerank(told.graph(), {"entity:kestrel": 1.0, "memory:u/nobody": 1.0})
    assert met["memory:u/a"] > met["memory:u/c"] > met["memory:u/e"]
    assert met["memory:u/e"] == pytest.approx(0, abs=1e-5)
    assert sum(met.values()) == pytest.approx(1)
    assert pagerank(told.graph(), {"memory:u/nobody": 1.0}) == {}
    with pytest.raises(InvalidInput, match="a dict"):
        pagerank(told.graph(), ["entity:kestrel"])


def test_a_walk_brings_in_what_a_recall_missed(told):
    graph = told.graph()
    ranked = rerank(graph, [("memory:u/a", 1.0)], ["entity:mei"], share=0.5, k=5)
    ids = [node for node, _ in ranked]
    assert ids[0] == "memory:u/a"
    assert "memory:u/b" in ids
    assert "memory:u/c" not in ids  # superseded, and the recall did not bring it
    assert rerank(graph, [("memory:u/a", 1.0)], share=0.0, k=1) == [("memory:u/a", 1.0)]


# -- names ---------------------------------------------------------------------------------------------------


def merged(*names, id="1"):
    return Decision(id, "merge", names)


@pytest.mark.parametrize(
    ("decisions", "said", "same", "apart"),
    [
        ([], [], [], [("mei", "lin")]),
        ([merged("Mei", "梅")], [], [("MEI", "梅")], []),
        ([merged("Mei", "梅"), merged("梅", "小梅")], [], [("mei", "小梅")], []),
        ([merged("a", "b"), merged("c", "d"), merged("b", "d")], [], [("a", "c")], []),
        ([merged("a", "b", "c"), Decision("2", "split", ("b",))], [], [("a", "c")], [("a", "b"), ("b", "c")]),
        ([merged("a", "b", "c"), Decision("2", "split", ("a",))], [], [("b", "c")], [("a", "b")]),
        ([Decision("1", "split", ("b",))], [("a", "b")], [], [("a", "b")]),
        ([], [("a", "b")], [("a", "b")], []),
        ([Decision("1", "split", ("b",)), merged("a", "b")], [], [("a", "b")], []),
    ],
)
def test_names_that_mean_one_thing(decisions, said, same, apart):
    aliases = Aliases(decisions, said)
    assert all(aliases.key(a) == aliases.key(b) for a, b in same)
    assert all(aliases.key(a) != aliases.key(b) for a, b in apart)


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("Redis, also called the cache, runs hot.", [("Redis", "cache")]),
        ("Bob Miller (aka Bobby Tables) left.", [("Bob Miller", "Bobby Tables")]),
        ("Kestrel, also known as Falcon", [("Kestrel", "Falcon")]),
        ("王小明，又名阿明。", [("王小明", "阿明")]),
        ("土豆也叫马铃薯。", [("土豆", "马铃薯")]),
        ("Redis 又称缓存", [("Redis", "缓存")]),
        ("Redis 6, also called Redis 7", []),
        ("Jonas, also called Jonah", []),
        ("She also called Tom.", []),
        ("I called the cache.", []),
    ],
)
def test_names_are_learnt_from_what_is_said(text, pairs, clock):
    unit = MemoryUnit(scope=("u",), id="a", content=text, recorded_at=clock.now(), weight_at=clock.now())
    assert said_in([unit]) == pairs


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [("Jon", "John", True), ("colour", "color", True), ("Redis", "Kafka", False), ("王小明", "王小红", True), ("Mei", "MEI", False)],
)  # fmt: skip
def test_nearly_alike(one, other, alike):
    assert nearly_alike(one, other) == nearly_alike(other, one) == alike


@pytest.mark.parametrize(
    ("name", "found"), [("Redis 7.2", ("7.2",)), ("三号楼", ("三",)), ("Henry IV", ("iv",)), ("Mei", ())]
)
def test_numbers_in_names(name, found):
    assert numbers(name) == found


def test_names_are_merged_split_and_undone(told):
    names = told.names
    assert len([n for n in told.graph() if n.startswith("entity")]) == 5
    merge = names.merge("Kestrel", "Turin")
    assert told.names.groups() == {"kestrel": ["kestrel", "turin"]}
    assert entity_node("turin") not in told.graph()
    assert told.graph().nodes["entity:kestrel"]["names"] == "Kestrel; Turin"
    assert "memory:u/c" in neighbourhood(told.graph(), "turin")
    told.names.merge("Oslo", "奥斯陆")  # a name that no memory uses
    assert "memory:u/d" in neighbourhood(told.graph(), "奥斯陆")
    split = names.split("turin")
    assert entity_node("turin") in told.graph()
    names.undo(split)
    assert entity_node("turin") not in told.graph()
    names.undo(merge)
    assert told.names.groups() == {"oslo": ["oslo", "奥斯陆"]}
    with pytest.raises(NotFound):
        names.undo(merge)


@pytest.mark.parametrize(
    "wrong", [("Redis 6", "Redis 7"), ("三号楼", "四号楼"), ("Mei",), ("Mei", "mei"), ("Mei", "")]
)
def test_what_must_not_be_merged_is_refused(memory, wrong):
    with pytest.raises(InvalidInput):
        memory.names.merge(*wrong)
    assert memory.names.decisions() == []


def test_names_belong_to_a_scope_and_what_lies_below(told):
    told.within("work").names.merge("Mei", "Oslo")
    assert entity_node("oslo") in told.graph()
    told.names.merge("Kestrel", "Falcon")
    work = told.within("work")
    assert work.names.groups() == {"mei": ["mei", "oslo"]}


# -- other tools ---------------------------------------------------------------------------------------------


def test_graphml_and_json_read_back(told):
    graph = told.graph()
    root = ElementTree.fromstring(network.graphml(graph))
    assert len(root.findall(".//{*}node")) == len(graph)
    data = json.loads(network.to_json(graph))
    assert {node["node"] for node in data["nodes"]} == set(graph)
    assert {(e["source"], e["target"], e["kind"]) for e in data["edges"]} == {
        (s, t, k) for s, t, k in graph.edges(keys=True)
    }


def test_cypher_holds_every_node_and_edge_and_nothing_can_break_out(memory):
    memory.remember('Mei said "x\\"}) DETACH DELETE n //', id="q'\"", consolidate=False)
    graph = memory.graph()
    script = cypher(graph)
    lines = script.strip().split(";\n")
    assert sum("MERGE (n:Memory {node: row.node})" in line for line in lines) == 1
    text = script[script.index('content: "') + len("content: ") :]
    content, _ = json.JSONDecoder().raw_decode(text)
    assert content == graph.nodes["memory:u/q'\""]["content"]


class Recorded:
    """A driver that keeps what it is told, in a little store of nodes and edges that MERGE as Neo4j does."""

    def __init__(self, fail_at=None):
        self.nodes, self.edges, self.sent, self.fail_at = {}, set(), 0, fail_at

    def execute_query(self, query, parameters=None, *, database_=None):
        if self.sent == self.fail_at:
            from neo4j.exceptions import ServiceUnavailable

            raise ServiceUnavailable("gone")
        self.sent += 1
        for row in (parameters or {}).get("rows", ()):
            if "fields" in row:
                self.nodes.setdefault(row["node"], {}).update(row["fields"])
            else:
                kind = query.rsplit("[:", 1)[1].partition("]")[0]
                assert {row["source"], row["target"]} <= set(self.nodes)
                self.edges.add((row["source"], row["target"], kind.lower()))


def test_a_sync_can_be_repeated_and_broken_off(told):
    pytest.importorskip("neo4j", reason="needs the driver neo4j")
    graph = told.graph()
    broken = Recorded(fail_at=3)
    with pytest.raises(StoreError, match="run it again"):
        network.sync(graph, broken)
    broken.fail_at = None
    network.sync(graph, broken)
    once = Recorded()
    network.sync(graph, once)
    assert (broken.nodes, broken.edges) == (once.nodes, once.edges)
    network.sync(graph, once)
    assert set(once.nodes) == set(graph)
    assert once.edges == set(graph.edges(keys=True))


def test_many_nodes_go_in_batches():
    graph = nx.MultiDiGraph()
    graph.add_nodes_from((f"memory:u/{i}", {"kind": "memory", "label": str(i)}) for i in range(1201))
    sizes = [len(parameters["rows"]) for _, parameters in network.statements(graph) if parameters]
    assert sizes == [500, 500, 201]


def test_a_real_server_takes_it(told):
    uri = os.environ.get("HINDSIGHT_NEO4J_URI")
    if not uri:
        pytest.skip("HINDSIGHT_NEO4J_URI is not set (bolt://user:password@host:port)")
    parts = urlsplit(uri)
    driver = connect(
        f"{parts.scheme}://{parts.hostname}:{parts.port or 7687}", parts.username, parts.password
    )
    graph = told.graph()
    network.sync(graph, driver)
    network.sync(graph, driver)
    nodes = list(graph)
    found = driver.execute_query("MATCH (n) WHERE n.node IN $nodes RETURN count(n) AS n", {"nodes": nodes})
    assert found.records[0]["n"] == len(nodes)
