"""Hindsight: long-term memory for AI agents.

    from hindsight_core import Hindsight

    memory = Hindsight.open("agent.db", scope="user-42")
    memory.remember("I prefer short answers.")
    print(memory.recall("How should I answer?").context())

A memory's life, module by module: `encode` (text to units), `consolidate` (same, changed, related), `recall` (four
channels, association, fusion), `forget` (the sweep). `unit` holds the values, `ports` what an own store, embedder or
extractor needs, `engine` composes them.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hindsight_core import errors, profiles
    from hindsight_core.engine import Hindsight
    from hindsight_core.errors import HindsightError
    from hindsight_core.profiles import Profile, Spreading, Weights
    from hindsight_core.recall import Hit, Hits
    from hindsight_core.unit import MemoryType, MemoryUnit, Status

__all__ = [
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

_HOME = {
    "HindsightError": "errors",
    "Hindsight": "engine",
    "Hit": "recall",
    "Hits": "recall",
    "MemoryType": "unit",
    "MemoryUnit": "unit",
    "Profile": "profiles",
    "Spreading": "profiles",
    "Status": "unit",
    "Weights": "profiles",
}


def __getattr__(name: str) -> Any:
    """Load what is asked for when it is asked for: importing the package costs next to nothing."""
    from importlib import import_module

    if name in ("errors", "profiles"):
        return import_module(f"{__name__}.{name}")
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
