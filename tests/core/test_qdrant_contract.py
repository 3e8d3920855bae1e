"""QdrantStore keeps the store contract: in the client's memory mode, in a folder by Qdrant Edge, and on a server."""

import shutil
from pathlib import Path

import pytest

pytest.importorskip("qdrant_client", reason="needs the extra [qdrant]")

from hindsight_core.contract import StoreContract
from hindsight_core.ports import Capabilities
from hindsight_core.stores.qdrant import QdrantStore

SHM = Path("/dev/shm")
FOLDERS: set[Path] = set()
ERASING = "an engine keeps freed bytes until it merges the segment they are in"


@pytest.fixture(scope="module", autouse=True)
def _tidy():
    yield
    for folder in FOLDERS:
        shutil.rmtree(folder, ignore_errors=True)


class TestQdrantInMemory(StoreContract):
    capabilities = Capabilities(
        persistent=False,
        multiprocess=False,
        erases_bytes=False,
        notes={
            "persistent": "the memory mode is gone when closed",
            "multiprocess": "the memory mode lives in one process",
            "erases_bytes": ERASING,
        },
    )

    def make_store(self, folder):
        return QdrantStore.connect(":memory:")


class TestQdrantSearchedByTheEngine(TestQdrantInMemory):
    """However few memories there are, none are held here: every search is the engine's."""

    capabilities = Capabilities(
        persistent=False,
        multiprocess=False,
        erases_bytes=False,
        exact_statistics=False,
        notes={
            **TestQdrantInMemory.capabilities.notes,
            "exact_statistics": "of a scope too large to be held, statistics are estimated from a sample",
        },
    )

    def make_store(self, folder):
        return QdrantStore.connect(":memory:", whole=0)


class TestQdrantEdge(StoreContract):
    capabilities = Capabilities(
        multiprocess=False,
        erases_bytes=False,
        notes={"multiprocess": "Qdrant Edge has one opener at a time", "erases_bytes": ERASING},
    )

    def make_store(self, folder):
        pytest.importorskip("qdrant_edge", reason="needs the extra [qdrant]")
        # The engine flushes dozens of files to open a store; where memory can be had as a folder, it is the faster disk.
        if SHM.is_dir():
            folder = SHM / f"hindsight-{folder.parent.name}-{folder.name}"
            folder.mkdir(exist_ok=True)
            FOLDERS.add(folder)
        return QdrantStore.open(folder / "memory", durability="normal")
