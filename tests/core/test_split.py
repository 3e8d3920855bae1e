"""Where a text may be cut: by heading, paragraph and sentence, never inside one; nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.text.split import MOST, WHOLE, Piece, pieces

EN = "The tide came in slowly over the flats. "  # 40 characters
ZH = "潮水慢慢地漫过了整片滩涂上的石头。"  # 17 characters


def texts(text: str, kind: str) -> list[str]:
    return [piece.text for piece in pieces(text, kind=kind)]


# -- a chat turn -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["Hello.", "  spaced  ", "# not a heading", EN * 49, ZH * 117, "a\n\nb"])
def test_a_turn_stays_whole_and_exact(text: str) -> None:
    assert pieces(text, kind="turn") == [Piece(text, (0, len(text)))]


def test_a_long_turn_becomes_parts_of_about_equal_size() -> None:
    parts = texts(EN * 60, "turn")
    assert [len(part) for part in parts] == [1319, 1079]
    assert all(part.endswith("flats.") for part in parts)


@pytest.mark.parametrize("text", ["", " \n\t "])
@pytest.mark.parametrize("kind", ["turn", "document", "markdown"])
def test_a_blank_text_has_no_pieces(text: str, kind: str) -> None:
    assert pieces(text, kind=kind) == []


@pytest.mark.parametrize(
    "filler", [EN, ZH, "x" * 40, "字"], ids=["english", "chinese", "no-space", "one-character"]
)
def test_the_last_line_of_a_very_long_message_is_kept(filler: str) -> None:
    text = filler * (160_000 // len(filler)) + "\nthe gate word is marigold"
    parts = pieces(text, kind="turn")
    assert parts[-1].text.endswith("the gate word is marigold")
    assert max(len(part.text) for part in parts) <= WHOLE


# -- a document ------------------------------------------------------------------------------------------------


def test_short_paragraphs_are_joined_until_long_enough() -> None:
    short, long = EN.strip(), (EN * 7).strip()
    assert texts(f"{short}\n\n{short}\n\n{long}\n\n{long}", "document") == [
        f"{short}\n\n{short}\n\n{long}",
        long,
    ]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    assert texts(EN * 20, "document") == [(EN * 12).strip(), (EN * 8).strip()]
    assert texts(ZH * 40, "document") == [ZH * 29, ZH * 11]


@pytest.mark.parametrize(
    "sentence",
    [
        "Dr. Weber met Mrs. Lund at 3.5 km, e.g. near St. Ives, as J. K. Farrow says.",
        "See v9.4.1.2 at example.org and config.yaml for more.",
        "他说：“潮水来了！”然后走了。",
        "Wrapped at\nthe margin of\nan old mail.",
    ],
)
def test_a_sentence_is_never_cut(sentence: str) -> None:
    text = " ".join([sentence] * 40)
    for piece in texts(text, "document"):
        assert piece.replace(sentence, "").strip() == ""


def test_a_sentence_that_is_too_long_is_cut_at_a_clause_or_a_word() -> None:
    clause = "and then the tide came in over the flats, "
    parts = texts(clause * 30, "document")
    assert all(part.endswith("flats,") for part in parts)
    words = texts("tide " * 300, "document")
    assert all(len(part) <= MOST and part.replace("tide", "").strip() == "" for part in words)


@pytest.mark.parametrize(
    "cluster", ["👩\u200d🚀", "e\u0301", "🇩🇪", "👍\U0001f3fd", "❤\ufe0f", "\ud83e\udd14"]
)
def test_a_cut_never_falls_inside_a_character(cluster: str) -> None:
    for shift in range(4):
        text = "x" * shift + cluster * 700
        for piece in texts(text, "document"):
            assert piece.lstrip("x").replace(cluster, "") == ""


def test_chinese_numbered_paragraphs_keep_their_order() -> None:
    text = "购物清单如下：\n1、薄荷三盆\n2、绳子两根\n3、灯一盏"
    assert texts(text, "document") == [text]


# -- Markdown --------------------------------------------------------------------------------------------------

GUIDE = f"""# Tidewatch

Intro. {EN * 6}

## Install

### Linux

{EN * 7}

### Windows ##

{EN * 7}

