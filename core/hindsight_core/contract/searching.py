"""Searching: exact numbers of small searches, filters before the cut, neighbours, and catching up with others.

The numbers are worked out by hand from the formulas in `ports`: BM25 with `ln(1 + (N - n + .5) / (n + .5))`, plain means
and standard deviations over everything visible. A store may differ by `base.TOLERANCE`.
"""

# ruff: noqa: D102 - the name of a test says what it shows
from __future__ import annotations

from dataclasses import replace
from datetime import timedelta, timezone
from pathlib import Path

import numpy as np

from hindsight_core.contract.base import (
    MEI,
    NOW,
    TEAM,
    ContractBase,
    assert_close,
    day,
    entry,
    found,
    probe,
    refused,
    unit,
    visible,
)
from hindsight_core.errors import HindsightError
from hindsight_core.filters import Filter
from hindsight_core.ports import Edges, Gist, Store
from hindsight_core.text.hashing import stable_id
from hindsight_core.text.keys import speaker_key
from hindsight_core.unit import Entity, Link, LinkKind, MemoryType, Scope, Source, Status

REDIS, LIN = Entity("Redis", "system", "redis"), Entity("小林", "person", "小林")
MAY_SECOND = Entity("5月2日", "time", "2031-05-02T00:00:00+00:00/2031-05-03T00:00:00+00:00")
WINDOW = np.array([[day(1).timestamp(), day(2).timestamp()]])
OTHER: Scope = ("kestrel", "lin")


