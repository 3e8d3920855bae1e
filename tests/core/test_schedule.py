"""Sweeping on time: once per interval whoever looks, across handles, processes and restarts, and whatever the clock does."""

import logging
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta

import pytest

from hindsight_core.clock import FixedClock
from hindsight_core.engine.schedule import LEASE, SweepScheduler
from hindsight_core.errors import InvalidInput, StoreBusy

START = datetime(2031, 1, 1, 9, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def from_the_start(clock):
    clock.set(START)


def test_due_at_first_and_again_after_the_interval(memory, clock):
    memory.remember("haha ok", importance=0.1)
    clock.advance(days=2)
    assert memory.sweep_when_due(DAY).counts == {"archive": 1}
    clock.advance(hours=23, minutes=59)
    assert memory.sweep_when_due(DAY) is None
    clock.advance(minutes=1)
    assert memory.sweep_when_due(DAY).counts == {}
    assert memory.sweep_when_due(DAY) is None


def test_a_sweep_by_hand_does_not_count(memory):
    memory.sweep()
    assert memory.sweep_when_due(DAY) is not None


def test_the_cap_is_handed_on(memory):
    for i in range(5):
        memory.remember(f"remark {i}", consolidate=False)
    assert memory.sweep_when_due(DAY, keep=2).counts == {"archive": 3}


def test_it_survives_restarts_and_is_seen_by_other_handles(open_memory, tmp_path, clock):
    path = tmp_path / "m.db"
    with open_memory(path) as memory:
        assert memory.sweep_when_due(DAY) is not None
    one, two = open_memory(path), open_memory(path)
    assert (one.sweep_when_due(DAY), two.sweep_when_due(DAY)) == (None, None)
    clock.advance(days=1)
    assert two.sweep_when_due(DAY) is not None
    assert one.sweep_when_due(DAY) is None


def test_each_scope_has_its_own_time(open_memory, tmp_path):
    path = tmp_path / "m.db"
    one, two = open_memory(path, scope="u1"), open_memory(path, scope="u2")
    assert one.sweep_when_due(DAY) is not None
    assert two.sweep_when_due(DAY) is not None
    assert one.within("below").sweep_when_due(DAY) is not None


CHILD = """
import sys
from datetime import datetime, timedelta
from hindsight_core import Hindsight
from hindsight_core.clock import FixedClock
with Hindsight.open(sys.argv[1], "u", embedder=None, clock=FixedClock(datetime.fromisoformat(sys.argv[2]))) as memory:
    sys.stdin.readline()
    print(memory.sweep_when_due(timedelta(days=1)) is not None)
"""


def test_of_several_processes_one_sweeps(open_memory, tmp_path):
    path = tmp_path / "m.db"
    open_memory(path, embedder=None).remember("the kettle is green")
    started = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, str(path), START.isoformat()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(3)
    ]  # fmt: skip
    for child in started:  # all are open before any begins
        child.stdin.write("go\n")
        child.stdin.flush()
    said = sorted(child.communicate()[0].strip() for child in started)
    assert said == ["False", "False", "True"]


def test_while_one_sweeps_others_leave_it_and_a_dead_one_is_replaced(
    open_memory, tmp_path, clock, monkeypatch
):
    path = tmp_path / "m.db"
    one, two = open_memory(path), open_memory(path)
    seen = []

    class Killed(BaseException):
        pass

    def sweep(**options):
        seen.append(two.sweep_when_due(DAY))
        # As if the process ended here: nothing it would do afterwards is done.
        monkeypatch.setattr("hindsight_core.engine.schedule._settle", lambda *args, **options: None)
        raise Killed

    monkeypatch.setattr(one, "sweep", sweep)
    with pytest.raises(Killed):
        one.sweep_when_due(DAY)
    monkeypatch.undo()
    assert seen == [None]
    clock.set(START + LEASE - timedelta(seconds=1))
    assert two.sweep_when_due(DAY) is None
    clock.set(START + LEASE)
    assert two.sweep_when_due(DAY) is not None


