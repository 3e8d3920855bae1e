"""A scope too large to be held: what is estimated from a sample stays near what a file counts, and so do the answers."""

import numpy as np
import pytest

pytest.importorskip("qdrant_client", reason="needs the extra [qdrant]")

from hindsight_core import Hindsight
from hindsight_core.clock import CountedIds
from hindsight_core.embedding import HashEmbedder
from hindsight_core.ports import Probe, Visibility
from hindsight_core.stores.qdrant import QdrantStore, scene
from hindsight_core.stores.sqlite import SqliteStore
from hindsight_core.text.hashing import stable_id
from hindsight_core.text.learnt import token_ids

PEOPLE = ["Mei", "Tomas", "Ines", "Okafor", "Yuki", "Lena"]
THINGS = [
    "harbour",
    "kettle",
    "orchard",
    "tunnel",
    "lantern",
    "ferry",
    "archive",
    "workshop",
    "quarry",
    "garden",
]
DEEDS = ["painted", "sold", "repaired", "visited", "measured", "closed", "reopened", "described"]
MEMORIES, SAMPLE = 600, 160


def sentences():
    rng = np.random.default_rng(3)
    for i in range(MEMORIES):
        who, what, did = rng.choice(PEOPLE), rng.choice(THINGS), rng.choice(DEEDS)
        text = f"{who} {did} the {what} number {rng.integers(90)} near the {rng.choice(THINGS)}."
        yield {
            "text": text, "session": f"s{i // 12}", "turn": i % 12, "speaker": who, "id": f"m{i:03}",
            "timestamp": f"2031-{i // 60 + 1:02}-{i % 28 + 1:02}",
        }  # fmt: skip


class Letters:
    """A sparse embedder: a word weighs by its letters, and as much as its rarest ones."""

    sparse_fingerprint = "letters"

    def sparse_documents(self, texts):
        return [
            {hash_of(word): 0.1 + word.count("q") + len(word) / 9 for word in text.split()} for text in texts
        ]

    def sparse_query(self, text):
        return self.sparse_documents([text])[0]


def hash_of(word):
    return sum(ord(letter) * 31**place for place, letter in enumerate(word[:5])) % 50_000


def filled(told, **options):
    made = []
    for store in (SqliteStore.open(":memory:"), QdrantStore.connect(":memory:", whole=0)):
        memory = Hindsight.open(store, "u", embedder=HashEmbedder(), new_id=CountedIds("e"), **options)
        memory.remember_many(told, consolidate=False)
        made.append(memory)
    return made


@pytest.fixture(scope="module")
def pair():
    patch = pytest.MonkeyPatch()
    patch.setattr(scene, "_SAMPLE", SAMPLE)
    told = list(sentences())
    made = filled(told)
    yield made
    patch.undo()
    for memory in made:
        memory.close()


def test_a_part_is_held_and_it_is_the_same_part_everywhere(pair):
    visible = Visibility(scopes=(("u",),), now=pair[1]._now())
    with pair[1].parts.store.reading(visible):
        pass
    (held,) = pair[1].parts.store._scenes.values()
    assert SAMPLE / 2 * 0.7 < len(held.payloads) < SAMPLE * 1.3
    assert all(
        payload["lot"] < held.share
        for payload in pair[1].parts.store.view().retrieve("units", held.payloads).values()
    )


def test_answers_agree_with_a_files(pair):
    rng = np.random.default_rng(5)
    overlaps, firsts = [], []
    for _ in range(25):
        question = (
            f"What did {rng.choice(PEOPLE)} do with the {rng.choice(THINGS)} number {rng.integers(90)}?"
        )
        file, far = (
            [hit.unit.id for hit in m.recall(question, k=10, floor=None, now="2032-01-01")] for m in pair
        )
        overlaps.append(len(set(file) & set(far)) / 10)
        firsts.append(file[0] == far[0])
    assert np.mean(overlaps) >= 0.95
    assert np.mean(firsts) >= 0.8


def test_what_is_estimated_is_near_what_is_counted(pair):
    words = ["harbour", "number", "nothing"]
    banks = []
    for memory in pair:
        visible = Visibility(scopes=(("u",),), now=memory._now())
        question = Probe(
            visible=visible,
            vector=HashEmbedder().embed_query("the harbour"),
            terms=np.array([stable_id(word) for word in words], np.uint64),
            term_weights=np.ones(3, np.float32),
            entities=np.zeros(0, np.uint64),
        )
        with memory.parts.store.reading(visible) as reading:
            banks.append(reading.search(question)[1])
    counted, estimated = banks
    assert estimated.size == counted.size == MEMORIES
    assert estimated.newest == counted.newest
    assert estimated.cosine_mean == pytest.approx(counted.cosine_mean, abs=0.02)
    assert estimated.cosine_std == pytest.approx(counted.cosine_std, abs=0.02)
    assert estimated.term_df.tolist()[2] == counted.term_df.tolist()[2] == 0
    assert estimated.term_df.tolist()[0] == pytest.approx(counted.term_df.tolist()[0], rel=0.25)


