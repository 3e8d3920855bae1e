"""Files to remember: what is read from chats and folders, and how a bad line is told."""

import gzip
import json

import pytest

from hindsight_core.errors import InvalidInput
from hindsight_core.readers import read_chat, read_input


@pytest.fixture
def chat(tmp_path):
    def write(*lines, name="chat.jsonl"):
        path = tmp_path / name
        raw = "\n".join(
            line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines
        )
        path.write_bytes(gzip.compress(raw.encode()) if name.endswith(".gz") else raw.encode())
        return path

    return write


def test_a_chat_line_gives_the_arguments_of_remember(chat):
    path = chat(
        {
            "text": "我养了一只猫。",
            "id": "t1",
            "speaker": "苗",
            "session": "s1",
            "timestamp": "2031-05-01T09:00+08:00",
        },
        {"text": "Which cat?", "importance": 0.2, "pinned": True},
    )
    assert read_input(path).items == (
        {
            "text": "我养了一只猫。",
            "id": "t1",
            "speaker": "苗",
            "session": "s1",
            "timestamp": "2031-05-01T09:00+08:00",
        },
        {"text": "Which cat?", "importance": 0.2, "pinned": True, "timestamp": None},
    )


def test_what_remember_does_not_know_becomes_metadata(chat):
    path = chat(
        {"text": "hello", "channel": "ops", "metadata": {"team": "kestrel"}, "speaker": "", "session": None}
    )
    assert read_input(path).items == (
        {"text": "hello", "metadata": {"channel": "ops", "team": "kestrel"}, "timestamp": None},
    )


def test_zipped_files_blank_lines_and_byte_order_marks_are_read(chat):
    lines = ("\ufeff" + json.dumps({"text": "one"}), "", "   ", json.dumps({"text": "two"}))
    for name in ("a.jsonl", "a.jsonl.gz", "a.ndjson"):
        assert [item["text"] for item in read_input(chat(*lines, name=name)).items] == ["one", "two"]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('{"text": "a", }', "line 2: not JSON"),
        ('{"text": NaN}', "line 2: not JSON (NaN"),
        ('["text"]', "line 2: a JSON array, not an object"),
        ('"secret words"', "line 2: a JSON string, not an object"),
        ("7", "line 2: a JSON number, not an object"),
        ('{"speaker": "a"}', 'line 2: has no "text"'),
        ('{"text": "  "}', 'line 2: "text" is not a string that says something'),
        ('{"text": ["a"]}', 'line 2: "text" is not a string that says something'),
        ('{"text": "b", "id": "t1"}', "line 2: its id is already used on line 1"),
    ],
)
def test_a_bad_line_is_told_by_its_number_and_never_quoted(chat, line, what):
    path = chat({"text": "fine", "id": "t1"}, line)
    with pytest.raises(InvalidInput) as caught:
        read_input(path)
    assert f"chat.jsonl: {what}" in str(caught.value)
    assert "secret" not in str(caught.value)
    left = read_input(path, skip_bad=True)
    assert [item["text"] for item in left.items] == ["fine"]
    assert str(left.skipped[0]).startswith(what)


def test_all_bad_lines_are_told_at_once(chat):
    path = chat(*["{"] * 8, {"text": "fine"})
    with pytest.raises(InvalidInput, match=r"line 1: .*line 5: .*and 3 more.*Nothing was stored"):
        read_input(path)
    assert len(read_input(path, skip_bad=True).skipped) == 8


def test_bytes_that_are_not_utf8_are_told(tmp_path):
    path = tmp_path / "chat.jsonl"
    path.write_bytes(b'{"text": "fine"}\n{"text": "\xff\xfe"}\n')
    with pytest.raises(InvalidInput, match="line 2: not UTF-8"):
        read_input(path)


def test_a_damaged_zip_is_one_of_our_errors(tmp_path):
    path = tmp_path / "chat.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "fine"}\n' * 999)[:40])
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_input(path)
    path.write_bytes(b"plain")
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_input(path)


def test_a_check_adds_its_objections_by_line(chat):
    def no_numbers(item):
        if item["text"].isdigit():
            raise InvalidInput("digits say nothing")

    path = chat({"text": "fine"}, {"text": "42"})
    with pytest.raises(InvalidInput, match="line 2: digits say nothing"):
        read_input(path, check=no_numbers)
    assert len(read_input(path, check=no_numbers, skip_bad=True).items) == 1


def test_a_chat_is_read_from_lines_of_bytes():
    found = read_chat([b'{"text": "one"}\n', b"\n", '{"text": "二"}'.encode()], "standard input")
    assert [item["text"] for item in found.items] == ["one", "二"]
    with pytest.raises(InvalidInput, match="standard input: line 1: not JSON"):
        read_chat([b"{"], "standard input")


def test_a_folder_gives_its_documents_by_relative_path(tmp_path):
    for name, text in {
        "b.txt": "second",
        "a.md": "# first",
        "deep/er/名字.md": "第三",
        "deep/image.png": "no text",
        ".git/config.txt": "hidden",
        ".hidden.md": "hidden",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert read_input(tmp_path).items == (
        {"text": "# first", "source": "a.md", "timestamp": None},
        {"text": "second", "source": "b.txt", "timestamp": None},
        {"text": "第三", "source": "deep/er/名字.md", "timestamp": None},
    )


def test_one_document_is_named_by_its_file_name(tmp_path):
    (tmp_path / "note.md").write_text("words", encoding="utf-8")
    assert read_input(tmp_path / "note.md").items[0]["source"] == "note.md"


def test_bad_documents_are_told_by_name(tmp_path):
    (tmp_path / "good.md").write_text("words", encoding="utf-8")
    (tmp_path / "empty.txt").write_text(" \n", encoding="utf-8")
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")
    with pytest.raises(InvalidInput, match=r"empty\.txt: empty; latin\.md: not UTF-8"):
        read_input(tmp_path)
    left = read_input(tmp_path, skip_bad=True)
    assert [item["source"] for item in left.items] == ["good.md"]


def test_an_unreadable_document_is_told(tmp_path):
    (tmp_path / "good.md").write_text("words", encoding="utf-8")
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InvalidInput, match=r"gone\.md: cannot be read: No such file"):
        read_input(tmp_path)


def test_links_are_not_followed_in_circles(tmp_path):
    (tmp_path / "a.md").write_text("words", encoding="utf-8")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert len(read_input(tmp_path).items) == 1


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("chat.jsonl", "\n", "nothing to remember"),
        ("data.csv", "a,b", r"give \.jsonl, \.md, \.txt"),
        ("empty.md", "", "empty"),
    ],
)
def test_nothing_to_read_is_told(tmp_path, name, text, why):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=why):
        read_input(tmp_path / name)


def test_no_such_file_and_an_empty_folder_are_told(tmp_path):
    with pytest.raises(InvalidInput, match="no such file"):
        read_input(tmp_path / "absent.jsonl")
    with pytest.raises(InvalidInput, match="nothing to remember"):
        read_input(tmp_path)
