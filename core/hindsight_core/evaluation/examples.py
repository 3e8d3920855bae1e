"""What a profile can be fitted to: questions of which it is known what should have come up.

They come from labelled data, or from the feedback that users gave on recalls. Feedback is weaker: it only judges what was shown. A
memory that was thumbed up should come up early, and where all that is known of a question are thumbs down, those memories
should not. Each is asked again as things stood just before the feedback, since feedback moves importance and would otherwise
confirm itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from hindsight_core.engine import Hindsight
from hindsight_core.evaluation.dataset import Dataset, Kind
from hindsight_core.evaluation.metrics import judge
from hindsight_core.evaluation.replay import Replay
from hindsight_core.evaluation.runner import Settings
from hindsight_core.evaluation.systems import UNDATED, HindsightSystem
from hindsight_core.journal import feedback_of
from hindsight_core.profiles import Profile

K = 10
"""Hits asked for."""
_USUAL = Settings()


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One question and what is known of its answer.

    Attributes:
        kind: Questions of one kind are dealt out evenly when some are held back.
        replay: The question, ready to be asked under any profile.
        owner: The memory that a stored piece is of, by the id of the piece; a piece not named is of itself.
        gold: What should come up; empty when nothing should.
        alt: Equivalents of gold ids.
        unwanted: What should not, where that is all that is known.
    """

    kind: str
    replay: Replay
    owner: Mapping[str, str]
    gold: tuple[str, ...]
    alt: Mapping[str, frozenset[str]]
    unwanted: tuple[str, ...] = ()

    def value(self, profile: Profile) -> float:
        """How good the answer is that a user gets under a profile, floor included, 0..1.

        nDCG@10 of what should come up; 1 less that of what should not; where nothing should, 1 for silence.
        """
        pieces = [hit.unit.id for hit in self.replay.hits(profile, K)]
        found = list(dict.fromkeys(self.owner.get(piece, piece) for piece in pieces))
        if self.gold:
            return judge(found, self.gold, self.alt).ndcg(K)
        if self.unwanted:
            return 1.0 - judge(found, self.unwanted).ndcg(K)
        return float(not found)


def labelled(dataset: Dataset, system: HindsightSystem, settings: Settings = _USUAL) -> list[Example]:
    """The questions of a data set, put to a system that has been loaded with it.

    Left out is what says nothing about ranking: adversarial questions, and categories set aside.
    """
    return [
        Example(
            kind=f"{dataset.name} {question.category}",
            replay=Replay(
                system.memory.within(question.bank),
                question.text,
                now=dataset.present(question) or UNDATED,
                history=question.history,
                include_history=question.category in settings.superseded,
            ),
            owner=system.owners(question.bank),
            gold=question.gold,
            alt=question.alt,
        )
        for question in dataset.questions
        if question.kind in (Kind.ANSWERABLE, Kind.UNANSWERABLE) and question.category not in settings.aside
    ]


def from_feedback(memory: Hindsight) -> list[Example]:
    """The questions on whose hits feedback was given in the scope that a handle writes; the latest word on a hit holds."""
    said: dict[str, dict[str, int]] = {}
    first: dict[str, datetime] = {}
    for question, id, direction, at in _feedback(memory):
        said.setdefault(question, {})[id] = direction
        first.setdefault(question, at)
    return [
        Example(
            kind="feedback",
            replay=_as_it_was(memory, question, first[question]),
            owner={},
            gold=_there(memory, verdicts, +1),
            alt={},
            unwanted=_there(memory, verdicts, -1),
        )
        for question, verdicts in said.items()
        if _there(memory, verdicts, +1, -1)
    ]


def _feedback(memory: Hindsight) -> Iterator[tuple[str, str, int, datetime]]:
    for event in memory.parts.store.events(scopes=[memory.scope]):
        judged = feedback_of(event)
        if judged is not None and judged[1] and event.key[0] == memory.scope:
            yield (judged[1], event.key[1], judged[0], event.at)


def _as_it_was(memory: Hindsight, question: str, at: datetime) -> Replay:
    return Replay(memory, question, now=at, known_at=at - timedelta(microseconds=1))


def _there(memory: Hindsight, verdicts: Mapping[str, int], *directions: int) -> tuple[str, ...]:
    """The ids with these verdicts whose memories still are there."""
    ids: Sequence[str] = [id for id, direction in verdicts.items() if direction in directions]
    units = memory.parts.store.get([(memory.scope, id) for id in ids])
    return tuple(id for id, unit in zip(ids, units, strict=True) if unit is not None)
