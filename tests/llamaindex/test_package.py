"""The package itself: nothing is imported before it is needed, and a missing framework names its install command."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("llama_index.core", reason="needs llama-index-core")

import hindsight_llamaindex

BLOCKED = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "llama_index":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Block())
"""


def python(code):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_every_public_name_is_there():
    assert sorted(hindsight_llamaindex._MODULES) == sorted(hindsight_llamaindex.__all__)
    assert set(hindsight_llamaindex.__all__) <= set(dir(hindsight_llamaindex))
    for name in hindsight_llamaindex.__all__:
        assert name in hindsight_llamaindex.__doc__
        assert getattr(hindsight_llamaindex, name).__name__ == name


def test_without_the_framework_the_message_names_the_command():
    said = python(f"""{BLOCKED}
import hindsight_llamaindex
from hindsight_core.errors import MissingExtra
for name in hindsight_llamaindex.__all__:
    try:
        getattr(hindsight_llamaindex, name)
    except MissingExtra as error:
        print(error)
""")
    assert said.splitlines() == [
        f'hindsight_llamaindex.{name} needs an extra: pip install "hindsight-memory[llamaindex]"'
        for name in hindsight_llamaindex.__all__
    ]


def test_another_missing_package_is_not_taken_for_the_framework(monkeypatch):
    def absent(name):
        raise ModuleNotFoundError("No module named 'numpy'", name="numpy")

    monkeypatch.setattr(hindsight_llamaindex, "import_module", absent)
    monkeypatch.delitem(vars(hindsight_llamaindex), "HindsightRetriever", raising=False)
    with pytest.raises(ModuleNotFoundError, match="numpy"):
        hindsight_llamaindex.HindsightRetriever


def test_no_module_hides_the_public_name_it_is_about():
    modules = {path.stem for path in Path(hindsight_llamaindex.__file__).parent.glob("*.py")}
    assert modules.isdisjoint(hindsight_llamaindex.__all__)


def test_no_model_library_and_no_vector_database_is_loaded():
    loaded = python(
        "import sys, hindsight_llamaindex as h; [getattr(h, name) for name in h.__all__];"
        "print([n for n in ('torch', 'sentence_transformers', 'openai', 'qdrant_client') if n in sys.modules])"
    )
    assert loaded == "[]"
