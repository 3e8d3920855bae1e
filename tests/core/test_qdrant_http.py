"""QdrantStore over real HTTP: the contract, several processes' worth of handles, and servers that misbehave.

The server here speaks the part of Qdrant's REST interface that is used, over sockets, and keeps the points in the client's
memory mode. Faults are played as they were seen on real ones: busy, restarting, out of reach, an answer that never comes,
an answer that is lost after the work was done.
"""

import json
import os
import re
import threading
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytest.importorskip("qdrant_client", reason="needs the extra [qdrant]")

from qdrant_client import QdrantClient, models

from hindsight_core import Hindsight
from hindsight_core.cli import main
from hindsight_core.contract import StoreContract
from hindsight_core.contract.base import MEI, NOW, entry, probe, unit, visible
from hindsight_core.embedding import HashEmbedder
from hindsight_core.errors import InvalidInput, StoreBusy, StoreError, StoreUnwritable
from hindsight_core.ports import Capabilities
from hindsight_core.stores.qdrant import QdrantStore, client, commit, scene

KEY = "test-key"
pytestmark = pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")


def plain(value):
    if isinstance(value, list):
        return [plain(one) for one in value]
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value


class Server:
    """A server on a free port; `faults` are played one for each request that comes, None = as it should be."""

    def __init__(self):
        self.points, self.lock = QdrantClient(":memory:"), threading.Lock()
        self.faults, self.seen, self.indexes = [], [], Counter()
        self.released, self.version = threading.Event(), "1.16.0"
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                outer.answer(self, body)

            do_GET = do_PUT = do_POST = do_DELETE = handle_any

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"

    def close(self):
        self.released.set()
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()

    def answer(self, request, body):
        path = request.path.partition("?")[0]
        with self.lock:
            fault = self.faults.pop(0) if self.faults else None
            self.seen.append(f"{request.command} {re.sub(r'/collections/[^/]+', '', path)}")
        if request.headers.get("api-key") not in (None, KEY):
            return self.send(request, 403, {"status": {"error": "forbidden"}})
        if isinstance(fault, int):
            return self.send(request, fault, {"status": {"error": "played"}})
        if fault == "drop":
            return self.drop(request)
        if fault == "hang":
            self.released.wait()
            return self.drop(request)
        if path == "/":
            return self.send(request, 200, {"title": "qdrant", "version": self.version})
        with self.lock:
            status, result = self.work(request.command, path, json.loads(body or b"null"))
        if fault == "lose":
            return self.drop(request)
        return self.send(request, status, {"result": result, "status": "ok", "time": 0.0})

    def drop(self, request):
        request.close_connection = True
        with suppress(OSError):
            request.connection.shutdown(2)

    def send(self, request, status, value):
        data = json.dumps(value).encode()
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(data)))
        if status == 429:
            request.send_header("Retry-After", "2")
        with suppress(OSError):
            request.end_headers()
            request.wfile.write(data)

    def work(self, method, path, body):
        _, _, name, *rest = path.split("/")
        points, what = self.points, "/".join(rest)
        done = {"operation_id": 0, "status": "completed"}
        match method, what:
            case "GET", "exists":
                return 200, {"exists": points.collection_exists(name)}
            case "PUT", "":
                if points.collection_exists(name):
                    return 409, None
                made = models.CreateCollection(**body)
                sparse = made.sparse_vectors
                return 200, points.create_collection(
                    name, vectors_config=made.vectors or {}, sparse_vectors_config=sparse
                )
            case "DELETE", "":
                return 200, points.delete_collection(name)
            case "PUT", "index":
                self.indexes[name.rsplit("_")[1], body["field_name"]] += 1
                return 200, done
            case "PUT", "points":
                condition = body.get("update_filter") and models.Filter(**body["update_filter"])
                made = [models.PointStruct(**point) for point in body["points"]]
                points.upsert(name, made, update_filter=condition)
                return 200, done
            case "POST", "points/delete":
                points.delete(name, models.PointIdsList(points=body["points"]))
                return 200, done
            case "POST", "points":
                return 200, plain(points.retrieve(name, body["ids"], with_payload=body["with_payload"]))
            case "POST", "points/scroll":
                found, offset = points.scroll(
                    name,
                    scroll_filter=models.Filter(**body["filter"]),
                    limit=body["limit"],
                    offset=body.get("offset"),
                    with_payload=body["with_payload"],
                )
                return 200, {"points": plain(found), "next_page_offset": offset}
            case "POST", "points/query/batch":
                asked = [models.QueryRequest(**one) for one in body["searches"]]
                return 200, plain(points.query_batch_points(name, asked))
            case "POST", "points/count":
                return 200, plain(points.count(name, count_filter=models.Filter(**body["filter"])))
            case "POST", "facet":
                where = models.Filter(**body["filter"])
                return 200, plain(
                    points.facet(name, key=body["key"], facet_filter=where, limit=body["limit"])
                )
            case "GET", "":
                return 200, plain(points.get_collection(name))
        raise AssertionError(f"{method} {path} is not played")


