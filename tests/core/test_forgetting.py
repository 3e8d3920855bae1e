"""The life is what its description says, and living it three ways measures what it says; on a life too short to conclude from."""

import json
import re
from collections import Counter

import pytest
from rich.console import Console

from hindsight_core.embedding import HashEmbedder
from hindsight_core.evaluation import forgetting
from hindsight_core.evaluation.forgetting import Size, judged
from hindsight_core.evaluation.life import SHARES, START, Kind, Question, Told, live


@pytest.fixture(scope="module")
def life():
    return live(days=40, turns=60)


@pytest.fixture(scope="module")
def turns(life):
    return [turn for day in life.days for turn in day.turns]


# -- the life ----------------------------------------------------------------------------------------------------


def test_a_life_comes_from_its_seed():
    one, same, other = (live(seed=seed, days=4, turns=30) for seed in (7, 7, 8))
    assert one == same != other


def test_kinds_of_turns_have_their_shares(turns):
    counts = Counter(turn.kind for turn in turns)
    for kind, share in SHARES.items():
        assert counts[kind] / len(turns) == pytest.approx(share, abs=0.03)


def test_only_small_talk_and_passing_remarks_are_not_worth_keeping(turns):
    empty = {turn.kind for turn in turns if turn.told is None}
    assert empty == {Kind.ACKNOWLEDGEMENT, Kind.PASSING}


def test_both_languages_are_spoken_alike(turns):
    chinese = sum(bool(re.search("[\u4e00-\u9fff]", turn.text)) for turn in turns)
    assert 0.45 < chinese / len(turns) < 0.55


def test_a_turn_says_the_value_it_is_labelled_with(turns):
    assert all(turn.told.value in turn.text for turn in turns if turn.told is not None)


def test_repeats_are_partly_word_for_word(turns):
    first_told = {turn.text for turn in turns if turn.kind is not Kind.REPEAT}
    repeats = [turn for turn in turns if turn.kind is Kind.REPEAT]
    assert sum(turn.text in first_told for turn in repeats) / len(repeats) == pytest.approx(0.4, abs=0.06)


def test_a_few_facts_are_asked_for_again_and_again_and_most_never(life, turns):
    asked = Counter(question for day in life.days for question in day.asked)
    facts = {turn.told.fact for turn in turns if turn.told is not None}
    assert asked.most_common(1)[0][1] > 10
    assert len(asked) < len(facts) / 2


def test_turns_come_in_order_and_evenings_after_them(turns, life):
    assert [turn.at for turn in turns] == sorted(turn.at for turn in turns)
    assert turns[0].at > START
    assert all(day.evening > day.turns[-1].at for day in life.days)


def test_gold_is_what_was_told_last(life, turns):
    last = {turn.told.fact: turn.told for turn in turns if turn.told is not None}
    values = {}
    for turn in turns:
        if turn.told is not None:
            values.setdefault(turn.told.fact, set()).add(turn.told.value)
    assert all(last[question.gold.fact] == question.gold for question in life.questions)
    assert all(len(values[q.gold.fact]) > 1 for q in life.questions if q.kind == "changed")
    assert all(len(values[q.gold.fact]) == 1 for q in life.questions if q.kind != "changed")
    assert Counter(question.kind for question in life.questions) == {
        "changed": 24,
        "lasting": 24,
        "dated": 16,
    }
    assert len({question.text for question in life.questions}) == 64


# -- what an answer is worth -------------------------------------------------------------------------------------

NEW, OLD, ELSE = Told(1, "7421"), Told(1, "7420"), Told(2, "oolong")


@pytest.mark.parametrize(
    ("said", "found", "stale_first", "noise"),
    [
        ([{NEW}], True, False, 0.0),
        ([{OLD}, {NEW}], True, True, 0.0),
        ([{NEW}, {OLD}], True, False, 0.0),
        ([{NEW, OLD}], True, False, 0.0),
        ([{OLD}], False, True, 0.0),
        ([{ELSE}, set(), {NEW}, set()], True, False, 0.5),
        ([set()], False, False, 1.0),
        ([], False, False, 0.0),
    ],
)
def test_each_answer_is_judged(said, found, stale_first, noise):
    one = judged(Question("?", "changed", True, NEW), said, present=True, milliseconds=1.0)
    assert (one.found, one.stale_first, one.noise) == (found, stale_first, noise)


# -- living it ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def outcomes():
    said = []
    found = forgetting.run(live(days=20, turns=20, asked=2), HashEmbedder(), say=said.append)
    assert "asking" in said
    return found


def test_the_three_ways_differ_in_what_they_let_go(outcomes):
    kept, consolidated, swept = (one.sizes[-1] for one in outcomes)
    assert kept == Size(day=20, active=400, archived=0, superseded=0, deleted=0)
    assert consolidated.active < kept.active
    assert (consolidated.archived, consolidated.deleted) == (0, 0)
    assert swept.active < consolidated.active
    assert swept.archived > 0


def test_where_everything_is_kept_every_value_is_present(outcomes):
    assert all(answer.present for answer in outcomes[0].answers)


def test_tables_and_json_say_the_same(outcomes):
    console = Console(width=160, no_color=True)
    with console.capture() as captured:
        for table in forgetting.tables(outcomes):
            console.print(table)
    as_json = forgetting.as_json(outcomes)
    found = as_json["arms"][0]["right value in the first 5"]["mean"]
    assert f"{found:.3f}" in captured.get()
    assert len(as_json["compared"]) == 10
    json.dumps(as_json)


def test_the_command_runs(capsys):
    assert forgetting.main(["--days", "10", "--turns", "6", "--json"]) == 0
    assert [arm["arm"] for arm in json.loads(capsys.readouterr().out)["arms"]] == [
        "kept", "consolidated", "forgetting",
    ]  # fmt: skip
