"""A handle that was open when its store moved over to another model writes nothing more: vectors of two models never mix."""

import pytest

from hindsight_core import Hindsight
from hindsight_core.embedding import HashEmbedder
from hindsight_core.errors import EmbedderMismatch

NOW = "2031-05-20T09:00Z"


class Renamed(HashEmbedder):
    """Vectors of the same size that mean something else."""

    def __init__(self):
        super().__init__()
        self.fingerprint = "renamed"


class Weights:
    """A sparse embedder with one token for everything."""

    def __init__(self, name):
        self.sparse_fingerprint = name

    def sparse_documents(self, texts):
        return [{7: 1.0} for _ in texts]

    def sparse_query(self, text):
        return {7: 1.0}


WRITES = {
    "remember": lambda memory, key, export: memory.remember("The gateway listens on port 7421."),
    "remember_many": lambda memory, key, export: memory.remember_many([{"text": "网关的端口是 7421。"}]),
    "keep": lambda memory, key, export: memory.keep([{"id": "k", "text": "网关的端口是 7421。"}]),
    "update": lambda memory, key, export: memory.update(key, text="The kettle is red."),
    "import": lambda memory, key, export: memory.import_(export),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize(
    ("models", "others"),
    [
        ({"embedder": HashEmbedder()}, {"embedder": Renamed()}),
        ({"embedder": HashEmbedder()}, {"embedder": HashEmbedder(48)}),
        ({"embedder": HashEmbedder(), "keywords": Weights("one")}, {"keywords": Weights("two")}),
    ],
    ids=["same size", "other size", "keywords"],
)
def test_a_write_through_it_is_refused_and_adds_no_memory(open_memory, tmp_path, models, others, write):
    elsewhere = open_memory(":memory:", embedder=None)
    elsewhere.remember("Deployments happen on Thursdays.")
    elsewhere.export(tmp_path / "export.jsonl")
    path = tmp_path / "m.db"
    stale = open_memory(path, **models)
    key = stale.remember("The kettle is green.")[0].id
    with Hindsight.open(path, scope=stale.scope, embedder=None) as mover:
        mover.reembed(others.get("embedder"), keywords=others.get("keywords"))
    with pytest.raises(EmbedderMismatch, match="Open it with the first, or move it over"):
        write(stale, key, tmp_path / "export.jsonl")
    assert [unit.content for unit in stale.find()] == ["The kettle is green."]
    # What needs no model goes on.
    stale.update(key, pinned=True)
    stale.keep([], drop=[key])
    assert stale.find() == []


def test_the_handle_that_moved_it_is_stale_too_and_another_one_goes_on(open_memory, tmp_path):
    path = tmp_path / "m.db"
    memory = open_memory(path, embedder=HashEmbedder())
    memory.remember("茶壶是绿色的。")
    memory.reembed(Renamed())
    with pytest.raises(EmbedderMismatch):
        memory.remember("The kettle is red.")
    again = open_memory(path, embedder=Renamed())
    again.remember("The gateway listens on port 7421.")
    assert again.doctor() == []
    assert again.recall("茶壶", now=NOW)[0].unit.content == "茶壶是绿色的。"
