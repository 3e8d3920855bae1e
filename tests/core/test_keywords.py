"""Learnt weights of tokens beside BM25: packing, checking, scale, recall, outages, moving over."""

import logging
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core import Hindsight
from hindsight_core.embedding import HashEmbedder, keywords_of, resolve_sparse, sparse_checked
from hindsight_core.embedding.bge_m3 import BgeM3
from hindsight_core.errors import EmbedderMismatch, EmbedderUnavailable, EmbeddingError, InvalidInput
from hindsight_core.ports import SparseEmbedder
from hindsight_core.recall import analyse, hear
from hindsight_core.text.learnt import FIRST_WORD, WEIGHT, pack_weights, token_ids, tokens_in
from hindsight_core.text.tokens import pack, terms

NOW = "2031-05-20T09:00Z"
SENSES = [
    {"car", "automobile", "汽车", "轿车"},
    {"insurance", "policy", "保险"},
    {"physician", "doctor", "大夫", "医生"},
    {"ends", "expires", "到期"},
]


class Senses:
    """A sparse embedder that knows synonyms: words of one sense are one heavy token, any other word a light one of its own."""

    def __init__(self, name="senses", first=100):
        self.sparse_fingerprint = name
        self.first = first
        self.down = None

    def sparse_documents(self, texts):
        if self.down:
            raise self.down
        return [self._weights(text) for text in texts]

    def sparse_query(self, text):
        return self.sparse_documents([text])[0]

    def _weights(self, text):
        found = {}
        pairs = re.findall(r"(?=([\u4e00-\u9fff]{2}))", text)
        for word in re.findall(r"[a-z]+", text.lower()) + pairs:
            sense = next((i for i, words in enumerate(SENSES) if word in words), None)
            token = self.first + sense if sense is not None else 1000 + sum(map(ord, word)) % 9000
            found[token] = 1.0 if sense is not None else 0.05
        return found


@pytest.fixture
def senses():
    return Senses()


# -- how weights are kept ------------------------------------------------------------------------------------


@given(st.dictionaries(st.integers(0, 2**24 - 2), st.floats(0.001, 60.0), min_size=1, max_size=30))
def test_a_weight_comes_back_within_a_fortieth(weights):
    packed = pack_weights(weights)
    assert (packed < FIRST_WORD).all()
    assert (packed[1:] > packed[:-1]).all()
    found = dict(
        zip((packed >> np.uint64(8)).tolist(), WEIGHT[packed.astype(np.uint8)].tolist(), strict=True)
    )
    assert found.keys() == weights.keys()
    assert all(abs(found[token] / weight - 1) < 0.025 for token, weight in weights.items())


@pytest.mark.parametrize(
    ("weights", "kept"),
    [
        ({}, []),
        ({1: 0.0, 2: -3.0}, []),
        ({1: 1e-9}, []),
        ({1: 1e9, 0: 0.5}, [0, 1]),
        ({2**24 - 2: 1.0}, [2**24 - 2]),
    ],
)
def test_what_weighs_nothing_is_left_out(weights, kept):
    packed = pack_weights(weights)
    assert [int(term) >> 8 for term in packed if int(term) & 255] == kept
    assert tokens_in(packed) == len(packed) >= 1  # of a text that was weighed something is kept


def test_tokens_stand_before_words():
    words = pack(terms("The gateway listens on port 7421. 网关监听端口"))
    both = np.concatenate([pack_weights({7: 1.0, 250_001: 0.2}), words])
    assert tokens_in(both) == 2
    assert tokens_in(words) == 0
    assert (both[1:] > both[:-1]).all()
    assert token_ids({7: 1.0}).tolist() == [(both[0] >> np.uint64(8)) << np.uint64(8)]


# -- what an embedder may give -------------------------------------------------------------------------------


class Given:
    sparse_fingerprint = "given"

    def __init__(self, answer):
        self.answer = answer

    def sparse_documents(self, texts):
        return self.answer

    def sparse_query(self, text):
        return self.answer[0]


