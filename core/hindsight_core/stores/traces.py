"""What a memory may have left elsewhere, for stores that erase it.

Its wordings and the places they were said at: other memories may have taken them over as occurrences, and the episodes
hold them as passages. A passage is filled up, so that other spans keep their offsets.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hindsight_core.stores.codec import dumps
from hindsight_core.unit import MemoryUnit, Occurrence, Source

FILLER = "█"


@dataclass(slots=True)
class Traces:
    """What a memory may have left elsewhere: its wordings, and where they were said."""

    texts: set[str] = field(default_factory=set)
    passages: set[tuple[str, tuple[int, int] | None, str]] = field(default_factory=set)

    def add(self, unit: MemoryUnit) -> None:
        """Take in a state of the memory."""
        self.texts.add(unit.content)
        self._said(unit.source, unit.content)
        for occurrence in unit.occurrences:
            text = unit.content if occurrence.text is None else occurrence.text
            self.texts.add(text)
            self._said(occurrence.source, text)

    def _said(self, source: Source, text: str) -> None:
        if source.episode is not None:
            self.passages.add((source.episode, source.span, text))

    def left_in(self, occurrence: Occurrence) -> bool:
        """Whether an occurrence of another memory comes from it."""
        places = {(episode, span) for episode, span, _ in self.passages if span is not None}
        source = occurrence.source
        return occurrence.text in self.texts or (source.episode, source.span) in places

    def needles(self) -> list[str]:
        """What a stored JSON text holds if it holds any trace."""
        texts = [dumps(text)[1:-1] for text in self.texts if text]
        return texts + [f'"episode":{dumps(episode)}' for episode, _, _ in self.passages]


def without(unit: MemoryUnit, traces: Traces) -> MemoryUnit | None:
    """A unit without occurrences that are traces; None when it has none."""
    kept = tuple(o for o in unit.occurrences if not traces.left_in(o))
    return None if len(kept) == len(unit.occurrences) else replace(unit, occurrences=kept)


def place(episode: str, span: tuple[int, int] | None, text: str) -> tuple[int, int]:
    """Where the text stands; without a span that can be trusted, where it is found, else all of the episode."""
    if span is not None and 0 <= span[0] <= span[1] <= len(episode):
        return span
    start = episode.find(text)
    return (start, start + len(text)) if start >= 0 and text else (0, len(episode))
