"""Moving a memory between files, folders and servers: nothing lost, nothing changed, and going on where it broke off."""

import json
from datetime import timedelta

import pytest

pytest.importorskip("qdrant_client", reason="needs the extra [qdrant]")

from hindsight_core import Hindsight
from hindsight_core.cli import main
from hindsight_core.errors import InvalidInput, StoreError
from hindsight_core.stores import moving
from hindsight_core.stores.moving import copy, fingerprint, replica
from hindsight_core.stores.qdrant import QdrantStore
from hindsight_core.stores.sqlite import SqliteStore

MAKERS = {
    "file": lambda folder, name: SqliteStore.open(folder / f"{name}.db", durability="normal"),
    "memory mode": lambda folder, name: QdrantStore.connect(":memory:"),
}


@pytest.fixture
def lived(open_memory, clock):
    """A memory with a past: evolved facts, uses, links, a removed and an erased memory, two scopes, names."""

    def live(store):
        memory = open_memory(store)
        for i in range(20):
            text = f"Turn number {i} about the harbour of Kestrel."
            memory.remember(text, session="s", speaker="Mei", id=f"t{i}")
            clock.advance(hours=1)
        memory.remember("Mei prefers short answers.")
        clock.advance(days=1)
        memory.remember("Mei now prefers long answers.")
        memory.within("工作").remember("服务端口是 7420。", metadata={"rank": 1})
        memory.recall("harbour", k=3).context(max_tokens=200)
        memory.forget("t1")
        memory.erase("t2")
        memory.names.merge("Kestrel", "Falcon")
        return memory

    return live


@pytest.mark.parametrize("source", MAKERS)
@pytest.mark.parametrize("target", MAKERS)
def test_everything_moves(source, target, tmp_path, lived, open_memory, clock):
    memory = lived(MAKERS[source](tmp_path, "a"))
    question = {"query": "what answers does Mei prefer?", "k": 5, "floor": None}
    before = [(hit.unit, round(hit.score, 6)) for hit in memory.recall(**question)]
    there = MAKERS[target](tmp_path, "b")
    moved = copy(memory.parts.store, there, name="a", now=clock.now())
    assert moved.counts["unit"] == dict(memory.stats())["memories"] > 20
    assert moved.counts["event"] == len(list(memory.parts.store.events()))
    assert list(there.events()) == list(memory.parts.store.events())
    assert there.check() == []
    other = open_memory(there)
    assert [(hit.unit, round(hit.score, 6)) for hit in other.recall(**question)] == before
    assert dict(other.stats())["links"] == dict(memory.stats())["links"] > 0
    assert other.names.groups() == memory.names.groups()
    (batch,) = {event.batch for event in there.events(key=(("u",), "t1")) if event.after is None}
    other.undo(batch)
    assert other.get("t1").seq == 2
    assert other.remember("Something new.")[0].seq > max(unit.seq for unit in memory.find())


def test_there_and_back_is_the_same(tmp_path, lived, clock):
    memory = lived(MAKERS["file"](tmp_path, "a"))
    first = fingerprint(replica(memory.parts.store))
    qdrant, back = MAKERS["memory mode"](tmp_path, ""), MAKERS["file"](tmp_path, "back")
    assert copy(memory.parts.store, qdrant, name="a", now=clock.now()) == first
    assert copy(qdrant, back, name="q", now=clock.now()) == first
    back.close()


@pytest.mark.parametrize("stop", range(0, 12, 3))
def test_broken_off_it_goes_on(stop, tmp_path, lived, clock, monkeypatch):
    monkeypatch.setattr(moving, "BATCH", 7)
    memory = lived(MAKERS["file"](tmp_path, "a"))
    there = MAKERS["memory mode"](tmp_path, "")
    first, again = [], []

    def breaking(kind, count):
        first.append(kind)
        if len(first) == stop + 1:
            raise ConnectionError

    with pytest.raises(ConnectionError):
        copy(memory.parts.store, there, name="a", now=clock.now(), progress=breaking)
    copy(memory.parts.store, there, name="a", now=clock.now(), progress=lambda kind, _: again.append(kind))
    assert list(there.events()) == list(memory.parts.store.events())
    whole = []
    other = MAKERS["memory mode"](tmp_path, "")
    copy(memory.parts.store, other, name="a", now=clock.now(), progress=lambda kind, _: whole.append(kind))
    assert len(first) + len(again) == len(whole)


def test_what_is_there_is_not_written_over(tmp_path, lived, clock, open_memory):
    memory = lived(MAKERS["file"](tmp_path, "a"))
    full = open_memory(tmp_path / "full.db")
    full.remember("Something of its own.")
    with pytest.raises(InvalidInput, match="holds memories already"):
        copy(memory.parts.store, full.parts.store, name="a", now=clock.now())
    there = MAKERS["memory mode"](tmp_path, "")
    copy(memory.parts.store, there, name="a", now=clock.now())
    with pytest.raises(InvalidInput, match="moved already"):
        copy(memory.parts.store, there, name="a", now=clock.now())


def test_a_source_that_changes_meanwhile_is_noticed(tmp_path, lived, clock):
    memory = lived(MAKERS["file"](tmp_path, "a"))
    there = MAKERS["memory mode"](tmp_path, "")

    def meddling(kind, count):
        if kind == "event":
            memory.remember("Said in between.", timestamp=clock.now() + timedelta(days=1))

    with pytest.raises(StoreError, match="do not agree"):
        copy(memory.parts.store, there, name="a", now=clock.now(), progress=meddling)


def test_the_command_moves_to_a_folder_and_back(tmp_path, capsys):
    pytest.importorskip("qdrant_edge", reason="needs the extra [qdrant]")
    db, folder, back = str(tmp_path / "a.db"), str(tmp_path / "edge") + "/", str(tmp_path / "back.db")
    for text in ("Mei lives in Turin.", "薄荷要多浇水。"):
        assert main(["--db", db, "--embedder", "none", "remember", text]) == 0
    capsys.readouterr()
    assert main(["migrate", db, folder, "--json"]) == 0
    there = json.loads(capsys.readouterr().out)
    assert there["unit"] == 2
    assert main(["migrate", folder, back, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == there
    with Hindsight.open(folder, embedder=None) as memory:
        assert len(memory.find()) == 2
    assert main(["migrate", db, db]) == 1
    assert main(["migrate", str(tmp_path / "nothing.db"), folder]) == 1
