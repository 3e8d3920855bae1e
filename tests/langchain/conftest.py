"""Shared doubles: a clock that stands still, ids that count, an embedder without a model."""

import asyncio
import threading
from contextlib import asynccontextmanager
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


class NeedsLoop(HashEmbedder):
    """Answers only while an event loop is free: a call that blocks the loop waits in vain and fails."""

    def __init__(self):
        super().__init__()
        self.beaten = None

    def embed_query(self, text):
        if self.beaten is not None:
            assert self.beaten.wait(10), "the event loop was blocked"
        return super().embed_query(text)

    @asynccontextmanager
    async def beating(self):
        """While inside, questions are answered after the loop has gone round ten times."""
        self.beaten = threading.Event()

        async def beat():
            for _ in range(10):
                await asyncio.sleep(0.001)
            self.beaten.set()

        task = asyncio.create_task(beat())
        try:
            yield
        finally:
            await task
            self.beaten = None


@pytest.fixture
def needs_loop():
    return NeedsLoop()
