"""Times: what stretches of time a text speaks of, in English, Chinese and both at once.

A small grammar instead of a library, since the parsers at hand take ten to a hundred times longer than a recall may.
From the bottom up: `numerals` and `calendar` count, `readers` say what one word means, `grammar` joins words to
phrases and chooses the occurrence that is meant, `digits`, `english`, `chinese` and `holidays` hold the words,
`reading` adds ranges and sides, and `instants` reads dates from outside.

Windows are half-open, in the zone of the reference instant, with weeks from Monday. What names no year or week
("Monday", "in March", 三号) is the most recent one that has begun, unless its clause speaks of the future.
"""

from hindsight_core.text.times.instants import as_aware
from hindsight_core.text.times.reading import TimeSpan, find_times, window_of

__all__ = ["TimeSpan", "as_aware", "find_times", "window_of"]
