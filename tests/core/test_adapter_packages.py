"""The adapter packages import without their framework, and say which of their names are still to come."""

import importlib

import pytest

PLANNED = {
    "hindsight_llamaindex": [
        "HindsightRetriever",
        "HindsightMemory",
        "HindsightMemoryBlock",
        "HindsightVectorStore",
        "HindsightToolSpec",
        "adopt",
    ],
}


@pytest.mark.parametrize(
    ("package", "name"), [(package, name) for package, names in PLANNED.items() for name in names]
)
def test_a_planned_name_says_that_it_is_not_there_yet(package, name):
    with pytest.raises(ImportError, match=f"{package}.{name} is not part of this release yet"):
        exec(f"from {package} import {name}", {})
    assert name in importlib.import_module(package).__doc__


@pytest.mark.parametrize("package", ["hindsight_langchain", "hindsight_llamaindex"])
def test_any_other_name_is_an_ordinary_missing_attribute(package):
    module = importlib.import_module(package)
    with pytest.raises(AttributeError, match="has no attribute 'HindsightOracle'"):
        module.HindsightOracle
    assert not hasattr(module, "HindsightOracle")
