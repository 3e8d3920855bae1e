"""Names meet under one key; texts of the same words have one digest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.text.keys import digest, normalise_key, storable


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Redis", "redis"),
        ("  Mei   Lin ", "mei lin"),
        ("ＲＥＤＩＳ", "redis"),
        ("Straße", "strasse"),
        ("陈 小明", "陈 小明"),
        ("ﬁle\u3000server", "file server"),
        ("", ""),
        ("\t\n", ""),
    ],
)
def test_key_table(name: str, key: str) -> None:
    assert normalise_key(name) == key


@given(st.text())
def test_a_key_is_its_own_key(name: str) -> None:
    key = normalise_key(name)
    assert normalise_key(key) == key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I like tea.", "i like  tea"),
        ("我喜欢喝茶。", "我喜欢喝茶！"),
        ("Use port 7420!", "use port 7420"),
        ("ＯＫ了", "ok了"),
    ],
)
def test_same_words(one: str, other: str) -> None:
    assert digest(one) == digest(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("You like tea?", "You like tea."),
        ("port 7420", "port 7421"),
        ("C", "C++"),
        ("version 1.5", "version 15"),
        ("三号门", "四号门"),
        ("-5 degrees", "5 degrees"),
    ],
)
def test_different_words(one: str, other: str) -> None:
    assert digest(one) != digest(other)


@given(st.text(st.characters(codec=None, categories=None)))
def test_any_string_becomes_storable_at_its_own_length(text: str) -> None:
    kept = storable(text)
    assert len(kept) == len(text)
    assert kept.encode().decode() == kept
    assert storable(kept) == kept
    assert len(digest(text)) == 16


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert storable("a\ud83eb") == "a\ufffdb"
    assert storable("猫🐈") == "猫🐈"
