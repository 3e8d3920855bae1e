"""Files in and out: an export never destroys a store, and nothing broken comes in."""

import json
import os
from datetime import UTC, datetime

import pytest

from hindsight_core import Hindsight
from hindsight_core.clock import CountedIds, FixedClock
from hindsight_core.errors import InvalidInput

NOW = datetime(2031, 5, 20, 9, 0, tzinfo=UTC)


def opened(path=":memory:", scope="u"):
    return Hindsight.open(path, scope, embedder=None, clock=FixedClock(NOW), new_id=CountedIds())


@pytest.mark.parametrize("end", ["", "-wal", "-shm"])
def test_an_export_never_takes_the_place_of_a_store(tmp_path, end):
    own, other = tmp_path / "own.db", tmp_path / "other.db"
    with opened(own) as memory, opened(other) as theirs:
        memory.remember("Ada keeps the spare key.")
        theirs.remember("Bo keeps the other key.")
        for store in (own, other):
            with pytest.raises(InvalidInput, match="belongs to a database"):
                memory.export(f"{store}{end}")
    for store in (own, other):
        with opened(store) as memory:
            assert len(memory.find()) == 1
    assert not list(tmp_path.glob("*.part"))


@pytest.fixture
def lines(tmp_path):
    with opened() as memory:
        memory.remember("Ada keeps the spare key.", speaker="user", session="s", id="d")
        memory.export(tmp_path / "out.jsonl")
    return (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    ("field", "value"),
    [("importance", "high"), ("importance", 7), ("importance", None), ("weight", -3), ("id", 5), ("id", ""), ("scope", [1]),
     ("scope", [""]), ("content", 5), ("content", None), ("recorded_at", "2031-01-01T00:00"), ("timestamp", "2031-01-01T00:00"),
     ("metadata", [1]), ("metadata", {"a": float("inf")}), ("entities", [["a", "b"]]), ("entities", [[1, 2, 3]]),
     ("source", {"x": 1}), ("source", {"speaker": 5}), ("source", {"turn": "a"}), ("related_ids", [[5, "similar", True]]),
     ("occurrences", [5]), ("access_count", "x"), ("pinned", "yes"), ("summary", 5), ("weight_at", "2031-01-01"),
     ("weight", 10**30), ("access_count", 10**30), ("source", {"turn": 10**30}),
     ("source", {"span": []}), ("source", {"span": [1]}), ("timestamp", "9999-12-31T23:59:59-14:00"),
     ("expires_at", "0001-01-01T00:00:00+14:00")],
)  # fmt: skip
def test_a_memory_that_could_not_have_been_remembered_does_not_come_in(tmp_path, lines, field, value):
    broken = json.dumps({"memory": {**json.loads(lines[-1])["memory"], field: value}})
    (tmp_path / "in.jsonl").write_text("\n".join([*lines, broken]), encoding="utf-8")
    with opened() as memory:
        with pytest.raises(InvalidInput, match="line 4"):
            memory.import_(tmp_path / "in.jsonl")
        assert memory.find() == []


@pytest.mark.parametrize(
    "text", ["", "\n", "[]\n", '{"format": "hindsight-export", "version": "x"}\n', "[" * 100_000]
)
def test_what_is_no_export_is_an_error_of_ours(tmp_path, text):
    (tmp_path / "in.jsonl").write_text(text, encoding="utf-8")
    with opened() as memory, pytest.raises(InvalidInput):
        memory.import_(tmp_path / "in.jsonl")


def test_a_folder_cannot_be_imported(tmp_path):
    with opened() as memory, pytest.raises(InvalidInput, match="cannot be read"):
        memory.import_(tmp_path)


@pytest.mark.parametrize(
    ("field", "value"),
    [("given", 5), ("given", {"importance": 7}), ("given", {"expires_at": "soon"}), ("given", {"colour": "red"}),
     ("envelope", [1]), ("timestamp", "9999-12-31T23:59:59-14:00"), ("source", {"span": []})],
)  # fmt: skip
def test_an_episode_that_could_not_have_been_told_does_not_come_in(tmp_path, lines, field, value):
    broken = json.dumps({"episode": {**json.loads(lines[1])["episode"], field: value}})
    (tmp_path / "in.jsonl").write_text("\n".join([*lines, broken]), encoding="utf-8")
    with opened() as memory:
        with pytest.raises(InvalidInput, match="line 4"):
            memory.import_(tmp_path / "in.jsonl")
        assert memory.resume() == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this platform has none of these")
def test_an_export_takes_the_place_of_files_only(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "out.jsonl")
    with opened() as memory:
        memory.remember("Ada keeps the spare key.")
        for name in ("folder", "pipe"):
            with pytest.raises(InvalidInput, match="replaced"):
                memory.export(tmp_path / name)
        assert memory.export(tmp_path / "link") == 1
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "link").is_symlink()
    assert "spare key" in (tmp_path / "out.jsonl").read_text(encoding="utf-8")
