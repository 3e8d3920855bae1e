"""The package itself: nothing is imported before it is needed, and a missing framework names its install command."""

import subprocess
import sys

import pytest

import hindsight_langchain

BLOCKED = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"langchain", "langchain_core", "langchain_classic", "langgraph"}:
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
    for needed in ("langchain", "langchain_classic"):
        pytest.importorskip(needed, reason=f"needs {needed}")
    assert sorted(hindsight_langchain._HOME) == sorted(hindsight_langchain.__all__)
    assert set(hindsight_langchain.__all__) <= set(dir(hindsight_langchain))
    for name in hindsight_langchain.__all__:
        assert name in hindsight_langchain.__doc__
        assert getattr(hindsight_langchain, name).__name__ == name


@pytest.mark.parametrize("name", [name for name in hindsight_langchain.__all__ if name != "adopt"])
def test_without_the_framework_the_message_names_the_command(name):
    extra = "langchain-classic" if name == "HindsightMemory" else "langchain"
    said = python(f"""{BLOCKED}
import hindsight_langchain
from hindsight_core.errors import MissingExtra
try:
    from hindsight_langchain import {name}
except MissingExtra as error:
    print(error)
""")
    assert said == f'hindsight_langchain.{name} needs an extra: pip install "hindsight-memory[{extra}]"'


def test_taking_over_a_collection_needs_only_what_opened_it():
    assert python(f"{BLOCKED}\nfrom hindsight_langchain import adopt\nprint(callable(adopt))") == "True"


def test_the_retriever_needs_neither_langgraph_nor_langchain_itself():
    pytest.importorskip("langchain_core", reason="needs langchain-core")
    loaded = python(
        "import sys, hindsight_langchain as h; h.HindsightRetriever, h.HindsightVectorStore, h.create_memory_tools;"
        "print([n for n in ('langchain', 'langchain_classic', 'langgraph', 'torch') if n in sys.modules])"
    )
    assert loaded == "[]"
