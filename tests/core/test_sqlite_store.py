"""SqliteStore beyond the contract: opening, handles and threads, errors, and the index that catches up."""

import gc
import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from hindsight_core.contract.base import MEI, NOW, day, entry, found, probe, unit, visible
from hindsight_core.errors import (
    InvalidInput,
    NotFound,
    StoreBusy,
    StoreClosed,
    StoreCorrupted,
    StoreError,
    StoreUnwritable,
)
from hindsight_core.filters import Filter
from hindsight_core.ports import Store, Transaction, Use
from hindsight_core.stores.sqlite import SqliteStore, schema
from hindsight_core.stores.sqlite.failures import raise_ours
from hindsight_core.unit import Entity, Episode, Link, LinkKind, Source, Status


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memories.db"


@pytest.fixture
def store(path):
    opened = SqliteStore.open(path, durability="normal")
    yield opened
    opened.close()


def put(store, *memories, batch="b", now=NOW):
    with store.write(actor="test", batch=batch, now=now) as tx:
        return [tx.put(m, entry(m.content), reason="test") for m in memories]


def search(store, question):
    with store.reading(question.visible) as reading:
        return found(reading, question)


def index_of(store):
    return store._connections.mirror.index


# -- opening -------------------------------------------------------------------------------------------------


def test_it_is_a_store(store):
    assert isinstance(store, Store)
    with store.write(actor="test", batch="b", now=NOW) as tx:
        missing = [name for name in vars(Transaction) if not name.startswith("_") and not hasattr(tx, name)]
    assert missing == []


@pytest.mark.parametrize("path", ["", " ", None, 7, b"x", "a\x00b"])
def test_a_path_must_be_one(path):
    with pytest.raises(InvalidInput, match=r":memory:"):
        SqliteStore.open(path)


@pytest.mark.parametrize(
    "options",
    [{"durability": "off"}, {"busy_timeout": -1}, {"busy_timeout": "30"}, {"busy_timeout": float("nan")}],
)
def test_options_must_be_right(path, options):
    with pytest.raises(InvalidInput, match=next(iter(options))):
        SqliteStore.open(path, **options)
    assert not path.exists()


def test_a_path_may_be_odd(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("记忆 库.db", "file:x?mode=ro", "100%.db", ":memory: "):
        one = SqliteStore.open(name)
        put(one, unit("a"))
        one.close()
        assert (tmp_path / name).exists()


def test_durability_is_what_was_asked_for(tmp_path):
    for name, level in (("full", 2), ("normal", 1)):
        opened = SqliteStore.open(tmp_path / name, durability=name)
        assert opened._connections.writer.execute("PRAGMA synchronous").fetchone() == (level,)
        assert opened._connections.writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert opened._connections.writer.execute("PRAGMA secure_delete").fetchone() == (1,)
        opened.close()


def test_closing_leaves_one_file(path, store):
    put(store, unit("a"))
    store.close()
    assert [p.name for p in path.parent.iterdir()] == ["memories.db"]


def test_the_log_does_not_grow_without_end(path, store):
    for i in range(300):
        put(store, unit(f"m{i}", "memory " * 2000))
    assert path.with_name("memories.db-wal").stat().st_size < 20e6


def test_opening_again_in_one_process_works_on_the_same_data(path):
    """As when a notebook cell that opens the store is run again, the old handle still held by a traceback."""
    handles = []
    for i in range(3):
        handles.append(SqliteStore.open(path))
        put(handles[-1], unit(f"m{i}", "tea"))
    for handle in handles:
        assert search(handle, probe(visible(), words={"tea": 1})) == ["m0", "m1", "m2"]
        handle.close()


def test_a_handle_that_is_dropped_is_closed(path):
    def use_and_drop():
        dropped = SqliteStore.open(path)
        put(dropped, unit("a"))
        with dropped.reading(visible()):
            pass

    use_and_drop()
    gc.collect()
    assert [p.name for p in path.parent.iterdir()] == ["memories.db"]


def test_leaving_the_interpreter_with_an_open_store_is_silent(path):
    code = (
        "import sys\n"
        "from hindsight_core.stores.sqlite import SqliteStore\n"
        "stores = [SqliteStore.open(sys.argv[1]) for _ in range(3)]\n"
        "stores[0].me = stores\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-X", "dev", "-c", code, str(path)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_migration_and_its_record_are_one(path, store, monkeypatch):
    put(store, unit("a"))
    store.close()
    good = ("a good one", "CREATE TABLE extra (x INTEGER); INSERT INTO extra VALUES (1)")
    bad = ("a bad one", "CREATE TABLE half (x INTEGER); INSERT INTO nowhere VALUES (1)")
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, good, bad))
    with pytest.raises(StoreError):
        SqliteStore.open(path)
    connection = sqlite3.connect(path)
    assert [v for (v,) in connection.execute("SELECT version FROM migration")] == [1, 2]
    assert connection.execute("SELECT x FROM extra").fetchall() == [(1,)]
    assert not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'half'").fetchall()
    connection.close()
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS[:1], good))
    again = SqliteStore.open(path)
    assert [u.id for u in again.find(visible())] == ["a"]
    again.close()


