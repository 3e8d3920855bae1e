"""Each line of the README's table of upgrades works, or names the extra that the table names beside it."""

import re
import tomllib
from pathlib import Path

import pytest

from hindsight_core.embedding import EndpointEmbedder, resolve, resolve_sparse
from hindsight_core.errors import MissingExtra
from hindsight_core.reranking import BoundedReranker, LLMReranker, resolve_reranker
from hindsight_core.settings import load_settings

ROOT = Path(__file__).parents[2]
READMES = ("README.md", "README.zh-CN.md")
ROW = re.compile(r'^\| `(Hindsight\.open\("agent\.db", .*\))` \| `([a-z]+)` \|$', re.MULTILINE)
ROWS = [row for name in READMES for row in ROW.findall((ROOT / name).read_text(encoding="utf-8"))]


class Hindsight:
    """Makes the parts that the real one would be opened with, and opens nothing."""

    @staticmethod
    def open(path, *, embedder=None, keywords=None, reranker=None):
        # To ask an object whether it is an embedder would ask its endpoint for the size of a vector.
        made = embedder if isinstance(embedder, EndpointEmbedder) else resolve(embedder)
        assert resolve_sparse(keywords, made) in (None, made)  # one model gives both
        return made, resolve_reranker(reranker)


def test_both_languages_list_the_same():
    assert len(ROWS) == 16
    assert ROWS[:8] == ROWS[8:]


@pytest.mark.parametrize(("line", "extra"), ROWS[:8])
def test_each_line_works_or_names_its_extra(line, extra, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    for folder in ("bge-small-zh-v1.5", "bge-reranker-base"):
        (tmp_path / "models" / folder).mkdir(parents=True)
        for name in ("tokenizer.json", "model.onnx"):
            (tmp_path / "models" / folder / name).write_text("{}")
    names = {
        "Hindsight": Hindsight, "EndpointEmbedder": EndpointEmbedder, "BoundedReranker": BoundedReranker,
        "LLMReranker": LLMReranker,
    }  # fmt: skip
    lacking = None
    try:
        embedder, reranker = eval(line, names)
    except MissingExtra as missing:
        lacking = missing.extra
    if lacking is not None:
        assert lacking == extra
        pytest.skip(f"the extra [{extra}] is not installed")
    assert (embedder is None) != (reranker is None)
    wanted = {"dimension", "fingerprint", "embed_documents", "embed_query"}
    assert embedder is None or set(dir(embedder)) >= wanted


@pytest.mark.parametrize("name", READMES)
def test_the_settings_shown_are_settings(name, tmp_path):
    (shown,) = re.findall(r"^```toml\n(.*?)^```$", (ROOT / name).read_text(encoding="utf-8"), re.M | re.S)
    (tmp_path / "hindsight.toml").write_text(shown, encoding="utf-8")
    found = load_settings(tmp_path / "hindsight.toml", {})
    assert all(getattr(found, field) == value for field, value in tomllib.loads(shown).items())
