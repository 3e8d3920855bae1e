# ruff: noqa: D102 - the name of a test says what it shows
"""Erasing: what is gone for good, and from where."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from hindsight_core.contract.base import (
    EVERY_STATUS,
    MEI,
    NOW,
    ContractBase,
    probe,
    refused,
    unit,
    visible,
)
from hindsight_core.errors import NotFound
from hindsight_core.journal import replay
from hindsight_core.unit import Entity, Episode, Link, LinkKind, Occurrence, Source


class ErasingContract(ContractBase):
    """What erasing leaves: nothing but a tombstone."""

    def test_an_erased_memory_is_gone_from_every_byte(self, tmp_path: Path) -> None:
        self.need("erases_bytes")
        secrets = ["Quillfeather", "zanzibarish", "鸬鹚暗号", "Ümläutwort", "vexillologist", "petrichorous"]
        text = f'Mei keeps {secrets[0]} in "{secrets[1]}" {secrets[2]}.'
        said = f"Harmless start. {text} Harmless end, 无害的结尾。"
        with self.opened(tmp_path) as store:
            with store.write(actor="test", batch="b", now=NOW) as tx:
                tx.put_episode(Episode(scope=MEI, id="e1", text=said, recorded_at=NOW))
                tx.put_episode(Episode(scope=MEI, id="e2", text=secrets[3], recorded_at=NOW))
            (kept,) = self.put(store, unit("kept", "Harmless start."), unit("x"))[:1]
            start = said.index(text)
            (a,) = self.put(store, unit(
                "a", text, summary=f"about {secrets[4]}", entities=(Entity(secrets[0], "system", secrets[0].lower()),),
                source=Source(episode="e1", span=(start, start + len(text)), speaker=secrets[4]),
                occurrences=(Occurrence(source=Source(episode="e2", span=(0, 10)), timestamp=NOW, recorded_at=NOW, text=secrets[3]),),
                related_ids=(Link("kept", LinkKind.SIMILAR),), metadata={"note": secrets[5], secrets[5]: 1},
            ))  # fmt: skip
            self.put(store, replace(a, importance=0.9))
            for i in range(40):  # pages are split and balanced meanwhile
                self.put(store, unit(f"m{i}", f"filler {i} " * 30, metadata={"i": str(i) * 50}))
            with store.write(actor="user", batch="erase", now=NOW) as tx:
                tx.erase(a.key)
            assert self.get(store, "a") is None
            assert self.get(store, "kept") == kept
            (episode,) = store.episodes(MEI)
            assert episode.text[:start] == said[:start]
            assert episode.text[start + len(text) :] == said[start + len(text) :]
            tombstones = list(store.events(key=a.key))
            assert len(tombstones) == 3
            assert all(e.erased and e.before is None and e.after is None for e in tombstones)
            assert _leftovers(tmp_path, secrets) == []
            assert store.check() == []
        assert _leftovers(tmp_path, secrets) == []

    def test_the_journal_lets_go_of_what_has_long_been_gone(self, tmp_path: Path) -> None:
        long_ago, since = NOW - timedelta(days=40), NOW - timedelta(days=30)
        with self.opened(tmp_path) as store:
            self.put(store, unit("gone", "petrichorous"), unit("there"), unit("late"), now=long_ago)
            for key, at in ((MEI, "gone"), long_ago), ((MEI, "late"), NOW):
                with store.write(actor="sweep", batch=f"away {key[1]}", now=at) as tx:
                    tx.remove(key, reason="faded")
            events = list(store.events())
            with store.write(actor="sweep", batch="let go", now=NOW) as tx:
                tx.let_go([(MEI, id) for id in ("gone", "there", "late", "never")], before=since)
            after = list(store.events())
            assert [e.seq for e in after] == [e.seq for e in events]
            for was, now in zip(events, after, strict=True):
                assert now == (
                    replace(was, before=None, after=None, erased=True) if was.key[1] == "gone" else was
                )
            assert replay(after) == {(MEI, "there"): self.get(store, "there")}
            assert store.check() == []

    def test_what_another_memory_took_over_is_erased_too(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            place = Source(episode="e", span=(5, 9))
            (a,) = self.put(store, unit("a", "Aardvarkish wording", source=place))
            (b,) = self.put(store, unit("b", "The fact"))
            with store.write(actor="sweep", batch="merge", now=NOW) as tx:
                tx.remove(a.key, reason="merged")
                tx.put(
                    replace(b, occurrences=(
                        Occurrence(source=place, timestamp=None, recorded_at=NOW, text="Aardvarkish wording"),
                        Occurrence(source=Source(episode="f"), timestamp=None, recorded_at=NOW, text="The fact!"),
                    )),
                    None, reason="merged",
                )  # fmt: skip
            with store.write(actor="user", batch="erase", now=NOW) as tx:
                tx.erase(a.key)
            merged = self.get(store, "b")
            assert merged is not None
            assert [o.text for o in merged.occurrences] == ["The fact!"]
            assert list(store.events(key=b.key))[-1].after == merged
            if self.capabilities.erases_bytes:
                assert _leftovers(tmp_path, ["Aardvarkish"]) == []

    def test_a_memory_erased_takes_along_what_was_merged_into_it(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            a, b = self.put(store, unit("a", "Aardvarkish wording"), unit("b", "The fact"))
            with store.write(actor="sweep", batch="merge", now=NOW) as tx:
                tx.remove(a.key, reason="merged")
                wording = Occurrence(source=a.source, timestamp=None, recorded_at=NOW, text=a.content)
                tx.put(replace(b, occurrences=(wording,)), None, reason="merged")
            with store.write(actor="user", batch="erase", now=NOW) as tx:
                tx.erase(b.key)
            assert all(event.erased for event in store.events())
            if self.capabilities.erases_bytes:
                assert _leftovers(tmp_path, ["Aardvarkish", "The fact"]) == []

    def test_a_removed_memory_can_still_be_erased(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            (a,) = self.put(store, unit("a", "Aardvarkish wording"))
            with store.write(actor="user", batch="forget", now=NOW) as tx:
                tx.remove(a.key, reason="forgotten")
            with store.write(actor="user", batch="erase", now=NOW) as tx:
                tx.erase(a.key)
            assert all(event.erased for event in store.events())
            if self.capabilities.erases_bytes:
                assert _leftovers(tmp_path, ["Aardvarkish"]) == []
            with store.write(actor="user", batch="again", now=NOW) as tx, refused(NotFound):
                tx.erase(a.key)

    def test_an_erased_id_can_be_used_again(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            (a,) = self.put(store, unit("a", "tea"))
            with store.write(actor="user", batch="erase", now=NOW) as tx:
                tx.erase(a.key)
                assert tx.get(a.key) is None
            with store.reading(visible(statuses=EVERY_STATUS)) as reading:
                assert reading.search(probe(visible(), words={"tea": 1}))[0].ids == []
            (again,) = self.put(store, unit("a", "tea"))
            assert again.seq > a.seq
            with store.reading(visible()) as reading:
                assert reading.search(probe(visible(), words={"tea": 1}))[0].ids == ["a"]


def _leftovers(folder: Path, words: list[str]) -> list[tuple[str, str]]:
    """Files that hold one of the words, in any of the ways text is written."""
    data = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return [
        (name, word)
        for name, content in data.items()
        for word in words
        if any(
            form in content
            for form in (
                word.encode(),
                word.lower().encode(),
                word.encode("utf-16-le"),
                word.encode("utf-16-be"),
                json.dumps(word)[1:-1].encode(),
            )
        )
    ]
