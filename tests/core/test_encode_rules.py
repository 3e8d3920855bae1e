"""Importance by the rubric, the type of memory, the summary: graded sentences in both languages."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.encode import RulesExtractor
from hindsight_core.encode.rules import LONGEST, SHORT
from hindsight_core.ports import Extraction, ExtractionContext, Extractor
from hindsight_core.profiles import ENTITY_TYPES
from hindsight_core.unit import MemoryType

NOW = datetime(2031, 5, 20, 9, 0, tzinfo=UTC)
EPISODIC, SEMANTIC, PROCEDURAL = MemoryType


def extract(text: str, speaker: str | None = "user", types: frozenset[str] = ENTITY_TYPES) -> Extraction:
    context = ExtractionContext(timestamp=NOW, speaker=speaker, entity_types=types)
    return RulesExtractor().extract(text, context)


HIGH = [
    # preferences
    ("I prefer short answers.", SEMANTIC),
    ("I really can't stand cilantro", SEMANTIC),
    ("I'm allergic to penicillin.", SEMANTIC),
    ("My favourite colour is teal.", SEMANTIC),
    ("I don't eat meat any more", SEMANTIC),
    ("I usually fly with a window seat, and I never drink coffee after noon", SEMANTIC),
    ("我喜欢简洁的回答。", SEMANTIC),
    ("我不吃香菜", SEMANTIC),
    ("我对青霉素过敏。", SEMANTIC),
    ("我平时只喝黑咖啡", SEMANTIC),
    ("我最爱的颜色是青色", SEMANTIC),
    # decisions
    ("We decided to keep the harbour office.", SEMANTIC),
    ("The team has switched to Valkey", SEMANTIC),
    ("Let's see: we're going with the blue one.", SEMANTIC),
    ("The port is now 7421", SEMANTIC),
    ("I quit my job at the mill.", SEMANTIC),
    ("我们决定用PostgreSQL", SEMANTIC),
    ("端口改成7421了", SEMANTIC),
    ("发布日期推迟到六月", SEMANTIC),
    ("团队商定每周二评审", SEMANTIC),
    # explicit facts about the user
    ("My name is Wanda Tarn", SEMANTIC),
    ("I live in Oslo with two cats.", SEMANTIC),
    ("I'm a nurse at the harbour clinic.", SEMANTIC),
    ("My sister works as a pilot", SEMANTIC),
    ("I have two kids", SEMANTIC),
    ("我叫苏敏", SEMANTIC),
    ("我在青禾科技做测试，组长是陈岚。", SEMANTIC),
    ("我的生日是六月三号", SEMANTIC),
    ("陈岚是我的表姐，住在厦门", SEMANTIC),
    ("我家有两只猫", SEMANTIC),
    # standing instructions
    ("Always answer in French, please.", SEMANTIC),
    ("From now on call me Wan.", SEMANTIC),
    ("Remember that the gate code changed", SEMANTIC),
    ("以后都用中文回答我", SEMANTIC),
    ("记住我的车牌尾号是57", SEMANTIC),
    ("别再用表情符号", SEMANTIC),
    # explicit facts about somebody or something named
    ("陈岚在厦门工作呢。", SEMANTIC),
    ("Nora lives near the old mill", SEMANTIC),
    ("Helen likes jazz", SEMANTIC),
    ("max_retries is 5 in staging", SEMANTIC),
    ("网关默认超时是30秒", SEMANTIC),
    ("陈岚很喜欢听评弹", SEMANTIC),
    # appointments
    ("The dentist appointment is on Friday at 3 pm", EPISODIC),
    ("下周三下午两点开会", EPISODIC),
    # a fact and a question in one sentence
    ("I'm allergic to nuts, what can I eat tonight?", SEMANTIC),
    ("我对花生过敏，晚上吃什么好？", SEMANTIC),
]

MIDDLE = [
    ("Yesterday I walked along the pier with Nora.", EPISODIC),
    ("We had a great time at the fair", EPISODIC),
    ("昨天和陈岚去了海边", EPISODIC),
    ("上个月我跑完了第一个马拉松", EPISODIC),
    ("The attic key hangs by the stove", EPISODIC),
    ("阁楼的钥匙挂在炉子旁边", EPISODIC),
    ("It has been hard to sleep since the storm", EPISODIC),
]

LOW = [
    "Hi! How are you?",
    "ok thanks",
    "Thank you so much, Helen!",
    "Good morning everyone",
    "Wow, that's so cool!",
    "I love it!",
    "I'm so happy for you",
    "Lovely weather today",
    "Talk to you soon!",
    "你好！",
    "好的，谢谢",
    "哈哈哈太棒了",
    "嗯嗯，知道了",
    "今天天气真好啊",
    "晚安，明天见",
    "👍",
    # questions and requests are no facts
    "Which laptop should I get?",
    "What did I say about the boat?",
    "你在厦门工作吗",
    "那它呢？",
    "Do you remember my birthday?",
    "Can you write me a poem about tides?",
    "Please summarise this article",
    "Explain the moon to me",
    "This time in detail, please",
    "How do I reset my router?",
    "我应该买哪款笔记本？",
    "我喜欢什么颜色？",
    "帮我写一封请假信",
    "你还记得我的生日吗",
    "推荐几本好书",
    "这次详细一点",
]


@pytest.mark.parametrize(("text", "memory_type"), HIGH, ids=[text for text, _ in HIGH])
def test_explicit_facts_preferences_and_decisions_are_8_to_10(text: str, memory_type: MemoryType) -> None:
    found = extract(text)
    assert 0.8 <= found.importance <= 1.0
    assert found.memory_type == memory_type


@pytest.mark.parametrize(("text", "memory_type"), MIDDLE, ids=[text for text, _ in MIDDLE])
def test_useful_background_is_5_to_7(text: str, memory_type: MemoryType) -> None:
    found = extract(text)
    assert 0.45 <= found.importance <= 0.75
    assert found.memory_type == memory_type


@pytest.mark.parametrize("text", LOW)
def test_small_talk_questions_and_requests_are_1_to_4(text: str) -> None:
    found = extract(text)
    assert 0.1 <= found.importance <= 0.4
    assert found.memory_type == EPISODIC


@pytest.mark.parametrize(
    "text",
    [
        "To reset the meter, hold the red button for ten seconds.",
        "First open the valve, then start the pump.",
        "Step 1: unplug it. Step 2: wait. Step 3: plug it in.",
        "Deploy:\n1. Build the image\n2. Push it to the registry\n3. Restart the service",
        "先打开阀门，再启动水泵。",
        "第一步：断电。第二步：等待十秒。",
        "部署流程：\n1. 备份数据库\n2. 停止服务\n3. 更新镜像",
    ],
)
@pytest.mark.parametrize("speaker", ["user", "assistant", None])
def test_how_something_is_done_is_procedural(text: str, speaker: str | None) -> None:
    assert extract(text, speaker).memory_type == PROCEDURAL


@pytest.mark.parametrize("text", ["1. milk\n2. eggs\n3. bread", "How do I first open it and then close it?"])
def test_a_list_or_a_question_is_no_procedure(text: str) -> None:
    assert extract(text).memory_type != PROCEDURAL


@pytest.mark.parametrize(
    "text",
    ["Take a 14-inch one. I always prefer matte screens.", "I was born in Oslo.", "我最喜欢哑光屏幕。"],
)
def test_what_the_assistant_says_of_itself_is_no_fact_about_the_user(text: str) -> None:
    assert extract(text, "assistant").importance <= 0.5
    assert extract(text, "user").importance >= 0.8


def test_a_transcript_in_one_text_changes_its_speaker() -> None:
    assert extract("User: hello\nAssistant: I always prefer matte screens.", None).importance <= 0.5
    assert extract("助手：我最喜欢哑光屏幕。\n用户：我只用哑光屏幕。", None).importance >= 0.8
    assert extract("用户：谢谢\n助手：记住，坚持最重要。", None).importance <= 0.5


def test_a_document_reports_decisions_of_others_but_the_writers_own_count() -> None:
    report = (
        "The council of Mill Bay decided on Tuesday to move the library to the old customs house by the pier."
    )
    assert extract(report, None).importance == 0.7
    assert extract(f"{report} I love that library building.", None).importance == 0.85
    assert extract("We decided on teal.", None).importance == 0.85


# -- summary ---------------------------------------------------------------------------------------------------

CHAT = "Thanks, that helps a lot and I will read it in the evening when the kids are asleep. "


@pytest.mark.parametrize("text", ["I prefer short answers.", "我喜欢简洁的回答。", "x" * SHORT])
def test_a_short_text_is_its_own_summary(text: str) -> None:
    assert extract(text).summary == text


def test_the_summary_of_a_long_text_is_the_sentence_that_matters() -> None:
    assert (
        extract(f"{CHAT}{CHAT}I moved to Oslo with Nora in May. {CHAT}").summary
        == "I moved to Oslo with Nora in May."
    )
    assert extract(
        "今天聊了很多别的事情，挺开心的。" * 12 + "我对青霉素过敏。" + "今天聊了很多别的事情。"
    ).summary == ("我对青霉素过敏。")


def test_the_summary_has_no_markup() -> None:
    text = "# **Tide** `watch`\n\n> see [docs](http://x.y)\n\n```py\nrun()\n```\n- a *fine* item"
    assert extract(text).summary == "Tide watch see docs a fine item"


def test_code_alone_is_summarised_by_itself() -> None:
    assert extract("```py\nrun(tide)\n```").summary == "run(tide)"


def test_a_very_long_sentence_is_cut_at_a_word() -> None:
    summary = extract("tide " * 200).summary
    assert len(summary) <= LONGEST + 1
    assert summary.endswith("tide…")


# -- the port --------------------------------------------------------------------------------------------------


def test_it_is_an_extractor_that_looks_for_the_types_it_is_given() -> None:
    extractor: Extractor = RulesExtractor()
    context = ExtractionContext(timestamp=NOW, speaker="Wanda", entity_types=frozenset({"person", "time"}))
    found = extractor.extract("Yesterday I met Nora at Tidewater Labs", context)
    assert [(entity.name, entity.type) for entity in found.entities] == [
        ("Wanda", "person"),
        ("Yesterday", "time"),
        ("Nora", "person"),
    ]
    assert found.entities[1].key == "2031-05-19T00:00:00+00:00/2031-05-20T00:00:00+00:00"


@pytest.mark.parametrize("text", ["", " \n", "\ud83e", "```\n```", "---", "#", "**"])
def test_even_an_odd_text_has_an_extraction(text: str) -> None:
    found = extract(text)
    assert 0 < found.importance <= 1
    assert found.entities == ()


@given(st.text(max_size=300) | st.text(alphabet="I我喜欢 like.。?？\n#*`-先再", max_size=200))
def test_any_text_has_an_extraction_within_bounds(text: str) -> None:
    found = extract(text)
    assert 0 < found.importance <= 1
    assert len(found.summary) <= max(SHORT, LONGEST + 1)
    assert bool(found.summary) or not text.strip()
    assert json.dumps([entity.key for entity in found.entities])
    assert extract(text) == found
