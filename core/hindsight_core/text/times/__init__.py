"""Times: what instants a text speaks of, in English, Chinese and both at once."""

from hindsight_core.text.times.instants import as_aware

__all__ = ["as_aware"]
