"""The bench over stores: its figures are there, and growth is the slope it says."""

import math
from contextlib import closing

import pytest

pytest.importorskip("qdrant_edge", reason="needs the extra [qdrant]")

from hindsight_core.evaluation.stores import BATCH, WRITES, exponent, fill, measure, stores, table


@pytest.mark.parametrize(
    ("sizes", "values", "slope"),
    [
        ((10, 100), (5, 50), 1.0),
        ((10, 100), (5, 5), 0.0),
        ((10, 40, 1000), (1, 9, 100), 1.0),
        ((1, 4), (2, 4), 0.5),
    ],
)
def test_growth_is_a_slope(sizes, values, slope):
    assert exponent(sizes, values) == pytest.approx(slope)


def test_one_size_has_no_growth():
    assert math.isnan(exponent([10], [1.0]))


@pytest.mark.filterwarnings("ignore:invalid value encountered in matmul:RuntimeWarning")
def test_every_store_is_measured(tmp_path):
    for name, open_store in stores(tmp_path):
        assert fill(open_store, 0, 60, False).keys() == fill(open_store, 60, 120, True).keys()
        figures = measure(open_store, 120)
        assert all(value >= 0 for value in figures.values())
        assert table(name, [120], [figures]).row_count == len(figures)
        with closing(open_store()) as store:
            assert store.position() == 120 + WRITES * BATCH
