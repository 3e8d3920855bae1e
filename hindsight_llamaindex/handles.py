"""Memories by name, so that a chat can be written down and taken up again.

What is serialised names the memory: its file, its scopes and its profile. Taking it up looks first for a memory of the same
file that is open in this process (so that an own embedder or store stays in use), and opens the file otherwise.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from hindsight_core import Hindsight, Profile, profiles
from hindsight_core.errors import InvalidInput, StoreClosed

_MEMORY = ":memory:"
_OPEN: WeakValueDictionary[str, Hindsight] = WeakValueDictionary()
_NAMES: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


def describe(memory: Hindsight) -> dict[str, Any]:
    """What names a memory, as JSON; from now on it is found by it as long as it is in use."""
    store = memory.parts.store
    name = str(getattr(store, "path", _MEMORY))
    if name == _MEMORY:
        name = _NAMES.setdefault(store, f"{_MEMORY}{memory.parts.new_id(memory.parts.clock.now())}")
    _OPEN[name] = memory
    return {
        "path": name,
        "scope": list(memory.scope),
        "read": [list(scope) for scope in memory.reach],
        "profile": memory.profile.name,
    }


def restore(description: dict[str, Any]) -> Hindsight:
    """The memory that `describe` named.

    Raises:
        InvalidInput: It was kept nowhere but in a process that has ended, or has a profile of the caller's own; open it
            as it was opened first, and hand it to an adapter of this package before restoring.
    """
    name, scope = description["path"], tuple(description["scope"])
    reach = tuple(tuple(other) for other in description["read"])
    known = _OPEN.get(name)
    if known is not None and _is_open(known):
        if (known.scope, known.reach) == (scope, reach):
            return known
        return Hindsight(known.parts, scope, reach)
    if name.startswith(_MEMORY):
        raise InvalidInput("this memory was kept in the working memory of a process only, and is gone")
    return Hindsight.open(name, scope, read=reach[1:], profile=_profile(description["profile"]))


def _is_open(memory: Hindsight) -> bool:
    try:
        memory.parts.store.meta()
    except StoreClosed:
        return False
    return True


def _profile(name: str) -> Profile:
    presets = (profiles.DEFAULT, profiles.TECH_DOCS, profiles.ASSISTANT, profiles.SUPPORT)
    for preset in presets:
        if preset.name == name:
            return preset
    raise InvalidInput(
        f"this memory was opened with a profile of your own ({name!r}); open it so again before restoring what uses it"
    )