def test_one_that_fails_is_due_again_at_once_and_what_was_before_is_kept(memory, clock, monkeypatch):
    assert memory.sweep_when_due(DAY) is not None
    clock.advance(days=1)

    def busy(**options):
        raise StoreBusy("busy")

    with monkeypatch.context() as patch:
        patch.setattr(memory, "sweep", busy)
        with pytest.raises(StoreBusy):
            memory.sweep_when_due(DAY)
    assert memory.sweep_when_due(2 * DAY) is None
    assert memory.sweep_when_due(DAY) is not None


def test_a_clock_that_was_ahead_and_is_set_back_does_not_stop_it(memory, clock):
    clock.set(START + timedelta(days=400))
    assert memory.sweep_when_due(DAY) is not None
    clock.set(START)
    assert memory.sweep_when_due(DAY) is not None
    assert memory.sweep_when_due(DAY) is None
    clock.advance(days=1)
    assert memory.sweep_when_due(DAY) is not None


@pytest.mark.parametrize("every", [timedelta(), -DAY, 24, "24h", None])
def test_a_wrong_interval_is_refused(memory, every):
    with pytest.raises(InvalidInput):
        memory.sweep_when_due(every)
    with pytest.raises(InvalidInput):
        memory.sweeping(every)


# -- in the background -------------------------------------------------------------------------------------------


class Swept:
    """A memory that counts how often it was looked after, and says when it was."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.looks = 0
        self.looked = threading.Event()

    def sweep_when_due(self, every, *, keep):
        self.looks += 1
        if self.answers:
            answer = self.answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
        if not self.answers:
            self.looked.set()


def test_it_looks_when_started_again_and_again_and_ends_when_told():
    memory = Swept(None, None, None)
    scheduler = SweepScheduler(memory, DAY, look=timedelta(microseconds=1))
    scheduler.start()
    scheduler.start()
    assert memory.looked.wait(10)
    scheduler.stop()
    scheduler.stop()
    looks = memory.looks
    assert looks >= 3
    assert not [thread for thread in threading.enumerate() if thread.name == "hindsight-sweep"]
    memory.looked.clear()
    with scheduler:  # and once more
        assert memory.looked.wait(10)
    assert memory.looks > looks


def test_a_failure_is_logged_without_content_and_tried_again(caplog):
    memory = Swept(StoreBusy("the diary says so"), RuntimeError("the diary says so"), None)
    with caplog.at_level(logging.WARNING), SweepScheduler(memory, DAY, look=timedelta(microseconds=1)):
        assert memory.looked.wait(10)
    assert [record.getMessage() for record in caplog.records] == [
        "a scheduled sweep failed (StoreBusy); it is tried again",
        "a scheduled sweep failed (RuntimeError); it is tried again",
    ]


def test_it_sweeps_a_memory_by_the_memorys_clock(memory, clock):
    memory.remember("haha ok", importance=0.1)
    clock.advance(days=2)
    scheduler = memory.sweeping(DAY)
    assert scheduler.look().counts == {"archive": 1}
    assert scheduler.look() is None
    clock.advance(days=1)
    assert scheduler.look().counts == {}


def test_it_ends_by_itself_when_the_memory_is_closed(open_memory, tmp_path):
    memory = open_memory(tmp_path / "m.db")
    memory.close()
    scheduler = memory.sweeping(DAY)
    scheduler.start()
    (thread,) = [t for t in threading.enumerate() if t.name == "hindsight-sweep"] or [None]
    if thread is not None:
        thread.join(10)
        assert not thread.is_alive()
    scheduler.stop()


def test_the_clock_of_the_handle_is_asked_anew_each_time(open_memory, tmp_path):
    clock = FixedClock(START)
    memory = open_memory(tmp_path / "m.db", clock=clock)
    assert memory.sweep_when_due(DAY) is not None
    clock.set(START + 2 * DAY)
    assert memory.sweep_when_due(DAY) is not None
