"""Running, judging and reporting, on scripted answers whose figures are worked out by hand; then once for real."""

import json
import math
import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest
from rich.console import Console

from hindsight_core.embedding import HashEmbedder
from hindsight_core.errors import InvalidInput
from hindsight_core.evaluation import (
    Dataset,
    HindsightSystem,
    Settings,
    as_json,
    baseline,
    contrasts,
    evaluate,
    html_report,
    load_dataset,
    summarise,
)
from hindsight_core.evaluation.dataset import Kind, Memory, Question
from hindsight_core.evaluation.report import against_earlier, first_against_rest, from_json, read_results
from hindsight_core.evaluation.systems import UNDATED, Answer, Found
from hindsight_core.evaluation.tables import number, tables

ASKED = datetime(2031, 5, 1, tzinfo=UTC)


def question(id, gold, category="fact", kind=Kind.ANSWERABLE, **more):
    return Question(
        bank="b",
        id=id,
        text=f"text of {id}",
        category=category,
        kind=kind,
        gold=tuple(gold),
        asked_at=ASKED,
        **more,
    )


QUESTIONS = (
    question("q1", "a"),
    question("q2", "bc"),
    question("q3", "d", "change", stale=frozenset("s")),
    question("q4", "e", "summarization"),
    question("q5", "f", "adversarial", Kind.ADVERSARIAL),
    question("q6", "", "abstention", Kind.UNANSWERABLE),
    question("q7", "", "abstention", Kind.UNANSWERABLE),
)
MEMORIES = tuple(Memory(bank="b", id=id, text=f"memory {id}") for id in "abcdefsxyz")
DATA = Dataset(name="hand", banks={"b": MEMORIES}, questions=QUESTIONS)
SETTINGS = Settings(ks=(1, 3), contexts=(100,))

# Best first, with relevances; what a floor of .5 would let through follows from them.
ANSWERS = {
    "text of q1": [("a", 0.9), ("x", 0.4)],
    "text of q2": [("x", 0.8), ("b", 0.7), ("y", 0.3), ("c", 0.2)],
    "text of q3": [("s", 0.8), ("d", 0.4)],
    "text of q4": [("e", 0.9)],
    "text of q5": [("f", 0.6)],
    "text of q6": [("x", 0.4)],
    "text of q7": [("y", 0.6)],
}


class Scripted:
    """Answers as told, and takes down what it is shown."""

    def __init__(self, name="scripted", answers=ANSWERS, floor=0.5):
        self.name = name
        self.answers = answers
        self.floor = floor
        self.loaded = {}
        self.asked = []
        self.closed = False

    def load(self, bank, memories):
        self.loaded[bank] = [memory.id for memory in memories]

    def ask(self, question, *, now, k, superseded):
        self.asked.append((question, now, k, superseded))
        ranking = tuple(Found(*pair) for pair in self.answers.get(question.text, []))
        returned = (
            tuple(f for f in ranking if f.relevance >= self.floor)[:k] if self.floor is not None else None
        )
        return Answer(
            ranking=ranking,
            returned=returned,
            seconds=0.002,
            shown=lambda tokens: {f.id for f in ranking[:1]},
        )

    def close(self):
        self.closed = True


@pytest.fixture
def system():
    return Scripted()


@pytest.fixture
def results(system):
    return evaluate([DATA], lambda _: [system], SETTINGS)


@pytest.fixture
def summary(results):
    return summarise(results.runs[0], SETTINGS)


def test_a_system_is_shown_no_label(results, system):
    assert system.loaded == {"b": [memory.id for memory in MEMORIES]}
    assert system.closed
    for question, now, k, _ in system.asked:
        assert (question.gold, question.stale, question.alt, question.category) == ((), frozenset(), {}, "")
        assert (now, k) == (ASKED, 3)


def test_some_categories_are_asked_with_history(system):
    settings = replace(SETTINGS, superseded=frozenset({"change"}))
    evaluate([DATA], lambda _: [system], settings)
    assert [superseded for *_, superseded in system.asked] == [False, False, True] + [False] * 4


def test_an_undated_bank_is_asked_at_a_fixed_moment(system):
    data = replace(DATA, questions=(replace(QUESTIONS[0], asked_at=None),))
    evaluate([data], lambda _: [system], SETTINGS)
    assert system.asked[0][1] == UNDATED


