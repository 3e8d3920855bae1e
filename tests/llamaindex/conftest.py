"""Shared doubles: a clock that stands still, ids that count, an embedder without a model, and one that needs the loop."""

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

    def open_(name="memory.db", scope="u", **options):
        settings = {
            "embedder": HashEmbedder(),
            "clock": clock,
            "new_id": CountedIds(f"m{len(opened)}-"),
            **options,
        }
        memory = Hindsight.open(tmp_path / name, scope, **settings)
        opened.append(memory)
        return memory

    yield open_
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory):
    return open_memory()


class NeedsLoop(HashEmbedder):
    """Answers only while the event loop turns: a call that blocks the loop waits in vain, and fails."""

    def __init__(self):
        super().__init__()
        self._turned = None

    def embed_query(self, text):
        if self._turned is not None:
            assert self._turned.wait(10), "the event loop was blocked"
        return super().embed_query(text)

    @asynccontextmanager
    async def turning(self):
        """Inside, texts are embedded only after the loop has gone round ten times."""
        self._turned = threading.Event()

        async def turn():
            for _ in range(10):
                await asyncio.sleep(0)
            self._turned.set()

        task = asyncio.create_task(turn())
        try:
            yield
        finally:
            await task
            self._turned = None


@pytest.fixture
def needs_loop():
    return NeedsLoop()


@pytest.fixture
def kitchen(memory):
    """Three facts about different things, and one in Chinese."""
    memory.remember("The samovar boils at ninety degrees.", id="samovar", speaker="Mirela", session="s1")
    memory.remember("Redis listens on port 7420.", id="redis", speaker="user", metadata={"team": "ops"})
    memory.remember("Tobias keeps bees behind the mill.", id="bees")
    memory.remember("林岚喜欢喝龙井茶。", id="longjing", speaker="林岚")
    return memory
