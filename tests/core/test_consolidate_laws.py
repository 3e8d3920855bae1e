"""Laws that hold for any two texts, however they are worded."""

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from hindsight_core.consolidate import Verdict, decide, read_statement

timeless = settings(deadline=None)  # whichever law comes first compiles the patterns
NOW = datetime(2031, 5, 6, 9, 0, tzinfo=UTC)
WORDS = """
the port of Kestrel is 7420 / now 7421 ; from 3 to 5 ? no longer 不再 现在 改成 三楼 四楼 端口 是 我 喜欢 不 Osprey v2.3 $40 40% 7 May
5月7日 九点半 half past nine LX-207 a@b.example [x] ： 。 ， 一 一个 百分之三十 第三 每周 ² ٣ é
"""
FRAGMENTS = st.sampled_from([*WORDS.split(), "\n", "\0"])
TEXTS = (
    st.text(max_size=60)
    | st.lists(FRAGMENTS, max_size=14).map(" ".join)
    | st.lists(FRAGMENTS, max_size=14).map("".join)
)
SIMILARITIES = st.none() | st.floats(-0.5, 1.0)
SPEAKERS = st.sampled_from([None, "user", "Ann", "assistant"])
TIMES = st.none() | st.integers(-3, 3).map(lambda days: NOW + timedelta(days=days))


def verdict(new, old, similarity=1.0, **times):
    return decide(new, old, similarity=similarity, **({"new_time": None, "old_time": None} | times)).verdict


@timeless
@given(TEXTS, TEXTS, SPEAKERS, SPEAKERS, SIMILARITIES, TIMES, TIMES)
def test_any_two_texts_get_a_verdict_and_always_the_same(
    new, old, one, other, similarity, new_time, old_time
):
    first, again = (
        decide(
            read_statement(new, one),
            read_statement(old, other),
            similarity=similarity,
            new_time=new_time,
            old_time=old_time,
        )
        for _ in range(2)
    )
    assert first == again
    assert first.reason
    assert not first.earlier_wins or first.verdict is Verdict.EVOLVES or first.partly
    assert not first.partly or first.verdict is Verdict.RELATED


@timeless
@given(TEXTS, TEXTS, SPEAKERS, SPEAKERS, SIMILARITIES)
def test_being_the_same_is_symmetric(new, old, one, other, similarity):
    left, right = read_statement(new, one), read_statement(old, other)
    assert (verdict(left, right, similarity) is Verdict.SAME) == (
        verdict(right, left, similarity) is Verdict.SAME
    )


@timeless
@given(TEXTS, SPEAKERS, SIMILARITIES)
def test_a_text_is_the_same_as_itself(text, speaker, similarity):
    assert verdict(read_statement(text, speaker), read_statement(text, speaker), similarity) is Verdict.SAME


NUMBERED = st.sampled_from(
    [
        "The port of Kestrel is {}.",
        "{} people came to the tasting.",
        "Ship release {} to Osprey.",
        "I ran {} km along the river.",
        "Meet me at gate {}, please.",
        "The code is x-{}.",
        "版本{}已经发布。",
        "他住在{}号楼。",
        "一共来了{}个人。",
        "It is {} degrees in the cellar, bring the wine up.",
    ]
)


@timeless
@given(NUMBERED, st.integers(0, 10**6), st.integers(0, 10**6))
def test_what_differs_in_a_number_is_never_the_same(template, one, other):
    same = (
        verdict(read_statement(template.format(one), "user"), read_statement(template.format(other), "user"))
        is Verdict.SAME
    )
    assert same == (one == other)


HAN_NUMBERED = st.sampled_from(
    ["会议室在{}楼。", "一共来了{}个人。", "他在{}中上学。", "住{}单元。", "排第{}。", "买{}斤苹果。"]
)
HAN_NUMBERS = st.sampled_from([*"二三四五六七八九十", "十二", "二十", "二十三", "三十", "九十九"])


@timeless
@given(HAN_NUMBERED, HAN_NUMBERS, HAN_NUMBERS)
def test_what_differs_in_a_chinese_numeral_is_never_the_same(template, one, other):
    same = (
        verdict(read_statement(template.format(one), "user"), read_statement(template.format(other), "user"))
        is Verdict.SAME
    )
    assert same == (one == other)


@timeless
@given(
    st.sampled_from(["The port is {}.", "端口是{}。"]),
    st.integers(1, 9999),
    st.integers(1, 9999),
    TIMES,
    TIMES,
)
def test_only_the_later_of_two_supersedes(template, one, other, new_time, old_time):
    """The order of arrival decides where times are equal or both missing; a lone time decides nothing."""
    decision = decide(
        read_statement(template.format(one), None),
        read_statement(template.format(other), None),
        similarity=None,
        new_time=new_time,
        old_time=old_time,
    )
    if one == other:
        assert decision.verdict is Verdict.SAME
    elif (new_time is None) != (old_time is None):
        assert decision.verdict is Verdict.CONTRADICTS
    else:
        assert decision.verdict is Verdict.EVOLVES
        assert decision.earlier_wins == (new_time is not None and new_time < old_time)


@timeless
@given(st.text(min_size=2000, max_size=4000))
def test_a_monster_is_read_in_part_and_never_superseded(text):
    read = read_statement("The port is 7420. " + text, None)
    assert not read.whole
    assert verdict(read_statement("The port is 7421.", None), read) is not Verdict.EVOLVES
