"""Hindsight: long-term memory for AI agents.

    from hindsight_core import Hindsight

    memory = Hindsight.open("agent.db", scope="user-42")
    memory.remember("I prefer short answers.")
    print(memory.recall("How should I answer?").context())

A memory's life, module by module: `encode` (text to units), `consolidate` (same, changed, related), `recall` (four
channels, association, fusion), `forget` (the sweep). `unit` holds the values, `ports` what an own store, embedder or
extractor needs, `engine` composes them.
"""

from hindsight_core import errors, profiles
from hindsight_core.engine import NOW, Hindsight
from hindsight_core.errors import HindsightError
from hindsight_core.profiles import Profile, Spreading, Weights
from hindsight_core.recall import Hit, Hits
from hindsight_core.unit import MemoryType, MemoryUnit, Status

__all__ = [
    "NOW",
    "Hindsight",
    "HindsightError",
    "Hit",
    "Hits",
    "MemoryType",
    "MemoryUnit",
    "Profile",
    "Spreading",
    "Status",
    "Weights",
    "errors",
    "profiles",
]