def test_the_headline_by_hand(summary):
    """q1, q2 and q3 count; what asks for more, what has no answer and what is adversarial does not."""
    values = summary.headline.values
    assert summary.headline.n == 3
    assert values["recall@1"].mean == pytest.approx((1 + 0 + 0) / 3)
    assert values["recall@3"].mean == pytest.approx((1 + 0.5 + 1) / 3)
    assert values["hit@3"].mean == 1
    assert values["all@3"].mean == pytest.approx(2 / 3)
    assert values["mrr"].mean == pytest.approx((1 + 1 / 2 + 1 / 2) / 3)
    log = math.log2(3)
    assert values["ndcg@10"].mean == pytest.approx((1 + (1 / log) / (1 + 1 / log) + 1 / log) / 3)
    assert values["stale_first"].mean == 1
    assert values["stale_first"].n == 1
    assert values["context@100"].mean == pytest.approx(1 / 3)


def test_categories_by_hand(summary):
    held = {group.name: (group.n, group.apart, group.values["recall@1"].mean) for group in summary.categories}
    assert held == {
        "fact": (2, False, 0.5),
        "change": (1, False, 0),
        "summarization": (1, True, 1),
        "adversarial": (1, True, 1),
    }


def test_silence_by_hand(summary):
    """Nothing is returned for q6 alone; of five gold memories in the top three the floor keeps a, b and e."""
    silence = summary.silence
    assert (silence.counts.precision, silence.counts.recall) == (1, 0.5)
    assert silence.kept == pytest.approx(3 / 4)
    assert silence.foreign is None
    curve = {floor: row for floor, *row in silence.curve}
    assert curve[0.0][:2] == [1, 0]
    assert curve[0.5][:2] == [pytest.approx(3 / 4), 0.5]
    assert curve[1.0][:2] == [0, 1]


def test_a_system_without_a_floor_has_a_curve_only():
    run = evaluate([DATA], lambda _: [Scripted(floor=None)], SETTINGS).runs[0]
    silence = summarise(run, SETTINGS).silence
    assert (silence.counts, silence.kept) == (None, None)
    assert len(silence.curve) > 10


def test_foreign_questions_are_put_to_every_bank():
    other = Dataset(
        name="other",
        banks={"c": (Memory(bank="c", id="g", text="memory g"),)},
        questions=tuple(replace(question(f"o{i}", "g"), bank="c") for i in range(9)),
    )
    settings = replace(SETTINGS, foreign=2)
    first, second = (evaluate([DATA, other], lambda _: [Scripted()], settings) for _ in range(2))
    assert first == second
    foreign = [o for o in first.runs[0].outcomes if o.kind is Kind.FOREIGN]
    assert len(foreign) == 2
    assert {o.bank for o in foreign} == {"b"}
    summary = summarise(first.runs[0], settings)
    assert summary.silence.foreign == 1
    assert summary.headline.n == 3


def test_results_are_kept_by_the_name_of_the_data_set():
    with pytest.raises(InvalidInput, match="same name"):
        evaluate([DATA, DATA], lambda _: [Scripted()], SETTINGS)


def test_systems_are_closed_when_one_fails(system):
    class Failing(Scripted):
        def load(self, bank, memories):
            raise RuntimeError("broken")

    failing = Failing()
    with pytest.raises(RuntimeError, match="broken"):
        evaluate([DATA], lambda _: [system, failing], SETTINGS)
    assert system.closed
    assert failing.closed


@pytest.fixture
def two():
    worse = {**ANSWERS, "text of q1": [("x", 0.9)], "text of q3": [("x", 0.2)]}
    return evaluate([DATA], lambda _: [Scripted("ours"), Scripted("theirs", worse)], SETTINGS)


def test_systems_are_compared_question_by_question(two):
    compared = contrasts(first_against_rest(two), SETTINGS)
    assert [(c.a, c.b, c.measure) for c in compared] == [
        ("ours", "theirs", "recall@1"),
        ("ours", "theirs", "recall@3"),
    ]
    at_3 = compared[1]
    assert (at_3.comparison.wins, at_3.comparison.losses, at_3.comparison.ties) == (2, 0, 1)
    assert at_3.comparison.difference.mean == pytest.approx(2 / 3)
    assert at_3.comparison.p == pytest.approx(0.5)
    assert at_3.adjusted == pytest.approx(1)


