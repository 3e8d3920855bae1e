"""Times: what stretches of time a text speaks of, in English, Chinese and both at once."""

from hindsight_core.text.times.instants import as_aware
from hindsight_core.text.times.reading import TimeSpan, find_times, window_of

__all__ = ["TimeSpan", "as_aware", "find_times", "window_of"]
