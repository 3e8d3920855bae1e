"""Of two long turns that give a value, the later stands first: for the question that asks for it, and for no other."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hindsight_core.consolidate import asked_value
from hindsight_core.engine.overtaken import latest_value_first, looked_through
from hindsight_core.recall.hits import Hit

PORT_THEN = "plover listens on port 6150 and its idle timeout is 30 seconds, both are in plover.toml."
PORT_NOW = "We had to move plover: the port is 6160 now instead of 6150, the old one was taken."
SEEDS_THEN = "I have 40 packets in my seed library, sorted by month, which saves me a lot of time."
SEEDS_NOW = "I just reached 55 packets in the seed library, how should I store them?"
BUDGET_THEN = "The grant leaves us a yearly travel budget of $900, can you suggest a conference?"
BUDGET_NOW = "Good news, the travel budget was increased to $1,200 and I want to see Lisbon."
DUE_THEN = "I'm worried about my May 4 deadline for the peer review of the thesis, there is so much to read."
DUE_NOW = "The new deadline for the peer review is May 11, so I can breathe."
PORT_ZH_THEN = "鸻鸟服务的监听端口是6150，空闲超时30秒，两个都写在配置里。"
PORT_ZH_NOW = "鸻鸟服务搬到新机器了，监听端口现在是6160，老的被占了。"
WORDS_ZH_THEN = "小说的草稿写到四万字了，分了十二章，主线还没收。"
WORDS_ZH_NOW = "这周手感好，小说的草稿已经到五万字，差不多该收主线了。"
MIXED_THEN = "staging 的 worker 并发是 8，日志保留七天。"
MIXED_NOW = "压测之后 staging 的 worker 并发改成 16 了，别的没动。"


@pytest.mark.parametrize(
    ("question", "earlier", "later"),
    [
        ("Which port does plover listen on?", PORT_THEN, PORT_NOW),
        ("How many packets are in my seed library?", SEEDS_THEN, SEEDS_NOW),
        ("What is our yearly travel budget?", BUDGET_THEN, BUDGET_NOW),
        ("What deadline do I have for the peer review?", DUE_THEN, DUE_NOW),
        ("鸻鸟服务的监听端口是多少？", PORT_ZH_THEN, PORT_ZH_NOW),
        ("小说草稿写了多少字？", WORDS_ZH_THEN, WORDS_ZH_NOW),
        ("staging 的 worker 并发是多少？", MIXED_THEN, MIXED_NOW),
    ],
)
def test_a_later_value_told_as_a_change_overtakes(question, earlier, later):
    asked = asked_value(question)
    assert asked is not None
    assert asked.given(later).overtakes(asked.given(earlier))
    assert not asked.given(earlier).overtakes(asked.given(later))


@pytest.mark.parametrize(
    ("question", "earlier", "later"),
    [
        # the other value of the same turn is asked for
        ("What is the idle timeout of plover in seconds?", PORT_THEN, PORT_NOW),
        # two of a kind, and nobody says that anything changed
        (
            "How many people join the pottery fair?",
            "60 people join the pottery fair.",
            "80 people join the book fair.",
        ),
        ("陶艺展有多少人参加？", "陶艺展有六十人参加。", "读书会有八十人参加。"),
        # another thing by the same word
        ("Which port does plover listen on?", PORT_THEN, "Our wader service moved, its port is 7200 now."),
        # the same value again
        (
            "How many packets are in my seed library?",
            SEEDS_THEN,
            "My seed library has 40 packets now, I counted them again.",
        ),
        # what is counted is not what is asked
        (
            "How many packets are in my seed library?",
            SEEDS_THEN,
            "I now spend 3 hours a week in my seed library.",
        ),
        ("What deadline do I have for the peer review?", DUE_THEN, "The peer review now has 3 readers."),
    ],
)
def test_another_thing_or_no_sign_of_change_overtakes_nothing(question, earlier, later):
    asked = asked_value(question)
    assert asked is not None
    assert not asked.given(later).overtakes(asked.given(earlier))


@pytest.mark.parametrize(
    "question",
    [
        "Where does Ilka live?",
        "How many packets did I have before the fair?",
        "How many days are between the audit and the move?",
        "How many packets have I sown in total?",
        "What was the first port of plover?",
        "How many?",
        "",
        "鸻鸟服务原来的端口是多少？",
        "两次审计之间隔了几天？",
        "一共写了多少字？",
    ],
)
def test_what_once_was_or_lies_between_or_adds_up_is_no_present_value(question):
    assert asked_value(question) is None


@pytest.fixture
def hits(memory):
    """Hits in the order given: (text, speaker, day, score)."""

    def of(*told):
        found = []
        for number, (text, speaker, day, score) in enumerate(told):
            (unit,) = memory.remember(text, id=f"m{number}", speaker=speaker, consolidate=False)
            when = datetime(2031, 1, 1, tzinfo=UTC) + timedelta(days=day) if day is not None else None
            found.append(Hit(unit=replace(unit, timestamp=when), score=score, relevance=0.5, signals={}))
        return found

    return of


def ids(hits):
    return [hit.unit.id for hit in latest_value_first("Which port does plover listen on?", hits)]


def test_it_is_put_directly_above_with_the_same_score(hits):
    found = hits(
        ("plover is a small service", "Ann", 0, 0.95),
        (PORT_THEN, "Ann", 1, 0.9),
        ("I like plovers", "Ann", 2, 0.8),
        (PORT_NOW, "Ann", 9, 0.7),
    )
    assert ids(found) == ["m0", "m3", "m1", "m2"]
    moved = latest_value_first("Which port does plover listen on?", found)
    assert [hit.score for hit in moved] == [0.95, 0.9, 0.9, 0.8]
    assert latest_value_first("Who wrote plover?", found) == found


@pytest.mark.parametrize(
    ("earlier", "later", "moves"),
    [
        (("Ann", 1, 0.9), ("Ann", 9, 0.7), True),
        (("Ann", 1, 0.9), ("Ann", 9, 0.5), False),  # far behind
        (("Ann", 9, 0.9), ("Ann", 1, 0.7), False),  # told before
        (("Ann", 1, 0.9), ("Ben", 9, 0.7), False),  # somebody else's
        (("assistant", 1, 0.9), ("Ann", 9, 0.7), True),  # what an assistant repeated
        (("Ann", 1, 0.9), ("assistant", 9, 0.7), False),
        ((None, 1, 0.9), (None, 9, 0.7), False),  # documents
        (("Ann", None, 0.9), ("Ann", None, 0.7), True),  # in the order of arrival
        (("Ann", None, 0.9), ("Ann", 9, 0.7), False),
    ],
)
def test_only_what_the_same_person_says_later_and_nearly_as_fitting(hits, earlier, later, moves):
    found = hits((PORT_THEN, *earlier), (PORT_NOW, *later))
    assert ids(found) == (["m1", "m0"] if moves else ["m0", "m1"])


def test_the_later_value_is_found_although_it_lies_just_beyond_what_was_asked_for(memory):
    memory.remember_many(
        [
            {
                "text": PORT_THEN,
                "id": "then",
                "speaker": "Ann",
                "timestamp": datetime(2031, 1, 1, tzinfo=UTC),
            },
            {"text": PORT_NOW, "id": "now", "speaker": "Ann", "timestamp": datetime(2031, 3, 1, tzinfo=UTC)},
        ],
        progress=False,
    )
    question = "Which port does plover listen on?"
    assert [hit.unit.id for hit in memory.recall(question, k=2)] == ["now", "then"]
    assert [hit.unit.id for hit in memory.recall(question, k=1)] == ["now"]
    assert looked_through("Who wrote plover?", 3) == 3


@pytest.mark.parametrize(
    ("question", "earlier", "later", "moves"),
    [
        (
            "How many racks does the Tarvik hall have?",
            "The Tarvik hall has 12 racks, all of them full, it took ages.",
            "The Ostrava hall now has 40 racks, all of them full, it took ages.",
            False,
        ),
        (
            "What is Mira's desk number on the upper floor?",
            "Mira's desk number is 12 on the upper floor, next to the window.",
            "Tom's desk number is now 40 on the upper floor, next to the door.",
            False,
        ),
        ("我女儿安娜几岁了？", "我女儿安娜7岁，周末下棋。", "我儿子小本现在9岁了，也在周末下棋。", False),
        (
            "How many racks does the Tarvik hall have?",
            "The Tarvik hall has 12 racks, all of them full, it took ages.",
            "Ostrava sent more, the Tarvik hall now has 40 racks.",
            True,
        ),
        ("我女儿安娜几岁了？", "我女儿安娜7岁，周末下棋。", "我女儿安娜现在8岁了，开始学琴。", True),
        (
            "What is the yearly travel budget that Mira and I have?",  # a date is no other one
            "Mira and I agreed to a yearly travel budget of $900, can you suggest a conference?",
            "The yearly travel budget was increased to $1,200 starting May 4, I want to see something new.",
            True,
        ),
        (
            "What is the desk number of Ann on the upper floor?",  # who says it need not be named in it
            "My desk number on the upper floor is 12, next to the window.",
            "My desk number on the upper floor is now 40, with a view of Ostrava.",
            True,
        ),
    ],
)
def test_the_value_of_another_one_is_not_put_above_that_of_what_is_named(
    hits, question, earlier, later, moves
):
    found = hits((earlier, "Ann", 1, 0.9), (later, "Ann", 9, 0.8))
    assert [hit.unit.id for hit in latest_value_first(question, found)] == (
        ["m1", "m0"] if moves else ["m0", "m1"]
    )
