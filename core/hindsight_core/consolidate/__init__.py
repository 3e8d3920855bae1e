"""Consolidate: what a new memory means for those that are near it.

`read_statement` reads a text once; `decide` compares two readings and gives a verdict: the same said again, a fact that
has changed, a contradiction, something related, or something new. No store, no clock, no model: pure functions over
text, so that every verdict can be repeated and explained.

    reader     text to clauses of tokens          values   numbers, dates and times in one form (shapes: patterns)
    statement  clauses to facts                   marks    how a clause is meant: a change, a question, a plan
    same       when two texts are one memory      lexicon  opposites, slots, what holds many values
    template   the same words, another value      overlap  what two facts have in common
    change     when a fact replaces another       slot     whether it is the same slot that has changed
    implied    when it need not name the slot     doubt    when both had better stay
    decide     the verdict
    asked      which of two values a question is about has been overtaken
"""

from hindsight_core.consolidate.asked import AskedValue, asked_value
from hindsight_core.consolidate.decide import Decision, Verdict, decide
from hindsight_core.consolidate.statement import Statement, read_statement

__all__ = ["AskedValue", "Decision", "Statement", "Verdict", "asked_value", "decide", "read_statement"]
