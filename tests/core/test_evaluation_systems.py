"""What is measured: a memory and its baselines behind one interface, on a dozen memories."""

import sys
from datetime import UTC, datetime

import numpy as np
import pytest

from hindsight_core.embedding import HashEmbedder
from hindsight_core.errors import InvalidInput, MissingExtra
from hindsight_core.evaluation import BASELINES, HindsightSystem, ablated, baseline
from hindsight_core.evaluation import systems as systems_module
from hindsight_core.evaluation.baselines import words_and_pairs
from hindsight_core.evaluation.dataset import Kind, Memory, Question
from hindsight_core.evaluation.systems import ablations, same_encoding
from hindsight_core.profiles import ASSISTANT, DEFAULT, Profile, Weights
from hindsight_core.reranking import BoundedReranker

NOW = datetime(2031, 5, 1, tzinfo=UTC)
TEXTS = {
    "m#0": "The heron nests by the old mill.",
    "m#1": "Kestrel listens on port 7420.",
    "m#2": "阳台上种了三盆薄荷",
    "m#3": "周三下午去修自行车",
    "m#4": "The bakery opens at seven on Sundays.",
    "m#5": "母亲喜欢听评弹",
}


def bank(name="b", texts=TEXTS):
    return [Memory(bank=name, id=id, text=text) for id, text in texts.items()]


def asked(text, bank="b", history=()):
    return Question(bank=bank, id="q", text=text, category="", kind=Kind.ANSWERABLE, history=history)


def ids(answer):
    return [found.id for found in answer.ranking]


def ask(system, text, **more):
    return system.ask(asked(text, **more), now=NOW, k=3, superseded=False)


@pytest.fixture
def hindsight():
    system = HindsightSystem("hindsight", embedder=HashEmbedder())
    system.load("b", bank())
    yield system
    system.close()


@pytest.fixture
def make_baseline():
    def make(name, reranker=None):
        system = baseline(name, HashEmbedder(), reranker)
        system.load("b", bank())
        return system

    return make


QUESTIONS = [
    ("On which port does Kestrel listen?", "m#1"),
    ("谁喜欢评弹", "m#5"),
    ("when does the bakery open", "m#4"),
]


@pytest.mark.parametrize(("text", "gold"), QUESTIONS)
def test_hindsight_answers_with_the_ids_it_was_given(hindsight, text, gold):
    answer = ask(hindsight, text)
    assert ids(answer)[0] == gold
    assert answer.shown(200) >= {gold}
    assert answer.shown(5) == set()
    assert 0 < answer.ranking[0].relevance <= 1


@pytest.mark.parametrize("name", ["vector", "bm25", "hybrid"])
@pytest.mark.parametrize(("text", "gold"), QUESTIONS)
def test_baselines_answer_with_the_ids_they_were_given(make_baseline, name, text, gold):
    answer = ask(make_baseline(name), text)
    assert ids(answer)[0] == gold
    assert answer.returned is None
    assert gold in answer.shown(200)


def test_whitespace_makes_one_word_of_a_chinese_sentence(make_baseline):
    assert ids(ask(make_baseline("bm25-whitespace"), "谁喜欢评弹")) == []
    assert ids(ask(make_baseline("bm25-whitespace"), "Kestrel listens")) == ["m#1"]


def test_words_and_pairs():
    assert words_and_pairs("修SK-9车") == ["修", "sk", "9", "车"]
    assert words_and_pairs("听评弹 Now") == ["听", "评", "弹", "听评", "评弹", "now"]


def test_a_floor_keeps_silent_where_the_ranking_does_not(hindsight):
    answer = ask(hindsight, "melting point of tungsten")
    assert answer.returned == ()
    assert answer.ranking == () or answer.ranking[0].relevance < DEFAULT.floor


def test_a_profile_without_a_floor_returns_nothing_apart():
    system = HindsightSystem("bold", profile=Profile(floor=None), embedder=None)
    system.load("b", bank())
    assert ask(system, "Kestrel port").returned is None


@pytest.mark.parametrize("name", ["hindsight", "vector", "bm25", "hybrid"])
def test_a_long_memory_in_pieces_is_found_as_one(name):
    """One memory of some 6,000 characters and one short one, each once in the ranking."""
    filler = " ".join(f"The ledger of year {year} holds nothing of note." for year in range(1900, 2020))
    long = f"{filler}\n\nThe gate word is marigold, and marigold only.\n\n{filler}"
    embedder = HashEmbedder()
    system = HindsightSystem(name, embedder=embedder) if name == "hindsight" else baseline(name, embedder)
    system.load(
        "b", bank(texts={"long": long, "short": "The gate is green.", "x": "Herons fish.", "y": "It rained."})
    )
    found = ids(
        system.ask(asked("What does the ledger hold of note, year by year?"), now=NOW, k=4, superseded=False)
    )
    assert found[0] == "long"
    assert len(found) == len(set(found))


@pytest.mark.parametrize("name", ["hindsight", "hybrid"])
def test_banks_are_kept_apart(name):
    embedder = HashEmbedder()
    system = HindsightSystem(name, embedder=embedder) if name == "hindsight" else baseline(name, embedder)
    system.load(
        "a", bank("a", {"m1": "Kestrel listens on port 7420.", "m2": "It rained.", "m3": "Herons fish."})
    )
    system.load(
        "b", bank("b", {"n1": "Kestrel listens on port 9000.", "n2": "It rained.", "n3": "Herons fish."})
    )
    assert ids(ask(system, "Kestrel port", bank="a"))[0] == "m1"
    assert ids(ask(system, "Kestrel port", bank="b"))[0] == "n1"


