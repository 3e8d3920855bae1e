"""Recall: from a question to hits.

query      the question, heard by the models, then analysed once
evidence   each channel on one scale; a turn read as the centre of its window
bridge     association over what a hit mentions and the question does not
fusion     five signals become one score
relevance  the absolute measure, and the floor
ranking    all of it, in order
explained  hits out of what was chosen
succession a newer statement above the older one, where history is shown
context    hits as a prompt needs them
"""

from hindsight_core.recall.context import render
from hindsight_core.recall.hits import Hit, Hits, Signal, Via
from hindsight_core.recall.query import Question, analyse, hear
from hindsight_core.recall.ranking import rank, searched
from hindsight_core.text.counting import estimate_tokens

__all__ = [
    "Hit",
    "Hits",
    "Question",
    "Signal",
    "Via",
    "analyse",
    "estimate_tokens",
    "hear",
    "rank",
    "render",
    "searched",
]
