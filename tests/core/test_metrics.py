"""Metrics and intervals against values worked out by hand, and the laws they obey."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.evaluation.metrics import Abstention, Judgement, gold_at, judge, stale_first
from hindsight_core.evaluation.significance import compare, estimate, holm

LOG2_3, LOG2_5 = math.log2(3), math.log2(5)


@pytest.mark.parametrize(
    ("found", "gold", "k", "recall", "hit", "all_"),
    [
        ("abcde", "a", 1, 1, 1, 1),
        ("abcde", "e", 4, 0, 0, 0),
        ("abcde", "e", 5, 1, 1, 1),
        ("abcde", "ax", 5, 0.5, 1, 0),
        ("abcde", "abc", 2, 2 / 3, 1, 0),
        ("abcde", "xyz", 5, 0, 0, 0),
        ("", "a", 5, 0, 0, 0),
        ("ab", "ba", 10, 1, 1, 1),
    ],
)
def test_recall_hit_and_all_by_hand(found, gold, k, recall, hit, all_):
    judgement = judge(list(found), list(gold))
    assert (judgement.recall(k), judgement.hit(k), judgement.all(k)) == pytest.approx((recall, hit, all_))


@pytest.mark.parametrize(
    ("ranks", "wanted", "k", "ndcg"),
    [
        ((1,), 1, 10, 1.0),
        ((2,), 1, 10, 1 / LOG2_3),
        ((11,), 1, 10, 0.0),
        ((1, 2), 2, 10, 1.0),
        ((1, 4), 2, 10, (1 + 1 / LOG2_5) / (1 + 1 / LOG2_3)),
        ((2,), 3, 10, (1 / LOG2_3) / (1 + 1 / LOG2_3 + 1 / 2)),
        ((1, 2), 30, 2, 1.0),  # the ideal is over min(|gold|, k), so a short list can be perfect
    ],
)
def test_ndcg_by_hand(ranks, wanted, k, ndcg):
    assert Judgement(ranks, wanted).ndcg(k) == pytest.approx(ndcg)


@pytest.mark.parametrize(("ranks", "mrr"), [((1, 3), 1.0), ((4,), 0.25), ((), 0.0)])
def test_mrr_by_hand(ranks, mrr):
    assert Judgement(ranks, 2).mrr() == mrr


@pytest.mark.parametrize(
    ("found", "gold", "alt", "ranks"),
    [
        ("xb", "ab", {"a": "x"}, {"a": 1, "b": 2}),
        ("xya", "a", {"a": "xy"}, {"a": 1}),  # an equivalent counts once
        ("bxa", "ab", {"a": "bx"}, {"b": 1, "a": 2}),  # one that is gold itself counts as itself
        ("xy", "ab", {"a": "xy", "b": "xy"}, {"a": 1, "b": 2}),  # one for both: the one that is missing
        ("x", "ab", {"c": "x"}, {}),
    ],
)
def test_equivalents_count_as_their_gold_memory(found, gold, alt, ranks):
    assert gold_at(list(found), list(gold), {name: set(others) for name, others in alt.items()}) == ranks


def test_a_question_without_gold_has_no_recall():
    with pytest.raises(ValueError, match="gold"):
        judge(["a"], [])


@pytest.mark.parametrize(
    ("found", "first_gold", "first"),
    [
        ("gs", 1, False),
        ("sg", 2, True),
        ("xsg", 3, True),
        ("xy", None, False),
        ("xs", None, True),
        ("", None, False),
    ],
)
def test_stale_first(found, first_gold, first):
    assert stale_first(list(found), first_gold, {"s"}) is first


def test_abstention_by_hand():
    some = Abstention(silent_rightly=3, silent_wrongly=1, unanswerable=4)
    assert (some.precision, some.recall) == (0.75, 0.75)
    talkative = Abstention(silent_rightly=0, silent_wrongly=0, unanswerable=4)
    assert math.isnan(talkative.precision)
    assert talkative.recall == 0
    assert math.isnan(Abstention(0, 2, 0).recall)


names = st.lists(st.sampled_from("abcdefghij"), unique=True)


@given(found=names, gold=names.filter(bool), k=st.integers(1, 12))
def test_laws_of_metrics(found, gold, k):
    judgement = judge(found, gold)
    values = [judgement.recall(k), judgement.hit(k), judgement.all(k), judgement.ndcg(k), judgement.mrr()]
    assert all(0 <= value <= 1 + 1e-12 for value in values)
    assert judgement.all(k) <= judgement.recall(k) <= judgement.hit(k)
    assert judgement.recall(k) <= judgement.recall(k + 1)
    # A gold memory moved to the front never makes anything worse.
    better = judge([gold[0], *(name for name in found if name != gold[0])], gold)
    assert better.recall(k) >= judgement.recall(k)
    assert better.ndcg(k) >= judgement.ndcg(k) - 1e-12


def test_interval_of_a_mean():
    sure = estimate([0.5] * 40)
    assert (sure.mean, sure.low, sure.high, sure.n) == (0.5, 0.5, 0.5, 40)
    # A share of .3 among 200 has a standard error of sqrt(.3 * .7 / 200) = .0324.
    share = estimate([1.0] * 60 + [0.0] * 140)
    assert share.mean == pytest.approx(0.3)
    assert share.low == pytest.approx(0.3 - 1.96 * 0.0324, abs=0.01)
    assert share.high == pytest.approx(0.3 + 1.96 * 0.0324, abs=0.01)
    assert estimate([0.0, 1.0, 0.5]) == estimate([0.0, 1.0, 0.5])
    assert estimate([0.0, 1.0, 0.5] * 9) != estimate([0.0, 1.0, 0.5] * 9, seed=1)


def test_nothing_has_no_interval():
    nothing = estimate([])
    assert nothing.n == 0
    assert all(math.isnan(value) for value in (nothing.mean, nothing.low, nothing.high))


@pytest.mark.parametrize(
    ("a", "b", "p"),
    [
        ([1, 1, 1], [0, 0, 0], 2 / 8),  # of eight sign patterns only +++ and --- are as far from 0
        ([1, 1, 1, 1, 1], [0, 0, 0, 0, 0], 2 / 32),
        ([1, 0], [0, 1], 1.0),
        ([1, 1, 0, 0.5], [1, 1, 0, 0.5], 1.0),
        ([1, 1, 1, 0, 9], [0, 0, 0, 1, 9], 10 / 16),  # |sum| >= 2: all but the 6 patterns that sum to 0
    ],
)
def test_sign_flip_by_hand(a, b, p):
    assert compare(a, b).p == pytest.approx(p)


def test_sampled_p_agrees_with_the_exact_one():
    """Fifteen ones against three: beyond 14 differences signs are drawn, and the binomial law gives the truth."""
    n, k = 18, 15
    exact = sum(math.comb(n, i) for i in range(n + 1) if abs(2 * i - n) >= 2 * k - n) / 2**n
    result = compare([1.0] * k + [0.0] * (n - k), [0.0] * k + [1.0] * (n - k))
    assert result.p == pytest.approx(exact, rel=0.2)
    assert (result.wins, result.losses, result.ties) == (15, 3, 0)
    assert result.difference.mean == pytest.approx(12 / 18)


def test_under_the_null_p_is_rarely_small():
    rng = np.random.default_rng(5)
    small = sum(compare(rng.random(30), rng.random(30)).p < 0.1 for _ in range(200))
    assert 8 <= small <= 34  # 20 expected; binomial(200, .1) leaves this range about once in 500


def test_the_test_is_symmetric():
    a, b = [0.2, 0.9, 0.4, 1.0], [0.1, 0.3, 0.6, 0.0]
    assert compare(a, b).p == compare(b, a).p
    assert compare(a, b).difference.mean == pytest.approx(-compare(b, a).difference.mean)


def test_rounding_makes_no_winner():
    result = compare([0.1 + 0.2], [0.3])
    assert (result.ties, result.p) == (1, 1.0)


def test_settings_must_have_answered_the_same():
    with pytest.raises(ValueError, match="same questions"):
        compare([1.0], [1.0, 0.0])


@pytest.mark.parametrize(
    ("p", "adjusted"),
    [
        ([], []),
        ([0.04], [0.04]),
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
        ([0.9, 0.01], [0.9, 0.02]),
        ([0.6, 0.7], [1.0, 1.0]),
    ],
)
def test_holm_by_hand(p, adjusted):
    assert holm(p) == pytest.approx(adjusted)


def test_sign_flip_counts_every_pattern():
    """The exact test against enumeration in plain Python."""
    a, b = [0.9, 0.1, 0.5, 1.0, 0.0, 0.3], [0.4, 0.3, 0.1, 0.2, 0.1, 0.3]
    differences = [round(x - y, 12) for x, y in zip(a, b, strict=True)]
    observed = abs(sum(differences))
    sums = [
        abs(sum(s * abs(d) for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    assert compare(a, b).p == pytest.approx(sum(x >= observed - 1e-9 for x in sums) / len(sums))
