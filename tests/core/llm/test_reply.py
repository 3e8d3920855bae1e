"""Reading a model's answer: JSON somewhere in text."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.errors import AnswerUnusable
from hindsight_core.llm.reply import read_json

ITEMS = {
    "items": [{"id": 1, "summary": 'Mira likes {braces} and "quotes".'}, {"id": 2, "summary": "喜欢茶。"}]
}
PLAIN = json.dumps(ITEMS, ensure_ascii=False)


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        f"```json\n{PLAIN}\n```",
        f"```\n{PLAIN}\n```",
        f"Here is the JSON [as asked]:\n```json\n{PLAIN}\n```\nAnything else?",
        f"Sure! {PLAIN} Hope this helps {{smile}}.",
        f'<think>The user speaks about {{"items": [9]}} a cat.</think>{PLAIN}',
        f"<think>\nfirst\n</think>\n\n```json\n{PLAIN}```",
        f"reasoning without a beginning [1, 2]</think>{PLAIN}",
        f"<Thinking>hm</Thinking>{PLAIN}",
        json.dumps(ITEMS, indent=2),
        PLAIN.replace("}]}", "},],}"),
        f"\ufeff{PLAIN}",
        f"好的，结果如下：\n{PLAIN}",
    ],
)
def test_the_value_is_found_whatever_stands_around_it(text):
    assert read_json(text) == (ITEMS, False)


@pytest.mark.parametrize("text", ["[]", "```json\n[]\n```", "Nothing to say.\n```json\n[]\n```"])
def test_an_empty_list_is_a_value(text):
    assert read_json(text) == ([], False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "I cannot do that.",
        "0" * 5000,
        '<think>{"items": []}',
        "{",
        "[" * 100_000,
        "```json\n```",
        '{"items": "',
    ],
)
def test_where_there_is_none_it_is_said(text):
    with pytest.raises(AnswerUnusable):
        read_json(text)


@pytest.mark.parametrize("before", ["", "```json\n", "<think>hm</think>", "Here you are: "])
@pytest.mark.parametrize("listed", [False, True])
def test_of_an_answer_that_stops_the_complete_items_are_kept(before, listed):
    items = [{"id": i, "summary": f"s{i}", "entities": [{"name": "x", "type": "y"}]} for i in (1, 2, 3)]
    whole = json.dumps(items if listed else {"items": items})
    for cut in (whole.index('"s3') + 2, whole.rindex('"y"}') + 4, whole.rindex('"y"}]') + 5):
        value, truncated = read_json(before + whole[:cut])
        assert truncated
        assert value == (items[:2] if listed else {"items": items[:2]})


def test_a_quoted_thought_in_a_memory_is_no_thought():
    items = {"items": [{"summary": "The tag <think> opens and </think> closes."}]}
    assert read_json(json.dumps(items)).value == items


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda v: st.lists(v) | st.dictionaries(st.text(), v),
    ).filter(lambda v: isinstance(v, list | dict))
)
def test_any_object_or_list_comes_back(value):
    assert read_json(f"```json\n{json.dumps(value)}\n```").value == value or "```" in json.dumps(value)
    assert read_json(json.dumps(value)) == (value, False)


@given(st.text(alphabet='{}[]",:\\`<think>/ a1'))
def test_no_answer_whatever_brings_it_down(text):
    with suppress(AnswerUnusable):
        read_json(text)
