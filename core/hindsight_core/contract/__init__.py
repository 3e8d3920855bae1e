"""The store contract as tests: subclass `StoreContract` in a test module and pytest runs what every store must do.

    from hindsight_core.contract import StoreContract

    class TestMyStore(StoreContract):
        capabilities = Capabilities(multiprocess=False)

        def make_store(self, folder):
            return MyStore.open(folder / "memories")

`make_store` opens the store that is kept in `folder` and makes it when there is none; called twice with one
folder it opens the same memories again. What a store does not promise (`ports.Capabilities`) is skipped, visibly.
"""

from hindsight_core.contract.erasing import ErasingContract
from hindsight_core.contract.learning import LearntContract
from hindsight_core.contract.library import LibraryContract
from hindsight_core.contract.searching import SearchingContract
from hindsight_core.contract.writing import WritingContract

__all__ = ["StoreContract"]


class StoreContract(WritingContract, ErasingContract, LibraryContract, SearchingContract, LearntContract):
    """Everything a store must do."""