@pytest.mark.parametrize(
    "answer",
    [
        [],
        [{}, {}],
        [None],
        [[(1, 0.5)]],
        [{"a": 1.0}],
        [{-1: 1.0}],
        [{2**24 - 1: 1.0}],
        [{1: float("nan")}],
        [{1: "x"}],
        7,
    ],
)
def test_an_answer_that_is_none_is_an_error(answer):
    ((found,), ((place, error),)) = sparse_checked(Given(answer), ["one text"])
    assert (found, place) == (None, 0)
    assert isinstance(error, EmbeddingError)
    assert "one text" not in str(error)


def test_one_bad_text_costs_itself(senses):
    real = senses.sparse_documents

    def picky(texts):
        if any("bad" in text for text in texts):
            raise ValueError("bad text")
        return real(texts)

    senses.sparse_documents = picky
    found, failures = sparse_checked(senses, ["a car", "bad", "保险"])
    assert [packed is None for packed in found] == [False, True, False]
    assert [index for index, _ in failures] == [1]
    assert isinstance(failures[0][1].__cause__, ValueError)


@pytest.mark.parametrize(("error", "asked"), [(EmbedderUnavailable("away"), 1), (OSError("broken"), 9)])
def test_an_embedder_that_is_down_is_not_asked_for_every_text(senses, error, asked):
    calls = []

    def down(texts):
        calls.append(len(texts))
        raise error

    senses.sparse_documents = down
    found, failures = sparse_checked(senses, ["text"] * 50)
    assert found == [None] * 50
    assert len(failures) == 50
    assert len(calls) == asked


def test_what_names_a_sparse_embedder(senses, monkeypatch):
    monkeypatch.setattr(BgeM3, "require", lambda self: None)
    assert isinstance(senses, SparseEmbedder)
    assert resolve_sparse(None, None) is None
    assert resolve_sparse(senses, None) is senses
    dense = BgeM3("models/bge-m3")
    assert resolve_sparse("bge-m3:models/bge-m3", dense) is dense
    assert resolve_sparse("bge-m3:models/other", dense).model == "models/other"
    for wrong in ("bge-m3:", "splade", 7, HashEmbedder(), Senses):
        with pytest.raises(InvalidInput, match="keywords must be"):
            resolve_sparse(wrong, None)


def test_the_scale_brings_what_unrelated_texts_share_to_that_of_words():
    class Same:
        sparse_fingerprint = "same"

        def sparse_documents(self, texts):
            return [{1: 0.5, 2 + number: 8.0} for number, _ in enumerate(texts)]

        def sparse_query(self, text):
            return {1: 4.0}

    assert keywords_of(Same()).scale == pytest.approx(1.5 / (4.0 * 0.5))

    class Nothing(Same):
        def sparse_query(self, text):
            return {}

    with pytest.raises(EmbeddingError):
        keywords_of(Nothing())


# -- recall --------------------------------------------------------------------------------------------------


TOLD = [
    "The house policy is renewed in May.",
    "The car insurance is paid in June.",
    "我的汽车在四月做保养。",
    "Dr. Okafor is the physician of the twins.",
    "双胞胎的游泳课在周二。",
]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("When is the automobile policy paid?", TOLD[1]),
        ("轿车什么时候做保养?", TOLD[2]),
        ("Who is the doctor of the twins?", TOLD[3]),
        ("轿车 insurance paid?", TOLD[1]),
    ],
)
def test_synonyms_find_each_other_by_their_weights(open_memory, senses, question, first):
    memory = open_memory(embedder=None, keywords=senses)
    memory.remember_many([{"text": text} for text in TOLD])
    hit = memory.recall(question, floor=None)[0]
    assert hit.unit.content == first
    assert hit.signals["keyword"].raw > 1


def test_what_differs_in_a_synonym_alone_is_told_apart_only_with_weights(open_memory, senses, tmp_path):
    told = [
        {"text": f"The {thing} insurance expires in June.", "id": thing} for thing in ("boat", "car", "dog")
    ]
    firsts = {}
    for name, options in (("words", {}), ("weights", {"keywords": senses})):
        memory = open_memory(tmp_path / f"{name}.db", embedder=None, **options)
        memory.remember_many(told)
        firsts[name] = memory.recall("When does the automobile insurance end?", floor=None)[0].unit.id
    assert firsts == {"words": "boat", "weights": "car"}


