"""What happens to the file while it is open is said, never papered over."""

import os
import sqlite3
from datetime import UTC, datetime

import pytest

from hindsight_core import Hindsight
from hindsight_core.clock import CountedIds, FixedClock
from hindsight_core.embedding import HashEmbedder
from hindsight_core.errors import StoreCorrupted, StoreUnwritable

NOW = datetime(2031, 5, 20, 9, 0, tzinfo=UTC)


def opened(path, **options):
    settings = {"embedder": None, "clock": FixedClock(NOW), "new_id": CountedIds(), **options}
    return Hindsight.open(path, "u", **settings)


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be taken away there")
@pytest.mark.parametrize("how", ["deleted", "moved", "replaced"])
def test_a_write_to_a_file_that_is_gone_is_refused_and_not_lost(tmp_path, how):
    path = tmp_path / "m.db"
    with opened(path) as memory:
        memory.remember("Ada keeps the spare key.")
        if how == "deleted":
            path.unlink()
        else:
            path.rename(tmp_path / "away.db")
        if how == "replaced":
            path.write_bytes((tmp_path / "away.db").read_bytes())
        with pytest.raises(StoreUnwritable, match="while it was open"):
            memory.remember("Bo keeps the other key.")
        assert next(finding.problem for finding in memory.doctor()).startswith("the file was deleted")


@pytest.mark.parametrize("written", ["", "{", "[]", '{"query": 1}', "null"])
def test_damaged_settings_are_an_error_of_ours(tmp_path, written):
    path = tmp_path / "m.db"
    opened(path, embedder=HashEmbedder()).close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE meta SET value = ? WHERE name = 'embedder.calibration'", (written,))
    connection.commit()
    connection.close()
    with pytest.raises(StoreCorrupted):
        opened(path, embedder=HashEmbedder())


def test_everything_has_a_twin_that_runs_off_the_event_loop():
    not_work = {
        "open",
        "configured",
        "within",
        "close",
        "sweeping",
    }  # these touch no store, or only start what does
    names = {
        name for name in dir(Hindsight)
        if not name.startswith("_") and callable(getattr(Hindsight, name)) and name not in not_work
    }  # fmt: skip
    work = {
        name
        for name in names
        if not (name[0] == "a" and name[1:].rstrip("_") in {n.rstrip("_") for n in names})
    }
    assert {f"a{name.rstrip('_')}" for name in work} - names == set()