@pytest.mark.parametrize("name", ["hindsight", "hybrid"])
def test_turns_before_a_follow_up_question_help(name):
    embedder = HashEmbedder()
    system = HindsightSystem(name, embedder=embedder) if name == "hindsight" else baseline(name, embedder)
    system.load("b", bank())
    assert ids(ask(system, "And the port?", history=("Tell me about Kestrel, who listens.",)))[0] == "m#1"


@pytest.mark.parametrize("name", ["hindsight", "hybrid"])
def test_latency_leaves_embedding_out(name, monkeypatch):
    """Time stands still, save that every embedding takes a hundred seconds."""
    seconds = [0.0]
    for module in (systems_module, sys.modules["hindsight_core.evaluation.baselines"]):
        monkeypatch.setattr(module, "perf_counter", lambda: seconds[0])

    class Slow(HashEmbedder):
        def embed_query(self, text):
            seconds[0] += 100
            return super().embed_query(text)

    system = HindsightSystem(name, embedder=Slow()) if name == "hindsight" else baseline(name, Slow())
    system.load("b", bank())
    before = seconds[0]
    assert ask(system, "Kestrel port").seconds == pytest.approx(0)
    assert seconds[0] >= before + 100


def test_a_twin_reads_the_store_of_another(hindsight):
    twin = HindsightSystem("assistant", profile=ASSISTANT, embedder=HashEmbedder(), twin_of=hindsight)
    twin.load("b", bank())
    assert twin.memory.stats()["memories"] == len(TEXTS)
    assert twin.memory.profile is ASSISTANT
    assert ids(ask(twin, "Kestrel port"))[0] == "m#1"
    twin.close()
    assert ids(ask(hindsight, "Kestrel port"))[0] == "m#1"


def test_profiles_that_encode_differently_cannot_share_a_store():
    assert same_encoding(DEFAULT, ASSISTANT)
    assert not same_encoding(DEFAULT, Profile(entity_types=frozenset({"person"})))
    assert not same_encoding(DEFAULT, Profile(redact_secrets=False))


@pytest.mark.parametrize("name", ablations())
def test_everything_can_be_switched_off(name):
    profile = ablated(DEFAULT, name)
    part, _, what = name.partition(".")
    if what:
        assert getattr(getattr(profile, part), what) == 0
    else:
        assert all(
            getattr(profile.spreading, path.partition(".")[2]) == 0
            for path in ablations()
            if "spreading." in path
        )
    assert profile != DEFAULT
    assert name in profile.name


def test_ablations_follow_the_settings():
    assert {"weights.vector", "weights.recency", "spreading.bridge", "spreading"} <= set(ablations())
    assert {f"weights.{name}" for name in Weights.__dataclass_fields__} <= set(ablations())
    assert "spreading.seeds" not in ablations()
    with pytest.raises(InvalidInput, match=r"weights\.vector"):
        ablated(DEFAULT, "gravity")


def test_reciprocal_rank_fusion_by_hand(make_baseline, monkeypatch):
    """Ranked 1st and 3rd beats ranked 2nd twice by 1/61 + 1/63 against 2/62; a keyword score of 0 takes no part."""
    system = make_baseline("hybrid")
    held = system._banks["b"]

    class Keywords:
        def get_scores(self, tokens):
            return [1.0, 2.0, 3.0, 0.0, 0.0, 0.0]

    cosines = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4], np.float32)

    class Watch:
        spent = 0.0
        dimension = 1

        def embed_query(self, text):
            return np.ones(1, np.float32)

    monkeypatch.setattr(system, "_watch", Watch())
    system._banks["b"] = type(held)(held.owners, held.texts, cosines[:, None], Keywords())
    answer = ask(system, "anything")
    # first: 1/61 + 1/63; second: 1/62 + 1/62; third: 1/63 + 1/61, level with the first and after it by position
    assert ids(answer)[:4] == ["m#0", "m#2", "m#1", "m#3"]


def test_a_reranker_reorders_the_best(make_baseline):
    class LongestFirst:
        def rerank(self, query, passages):
            return np.array([len(passage) for passage in passages], np.float32)

    system = make_baseline("vector", LongestFirst())
    assert system.name == "vector+rerank"
    found = ids(ask(system, "Kestrel"))
    assert [len(TEXTS[id]) for id in found] == sorted(map(len, TEXTS.values()), reverse=True)


def test_a_memory_is_measured_with_a_reranker_too(hindsight):
    class LongestFirst:
        def rerank(self, query, passages):
            return np.array([len(passage) for passage in passages]) / 100

    bounded = BoundedReranker(LongestFirst(), milliseconds=None, share=1.0)
    twin = HindsightSystem("again", embedder=HashEmbedder(), twin_of=hindsight, reranker=bounded)
    found = ids(ask(twin, "Which heron nests on Sundays, and which bakery?"))
    assert [len(TEXTS[id]) for id in found] == sorted((len(TEXTS[id]) for id in found), reverse=True)
    assert len(found) > 1


def test_baselines_without_what_they_need(monkeypatch):
    with pytest.raises(InvalidInput, match="vector, bm25"):
        baseline("nonsense", None)
    for name in BASELINES:
        if not name.startswith("bm25"):
            with pytest.raises(InvalidInput, match="needs an embedder"):
                baseline(name, None)
    monkeypatch.setitem(sys.modules, "rank_bm25", None)
    with pytest.raises(MissingExtra, match=r"hindsight-memory\[eval\]"):
        baseline("bm25", None)
