"""The comparison of a large scope with a file: same memories, same questions, and figures that could fall."""

import json

import pytest

pytest.importorskip("qdrant_edge", reason="needs the extra [qdrant]")

from hindsight_core.evaluation import agreement
from hindsight_core.evaluation.dataset import load_dataset


@pytest.fixture
def kestrel(tmp_path):
    lines = [
        {
            "kind": "memory", "bank": "b", "id": f"m{i}", "session": f"s{i // 10}", "speaker": "Mei",
            "timestamp": f"2031-01-{i + 1:02}T10:00:00Z", "text": f"Boat number {i} of Kestrel is called Heron {i * i}.",
        }
        for i in range(30)
    ]  # fmt: skip
    lines += [
        {
            "kind": "question", "bank": "b", "id": f"q{i}", "text": f"What is boat number {i} called?",
            "asked_at": "2031-03-01T00:00:00Z", "gold": [f"m{i}"], "category": "name",
        }
        for i in (3, 7, 12)
    ]  # fmt: skip
    path = tmp_path / "kestrel.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return load_dataset(path)


def test_with_everything_in_the_sample_both_answer_alike(kestrel, tmp_path):
    ((name, answers),) = agreement.compare([kestrel], None, tmp_path)
    assert name == "kestrel"
    assert [(one.overlap, one.first, one.file, one.far) for one in answers] == [(1.0, True, 1.0, 1.0)] * 3


@pytest.mark.parametrize(
    ("file", "far", "overlap", "first", "recalls"),
    [
        (["a", "b"], ["a", "b"], 1.0, True, (1.0, 1.0)),
        (["a", "b"], ["b", "a"], 1.0, False, (1.0, 1.0)),
        (["a", "b"], ["b"], 0.5, False, (1.0, 0.0)),
        (["a"], [], 0.0, False, (1.0, 0.0)),
        ([], [], 1.0, True, (0.0, 0.0)),
    ],
)
def test_what_is_compared(kestrel, file, far, overlap, first, recalls):
    question = kestrel.questions[0]
    owner = {"a": f"kestrel/b/{question.gold[0]}", "b": "kestrel/b/m0"}
    found = agreement._judged(kestrel, question, owner, file, far)
    assert (found.overlap, found.first, found.file, found.far) == (overlap, first, *recalls)