def test_a_question_about_nothing_known_is_answered_with_nothing(open_memory, senses):
    memory = open_memory(keywords=senses)
    memory.remember_many([{"text": text} for text in TOLD])
    assert not memory.recall("How tall is the lighthouse on the northern cape?")
    assert not memory.recall("北边的灯塔有多高?")
    assert memory.recall("Is the car insurance paid?")


def test_without_a_sparse_embedder_nothing_is_asked_or_kept(open_memory):
    memory = open_memory()
    memory.remember("The car insurance is paid in June.")
    question = analyse(hear("car insurance", embed=lambda texts: []), memory._now())
    assert len(question.aspects[0].learnt) == 0
    assert "keywords" not in memory.stats()
    assert "keywords.fingerprint" not in memory.parts.store.meta()


def test_earlier_turns_lend_their_tokens_at_a_share(clock):
    weights = {"And the car?": {1: 2.0}, "Is the house insured?": {1: 9.0, 2: 1.0}, "Hello": {2: 4.0}}
    heard = hear(
        "And the car?",
        embed=lambda texts: [],
        weigh=weights.__getitem__,
        history=["Hello", "Is the house insured?"],
    )
    question = analyse(heard, clock.now())
    (aspect,) = question.aspects
    assert aspect.learnt.tolist() == [1 << 8, 2 << 8]
    assert aspect.learnt_weights.tolist() == pytest.approx([2.0, max(1.0 * 0.3, 4.0 * 0.15)])


# -- what a store remembers ----------------------------------------------------------------------------------


def test_a_store_refuses_the_weights_of_another(open_memory, senses, tmp_path):
    path = tmp_path / "m.db"
    open_memory(path, keywords=senses).close()
    with pytest.raises(EmbedderMismatch, match=r"holds keyword weights of senses.*given is other"):
        Hindsight.open(path, "u", embedder=None, keywords=Senses("other"))
    open_memory(path, keywords=Senses()).close()
    open_memory(path).close()  # without one it works by words


@pytest.mark.parametrize("question", ["When is the automobile policy paid?", "轿车什么时候做保养?"])
def test_a_store_moves_over_to_another(open_memory, senses, tmp_path, question):
    path, other = tmp_path / "m.db", Senses("other", first=500)
    memory = open_memory(path, keywords=senses)
    memory.remember_many([{"text": text} for text in TOLD])
    gone = memory.remember("The automobile is red.")[0]
    batch = memory.forget(gone.id) and memory.parts.store.events(key=gone.key)
    (*_, last) = batch
    before = [(hit.unit.id, round(hit.score, 9)) for hit in memory.recall(question, floor=None)]
    memory.close()
    assert open_memory(path).reembed(keywords=other) == len(TOLD)
    moved = open_memory(path, keywords=other)
    assert [(hit.unit.id, round(hit.score, 9)) for hit in moved.recall(question, floor=None)] == before
    assert moved.reembed() == 0
    with pytest.raises(EmbedderMismatch):
        Hindsight.open(path, "u", embedder=None, keywords=senses)
    moved.undo(last.batch)  # what comes back has no tokens of the old one
    assert [finding.remedy for finding in moved.doctor()] == ["call reembed()"]
    assert moved.reembed() == 1
    assert moved.doctor() == []


def test_a_store_written_without_is_filled_in(open_memory, senses, tmp_path):
    path = tmp_path / "m.db"
    memory = open_memory(path)
    memory.remember_many([{"text": text} for text in TOLD])
    memory.close()
    memory = open_memory(path, keywords=senses)
    (finding,) = memory.doctor()
    assert finding.problem == f"{len(TOLD)} memories have no keyword weights"
    words = memory.recall("Is the car insurance paid?", floor=None)[0]  # asked by its words meanwhile
    assert words.unit.content == TOLD[1]
    assert words.signals["keyword"].raw > 0
    assert memory.reembed() == len(TOLD)
    assert memory.doctor() == []
    assert memory.recall("When is the automobile policy paid?", floor=None)[0].unit.content == TOLD[1]


