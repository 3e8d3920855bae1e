"""What an adapter is handed as a memory."""

from __future__ import annotations

from typing import Any

from hindsight_core.engine.facade import Hindsight
from hindsight_core.errors import InvalidInput


def opened(memory: Any) -> Hindsight:
    """The memory, if it is one.

    Raises:
        InvalidInput: It is something else, such as the path of one.
    """
    if isinstance(memory, Hindsight):
        return memory
    raise InvalidInput(
        f"an adapter takes an open memory, not {type(memory).__name__}: memory=Hindsight.open(...)"
    )
