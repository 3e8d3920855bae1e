"""Settings reject what is wrong, all faults at once; presets are the published ones."""

import math

import pytest

from hindsight_core.errors import InvalidSettings
from hindsight_core.profiles import ASSISTANT, DEFAULT, SUPPORT, TECH_DOCS, Profile, Spreading, Weights


@pytest.mark.parametrize(
    ("profile", "weights", "decay", "archive"),
    [
        (TECH_DOCS, (0.40, 0.25, 0.20, 0.05, 0.10), 0.99, 0.10),
        (ASSISTANT, (0.30, 0.15, 0.15, 0.25, 0.15), 0.97, 0.15),
        (SUPPORT, (0.35, 0.30, 0.20, 0.10, 0.05), 0.995, 0.08),
    ],
)
def test_the_three_named_presets_are_the_published_ones(profile, weights, decay, archive):
    w = profile.weights
    assert (w.vector, w.keyword, w.entity, w.recency, w.importance) == weights
    assert (profile.decay, profile.archive_below) == (decay, archive)


def test_default_forgets_as_published():
    assert (DEFAULT.decay, DEFAULT.archive_below, DEFAULT.recency_rate) == (0.99, 0.10, 0.05)


@pytest.mark.parametrize(
    "weights",
    [
        {"vector": -0.1},
        {"keyword": math.nan},
        {"entity": math.inf},
        {"vector": 0, "keyword": 0, "entity": 0},
        {"importance": "0.1"},
        {"recency": True},
    ],
)
def test_a54_bad_weights_are_rejected_at_construction(weights):
    with pytest.raises(InvalidSettings):
        Weights(**weights)


def test_a54_an_unknown_channel_is_rejected():
    with pytest.raises(TypeError, match="smell"):
        Weights(smell=0.2)


def test_a54_weights_need_not_sum_to_one():
    assert Weights(vector=4, keyword=2, entity=2, recency=1, importance=1).total == 10


def test_all_faults_are_reported_at_once():
    with pytest.raises(InvalidSettings) as caught:
        Profile(name="", decay=2.0, archive_below=-1, floor=7)
    assert len(caught.value.faults) == 4
    assert all(word in str(caught.value) for word in ("name", "decay", "archive_below", "floor"))


@pytest.mark.parametrize("bad", [{"turn": 1.5}, {"reach": -1}, {"seeds": 1000}])
def test_spreading_is_checked_too(bad):
    with pytest.raises(InvalidSettings):
        Spreading(**bad)


def test_profiles_are_frozen():
    with pytest.raises(AttributeError):
        DEFAULT.decay = 0.5
