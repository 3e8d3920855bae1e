"""The other processes of test_durability: started once, they fork a worker for each request.

A request is a JSON line on stdin: a list of workers that run at the same time, each the name of a function below with its
arguments. It is answered by "pids ...", by whatever lines the workers print, and by "end ..." with their exit codes,
however they ended. Forking keeps a worker's start at a few milliseconds, so that a hundred can be killed in seconds.
"""

import json
import os
import sys
import threading
from datetime import UTC, datetime

from hindsight_core.contract.base import entry, found, probe, unit, visible
from hindsight_core.errors import HindsightError
from hindsight_core.ports import Visibility
from hindsight_core.stores.sqlite import SqliteStore
from hindsight_core.unit import Episode, Link, LinkKind, Status

NOW = datetime(2031, 5, 4, tzinfo=UTC)
EVERYTHING = Visibility(scopes=(("kestrel",),), now=NOW, statuses=frozenset(Status), unindexed=True)


def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def write_until_killed(path, name):
    """Write pairs of linked memories with their episode, one transaction each, and say so after each commit."""
    store = SqliteStore.open(path)
    for i in range(1_000_000):
        with store.write(actor="test", batch=f"{name}.{i}", now=NOW) as tx:
            tx.put_episode(Episode(scope=("kestrel",), id=f"{name}.{i}", text="said", recorded_at=NOW))
            for side in "ab":
                links = (Link(f"{name}.{i}.a", LinkKind.FOLLOWS),) if side == "b" else ()
                one = unit(f"{name}.{i}.{side}", "memory " * 50, ("kestrel",), related_ids=links)
                tx.put(one, entry("memory", [1, 0]), reason="test")
        say("ack", f"{name}.{i}")


def erase_until_killed(path, ids):
    """Erase memories one by one and say so after each."""
    store = SqliteStore.open(path)
    for id in ids:
        with store.write(actor="test", batch="erase", now=NOW) as tx:
            tx.erase((("kestrel",), id))
        say("ack", id)


def hammer(path, name, threads, count):
    """Write and read from several threads of one handle at once; report what each believes to have stored."""
    store = SqliteStore.open(path, durability="normal")
    failed = []

    def work(thread):
        try:
            for i in range(count):
                id = f"{name}.{thread}.{i}"
                with store.write(actor=id, batch=id, now=NOW) as tx:
                    tx.put(unit(id, "memory", ("kestrel", name)), entry("memory", [1, 0]), reason="test")
                seen = visible(("kestrel", name))
                with store.reading(seen) as reading:
                    assert id in found(reading, probe(seen, words={"memory": 1}, top=10_000))
                assert store.get([(("kestrel", name), id)])[0] is not None
                say("ack", id)
        except Exception as error:  # noqa: BLE001 - reported below
            failed.append(repr(error))

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for error in failed:
        say("failed", error)
    say("units", len(store.find(visible(("kestrel", name)))))
    store.close()


def fork_with_an_open_store(path):
    """Use one store object before a fork, in the child, and in the parent afterwards."""
    store = SqliteStore.open(path, busy_timeout=5.0)

    def put(id):
        with store.write(actor="test", batch=id, now=NOW) as tx:
            tx.put(unit(id, "memory", ("kestrel",)), entry("memory"), reason="test")

    def ids():
        with store.reading(EVERYTHING) as reading:
            return ",".join(found(reading, probe(visible(("kestrel",)), words={"memory": 1})))

    put("before")
    say("parent", ids())
    child = os.fork()
    if not child:
        put("child")
        say("child", ids())
        store.close()
        os._exit(0)
    os.waitpid(child, 0)
    put("after")
    say("parent", ids())
    store.close()


def open_as_nobody(path):
    """Open a store without any rights and say which error that is."""
    os.setgid(65534)
    os.setuid(65534)
    attempt(path)


def attempt(path):
    """Open, read and write; say which error of ours that raises, or "fine"."""
    try:
        store = SqliteStore.open(path, busy_timeout=1.0)
        store.find(EVERYTHING)
        with store.write(actor="test", batch="b", now=NOW) as tx:
            tx.put(unit("new", scope=("kestrel",)), entry("memory"), reason="test")
        store.close()
    except HindsightError as error:
        say("error", type(error).__name__, error)
    else:
        say("fine")


def fill_the_disk(folder):
    """On a small file system: write until there is no room, then make room and go on."""
    ballast = os.path.join(folder, "ballast")
    with open(ballast, "wb") as file:
        file.write(b"x" * 400_000)
    path = os.path.join(folder, "memories.db")
    store = SqliteStore.open(path)
    stored = []
    try:
        while True:
            id = f"m{len(stored)}"
            with store.write(actor="test", batch=id, now=NOW) as tx:
                tx.put(unit(id, f"{id} " * 3000, ("kestrel",)), entry("memory"), reason="test")
            stored.append(id)
    except HindsightError as error:
        say("error", type(error).__name__, error)
    kept = [u.id for u in store.find(EVERYTHING, newest_first=False)]
    say("kept", kept == stored, len(stored) > 3, store.check())
    try:
        SqliteStore.open(os.path.join(folder, "second.db")).close()
    except HindsightError as error:
        say("second", type(error).__name__, error)
    os.remove(ballast)
    with store.write(actor="test", batch="b", now=NOW) as tx:
        tx.put(unit("last", scope=("kestrel",)), entry("memory"), reason="test")
    store.close()
    store = SqliteStore.open(path)
    say(
        "reopened",
        [u.id for u in store.find(EVERYTHING, newest_first=False)] == [*stored, "last"],
        store.check(),
    )
    store.close()


def main():
    for line in sys.stdin:
        pids = []
        for name, *arguments in json.loads(line):
            pid = os.fork()
            if not pid:
                code = 1
                try:
                    globals()[name](*arguments)
                    code = 0
                finally:
                    os._exit(code)
            pids.append(pid)
        say("pids", *pids)
        say("end", *(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids))


if __name__ == "__main__":
    main()
