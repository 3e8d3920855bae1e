"""Exact access: by key, by filter, by episode; counts; who may see what."""

# ruff: noqa: D102 - the name of a test says what it shows
from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

from hindsight_core.contract.base import (
    EVERY_STATUS,
    MEI,
    NOW,
    TEAM,
    ContractBase,
    day,
    entry,
    found,
    probe,
    refused,
    unit,
    visible,
)
from hindsight_core.errors import InvalidInput
from hindsight_core.filters import Filter
from hindsight_core.ports import Store, Use, Visibility, Vital
from hindsight_core.unit import Entity, Episode, Link, LinkKind, MemoryType, Occurrence, Scope, Source, Status

LIN: Scope = ("kestrel", "lin")
MEI_AT_WORK: Scope = ("kestrel", "mei", "work")
LOOKALIKES: tuple[Scope, ...] = (
    ("kestrel", "mei2"),
    ("kestrel", "me"),
    ("kestrel2", "mei"),
    ("kestrel,mei",),
    ('kestrel","mei',),
    ("mei", "kestrel"),
    ("Kestrel", "mei"),
    ("kestrel", "mei\x00"),
)


class LibraryContract(ContractBase):
    """What exact questions answer."""

    def both(self, store: Store, seen: Visibility) -> list[str]:
        """The ids that `find` shows; a search for a word that all memories have must show the same."""
        by_find = sorted(u.id for u in store.find(seen))
        with store.reading(seen) as reading:
            assert found(reading, probe(seen, words={"memory": 1}, top=1000)) == by_find
        assert store.count(seen) == {"": len(by_find)}
        return by_find

    # -- scopes ----------------------------------------------------------------------------------------------

    def test_a_scope_is_read_by_whole_segments(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            for scope in (MEI, LIN, TEAM, MEI_AT_WORK, *LOOKALIKES):
                self.put(store, unit("/".join(scope), "memory", scope=scope))
            assert self.both(store, visible(MEI)) == ["kestrel/mei", "kestrel/mei/work"]
            assert self.both(store, visible(LIN)) == ["kestrel/lin"]
            assert self.both(store, visible(LIN, MEI_AT_WORK)) == ["kestrel/lin", "kestrel/mei/work"]
            assert self.both(store, visible(("nobody",))) == []
            assert len(self.both(store, visible(TEAM))) == 7
            assert store.scopes(MEI) == [MEI, MEI_AT_WORK]
            assert set(store.scopes()) == {MEI, LIN, TEAM, MEI_AT_WORK, *LOOKALIKES}

    def test_one_id_in_two_scopes_is_two_memories(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self.put(store, unit("a", "memory one"), unit("a", "memory two", scope=LIN))
            with store.write(actor="test", batch="b", now=NOW) as tx:
                tx.remove((LIN, "a"), reason="test")
            assert self.both(store, visible(TEAM)) == ["a"]
            mine = self.get(store, "a")
            assert mine is not None
            assert mine.content == "memory one"

    def test_keys_are_answered_in_order(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            a, b = self.put(store, unit("a"), unit("b", scope=LIN))
            assert store.get([b.key, (MEI, "b"), a.key, b.key]) == [b, None, a, b]
            assert store.get([]) == []
            many = self.put(store, *(unit(f"m{i}") for i in range(1200)))
            assert store.get([u.key for u in many]) == many

    # -- visibility ------------------------------------------------------------------------------------------

    def test_hidden_memories_are_hidden_everywhere(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self.put(
                store,
                unit("active", "memory"),
                unit("archived", "memory", status=Status.ARCHIVED),
                unit("superseded", "memory", status=Status.SUPERSEDED),
                unit("expired", "memory", expires_at=NOW),
                unit("expiring", "memory", expires_at=NOW + timedelta(microseconds=1)),
            )
            assert self.both(store, visible()) == ["active", "expiring"]
            assert self.both(store, visible(statuses=frozenset({Status.ARCHIVED}))) == ["archived"]
            assert self.both(store, visible(statuses=frozenset())) == []
            assert len(self.both(store, visible(statuses=EVERY_STATUS))) == 4
            assert len(self.both(store, visible(statuses=EVERY_STATUS, now=day(0)))) == 5

    def test_unindexed_memories_are_for_exact_questions(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self.put(
                store, (unit("a", "memory", indexed=False), entry("memory")), (unit("b", indexed=False), None)
            )
            assert self.both(store, visible()) == []
            assert len(store.find(visible(unindexed=True))) == 2
            with store.reading(visible(unindexed=True)) as reading:
                assert found(reading, probe(visible(unindexed=True), words={"memory": 1})) == []

    def test_as_of_shows_what_held(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self.put(
                store,
                unit("undated", "memory"),
                unit("said", "memory", timestamp=day(2)),
                unit(
                    "held",
                    "memory",
                    timestamp=day(9),
                    valid_from=day(1),
                    valid_to=day(3),
                    status=Status.SUPERSEDED,
                ),
                unit("since", "memory", timestamp=day(0), valid_from=day(3)),
                unit("archived", "memory", status=Status.ARCHIVED),
            )
            assert self.both(store, visible(as_of=day(0))) == ["undated"]
            assert self.both(store, visible(as_of=day(1))) == ["held", "undated"]
            assert self.both(store, visible(as_of=day(2))) == ["held", "said", "undated"]
            assert self.both(store, visible(as_of=day(3))) == ["said", "since", "undated"]

    def test_known_at_shows_what_was_known(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            (old,) = self.put(store, unit("old", "memory of 7420", recorded_at=day(1)), now=day(1))
            self.put(store, unit("gone", "memory", recorded_at=day(1)), now=day(1))
            with store.write(actor="test", batch="change", now=day(3)) as tx:
                tx.put(replace(old, status=Status.SUPERSEDED, valid_to=day(3)), None, reason="evolved")
                new = unit(
                    "new", "memory of 7421", recorded_at=day(3), related_ids=(Link("old", LinkKind.EVOLVES),)
                )
                tx.put(new, entry(new.content), reason="test")
            self.put(store, unit("imported", "memory", recorded_at=day(2)), now=day(5))
            with store.write(actor="test", batch="remove", now=day(6)) as tx:
                tx.remove((MEI, "gone"), reason="test")
            assert self.both(store, visible()) == ["imported", "new"]
            assert self.both(store, visible(known_at=day(0))) == []
            assert self.both(store, visible(known_at=day(1))) == ["old"]  # what is gone does not come back
            assert self.both(store, visible(known_at=day(2))) == ["imported", "old"]
            assert self.both(store, visible(known_at=day(3))) == ["imported", "new"]
            seen = visible(known_at=day(2), as_of=day(4), where=Filter.parse({"valid_to": None}))
            assert self.both(store, seen) == ["imported", "old"]
            assert store.count(visible(known_at=day(2)), by="status") == {"active": 2}
            (shown,) = (u for u in store.find(seen) if u.id == "old")
            assert shown == old
            with store.reading(seen) as reading:
                candidates, _ = reading.search(probe(seen, words={"7420": 1}))
                assert candidates.status.tolist() == [list(Status).index(Status.ACTIVE)]
                assert reading.units(candidates.rows) == [old]

    # -- find ------------------------------------------------------------------------------------------------

    def test_find_is_by_time_then_arrival(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self.put(
                store,
                unit("c", timestamp=day(2)),
                unit("u1"),
                unit("a", timestamp=day(1)),
                unit("b", timestamp=day(1)),
                unit("u2"),
            )
            assert [u.id for u in store.find(visible())] == ["c", "b", "a", "u2", "u1"]
            assert [u.id for u in store.find(visible(), newest_first=False)] == ["u1", "u2", "a", "b", "c"]
            assert [u.id for u in store.find(visible(), limit=2, offset=1)] == ["b", "a"]
            assert [u.id for u in store.find(visible(), limit=0)] == []
            assert [u.id for u in store.find(visible(), offset=4)] == ["u1"]
            with refused(InvalidInput):
                store.find(visible(), limit=-1)

    def test_find_counts_and_lists_everything(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self.put(store, *(unit(f"{i:03}", "memory") for i in range(130)))
            assert len(self.both(store, visible())) == 130

    def test_find_takes_the_filter(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self.put(
                store,
                unit(
                    "a",
                    "memory",
                    metadata={"team": "红", "rank": 1},
                    entities=(Entity("Redis", "system", "redis"),),
                ),
                unit("b", "memory", metadata={"team": "blue", "rank": "1"}, importance=0.9, timestamp=day(2)),
                unit(
                    "c",
                    "memory",
                    metadata={"rank": 2, "deep": {"tags": ["x", "红"]}},
                    memory_type=MemoryType.SEMANTIC,
                ),
            )
            for where, ids in (
                ({}, ["a", "b", "c"]),
                ({"metadata.team": "红"}, ["a"]),
                ({"metadata.team": {"$ne": "红"}}, ["b", "c"]),
                ({"metadata.rank": {"$lte": 2}}, ["a", "c"]),
                ({"metadata.deep.tags": "红"}, ["c"]),
                ({"entity": "REDIS"}, ["a"]),
                ({"$or": [{"importance": {"$gt": 0.8}}, {"type": "semantic"}]}, ["b", "c"]),
                ({"timestamp": {"$gte": day(2), "$lt": day(3)}}, ["b"]),
                ({"$not": {"timestamp": None}}, ["b"]),
                ({"id": {"$in": ["a", "c", "z"]}}, ["a", "c"]),
            ):
                assert self.both(store, visible(where=Filter.parse(where))) == ids

    def test_a_filter_follows_what_changes(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            (a,) = self.put(store, unit("a", "memory", metadata={"team": "ops", "old": 1}))
            seen = visible(where=Filter.parse({"metadata.team": "ops"}))
            assert self.both(store, seen) == ["a"]
            self.put(store, replace(a, metadata={"team": "web"}))
            assert self.both(store, seen) == []
            assert self.both(store, visible(where=Filter.parse({"metadata.old": None}))) == ["a"]

    # -- counts ----------------------------------------------------------------------------------------------

    def test_counts(self, tmp_path: Path) -> None:
        east = timezone(timedelta(hours=8))
        redis, lin = Entity("Redis", "system", "redis"), Entity("小林", "person", "林")
        with self.opened(tmp_path) as store:
            self.put(
                store,
                unit("a", entities=(redis, redis, lin), source=Source(speaker="user", session="s"), timestamp=day(1),
                     metadata={"team": "ops", "rank": 1, "tags": ["x", "y", "x"]}),
                unit("b", entities=(redis, Entity("May", "time", "2031-05-01/2031-06-01")), memory_type=MemoryType.SEMANTIC,
                     timestamp=datetime(2031, 5, 2, 0, 30, tzinfo=east), metadata={"team": "ops", "rank": 1.0, "tags": ["y"]}),
                unit("c", status=Status.ARCHIVED, metadata={"rank": True}),
            )  # fmt: skip
            every = visible(statuses=EVERY_STATUS)
            assert store.count(visible()) == {"": 2}
            assert list(store.count(every, by="entity").items()) == [("redis", 2), ("林", 1)]
            assert store.count(every, by="type") == {"episodic": 2, "semantic": 1}
            assert store.count(every, by="status") == {"active": 2, "archived": 1}
            assert store.count(every, by="day") == {"2031-05-02": 2}  # the day as it was where it was said
            assert store.count(every, by="speaker") == {"user": 1}
            assert store.count(every, by="session") == {"s": 1}
            assert store.count(every, by="metadata.team") == {"ops": 2}
            assert store.count(every, by="metadata.rank") == {"1": 2, "true": 1}
            assert store.count(every, by="metadata.tags") == {"y": 2, "x": 1}
            assert store.count(every, by="metadata.nothing") == {}
            assert store.count(visible(known_at=NOW, statuses=EVERY_STATUS), by="entity") == {
                "redis": 2,
                "林": 1,
            }
            for wrong in ("content", "metadata.", ""):
                with refused(InvalidInput):
                    store.count(every, by=wrong)

    def test_counts_of_the_past_agree_with_those_of_the_present(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            (a,) = self.put(
                store,
                unit("a", recorded_at=day(0), timestamp=day(0), source=Source(speaker="user"),
                     entities=(Entity("Redis", "system", "redis"),), metadata={"x": [1, True, "z"]}),
                now=day(0),
            )  # fmt: skip
            names = ("entity", "type", "status", "day", "speaker", "session", "metadata.x")
            before = {by: store.count(visible(), by=by) for by in (None, *names)}
            self.put(store, replace(a, status=Status.ARCHIVED, entities=(), metadata={}), now=day(2))
            assert {by: store.count(visible(known_at=day(1)), by=by) for by in (None, *names)} == before

    def test_vitals(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            a, b, _ = self.put(
                store,
                unit("a", importance=0.2, expires_at=day(9)),
                (unit("b", scope=MEI_AT_WORK, indexed=False, pinned=True, status=Status.ARCHIVED), None),
                unit("c", scope=LIN),
            )
            with store.write(actor="test", batch="b", now=NOW) as tx:
                tx.use([Use(key=a.key, weight=0.75, at=day(5), access_count=1)])
            assert store.vitals(visible(statuses=EVERY_STATUS)) == [
                Vital(
                    key=a.key, status=Status.ACTIVE, pinned=False, importance=0.2, weight=0.75,
                    weight_at=day(5).timestamp(), last_read=day(5).timestamp(), expires_at=day(9).timestamp(), seq=a.seq,
                ),
                Vital(
                    key=b.key, status=Status.ARCHIVED, pinned=True, importance=0.5, weight=0.5,
                    weight_at=NOW.timestamp(), last_read=NOW.timestamp(), expires_at=None, seq=b.seq,
                ),
            ]  # fmt: skip
            assert [vital.key[1] for vital in store.vitals(visible())] == ["a"]

    def test_stats_count_what_is_visible_only(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            redis = Entity("Redis", "system", "redis")
            self.put(
                store,
                (unit("a", timestamp=day(1), entities=(redis,)), entry("a", [1, 0])),
                unit("b", timestamp=day(2), entities=(redis,), related_ids=(Link("a", LinkKind.SIMILAR),)),
                unit("c", status=Status.ARCHIVED),
                unit("d", scope=LIN, entities=(Entity("x", "system", "x"),), timestamp=day(9)),
            )
            with store.write(actor="test", batch="e", now=NOW) as tx:
                for id, scope, state in (("e", MEI, "encoded"), ("f", MEI, "pending"), ("g", LIN, "pending")):
                    tx.put_episode(Episode(scope=scope, id=id, text="t", recorded_at=NOW, state=state))
            figures = dict(store.stats(visible(statuses=EVERY_STATUS)))
            assert figures.pop("file_bytes") > 0
            assert figures == {
                "memories": 3, "active": 2, "archived": 1, "superseded": 0, "episodes": 2, "pending": 1, "links": 1,
                "entities": 1, "without_vector": 2, "oldest": day(1).isoformat(), "newest": day(2).isoformat(),
            }  # fmt: skip
            empty = dict(store.stats(visible(("nobody",))))
            assert empty.pop("file_bytes") > 0
            assert set(empty.values()) == {0, None}

    # -- episodes --------------------------------------------------------------------------------------------

    def test_episodes_come_back_in_order(self, tmp_path: Path) -> None:
        def episode(id: str, turn: int | None, at: datetime | None, session: str | None = "s") -> Episode:
            source = Source(session=session, turn=turn, speaker="user", span=(0, 1))
            return Episode(
                scope=MEI, id=id, text=f"{id} 说\ud83e", source=source, timestamp=at, recorded_at=NOW, metadata={"k": [1]}
            )  # fmt: skip

        given = [
            episode("late", 7, day(1)),
            episode("untold", None, day(0)),
            episode("first", 0, day(9)),
            episode("twice", 7, day(2)),
            episode("else", 1, day(0), "other"),
            episode("undated", 7, None),
        ]
        with self.opened(tmp_path) as store:
            with store.write(actor="test", batch="b", now=NOW) as tx:
                for one in given:
                    tx.put_episode(one)
                tx.put_episode(replace(given[0], state="encoded"))
            order = ["untold", "first", "undated", "late", "twice"]
            in_session = store.episodes(MEI, session="s")
            assert [e.id for e in in_session] == order
            assert in_session[1] == replace(given[2], text="first 说\ufffd")
            assert in_session[3].state == "encoded"
            assert len(store.episodes(MEI)) == 6
            assert [e.id for e in store.episodes(MEI, ["twice", "nobody", "first", "twice"])] == [
                "first",
                "twice",
            ]
            assert store.episodes(MEI, []) == []
            assert store.episodes(TEAM) == []
            assert store.scopes() == [MEI]

    def test_units_of_an_episode(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            again = Occurrence(source=Source(episode="e", span=(4, 8)), timestamp=None, recorded_at=NOW)
            self.put(
                store,
                unit("last", source=Source(episode="e", span=(9, 12))),
                unit("repeated", source=Source(episode="d"), occurrences=(again,), status=Status.SUPERSEDED),
                unit("first", source=Source(episode="e", span=(0, 3))),
                unit("other", source=Source(episode="d")),
                unit("lin", scope=LIN, source=Source(episode="e")),
            )
            assert [u.id for u in store.units_of(MEI, "e")] == ["first", "repeated", "last"]
            with store.write(actor="test", batch="b", now=NOW) as tx:
                tx.remove((MEI, "first"), reason="test")
                assert [u.id for u in tx.units_of(MEI, "e")] == ["repeated", "last"]
            assert store.units_of(TEAM, "e") == []
