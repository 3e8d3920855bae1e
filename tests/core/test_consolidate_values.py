"""Values: one form whatever the wording, in both languages."""

import re

import pytest

from hindsight_core.consolidate.patterns import VALUE
from hindsight_core.consolidate.values import Value, comparable, read_value, same_amount

PATTERN = re.compile(VALUE)


def values(text):
    found = (read_value(match.lastgroup, match[0]) for match in PATTERN.finditer(text))
    return [value for value in found if value is not None]


@pytest.mark.parametrize(
    ("text", "kind", "amount"),
    [
        ("two weeks", "span", 1209600),
        ("14 days", "span", 1209600),
        ("十四天", "span", 1209600),
        ("30s", "span", 30),
        ("45 seconds", "span", 45),
        ("half an hour", "span", 1800),
        ("90分钟", "span", 5400),
        ("half past nine", "clock", 570),
        ("9:30", "clock", 570),
        ("九点半", "clock", 570),
        ("quarter to ten", "clock", 585),
        ("7 pm", "clock", 1140),
        ("晚上七点", "clock", 1140),
        ("7 May", "date", "*-5-7"),
        ("May 7th", "date", "*-5-7"),
        ("5月7日", "date", "*-5-7"),
        ("五月七号", "date", "*-5-7"),
        ("2031-05-07", "date", "2031-5-7"),
        ("until March", "date", "*-3-*"),
        ("Thursday", "weekday", 4),
        ("周四", "weekday", 4),
        ("1991年", "year", 1991),
        ("$450", "money", 450),
        ("450 dollars", "money", 450),
        ("150万", "count", 1500000),
        ("1,020", "count", 1020),
        ("-5", "count", -5),
        ("twelve", "count", 12),
        ("twenty-three", "count", 23),
        ("百分之三十", "count", 30),
        ("12%", "count", 12),
        ("三楼", "count", 3),
        ("二十三个", "count", 23),
        ("一千二百个", "count", 1200),
        ("third", "ordinal", 3),
        ("第三", "ordinal", 3),
        ("v2.3", "version", 2.3),
        ("10.4.1", "version", "10.4.1"),
        ("LX-207", "code", "207"),
        ("every week", "rate", 604800),
        ("每周", "rate", 604800),
        ("once a week", "count", 1),
        ("desk@corvid.example", "address", "desk@corvid.example"),
    ],
)
def test_a_value_is_read_whatever_its_wording(text, kind, amount):
    assert values(text)[0][::2] == (kind, amount)


@pytest.mark.parametrize("text", ["一个", "有一点累", "一只猫", "Marlin", "may I", "周末", "一起", "port"])
def test_articles_and_false_friends_are_no_values(text):
    assert values(text) == []


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (Value("span", "", 30), Value("span", "", 60), True),
        (Value("span", "", 30), Value("clock", "", 60), False),
        (Value("count", "book", 3), Value("count", "book", 4), True),
        (Value("count", "book", 3), Value("count", "shelf", 4), False),
        (Value("count", "", 940), Value("money", "$", 1020), True),
        (Value("count", "book", 9), Value("money", "$", 10), False),
        (Value("money", "$", 9), Value("money", "€", 9), False),
        (Value("count", "", 2.3), Value("version", "", "2.3.1"), True),
        (Value("code", "b", "2"), Value("code", "b", "3"), True),
        (Value("code", "b", "2"), Value("code", "lx", "3"), False),
    ],
)
def test_only_values_of_one_slot_are_comparable(one, other, expected):
    assert comparable(one, other) is comparable(other, one) is expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("*-5-7", "2031-5-7", True),
        ("2030-5-7", "2031-5-7", False),
        ("*-5-7", "*-5-8", False),
        ("*-5-*", "*-5-8", True),
    ],
)
def test_what_a_date_leaves_open_agrees_with_anything(one, other, expected):
    assert same_amount(Value("date", "", one), Value("date", "", other)) is expected