# -- locks and threads ---------------------------------------------------------------------------------------


def test_eight_threads_share_a_handle(store):
    problems = []

    def work(number):
        try:
            for i in range(20):
                put(store, unit(f"{number}.{i}", "tea", metadata={"n": number}))
                where = Filter.parse({"metadata.n": number})
                assert len(search(store, probe(visible(where=where), words={"tea": 1}))) == i + 1
        except Exception as error:  # noqa: BLE001 - reported below
            problems.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(store.find(visible())) == 160


@pytest.mark.parametrize("place", ["file", "memory"])
def test_readers_and_writers_never_wait_for_each_other_forever(tmp_path, place):
    """One thread reads inside its writes, the other writes after its readings: every order of locks is taken."""
    shared = SqliteStore.open(
        tmp_path / "memories.db" if place == "file" else ":memory:", durability="normal"
    )
    question = probe(visible(), words={"tea": 1})
    counts = []

    def reads_inside_its_writes():
        for i in range(50):
            with shared.write(actor="test", batch="b", now=NOW) as tx:
                tx.put(unit(f"w{i}", "tea"), entry("tea"), reason="test")
                with shared.reading(visible()) as reading:
                    counts.append(f"w{i}" in found(reading, question))

    def reads_then_writes():
        for i in range(50):
            with shared.reading(visible()) as reading:
                found(reading, question)
            put(shared, unit(f"r{i}", "tea"))

    threads = [
        threading.Thread(target=run, daemon=True) for run in (reads_inside_its_writes, reads_then_writes)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
    assert counts == [True] * 50
    assert len(search(shared, question)) == 100
    shared.close()


def test_another_thread_sees_nothing_uncommitted(store):
    put(store, unit("a", "tea"))
    question = probe(visible(), words={"tea": 1})
    seen = []
    with store.write(actor="test", batch="b", now=NOW) as tx:
        tx.put(unit("b", "tea"), entry("tea"), reason="test")
        assert len(store.find(visible())) == 2
        thread = threading.Thread(
            target=lambda: seen.extend([search(store, question), len(store.find(visible()))])
        )
        thread.start()
        thread.join()
    assert seen == [["a"], 1]


def test_the_second_write_of_a_thread_is_refused(store):
    with store.write(actor="test", batch="b", now=NOW) as tx:
        with pytest.raises(StoreError, match="writing already"), store.write(actor="x", batch="x", now=NOW):
            pass
        tx.put(unit("a"), entry(), reason="test")
    assert len(store.find(visible())) == 1


def test_closing_in_the_middle_is_refused(store):
    with store.write(actor="test", batch="b", now=NOW), pytest.raises(StoreError, match="end this thread's"):
        store.close()
    with store.reading(visible()), pytest.raises(StoreError, match="end this thread's"):
        store.close()


def test_a_thread_that_waits_for_the_lock_gives_up_in_time(path):
    shared = SqliteStore.open(path, busy_timeout=0.02)
    caught = []

    def wait():
        try:
            put(shared, unit("b"))
        except StoreBusy as error:
            caught.append(error)

    with shared.write(actor="test", batch="b", now=NOW):
        thread = threading.Thread(target=wait)
        thread.start()
        thread.join()
    assert len(caught) == 1
    shared.close()


def test_readings_nest(store):
    put(store, unit("a", "tea"))
    question = probe(visible(), words={"tea": 1})
    with store.reading(visible()) as outer, store.reading(visible()) as inner:
        assert found(outer, question) == found(inner, question) == ["a"]
        assert len(store.find(visible())) == 1


# -- the index catches up ------------------------------------------------------------------------------------


def test_the_index_is_the_same_however_it_came_about(path, store):
    """Step by step, through another handle's changes, or loaded at once: searches give equal columns."""
    other = SqliteStore.open(path, durability="normal")
    question = probe(visible(), vector=[1, 0], words={"tea": 1, "milk": 1}, entities=["redis"])

    def answer(handle):
        with handle.reading(visible()) as reading:
            candidates, bank = reading.search(question)
            return (
                candidates.ids,
                candidates.terms.tolist(),
                candidates.cosine.tolist(),
                candidates.entities.tolist(),
                candidates.weight.tolist(),
                candidates.seq.tolist(),
                str(bank),
            )

    def write(handle, *changes):
        with handle.write(actor="test", batch="b", now=NOW) as tx:
            for change in changes:
                change(tx)

    redis = (Entity("Redis", "system", "redis"),)
    steps = [
        lambda tx: tx.put(unit("a", "tea", entities=redis), entry("tea", [1, 0]), reason="test"),
        lambda tx: tx.put(unit("b", "milk"), entry("milk tea", [0, 1]), reason="test"),
        lambda tx: tx.put(replace(tx.get((MEI, "b")), status=Status.ARCHIVED), None, reason="test"),
        lambda tx: tx.use([Use(key=(MEI, "a"), weight=0.9, at=day(9), access_count=1)]),
        lambda tx: tx.put(replace(tx.get((MEI, "b")), status=Status.ACTIVE), None, reason="test"),
        lambda tx: tx.remove((MEI, "a"), reason="test"),
        lambda tx: tx.put(unit("a", "tea", entities=redis), None, reason="test"),
        lambda tx: tx.put(replace(tx.get((MEI, "a")), entities=()), None, reason="test"),
        lambda tx: tx.set_vectors(
            {(MEI, "a"): np.array([0.6, 0.8], np.float32), (MEI, "nobody"): np.ones(2, np.float32)}
        ),
        lambda tx: tx.erase((MEI, "b")),
        lambda tx: tx.put(unit("b", "milk", scope=("x",)), entry("milk", [0, 1]), reason="test"),
    ]
    for number, step in enumerate(steps):
        write(store if number % 2 else other, step)
        fresh = SqliteStore.open(path)
        assert answer(store) == answer(other) == answer(fresh)
        fresh.close()
    write(
        store,
        *(
            lambda tx, i=i: tx.put(unit(f"m{i}", "tea"), entry("tea", [1, 0]), reason="test")
            for i in range(700)
        ),
    )
    write(store, *(lambda tx, i=i: tx.remove((MEI, f"m{i}"), reason="test") for i in range(0, 700, 2)))
    fresh = SqliteStore.open(path)
    assert answer(store) == answer(other) == answer(fresh)
    assert len(index_of(other)) == len(index_of(fresh)) == 352
    fresh.close()
    other.close()


def test_catching_up_reads_only_what_changed(store):
    put(store, *(unit(f"m{i}", "tea") for i in range(50)))
    question = probe(visible(), words={"tea": 1})
    search(store, question)
    loaded = index_of(store)
    put(store, unit("new", "tea"))
    statements = []
    store._connections.reader.set_trace_callback(statements.append)
    assert len(search(store, question)) == 51
    store._connections.reader.set_trace_callback(None)
    assert index_of(store) is loaded
    assert [s for s in statements if "FROM unit JOIN entry" in s and "IN (51)" not in s] == []


def test_an_aborted_write_that_was_looked_at_is_taken_back(store):
    """Row, event and scope numbers are given again after a rollback, so nothing of them may be remembered."""
    with store.write(actor="test", batch="b", now=NOW) as tx:
        tx.put(unit("a", "tea", metadata={"team": "ops"}), entry("tea", [1, 0]), reason="test")
        for i in range(50):
            tx.put(unit(f"m{i}", "milk"), entry("milk", [0, 1]), reason="test")
    ops = probe(visible(where=Filter.parse({"metadata.team": "ops"})), words={"tea": 1})
    assert search(store, ops) == ["a"]
    loaded = index_of(store)
    for team in ("ops", "web"):
        with suppress(ZeroDivisionError), store.write(actor="test", batch="b", now=NOW) as tx:
            tx.put(unit("b", "tea", ("new", "scope")), entry("tea"), reason="test")
            tx.put(unit("c", "tea", metadata={"team": team}), entry("tea"), reason="test")
            tx.use([Use(key=(MEI, "a"), weight=0.9, at=NOW, access_count=1)])
            tx.set_vectors({(MEI, "m1"): np.ones(2, np.float32)})
            tx.remove((MEI, "a"), reason="test")
            assert search(store, ops) == (["c"] if team == "ops" else [])
            1 / 0
        assert search(store, ops) == ["a"]
    put(store, unit("d", "tea", ("other", "scope")), unit("e", "tea", metadata={"team": "web"}))
    assert search(store, ops) == ["a"]
    assert search(store, probe(visible(("other",)), words={"tea": 1})) == ["d"]
    assert search(store, probe(visible(("new",)), words={"tea": 1})) == []
    with store.reading(visible()) as reading:
        assert reading.search(ops)[0].weight.tolist() == [0.5]
    assert index_of(store) is loaded


def test_an_aborted_change_of_dimension_is_taken_back(store):
    with store.write(actor="test", batch="b", now=NOW) as tx:
        tx.put(unit("a", "tea"), entry("tea", [1, 0]), reason="test")
    assert search(store, probe(visible(), vector=[1, 0])) == ["a"]
    with suppress(ZeroDivisionError), store.write(actor="test", batch="b", now=NOW) as tx:
        tx.set_meta("embedder.dimension", "3")
        tx.set_vectors({(MEI, "a"): np.array([1, 0, 0], np.float32)})
        assert search(store, probe(visible(), vector=[1, 0, 0])) == ["a"]
        1 / 0
    assert search(store, probe(visible(), vector=[1, 0])) == ["a"]


def test_a_filter_is_not_remembered_from_an_aborted_write(store):
    ops = probe(visible(where=Filter.parse({"metadata.team": "ops"})), words={"tea": 1})
    with suppress(ZeroDivisionError), store.write(actor="test", batch="b", now=NOW) as tx:
        tx.put(unit("a", "tea", metadata={"team": "ops"}), entry("tea"), reason="test")
        assert search(store, ops) == ["a"]
        1 / 0
    put(store, unit("b", "tea", metadata={"team": "web"}))
    assert search(store, ops) == []


def test_a_new_dimension_rebuilds_the_index(store):
    with store.write(actor="test", batch="b", now=NOW) as tx:
        tx.put(unit("a"), entry("tea", [1, 0]), reason="test")
        tx.put(unit("b"), entry("tea", [0, 1]), reason="test")
    assert store.meta() == {"embedder.dimension": "2"}
    search(store, probe(visible(), vector=[1, 0]))
    with store.write(actor="test", batch="b", now=NOW) as tx:
        tx.set_meta("embedder.dimension", "3")
        tx.put(tx.get((MEI, "a")), entry("tea", [0, 0, 1]), reason="embedded anew")
    with store.reading(visible()) as reading:
        candidates, _ = reading.search(probe(visible(), vector=[0, 0, 1], words={"tea": 1}))
        assert dict(zip(candidates.ids, candidates.cosine.tolist(), strict=True))["a"] == 1
        assert np.isnan(candidates.cosine[candidates.ids.index("b")])


def test_vectors_of_another_model_do_not_come_back(store):
    with store.write(actor="test", batch="b", now=NOW) as tx:
        tx.set_meta("embedder.fingerprint", "one")
        tx.put(unit("a", "tea"), entry("tea", [1, 0]), reason="test")
        tx.put(unit("b", "tea"), entry("tea", [1, 0]), reason="test")
        tx.remove((MEI, "a"), reason="test")
        tx.set_meta("embedder.fingerprint", "one")
    for fingerprint, cosine in (("one", 1.0), ("two", np.nan)):
        with store.write(actor="test", batch="b", now=NOW) as tx:
            tx.set_meta("embedder.fingerprint", fingerprint)
            tx.put(unit("a", "tea"), None, reason="undo")
        with store.reading(visible()) as reading:
            candidates, _ = reading.search(probe(visible(), vector=[1, 0], words={"tea": 1}))
        np.testing.assert_equal(candidates.cosine[candidates.ids.index("a")], np.float32(cosine))
        with store.write(actor="test", batch="b", now=NOW) as tx:
            tx.remove((MEI, "a"), reason="test")


def test_removed_memories_keep_their_numbers_to_themselves(store):
    a, _ = put(store, unit("a", "tea"), unit("b", "tea"))
    with store.write(actor="test", batch="b", now=NOW) as tx:
        tx.remove((MEI, "b"), reason="test")
    (c,) = put(store, unit("c", "tea"))
    assert c.seq > a.seq + 1
    # A number that a memory brings along from elsewhere means nothing here.
    (d,) = put(store, unit("d", "tea", seq=1))
    assert d.seq == c.seq + 1


def test_only_the_newest_recalls_are_kept(store, monkeypatch):
    monkeypatch.setattr("hindsight_core.stores.sqlite.transaction.KEPT_RECALLS", 3)
    with store.write(actor="test", batch="b", now=NOW) as tx:
        for i in range(5):
            tx.log_recall(f"r{i}", MEI, NOW, [])
    assert [store.recall_log(f"r{i}") is not None for i in range(5)] == [False, False, True, True, True]


# -- errors --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_BUSY, StoreBusy),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, StoreBusy),
        (sqlite3.SQLITE_LOCKED, StoreBusy),
        (sqlite3.SQLITE_CORRUPT, StoreCorrupted),
        (sqlite3.SQLITE_CORRUPT_INDEX, StoreCorrupted),
        (sqlite3.SQLITE_NOTADB, StoreCorrupted),
        (sqlite3.SQLITE_IOERR_SHORT_READ, StoreCorrupted),
        (sqlite3.SQLITE_FULL, StoreUnwritable),
        (sqlite3.SQLITE_READONLY, StoreUnwritable),
        (sqlite3.SQLITE_CANTOPEN, StoreUnwritable),
        (sqlite3.SQLITE_IOERR_FSYNC, StoreUnwritable),
        (sqlite3.SQLITE_IOERR_SHMSIZE, StoreUnwritable),
        (sqlite3.SQLITE_TOOBIG, InvalidInput),
        (sqlite3.SQLITE_CONSTRAINT, StoreError),
    ],
)
def test_every_error_of_sqlite_is_one_of_ours(code, kind):
    error = sqlite3.OperationalError("secret words of a memory")
    error.sqlite_errorcode = code
    with pytest.raises(kind) as caught:
        raise_ours(error, "/somewhere/memories.db")
    assert caught.value.__cause__ is error
    assert "secret" not in str(caught.value)