@pytest.fixture
def server():
    made = Server()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def pauses(monkeypatch):
    """No test waits: what would have been waited for is kept."""
    kept = []
    monkeypatch.setattr(client.time, "sleep", kept.append)
    return kept


class TestQdrantOverHttp(StoreContract):
    capabilities = Capabilities(
        erases_bytes=False, notes={"erases_bytes": "a server keeps freed bytes until it merges a segment"}
    )

    @pytest.fixture(autouse=True)
    def _server(self, server):
        self.url = server.url

    def make_store(self, folder):
        return QdrantStore.connect(self.url, api_key=KEY)


class TestQdrantServer(StoreContract):
    """The same on a real server."""

    capabilities = TestQdrantOverHttp.capabilities

    def make_store(self, folder):
        url = os.environ.get("HINDSIGHT_QDRANT_URL")
        if not url:
            pytest.skip("HINDSIGHT_QDRANT_URL is not set")
        return QdrantStore.connect(url, api_key=os.environ.get("QDRANT_API_KEY"), name=f"test_{folder.name}")


def remembered(store, *ids):
    with store.write(actor="test", batch="b", now=NOW) as tx:
        for id in ids:
            tx.put(unit(id, "tea"), entry("tea", [1, 0]), reason="test")


# -- servers that misbehave ----------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [429, 500, 502, 503, 504, "drop", "lose"])
@pytest.mark.parametrize("at", [0, 3, 6, 9])
def test_a_fault_anywhere_in_a_write_is_got_over(server, fault, at):
    store = QdrantStore.connect(server.url)
    server.faults = [None] * at + [fault]
    remembered(store, "a", "b")
    assert [event.key[1] for event in store.events()] == ["a", "b"]
    assert [u.id for u in store.find(visible(), newest_first=False)] == ["a", "b"]
    assert store.check() == []
    assert server.faults == []
    store.close()


def test_a_fault_in_a_recall_is_got_over(server):
    store = QdrantStore.connect(server.url, whole=0)
    remembered(store, "a")
    server.faults = [503, "drop", None, "lose", 429]
    with store.reading(visible()) as reading:
        assert reading.search(probe(visible(), vector=[1, 0], words={"tea": 1}))[0].ids == ["a"]
    store.close()


def test_pauses_grow_and_the_server_may_ask_for_longer_ones(server, pauses):
    store = QdrantStore.connect(server.url)
    pauses.clear()
    server.faults = [503, 503, 429, 503]
    store.meta()
    assert pauses == [0.1, 0.2, 2.0, 0.8]
    store.close()


@pytest.mark.parametrize(
    ("fault", "error", "says"),
    [
        (429, StoreBusy, "try again"),
        (503, StoreError, "answered 503"),
        ("drop", StoreError, "could not be reached"),
    ],
)
def test_one_that_stays_away_is_told_and_comes_back(server, fault, error, says):
    store = QdrantStore.connect(server.url)
    remembered(store, "a")
    server.faults = [fault] * 5
    with pytest.raises(error, match=says):
        store.meta()
    assert [u.id for u in store.find(visible())] == ["a"]
    store.close()


