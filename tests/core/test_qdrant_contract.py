"""QdrantStore keeps the store contract: in the client's memory mode, in a folder by Qdrant Edge, and on a server."""

import pytest

pytest.importorskip("qdrant_client", reason="needs the extra [qdrant]")

from hindsight_core.contract import StoreContract
from hindsight_core.ports import Capabilities
from hindsight_core.stores.qdrant import QdrantStore

ERASING = "an engine keeps freed bytes until it merges the segment they are in"


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


class TestQdrantEdge(StoreContract):
    capabilities = Capabilities(
        multiprocess=False,
        erases_bytes=False,
        notes={"multiprocess": "Qdrant Edge has one opener at a time", "erases_bytes": ERASING},
    )

    def make_store(self, folder):
        pytest.importorskip("qdrant_edge", reason="needs the extra [qdrant]")
        return QdrantStore.open(folder / "memory", durability="normal")