def test_a_run_is_compared_with_an_earlier_one(two, results):
    earlier = replace(two, runs=(replace(two.runs[1], system="scripted"),))
    (_, at_3) = contrasts(against_earlier(results, earlier), SETTINGS)
    assert at_3.comparison.difference.mean == pytest.approx(2 / 3)
    fewer = replace(earlier, runs=(replace(earlier.runs[0], outcomes=earlier.runs[0].outcomes[:2]),))
    (_, at_3) = contrasts(against_earlier(results, fewer), SETTINGS)
    assert at_3.comparison.difference.n == 2
    assert contrasts(against_earlier(results, replace(earlier, runs=())), SETTINGS) == []


def test_json_holds_figures_and_is_read_back_whole(two):
    text = json.dumps(as_json(two, contrasts(first_against_rest(two), SETTINGS)), allow_nan=False)
    assert read_results(text) == two
    value = json.loads(text)
    ours = value["results"][0]
    assert ours["headline"]["recall@3"]["mean"] == pytest.approx(2.5 / 3, abs=1e-6)
    assert ours["categories"]["adversarial"]["apart"] is True
    assert ours["abstention"]["recall"] == 0.5
    assert ours["latency_ms"] == {"p50": 2, "p95": 2}
    assert value["comparisons"][1]["wins"] == 2


def test_json_holds_no_text_of_the_data(two):
    text = json.dumps(as_json(two))
    assert "text of" not in text
    assert "memory a" not in text


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "hindsight-evaluation", "version": 99}', "{}"])
def test_other_json_is_told(text):
    with pytest.raises(InvalidInput):
        read_results(text)


def test_damaged_results_are_told(two):
    value = as_json(two)
    del value["runs"][0]["outcomes"][0]["ranks"]
    with pytest.raises(InvalidInput, match="damaged"):
        from_json(value)


def rendered(results, compared=()):
    console = Console(width=200, no_color=True)
    with console.capture() as captured:
        for table in tables(results, compared):
            console.print(table)
    return captured.get()


class Telling(Scripted):
    """Brings up, unasked, what is at least .7 relevant."""

    def ask(self, question, **options):
        answer = super().ask(question, **options)
        return replace(answer, told=frozenset(f.id for f in answer.ranking if f.relevance >= 0.7))


def test_active_recall_by_hand():
    """q1 to q4 are answerable, and a, b and e are told to them, for q3 only s; to q6 and q7 nothing is."""
    results = evaluate([DATA], lambda _: [Telling(), Scripted("mute")], SETTINGS)
    told, mute = (summarise(run, SETTINGS) for run in results.runs)
    assert mute.telling is None
    assert told.telling.rates() == {
        "recollect speaks": 1.0,
        "recollect speaks rightly": 0.75,
        "recollect silent rightly": 1.0,
    }
    assert re.search(r"recollect speaks rightly +│ +\S+ │ +│", rendered(results))
    again = from_json(json.loads(json.dumps(as_json(results))))
    assert summarise(again.runs[0], SETTINGS).telling == told.telling


def test_tables_show_every_figure(two):
    shown = rendered(two, contrasts(first_against_rest(two), SETTINGS))
    for row in (
        r"headline +│ +3 │ +\.333 / \.833 │ +\.000 / \.167",
        r"summarization \(apart\)",
        r"abstention recall +│ +\.500",
        r"recall@3 +│ +\.833 \[",
        r"ms p50 / p95 +│ +│ +2\.0 / 2\.0",
        r"2 / 0 / 1",
    ):
        assert re.search(row, shown), f"{row}\n{shown}"


def test_several_data_sets_have_a_table_of_their_own():
    results = evaluate([DATA, replace(DATA, name="again")], lambda _: [Scripted()], SETTINGS)
    assert re.search(r"mean of data sets +│ +│ +\.333 / \.833", rendered(results))


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.7124, ".712"), (1.0, "1.000"), (-0.05, "-.050"), (10.5, "10.500"), (math.nan, ""), (None, "")],
)
def test_figures_read_alike(value, shown):
    assert number(value) == shown