Usage
-----

{EN * 7}
"""


def test_headings_are_given_as_a_path_and_stay_with_what_follows() -> None:
    found = pieces(GUIDE, kind="markdown")
    assert [(piece.heading, piece.text.split("\n")[0]) for piece in found] == [
        ("Tidewatch", "# Tidewatch"),
        ("Tidewatch > Install > Linux", "## Install"),
        ("Tidewatch > Install > Windows", "### Windows ##"),
        ("Tidewatch > Usage", "Usage"),
    ]


def test_a_plain_document_has_no_headings() -> None:
    assert {piece.heading for piece in pieces(GUIDE, kind="document")} == {""}


@pytest.mark.parametrize(
    ("title", "heading"), [("# **Tide** `watch`", "Tide watch"), ("## [Docs](http://x.y) #", "Docs")]
)
def test_markup_in_a_heading_is_dropped(title: str, heading: str) -> None:
    assert pieces(f"{title}\n\ntext", kind="markdown")[0].heading == heading


def test_a_hash_inside_code_is_no_heading() -> None:
    text = "# Setup\n\n```sh\n# comment\nrun\n```\n"
    assert [piece.heading for piece in pieces(text, kind="markdown")] == ["Setup"]


def test_code_and_tables_stay_whole() -> None:
    code = "```python\n" + "value = compute(tide)\n\n" * 60 + "```"
    table = "| port | tide |\n|---|---|\n" + "| north | 4.2 |\n" * 80
    found = texts(f"{EN}\n\n{code}\n\n{EN}\n\n{table}", "markdown")
    assert code in found
    assert table.strip() in found


def test_a_list_stays_with_its_lead_in() -> None:
    items = "\n".join(f"- item number {number} of the list" for number in range(8))
    found = texts(f"{EN * 8}\n\nWe need the following:\n\n{items}\n\n{EN * 8}", "markdown")
    assert found[1] == f"We need the following:\n\n{items}"


def test_a_long_list_is_cut_between_items() -> None:
    items = [f"- item {number}: {EN.strip()}\n  second line\n\n  third line" for number in range(12)]
    found = texts("Steps:\n" + "\n".join(items), "markdown")
    assert found[0].startswith("Steps:\n- item 0")
    assert all(piece.endswith("third line") for piece in found)


# -- laws ------------------------------------------------------------------------------------------------------

BLOCK = st.sampled_from(
    [
        "# A\n",
        "## B\n",
        EN,
        ZH,
        "\n",
        "\n\n",
        "- x\n",
        "1. y: \n",
        "```\n",
        "| a |\n|---|\n",
        "字" * 300,
        "w" * 700,
        "\t ",
        "Usage\n---\n",
        "👩\u200d🚀",
    ]
)
TEXTS = (
    st.lists(BLOCK, max_size=40).map("".join)
    | st.text(max_size=300)
    | st.text(alphabet="a.\n #-|`。 ", max_size=900)
)


@given(TEXTS, st.sampled_from(["turn", "document", "markdown"]))
def test_pieces_hold_the_whole_text_once_and_in_order(text: str, kind: str) -> None:
    end = 0
    for piece in pieces(text, kind=kind):
        start = piece.span[0]
        assert start >= end
        assert not text[end:start].strip()
        end = piece.span[1]
        assert piece.text == text[start:end] != ""
        assert piece.text.strip()
        assert len(piece.text) <= WHOLE
    assert not text[end:].strip()


@given(TEXTS)
def test_splitting_is_a_function_of_the_text(text: str) -> None:
    assert pieces(text, kind="markdown") == pieces(text, kind="markdown")


@pytest.mark.parametrize("unit", [EN, "x", "- a\n", "a\n", "# h\n", "```\n", " \n", "a: \n", "(", "e\u0301"])
@pytest.mark.parametrize("kind", ["turn", "markdown"])
def test_hostile_length_is_split_like_any_other(unit: str, kind: str) -> None:
    """A pattern that backtracks would not end here within hours."""
    text = unit * (160_000 // len(unit))
    found = pieces(text, kind=kind)
    assert "".join(piece.text for piece in found).split() == [] or all(
        text[slice(*piece.span)] == piece.text for piece in found
    )
