"""The engine: the only room that composes stages, stores and ports."""

from hindsight_core.engine.facade import Hindsight
from hindsight_core.engine.handles import opened
from hindsight_core.engine.items import NOW

__all__ = ["NOW", "Hindsight", "opened"]
