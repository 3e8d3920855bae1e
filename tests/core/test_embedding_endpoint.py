"""An OpenAI-compatible endpoint as embedder, against a real HTTP server that can be told to misbehave."""

import json
import logging
import socket
import threading
from collections import deque
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

pytest.importorskip("openai", reason="needs the extra [llm]")

from hindsight_core import Hindsight
from hindsight_core.embedding import (
    CachedEmbedder,
    EndpointEmbedder,
    HashEmbedder,
    embed_checked,
    embed_query_checked,
    resolve,
)
from hindsight_core.errors import EmbedderUnavailable, EmbeddingError, InvalidInput, MissingExtra
from hindsight_core.ports import Embedder

KEY = "sk-very-secret-0815"
WORDS = HashEmbedder(32)


class Server:
    """Answers embedding requests with hashed words, after what `script` holds has been used up.

    A script entry is a status, "reset" (the connection breaks), or a function from the request to the answer's body.
    """

    def __init__(self):
        self.script = deque()
        self.requests = []
        self.keys = []
        self.most_words = 10**9
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(body)
                outer.keys.append(self.headers["Authorization"])
                step = outer.script.popleft() if outer.script else 200
                if step == "reset":
                    self.connection.close()
                    return
                if callable(step):
                    self.answer(200, step(body))
                elif step != 200:
                    self.answer(step, {"error": {"message": f"no, {self.headers['Authorization']}"}})
                elif any(len(text.split()) > outer.most_words for text in body["input"]):
                    self.answer(400, {"error": {"message": "input is too long"}})
                else:
                    self.answer(200, vectors(body))

            def answer(self, status, body):
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.send_header("retry-after-ms", "1")
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.handle_error = lambda *args: None
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()

    @property
    def asked(self):
        return [request["input"] for request in self.requests]


def vectors(body):
    rows = WORDS.embed_documents(body["input"])
    items = [
        {"object": "embedding", "index": i, "embedding": [3 * float(x) for x in row]}
        for i, row in enumerate(rows)
    ]
    # The protocol does not promise an order.
    return {"object": "list", "model": body["model"], "data": items[::-1], "usage": {}}


