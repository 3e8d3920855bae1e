"""The public names: few, listed, documented, and all of them there."""

import pytest

import hindsight_core

NAMES = {
    "Hindsight", "HindsightError", "Hit", "Hits", "MemoryType", "MemoryUnit", "Profile", "Spreading", "Status", "Weights",
    "errors", "profiles",
}  # fmt: skip


def test_the_names_are_these_and_no_others():
    assert set(hindsight_core.__all__) == NAMES
    assert set(dir(hindsight_core)) >= NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_each_name_is_there_and_documented(name):
    assert getattr(hindsight_core, name).__doc__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="Remember"):
        _ = hindsight_core.Remember


def test_every_public_method_of_the_facade_is_documented_and_has_no_surprise_twin():
    facade = hindsight_core.Hindsight
    public = [name for name in dir(facade) if not name.startswith("_")]
    assert all(getattr(facade, name).__doc__ for name in public)
    twins = [name for name in public if name.startswith("a") and name[1:] in public]
    assert {"aremember", "arecall", "asweep"} <= set(twins)
