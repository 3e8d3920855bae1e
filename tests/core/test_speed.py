"""The bench measures what it says, on a store too small to say anything of speed."""

import json
import re

import numpy as np
import pytest
from rich.console import Console

from hindsight_core.errors import InvalidInput
from hindsight_core.evaluation import speed
from hindsight_core.evaluation.speed import AtSize, Budget, Speed, Waits, budgets
from hindsight_core.evaluation.synthetic import DIMENSION, SESSION, Synthetic, TopicEmbedder


def test_synthetic_turns_come_from_the_seed():
    first, second, other = (list(Synthetic(seed).turns(60)) for seed in (7, 7, 8))
    assert first == second != other
    assert Synthetic(7).questions(9) == Synthetic(7).questions(9)


def test_synthetic_turns_are_close_to_life():
    turns = list(Synthetic().turns(3_000))
    chinese = [turn for turn in turns if re.search("[\u4e00-\u9fff]", turn["text"])]
    assert 0.28 < len(chinese) / len(turns) < 0.39
    assert {turn["session"] for turn in turns[:SESSION]} == {"s000000"}
    assert turns[SESSION]["session"] == "s000001"
    assert len({turn["id"] for turn in turns}) == len(turns)
    assert [turn["timestamp"] for turn in turns] == sorted(turn["timestamp"] for turn in turns)
    counts = sorted(
        np.unique(" ".join(t["text"] for t in turns).split(), return_counts=True)[1], reverse=True
    )
    assert counts[10] > 20 * counts[1_000]  # a few words are in every tenth turn, most are rare


def test_numbering_goes_on():
    source = Synthetic()
    list(source.turns(30))
    assert next(iter(source.turns(1, first=30)))["id"] == "t0000030"


def test_vectors_cluster_by_topic_whoever_speaks():
    embedder = TopicEmbedder()
    near = embedder.embed_documents(
        ["Mira: topic3 one thing", "topic3 另一件事", "assistant: topic9 one thing"]
    )
    assert near.shape == (3, DIMENSION)
    assert np.linalg.norm(near, axis=1) == pytest.approx(1)
    same, different = near[0] @ near[1], near[0] @ near[2]
    assert same > 0.3 > abs(different)
    assert embedder.embed_query("topic3 a") @ near[0] > 0.3


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    said = []
    path = tmp_path_factory.mktemp("bench") / "bench.db"
    with pytest.MonkeyPatch.context() as patch:
        # One session in fifty is small, so with the real figure a store of 120 turns would have none.
        patch.setattr(speed, "_SMALL_SHARE", 2)
        patch.setattr(speed, "INGESTED", 20)
        return speed.measure(
            path, [40, 120], beside={"vector": 120, "bm25": 120, "hybrid": 40}, repeats=5, say=said.append
        ), said


def test_everything_is_measured(measured):
    result, said = measured
    assert [at.memories for at in result.sizes] == [40, 120]
    for at in result.sizes:
        for waits in (at.plain, at.scoped, at.week, at.remember, at.apart):
            assert 0 < waits.p50 <= waits.p95
        assert at.ingest > 0
        assert sum(at.stages.values()) == pytest.approx(1)
        assert {"the question", "store: search", "arithmetic"} <= set(at.stages)
        assert all(waits.p50 > 0 for waits in at.pipelines.values())
    assert [set(at.pipelines) for at in result.sizes] == [{"vector", "bm25", "hybrid"}, {"vector", "bm25"}]
    assert len(result.growth) == 1
    assert 0 < result.opened <= result.answered
    assert result.resident > 0
    assert result.vectors == 120 * DIMENSION * 4
    assert "growing to 40 memories" in said


def test_tables_and_json_say_the_same(measured):
    result, _ = measured
    console = Console(width=160, no_color=True)
    with console.capture() as captured:
        for table in speed.tables(result):
            console.print(table)
    shown = captured.get()
    assert f"{result.sizes[1].plain.p50:.2f} / {result.sizes[1].plain.p95:.2f}" in shown
    assert "budget" in shown
    assert "beside it, and how many times the wait of a recall" in shown
    written = json.loads(json.dumps(speed.as_json(result)))
    assert written["sizes"][1]["plain"]["p50"] == result.sizes[1].plain.p50
    assert written["budgets"] == []  # nothing is promised of so few


def test_budgets_by_hand():
    waits = Waits(p50=4.0, p95=9.0)
    at = AtSize(
        memories=15_000,
        plain=waits,
        scoped=Waits(4.3, 9),
        week=Waits(4.5, 9),
        ingest=900,
        remember=Waits(2.9, 5),
        apart=Waits(0.8, 2),
        stages={},
        pipelines={"hybrid": Waits(60, 70)},
    )
    largest = AtSize(
        memories=100_000,
        plain=Waits(24, 30),
        scoped=waits,
        week=waits,
        ingest=1,
        remember=waits,
        apart=waits,
        stages={},
        pipelines={},
    )
    result = Speed(sizes=(at, largest), opened=1.4, answered=2, resident=500, vectors=100)
    assert {budget.what: budget.met for budget in budgets(result)} == {
        "recall p50 at 15,000": True,
        "in a sub-scope at 15,000": True,
        "within a week at 15,000": False,
        "remember one turn p50 at 15,000": True,
        "consolidation adds at 15,000": False,
        "ingest at 15,000": False,
        "faster than hybrid at 15,000": True,
        "recall p50 at 100,000": True,
        "in a sub-scope at 100,000": True,
        "within a week at 100,000": True,
        "growth of recall time, exponent": True,
        "open 100,000 and answer": False,
        "resident at 100,000, of its vectors": False,
    }
    assert result.growth == pytest.approx([np.log(6) / np.log(100 / 15)])
    assert Budget(what="x", limit=1, unit="", value=1).met


def test_sizes_start_at_a_session():
    with pytest.raises(InvalidInput, match="20"):
        speed.main(["--sizes", "5"])
