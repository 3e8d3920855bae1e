"""Arithmetic that NumPy alone does not do well gives what NumPy would."""

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core import arrays
from hindsight_core.arrays import distinct, product
from hindsight_core.threads import beside, shared


@given(st.lists(st.integers(-5, 40)))
def test_distinct_integers_ascend(values):
    array = np.array(values, np.int64)
    assert distinct(array).tolist() == sorted(set(values))
    assert array.tolist() == values


@pytest.mark.parametrize(("rows", "columns", "depth"), [(0, 3, 2), (7, 1, 5), (50, 40, 384)])
def test_a_product_in_slices_is_the_product(rows, columns, depth, monkeypatch):
    monkeypatch.setattr(arrays, "_ALONE", 3 * columns * depth)  # three rows at a time
    source = np.random.default_rng(5)
    one, two = source.standard_normal((rows, depth)), source.standard_normal((columns, depth))
    assert np.allclose(product(one, two), one @ two.T)
    assert product(one.astype(np.float32), two.astype(np.float32)).dtype == np.float32


def test_work_beside_other_work_gives_its_result_or_its_error(monkeypatch):
    here = threading.get_ident()
    assert beside(threading.get_ident, worthwhile=False)() == here
    with ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr("hindsight_core.threads._pool", lambda: pool)
        assert beside(threading.get_ident, worthwhile=True)() != here
        failing = beside(lambda: 1 // 0, worthwhile=True)
        with pytest.raises(ZeroDivisionError):
            failing()
    monkeypatch.setattr("hindsight_core.threads._pool", lambda: None)  # a single processor
    assert beside(threading.get_ident, worthwhile=True)() == here


def test_work_that_is_handed_over_has_begun_unless_the_thread_is_busy(monkeypatch):
    with ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr("hindsight_core.threads._pool", lambda: pool)
        monkeypatch.setattr("hindsight_core.threads._HANDOVER", 60)
        begun, go_on = threading.Event(), threading.Event()

        def work() -> bool:
            begun.set()
            return go_on.wait(60)

        waits = beside(work, worthwhile=True)
        assert begun.is_set()
        monkeypatch.setattr("hindsight_core.threads._HANDOVER", 0)
        behind = beside(threading.get_ident, worthwhile=True)
        go_on.set()
        assert waits()
        assert behind() != threading.get_ident()


def test_work_that_is_shared_out_is_done_once_and_its_error_is_raised(monkeypatch):
    with ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr("hindsight_core.threads._pool", lambda: pool)
        done: list[int] = []
        finish = shared([partial(done.append, i) for i in range(20)])
        finish()
        assert sorted(done) == list(range(20))
        failing = shared([partial(done.append, 20), lambda: 1 // 0])
        with pytest.raises(ZeroDivisionError):
            failing()
        blocked = threading.Event()
        busy = pool.submit(blocked.wait)  # another recall has the thread: nobody waits for it
        shared([partial(done.append, i) for i in range(21, 25)])()
        assert sorted(done) == list(range(25))
        blocked.set()
        assert busy.result()
    monkeypatch.setattr("hindsight_core.threads._pool", lambda: None)
    shared([partial(done.append, 25), partial(done.append, 26)])()
    assert len(done) == 27