@pytest.fixture
def server(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    running = Server()
    yield running
    running.close()


@pytest.fixture
def embedder(server):
    return EndpointEmbedder("acme-embed", base_url=server.url, api_key=KEY, name="acme@1", rest=0)


def test_passages_and_questions_get_vectors_of_length_one_in_order(server, embedder):
    assert isinstance(embedder, Embedder)
    texts = ["tea with mint", "网关的端口", "a green shed"]
    rows = embedder.embed_documents(texts)
    assert rows.dtype == np.float32
    assert rows == pytest.approx(WORDS.embed_documents(texts), abs=1e-5)
    assert embedder.embed_query("mint?") == pytest.approx(WORDS.embed_query("mint?"), abs=1e-5)
    assert server.asked == [["How many numbers are there in a vector?"], texts, ["mint?"]]
    assert {request["model"] for request in server.requests} == {"acme-embed"}
    assert set(server.keys) == {f"Bearer {KEY}"}
    assert embedder.embed_documents([]).shape == (0, 32)


def test_requests_are_bounded_by_texts_and_by_tokens(server):
    def sizes(**bounds):
        server.requests.clear()
        embedder = EndpointEmbedder("m", base_url=server.url, count_tokens=lambda t: len(t.split()), **bounds)
        texts = [f"{'word ' * n}{n}" for n in (1, 2, 3, 4, 5)]
        assert embedder.embed_documents(texts) == pytest.approx(WORDS.embed_documents(texts), abs=1e-5)
        return [len(asked) for asked in server.asked]

    assert sizes() == [5]
    assert sizes(batch_texts=2) == [2, 2, 1]
    assert sizes(batch_tokens=9, max_tokens=9) == [3, 1, 1]  # of 2 + 3 + 4, 5 and 6 words


def test_a_text_longer_than_the_model_reads_is_cut_and_none_of_it_lost(server):
    server.most_words = 50
    embedder = EndpointEmbedder(
        "m", base_url=server.url, max_tokens=40, count_tokens=lambda text: len(text.split())
    )
    text = "filler " * 300 + "the gate word is marigold"
    (vector,) = embedder.embed_documents([text])
    assert float(np.linalg.norm(vector)) == pytest.approx(1, abs=1e-6)
    words = " ".join(" ".join(asked) for asked in server.asked).split()
    assert words == text.split()
    near = float(vector @ WORDS.embed_query("marigold"))
    assert near > float(embedder.embed_documents(["filler " * 300])[0] @ WORDS.embed_query("marigold")) + 0.02


def test_prefixes_stand_before_every_window_and_in_the_fingerprint(server):
    def asked(model, **prefixes):
        server.requests.clear()
        embedder = EndpointEmbedder(model, base_url=server.url, dimensions=32, **prefixes)
        embedder.embed_query("茶?")
        embedder.embed_documents(["茶"])
        return [*server.asked[0], *server.asked[1]]

    assert asked("bge-m3") == ["茶?", "茶"]
    assert asked("BAAI/bge-large-zh-v1.5") == ["为这个句子生成表示以用于检索相关文章：茶?", "茶"]
    assert asked("multilingual-e5-base") == ["query: 茶?", "passage: 茶"]
    assert asked("multilingual-e5-base", query_prefix="", passage_prefix="> ") == ["茶?", "> 茶"]
    assert server.requests[0]["dimensions"] == 32


def test_the_fingerprint_tells_models_sizes_and_prefixes_apart(server):
    def named(model="m", **options):
        return EndpointEmbedder(model, base_url=server.url, **{"dimensions": 32, **options}).fingerprint

    assert named() == named(batch_texts=3, api_key="other") == "endpoint/m/32"
    assert len({named(), named("n"), named(dimensions=16), named(query_prefix="q: ")}) == 4
    assert EndpointEmbedder("m", base_url=server.url, name="mine").fingerprint == "mine"


@pytest.mark.parametrize("fault", [408, 429, 500, 502, 503, "reset"])
def test_what_passes_by_itself_is_tried_again(server, fault):
    waits = []
    embedder = EndpointEmbedder("m", base_url=server.url, dimensions=32, sleep=waits.append)
    server.script.extend([fault, fault])
    assert embedder.embed_query("mint") == pytest.approx(WORDS.embed_query("mint"), abs=1e-5)
    assert len(server.requests) == 3
    assert waits == ([0.5, 1.0] if fault == "reset" else [0.001, 0.001])  # the server says so


@pytest.mark.parametrize(("status", "requests"), [(401, 1), (403, 1), (404, 1), (429, 3), (503, 3)])
def test_an_endpoint_that_is_down_is_not_asked_for_each_text(server, status, requests):
    embedder = EndpointEmbedder("m", base_url=server.url, api_key=KEY, retries=2, name="m", dimensions=32)
    server.script.extend([status] * 100)
    found, failures = embed_checked(embedder, [f"text {n}" for n in range(20)])
    assert found == [None] * 20
    assert len(failures) == 20
    assert len(server.requests) == requests
    with pytest.raises(EmbedderUnavailable, match=str(status)):
        embed_query_checked(embedder, "long " * 1000)


def test_an_outage_is_waited_for_once(server):
    now = [0.0]
    embedder = EndpointEmbedder(
        "m", base_url=server.url, retries=0, rest=30, dimensions=32, monotonic=lambda: now[0]
    )
    server.script.append(503)
    for seconds, requests in ((0, 1), (29, 1)):
        now[0] = seconds
        with pytest.raises(EmbedderUnavailable):
            embedder.embed_query("mint")
        assert len(server.requests) == requests
    now[0] = 30
    assert embedder.embed_query("mint") == pytest.approx(WORDS.embed_query("mint"), abs=1e-5)


def test_an_endpoint_that_cannot_be_reached_says_so():
    with socket.socket() as held:  # bound and not listening: nothing answers there
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        waits = []
        embedder = EndpointEmbedder("m", base_url=url, retries=4, dimensions=32, sleep=waits.append)
        with pytest.raises(EmbedderUnavailable, match="cannot be reached"):
            embedder.embed_query("mint")
        assert waits == []  # nothing is gained by asking again at once


def test_a_slow_endpoint_is_not_waited_for(server):
    released = threading.Event()

    def slow(body):
        released.wait(10)
        return vectors(body)

    server.script.append(slow)
    embedder = EndpointEmbedder("m", base_url=server.url, retries=0, timeout=0.05, dimensions=32)
    with pytest.raises(EmbedderUnavailable, match="cannot be reached"):
        embedder.embed_query("mint")
    released.set()


@pytest.mark.parametrize("cached", [False, True])
def test_a_memory_opens_while_its_endpoint_is_away(server, open_memory, tmp_path, caplog, cached):
    def endpoint(url, model="bge-m3"):
        made = EndpointEmbedder(model, base_url=url, retries=0, rest=0.0)
        return CachedEmbedder(made, tmp_path / "vectors.cache") if cached else made

    path, away = tmp_path / "m.db", "http://127.0.0.1:9/v1"
    with pytest.raises(EmbedderUnavailable):  # nothing is known of it yet
        open_memory(path, embedder=endpoint(away))
    memory = open_memory(path, embedder=endpoint(server.url))
    memory.remember("The kettle is green.")
    memory.close()
    memory = open_memory(path, embedder=endpoint(away))
    assert "until it is back" in caplog.text
    memory.remember("茶壶的盖子是蓝色的。")
    assert memory.recall("茶壶的盖子")[0].unit.content == "茶壶的盖子是蓝色的。"
    assert memory.recall("the kettle")[0].signals["vector"].value == 0.0
    memory.close()
    with pytest.raises(EmbedderUnavailable):  # another model's vectors
        open_memory(path, embedder=endpoint(away, "another"))
    memory = open_memory(path, embedder=endpoint(server.url))
    assert memory.reembed() == 1
    assert memory.doctor() == []


def test_one_refused_text_does_not_lose_the_others(server, embedder):
    server.most_words = 9
    texts = ["tea", "one two three four five six seven eight nine ten", "a shed"]
    found, failures = embed_checked(embedder, texts)
    assert [vector is not None for vector in found] == [True, False, True]
    assert [index for index, _ in failures] == [1]


@pytest.mark.parametrize(
    "body",
    [
        {"data": []},
        {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": 0, "embedding": "no"}]},
        {"data": [{"index": 0}]},
        {"object": "list"},
        {"data": None},
        [],
        b"<html>",
        b"",
        b'{"data": [',
    ],
)
def test_an_answer_that_is_no_vectors_is_an_error(server, embedder, body):
    server.script.append(lambda request: body)
    with pytest.raises(EmbeddingError):
        embedder.embed_query("mint")


def test_the_key_is_shown_nowhere(server, embedder, caplog, tmp_path):
    caplog.set_level(logging.INFO)
    server.script.append(401)
    with pytest.raises(EmbedderUnavailable) as caught:
        embedder.embed_query("mint")
    seen = [repr(embedder), str(caught.value), repr(caught.value.__cause__), caplog.text]
    with Hindsight.open(
        tmp_path / "m.db", embedder=EndpointEmbedder("m", base_url=server.url, api_key=KEY)
    ) as memory:
        memory.remember("Mira leads Kestrel.")
        seen += [repr(memory), str(memory.stats()), str(memory.doctor()), repr(memory.parts)]
    seen.append((tmp_path / "m.db").read_bytes().decode("latin-1"))
    assert KEY not in "".join(seen)


def test_the_key_comes_from_the_argument_the_environment_or_is_not_needed(server, monkeypatch):
    def sent(**options):
        EndpointEmbedder("m", base_url=server.url, **options).embed_query("mint")
        return server.keys[-1]

    assert sent() == "Bearer none"
    monkeypatch.setenv("OPENAI_API_KEY", "from-outside")
    assert sent() == "Bearer from-outside"
    assert sent(api_key=KEY) == f"Bearer {KEY}"


def test_without_a_key_or_an_address_there_is_nobody_to_ask(server):
    with pytest.raises(InvalidInput, match="OPENAI_API_KEY"):
        resolve("openai:text-embedding-3-small")


def test_by_name_it_is_one_line(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    with Hindsight.open(":memory:", embedder="openai:acme-embed") as memory:
        memory.remember("Mira leads Kestrel.")
        assert memory.recall("Who leads Kestrel?")[0].signals["vector"].raw > 0
    assert KEY not in server.keys[0].replace(f"Bearer {KEY}", "")


def test_without_the_client_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "openai", None)
    with pytest.raises(MissingExtra, match=r"hindsight-memory\[llm\]"):
        resolve("openai:text-embedding-3-small")


def test_it_goes_behind_the_cache(server, embedder, tmp_path):
    with closing(CachedEmbedder(embedder, tmp_path / "v.cache")) as cached:
        first = cached.embed_documents(["tea", "mint"])
        count = len(server.requests)
        assert (cached.embed_documents(["mint", "tea"]) == first[::-1]).all()
        assert len(server.requests) == count


def test_recall_goes_on_by_words_during_an_outage(server, embedder, tmp_path, caplog):
    with Hindsight.open(tmp_path / "m.db", embedder=embedder) as memory:
        memory.remember("Mira leads Kestrel.")
        server.script.extend([503] * 100)
        assert memory.recall("Who leads Kestrel?")[0].unit.content == "Mira leads Kestrel."
        memory.remember("The shed is green.", id="shed")
        assert memory.stats()["without_vector"] == 1
        server.script.clear()
        assert memory.reembed() == 1
    assert "recall works by words" in caplog.text
    assert "Kestrel" not in caplog.text


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": ""},
        {"name": ""},
        {"dimensions": 0},
        {"max_tokens": 0},
        {"batch_texts": 0},
        {"retries": -1},
        {"timeout": 0},
        {"base_url": "localhost:8080/v1"},
        {"base_url": "http:///v1"},
        {"base_url": "http://[::1/v1"},
        {"base_url": "http://localhost:port/v1"},
        {"count_tokens": 7},
    ],
)
def test_wrong_arguments_are_refused(wrong):
    with pytest.raises(InvalidInput):
        EndpointEmbedder(**{"model": "m", **wrong})
