"""Writing: transactions, links, the journal, undoing."""

# ruff: noqa: D102 - the name of a test says what it shows
from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

from hindsight_core.contract.base import (
    MEI,
    NOW,
    TEAM,
    ContractBase,
    day,
    entry,
    plain,
    probe,
    refused,
    unit,
    visible,
)
from hindsight_core.errors import HindsightError, InvalidInput, NotFound, StoreClosed
from hindsight_core.journal import replay
from hindsight_core.ports import Use
from hindsight_core.unit import (
    Entity,
    Episode,
    Link,
    LinkKind,
    MemoryType,
    MemoryUnit,
    Occurrence,
    Source,
    Status,
)

EAST = timezone(timedelta(hours=8))

FULL = MemoryUnit(
    scope=MEI,
    id="备忘/1",
    content='Mei 说:"周三去修自行车" \\ 🐈\n\tthen tea.',
    summary="周三修车",
    entities=(
        Entity("Mei", "person", "mei"),
        Entity("周三", "time", "2031-05-07T00:00:00+08:00/2031-05-08T00:00:00+08:00"),
    ),
    timestamp=datetime(2031, 5, 4, 9, 30, 0, 123456, tzinfo=EAST),
    occurrences=(
        Occurrence(
            source=Source(session="s2", turn=4, span=(0, 3), episode="e2"),
            timestamp=None,
            recorded_at=datetime(2031, 5, 5, 9, tzinfo=EAST),
            text="修车,周三",
        ),
        Occurrence(source=Source(), timestamp=day(0), recorded_at=day(1)),
    ),
    valid_from=datetime(1999, 12, 31, 23, 59, 59, 999999, tzinfo=EAST),
    valid_to=datetime(2099, 1, 1, tzinfo=EAST),
    recorded_at=datetime(2031, 5, 4, 9, 31, tzinfo=EAST),
    last_access=datetime(2031, 5, 6, tzinfo=EAST),
    access_count=3,
    pinned=True,
    expires_at=datetime(2032, 1, 1, tzinfo=EAST),
    indexed=False,
    importance=0.0,
    weight=0.1,
    weight_at=datetime(2031, 5, 6, 1, 2, 3, 4, tzinfo=EAST),
    source=Source(
        speaker="user", document="d", uri="file:///d", session="s1", turn=0, span=(3, 40), episode="e1"
    ),
    memory_type=MemoryType.PROCEDURAL,
    status=Status.ARCHIVED,
    caller_id=True,
    metadata={"键": ["值", 1, 2.5, None, True, {"a": {}}], "": "", "n": 2**70},
)


