"""The client against a server that answers as servers do on bad days."""

import pickle
import threading

import pytest

from hindsight_core.errors import (
    AnswerUnusable,
    InvalidSettings,
    MissingExtra,
    ModelError,
    ModelUnavailable,
    NotAStore,
)
from hindsight_core.llm import (
    Chat,
    ChatModel,
    ChatReply,
    ChatRequest,
    Message,
    OpenAIChat,
    Usage,
    openai_chat,
)

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}


def request(text="How many?", about=()):
    return ChatRequest(
        messages=(Message(role="system", content="Count."), Message(role="user", content=text)),
        schema=SCHEMA,
        about=about,
    )


def test_it_asks_by_schema_at_temperature_zero(server, open_chat):
    server.script = [server.said({"n": 3})]
    chat = open_chat()
    assert chat.ask(request()).value == {"n": 3}
    (body,) = server.requests
    assert body["messages"] == [
        {"role": "system", "content": "Count."},
        {"role": "user", "content": "How many?"},
    ]
    assert (body["model"], body["temperature"]) == ("scripted", 0.0)
    assert body["response_format"]["type"] == "json_schema"
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert server.headers["Authorization"] == "Bearer sk-hush-hush"
    assert isinstance(chat.model, ChatModel)


@pytest.mark.parametrize(
    ("refusals", "form"),
    [
        (1, {"type": "json_object", "schema": SCHEMA}),
        (2, {"type": "json_object"}),
        (3, None),
    ],
)
@pytest.mark.parametrize("status", [400, 422, 500])
def test_it_falls_back_step_by_step_to_text_and_remembers_that(server, open_chat, refusals, form, status):
    refused = (status, {"error": {"message": "response_format is not supported"}})
    server.script = [*[refused] * refusals, server.said({"n": 3})]
    chat = open_chat()
    assert chat.ask(request()).value == {"n": 3}
    chat.ask(request("And now?"))
    assert len(server.requests) == refusals + 2
    for body in server.requests[-2:]:
        assert body.get("response_format") == form
        assert '"additionalProperties": false' in body["messages"][0]["content"]


def test_it_learns_which_limit_and_temperature_a_server_takes(server, open_chat):
    server.script = [
        (400, {"error": {"message": "Unsupported parameter: use 'max_completion_tokens' instead"}}),
        (400, {"error": {"message": "Unsupported value: 'temperature' must be 1"}}),
        server.said({"n": 3}),
    ]
    chat = open_chat()
    chat.ask(request())
    last = server.requests[-1]
    assert "max_tokens" not in last
    assert "temperature" not in last
    assert last["max_completion_tokens"] == 4096
    assert last["response_format"]["type"] == "json_schema"


def test_a_request_that_is_wrong_in_every_form_is_given_up(server, open_chat):
    server.script = [(400, {"error": {"message": "context length exceeded"}})]
    with pytest.raises(ModelError, match="status 400") as caught:
        open_chat().ask(request())
    assert not isinstance(caught.value, ModelUnavailable)
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    "fault",
    [
        (429, {"error": {"message": "slow down"}}),
        (500, {}),
        (503, b"<html>busy</html>"),
        "reset",
        (200, b'{"choi'),
    ],
    ids=["429", "500", "503", "reset", "cut"],
)
def test_what_passes_is_waited_out(server, open_chat, fault):
    server.script = [fault, fault, server.said({"n": 3})]
    chat = open_chat()
    assert chat.ask(request()).value == {"n": 3}
    assert chat.waits == [0.5, 1.0]
    assert (chat.tally.calls, chat.tally.repeated, chat.tally.failed) == (1, 2, 0)


def test_a_server_that_does_not_answer_in_time_is_asked_again(server, open_chat):
    server.script = ["slow", server.said({"n": 3})]
    assert open_chat(timeout=0.5).ask(request()).value == {"n": 3}


def test_it_waits_as_long_as_the_server_says_but_not_for_ever(server, open_chat):
    server.script = [
        (429, {}, {"Retry-After": "3"}),
        (429, {}, {"Retry-After": "3600"}),
        (429, {}, {"Retry-After": "tomorrow"}),
        server.said({"n": 3}),
    ]
    chat = open_chat()
    chat.ask(request())
    assert chat.waits == [3.0, 8.0, 2.0]


