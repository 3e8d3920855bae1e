"""Labelled questions: what the file format means, and how a wrong file is told."""

import gzip
import json
from datetime import UTC, datetime

import pytest

from hindsight_core.errors import InvalidInput
from hindsight_core.evaluation import load_dataset
from hindsight_core.evaluation.dataset import Kind


def memory(id, text="something", bank="b", **more):
    return {
        "kind": "memory",
        "bank": bank,
        "id": id,
        "text": text,
        "timestamp": None,
        "speaker": None,
        **more,
    }


def question(id, gold=("m1",), bank="b", **more):
    fields = {"text": "what?", "asked_at": None, "gold": list(gold), "category": "fact", **more}
    return {"kind": "question", "bank": bank, "id": id, **fields}


@pytest.fixture
def write(tmp_path):
    def write_(*records, name="set.dev.jsonl"):
        raw = "\n".join(r if isinstance(r, str) else json.dumps(r) for r in records).encode()
        path = tmp_path / name
        path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
        return path

    return write_


@pytest.mark.parametrize("name", ["set.dev.jsonl", "set.dev.jsonl.gz"])
def test_a_data_set_is_read(write, name):
    path = write(
        question(
            "q1", asked_at="2031-05-01T09:00:00+08:00", stale=["m2"], alt={"m1": ["m2"]}, history=["before"]
        ),
        memory("m1", "我养猫", timestamp="2031-04-01", speaker="苗", session="s1"),
        memory("m2", timestamp="2031-04-02T10:00:00"),
        name=name,
    )
    data = load_dataset(path)
    assert data.name == "set"
    first, second = data.banks["b"]
    assert (first.text, first.speaker, first.session) == ("我养猫", "苗", "s1")
    assert second.timestamp == datetime(2031, 4, 2, 10, tzinfo=UTC)
    (asked,) = data.questions
    assert (asked.gold, asked.stale, asked.alt) == (("m1",), {"m2"}, {"m1": {"m2"}})
    assert asked.history == ("before",)
    assert data.present(asked).isoformat() == "2031-05-01T09:00:00+08:00"


def test_a_system_sees_a_question_without_its_labels(write):
    data = load_dataset(
        write(memory("m1"), question("q1", stale=["m1"], alt={"m1": ["m1"]}, history=["before"]))
    )
    blind = data.questions[0].blind()
    assert (blind.bank, blind.text, blind.history) == ("b", "what?", ("before",))
    assert (blind.gold, blind.stale, blind.alt, blind.category) == ((), frozenset(), {}, "")


@pytest.mark.parametrize(
    ("gold", "unanswerable", "kind"),
    [
        (["m1"], False, Kind.ANSWERABLE),
        ([], False, Kind.UNANSWERABLE),
        ([], True, Kind.UNANSWERABLE),
        (["m1"], True, Kind.ADVERSARIAL),
    ],
)
def test_what_a_question_can_be_used_for(write, gold, unanswerable, kind):
    data = load_dataset(write(memory("m1"), question("q1", gold, unanswerable=unanswerable)))
    assert data.questions[0].kind is kind


def test_memories_arrive_in_the_order_of_seq_else_of_the_file(write):
    data = load_dataset(write(memory("m9", seq=2), memory("m1", seq=1), memory("m5", seq=3), question("q1")))
    assert [m.id for m in data.banks["b"]] == ["m1", "m9", "m5"]
    data = load_dataset(write(memory("m9"), memory("m1"), question("q1")))
    assert [m.id for m in data.banks["b"]] == ["m9", "m1"]


def test_without_a_moment_of_asking_the_last_memory_gives_it(write):
    data = load_dataset(
        write(
            memory("m1", timestamp="2031-04-01"),
            memory("m2", timestamp="2031-03-01"),
            memory("n1", bank="undated"),
            question("q1"),
            question("q2", ["n1"], bank="undated"),
        )
    )
    assert data.present(data.questions[0]) == datetime(2031, 4, 1, tzinfo=UTC)
    assert data.present(data.questions[1]) is None


def test_namespaces_are_banks_of_their_own(write):
    records = [memory("m1", scope="doc"), memory("m2", scope="chat"), question("q1", scope="doc")]
    assert list(load_dataset(write(*records)).banks) == ["b"]
    parted = load_dataset(write(*records), namespaces=True)
    assert list(parted.banks) == ["b/doc", "b/chat"]
    assert parted.questions[0].bank == "b/doc"


def test_a_limit_takes_questions_evenly(write):
    data = load_dataset(write(memory("m1"), *(question(f"q{i}") for i in range(10))))
    assert [q.id for q in data.limited(3).questions] == ["q0", "q3", "q6"]
    assert data.limited(99) == data


def test_what_does_not_spoil_the_measurement_is_noted(write):
    data = load_dataset(
        write(memory("m1", timestamp="someday"), question("q1", ["m1", "m7"], asked_at="2031年的某天"))
    )
    assert data.banks["b"][0].timestamp is None
    assert data.questions[0].asked_at is None
    assert [str(note) for note in data.notes] == [
        'line 1: "timestamp" is not a time that can be read; it counts as null',
        'line 2: "asked_at" is not a time that can be read; it counts as null',
        "line 2: no memory of the bank has the gold id 'm7'; it counts as never found",
    ]


@pytest.mark.parametrize(
    ("record", "what"),
    [
        ("{", "not JSON"),
        ("[1]", "not a JSON object"),
        ({"kind": "memo", "bank": "b", "id": "x"}, '"kind" must be'),
        (memory(""), '"id" must be a string that is not blank'),
        (memory("x", text=" "), '"text" must be a string that is not blank'),
        (memory("m1"), "the memory id 'm1' is used twice"),
        (memory("x", seq="1"), '"seq" must be a whole number'),
        (question("q", gold=["m1"], stale="m1"), '"stale" must be a list of strings'),
        (question("q", alt=["m1"]), '"alt" must map'),
        (question("q", bank="elsewhere"), "bank 'elsewhere' has no memories"),
    ],
)
def test_a_wrong_line_is_told_by_its_number(write, record, what):
    with pytest.raises(InvalidInput) as caught:
        load_dataset(write(memory("m1"), question("q1"), record))
    assert f"line 3: {what}" in str(caught.value) or what in str(caught.value).partition("line 3: ")[2]


def test_all_wrong_lines_are_told_at_once(write):
    with pytest.raises(InvalidInput, match=r"line 1: .*line 2: .*nothing was measured"):
        load_dataset(write("{", "[]", memory("m1"), question("q1")))


def test_memories_without_questions_are_no_data_set(write):
    with pytest.raises(InvalidInput, match="needs memories and questions"):
        load_dataset(write(memory("m1")))
    with pytest.raises(InvalidInput, match="no such file"):
        load_dataset("absent.jsonl")
