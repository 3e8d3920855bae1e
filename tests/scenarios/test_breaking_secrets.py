"""No way in carries a secret to the disk: not the text, and not what stands around it."""

from datetime import UTC, datetime

import pytest

from hindsight_core import Hindsight
from hindsight_core.clock import CountedIds, FixedClock
from hindsight_core.embedding import EndpointEmbedder, HashEmbedder
from hindsight_core.settings import load_settings

NOW = datetime(2031, 5, 20, 9, 0, tzinfo=UTC)
SECRET = "sk-" + "Zq7" * 8

WAYS = {
    "text": lambda m: m.remember(f"The key is {SECRET}."),
    "metadata": lambda m: m.remember("Use it.", metadata={"deep": [{"note": f"key {SECRET}"}]}),
    "source": lambda m: m.remember("Use it.", source=f"https://files.example/doc?api_key={SECRET}"),
    "uri": lambda m: m.remember(
        "Use it.", source={"document": "d", "uri": f"https://x.example/?token={SECRET}"}
    ),
    "section": lambda m: m.remember("Use it.", source={"document": "d", "section": f"Key {SECRET}"}),
    "session": lambda m: m.remember("Use it.", session=f"run {SECRET}"),
    "many": lambda m: m.remember_many([{"text": f"钥匙是 {SECRET}。"}]),
    "keep": lambda m: m.keep([{"id": "k", "text": f"key {SECRET}", "metadata": {"api_key": SECRET}}]),
    "updated text": lambda m: m.update(m.remember("Use it.")[0].id, text=f"key {SECRET}"),
    "updated metadata": lambda m: m.update(m.remember("Use it.")[0].id, metadata={"api_key": SECRET}),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_way_in_carries_a_secret_to_the_disk(tmp_path, way):
    with Hindsight.open(
        tmp_path / "m.db", "u", embedder=HashEmbedder(), clock=FixedClock(NOW), new_id=CountedIds()
    ) as memory:
        WAYS[way](memory)
        memory.recall(f"What is {SECRET}?", history=[SECRET], floor=None).context()
        memory.export(tmp_path / "out.jsonl")
        written = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert SECRET.encode() not in written


def test_an_address_with_a_password_is_shown_by_nothing():
    address = "http://ada:plum-Tree-88@models.example/v1"
    settings = load_settings(environment={}, llm_base_url=address, embedder_base_url=address)
    assert settings.llm_base_url == address
    assert "plum" not in f"{settings!r} {EndpointEmbedder('bge-m3', base_url=address)!r}"