def test_an_outage_costs_one_wait_and_then_the_model_rests(server, open_chat):
    server.script = [*[(503, {})] * 4, server.said({"n": 3})]
    now = [100.0]
    chat = open_chat(monotonic=lambda: now[0])
    with pytest.raises(ModelUnavailable, match="503"):
        chat.ask(request())
    assert chat.waits == [0.5, 1.0, 2.0]
    with pytest.raises(ModelUnavailable, match="asked again in 30 s"):
        chat.ask(request())
    assert len(server.requests) == 4
    now[0] += 31
    assert chat.ask(request()).value == {"n": 3}
    assert chat.tally.failed == 2


def test_a_server_that_only_takes_time_is_not_asked_over_and_over():
    now = [100.0]

    class Hangs:
        name = "hangs"
        asked = 0

        def complete(self, request):
            self.asked += 1
            now[0] += 20.0
            raise ModelUnavailable("hangs timed out")

    model = Hangs()
    chat = Chat(model, attempts=5, patience=30, sleep=lambda seconds: None, monotonic=lambda: now[0])
    with pytest.raises(ModelUnavailable, match="timed out"):
        chat.ask(request())
    assert model.asked == 2
    with pytest.raises(ModelUnavailable, match="asked again in 30 s"):
        chat.ask(request())
    assert model.asked == 2


def test_no_server_at_all_is_not_waited_for(open_chat, server):
    now = [100.0]
    chat = open_chat(monotonic=lambda: now[0])
    server.close()
    with pytest.raises(ModelUnavailable, match="cannot be reached") as caught:
        chat.ask(request())
    assert caught.value.down
    assert pickle.loads(pickle.dumps(caught.value)).down
    with pytest.raises(ModelUnavailable, match="asked again in 30 s"):
        chat.ask(request())
    assert chat.waits == []
    now[0] += 31
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        chat.ask(request())


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key_is_no_outage_and_is_not_shown(server, open_chat, status):
    server.script = [(status, {"error": {"message": "Incorrect API key provided: sk-hush-hush"}})]
    chat = open_chat()
    with pytest.raises(ModelError) as caught:
        chat.ask(request())
    assert not isinstance(caught.value, (ModelUnavailable, AnswerUnusable))
    assert len(server.requests) == 1
    assert not any("hush" in shown for shown in (str(caught.value), repr(chat), repr(chat.model), chat.name))


def test_no_password_of_an_address_is_shown():
    model = OpenAIChat("m", base_url="http://ada:hush@gate.example/v1")
    assert "hush" not in repr(model) + model.name
    assert model.name == "m@gate.example"


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "refusal": "I cannot help with that."},
        {"content": ""},
        {"content": " \n"},
        {"content": None},
        {"content": "", "reasoning_content": '{"n": 3}'},
        {"content": None, "reasoning": '{"n": 3}'},
    ],
)
def test_refusals_and_empty_answers_are_no_answers(server, open_chat, message):
    server.script = [server.said(**message)]
    with pytest.raises(AnswerUnusable):
        open_chat().ask(request())
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        {"choices": []},
        {"choices": None},
        {},
        [],
        "hello",
        {"choices": [{"message": None}]},
        {"choices": "none"},
    ],
)
def test_an_answer_in_another_protocol_is_none(server, open_chat, body):
    server.script = [body]
    with pytest.raises(AnswerUnusable):
        open_chat().ask(request())


def test_content_in_parts_is_put_together(server, open_chat):
    body = server.said("")
    body["choices"][0]["message"]["content"] = [
        {"type": "text", "text": '{"n":'},
        {"type": "text", "text": " 3}"},
    ]
    server.script = [body]
    assert open_chat().ask(request()).value == {"n": 3}


def test_reasoning_beside_the_answer_is_not_looked_at(server, open_chat):
    server.script = [server.said({"n": 3}, reasoning_content='{"n": 999}')]
    assert open_chat().ask(request()).value == {"n": 3}


# -- the meter, the limit, the cache -----------------------------------------------------------------------------


def test_the_meter_counts_tokens_and_money(server, open_chat):
    server.script = [server.said({"n": 1}, usage=(1000, 200)), server.said({"n": 2}, usage=None)]
    chat = open_chat(price=(0.15, 0.60))
    chat.ask(request())
    chat.ask(request("two"))
    tally = chat.tally
    assert (tally.calls, tally.prompt_tokens, tally.completion_tokens, tally.unmetered) == (2, 1000, 200, 1)
    assert tally.cost == pytest.approx((1000 * 0.15 + 200 * 0.60) / 1e6)


