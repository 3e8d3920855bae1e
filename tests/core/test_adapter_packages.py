"""The adapter packages import without their framework, and an unknown name is an ordinary error."""

import importlib

import pytest


@pytest.mark.parametrize("package", ["hindsight_langchain", "hindsight_llamaindex"])
def test_any_other_name_is_an_ordinary_missing_attribute(package):
    module = importlib.import_module(package)
    with pytest.raises(AttributeError, match="has no attribute 'HindsightOracle'"):
        module.HindsightOracle
    assert not hasattr(module, "HindsightOracle")
