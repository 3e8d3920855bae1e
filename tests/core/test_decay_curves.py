"""Comparing forgetting curves: reading reviews, fitting what is known, and saying what came out."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from hindsight_core.errors import InvalidInput
from hindsight_core.evaluation import decay_curves
from hindsight_core.evaluation.decay_curves import (
    Compared,
    Reviews,
    compare_curves,
    exponential,
    fit,
    log_losses,
    power,
    read_reviews,
    verdict,
)

START = datetime(2031, 1, 1, tzinfo=UTC)
DATA = Path(__file__).resolve().parents[2].parent / "shared" / "eval" / "review_logs.csv.gz"


def line(card, days, rating):
    at = START + timedelta(days=days)
    return {"card_id": card, "review_time": at.isoformat(), "review_rating": str(rating)}


def drawn(chance, count=4000, seed=5):
    rng = np.random.default_rng(seed)
    days, successes = rng.exponential(20, count), rng.integers(0, 4, count).astype(float)
    reviews = Reviews(card=np.arange(count) % 50, days=days, successes=successes, known=np.zeros(count))
    known = (rng.random(count) < chance(reviews)).astype(float)
    return Reviews(card=reviews.card, days=days, successes=successes, known=known)


def test_reviews_are_read_in_order_of_time_with_what_came_before():
    read = read_reviews(
        [line("a", 3.5, 1), line("a", 0, 3), line("b", 1, 1), line("a", 1, 4), line("b", 1.25, 2)]
    )
    assert read.days.tolist() == [1.0, 0.25, 2.5]
    assert read.successes.tolist() == [1, 0, 2]
    assert read.known.tolist() == [1, 1, 0]
    assert read.card.tolist() == [0, 1, 0]


def test_reviews_within_a_sitting_can_be_left_out_but_count_as_successes():
    read = read_reviews([line("a", 0, 3), line("a", 0.01, 3), line("a", 2.01, 3)], least_days=1.0)
    assert (read.days.tolist(), read.successes.tolist()) == ([2.0], [2])


@pytest.mark.parametrize("row", [{}, line("a", 0, "x"), {**line("a", 0, 1), "review_time": "soon"}])
def test_what_is_no_review_is_refused(row):
    with pytest.raises(InvalidInput):
        read_reviews([row])


def test_curves_by_hand():
    of = Reviews(
        card=np.zeros(2, int), days=np.array([10.0, 10.0]), successes=np.array([0.0, 2.0]), known=np.ones(2)
    )
    theta = np.array([np.log(10.0), np.log(2.0), 50.0, 0.0])
    assert exponential(theta[:3], of) == pytest.approx([np.exp(-1), np.exp(-0.25)])
    assert power(theta, of) == pytest.approx([1 / 2, 1 / 1.25])


def test_log_loss_by_hand():
    assert log_losses(np.array([0.5, 0.8, 0.0]), np.array([1.0, 0.0, 0.0])) == pytest.approx(
        [np.log(2), -np.log(0.2), 0.0], abs=2e-4
    )


@pytest.mark.parametrize(("curve", "theta"), [(exponential, [2.5, 0.4, 2.0]), (power, [1.0, 0.5, 3.0, -0.3])])
def test_a_fit_predicts_as_well_as_the_truth(curve, theta):
    truth = np.array(theta)
    reviews = drawn(lambda of: curve(truth, of))
    fitted = fit(curve, reviews)
    losses = [log_losses(curve(t, reviews), reviews.known).mean() for t in (fitted, truth)]
    assert losses[0] <= losses[1]
    assert curve(fitted, reviews) == pytest.approx(curve(truth, reviews), abs=0.06)


def test_the_curve_that_made_the_reviews_wins():
    by_power = compare_curves(drawn(lambda of: power(np.array([-1.0, 0.6, 4.0, -0.9]), of)))
    assert by_power.high < 0
    assert by_power.power < by_power.constant
    assert verdict(by_power) == "the power curve predicts better than the exponential."
    # A power curve with a large exponent is an exponential, so here it can only draw level.
    by_exponential = compare_curves(drawn(lambda of: exponential(np.array([2.5, 0.6, 4.0]), of)))
    assert by_exponential.difference > -0.002


def test_a_verdict_tells_of_the_constant_rate():
    even = Compared(
        fitted_on=1, scored_on=1, known=0.9, constant=0.4, exponential=0.5, power=0.5, difference=0.0,
        low=-0.1, high=0.1, parameters={},
    )  # fmt: skip
    assert verdict(even) == (
        "neither curve predicts better than the other, since the interval holds 0;"
        " the constant rate predicts no worse than either."
    )


def test_too_few_reviews_are_refused():
    with pytest.raises(InvalidInput):
        compare_curves(read_reviews([line("a", 0, 3), line("a", 1, 3)]))


def test_the_command_prints_a_table_and_json(tmp_path, capsys):
    rng = np.random.default_rng(3)
    rows = [line(str(i % 7), i, 1 + int(rng.integers(0, 3))) for i in range(120)]
    file = tmp_path / "reviews.csv"
    file.write_text(
        "\n".join([",".join(rows[0]), *(",".join(row.values()) for row in rows)]), encoding="utf-8"
    )
    assert decay_curves.main([str(file)]) == 0
    assert "after a day or more: " in capsys.readouterr().out
    assert decay_curves.main([str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["all"]["fitted_on"] == 79


@pytest.mark.skipif(not DATA.exists(), reason="the review logs are not at hand")
def test_real_reviews_are_read_to_the_last(capsys):
    assert decay_curves.main([str(DATA), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["all"]
    assert found["fitted_on"] + found["scored_on"] == 12_580 - 1_205
