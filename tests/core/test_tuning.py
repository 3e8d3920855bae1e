"""Fitting a profile: it learns what can be learnt, claims nothing where there is nothing, and says the same twice."""

import json
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hindsight_core import Hindsight
from hindsight_core.cli import main
from hindsight_core.embedding import HashEmbedder
from hindsight_core.errors import InvalidInput, MissingExtra
from hindsight_core.evaluation import HindsightSystem, from_feedback, labelled, tune
from hindsight_core.evaluation.dataset import Dataset, Kind, Memory, Question
from hindsight_core.evaluation.replay import Replay
from hindsight_core.evaluation.tuning import Setting, dealt, settings_of
from hindsight_core.profile_file import write_profile
from hindsight_core.profiles import ASSISTANT, DEFAULT, SUPPORT, Profile, Spreading, Weights

NOW = datetime(2031, 5, 1, tzinfo=UTC)
HASTY = Profile(
    name="hasty", weights=Weights(vector=0.0, keyword=0.1, recency=0.5, importance=0.0), age=1.0, floor=None
)
"""Whatever is new comes first, however little it has to do with the question."""

COLOURS = ("amber", "crimson", "ivory", "olive", "teal", "umber", "violet", "copper")
THINGS = ("kettle", "ladder", "lantern")
颜色 = ("琥珀", "绯红", "象牙", "橄榄", "孔雀", "赭石", "紫藤", "青铜")
物件 = ("水壶", "梯子", "灯笼")


def memories():
    """Of every colour three old things, and news about the colour and about the things; in two languages."""
    texts = []
    for number, (colour, 色) in enumerate(zip(COLOURS, 颜色, strict=True)):
        for thing, 物 in zip(THINGS, 物件, strict=True):
            texts.append((f"{colour}-{thing}", f"The {colour} {thing} hangs behind door {number}.", 300))
            texts.append((f"{色}-{物}", f"{色}{物}挂在第{number}道门后面。", 300))
        texts.append((f"{colour}-news", f"Somebody mentioned {colour} paint again.", 1))
        texts.append((f"{色}-news", f"又有人提到{色}油漆。", 1))
    return tuple(
        Memory(bank="b", id=id, text=text, timestamp=NOW - timedelta(days=age)) for id, text, age in texts
    )


def questions():
    asked = []
    for colour, 色 in zip(COLOURS, 颜色, strict=True):
        for thing, 物 in zip(THINGS[:2], 物件[:2], strict=True):
            asked.append((f"Where is the {colour} {thing}?", f"{colour}-{thing}"))
            asked.append((f"{色}{物}在哪里？", f"{色}-{物}"))
    return tuple(
        Question(
            bank="b", id=str(i), text=text, category="fact", kind=Kind.ANSWERABLE, asked_at=NOW, gold=(gold,)
        )
        for i, (text, gold) in enumerate(asked)
    )


DATA = Dataset(name="own", banks={"b": memories()}, questions=questions())


def noisy():
    """The same questions with the answers of others: there is nothing to learn."""
    golds = [question.gold for question in DATA.questions]
    return tuple(
        replace(question, gold=golds[(7 * i + 11) % len(golds)]) for i, question in enumerate(DATA.questions)
    )


def loaded(dataset, profile=HASTY, embedder=None):
    system = HindsightSystem("own", profile=profile, embedder=embedder)
    for bank, held in dataset.banks.items():
        system.load(bank, held)
    return system


@pytest.fixture(scope="module")
def system():
    system = loaded(DATA)
    yield system
    system.close()


def fitted(examples, **more):
    return tune(examples, start=HASTY, **{"folds": 2, "evaluations": 24, **more})


# -- replay ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("embedder", [None, HashEmbedder()], ids=["words", "vectors"])
def test_a_replay_is_what_recall_would_give_under_each_profile(embedder):
    turns = [
        ("Mira", "The pilot at Harbour Bank starts in May."),
        ("Wim", "Then the contract has to be signed before."),
        ("Mira", "合同由 Okafor 负责，地点在苏州。"),
        ("Wim", "Okafor is away until Thursday."),
    ]
    store = Hindsight.open(":memory:", embedder=embedder)
    store.remember_many(
        [{"text": text, "speaker": who, "session": "s", "timestamp": NOW} for who, text in turns],
        progress=False,
    )
    odd = Profile(weights=Weights(vector=0.1, entity=0.9), spreading=Spreading(bridge=0, turn=0), floor=0.5)
    for text in ("Who signs the contract of Harbour Bank?", "合同谁负责？ When does Mira start?", "tungsten"):
        replay = Replay(store, text, now=NOW, history=["user: Tell me of Okafor."])
        for profile in (DEFAULT, ASSISTANT, odd, SUPPORT, DEFAULT):
            under = Hindsight.open(store.parts.store, profile=profile, embedder=embedder)
            asked = under.recall(text, k=3, now=NOW, history=["user: Tell me of Okafor."])
            seen = [(hit.unit.id, hit.score, hit.relevance) for hit in replay.hits(profile, 3)]
            assert seen == [(hit.unit.id, hit.score, hit.relevance) for hit in asked]
    store.close()