class WritingContract(ContractBase):
    """What a write does, and what it leaves alone."""

    # -- round trips and transactions ------------------------------------------------------------------------

    def test_a_memory_comes_back_as_it_was(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            (stored,) = self.put(store, FULL)
            again = self.get(store, FULL.id)
        assert again == stored
        assert plain(again) == FULL
        assert again is not None
        assert again.timestamp is not None
        assert again.timestamp.utcoffset() == timedelta(hours=8)
        assert again.weight_at.utcoffset() == timedelta(hours=8)

    def test_a_memory_survives_closing(self, tmp_path: Path) -> None:
        self.need("persistent")
        for _ in range(2):
            with self.opened(tmp_path) as store:
                if self.get(store, FULL.id) is None:
                    self.put(store, FULL)
                assert plain(self.get(store, FULL.id)) == FULL
                assert [event.after for event in store.events()] == [self.get(store, FULL.id)]

    def test_any_id_is_an_id(self, tmp_path: Path) -> None:
        ids = ["note-1", "7", "a/b", "备忘1", "a#1", " ", "%", "a'b\"c", "A", "a"]
        with self.opened(tmp_path) as store:
            self.put(store, *(unit(id) for id in ids))
            assert [u.id for u in store.get([(MEI, id) for id in ids]) if u] == ids

    def test_a_lone_surrogate_is_stored_alike_every_time(self, tmp_path: Path) -> None:
        dirty = unit("a\ud83e", "猫 \ud83e tea", metadata={"k\ud83e": "v\ud83e"})
        with self.opened(tmp_path) as store:
            first = self.put(store, dirty)
            second = self.put(store, dirty)
            assert first == second == [self.get(store, "a\ud83e")]
            assert len(store.find(visible())) == 1

    def test_order_of_arrival_is_kept_on_replacement(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            a, b = self.put(store, unit("a"), unit("b"))
            assert 0 < a.seq < b.seq
            (again,) = self.put(store, unit("a", "other words"))
            assert again.seq == a.seq

    def test_a_write_that_raises_leaves_nothing(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            (kept,) = self.put(store, unit("a", "tea"))
            with suppress(ZeroDivisionError), store.write(actor="test", batch="b", now=NOW) as tx:
                tx.put(unit("a", "coffee"), entry("coffee"), reason="test")
                tx.put(unit("b"), entry("b"), reason="test")
                tx.put_episode(Episode(scope=MEI, id="e", text="t", recorded_at=NOW))
                tx.use([Use(key=kept.key, weight=1.0, at=NOW, access_count=9)])
                tx.set_meta("name", "value")
                with store.reading(visible()) as reading:
                    reading.search(probe(visible(), words={"coffee": 1}))
                1 / 0  # noqa: B018
            assert store.find(visible()) == [kept]
            assert store.episodes(MEI) == []
            assert "name" not in store.meta()
            assert len(list(store.events())) == 1
            with store.reading(visible()) as reading:
                assert reading.search(probe(visible(), words={"coffee": 1}))[0].ids == []
                assert reading.search(probe(visible(), words={"tea": 1}))[0].ids == ["a"]
            (after,) = self.put(store, unit("c", "coffee"))
            with store.reading(visible()) as reading:
                assert reading.search(probe(visible(), words={"coffee": 1}))[0].ids == ["c"]
            assert after.seq > kept.seq

    def test_a_write_sees_itself_and_others_do_not(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            with store.write(actor="test", batch="b", now=NOW) as tx:
                put = tx.put(unit("a", "tea"), entry("tea"), reason="test")
                assert tx.get(put.key) == put
                assert tx.get((MEI, "b")) is None
                assert store.get([put.key]) == [put]
                with store.reading(visible()) as reading:
                    assert reading.search(probe(visible(), words={"tea": 1}))[0].ids == ["a"]
            assert store.get([put.key]) == [put]

    def test_what_has_ended_says_so(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        with store.write(actor="test", batch="b", now=NOW) as tx:
            pass
        with store.reading(visible()) as reading:
            pass
        with refused(HindsightError):
            tx.put(unit("a"), entry(), reason="late")
        with refused(HindsightError):
            reading.search(probe(visible()))
        store.close()
        store.close()
        for closed in (
            lambda: store.get([(MEI, "a")]),
            lambda: store.find(visible()),
            lambda: list(store.events()),
            lambda: store.write(actor="test", batch="b", now=NOW).__enter__(),
            lambda: store.reading(visible()).__enter__(),
        ):
            with refused(StoreClosed):
                closed()

    def test_an_empty_scope_is_refused(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            with refused(InvalidInput):
                self.put(store, unit("a", scope=()))
            with refused(InvalidInput):
                store.find(visible(()))
            with refused(InvalidInput):
                store.reading(visible(MEI, ())).__enter__()
            assert store.scopes() == []

    def test_a_refused_memory_leaves_the_write_usable(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            with store.write(actor="test", batch="b", now=NOW) as tx:
                tx.put(unit("a"), entry("a", [1, 0]), reason="test")
                for bad, bad_entry in (
                    (unit("b"), entry("b", [1, 0, 0])),  # another dimension
                    (unit("b"), None),  # new, to be found, and no entry
                    (unit("b", metadata={"x": object()}), entry("b")),
                    (unit("b", source=Source(turn=2**70)), entry("b")),
                    (unit("b", entities=(Entity("x", "time", "today"),)), entry("b")),
                ):
                    with refused(InvalidInput):
                        tx.put(bad, bad_entry, reason="test")
                tx.put(unit("c"), entry("c", [0, 1]), reason="test")
            assert [u.id for u in store.find(visible(), newest_first=False)] == ["a", "c"]
            assert [event.key[1] for event in store.events()] == ["a", "c"]
            assert store.check() == []

    def test_the_same_words_are_found_again(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self.put(
                store,
                unit("a", "我喜欢喝茶。"),
                unit("b", "我喜欢喝咖啡。"),
                unit("c", "我喜欢喝茶!", status=Status.SUPERSEDED),
                unit("d", "我喜欢喝茶", scope=TEAM),
                unit("e", "我喜欢喝茶！"),
            )
            with store.write(actor="test", batch="b", now=NOW) as tx:
                assert [u.id for u in tx.repeats(MEI, "我喜欢喝茶")] == ["a", "e"]
                assert tx.repeats(("nobody",), "我喜欢喝茶") == []

    def test_settings_are_kept(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            assert dict(store.meta()) == {}
            for value in ("1", "二"):
                with store.write(actor="test", batch="b", now=NOW) as tx:
                    tx.set_meta("calibration", value)
            assert dict(store.meta()) == {"calibration": "二"}

    def test_a_recall_is_remembered(self, tmp_path: Path) -> None:
        keys = [(MEI, "a"), (("x", "y"), "备忘")]
        with self.opened(tmp_path) as store:
            with store.write(actor="test", batch="b", now=NOW) as tx:
                tx.log_recall("r1", MEI, NOW, keys)
            assert store.recall_log("r1") == (MEI, keys)
            assert store.recall_log("r2") is None

    # -- uses ------------------------------------------------------------------------------------------------

    def test_a_use_moves_only_its_own_columns(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            (before,) = self.put(store, FULL)
            at = datetime(2031, 6, 1, 8, tzinfo=EAST)
            with store.write(actor="test", batch="b", now=NOW) as tx:
                tx.use([
                    Use(key=FULL.key, weight=0.7, at=at, access_count=4),
                    Use(key=(MEI, "gone"), weight=1, at=at, access_count=1),
                ])  # fmt: skip
            used = self.get(store, FULL.id)
            assert used == replace(before, weight=0.7, weight_at=at, last_access=at, access_count=4)
            assert used is not None
            assert used.weight_at.utcoffset() == timedelta(hours=8)
            assert len(list(store.events())) == 1

    def test_a_use_reaches_the_next_search(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            (stored,) = self.put(store, unit("a", "tea"))
            question = probe(visible(), words={"tea": 1})
            with store.reading(visible()) as reading:
                assert reading.search(question)[0].weight.tolist() == [0.5]
            with store.write(actor="test", batch="b", now=NOW) as tx:
                tx.use([Use(key=stored.key, weight=0.75, at=day(9), access_count=1)])
            with store.reading(visible()) as reading:
                candidates = reading.search(question)[0]
            assert candidates.weight.tolist() == [0.75]
            assert candidates.weight_at.tolist() == [day(9).timestamp()]

    # -- links -----------------------------------------------------------------------------------------------

    def test_links_stand_at_both_ends(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self.put(store, unit("old"), unit("near"))
            (new,) = self.put(
                store,
                unit("new", related_ids=(
                    Link("old", LinkKind.EVOLVES),
                    Link("near", LinkKind.SIMILAR),
                    Link("near", LinkKind.SIMILAR, outgoing=False),
                    Link("new", LinkKind.SIMILAR),
                    Link("nobody", LinkKind.ENTITY),
                )),
            )  # fmt: skip
            old, near = self.get(store, "old"), self.get(store, "near")
            assert new.related_ids == (Link("near", LinkKind.SIMILAR), Link("old", LinkKind.EVOLVES))
            assert old is not None
            assert near is not None
            assert old.related_ids == (Link("new", LinkKind.EVOLVES, outgoing=False),)
            assert near.related_ids == (Link("new", LinkKind.SIMILAR),)
            self.put(store, replace(old, related_ids=()))
            again = self.get(store, "new")
            assert again is not None
            assert again.related_ids == (Link("near", LinkKind.SIMILAR),)

    def test_links_end_with_either_end(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self.put(store, unit("a"), unit("b", related_ids=(Link("a", LinkKind.FOLLOWS),)))
            self.put(store, unit("c", related_ids=(Link("a", LinkKind.SIMILAR), Link("b", LinkKind.SIMILAR))))
            for gone, left in (("a", (Link("c", LinkKind.SIMILAR),)), ("c", ())):
                with store.write(actor="test", batch="b", now=NOW) as tx:
                    tx.remove((MEI, gone), reason="test")
                b = self.get(store, "b")
                assert b is not None
                assert b.related_ids == left
            assert store.check() == []

    def test_links_stay_within_a_scope(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self.put(store, unit("a", scope=TEAM))
            (b,) = self.put(store, unit("b", related_ids=(Link("a", LinkKind.SIMILAR),)))
            assert b.related_ids == ()

    # -- the journal -----------------------------------------------------------------------------------------

    def test_every_change_is_one_event(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            (a,) = self.put(store, unit("a", "tea"), batch="b1", now=day(1))
            (a2,) = self.put(
                store, replace(a, content="coffee"), batch="b2", now=datetime(2031, 5, 3, tzinfo=EAST)
            )
            self.put(store, unit("b", scope=TEAM), batch="b2", now=day(3))
            with store.write(actor="sweep", batch="b3", now=day(4)) as tx:
                tx.remove(a.key, reason="faded")
            events = list(store.events())
            assert [(e.key[1], e.before, e.after) for e in events[:2]] == [("a", None, a), ("a", a, a2)]
            last = events[-1]
            assert (last.before, last.after, last.reason, last.actor) == (a2, None, "faded", "sweep")
            assert (last.batch, last.at, last.erased) == ("b3", day(4), False)
            assert events[1].at.utcoffset() == timedelta(hours=8)
            assert [e.seq for e in events] == sorted({e.seq for e in events})
            assert list(store.events(after=events[1].seq)) == events[2:]
            assert list(store.events(key=a.key)) == [events[0], events[1], events[3]]
            assert list(store.events(batch="b2")) == events[1:3]
            assert list(store.events(scopes=[MEI])) == [events[0], events[1], events[3]]
            assert list(store.events(scopes=[TEAM])) == events
            assert list(store.events(scopes=[])) == []
            assert list(store.events(key=(TEAM, "a"))) == []
            assert store.position() == last.seq
            assert store.changed(after=last.seq, scopes=[TEAM]) == []
            assert store.changed(after=0, scopes=[]) == []
            assert set(store.changed(after=0, scopes=[TEAM])) == {e.key for e in events}
            assert set(store.changed(after=events[1].seq, scopes=[MEI])) == {
                e.key for e in events[2:] if e.key[0] == MEI
            }

    def test_a_long_journal_is_read_to_its_end(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self.put(store, *(unit(f"{i:04}") for i in range(700)))
            assert [e.key[1] for e in store.events()] == [f"{i:04}" for i in range(700)]

    def test_replaying_gives_the_same_memories(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self.put(store, unit("a"), unit("b", related_ids=(Link("a", LinkKind.EVOLVES),)), unit("c"))
            b = self.get(store, "b")
            assert b is not None
            self.put(store, replace(b, related_ids=(*b.related_ids, Link("c", LinkKind.SIMILAR))))
            self.put(store, unit("d", related_ids=(Link("b", LinkKind.MERGED), Link("c", LinkKind.ENTITY))))
            with store.write(actor="test", batch="x", now=NOW) as tx:
                tx.remove((MEI, "c"), reason="test")
            self.undo(store, "x")
            with store.write(actor="test", batch="y", now=NOW) as tx:
                tx.erase((MEI, "a"))
            present = {u.key: u for u in store.find(visible())}
            assert sorted(id for _, id in present) == ["b", "c", "d"]
            assert replay(store.events()) == present

    def test_a_removal_can_be_undone(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            before = self.put(
                store,
                (unit("a", "tea"), entry("tea", [1, 0])),
                (unit("b", "milk", related_ids=(Link("a", LinkKind.EVOLVES),)), entry("milk", [0, 1])),
                (unit("c", "sugar"), entry("sugar", [1, 0])),
            )
            with store.write(actor="sweep", batch="sweep", now=NOW) as tx:
                for id in ("a", "b"):
                    tx.remove((MEI, id), reason="faded")
            assert self.get(store, "a") is None
            self.undo(store, "sweep")
            after = store.get([u.key for u in before])
            linked = self.get(store, "a")
            assert linked is not None
            assert linked.related_ids == (Link("b", LinkKind.EVOLVES, outgoing=False),)
            assert after == [linked, *before[1:]]
            assert linked.seq == before[0].seq
            with store.reading(visible()) as reading:
                candidates, _ = reading.search(probe(visible(), vector=[1, 0], words={"tea": 1}))
                assert dict(zip(candidates.ids, candidates.cosine.tolist(), strict=True)) == {
                    "a": 1,
                    "b": 0,
                    "c": 1,
                }
                assert candidates.terms[candidates.ids.index("a")] > 0

    def test_new_words_can_be_undone(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            (a,) = self.put(store, (unit("a", "tea"), entry("tea", [1, 0])))
            self.put(store, (replace(a, content="coffee"), entry("coffee", [0, 1])), batch="change")
            self.undo(store, "change")
            assert self.get(store, "a") == a
            with store.reading(visible()) as reading:
                question = probe(visible(), vector=[1, 0], words={"coffee": 1, "tea": 1})
                candidates, _ = reading.search(question)
            assert candidates.cosine.tolist() == [1]
            assert (candidates.terms > 0).tolist() == [[False, True]]

    def test_removing_nothing_says_so(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store, store.write(actor="test", batch="b", now=NOW) as tx:
            with refused(NotFound):
                tx.remove((MEI, "a"), reason="test")
            with refused(NotFound):
                tx.erase((MEI, "a"))