@pytest.mark.parametrize("who", ["the next write", "whoever opens it"])
def test_a_write_of_which_only_some_batches_got_through_is_carried_out_later(server, who):
    store = QdrantStore.connect(server.url)
    remembered(store, "first")
    ids, batches = [f"m{i:03}" for i in range(300)], []
    work = server.work

    def refusing(method, path, body):
        if method == "PUT" and path.endswith("/points") and "_units_" in path:
            batches.append(len(body["points"]))
            if len(batches) > 1:
                return 503, None
        return work(method, path, body)

    server.work = refusing
    with pytest.raises(StoreError, match="answered 503") as failed:
        remembered(store, *ids)
    assert "carries it out" in failed.value.__notes__[0]
    assert batches == [128] * 6  # one got through, the next was tried five times
    server.work = work
    if who == "the next write":
        remembered(store, "last")
    else:
        store.close()
        store = QdrantStore.connect(server.url)
        remembered(store, "last")
    assert [event.key[1] for event in store.events()] == ["first", *ids, "last"]
    assert len(store.find(visible())) == 302
    assert store.check() == []
    store.close()


def test_an_answer_that_never_comes_ends_with_the_timeout(server):
    store = QdrantStore.connect(server.url, timeout=1)
    server.faults = ["hang"]
    assert store.meta() == {}
    store.close()


def test_a_wrong_key_is_said_at_once(server):
    with pytest.raises(StoreUnwritable, match="api_key"):
        QdrantStore.connect(server.url, api_key="wrong")
    assert len(server.seen) == 1


def test_an_old_server_is_refused(server):
    server.version = "1.15.5"
    with pytest.raises(StoreError, match=r"1\.15\.5.*1\.16"):
        QdrantStore.connect(server.url)
    server.version = "2.0.0-dev"
    QdrantStore.connect(server.url).close()


def test_nobody_there_is_an_error_of_ours(server):
    with pytest.raises(StoreError, match="could not be reached"):
        QdrantStore.connect("http://127.0.0.1:9")


def test_what_is_too_large_is_said(server):
    store = QdrantStore.connect(server.url)
    server.faults = [None] * 3 + [413]
    with pytest.raises((InvalidInput, StoreError)):
        remembered(store, "a")
    store.close()


# -- moving --------------------------------------------------------------------------------------------------


