"""The one window a question asks for, and none when it asks for no time."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from hindsight_core.text.times import window_of

ZONE = ZoneInfo("Europe/Berlin")
NOW = datetime(2024, 5, 15, 10, 0, tzinfo=ZONE)  # a Wednesday


def at(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=ZONE)


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("What did I say last week about the trip?", "2024-05-06", "2024-05-13"),
        ("What happened between May 1 and May 3?", "2024-05-01", "2024-05-04"),
        ("Which books did I read since March?", "2024-03-01", None),
        ("Where did Ana live before 2020?", None, "2020-01-01"),
        ("What changed after May 3?", "2024-05-04", None),
        ("上周我提到的设置是什么？", "2024-05-06", "2024-05-13"),
        ("从去年到今年三月我去过哪里？", "2023-01-01", "2024-04-01"),
        ("国庆以来我买了什么？", "2023-10-01", None),
        ("2020年之前我住在哪？", None, "2020-01-01"),
        ("去年以后呢？", "2024-01-01", None),
        ("我last week说过什么？", "2024-05-06", "2024-05-13"),
        # Members of a list: their hull.
        ("What happened on May 3 and May 5?", "2024-05-03", "2024-05-06"),
        ("2022年12月30日和2023年9月2日分别有什么事？", "2022-12-30", "2023-09-03"),
        ("In March, April or May?", "2024-03-01", "2024-06-01"),
        # Two half-open ones: what they share.
        ("after May 3 and before May 10", "2024-05-04", "2024-05-10"),
        # A finer time inside of a coarser one.
        ("In 2022, what did we do for the garden in March?", "2022-03-01", "2022-04-01"),
        # Otherwise the first.
        ("What did I say yesterday about my plan for 2026?", "2024-05-14", "2024-05-15"),
        # A part of a day that is fixed by a day.
        ("What did we eat yesterday evening?", "2024-05-14 17:00", "2024-05-14 22:00"),
    ],
)
def test_a_question_asks_for_a_window(question: str, start: str | None, end: str | None) -> None:
    window = window_of(question, NOW)
    assert window is not None
    assert (window.start, window.end) == (at(start), at(end))
    assert question[slice(*window.position)] == window.text


@pytest.mark.parametrize(
    "question",
    [
        "What is my favourite colour?",
        "When did we move?",
        "How long did it take?",
        "What do I drink in the morning?",
        "早上我喜欢喝什么？",  # a habit
        "晚上一般几点睡？",
        "我什么时候搬的家？",
        "是同一个月发生的吗？",
        "",
    ],
)
def test_a_question_about_anything_else_asks_for_none(question: str) -> None:
    assert window_of(question, NOW) is None