class Waiting:
    """Notes how many ask at once; each leaves only when all the permitted ones are there."""

    name = "waiting"

    def __init__(self, together):
        self.barrier = threading.Barrier(together)
        self.inside = self.most = 0
        self.lock = threading.Lock()

    def complete(self, request):
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        self.barrier.wait(10)
        with self.lock:
            self.inside -= 1
        return ChatReply(text='{"n": 1}')


def test_no_more_requests_are_under_way_than_allowed():
    model = Waiting(2)
    chat = Chat(model, concurrency=2)
    threads = [threading.Thread(target=chat.ask, args=(request(str(i)),)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert model.most == 2
    assert chat.tally.calls == 6


def test_the_same_is_asked_once_even_after_a_restart(server, open_chat, tmp_path):
    server.script = [server.said({"n": 1}), server.said({"n": 2})]
    path = tmp_path / "llm.cache"
    first = open_chat(cache=path)
    assert first.ask(request()).value == first.ask(request()).value == {"n": 1}
    first.close()
    again = open_chat(cache=path)
    assert again.ask(request()).value == {"n": 1}
    assert again.ask(request("another")).value == {"n": 2}
    assert (again.tally.calls, again.tally.cached) == (1, 1)
    assert again._cache.get(again.name, request()) == ChatReply(
        text='{"n": 1}', usage=Usage(prompt_tokens=100, completion_tokens=20)
    )


def test_what_was_cut_off_or_failed_is_not_kept(server, open_chat, tmp_path):
    server.script = [server.said("{", finish="length"), (401, {}), server.said({"n": 1})]
    chat = open_chat(cache=tmp_path / "llm.cache")
    with pytest.raises(AnswerUnusable):
        chat.ask(request())
    with pytest.raises(ModelError):
        chat.ask(request())
    assert chat.ask(request()).value == {"n": 1}


def test_erasing_a_memory_takes_the_answers_about_it_out_of_every_byte(server, open_chat, tmp_path):
    server.script = [lambda body: server.said(f'{{"n": "{body["messages"][1]["content"]}"}}')]
    chat = open_chat(cache=tmp_path / "llm.cache")
    chat.ask(request("marigold", about=("the word is marigold", "hello")))
    chat.ask(request("juniper", about=("the word is juniper",)))
    chat.erase(["the word is marigold"])

    def bytes_on_disk():
        return b"".join(path.read_bytes() for path in tmp_path.iterdir())

    assert b"marigold" not in bytes_on_disk()
    assert b"juniper" in bytes_on_disk()
    chat.ask(request("marigold"))
    assert chat.tally.calls == 3


def test_a_cache_of_another_kind_is_left_alone(tmp_path):
    from hindsight_core.embedding import CachedEmbedder, HashEmbedder

    CachedEmbedder(HashEmbedder(16), tmp_path / "v.db").close()
    with pytest.raises(NotAStore, match="not an answer cache"):
        Chat(Waiting(1), cache=tmp_path / "v.db")


# -- settings ------------------------------------------------------------------------------------------------------


def test_model_endpoint_and_key_come_from_the_environment(server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-env")
    server.script = [server.said({"n": 3})]
    chat = Chat("scripted")
    assert chat.ask(request()).value == {"n": 3}
    assert server.headers["Authorization"] == "Bearer sk-from-env"
    chat.close()
    chat.close()


def test_every_fault_of_the_settings_is_named(server):
    with pytest.raises(InvalidSettings) as caught:
        OpenAIChat("", timeout=0, max_tokens=0)
    assert len(caught.value.faults) == 4
    assert "OPENAI_API_KEY" in str(caught.value)
    with pytest.raises(InvalidSettings, match="http://localhost") as caught:
        OpenAIChat("m", base_url="user:hunter2@localhost:8080/v1")
    assert "hunter2" not in str(caught.value)
    with pytest.raises(InvalidSettings) as caught:
        Chat(Waiting(1), attempts=0, concurrency=0, backoff=-1, price=(-1, 0))
    assert len(caught.value.faults) == 4


def test_without_the_extra_the_error_names_the_command(monkeypatch):
    monkeypatch.setattr(openai_chat, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r'pip install "hindsight-memory\[llm\]"'):
        OpenAIChat("gpt-4o-mini")
