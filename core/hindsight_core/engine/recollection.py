"""Active recall: whether what is known should be brought up unasked, and which of it.

A message need not be a question, and most messages have nothing to do with what is known. Speaking up wrongly costs an
agent's attention every time, so the decision is taken in steps, the cheapest first:

1. Small talk alone brings nothing to mind; nothing is searched.
2. The best hit has to be more relevant than an asked recall would demand (`Profile.mention`, above `Profile.floor`).
3. A grader, where one is given (a language model, a cross-encoder), reads message and memories and has the last word. When
   it fails or takes too long, the rules have it.
"""

from __future__ import annotations

import re

from hindsight_core.encode import index_text
from hindsight_core.encode.rubric import Act, judge
from hindsight_core.profiles import Profile
from hindsight_core.recall import Hits
from hindsight_core.reranking import BoundedReranker

_SENTENCE = re.compile(r"[^.!?。！？…\n]+")
_HELPS = 0.5
"""Grade from which a memory helps."""


def says_something(message: str) -> bool:
    """Whether a message is more than greetings, thanks and assent."""
    return any(judge(sentence.strip()).act is not Act.SMALL_TALK for sentence in _SENTENCE.findall(message))


def worth_telling(
    hits: Hits, profile: Profile, message: str, grader: BoundedReranker | None = None
) -> Hits | None:
    """The hits to bring up, or None when it is better to say nothing.

    Args:
        hits: What a recall of the message gave.
        profile: Its `mention` is what the best hit has to reach.
        message: What was said.
        grader: Asked last; only memories it grades in the upper half are brought up.
    """
    if max((hit.relevance for hit in hits), default=0.0) < profile.mention or not hits:
        return None
    if grader is None:
        return hits
    grades = grader.scores(message, [index_text(hit.unit.content, hit.unit.source) for hit in hits])
    if grades is None:
        return hits
    good = {hit.unit.key for hit, grade in zip(hits, grades.tolist(), strict=True) if grade >= _HELPS}
    return hits.only(lambda hit: hit.unit.key in good) if good else None
