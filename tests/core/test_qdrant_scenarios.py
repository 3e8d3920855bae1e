"""The recall scenarios and the cases of isolation and of callers' ids once more, with Qdrant in place of the file.

Twice, over the client's memory mode: scopes held in the process, and scopes searched where they are.
"""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("qdrant_client", reason="needs the extra [qdrant]")

from hindsight_core import Hindsight
from hindsight_core.clock import CountedIds
from hindsight_core.embedding import HashEmbedder
from hindsight_core.stores.qdrant import QdrantStore

WHICH = {
    "test_cases_recall": ("",),
    "test_succession": ("",),
    "test_cases_store": ("a29", "a34", "a35", "reading_a_shared", "within"),
}
REOPENED = ("test_a53_", "test_a18_", "test_recall_is_deterministic")
"""Those close a file and open it again; for Qdrant Edge that is tested apart."""


def scenarios():
    """The tests and fixtures of those modules by name."""
    for name, wanted in WHICH.items():
        path = Path(__file__).with_name(f"{name}.py")
        spec = importlib.util.spec_from_file_location(f"{name}_on_qdrant", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for key, found in vars(module).items():
            is_test = key.startswith("test_") and any(part in key for part in wanted)
            is_test = is_test and not key.startswith(REOPENED)
            if is_test or type(found).__name__ == "FixtureFunctionDefinition":
                yield key, found


globals().update(scenarios())


@pytest.fixture(params=[5_000, 0], ids=["held", "searched"])
def open_memory(request, clock):
    """As that of the other tests, with one store to each path."""
    stores, opened = {}, []

    def open_(path=None, scope="u", **options):
        if path not in stores:
            stores[path] = QdrantStore.connect(":memory:", whole=request.param)
        settings = {
            "embedder": HashEmbedder(),
            "clock": clock,
            "new_id": CountedIds(f"m{len(opened)}-"),
            **options,
        }
        opened.append(Hindsight.open(stores[path], scope, **settings))
        return opened[-1]

    yield open_
    for memory in opened:
        memory.close()
