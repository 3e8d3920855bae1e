"""Processes that fork, end in the middle, or find the disk full: nothing hangs, nothing said is lost or said twice."""

import os
import signal
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hindsight_core import Hindsight, locks
from hindsight_core.clock import CountedIds, FixedClock, TimeOrderedIds
from hindsight_core.embedding import CachedEmbedder, HashEmbedder
from hindsight_core.engine import intake
from hindsight_core.errors import StoreBusy, StoreClosed, StoreUnwritable

NOW = datetime(2031, 5, 20, 9, 0, tzinfo=UTC)
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
may_fork = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # from Python 3.12 on


def opened(path=":memory:", **options):
    settings = {"embedder": HashEmbedder(), "clock": FixedClock(NOW), "new_id": CountedIds(), **options}
    return Hindsight.open(path, "u", **settings)


def in_child(work):
    """The exit status of a forked child that does some work; it is ended when it hangs."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    signal.alarm(20)
    status = 1
    try:
        work()
        status = 0
    finally:
        os._exit(status)


@needs_fork
@may_fork
def test_whatever_other_threads_hold_a_forked_child_remembers_and_recalls(tmp_path):
    cache = CachedEmbedder(HashEmbedder(), tmp_path / "cache")
    with opened(tmp_path / "m.db", embedder=cache, new_id=TimeOrderedIds()) as memory:
        memory.remember("Ada keeps the spare key.")

        def work():
            memory.remember("备用车票放在鞋柜里。")
            assert memory.recall("Where is the spare key?").context()

        held, done = threading.Event(), threading.Event()

        def hold():
            every = list(locks._locks)
            for lock in every:
                lock.__enter__()
            held.set()
            done.wait()
            for lock in every:
                lock.__exit__(None, None, None)

        holder = threading.Thread(target=hold)
        holder.start()
        held.wait()
        status = in_child(work)
        done.set()
        holder.join()
        assert status == 0
        assert {unit.content for unit in memory.find()} == {
            "Ada keeps the spare key.",
            "备用车票放在鞋柜里。",
        }
    cache.close()


@needs_fork
@may_fork
def test_forked_children_make_ids_of_their_own():
    new_id = TimeOrderedIds()
    new_id(NOW)
    out, into = os.pipe()
    for _ in range(3):
        assert in_child(lambda: os.write(into, new_id(NOW).encode())) == 0
    ids = {os.read(out, 26) for _ in range(3)} | {new_id(NOW).encode()}
    os.close(out)
    os.close(into)
    assert len(ids) == 4


def test_a_recall_after_the_interpreter_has_closed_the_file_is_an_error_of_ours(tmp_path):
    memory = opened(tmp_path / "m.db")
    memory.remember("Ada keeps the spare key.")
    memory.parts.store._finalizer()  # what happens at exit
    with pytest.raises(StoreClosed):
        memory.recall("Where is the spare key?")


# -- ended between the two writes of one remember ----------------------------------------------------------------

ASKED = [
    {"text": "The spare key hangs behind the stove."},
    {"text": "备用钥匙挂在炉子后面。", "expires_at": NOW + timedelta(days=1), "importance": 0.95, "pinned": True},
    {"text": "SK-9 支架 goes with the tripod.", "indexed": False, "memory_type": "procedural", "id": "mine"},
    {"text": "Ada moved to Bergen.", "metadata": {"k": [1]}, "speaker": "Ada", "session": "s", "turn": 3,
     "timestamp": None, "consolidate": False},
    {"text": "A note.\n\nAnother note.", "source": "notes.md", "timestamp": "2030-01-01", "importance": 0.0},
]  # fmt: skip


def broken_off(memory, asked, monkeypatch):
    """A remember that ends after its first write, as by a kill."""

    def ended(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(intake, "_encode", ended)
        with pytest.raises(KeyboardInterrupt):
            told(memory, asked)


def told(memory, asked):
    fields = dict(asked)
    return memory.remember(fields.pop("text"), **fields)


def compared(units):
    """Memories without what differs in every run."""
    return sorted(
        (replace(u, id="", seq=0, source=replace(u.source, episode=None)) for u in units if u.id != "other"),
        key=lambda u: u.content,
    )


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked["text"][:8])
def test_what_was_told_to_a_process_that_ended_is_encoded_as_it_was_asked(asked, monkeypatch):
    with opened() as whole, opened() as broken:
        wanted = told(whole, asked)
        broken_off(broken, asked, monkeypatch)
        assert broken.find() == []
        assert broken.resume() == 1
        assert broken.resume() == 0
        assert compared(broken.find()) == compared(wanted)
        assert [unit.caller_id for unit in broken.find()] == [unit.caller_id for unit in wanted]
        assert all(not episode.given for episode in broken.parts.store.episodes(("u",)))


@pytest.mark.parametrize("first", ["resume", "tell"])
@pytest.mark.parametrize("text", ["The spare key hangs behind the stove.", "备用钥匙挂在炉子后面。"])
def test_told_again_after_a_broken_call_it_is_one_memory(text, first, monkeypatch):
    with opened() as memory:
        broken_off(memory, {"text": text}, monkeypatch)
        steps = [memory.resume, lambda: memory.remember(text)]
        for step in steps if first == "resume" else reversed(steps):
            step()
        assert [unit.content for unit in memory.find()] == [text]


def test_what_waits_survives_the_way_out_and_in(tmp_path, monkeypatch):
    with opened() as memory, opened() as other:
        broken_off(memory, ASKED[1], monkeypatch)
        memory.export(tmp_path / "out.jsonl")
        other.import_(tmp_path / "out.jsonl")
        other.resume()
        assert [(u.importance, u.pinned, u.expires_at) for u in other.find()] == [
            (0.95, True, ASKED[1]["expires_at"])
        ]


# -- at the same time --------------------------------------------------------------------------------------------


def test_names_decided_at_the_same_time_are_all_kept(tmp_path):
    calls = []

    def new_id(now):
        calls.append(now)
        if len(calls) == 2:  # while the first decision is on its way
            with opened(tmp_path / "m.db", new_id=CountedIds("other")) as other:
                other.names.merge("小王", "王小明")
        return f"n{len(calls)}"

    with opened(tmp_path / "m.db", new_id=CountedIds()) as memory:
        memory.remember("Redis is also called the cache.")
    with opened(tmp_path / "m.db", new_id=new_id) as memory:
        memory.names.merge("Redis", "the cache")
        assert {one.names for one in memory.names.decisions()} == {("小王", "王小明"), ("Redis", "the cache")}


@pytest.mark.parametrize("trouble", [StoreUnwritable, StoreBusy])
def test_a_context_is_shown_although_its_use_cannot_be_noted(trouble, monkeypatch, caplog):
    with opened() as memory:
        memory.remember("Ada keeps the spare key.")
        hits = memory.recall("Where is the spare key?")

        def refused(**_):
            raise trouble("no space left")

        monkeypatch.setattr(memory.parts.store, "write", refused)
        assert "Ada keeps the spare key." in hits.context()
        assert trouble.__name__ in caplog.text
