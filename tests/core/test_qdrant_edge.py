"""Qdrant Edge in a folder: one opener, no fork, nothing acknowledged lost, the same answers after reopening."""

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("qdrant_edge", reason="needs the extra [qdrant]")

from hindsight_core import Hindsight
from hindsight_core.embedding import HashEmbedder
from hindsight_core.errors import NotAStore, StoreBusy, StoreClosed, StoreError, StoreUnwritable
from hindsight_core.stores.opening import open_place
from hindsight_core.stores.qdrant import QdrantStore
from hindsight_core.stores.sqlite import SqliteStore

ROOT = Path(__file__).resolve().parents[2]

CHILD = """
import sys
from hindsight_core import Hindsight
from hindsight_core.errors import StoreBusy
try:
    memory = Hindsight.open(sys.argv[1], embedder=None)
except StoreBusy as busy:
    print("busy", busy)
    sys.exit()
for i in range(int(sys.argv[2])):
    memory.remember(f"Boat number {i} is in the harbour.", id=f"b{i}")
    print(i, flush=True)
sys.stdin.readline()
"""


def child(folder, count=0):
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'core'}{os.pathsep}{ROOT}"}
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder), str(count)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip


def test_a27_one_opener_at_a_time(tmp_path):
    folder = tmp_path / "memory"
    store = QdrantStore.open(folder)
    with pytest.raises(StoreBusy, match=r"memory.*one opener at a time.*close the other"):
        QdrantStore.open(folder)
    said, _ = child(f"{folder}/").communicate()
    assert said.startswith("busy")
    store.close()
    store.close()
    with pytest.raises(StoreClosed):
        store.meta()
    QdrantStore.open(folder).close()


def test_a27_a_killed_process_loses_nothing_it_acknowledged(tmp_path):
    folder = f"{tmp_path / 'memory'}/"
    process = child(folder, 12)
    acknowledged = [process.stdout.readline().strip() for _ in range(8)]
    process.kill()
    process.communicate()
    with Hindsight.open(folder, embedder=None) as memory:
        there = {unit.id for unit in memory.find()}
        assert {f"b{i}" for i in acknowledged} <= there
        assert memory.parts.store.check() == []
        assert len(list(memory.parts.store.events())) == len(there)


def test_a28_every_channel_answers_alike_after_reopening(tmp_path):
    folder = f"{tmp_path / 'memory'}/"
    questions = ("Which port does Kestrel use?", "Kestrel", "What was said on 2031-05-03?", "端口是多少?")
    answers = []
    for attempt in range(3):
        with Hindsight.open(folder, "u", embedder=HashEmbedder()) as memory:
            if attempt == 0:
                for i in range(10):
                    text = f"Kestrel uses port 74{i}. 红隼的端口是 74{i}。"
                    memory.remember(
                        text, timestamp=f"2031-05-{i + 1:02}", session="s", id=str(i), consolidate=False
                    )
            now = "2031-06-01"
            found = [memory.recall(q, k=5, now=now, floor=None) for q in questions]
            answers.append([[(hit.unit.id, hit.score) for hit in hits] for hits in found])
    assert answers[0] == answers[1] == answers[2]
    assert all(answers[0])


@pytest.mark.parametrize("whole", [0, 5_000])
def test_a29_a34_a35_ids_of_callers_and_users_apart(tmp_path, whole):
    store = QdrantStore.open(tmp_path / "memory", durability="normal", whole=whole)
    one, two, like = (Hindsight.open(store, s, embedder=HashEmbedder()) for s in ("u1", "u2", ("u2", "u1")))
    for id in ("note-1", 7, "a/b", "备忘1"):
        one.remember(f"Memory {id} of the vault.", id=id, session="s", speaker="Mei", timestamp="2031-05-01")
        assert one.get(id).content == f"Memory {id} of the vault."
        assert one.update(id, importance=0.9).importance == 0.9
    two.remember("Nothing to see.", session="s", speaker="Mei")
    like.remember("Nor here.", session="s", speaker="Mei")
    for question in ("Memory note-1 of the vault.", "vault", "What did Mei say on 2031-05-01?", "备忘1"):
        found = {hit.unit.content for hit in two.recall(question, floor=None, k=9)}
        assert found <= {"Nothing to see.", "Nor here."}
    assert one.clear() == 4
    assert [len(memory.find()) for memory in (one, two, like)] == [0, 2, 1]
    store.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_is_told_and_does_not_hang(tmp_path):
    store = QdrantStore.open(tmp_path / "memory")
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe()

    def ask():
        try:
            store.meta()
        except StoreError as error:
            sender.send(str(error))
        store.close()

    process = context.Process(target=ask)
    process.start()
    assert receiver.poll(60)
    assert "forked child" in receiver.recv()
    process.join()
    assert process.exitcode == 0
    assert store.meta() == {}
    store.close()


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(NotAStore):
        QdrantStore.open(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(StoreUnwritable):
        QdrantStore.open(tmp_path / "nobody" / "memory")


def test_vectors_of_another_length_move_the_units(tmp_path):
    with Hindsight.open(
        QdrantStore.open(tmp_path / "memory"), "u", embedder=HashEmbedder(dimension=64)
    ) as memory:
        memory.remember("The harbour has nine boats.")
        memory.reembed(HashEmbedder(dimension=32))
    with Hindsight.open(
        QdrantStore.open(tmp_path / "memory"), "u", embedder=HashEmbedder(dimension=32)
    ) as memory:
        assert memory.recall("The harbour has nine boats.")[0].unit.content == "The harbour has nine boats."
        assert memory.doctor() == []
    assert sorted(path.name for path in (tmp_path / "memory").iterdir()) == [
        "events", "hindsight.json", "side", "units_32",
    ]  # fmt: skip


def test_optimising_changes_no_answer(tmp_path):
    store = QdrantStore.open(tmp_path / "memory", whole=0)
    with Hindsight.open(store, "u", embedder=HashEmbedder()) as memory:
        memory.remember_many([{"text": f"Boat {i} is in berth {i % 7}."} for i in range(60)])
        before = [(hit.unit.id, hit.score) for hit in memory.recall("berth 3", k=5, now="2031-01-01")]
        store.optimize()
        assert [(hit.unit.id, hit.score) for hit in memory.recall("berth 3", k=5, now="2031-01-01")] == before


@pytest.mark.parametrize("place", ["memory.db", ":memory:"])
def test_a_path_is_a_file(tmp_path, place):
    store = open_place(tmp_path / place if place != ":memory:" else place)
    assert isinstance(store, SqliteStore)
    store.close()


def test_a_folder_is_qdrant_edge(tmp_path):
    for _ in range(2):
        store = open_place(f"{tmp_path}/memory/")
        assert isinstance(store, QdrantStore)
        store.close()
    store = open_place(tmp_path / "memory")
    assert isinstance(store, QdrantStore)
    store.close()


@pytest.mark.parametrize(
    "address", ["ftp://host/x", "http://", "http://user:word@host", "http://host:port/x"]
)
def test_what_is_no_address_is_refused(address):
    with pytest.raises(ValueError, match="address"):
        open_place(address)