def tamper(path, *statement):
    connection = sqlite3.connect(path)
    connection.execute(*statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        ("UPDATE body SET json = '{'",),
        ("UPDATE body SET json = '{}'",),
        ("UPDATE body SET json = CAST(x'ff736563726574' AS TEXT)",),  # not UTF-8
        ("UPDATE unit SET weight_at = 'soon'",),
    ],
)
def test_a_row_that_does_not_read_back_is_damage(path, store, statement):
    put(store, unit("a", "secret words"))
    store.close()
    tamper(path, *statement)
    again = SqliteStore.open(path)
    with pytest.raises(StoreCorrupted) as caught:
        again.find(visible())
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None or "secret" not in str(caught.value.__cause__)
    again.close()


def test_check_names_what_is_wrong(path, store):
    put(store, unit("a"), unit("b", related_ids=(Link("a", LinkKind.SIMILAR),)))
    assert store.check() == []
    tamper(path, "DELETE FROM unit WHERE id = 'a'")
    problems = [problem for problem, remedy in store.check() if remedy]
    assert "2 links to nothing" in problems
    assert "1 contents without a memory" in problems


def test_a_write_fails_cleanly_on_a_closed_store(store):
    store.close()
    with pytest.raises(StoreClosed, match=r"memories\.db"), store.write(actor="test", batch="b", now=NOW):
        pass
    assert repr(store).endswith("closed>")