class SearchingContract(ContractBase):
    """What a reading answers."""

    def three(self, store: Store, scope: Scope = MEI) -> None:
        """Three memories of three terms each."""
        self.put(
            store,
            (unit("a", timestamp=day(1), importance=0.25, source=Source(session="s", turn=0), entities=(REDIS,), scope=scope),
             entry("x x y", [1, 0])),
            (unit("b", timestamp=day(2), memory_type=MemoryType.SEMANTIC, source=Source(session="s", turn=1),
                  entities=(REDIS, LIN, MAY_SECOND), scope=scope),
             entry("x z z", [0.6, 0.8])),
            (unit("c", source=Source(session="s", turn=2), entities=(LIN,), scope=scope), entry("z z z", [0, 1])),
        )  # fmt: skip

    def test_exact_numbers(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self.three(store)
            self.three(store, OTHER)  # what others write changes no number
            question = probe(
                visible(),
                vector=[1, 0],
                words={"x": 1.0, "y": 0.5, "q": 1.0},
                entities=["redis", "kafka"],
                windows=WINDOW,
            )
            with store.reading(question.visible) as reading:
                candidates, bank = reading.search(question)
                units = reading.units(candidates.rows)
                vectors = reading.vectors(candidates.rows)
        order = [candidates.ids.index(id) for id in "abc"]
        assert [units[i].id for i in order] == ["a", "b", "c"]
        assert_close(candidates.cosine[order], [1, 0.6, 0])
        # ln(1 + 1.5 / 2.5) = .470004 and 2 * 2.2 / (2 + 1.2) = 1.375; ln(1 + 2.5 / 1.5) = .980829
        assert_close(candidates.terms[order], [[0.646255, 0.980829, 0], [0.470004, 0, 0], [0, 0, 0]])
        assert candidates.entities[order].tolist() == [[True, False], [True, False], [False, False]]
        assert_close(candidates.timestamp[order], [day(1).timestamp(), day(2).timestamp(), np.nan])
        assert candidates.in_window[order].tolist() == [True, True, False]  # b speaks of the second of May
        assert_close(candidates.importance[order], [0.25, 0.5, 0.5])
        assert_close(candidates.weight_at[order], [NOW.timestamp()] * 3)
        assert [list(MemoryType)[c] for c in candidates.memory_type[order]] == [
            "episodic",
            "semantic",
            "episodic",
        ]
        assert [list(Status)[c] for c in candidates.status] == ["active"] * 3
        assert candidates.length[order].tolist() == [3, 3, 3]
        assert len(set(candidates.group.tolist())) == 1
        assert (np.diff(candidates.seq[order]) > 0).all()
        assert_close(vectors[order], [[1, 0], [0.6, 0.8], [0, 1]])
        assert bank.size == 3
        assert_close([bank.cosine_mean, bank.cosine_std], [0.533333, 0.410961])
        # 1.136670, .470004 and 0: the sums weighted by 1 and .5
        assert_close([bank.keyword_mean, bank.keyword_std], [0.535558, 0.466353])
        assert bank.term_df.tolist() == [2, 1, 0]
        assert bank.entity_df.tolist() == [2, 0]
        assert bank.newest == day(2).timestamp()

    def test_statistics_count_everything(self, tmp_path: Path) -> None:
        self.need("exact_statistics")
        with self.opened(tmp_path) as store:
            self.put(
                store,
                *(
                    (
                        unit(f"{i:03}", timestamp=day(i)),
                        entry("x y" if i % 4 == 0 else "y", [1, 0] if i % 2 else [0, 1]),
                    )
                    for i in range(120)
                ),
            )
            question = probe(visible(), vector=[1, 0], words={"x": 1, "y": 1}, top=3)
            with store.reading(question.visible) as reading:
                bank = reading.search(question)[1]
        assert bank.size == 120
        assert bank.term_df.tolist() == [30, 120]
        assert_close([bank.cosine_mean, bank.cosine_std], [0.5, 0.5])
        assert bank.newest == day(119).timestamp()

    def test_length_counts_against_a_term(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self.put(store, (unit("short"), entry("w a")), (unit("long"), entry("w a b c d e")))
            question = probe(visible(), words={"w": 1.0})
            with store.reading(question.visible) as reading:
                candidates, _ = reading.search(question)
        # ln(1 + .5 / 2.5) = .182322; lengths 2 and 6 around 4: * 2.2 / (1 + 1.2 * .8) and * 2.2 / (1 + 1.2 * 1.2)
        shown = dict(zip(candidates.ids, candidates.terms[:, 0].tolist(), strict=True))
        assert_close([shown["short"], shown["long"]], [0.204647, 0.164388])

    def test_each_channel_alone(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self.three(store)
            self.put(store, (unit("d"), entry("v")))  # no vector
            with store.reading(visible()) as reading:
                assert found(reading, probe(visible())) == []
                assert found(reading, probe(visible(), vector=[1, 0])) == ["a", "b", "c"]
                assert found(reading, probe(visible(), vector=[0, 1], top=1)) == ["c"]
                assert found(reading, probe(visible(), words={"z": 1})) == ["b", "c"]
                assert found(reading, probe(visible(), words={"z": 1}, top=1)) == ["c"]
                assert found(reading, probe(visible(), words={"nothing": 1})) == []
                assert found(reading, probe(visible(), entities=["小林"])) == ["b", "c"]
                assert found(reading, probe(visible(), windows=WINDOW)) == ["a", "b"]
                assert found(reading, probe(visible(), vector=[0, 1], words={"y": 1}, top=1)) == ["a", "c"]
                assert found(reading, probe(visible(), words={"z": 1, "y": 1}, common=1)) == ["a"]

    def test_who_said_it_is_found_like_a_name(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self.put(store, unit("a", source=Source(speaker="Mei")), unit("b", source=Source(speaker="user")))
            with store.reading(visible()) as reading:
                assert found(reading, probe(visible(), entities=[speaker_key(" MEI ")])) == ["a"]

    def test_ties_are_broken_by_id(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self.put(store, *((unit(id), entry("x", [1, 0])) for id in ("b", "d", "a", "c")))
            with store.reading(visible()) as reading:
                assert found(reading, probe(visible(), vector=[1, 0], top=2)) == ["a", "b"]
                assert found(reading, probe(visible(), words={"x": 1}, top=3)) == ["a", "b", "c"]

    def test_an_empty_store_answers_nothing(self, tmp_path: Path) -> None:
        question = probe(visible(), vector=[1, 0], words={"x": 1}, entities=["redis"], windows=WINDOW)
        with self.opened(tmp_path) as store:
            for _ in range(2):
                with store.reading(visible()) as reading:
                    candidates, bank = reading.search(question)
                    assert candidates.ids == []
                    assert candidates.terms.shape == (0, 1)
                    assert bank.size == 0
                    assert np.isnan([bank.cosine_mean, bank.cosine_std, bank.newest]).all()
                    assert reading.units(candidates.rows) == []
                    edges = reading.neighbours(
                        question, candidates.rows, reach=1, entities=1, hub=9, links=candidates.rows
                    )
                    assert len(edges.source) == 0
                self.three(store)  # and the same once its memories are gone again
                with store.write(actor="test", batch="b", now=NOW) as tx:
                    for id in "abc":
                        tx.remove((MEI, id), reason="test")

    def test_the_filter_comes_before_the_cut_in_every_channel(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            near = [
                (
                    unit(f"near{i:03}", timestamp=day(1), entities=(REDIS,), metadata={"team": "web"}),
                    entry("x x x", [1, 0]),
                )
                for i in range(200)
            ]
            far = [
                (unit(f"far{i}", timestamp=day(1), entities=(REDIS, LIN), metadata={"team": "ops"}), entry("x a b c d", [0.6, 0.8]))
                for i in range(5)
            ]  # fmt: skip
            self.put(store, *near, *far)
            other = [(replace(u, scope=OTHER, id=f"o{u.id}"), e) for u, e in near]
            self.put(store, *other)
            wanted = [f"far{i}" for i in range(5)]
            seen = visible(TEAM, where=Filter.parse({"metadata.team": "ops"}))
            for channel in (
                probe(seen, vector=[1, 0], top=5),
                probe(seen, words={"x": 1}, top=5),
                probe(seen, entities=["redis"], top=5),
                probe(seen, windows=WINDOW, top=5),
            ):
                with store.reading(seen) as reading:
                    candidates, bank = reading.search(channel)
                    assert sorted(candidates.ids) == wanted
                    assert bank.size == 5

    def test_signals_are_exact_for_any_rows(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self.three(store)
            with store.reading(visible()) as reading:
                every, _ = reading.search(probe(visible(), vector=[1, 0]))
                question = probe(visible(), vector=[0, 1], words={"y": 1.0}, entities=["小林"])
                rows = every.rows[[every.ids.index(id) for id in "cab"]]
                signals = reading.signals(question, rows)
                assert signals.ids == ["c", "a", "b"]
                assert_close(signals.cosine, [1, 0, 0.8])
                assert_close(signals.terms, [[0], [0.980829], [0]])
                assert signals.entities.tolist() == [[True], [False], [True]]
                assert [u.id for u in reading.units(rows)] == ["c", "a", "b"]

    def test_words_alone(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self.three(store)
            self.three(store, OTHER)
            with store.reading(visible()) as reading:
                a, b, c = reading.rows_of([(MEI, id) for id in "abc"]).tolist()
                question = probe(visible(), vector=[1, 0], words={"z": 1, "y": 1, "q": 1}, entities=["redis"])
                rows, df = reading.holders(question)
                assert sorted(rows.tolist()) == sorted([a, b, c])
                assert df.tolist() == [2, 1, 0]
                held = reading.held(question, np.array([c, a, b]))
                assert held.tolist() == [[True, False, False], [False, True, False], [True, False, False]]
                rare = replace(question, common=1)
                rows, df = reading.holders(rare)
                assert rows.tolist() == [a]
                assert df.tolist() == [2, 1, 0]
                assert reading.held(rare, np.array([a, c])).tolist() == [[False, True, False], [False] * 3]
                assert len(reading.holders(replace(question, top=1))[0]) == 1
                units = reading.units(np.array([b, a, b]))
                assert reading.texts(np.array([b, a, b])) == [unit.content for unit in units]
                assert reading.gists(np.array([b, a, b])) == [Gist.of(unit) for unit in units]

    def test_the_gist_of_a_memory(self, tmp_path: Path) -> None:
        zone = timezone(timedelta(hours=8))
        plain = unit("plain", "a\x00b \ud800 小林说：“好”")
        dated = unit("dated", source=Source(speaker="小林"), timestamp=day(1).astimezone(zone))
        links = (Link("plain", LinkKind.SIMILAR), Link("plain", LinkKind.EVOLVES, outgoing=True))
        with self.opened(tmp_path) as store:
            self.put(store, (plain, entry("x")), (dated, entry("y")))
            self.put(store, (unit("linked", related_ids=links), entry("z")))
            with store.reading(visible()) as reading:
                rows = reading.rows_of([(MEI, id) for id in ("plain", "dated", "linked")])
                gists, units = reading.gists(rows), reading.units(rows)
            assert gists == [Gist.of(one) for one in units]
            assert [gist.links for gist in gists] == [2, 0, 2]
            assert gists[1].told.timestamp is not None
            assert gists[1].told.timestamp.utcoffset() == timedelta(hours=8)

    def test_a_memory_without_vector_has_no_cosine(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self.put(store, (unit("a"), entry("x")), (unit("b"), entry("x", [1, 0])))
            with store.reading(visible()) as reading:
                asked = probe(visible(), vector=[1, 0], words={"x": 1})
                if asked.vector is not None:
                    reading.begin_search(visible(), [asked.vector])
                candidates, bank = reading.search(asked)
                vectors = reading.vectors(candidates.rows)
            order = [candidates.ids.index(id) for id in "ab"]
            assert_close(candidates.cosine[order], [np.nan, 1])
            assert_close(vectors[order], [[np.nan] * 2, [1, 0]])
            assert bank.size == 2
            assert_close(bank.cosine_mean, 1)

    def test_the_nearest_of_many_at_once(self, tmp_path: Path) -> None:
        questions = np.array([[1, 0], [0, 1]], np.float32)
        with self.opened(tmp_path) as store:
            with store.reading(visible()) as reading:
                rows, cosines = reading.near(visible(), questions, top=2, least=0.0)
                assert rows.tolist() == [[-1, -1]] * 2
                assert_close(cosines, [[np.nan] * 2] * 2)
            self.three(store)
            self.three(store, OTHER)
            self.put(store, (unit("d"), entry("x")), (unit("e", indexed=False), entry("x", [1, 0])))
            with store.reading(visible()) as reading:
                keys = [(MEI, "c"), (MEI, "a"), (MEI, "nobody"), (MEI, "e"), (MEI, "c")]
                c, a, nobody, unindexed, again = reading.rows_of(keys).tolist()
                assert c == again
                assert nobody == unindexed == -1
                (b,) = reading.rows_of([(MEI, "b")]).tolist()
                reading.begin_near(visible(), questions, top=2, least=0.5)  # a hint changes no answer
                rows, cosines = reading.near(visible(), questions, top=2, least=0.5)
                assert rows.tolist() == [[a, b], [c, b]]
                assert_close(cosines, [[1, 0.6], [1, 0.8]])
                rows, cosines = reading.near(visible(), questions, top=3, least=0.7)
                assert rows.tolist() == [[a, -1, -1], [c, b, -1]]
                assert_close(cosines, [[1, np.nan, np.nan], [1, 0.8, np.nan]])

    def test_vectors_can_be_replaced(self, tmp_path: Path) -> None:
        def vector(*values: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
            return np.array(values, np.float32)

        with self.opened(tmp_path) as store:
            self.three(store)
            self.put(store, (unit("d"), entry("x")))
            before = store.find(visible())
            assert store.without_vector(visible()) == [(MEI, "d")]
            with store.reading(visible()) as reading:
                assert found(reading, probe(visible(), vector=[1, 0], top=1)) == ["a"]
            with store.write(actor="test", batch="b", now=NOW) as tx:
                tx.set_vectors({(MEI, "d"): vector(1, 0), (MEI, "a"): vector(0, 1), (MEI, "x"): vector(1, 1)})
            with store.reading(visible()) as reading:
                candidates, _ = reading.search(probe(visible(), vector=[1, 0]))
                shown = dict(zip(candidates.ids, candidates.cosine.tolist(), strict=True))
            assert_close([shown[id] for id in "abcd"], [0, 0.6, 0, 1])
            assert store.find(visible()) == before
            assert store.without_vector(visible()) == []
            assert len(list(store.events())) == 4

    def test_neighbours(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self.three(store)
            self.put(
                store,
                (unit("d", source=Source(session="t", turn=3), entities=(LIN,), timestamp=day(3),
                      related_ids=(Link("a", LinkKind.EVOLVES), Link("hidden", LinkKind.SIMILAR))), entry()),
                (unit("hidden", status=Status.ARCHIVED, source=Source(session="s", turn=1)), entry()),
                (unit("far", scope=OTHER, source=Source(session="s", turn=1), entities=(LIN,)), entry()),
            )  # fmt: skip
            self.put(store, (unit("d2", related_ids=(Link("hidden", LinkKind.SIMILAR),)), entry()))
            with store.reading(visible()) as reading:
                every, _ = reading.search(probe(visible(), vector=[1, 0], words={"x": 1}, entities=["小林"]))
                row = dict(zip(every.ids, every.rows.tolist(), strict=True))
                names = {number: id for id, number in row.items()}

                def edges(
                    id: str, *, reach: int, entities: int, hub: int
                ) -> set[tuple[str, str, str, int, int, int]]:
                    start = np.array([row[id]], np.int64)
                    found = reading.neighbours(
                        probe(visible()), start, reach=reach, entities=entities, hub=hub, links=start
                    )
                    return _edges(found, names)

                stored = ("a", "d", "evolves", 1, 0, 0)
                assert edges("a", reach=0, entities=0, hub=9) == {stored}
                assert edges("a", reach=2, entities=0, hub=9) == {
                    stored, ("a", "b", "follows", 1, 0, 0), ("a", "c", "follows", 2, 0, 0),
                }  # fmt: skip
                lin = stable_id("小林")
                assert edges("c", reach=0, entities=9, hub=9) == {
                    ("c", "b", "entity", 1, lin, 3), ("c", "d", "entity", 1, lin, 3),
                }  # fmt: skip
                assert edges("c", reach=0, entities=1, hub=9) == {("c", "d", "entity", 1, lin, 3)}
                assert edges("c", reach=0, entities=9, hub=2) == set()

    def test_a_reading_stays_as_it_is(self, tmp_path: Path) -> None:
        self.need("multiprocess")
        with self.opened(tmp_path) as store, self.opened(tmp_path) as other:
            self.three(store)
            question = probe(visible(), words={"x": 1})
            with store.reading(visible()) as reading:
                candidates, _ = reading.search(question)
                with other.write(actor="test", batch="b", now=NOW) as tx:
                    tx.remove((MEI, "a"), reason="test")
                    tx.put(unit("e"), entry("x"), reason="test")
                assert found(reading, question) == ["a", "b"]
                assert sorted(u.id for u in reading.units(candidates.rows)) == ["a", "b"]
            with store.reading(visible()) as reading:
                assert found(reading, question) == ["b", "e"]

    def test_two_handles_see_each_other(self, tmp_path: Path) -> None:
        self.need("multiprocess")
        question = probe(visible(), words={"x": 1})
        with self.opened(tmp_path) as one, self.opened(tmp_path) as two:
            for step, (writer, reader) in enumerate(((one, two), (two, one), (one, two))):
                self.put(writer, (unit(f"m{step}"), entry("x")))
                if step == 1:
                    with writer.write(actor="test", batch="b", now=NOW) as tx:
                        tx.remove((MEI, "m0"), reason="test")
                if step == 2:
                    with writer.write(actor="test", batch="b", now=NOW) as tx:
                        tx.erase((MEI, "m1"))
                for store in (reader, writer):
                    with store.reading(visible()) as reading:
                        assert found(reading, question) == [f"m{step}"]
                    assert [u.id for u in store.find(visible())] == [f"m{step}"]

    def test_a_write_inside_a_reading_is_refused(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store, store.reading(visible()), refused(HindsightError):
            store.write(actor="test", batch="b", now=NOW).__enter__()

    def test_the_same_after_reopening(self, tmp_path: Path) -> None:
        self.need("persistent")
        question = probe(
            visible(), vector=[1, 0], words={"x": 1.0, "y": 1.0}, entities=["小林"], windows=WINDOW
        )
        answers = []
        for attempt in range(3):
            with self.opened(tmp_path) as store:
                if attempt == 0:
                    self.three(store)
                with store.reading(visible()) as reading:
                    candidates, bank = reading.search(question)
                    answers.append(
                        (candidates.ids, candidates.cosine.tolist(), candidates.terms.tolist(), str(bank))
                    )
        assert answers[0] == answers[1] == answers[2]


def _edges(edges: Edges, names: dict[int, str]) -> set[tuple[str, str, str, int, int, int]]:
    columns = (edges.source, edges.target, edges.kind, edges.distance, edges.entity, edges.degree)
    kinds = list(LinkKind)
    return {
        (names[s], names[t], kinds[k].value, d, e, g)
        for s, t, k, d, e, g in zip(*(column.tolist() for column in columns), strict=True)
    }
