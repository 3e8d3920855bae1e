"""Measured: precision and recall on four sets of pairs, and on a public set of changing facts.

The sets in tests/data (see its README) were each labelled before the rules that are measured on them. Of the first three only the
odd lines were read while the rules were developed; the even ones were scored as totals:

    set                              precision  recall
    supersession_blind, odd             1.00      .92
    supersession_blind, even             .95      .82
    supersession_pairs, odd             1.00      .91
    supersession_pairs, even             .92      .51
    supersession_unseen, odd             .96      .45
    supersession_unseen, even            .87      .45
    supersession_developed               .99      .77

The even rows, .92 and .60 together, are what to expect of wording the rules have not seen. What is missed there is mostly a
change that is implied: both memories stay. (With implied changes hiding the earlier one, recall was .90 on the blind pairs, and in 3,500
turns of everyday talk 129 were superseded, nearly all wrongly, where now 4 are.) The floors below lie just under these figures.
"""

import gzip
import json
from datetime import datetime
from functools import cache
from pathlib import Path

import pytest

from hindsight_core.consolidate import Verdict, decide, read_statement

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
SAMPLE = ROOT / "examples" / "sample_conversation.jsonl"
CHANGING = ROOT.parent / "shared" / "eval" / "factcon.dev.jsonl.gz"


BEFORE, AFTER = "2031-01-05T09:00:00+00:00", "2031-03-09T09:00:00+00:00"


@cache
def verdicts(name):
    """Label and verdict of every pair of a set, without an embedder: evolution rests on the words alone."""
    found = []
    for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        decision = decide(
            read_statement(pair["new"], pair["speaker"]),
            read_statement(pair["old"], pair["speaker"]),
            similarity=None,
            new_time=datetime.fromisoformat(pair.get("new_time", AFTER)),
            old_time=datetime.fromisoformat(pair.get("old_time", BEFORE)),
        )
        found.append((pair["label"], decision.verdict))
    return found


@pytest.mark.parametrize(
    ("name", "size", "half", "least_precision", "least_recall"),
    [
        ("supersession_blind", 202, slice(0, None, 2), 0.98, 0.91),
        ("supersession_blind", 202, slice(1, None, 2), 0.94, 0.81),
        ("supersession_pairs", 180, slice(0, None, 2), 0.97, 0.90),
        ("supersession_pairs", 180, slice(1, None, 2), 0.91, 0.50),
        ("supersession_unseen", 189, slice(0, None, 2), 0.95, 0.44),
        ("supersession_unseen", 189, slice(1, None, 2), 0.86, 0.45),
        ("supersession_developed", 869, slice(None), 0.98, 0.76),
    ],
    ids=[
        "blind, developed on",
        "blind, held out",
        "frozen, developed on",
        "frozen, held out",
        "unseen, developed on",
        "unseen, held out",
        "developed on",
    ],
)
def test_supersession_on_pairs(name, size, half, least_precision, least_recall):
    found = verdicts(name)
    assert len(found) == size
    found = found[half]
    hits = sum(label == "evolves" and verdict is Verdict.EVOLVES for label, verdict in found)
    assert hits / sum(verdict is Verdict.EVOLVES for _, verdict in found) >= least_precision
    assert hits / sum(label == "evolves" for label, _ in found) >= least_recall


@pytest.mark.parametrize("name", ["supersession_pairs", "supersession_blind"])
def test_nothing_but_a_repeat_is_merged(name):
    assert {label for label, verdict in verdicts(name) if verdict is Verdict.SAME} == {"same"}


@pytest.mark.skipif(not CHANGING.exists(), reason="../shared/eval is not here")
def test_changing_facts_told_in_order():
    """Every fact against every one before it: 90 % of the stale ones superseded, of the others hardly any."""
    with gzip.open(CHANGING, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    told = sorted(
        (record for record in records if record["kind"] == "memory"), key=lambda record: record["seq"]
    )
    stale = {id for record in records if record["kind"] == "question" for id in record.get("stale", ())}
    active = {}
    superseded = set()
    for fact in told:
        new = read_statement(fact["text"], fact["speaker"])
        for id, old in list(active.items()):
            if decide(new, old, similarity=None, new_time=None, old_time=None).verdict is Verdict.EVOLVES:
                superseded.add(id)
                del active[id]
        active[fact["id"]] = new
    assert len(stale & superseded) >= 0.9 * len(stale)
    assert len(superseded - stale) <= 0.02 * (len(told) - len(stale))


def test_in_a_conversation_only_what_changed_is_hidden():
    """The shipped sample: what is superseded in it, by what; nothing else may be hidden."""
    changes = {
        ("Load test is on 12 March", "Load test result"),
        ("So sluice.read_timeout remains 20s", "Load test: p95"),
        ("记下了：mirror 的开发端口 5180", "好的，mirror 开发端口改为 5190"),
    }
    turns = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    said = [(turn["text"], read_statement(turn["text"], turn.get("speaker"))) for turn in turns]
    hidden = set()
    for place, (new, later) in enumerate(said):
        for old, earlier in said[:place]:
            if earlier.keys & later.keys:
                decision = decide(
                    later,
                    earlier,
                    similarity=None,
                    new_time=datetime.fromisoformat(AFTER),
                    old_time=datetime.fromisoformat(BEFORE),
                )
                if decision.verdict is Verdict.EVOLVES:
                    hidden.add((old, new))
    unexpected = {
        (old, new)
        for old, new in hidden
        if not any(old.startswith(one) and new.startswith(two) for one, two in changes)
    }
    assert unexpected == set()
