"""What a text is about: names of people, places, organisations, systems, and technical names, in both languages."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.profiles import ENTITY_TYPES
from hindsight_core.text.entities import MOST, find_entities
from hindsight_core.text.keys import normalise_key

NOW = datetime(2026, 3, 1, 9, tzinfo=timezone(timedelta(hours=8)))


def found(text: str, *, types: frozenset[str] = ENTITY_TYPES, speaker: str | None = None) -> set[str]:
    entities = find_entities(text, types=types, now=None, speaker=speaker)
    return {f"{entity.type}:{entity.name}" for entity in entities if entity.type != "time"}


NAMES = [
    # English: a capital inside a sentence counts, one at its start does not
    ("I met Marlowe and Priya at the harbour.", {"system:Marlowe", "person:Priya"}),
    ("Thanks, Helen! That means a lot.", {"person:Helen"}),
    ("Hey Oscar, how was it?", {"person:Oscar"}),
    ("Awesome! Glad you liked it. Looking forward to more.", set()),
    ("Running is fun. Dinner was late. Everything is fine.", set()),
    ("Kestrel is our scheduler. We moved to Kestrel in spring.", {"system:Kestrel"}),
    ("Deploy Redis on Friday", {"system:Redis"}),
    ("Dr. Weber and Mrs. Lund agreed.", {"system:Weber", "system:Lund"}),
    ("The poems of Robert A. Hale", {"person:Robert A. Hale"}),
    ("J.K. Farrow wrote to George R.R. Marsh", {"system:J.K. Farrow", "person:George R.R. Marsh"}),
    (
        "Nora's brother studies at the University of Tromso.",
        {"person:Nora", "organisation:University of Tromso"},
    ),
    (
        "We flew from New York to the United States of Examplia",
        {"place:New York", "system:United States of Examplia"},
    ),
    ("She lives in South Korea, near Mill Lane Park", {"place:South Korea", "place:Mill Lane Park"}),
    (
        "He joined Tidewater Labs and then Brightwell Inc.",
        {"organisation:Tidewater Labs", "organisation:Brightwell Inc"},
    ),
    ("On Monday in March we speak English", set()),
    ("I'm sure I've seen it, and I'll say so: OK?", set()),
    ("my sister called our landlord", {"person:sister", "person:landlord"}),
    ("his sister called the landlord", set()),
    ("I am reading “The Salt Cellar” again", {"title:The Salt Cellar"}),
    ('He said "Not found" and "I agree completely"', set()),
    ("PostgreSQL beats it. NATO agrees.", {"system:PostgreSQL", "system:NATO"}),
    # headings and bold type are written in capitals for another reason
    ("### Define Your Project Scope\nFirst, list it.", set()),
    ("1. **Reach Out**: write an email", set()),
    ("### Meeting With Helen\nShe came.", {"person:Helen"}),
    ("An Approach To Optimal Lattice Reduction Methods", set()),
    ("```\nclass Foo: Bar\n```\nthe rest", set()),
    # Chinese: a tag and a second sign
    ("我在青禾科技做测试，组长是苏敏。", {"organisation:青禾科技", "person:苏敏"}),
    ("陈晓雯和老李去找王工", {"person:陈晓雯", "person:老李", "person:王工"}),
    ("张老师说得对", {"person:张老师"}),
    ("欧阳锋是我表哥", {"person:欧阳锋", "person:表哥"}),
    ("我的室友在浙江杭州上班", {"person:室友", "place:浙江", "place:杭州"}),
    ("他去登山，心情很安静，高峰时间人太多", set()),
    ("下周一开会，谢谢大家", set()),
    ("我住的小区叫翠湖家园。", {"place:翠湖家园"}),
    ("我的猫叫团子，很乖", {"person:团子"}),
    ("老板叫小王去开会。", {"person:老板", "person:小王"}),
    ("这家公司很大，系统也很新", set()),
    ("单位叫南京云帆航空服务有限公司。", {"organisation:南京云帆航空服务有限公司"}),
    ("我要参加商业安全合作论坛", {"title:商业安全合作论坛"}),
    ("支付网关项目延期了", {"system:支付网关项目"}),
    ("正在看《雾中灯塔》", {"title:雾中灯塔"}),
    ("泽连科夫斯基的演讲", {"person:泽连科夫斯基"}),
    ("玛丽·霍尔特写的", {"person:玛丽·霍尔特"}),
    ("微信和飞书都能用", {"system:微信", "system:飞书"}),
    ("海滨公园很美", {"place:海滨公园"}),
    # mixed script
    ("把Redis换成Valkey", {"system:Redis", "system:Valkey"}),
    ("用 docker 部署到k8s上", {"system:docker", "system:k8s"}),
    ("身高164cm，体重50kg", set()),
    ("新买的SK-9支架配tripod云台很稳", {"identifier:SK-9", "system:tripod"}),
    ("苏敏 uses Grafana 看板", {"person:苏敏", "system:Grafana"}),
    # technical names, by their shape
    ("set max_retries to 5", {"config:max_retries"}),
    ("把max_retries改成5", {"config:max_retries"}),
    ("pass --dry-run or DRY_RUN=1", {"config:--dry-run", "config:DRY_RUN"}),
    ("spring.datasource.url points there", {"config:spring.datasource.url"}),
    ("call fetchTides twice", {"config:fetchTides"}),
    ("Gateway upgraded to v9.4.1.2", {"version:v9.4.1.2"}),
    ("升级到版本 2.3，之前是1.20.4", {"version:2.3", "version:1.20.4"}),
    ("It costs 3.50 and weighs 2.4 kg", set()),
    ("Python 3.11 only", {"version:3.11"}),
    ("see OPS-214 and #873", {"identifier:OPS-214", "identifier:#873"}),
    ("commit 9f3c2ab fixed it", {"identifier:9f3c2ab"}),
    ("write to ann.lee@example.org", {"identifier:ann.lee@example.org"}),
    ("我的电话是13800001111", {"identifier:13800001111"}),
    ("docs at https://docs.example.org/a?b=1.", {"path:https://docs.example.org/a?b=1"}),
    ("edit src/app/main.py and /etc/hosts.d/local", {"path:src/app/main.py", "path:/etc/hosts.d/local"}),
    ("look at config.yaml and .env", {"path:config.yaml", "path:.env"}),
    ("and/or, km/h, 24/7, e.g. this", set()),
    ("the `numpy` array and `true`", {"system:numpy"}),
    # nothing
    ("", set()),
    ("嗯嗯，好的！", set()),
    ("\ud83e \x00 ... 🎉", set()),
]


@pytest.mark.parametrize(("text", "expected"), NAMES, ids=[repr(text) for text, _ in NAMES])
def test_names_in_a_text(text: str, expected: set[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize("speaker", ["user", "Assistant", "助手", "用户", " SYSTEM ", "", None])
def test_a_role_is_no_person(speaker: str | None) -> None:
    assert found("fine weather", speaker=speaker) == set()


def test_the_speaker_comes_first_and_once() -> None:
    entities = find_entities("I'm Wanda, says wanda", types=ENTITY_TYPES, now=None, speaker="Wanda")
    assert [(entity.name, entity.type, entity.key) for entity in entities] == [("Wanda", "person", "wanda")]


def test_only_the_types_asked_for() -> None:
    text = "苏敏 uses Grafana 9.4.1 in Oslo, see OPS-214"
    assert found(text, types=frozenset({"place", "version"})) == {"place:Oslo", "version:9.4.1"}
    assert found(text, types=frozenset(), speaker="Wanda") == set()


def test_spellings_of_one_name_are_one_entity() -> None:
    entities = find_entities("用RQTB，再用ＲＱＴＢ，又用 rqtb 吧", types=ENTITY_TYPES, now=None, speaker=None)
    assert [(entity.name, entity.key) for entity in entities] == [("RQTB", "rqtb")]


def test_the_number_of_entities_is_bounded() -> None:
    text = " ".join(f"mod_{number:03}_x," for number in range(100))
    names = [entity.name for entity in find_entities(text, types=ENTITY_TYPES, now=None, speaker=None)]
    assert names == [f"mod_{number:03}_x" for number in range(MOST)]


@pytest.mark.parametrize(
    ("text", "now", "keys"),
    [
        ("We met yesterday", NOW, ["2026-02-28T00:00:00+08:00/2026-03-01T00:00:00+08:00"]),
        ("我们昨天见面了", NOW, ["2026-02-28T00:00:00+08:00/2026-03-01T00:00:00+08:00"]),
        ("since May 2025", NOW, ["2025-05-01T00:00:00+08:00/"]),
        ("2031年5月6日和昨天", None, ["2031-05-06T00:00:00+00:00/2031-05-07T00:00:00+00:00"]),
        ("We met yesterday", None, []),
    ],
)
def test_a_time_is_an_entity_whose_key_is_its_span(text: str, now: datetime | None, keys: list[str]) -> None:
    entities = find_entities(text, types=frozenset({"time"}), now=now, speaker=None)
    assert [entity.key for entity in entities] == keys


@given(st.text(max_size=200) | st.text(alphabet="Aa. \n-_#*`/1中李公司叫《》\ud83e", max_size=80))
def test_any_text_has_entities_of_its_own_words(text: str) -> None:
    entities = find_entities(text, types=ENTITY_TYPES, now=None, speaker=None)
    assert len({entity.key for entity in entities}) == len(entities) <= MOST
    for entity in entities:
        assert entity.name in text
        assert entity.key == normalise_key(entity.name) != "" or entity.type == "time"
        assert entity.type in ENTITY_TYPES
