"""What keyword search sees of a text: words, unspaced scripts, compounds, numbers, and anything else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.text.hashing import stable_id
from hindsight_core.text.tokens import TermWeights, pack, query_terms, terms, unpack

INDEX_TERMS = [
    # plain words: stem first, the word itself when it differs; function words go
    ("The dogs were running", ["dog", "dogs", "run", "running"]),
    ("kestrel", ["kestrel"]),
    ("KESTREL Kestrel kestrel", ["kestrel", "kestrel", "kestrel"]),
    ("what is it", []),
    ("I don't know and won't ask", ["know", "ask"]),
    ("I don’t know and won’t ask", ["know", "ask"]),
    ("Sam'll ask Mira's friend", ["sam", "ask", "mira", "friend"]),
    ("it's", []),
    ("O'Brien", ["obrien", "brien"]),
    ("Café cafe", ["cafe", "cafe"]),
    ("naïve", ["naiv", "naive"]),
    ("Stra\u00dfe", ["strass", "strasse"]),
    ("US, IT and WHO", ["us", "it", "who"]),
    ("tell us who did it", []),
    ("May 5", ["may", "5"]),
    # other alphabets
    ("Ёлка и Москва", ["елка", "и", "москва"]),
    ("Αθήνα", ["αθηνα"]),
    ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
    ("שלום עולם", ["שלום", "עולם"]),
    ("\u202bمرحبا\u202c", ["مرحبا"]),
    # scripts without spaces: pairs over each run, then characters that are not mere function
    ("评弹", ["评弹", "评", "弹"]),
    ("书", ["书"]),
    ("的", []),
    ("我的书", ["的书", "书"]),
    ("他在家", ["在家", "家"]),
    ("青禾，科技", ["青禾", "青", "禾", "科技", "科", "技"]),
    ("什么时候", ["时", "候"]),
    ("薄荷 三盆", ["薄荷", "薄", "荷", "三盆", "三", "盆"]),
    ("體驗", ["體驗", "體", "驗"]),
    ("東京へ", ["東京", "京へ", "東", "京"]),
    ("すし", ["すし"]),
    ("ｶﾀｶﾅ", ["カタ", "タカ", "カナ", "カ", "タ", "カ", "ナ"]),
    ("책", ["책"]),
    ("서울", ["서울", "서", "울"]),
    ("ไทย", ["ไท", "ทย"]),
    # mixed script: never a pair across
    ("用SK-9拍", ["用", "sk9", "sk", "9", "拍"]),
    ("B站和T恤", ["b", "站和", "站", "t", "恤"]),
    ("卡拉OK厅", ["卡拉", "卡", "拉", "厅"]),
    ("第9.4版", ["第", "9.4", "版"]),
    ("身高164cm。", ["身高", "身", "高", "164cm", "164", "cm"]),
    # compounds: the whole without its joints, segments, parts
    ("SK-9", ["sk9", "sk", "9"]),
    ("sk9", ["sk9", "sk", "9"]),
    ("ＳＫ－９", ["sk9", "sk", "9"]),
    ("post-sync", ["postsync", "post", "sync"]),
    ("max_retries", ["maxretri", "maxretries", "max", "retri", "retries"]),
    ("--max-retries", ["maxretri", "maxretries", "max", "retri", "retries"]),
    ("maxRetries", ["maxretri", "maxretries", "max", "retri", "retries"]),
    ("MAX_RETRIES", ["maxretri", "maxretries", "max", "retri", "retries"]),
    ("HttpClientTimeout", ["httpclienttimeout", "http", "client", "timeout"]),
    ("HTTPServer", ["httpserver", "http", "server"]),
    ("api/v2/users", ["apiv2users", "api", "v2", "user", "users"]),
    ("gpt-4o-mini", ["gpt4omini", "gpt", "4o", "mini"]),
    ("C++ C# C", ["c++", "c#", "c"]),
    (".env env", [".env", "env", "env"]),
    ("km/h", ["kmh", "km"]),
    ("R&D", ["rd"]),
    ("state-of-the-art", ["stateoftheart", "state", "art"]),
    ("python3.11", ["python3.11", "python", "3.11"]),
    ("utf8", ["utf8", "utf", "8"]),
    ("h264", ["h264"]),
    ("log.level", ["loglevel", "log", "level"]),
    (
        "/var/my_app/main.conf",
        ["varmyappmainconf", "var", "myapp", "app", "mainconf", "main", "conf"],
    ),
    ("ann@example.org", ["annexampleorg", "ann", "exampleorg", "exampl", "example", "org"]),
    ("localhost:8080", ["localhost8080", "localhost", "8080"]),
    ("U.S.", ["us"]),
    ("done.Next", ["donenext", "next"]),
    # numbers
    ("9.4.1.2", ["9.4.1.2"]),
    ("v9.4.1.2", ["9.4.1.2"]),
    ("9.4.1.2-rc1", ["9.4.1.2rc1", "9.4.1.2", "rc1", "rc", "1"]),
    ("v2", ["v2"]),
    ("3.11, then 3.12.", ["3.11", "3.12"]),
    ("1,234,567.5 or 1,2,3", ["1234567.5", "1", "2", "3"]),
    ("2031-05-06 10:30", ["2031-05-06", "10:30"]),
    ("５０％", ["50"]),
    # what is no text
    ("", []),
    ("\x00 \ud83e 🎉 ... — «»", []),
    ("co\u00adop\u200b", ["coop"]),
]


@pytest.mark.parametrize(("text", "expected"), INDEX_TERMS, ids=[repr(text) for text, _ in INDEX_TERMS])
def test_terms_of_a_text(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


W = TermWeights()
QUERIES = [
    ("what did I say about the dogs?", {"dog": W.main, "dogs": W.exact}),
    ("running", {"run": W.main, "running": W.exact}),
    ("SK-9", {"sk9": W.main, "sk": W.part}),
    ("6.31", {"6.31": W.main}),
    ("localhost:8080", {"localhost8080": W.main, "localhost": W.part, "8080": W.part}),
    ("max_retries", {"maxretri": W.main, "maxretries": W.exact, "max": W.part, "retri": W.part}),
    ("max max_retries", {"max": W.main, "maxretri": W.main, "maxretries": W.exact, "retri": W.part}),
    ("评弹", {"评弹": W.main, "评": W.character, "弹": W.character}),
    ("书", {"书": W.main}),
    ("什么书", {"么书": W.mixed, "书": W.character}),
    (
        "书 39",
        {"书": W.main, "39": W.main * (1 + 1 / 3)},
    ),  # beside pairs and characters a number is one term alone
    (
        "书单 SK-9",
        {"书单": W.main, "书": W.character, "单": W.character, "sk9": W.main * 4 / 3, "sk": W.part * 4 / 3},
    ),
    ("我们什么时候去", {"候去": W.main, "去": W.character}),
    (
        "书的封面",
        {
            "书的": W.mixed,
            "的封": W.mixed,
            "封面": W.main,
            "书": W.character,
            "封": W.character,
            "面": W.character,
        },
    ),
    ("a AND (b*", {"b": W.main}),
    ('"unclosed', {"unclos": W.main, "unclosed": W.exact}),
    ("col:val", {"colval": W.main, "col": W.part, "val": W.part}),
    ("won't", {}),
    ("的 了 吗", {}),
    ("", {}),
]


@pytest.mark.parametrize(("text", "expected"), QUERIES, ids=[text for text, _ in QUERIES])
def test_terms_of_a_question(text: str, expected: dict[str, float]) -> None:
    assert dict(query_terms(text)) == expected


@pytest.mark.parametrize(
    ("text", "question", "meets"),
    [
        ("新买的SK-9支架配tripod云台很稳", "tripod", True),
        ("新买的SK-9支架配tripod云台很稳", "sk-9", True),
        ("新买的SK-9支架配tripod云台很稳", "云台", True),
        ("Run the post-sync hook before merge", "post sync", True),
        ("Run the postsync hook", "post-sync", True),
        ("set max_retries to 5", "MaxRetries", True),
        ("Gateway upgraded to v9.4.1.2", "9.4.1.2", True),
        ("Gateway upgraded to 9.5 on 6 June, port 31", "6.31", False),
        ("Gateway upgraded to 9.4.1.2", "9.4.1.3", False),
        ("3 cats", "2031-03-04", False),
        ("the Café on the corner", "cafes", True),
        ("I saw two iPhones", "an iphone", True),
        ("雨伞在门后", "伞", True),
        ("它在门后", "雨伞", False),
    ],
)
def test_a_question_meets_a_text(text: str, question: str, meets: bool) -> None:
    asked = {term for term, _ in query_terms(question)}
    assert bool(asked & set(terms(text))) is meets


ANY_TEXT = st.text(alphabet=st.characters(), max_size=200)
WORDS = st.text(alphabet="abcDEF09-_./'é中文的了ーか", max_size=40)


@given(ANY_TEXT | WORDS)
def test_any_text_has_terms_and_a_question_in_its_own_words_meets_them(text: str) -> None:
    indexed = terms(text)
    assert all(term and not term.isspace() for term in indexed)
    assert {term for term, _ in query_terms(text)} <= set(indexed)


@given(
    st.lists(
        st.sampled_from(["SK-9", "running", "Café", "青禾科技", "9.4.1.2", "max_retries", "的"]), max_size=6
    )
)
def test_each_word_of_a_text_is_found_by_itself(words: list[str]) -> None:
    indexed = set(terms(" ".join(words)))
    for word in words:
        assert {term for term, _ in query_terms(word)} <= indexed


@given(ANY_TEXT)
def test_question_terms_are_distinct_with_weights_up_to_two(text: str) -> None:
    found = query_terms(text)
    assert len({term for term, _ in found}) == len(found)
    assert all(0 < weight <= (1 if text.isascii() else 2) for _, weight in found)


@given(st.lists(st.sampled_from(["a", "bb", "中", "中文", "\ud83e"]), max_size=600))
def test_packing_keeps_ids_and_counts(words: list[str]) -> None:
    packed = pack(words)
    assert packed.dtype == np.uint64
    assert np.all(packed[:-1] < packed[1:])
    ids, counts = unpack(packed)
    assert dict(zip(ids.tolist(), counts.tolist(), strict=True)) == {
        stable_id(word): min(words.count(word), 255) for word in set(words)
    }


@pytest.mark.parametrize(
    "unit", ["the gate word is marigold. ", "口令牌挂在门后面", "a.b_c/", "1,234,", "A1", "x" * 50 + "-"]
)
def test_hostile_length_is_read_to_its_end(unit: str) -> None:
    """A pattern that backtracks would not end here within hours."""
    assert "zanzibar" in terms(unit * (160_000 // len(unit)) + " zanzibar")