def test_an_error_inside_a_write_is_passed_on_as_it_is(store):
    def write():
        with store.write(actor="test", batch="b", now=NOW) as tx:
            tx.put(unit("a"), entry(), reason="test")
            tx.remove((MEI, "nobody"), reason="test")

    with pytest.raises(NotFound):
        write()
    assert store.find(visible()) == []


# -- erasing, byte by byte -----------------------------------------------------------------------------------


def word(number):
    return f"Zq{number:05d}x"


def test_no_byte_is_left_after_many_changes(path, store):
    """Pages split, merge and are balanced; `secure_delete` alone leaves stale copies in their gaps (with this seed two)."""
    rng = np.random.default_rng(3)

    def size(*choices):
        return int(rng.choice(choices))

    alive, erased = {}, []
    for number in range(400):
        mark = word(number)
        text = f"{mark} " * size(1, 5, 40, 300)
        source = Source(speaker=mark, session=mark, episode=f"e{number}", span=(0, len(text)))
        with store.write(actor="test", batch=f"b{number}", now=NOW) as tx:
            tx.put_episode(Episode(scope=MEI, id=f"e{number}", text=text, source=source, recorded_at=NOW))
            metadata = {"w": mark * size(1, 10, 60), mark: 1}
            id = f"{rng.integers(10**6)}"
            entities = (Entity(mark * size(1, 20), "system", mark.lower()),)
            one = unit(id, text, source=source, metadata=metadata, entities=entities)
            alive[number] = tx.put(one, entry(mark), reason="test")
        if number % 3 == 2:
            other = int(rng.choice(sorted(alive)))
            summary = f"{word(other)} " * size(1, 50, 400)
            (alive[other],) = put(store, replace(alive[other], summary=summary))
        if number % 40 == 39:
            gone = rng.choice(sorted(alive), 12, replace=False).tolist()
            with store.write(actor="test", batch="erase", now=NOW) as tx:
                for one in gone:
                    tx.erase(alive.pop(one).key)
            erased += gone
    data = b"".join(p.read_bytes() for p in path.parent.iterdir()).lower()
    assert [number for number in erased if word(number).lower().encode() in data] == []
    assert all(word(number).lower().encode() in data for number in alive)
    assert store.check() == []


