"""Profiles by name, and in JSON files.

    {"name": "ours", "weights": {"vector": 0.5, "keyword": 0.3}, "spreading": {"session": 0.2}, "floor": 0.3}

Every field of `profiles.Profile` may be given; what is left out has its default.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from hindsight_core.errors import InvalidInput, InvalidSettings
from hindsight_core.profiles import ASSISTANT, DEFAULT, SUPPORT, TECH_DOCS, Profile, Spreading, Weights

PRESETS = {preset.name: preset for preset in (DEFAULT, TECH_DOCS, ASSISTANT, SUPPORT)}
_PARTS: Mapping[str, type[Any]] = {"weights": Weights, "spreading": Spreading}


def read_profile(name: str | Path) -> Profile:
    """A preset by its name, or the profile that a file holds.

    Raises:
        InvalidInput: Neither a preset nor a file, or a file that is not JSON.
        InvalidSettings: The file sets what does not exist, or to something impossible; all faults are listed.
    """
    if str(name) in PRESETS:
        return PRESETS[str(name)]
    path = Path(name)
    if not path.is_file():
        raise InvalidInput(f"no profile {str(name)!r}: give one of {', '.join(PRESETS)}, or a JSON file")
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"the profile {path} cannot be read: {error}") from error
    if not isinstance(held, Mapping):
        raise InvalidInput(f"the profile {path} must hold a JSON object")
    return profile_from(held)


def profile_from(held: Mapping[str, Any]) -> Profile:
    """The profile a JSON object describes; errors as for `read_profile`."""
    values = dict(held)
    faults = _unknown(values, Profile, "")
    for part, kind in _PARTS.items():
        inner = values.get(part, {})
        if isinstance(inner, Mapping):
            faults += _unknown(inner, kind, f"{part}.")
        else:
            faults.append(f"{part} must be an object")
    if faults:
        raise InvalidSettings("Profile", faults)
    for part, kind in _PARTS.items():
        values[part] = kind(**values.get(part, {}))
    if isinstance(values.get("entity_types"), list):
        values["entity_types"] = frozenset(values["entity_types"])
    return Profile(**values)


def write_profile(profile: Profile, path: str | Path) -> None:
    """Write a profile so that `read_profile` gives it back."""
    held = {**asdict(profile), "entity_types": sorted(profile.entity_types)}
    try:
        Path(path).write_text(json.dumps(held, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"the profile {path} cannot be written: {error.strerror}") from error


def _unknown(given: Mapping[str, Any], kind: type[Any], prefix: str) -> list[str]:
    known = [field.name for field in fields(kind)]
    return [
        f"there is no {prefix}{name} (there are {', '.join(known)})" for name in given if name not in known
    ]
