"""The figures of the README about what a language model costs are those that the tool counts."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def measured():
    spec = importlib.util.spec_from_file_location("llm_cost", ROOT / "tools" / "llm_cost.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return dict(tool.measure((0.15, 0.60)))


@pytest.mark.parametrize("readme", ["README.md", "README.zh-CN.md"])
def test_the_readme_gives_what_is_counted(measured, readme):
    text = (ROOT / readme).read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+ \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| (0\.\d\d) \|$", text, re.MULTILINE)
    assert len(rows) == len(measured)
    for row, (name, tally) in zip(rows, measured.items(), strict=True):
        if name.startswith("judge"):  # who is asked less the more the rules can tell
            continue
        calls, sent, received = (int(number.replace(",", "")) for number in row[:3])
        assert calls == pytest.approx(tally.calls, rel=0.1)
        assert sent == pytest.approx(tally.prompt_tokens, rel=0.1)
        assert received == pytest.approx(tally.completion_tokens, rel=0.1)
        assert float(row[3]) == pytest.approx(tally.cost, abs=0.02)
    assert measured["judge, turn by turn"].calls < measured["extractor, turn by turn"].calls