def test_the_command_moves_to_a_server_and_back_although_the_move_broke_off(server, tmp_path, capsys):
    db, there, back = str(tmp_path / "a.db"), f"{server.url}/agents", str(tmp_path / "b.db")
    with Hindsight.open(db, embedder=None) as memory:
        memory.remember_many([{"text": f"The port of gateway {i} is 742{i}."} for i in range(5)])
    work, puts = server.work, []

    def failing(method, path, body):
        if method == "PUT" and path.endswith("agents_events/points"):
            puts.append(path)
            return 503, None
        return work(method, path, body)

    server.work = failing
    assert main(["migrate", db, there, "--json"]) == 1
    assert puts
    server.work = work
    capsys.readouterr()
    assert main(["migrate", db, there, "--json"]) == 0
    moved = json.loads(capsys.readouterr().out)
    assert (moved["unit"], moved["event"]) == (5, 5)
    assert main(["migrate", there, back, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == moved
    with Hindsight.open(there, embedder=None) as memory:
        assert "7423" in memory.recall("port of gateway 3", k=1)[0].unit.content


# -- writers that die ----------------------------------------------------------------------------------------


class Killed(BaseException):
    """As if the process ended."""


@pytest.mark.parametrize("after", range(8))
def test_a_writer_killed_at_any_request_leaves_all_or_nothing(server, after, monkeypatch):
    store = QdrantStore.connect(server.url)
    remembered(store, "a")
    monkeypatch.setattr(commit, "LEASE", 0.0)  # whoever comes next need not wait for the dead
    calls = 0

    def dying(real):
        def upsert(self, name, points, **options):
            nonlocal calls
            calls += 1
            if calls > after:
                raise Killed
            return real(self, name, points, **options)

        return upsert

    with monkeypatch.context() as patched, suppress(Killed):
        patched.setattr(client.ClientPoints, "upsert", dying(client.ClientPoints.upsert))
        patched.setattr(client.ClientPoints, "delete", dying(client.ClientPoints.delete))
        remembered(store, "b", "c")
    again = QdrantStore.connect(server.url)
    found = sorted(u.id for u in again.find(visible()))
    assert found in (["a"], ["a", "b", "c"])
    assert [event.key[1] for event in again.events()] == found
    assert again.check() == []
    remembered(again, "d")
    assert [event.seq for event in again.events()] == list(range(1, len(found) + 2))
    again.close()


def test_writers_take_turns(server, monkeypatch):
    monkeypatch.undo()  # here the waiting is real, for milliseconds
    stores = [QdrantStore.connect(server.url, timeout=30) for _ in range(3)]

    def write(store, name):
        for i in range(5):
            remembered(store, f"{name}{i}")

    threads = [
        threading.Thread(target=write, args=(store, name)) for store, name in zip(stores, "abc", strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [event.seq for event in stores[0].events()] == list(range(1, 16))
    assert len(stores[1].find(visible())) == 15
    assert stores[2].check() == []
    for store in stores:
        store.close()


def test_one_that_holds_on_for_too_long_is_told(server, monkeypatch):
    one, two = QdrantStore.connect(server.url), QdrantStore.connect(server.url, timeout=0)
    with one.write(actor="test", batch="b", now=NOW), pytest.raises(StoreBusy, match="another process"):
        remembered(two, "b")
    remembered(two, "b")
    one.close()
    two.close()


# -- what it costs -------------------------------------------------------------------------------------------


@pytest.fixture
def talked(server):
    def open_(whole):
        store = QdrantStore.connect(server.url, whole=whole)
        memory = Hindsight.open(store, "u", embedder=HashEmbedder())
        items = [
            {
                "text": f"Turn {i}: the harbour of Kestrel has {i} boats.",
                "session": f"s{i // 8}",
                "turn": i % 8,
            }
            for i in range(40)
        ]
        memory.remember_many(items)
        memory.recall("boats")
        server.seen.clear()
        return memory

    return open_


def test_a_scope_held_here_costs_one_small_request(server, talked):
    memory = talked(5_000)
    assert len(memory.recall("How many boats has the harbour of Kestrel?", k=5)) == 5
    assert server.seen == ["POST /points"]
    memory.close()


@pytest.mark.parametrize(
    "question",
    [
        "How many boats has the harbour of Kestrel?",
        "Which came first, the turn with 3 boats or the turn with 9 boats?",
        "How many boats were there last week?",
    ],
)
def test_a_large_scope_costs_one_batched_search_and_one_for_what_it_leads_to(
    server, talked, question, monkeypatch
):
    monkeypatch.setattr(scene, "_SAMPLE", 8)  # else all of it is at hand
    memory = talked(0)
    assert len(memory.recall(question, k=5, floor=None)) == 5
    seen = [request for request in server.seen if request != "POST /points/count"]  # remembered until a write
    wanted = [
        "POST /points",  # has anything changed
        "POST /points/query/batch",  # the channels
        "POST /points",  # uses and links of what was found
        "POST /points/query/batch",  # neighbours, ends of links, where rare words lead
        "POST /points",  # uses and links of what is new
    ]
    assert len(seen) >= 4
    assert seen == wanted[: len(seen)]
    memory.close()


def test_a_use_rewrites_no_unit(server, talked):
    memory = talked(5_000)
    hits = memory.recall("boats", k=5)
    units = next(name for name in server.points._client.collections if "units" in name)
    before = {r.id: r.payload["n"] for r in server.points.scroll(units, limit=100)[0]}
    hits.context(max_tokens=400)
    assert {r.id: r.payload["n"] for r in server.points.scroll(units, limit=100)[0]} == before
    assert memory.get(hits[0].unit.id).access_count == 1
    memory.close()


def test_what_filters_use_is_indexed_and_scopes_are_tenants(server):
    QdrantStore.connect(server.url, shard_number=2, quantization_config=None).close()
    assert {key for name, key in server.indexes if name == "units"} >= {
        "tenant",
        "scopes",
        "status",
        "a",
        "order",
        "lot",
    }
    assert set(server.indexes.values()) == {1}


def test_settings_of_collections_are_passed_on(server, monkeypatch):
    made = []
    real = QdrantClient.create_collection

    def create(self, name, **settings):
        made.append((name, settings))
        return real(self, name, **settings)

    monkeypatch.setattr(QdrantClient, "create_collection", create)
    quantised = models.ScalarQuantization(scalar=models.ScalarQuantizationConfig(type=models.ScalarType.INT8))
    QdrantStore.connect(server.url, shard_number=2, quantization_config=quantised).close()
    given = {name: settings for name, settings in made if "shard_number" in settings}
    assert {name: "quantization_config" in settings for name, settings in given.items()} == {
        "hindsight_side": False, "hindsight_events": False, "hindsight_units_0": True,
    }  # fmt: skip


# -- who sees what -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("whole", [0, 5_000])
def test_a34_the_same_session_id_joins_no_two_users(server, whole):
    store = QdrantStore.connect(server.url, whole=whole)
    one = Hindsight.open(store, "u1", embedder=HashEmbedder())
    two = Hindsight.open(store, "u2", embedder=HashEmbedder())
    one.remember("Zephyr opens the vault at nine.", session="s", speaker="Mei", timestamp="2031-05-01")
    two.remember("Nothing to see.", session="s", speaker="Mei")
    for question in ("Zephyr opens the vault at nine.", "Zephyr", "What did Mei say on 2031-05-01?", "vault"):
        assert [hit.unit.content for hit in two.recall(question, floor=None, k=9)] in (
            [],
            ["Nothing to see."],
        )
    store.close()


def test_a35_clearing_one_user_leaves_the_other(server):
    store = QdrantStore.connect(server.url)
    one, two = Hindsight.open(store, "u1", embedder=None), Hindsight.open(store, "u2", embedder=None)
    one.remember_many([{"text": f"One has {i} boats."} for i in range(3)])
    two.remember_many([{"text": f"Two has {i} boats."} for i in range(2)])
    one.clear()
    assert len(one.find()) == 0
    assert len(two.find()) == 2
    store.close()


@pytest.mark.parametrize("whole", [0, 5_000])
def test_what_others_write_changes_no_number(server, whole):
    store = QdrantStore.connect(server.url, whole=whole)
    mine = Hindsight.open(store, "u1", embedder=HashEmbedder())
    mine.remember_many([{"text": f"The harbour has {i} boats."} for i in range(5)])

    def answer():
        return [
            (hit.unit.id, hit.score, hit.relevance)
            for hit in mine.recall("boats in the harbour", floor=None, now="2031-01-01")
        ]

    before = answer()
    other = Hindsight.open(store, ("u1 ", "x"), embedder=HashEmbedder())
    other.remember_many([{"text": f"Boats, boats, {i} boats."} for i in range(30)])
    assert answer() == before
    store.close()


def test_a29_any_id_of_the_callers_is_a_point(server):
    store = QdrantStore.connect(server.url)
    memory = Hindsight.open(store, "u", embedder=None)
    for id in ("note-1", 7, "a/b", "备忘1"):
        memory.remember(f"Memory {id}.", id=id)
        assert memory.get(id).content == f"Memory {id}."
        assert memory.update(id, importance=0.9).importance == 0.9
    assert memory.parts.store.get([(MEI, "7"), (("u",), "7")])[1] is not None
    store.close()