class Page(HTMLParser):
    VOID = frozenset({"meta", "br", "hr"})

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.attributes = [], set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_stands_alone_and_is_well_formed(two):
    text = html_report(two, contrasts(first_against_rest(two), SETTINGS))
    page = Page()
    page.feed(text)
    assert page.open == []
    assert {"svg", "table", "polyline"} <= page.tags
    assert not {"script", "link", "img", "iframe"} & page.tags
    assert not [value for name, value in page.attributes if name in ("src", "href") or "://" in (value or "")]
    assert "url(" not in text
    assert "@import" not in text


def test_names_cannot_inject_anything_into_the_page():
    hostile = "<script>alert('&')</script>"
    data = replace(DATA, name=hostile, questions=(replace(QUESTIONS[0], category=hostile), *QUESTIONS[1:]))
    results = evaluate([data], lambda _: [Scripted(hostile), Scripted(f"{hostile}2")], SETTINGS)
    text = html_report(results, contrasts(first_against_rest(results), SETTINGS), title=hostile)
    assert "<script" not in text
    assert "&lt;script&gt;" in text


def test_a_bar_is_as_long_as_its_figure():
    from hindsight_core.evaluation.plots import bars
    from hindsight_core.evaluation.significance import Estimate

    drawn = bars(
        [
            (
                "all",
                [
                    ("half", Estimate(0.5, 0.4, 0.6, 9)),
                    ("full", Estimate(1, 1, 1, 9)),
                    ("none", Estimate(math.nan, math.nan, math.nan, 0)),
                ],
            )
        ]
    )
    half, full = (float(width) for width in re.findall(r'<rect class="c\d" [^>]*width="([\d.]+)"', drawn))
    assert full == pytest.approx(2 * half)


@pytest.fixture
def real_data(tmp_path):
    """Two banks in two languages; one question changes, one has no answer."""
    memories = [
        ("en", "e1", "Kestrel listens on port 7420.", "2031-01-05"),
        ("en", "e2", "The heron nests by the old mill.", "2031-02-05"),
        ("en", "e3", "The bakery opens at seven on Sundays.", "2031-03-05"),
        ("zh", "z1", "阳台上种了三盆薄荷", "2031-01-05"),
        ("zh", "z2", "周三下午去修自行车", "2031-02-05"),
        ("zh", "z3", "母亲喜欢听评弹", None),
    ]
    questions = [
        ("en", "q1", "On which port does Kestrel listen?", ["e1"], "fact"),
        ("en", "q2", "When does the bakery open?", ["e3"], "fact"),
        ("en", "q3", "melting point of tungsten", [], "nothing"),
        ("zh", "q4", "谁喜欢评弹", ["z3"], "fact"),
    ]
    lines = [
        {"kind": "memory", "bank": bank, "id": id, "text": text, "timestamp": when, "speaker": None}
        for bank, id, text, when in memories
    ] + [
        {
            "kind": "question",
            "bank": bank,
            "id": id,
            "text": text,
            "asked_at": None,
            "gold": gold,
            "category": kind,
        }
        for bank, id, text, gold, kind in questions
    ]
    path = tmp_path / "tiny.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return load_dataset(path)


def test_for_real(real_data):
    embedder = HashEmbedder()

    def systems(_):
        yield HindsightSystem("hindsight", embedder=embedder)
        yield baseline("hybrid", embedder)

    seen = []
    results = evaluate([real_data], systems, Settings(), lambda *progress: seen.append(progress))
    ours, hybrid = (summarise(run, results.settings) for run in results.runs)
    assert ours.headline.values["recall@5"].mean == 1
    assert hybrid.headline.values["recall@5"].mean == 1
    assert ours.silence.counts.recall == 1
    assert hybrid.silence.counts is None
    assert ours.p50 > 0
    assert seen[-1] == ("tiny: hybrid answers", 4, 4)
    again = evaluate([real_data], systems, Settings())
    assert [[o.ranks for o in run.outcomes] for run in again.runs] == [
        [o.ranks for o in run.outcomes] for run in results.runs
    ]
