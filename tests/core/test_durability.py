"""Nothing acknowledged is lost, nothing damaged goes unnoticed, and nothing half done is left behind."""

import json
import os
import random
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hindsight_core.contract.base import entry, found, probe, unit
from hindsight_core.errors import NotAStore, SchemaTooNew, StoreBusy, StoreCorrupted, StoreUnwritable
from hindsight_core.ports import Visibility
from hindsight_core.stores.sqlite import SqliteStore
from hindsight_core.unit import Status

CHILD = Path(__file__).with_name("durability_child.py")
NOW = datetime(2031, 5, 4, tzinfo=UTC)
SCOPE = ("kestrel",)
EVERYTHING = Visibility(scopes=(SCOPE,), now=NOW, statuses=frozenset(Status), unindexed=True)
KILLS = 120
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


class Nursery:
    """Forks workers on request; see durability_child."""

    def __init__(self):
        self._process = subprocess.Popen(
            [sys.executable, str(CHILD)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self._buffer = b""

    def start(self, *workers):
        self._process.stdin.write((json.dumps(workers) + "\n").encode())
        self._early = []  # a worker may speak before the nursery does
        while not (line := self._line(60)).startswith("pids"):
            self._early.append(line)
        return [int(pid) for pid in line.split()[1:]]

    def until(self, word):
        """Lines up to the first that begins so."""
        lines, self._early = self._early, []
        while not any(line.startswith(word) for line in lines):
            line = self._line(60)
            assert line is not None, f"no {word} came"
            lines.append(line)
        return lines

    def rest(self, seconds=None):
        """Lines until the workers have ended, or for so many seconds; without a limit the exit codes come last."""
        deadline = None if seconds is None else time.monotonic() + seconds
        lines, self._early = self._early, []
        while True:
            line = self._line(120 if deadline is None else deadline - time.monotonic())
            if line is None:
                assert deadline is not None, "the workers did not end"
                return lines
            lines.append(line)
            if line.startswith("end "):
                return lines

    def run(self, *workers):
        """Lines and exit codes of workers that end by themselves."""
        self.start(*workers)
        *lines, end = self.rest()
        return lines, [int(code) for code in end.split()[1:]]

    def _line(self, timeout):
        """The next line; None when none comes in time."""
        while b"\n" not in self._buffer:
            if timeout <= 0 or not select.select([self._process.stdout], [], [], timeout)[0]:
                return None
            data = os.read(self._process.stdout.fileno(), 65536)
            assert data, "the nursery died"
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line.decode()

    def close(self):
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._process.stdout.close()


@pytest.fixture(scope="module")
def nursery():
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    started = Nursery()
    yield started
    started.close()


def fill(path, count=60, size=60):
    store = SqliteStore.open(path)
    for i in range(count):
        with store.write(actor="test", batch=f"b{i}", now=NOW) as tx:
            words = f"memory {i} " * size
            tx.put(unit(f"m{i:03}", words, SCOPE, metadata={"i": i}), entry("memory", [1, 0]), reason="test")
    return store


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def use(path):
    """Open, read everything, search and write: whatever is wrong must show."""
    store = SqliteStore.open(path, busy_timeout=1.0)
    try:
        with store.reading(EVERYTHING) as reading:
            found(reading, probe(EVERYTHING, vector=[1, 0]))
        units = store.find(EVERYTHING)
        list(store.events())
        return units
    finally:
        store.close()


# -- killed processes ----------------------------------------------------------------------------------------


def test_kill_at_any_moment_loses_no_acknowledged_write(nursery, tmp_path):
    path = tmp_path / "memories.db"
    moments = random.Random(20310504)
    acknowledged = []
    for round_ in range(KILLS):
        (pid,) = nursery.start(["write_until_killed", str(path), f"w{round_}"])
        lines = (
            nursery.until("ack") if round_ % 2 else []
        )  # every other one dies while it opens the store, too
        lines += nursery.rest(moments.uniform(0.0, 0.04))
        os.kill(pid, signal.SIGKILL)
        lines += nursery.rest()
        assert lines.pop() == f"end {-signal.SIGKILL}"
        acknowledged += [line.removeprefix("ack ") for line in lines]
        if round_ % 20 == 0:
            SqliteStore.open(path).close()
    assert len(acknowledged) >= KILLS // 2

    store = SqliteStore.open(path)
    assert store.check() == []
    stored = {u.id for u in store.find(EVERYTHING)}
    episodes = {e.id for e in store.episodes(SCOPE)}
    # Whole transactions, acknowledged or not, and among them every acknowledged one.
    assert stored == {f"{id}.{side}" for id in episodes for side in "ab"}
    assert episodes >= set(acknowledged)
    assert {event.key[1] for event in store.events()} == stored
    with store.reading(EVERYTHING) as reading:
        assert set(found(reading, probe(EVERYTHING, words={"memory": 1}, top=100_000))) == stored
    assert all(u.related_ids for u in store.find(EVERYTHING))
    store.close()


def test_kill_while_erasing_brings_nothing_back(nursery, tmp_path):
    path = tmp_path / "memories.db"
    store = fill(path, 30, 3)
    store.close()
    left = [f"m{i:03}" for i in range(30)]
    moments = random.Random(7)
    while left:
        (pid,) = nursery.start(["erase_until_killed", str(path), left])
        lines = nursery.rest(moments.uniform(0.01, 0.1))
        if not (lines and lines[-1].startswith("end")):
            os.kill(pid, signal.SIGKILL)
            lines += nursery.rest()
        store = SqliteStore.open(path)  # finishes the wiping that was cut off
        assert store.check() == []
        present = [u.id for u in store.find(EVERYTHING, newest_first=False)]
        store.close()
        assert not {line.removeprefix("ack ") for line in lines} & set(present)
        data = b"".join(files(tmp_path).values())
        assert [id for id in left if f"memory {int(id[1:])} memory".encode() in data] == present
        left = present


# -- many at once --------------------------------------------------------------------------------------------


def test_processes_and_threads_lose_nothing_and_agree(nursery, tmp_path):
    path = tmp_path / "memories.db"
    SqliteStore.open(path).close()
    lines, codes = nursery.run(*(["hammer", str(path), name, 8, 12] for name in ("p", "q")))
    assert codes == [0, 0]
    assert [line for line in lines if line.startswith("failed")] == []
    assert [line for line in lines if line.startswith("units")] == ["units 96"] * 2
    wanted = sorted(f"{name}.{thread}.{i}" for name in "pq" for thread in range(8) for i in range(12))
    assert sorted(line.removeprefix("ack ") for line in lines if line.startswith("ack")) == wanted
    one, two = SqliteStore.open(path), SqliteStore.open(path)
    for store in (one, two):
        assert sorted(u.id for u in store.find(EVERYTHING)) == wanted
        with store.reading(EVERYTHING) as reading:
            assert found(reading, probe(EVERYTHING, vector=[1, 0], top=1000)) == wanted
        assert [e.seq for e in store.events()] == list(range(1, 193))
        assert store.check() == []
        store.close()


def test_a_store_survives_a_fork(nursery, tmp_path):
    lines, codes = nursery.run(["fork_with_an_open_store", str(tmp_path / "memories.db")])
    assert codes == [0]
    assert lines == ["parent before", "child before,child", "parent after,before,child"]


def test_waiting_for_a_writer_ends_with_a_clear_error(tmp_path):
    path = tmp_path / "memories.db"
    one, two = SqliteStore.open(path), SqliteStore.open(path, busy_timeout=0.05)
    with one.write(actor="test", batch="b", now=NOW):
        with pytest.raises(StoreBusy, match="write lock"), two.write(actor="test", batch="b", now=NOW):
            pass
        assert two.find(EVERYTHING) == []
    with two.write(actor="test", batch="b", now=NOW):
        pass
    one.close()
    two.close()


# -- files that are damaged, or of something else ------------------------------------------------------------


def truncated(data):
    return data[: len(data) // 2]


def header_overwritten(data):
    return b"\xa5" * 100 + data[100:]


def tables_overwritten(data):
    return data[:100] + b"\xa5" * 4000 + data[4100:]


def middle_overwritten(data):
    third = len(data) // 3
    return data[:third] + b"\xa5" * third + data[2 * third :]


@pytest.mark.parametrize("damage", [truncated, header_overwritten, tables_overwritten, middle_overwritten])
def test_a_damaged_file_is_a_clear_error_and_left_alone(tmp_path, damage):
    path = tmp_path / "memories.db"
    fill(path).close()
    path.write_bytes(damage(path.read_bytes()))
    before = files(tmp_path)
    with pytest.raises(
        NotAStore if damage is header_overwritten else StoreCorrupted, match=r"memories\.db"
    ) as caught:
        use(path)
    assert "memory 1" not in str(caught.value)
    assert files(tmp_path)["memories.db"] == before["memories.db"]


@pytest.fixture
def crashed(tmp_path):
    """A store whose last commits are in its log only, as a crash leaves it."""
    live = tmp_path / "live"
    live.mkdir()
    store = fill(live / "memories.db")
    left = tmp_path / "left"
    left.mkdir()
    for path in live.iterdir():
        shutil.copy(path, left)
    store.close()
    assert set(files(left)) == {"memories.db", "memories.db-wal", "memories.db-shm"}
    return left


def test_what_a_crash_leaves_opens_whole(crashed):
    assert len(use(crashed / "memories.db")) == 60


@pytest.mark.parametrize("damage", [truncated, header_overwritten, middle_overwritten, lambda data: b""])
def test_a_damaged_shared_memory_file_loses_nothing(crashed, damage):
    shm = crashed / "memories.db-shm"
    shm.write_bytes(damage(shm.read_bytes()))
    assert len(use(crashed / "memories.db")) == 60


def test_a_log_cut_short_keeps_what_it_still_holds(crashed):
    log = crashed / "memories.db-wal"
    log.write_bytes(truncated(log.read_bytes()))
    units = sorted(u.id for u in use(crashed / "memories.db"))
    assert 0 < len(units) < 60
    assert units == [f"m{i:03}" for i in range(len(units))]
    store = SqliteStore.open(crashed / "memories.db")
    assert store.check() == []
    store.close()


@pytest.mark.parametrize("damage", [header_overwritten, middle_overwritten])
def test_a_damaged_log_is_a_clear_error_and_left_alone(crashed, damage):
    log = crashed / "memories.db-wal"
    log.write_bytes(damage(log.read_bytes()))
    before = files(crashed)
    with pytest.raises(StoreCorrupted, match=r"memories\.db-wal"):
        SqliteStore.open(crashed / "memories.db")
    assert files(crashed) == before


def test_a_log_whose_store_is_gone_is_not_thrown_away(crashed):
    (crashed / "memories.db").write_bytes(b"")
    before = files(crashed)
    with pytest.raises(StoreCorrupted, match="empty"):
        SqliteStore.open(crashed / "memories.db")
    assert files(crashed) == before


def of_something_else(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE invoice (number INTEGER)")
    connection.close()


def of_another_application(path):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA application_id = 7")
    connection.close()


def no_database(path):
    path.write_text("Dear diary, " * 100, encoding="utf-8")


@pytest.mark.parametrize("make", [of_something_else, of_another_application, no_database, Path.mkdir])
def test_a_file_of_something_else_is_left_alone(tmp_path, make):
    path = tmp_path / "memories.db"
    make(path)
    before = files(tmp_path)
    with pytest.raises(NotAStore, match=r"memories\.db"):
        SqliteStore.open(path)
    assert files(tmp_path) == before


def test_an_empty_file_becomes_a_store(tmp_path):
    path = tmp_path / "memories.db"
    path.touch()
    fill(path, 1).close()
    assert len(use(path)) == 1


def test_a_store_of_a_newer_release_is_left_alone(tmp_path):
    path = tmp_path / "memories.db"
    fill(path, 1).close()
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO migration VALUES (99, 'from the future')")
    connection.commit()
    connection.close()
    before = files(tmp_path)
    with pytest.raises(SchemaTooNew, match="layout 99"):
        SqliteStore.open(path)
    assert files(tmp_path) == before


# -- no permission, no space ---------------------------------------------------------------------------------


def test_a_missing_folder_is_not_made(tmp_path):
    with pytest.raises(StoreUnwritable, match="does not exist"):
        SqliteStore.open(tmp_path / "no" / "such" / "memories.db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not ROOT, reason="only root can give up its rights in a child")
@pytest.mark.parametrize("given", ["nothing", "file", "file and folder"])
def test_without_permission_nothing_is_changed(nursery, tmp_path, given):
    path = tmp_path / "memories.db"
    for folder in tmp_path.parents[:2]:  # pytest's own, closed to others
        folder.chmod(0o755)
    tmp_path.chmod(0o777 if given == "file and folder" else 0o755)
    if given != "nothing":
        fill(path).close()
        path.chmod(0o666 if given == "file" else 0o644)
    before = files(tmp_path)
    (line,), _ = nursery.run(["open_as_nobody", str(path)])
    assert line.startswith("error StoreUnwritable")
    assert files(tmp_path) == before


def test_a_full_disk_is_a_clear_error_and_loses_nothing(tmp_path):
    script = f"""
        mount -t tmpfs -o size=3m tmpfs {tmp_path} && echo mounted &&
        exec {sys.executable} {CHILD} <<'END'
        {json.dumps([["fill_the_disk", str(tmp_path)]])}
END
    """
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare, to mount a small file system of its own")
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, timeout=120)
    if "mounted" not in done.stdout:
        pytest.skip(f"mounting a small file system is not permitted: {done.stderr.strip()}")
    lines = [line for line in done.stdout.splitlines() if not line.startswith(("pids", "mounted"))]
    assert lines[0].startswith("error StoreUnwritable"), done.stdout + done.stderr
    assert lines[1] == "kept True True []"
    assert lines[2].startswith("second StoreUnwritable")
    assert lines[3:] == ["reopened True []", "end 0"]
    assert list(tmp_path.iterdir()) == []
