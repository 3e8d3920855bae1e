"""A server on loopback that speaks the OpenAI chat protocol and answers what a test tells it to."""

import json
import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytest.importorskip("openai", reason="needs the extra [llm]")

from hindsight_core.llm import Chat, OpenAIChat


def said(content, *, finish="stop", usage=(100, 20), **message):
    """A complete answer whose message holds this content; a value that is no string becomes its JSON."""
    if content is not None and not isinstance(content, str):
        content = json.dumps(content, ensure_ascii=False)
    return {
        "id": "r1", "object": "chat.completion", "created": 1, "model": "scripted",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}],
        **({"usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}} if usage else {}),
    }  # fmt: skip


def item(text, summary=None, **fields):
    """A well-behaved item about a text: everything the schema asks for."""
    return {
        "summary": text if summary is None else summary,
        "importance": 7,
        "memory_type": "semantic",
        "entities": [],
        "times": [],
        "relations": [],
        **fields,
    }


def data_of(body):
    """The data of a request: what the user message holds."""
    return json.loads(body["messages"][1]["content"])


def answering(make):
    """An answer that gives each text of the request the item that `make` gives for it; None leaves it out."""

    def answer(body):
        made = [(told["id"], make(told)) for told in data_of(body)["texts"]]
        return said({"items": [{"id": id, **one} for id, one in made if one is not None]})

    return answer


class Server:
    """Answers requests one after the other from `script`, the last of which goes on for ever.

    An entry is a body, a pair (status, body) or a triple with headers, "slow" (no answer), "reset" (the connection is
    cut), or a function of the request that gives one of these.
    """

    said = staticmethod(said)
    item = staticmethod(item)
    data_of = staticmethod(data_of)
    answering = staticmethod(answering)

    def __init__(self):
        self.script = []
        self.requests = []
        self.released = threading.Event()
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                entry = outer.next(body, self.headers)
                entry = entry(body) if callable(entry) else entry
                if entry == "slow":
                    outer.released.wait(20)
                    self.close_connection = True
                elif entry == "reset":
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.close_connection = True
                else:
                    self.answer(*(entry if isinstance(entry, tuple) else (200, entry)))

            def answer(self, status, body, headers=()):
                raw = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in (("Content-Type", "application/json"), *dict(headers).items()):
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *args):
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._http.handle_error = lambda request, address: None  # a client that hung up
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"

    def next(self, body, headers):
        with self._lock:
            entry = self.script[min(len(self.requests), len(self.script) - 1)]
            self.requests.append(body)
            self.headers = headers
            return entry

    def prompts(self):
        """All messages of all requests as one text each."""
        return ["\n".join(message["content"] for message in body["messages"]) for body in self.requests]

    def close(self):
        self.released.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


@pytest.fixture
def server(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    server = Server()
    yield server
    server.close()


@pytest.fixture
def open_chat(server):
    """Chats with the server; waits are written down instead of waited."""
    opened = []

    def open_(*, timeout=20.0, **options):
        model = OpenAIChat("scripted", base_url=server.url, api_key="sk-hush-hush", timeout=timeout)
        waits = []
        chat = Chat(model, sleep=waits.append, **options)
        chat.waits = waits
        opened.append(chat)
        return chat

    yield open_
    for chat in opened:
        chat.close()
