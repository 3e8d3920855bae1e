"""SqliteStore keeps the store contract, on a file and in memory."""

from hindsight_core.contract import StoreContract
from hindsight_core.ports import Capabilities
from hindsight_core.stores.sqlite import SqliteStore


class TestSqliteStoreOnDisk(StoreContract):
    def make_store(self, folder):
        return SqliteStore.open(folder / "memories.db", durability="normal")


class TestSqliteStoreInMemory(StoreContract):
    capabilities = Capabilities(
        persistent=False, multiprocess=False, notes={"persistent": "a store in memory is gone when closed"}
    )

    def make_store(self, folder):
        return SqliteStore.open(":memory:")

    def test_nothing_is_left_on_disk(self, tmp_path):
        with self.opened(tmp_path) as store:
            self.three(store)
        assert list(tmp_path.iterdir()) == []