# -- examples ----------------------------------------------------------------------------------------------------


def test_the_value_of_an_answer_by_hand(system):
    """The second of two hits: 1 / log2(3) of what the first is worth."""
    example = labelled(DATA, system)[0]
    assert example.value(DEFAULT) == 1
    second = example.replay.hits(DEFAULT, 2)[1].unit.id
    assert replace(example, gold=(second,)).value(DEFAULT) == pytest.approx(0.631, abs=0.001)
    assert replace(example, gold=("other",), alt={"other": frozenset({second})}).value(DEFAULT) > 0.6
    assert replace(example, gold=(), unwanted=(second,)).value(DEFAULT) == pytest.approx(0.369, abs=0.001)
    assert replace(example, gold=()).value(DEFAULT) == 0
    off_topic = Replay(system.memory, "melting point of tungsten", now=NOW)
    assert replace(example, gold=(), replay=off_topic).value(DEFAULT) == 1


def test_what_says_nothing_about_ranking_is_left_out(system):
    kinds = (Kind.ANSWERABLE, Kind.UNANSWERABLE, Kind.ADVERSARIAL)
    asked = [replace(DATA.questions[0], kind=kind) for kind in kinds]
    asked.append(replace(DATA.questions[0], category="summarization"))
    assert len(labelled(replace(DATA, questions=tuple(asked)), system)) == 2


def test_feedback_becomes_examples_of_the_moment_before_it(open_memory, clock):
    memory = open_memory()
    memory.remember_many(
        [{"text": "The kettle is green.", "id": "k"}, {"text": "The kettle is dented.", "id": "d"}],
        progress=False,
    )
    before = {unit.id: unit.importance for unit in memory.find()}
    clock.advance(minutes=1)
    hits = memory.recall("Which kettle?", k=2)
    memory.feedback(hits, -1)
    clock.advance(days=1)
    memory.feedback(hits.only(lambda hit: hit.unit.id == "k"), +1)
    memory.feedback(memory.recall("水壶 kettle", k=1, floor=None).recall_id, -1)
    memory.feedback(hits[0], +1)  # a single hit does not tell the question
    first, second = from_feedback(memory)
    assert (first.gold, first.unwanted) == (("k",), ("d",))
    assert second.gold == ()
    assert len(second.unwanted) == 1
    assert {hit.unit.id: hit.unit.importance for hit in first.replay.hits(DEFAULT, 2)} == before
    assert memory.get("d").importance < before["d"]
    memory.forget("k")
    assert from_feedback(memory)[0].gold == ()


def test_feedback_stays_in_its_scope(open_memory):
    memory = open_memory()
    below = memory.within("below")
    below.remember("The kettle is green.")
    below.feedback(below.recall("Which kettle?"), +1)
    assert from_feedback(memory) == []
    assert len(from_feedback(below)) == 1


def test_what_was_asked_is_redacted_and_goes_with_what_is_erased(open_memory, tmp_path):
    memory = open_memory(tmp_path / "m.db")
    memory.remember_many(
        [{"text": "The kettle is green.", "id": "k"}, {"text": "The kettle is dented.", "id": "d"}],
        progress=False,
    )
    memory.feedback(
        memory.recall("Is the kettle of Zebedee dented? password: hunter2hunter2", floor=None), +1
    )
    reasons = {event.reason for event in memory.parts.store.events() if event.actor == "feedback"}
    assert len(reasons) == 1
    assert "Zebedee" in reasons.pop()
    memory.erase("k")
    memory.close()
    held = b"".join(path.read_bytes() for path in tmp_path.glob("m.db*"))
    assert b"hunter2" not in held
    assert b"Zebedee" not in held


# -- fitting -----------------------------------------------------------------------------------------------------


def test_it_learns_what_can_be_learnt_in_both_languages(system):
    both = labelled(DATA, system)
    tuning = fitted(both)
    assert tuning.profile is not None
    assert tuning.profile.weights.keyword > 2 * HASTY.weights.keyword
    assert tuning.held_back.difference.mean > 0.1
    assert tuning.held_back.p < 0.05
    for own in (both[0::2], both[1::2]):
        assert sum(e.value(tuning.profile) for e in own) > sum(e.value(HASTY) for e in own)
    assert tuning.changed["weights.keyword"][0] == 0.1
    assert tuning.profile.name == "tuned"


