"""What is handed over as a memory and is none is refused at once, with the remedy."""

import pytest

from hindsight_core import Hindsight
from hindsight_core.errors import InvalidInput
from hindsight_llamaindex import (
    HindsightMemory,
    HindsightMemoryBlock,
    HindsightRetriever,
    HindsightToolSpec,
    HindsightVectorStore,
)


@pytest.mark.parametrize(
    "make",
    [HindsightMemory, HindsightMemoryBlock, HindsightRetriever, HindsightToolSpec, HindsightVectorStore],
)
@pytest.mark.parametrize("memory", ["agent.db", None])
def test_a_path_is_no_open_memory(make, memory):
    with pytest.raises(InvalidInput, match=r"Hindsight\.open"):
        make(memory)


def test_a_memory_in_place_of_a_chat_history_is_refused():
    with Hindsight.open(":memory:", embedder=None) as memory, pytest.raises(InvalidInput, match="memory="):
        HindsightMemory.from_defaults(memory)
