"""What a text asks for."""

import pytest

from hindsight_core.recall.asked import echoes, split_questions


@pytest.mark.parametrize(
    ("question", "events"),
    [
        ("Did the audit and the office move fall in the same month?", ["the audit", "the office move"]),
        ("Are the fair and the wedding on the same day?", ["the fair", "the wedding"]),
        (
            "Which happened first, the trip to Oslo or the driving exam?",
            ["the trip to Oslo", "the driving exam"],
        ),
        ("搬家和驾照考试哪个更早？", ["搬家", "驾照考试"]),
        ("公司年会、体检和搬家是否发生在同一个月？", ["公司年会", "体检", "搬家"]),
        ("小林升职与公司上市是不是在同一年发生？", ["小林升职", "公司上市"]),
        ("张伟和李娜谁先入职？", ["张伟", "李娜"]),
    ],
)
def test_events_set_side_by_side_are_looked_for_one_by_one_too(question, events):
    assert split_questions(question) == [question, *events]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Who leads the team?",
        "What is the difference between Redis and Kafka?",
        "Which of my hobbies did I mention last?",
        "Did the ferry leave on time, and where was Ana?",
        "Redis 和 Kafka 有什么区别？",
        "他最早什么时候提到搬家的？",
        "We met on the same day",
        "I moved the config and restarted. Why did nothing happen?",
        "a、b、c、d、e、f 哪个更早？",
    ],
)
def test_what_asks_for_one_thing_stays_whole(text):
    assert split_questions(text) == [text]


def test_several_questions_are_asked_one_by_one():
    assert split_questions("Where is the key? And who has the badge?") == [
        "Where is the key?",
        "And who has the badge?",
    ]
    assert split_questions("钥匙在哪？门禁卡在谁那里？") == ["钥匙在哪？", "门禁卡在谁那里？"]


@pytest.mark.parametrize(
    "parts",
    [
        ["The pump hums. Who mends it?", "And what did the last one cost?"],
        ["Where is the key?", "The badge is gone. Who had it last? Thanks."],
        ["Who uses ida.b@mill.example.org?", "Is release 4.2 out?"],
        ["What is behind https://mill.example.org/find?page=2 now?", "Who wrote it?"],
        ["主题是“河边读诗。带上茶。”的聚会在哪里？", "另外，邮箱是 ida@mill.example.org 的人叫什么？"],
        ["水泵在响。谁来修？", "上次花了多少？谢谢。"],
    ],
)
def test_a_statement_stays_with_the_question_it_leads_to(parts):
    assert split_questions(" ".join(parts)) == parts


@pytest.mark.parametrize(
    ("memory", "question", "echo"),
    [
        ("Which city do I live in?", "which city do I live in", True),
        ("我住在哪个城市？", "我住在哪个城市", True),
        ("And why?", "Which port does the gateway use?", True),  # no topic of its own
        ("We deploy on Thursday.", "Do we deploy on Thursday?", False),
        ("Do we deploy on Thursday or on Friday?", "Do we deploy on Thursday?", False),
        ("网关端口是 7150 吗？", "网关端口是多少？", False),
    ],
)
def test_what_only_asks_in_the_words_of_the_question_is_an_echo(memory, question, echo):
    assert echoes(memory, question) is echo
