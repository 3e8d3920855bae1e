"""What is handed over as a memory and is none is refused at once, with the remedy."""

import pytest

from hindsight_core.errors import InvalidInput
from hindsight_langchain import (
    HindsightChatMessageHistory,
    HindsightMiddleware,
    HindsightStore,
    HindsightVectorStore,
    create_memory_tools,
)


@pytest.mark.parametrize(
    "make",
    [
        HindsightMiddleware,
        HindsightStore,
        HindsightVectorStore,
        create_memory_tools,
        lambda memory: HindsightChatMessageHistory(memory, "s1"),
    ],
)
@pytest.mark.parametrize("memory", ["agent.db", None])
def test_a_path_is_no_open_memory(make, memory):
    with pytest.raises(InvalidInput, match=r"Hindsight\.open"):
        make(memory)
