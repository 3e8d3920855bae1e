"""Profiles by name and in files."""

import json

import pytest

from hindsight_core.errors import InvalidInput, InvalidSettings
from hindsight_core.profile_file import PRESETS, read_profile, write_profile
from hindsight_core.profiles import ASSISTANT, DEFAULT, Profile, Spreading, Weights


@pytest.mark.parametrize("name", PRESETS)
def test_presets_go_by_name(name):
    assert read_profile(name).name == name


def test_a_written_profile_is_read_back(tmp_path):
    own = Profile(
        name="我们的",
        weights=Weights(vector=0.7),
        spreading=Spreading(session=0.1, seeds=1),
        floor=None,
        entity_types=frozenset({"person"}),
    )
    for profile in (own, DEFAULT, ASSISTANT):
        write_profile(profile, tmp_path / "p.json")
        assert read_profile(tmp_path / "p.json") == profile
    write_profile(own, tmp_path / "p.json")
    assert "我们的" in (tmp_path / "p.json").read_text(encoding="utf-8")


def test_what_is_left_out_has_its_default(tmp_path):
    (tmp_path / "p.json").write_text(json.dumps({"weights": {"keyword": 0.9}}))
    profile = read_profile(str(tmp_path / "p.json"))
    assert profile.weights == Weights(keyword=0.9)
    assert profile.spreading == DEFAULT.spreading


def test_everything_unknown_is_told_at_once(tmp_path):
    (tmp_path / "p.json").write_text(json.dumps({"wieghts": {}, "weights": {"vektor": 1}, "spreading": 3}))
    with pytest.raises(InvalidSettings) as caught:
        read_profile(tmp_path / "p.json")
    assert len(caught.value.faults) == 3
    assert "wieghts" in str(caught.value)
    assert "weights.vektor" in str(caught.value)


def test_impossible_values_are_told(tmp_path):
    (tmp_path / "p.json").write_text(json.dumps({"floor": 2}))
    with pytest.raises(InvalidSettings, match="floor"):
        read_profile(tmp_path / "p.json")


@pytest.mark.parametrize("text", ["{", "[]", "\udcff"])
def test_a_file_that_holds_no_object_is_told(tmp_path, text):
    (tmp_path / "p.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InvalidInput):
        read_profile(tmp_path / "p.json")


def test_an_unknown_name_lists_the_presets():
    with pytest.raises(InvalidInput, match="tech_docs"):
        read_profile("nonsense")