@pytest.mark.parametrize("weight", [1e3, 1e300])
def test_a_weight_beyond_what_can_be_kept_is_the_most_that_can(open_memory, senses, weight):
    memory = open_memory(keywords=senses)
    memory.remember("The car is red.")
    senses.sparse_query = lambda text: {100: weight}
    assert memory.recall("哪辆轿车？ Which car is it?", floor=None)[0].unit.content == "The car is red."
    assert keywords_of(senses).of_question("x")[100] == float(WEIGHT[-1]) * keywords_of(senses).scale


def test_an_outage_loses_no_word_and_stops_no_recall(open_memory, senses, caplog):
    memory = open_memory(keywords=senses)
    memory.remember(TOLD[0])
    senses.down = EmbedderUnavailable("away")
    with caplog.at_level(logging.WARNING):
        memory.remember("The car insurance is paid in June.")
        hit = memory.recall("Is the car insurance paid?")[0]
    assert hit.unit.content == "The car insurance is paid in June."
    assert "car" not in caplog.text
    assert [record.message.split(" failed")[0] for record in caplog.records] == [
        "weighing keywords",
        "weighing the question",
    ]
    senses.down = None
    assert [finding.remedy for finding in memory.doctor()] == ["call reembed()"]
    assert memory.reembed() == 1
    assert memory.recall("轿车 insurance", floor=None)[0].unit.content == "The car insurance is paid in June."


def test_new_text_and_given_vectors_get_tokens_too(open_memory, senses):
    memory = open_memory(keywords=senses)
    vector = HashEmbedder().embed_query("x")
    unit = memory.remember(TOLD[0])[0]
    memory.update(unit.id, text="The car is red.")
    memory.keep([{"text": TOLD[3], "id": "d"}, {"text": TOLD[4], "id": "e"}], vectors=[vector, None])
    assert memory.doctor() == []
    assert memory.recall("automobile", floor=None)[0].unit.id == unit.id


def test_erasing_leaves_no_token(open_memory, senses, tmp_path):
    path = tmp_path / "m.db"
    memory = open_memory(path, keywords=senses)
    kept = memory.remember("The doctor comes on Monday.")[0]
    unit = memory.remember("The car insurance is paid in June.")[0]
    token = pack_weights({100: 1.0}).tobytes()
    assert any(token in file.read_bytes() for file in tmp_path.glob("m.db*"))
    memory.erase(unit.id)
    memory.close()
    assert not any(token in file.read_bytes() for file in tmp_path.glob("m.db*"))
    assert open_memory(path, keywords=senses).get(kept.id) is not None


def test_settings_name_it(monkeypatch, senses):
    from hindsight_core.engine import parts
    from hindsight_core.settings import load_settings

    assert load_settings(None, {"HINDSIGHT_KEYWORDS": "bge-m3:m"}).keywords == "bge-m3:m"
    given = []
    monkeypatch.setattr(parts, "resolve_sparse", lambda keywords, embedder: given.append(keywords))
    Hindsight.configured(db=":memory:", embedder="none", keywords="bge-m3:m").close()
    assert given == ["bge-m3:m"]


def test_the_command_line_moves_a_store_over(tmp_path, monkeypatch, senses):
    from hindsight_core.cli import main
    from hindsight_core.engine import parts, reembed

    def resolved(keywords, embedder):
        return senses if keywords in ("bge-m3:m", senses) else None

    for module in (parts, reembed):
        monkeypatch.setattr(module, "resolve_sparse", resolved)
    options = ["--db", str(tmp_path / "m.db"), "--embedder", "none"]
    assert main([*options, "remember", "The car is red."]) == 0
    monkeypatch.setenv("HINDSIGHT_KEYWORDS", "bge-m3:m")
    assert main([*options, "reembed"]) == 0
    with Hindsight.open(tmp_path / "m.db", embedder=None, keywords=senses) as memory:
        assert memory.recall("automobile", floor=None)[0].unit.content == "The car is red."
