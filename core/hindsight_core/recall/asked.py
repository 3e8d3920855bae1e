"""What a text asks for: one thing, several questions, or one question that sets events side by side.

"Did the audit and the move fall in the same month?" is answered by two memories that need have nothing in common, and
one vector for both lies between them. So each event is looked for by itself as well, beside the question as a whole.
"""

from __future__ import annotations

import re
from itertools import pairwise

from hindsight_core.text.tokens import main_ids

MOST_EVENTS = 5
_NAMED = re.compile(r"[\u3400-\u9fff]{2}|.{4}")
"""What an event must have to be looked for by itself."""

_ASKED = re.compile(r"[?？]+(?![A-Za-z0-9_=&%/])[”’」』)）]*")
"""Where a question ends; not at the question mark of an address."""
_SIDE_BY_SIDE = re.compile(
    r"同一(?:年|个?月|天|日|周|个?星期|个?季度|时间)|同年|同月|先后"
    r"|哪.{0,8}(?:[更较最]早|[更较最]晚|先发生|后发生|最[先后])|谁.{0,6}(?:更?先|更?早|更?晚)"
    r"|\bthe same (?:year|month|week|day|time)\b"
    r"|\b(?:which|what|who)\b.{0,60}\b(?:first|earlier|earliest|last|later|latest)\b"
    r"|\b(?:happen|happened|come|came|start|started)\s+(?:first|earlier|later|last)\b",
    re.IGNORECASE,
)
"""Asks how events lie in time to each other."""
_REST = re.compile(
    r"[，,]?\s*(?:这[两二三四五几](?:件事|个事件|者)?[，,]?)?(?:请问)?(?:是否|是不是|有没有)?都?是?(?:在|发生在)?同一.*$"
    r"|[，,]?\s*(?:这[两二三四五几](?:件事|个事件|者)?[，,]?)?(?:是)?[哪谁].*$"
    r"|^(?:did|do|does|were|was|are|is)\s+|\s+(?:happen|fall|take place|occur|start|begin)\w*\s+(?:in|on|at)\s+the same\b.*$"
    r"|\s+(?:in|on|at)\s+the same\b.*$",
    re.IGNORECASE,
)
"""What is left of such a question without its events."""
_AND = re.compile(r"、|以及|还是|和|与|，|；|,\s|;\s|\s+and\s+|\s+or\s+", re.IGNORECASE)


def split_questions(text: str) -> list[str]:
    """The questions of a text that asks several; the whole text when it asks one.

    A statement is the context of the question that follows it ("I ran X and nothing happened. Why?") and stays with it;
    what follows the last question stays with that. A question that sets events side by side is followed by its events.
    """
    ends = [found.end() for found in _ASKED.finditer(text)]
    parts = [text[start:end].strip() for start, end in pairwise([0, *ends[:-1], len(text)])]
    asked = [part for part in parts if any(map(str.isalnum, part))]
    return asked if len(asked) >= 2 else [text, *_events(text)]


def echoes(memory: str, question: str) -> bool:
    """Whether a memory only asks, in the words of the question: an agent remembers what it is asked, too."""
    return memory.rstrip()[-1:] in ("?", "？") and set(main_ids(memory)) <= set(main_ids(question))


def _events(question: str) -> list[str]:
    """The events a question sets side by side; none when it does something else."""
    if not _SIDE_BY_SIDE.search(question):
        return []
    named = _REST.sub("", question.strip(" ?？。"))
    events = [part.strip(" ?？。：:") for part in _AND.split(named)]
    events = [part for part in events if _NAMED.search(part) and not _SIDE_BY_SIDE.search(part)]
    return events if 2 <= len(events) <= MOST_EVENTS else []