def test_wiping_that_another_process_holds_up_is_done_later(path):
    eraser, reader = SqliteStore.open(path, busy_timeout=0.05), SqliteStore.open(path)
    put(eraser, unit("a", "Aardvarkish wording"), unit("b"))

    def left():
        return any(b"Aardvarkish" in p.read_bytes() for p in path.parent.iterdir())

    with reader.reading(visible()):
        with (
            pytest.raises(StoreBusy, match="is erased"),
            eraser.write(actor="test", batch="b", now=NOW) as tx,
        ):
            tx.erase((MEI, "a"))
        assert eraser.get([(MEI, "a")]) == [None]
        assert left()
        SqliteStore.open(path, busy_timeout=0.05).close()  # cannot wipe either, and opens all the same
        assert [remedy for _, remedy in eraser.check()] == ["close every other process, reopen"]
    reader.close()
    eraser.close()
    again = SqliteStore.open(path)
    assert not left()
    assert again.check() == []
    again.close()


def test_erasing_finds_a_passage_without_its_place(store):
    told = "Tea at noon. Aardvarkish wording. Tea at night."
    with store.write(actor="test", batch="b", now=NOW) as tx:
        for id, text in (("found", told), ("lost", told.upper()), ("alone", "Aardvarkish wording.")):
            tx.put_episode(Episode(scope=MEI, id=id, text=text, recorded_at=NOW))
    for id in ("found", "lost", "alone"):
        put(store, unit(id, "Aardvarkish wording.", source=Source(episode=id)))
    with store.write(actor="test", batch="b", now=NOW) as tx:
        for id in ("found", "lost", "alone"):
            tx.erase((MEI, id))
    (left,) = store.episodes(MEI)
    assert left.text == "Tea at noon. " + "█" * 20 + " Tea at night."


def test_times_survive_whatever_their_zone(store):
    at = datetime(2031, 3, 30, 1, 30, tzinfo=UTC).astimezone()
    (stored,) = put(store, unit("a", timestamp=at))
    (again,) = store.get([stored.key])
    assert again.timestamp == at
    assert again.timestamp.utcoffset() == at.utcoffset()
    assert os.path.isabs(store.path)