def test_filters_and_times_come_before_the_cut(pair):
    for options in (
        {"where": {"speaker": "Yuki"}},
        {"where": {"speaker": {"$gt": "Tomas"}}},
        {"since": "2031-03-01", "until": "2031-04-01"},
    ):
        file, far = (
            {hit.unit.id for hit in m.recall("the harbour", k=10, floor=None, now="2032-01-01", **options)}
            for m in pair
        )
        assert len(file & far) >= 9


# -- what it costs -------------------------------------------------------------------------------------------


@pytest.fixture(params=["client", "edge"])
def counted(request, tmp_path):
    """A memory whose every scope is searched by the engine, and a list of the sizes of its batched searches."""
    if request.param == "edge":
        pytest.importorskip("qdrant_edge", reason="needs the extra [qdrant]")
        store = QdrantStore.open(tmp_path / "memory", whole=0)
    else:
        store = QdrantStore.connect(":memory:", whole=0)
    memory = Hindsight.open(store, "u", embedder=HashEmbedder(), new_id=CountedIds("e"))
    memory.remember_many(list(sentences())[:120], consolidate=False)
    memory.remember("Yuki's desk is in room 7420.", timestamp="2031-02-01")
    memory.remember("Yuki's desk is now in room 7421.", timestamp="2031-03-01")
    batches, query = [], store._points.query

    def counting(queries, fields):
        batches.append(len(queries))
        return query(queries, fields)

    store._points.query = counting
    yield memory, batches
    memory.close()


@pytest.mark.parametrize(
    "question",
    [
        "What did Mei do with the harbour number 7?",
        "In which room is Yuki's desk?",
        "Yuki's desk is in room 7420.",
        "Which came first: Mei sold the kettle, or Tomas painted the tunnel?",
        "What did Ines do in January 2031?",
    ],
)
def test_a_recall_is_one_batched_search_and_one_more_for_associations(counted, question):
    memory, batches = counted
    hits = memory.recall(question, k=10, now="2032-01-01")
    assert hits
    assert len(batches) <= 2
    assert batches[0] > 1


def test_what_was_superseded_is_found_by_the_same_searches(counted):
    memory, batches = counted
    hit = memory.recall("Yuki's desk is in room 7420.", k=1, now="2032-01-01")[0]
    assert "7421" in hit.unit.content
    assert len(batches) <= 2
    batches.clear()
    past = memory.recall("In which room is Yuki's desk?", k=10, include_history=True, now="2032-01-01")
    assert {"superseded", "active"} <= {hit.unit.status.value for hit in past}
    assert len(batches) <= 2


def test_learnt_weights_are_searched_by_the_engine(monkeypatch):
    monkeypatch.setattr(scene, "_SAMPLE", SAMPLE)
    told = list(sentences())[:400]
    file, far = filled(told, keywords=Letters())
    overlaps = []
    for what in THINGS:
        question = f"Who visited the {what} number 7?"
        found = [
            [hit.unit.id for hit in m.recall(question, k=10, floor=None, now="2032-01-01")]
            for m in (file, far)
        ]
        overlaps.append(len({*found[0]} & {*found[1]}) / 10)
    asked = Probe(
        visible=Visibility(scopes=(("u",),), now=file._now()),
        vector=None,
        terms=np.zeros(0, np.uint64),
        term_weights=np.zeros(0, np.float32),
        entities=np.zeros(0, np.uint64),
        learnt=token_ids({hash_of("quarry"): 1.0}),
        learnt_weights=np.ones(1, np.float32),
        top=20,
    )
    answers = []
    for memory in (file, far):
        with memory.parts.store.reading(asked.visible) as reading:
            candidates, bank = reading.search(asked)
        answers.append((dict(zip(candidates.ids, candidates.learnt[:, 0].tolist(), strict=True)), bank))
        memory.close()
    (counted, of_file), (found, of_far) = answers
    assert sorted(counted.values()) == pytest.approx(sorted(found.values()))
    assert of_far.learnt_mean == pytest.approx(of_file.learnt_mean, rel=0.3)
    assert np.mean(overlaps) >= 0.9
