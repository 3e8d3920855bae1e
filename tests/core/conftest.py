"""Shared doubles: a clock that stands still, ids that count, an embedder without a model."""

from datetime import UTC, datetime

import pytest

from hindsight_core import Hindsight
from hindsight_core.clock import CountedIds, FixedClock
from hindsight_core.embedding import HashEmbedder

NOW = datetime(2031, 5, 20, 9, 0, tzinfo=UTC)


@pytest.fixture
def clock():
    return FixedClock(NOW)


@pytest.fixture
def open_memory(tmp_path, clock):
    """Opens memories with doubles in place; closes them at the end."""
    opened = []

    def open_(path=None, scope="u", **options):
        settings = {
            "embedder": HashEmbedder(),
            "clock": clock,
            "new_id": CountedIds(f"m{len(opened)}-"),
            **options,
        }
        memory = Hindsight.open(tmp_path / "memory.db" if path is None else path, scope, **settings)
        opened.append(memory)
        return memory

    yield open_
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory):
    return open_memory()