def test_nothing_is_claimed_where_there_is_nothing_to_learn(system):
    tuning = fitted(labelled(replace(DATA, questions=noisy()), system))
    assert tuning.profile is None
    assert tuning.held_back.p >= 0.05 or tuning.held_back.difference.mean <= 0


def test_where_all_is_well_nothing_moves(system):
    tuning = tune(labelled(DATA, system), start=DEFAULT, folds=2, evaluations=16)
    assert tuning.before.mean == 1
    assert tuning.profile is None
    assert tuning.changed == {}


def test_the_same_again(system):
    examples = labelled(DATA, system)
    assert fitted(examples, evaluations=8) == fitted(examples, evaluations=8)


def test_too_little_is_refused(system):
    examples = labelled(DATA, system)
    with pytest.raises(InvalidInput, match="at least 20"):
        tune(examples[:19])
    with pytest.raises(InvalidInput, match="two folds"):
        tune(examples, folds=1)


def test_a_missing_optimiser_names_the_extra(system, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(MissingExtra, match=r"hindsight-memory\[eval\]"):
        fitted(labelled(DATA, system))


def test_every_kind_is_held_back_evenly():
    fold = dealt(["a"] * 10 + ["b"] * 5 + ["c"], 5, 1)
    assert sorted(fold[:10]) == sorted([0, 1, 2, 3, 4] * 2)
    assert sorted(fold[10:15]) == [0, 1, 2, 3, 4]
    assert fold == dealt(["a"] * 10 + ["b"] * 5 + ["c"], 5, 1)
    assert fold != dealt(["a"] * 10 + ["b"] * 5 + ["c"], 5, 2)


@pytest.mark.parametrize(
    ("position", "value"), [(0.0, 0.0), (0.25, 0.1), (0.5, 0.2), (0.75, 0.6), (1.0, 1.0)]
)
def test_a_setting_by_hand(position, value):
    assert Setting(name="x", start=0.2, high=1.0).at(position) == pytest.approx(value)


def test_the_floor_is_fitted_only_where_something_tells_what_it_is_good_for():
    names = [setting.name for setting in settings_of(DEFAULT, floor=True)]
    assert "floor" in names
    assert "weights.vector" not in names  # only ratios matter
    assert "floor" not in [setting.name for setting in settings_of(DEFAULT, floor=False)]
    assert "floor" not in [setting.name for setting in settings_of(HASTY, floor=True)]


# -- the command -------------------------------------------------------------------------------------------------


def written(path, asked):
    lines = [
        {"kind": "memory", "bank": m.bank, "id": m.id, "text": m.text, "timestamp": m.timestamp.isoformat()}
        for m in DATA.banks["b"]
    ]
    lines += [
        {
            "kind": "question",
            "bank": q.bank,
            "id": q.id,
            "text": q.text,
            "category": q.category,
            "asked_at": q.asked_at.isoformat(),
            "gold": list(q.gold),
        }
        for q in asked
    ]
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def run(tmp_path, capsys):
    write_profile(HASTY, tmp_path / "hasty.json")

    def run_(*argv):
        more = [
            "--embedder",
            "none",
            "--profile",
            tmp_path / "hasty.json",
            "--folds",
            "2",
            "--evaluations",
            "20",
        ]
        status = main([*map(str, ("tune", *argv, "--out", tmp_path / "ours.json", *more))])
        return status, *capsys.readouterr()

    return run_


def test_the_command_writes_a_profile_that_open_reads(run, tmp_path):
    status, out, err = run(written(tmp_path / "q.jsonl", DATA.questions))
    assert (status, err) == (0, "")
    assert "weights.keyword" in out
    memory = Hindsight.open(":memory:", profile=str(tmp_path / "ours.json"), embedder=None)
    assert memory.profile.name == "ours"
    assert memory.profile.weights.keyword > 2 * HASTY.weights.keyword
    memory.close()


def test_the_command_writes_nothing_without_a_gain(run, tmp_path):
    (tmp_path / "ours.json").write_text("kept")
    status, out, err = run(written(tmp_path / "q.jsonl", noisy()), "--json")
    assert (status, err) == (3, "")
    assert json.loads(out)["gain"] is False
    assert (tmp_path / "ours.json").read_text() == "kept"


def test_the_command_needs_something_to_learn_from(run, tmp_path):
    status, _, err = run()
    assert status == 1
    assert "--feedback" in err
    with Hindsight.open(tmp_path / "m.db", embedder=None) as memory:
        memory.remember("The kettle is green.")
        memory.feedback(memory.recall("Which kettle?"), +1)
    status, _, err = run("--feedback", "--db", tmp_path / "m.db")
    assert status == 1
    assert "at least 20" in err
