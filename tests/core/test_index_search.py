"""The search index as a whole, against a reference that loops over plain objects, and against values made by hand."""

import math
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from itertools import chain, zip_longest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindsight_core.errors import InvalidInput, StoreError
from hindsight_core.ports import Probe, Visibility
from hindsight_core.stores.index import Rows, SearchIndex, contents, dense, mask, postings, select
from hindsight_core.text.hashing import stable_id
from hindsight_core.unit import LinkKind, MemoryType, Status

STATUSES, TYPES, KINDS = list(Status), list(MemoryType), list(LinkKind)
NOW = datetime(2031, 5, 1, tzinfo=UTC)
T0 = NOW.timestamp()
NAN = math.nan
EMPTY = np.empty((0, 2))


# -- memories as plain objects, and as columns -----------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Memory:
    row: int
    scope: tuple[str, ...] = ("ana",)
    id: str = ""
    status: Status = Status.ACTIVE
    memory_type: MemoryType = MemoryType.EPISODIC
    timestamp: float = NAN
    recorded_at: float = T0
    valid_from: float = NAN
    valid_to: float = NAN
    expires_at: float = NAN
    weight_at: float = T0
    indexed: bool = True
    importance: float = 0.5
    weight: float = 0.5
    group: str | None = None
    turn: int = -1
    vector: tuple[float, ...] | None = None
    words: str = ""
    entities: tuple[str, ...] = ()
    spans: tuple[tuple[float, float], ...] = ()

    @property
    def name(self) -> str:
        return self.id or f"m{self.row:04d}"

    def count(self, word: str) -> int:
        return self.words.split().count(word)

    @property
    def length(self) -> int:
        return len(self.words.split())


def batch(*memories: Memory, dimension: int | None = 2) -> Rows:
    def column(name, dtype):
        return np.array([getattr(m, name) for m in memories], dtype)

    def ragged(lists, dtype):
        return np.array(list(chain(*lists)), dtype), np.cumsum([0, *map(len, lists)])

    terms = [sorted(stable_id(w) | m.count(w) for w in set(m.words.split())) for m in memories]
    packed, term_offsets = ragged(terms, np.uint64)
    keys, entity_offsets = ragged([[stable_id(e) for e in m.entities] for m in memories], np.uint64)
    spans, span_offsets = ragged([m.spans for m in memories], np.float64)
    vectors = None
    if dimension:
        nothing = (NAN,) * dimension
        vectors = np.array([m.vector or nothing for m in memories], np.float32).reshape(-1, dimension)
    return Rows(
        row=column("row", np.int64),
        scope=[m.scope for m in memories],
        id=[m.name for m in memories],
        seq=column("row", np.int64),
        status=np.array([STATUSES.index(m.status) for m in memories], np.int8),
        memory_type=np.array([TYPES.index(m.memory_type) for m in memories], np.int8),
        **{n: column(n, np.float64) for n in ("timestamp", "recorded_at", "valid_from", "valid_to")},
        **{n: column(n, np.float64) for n in ("expires_at", "weight_at")},
        **{n: column(n, np.float32) for n in ("importance", "weight")},
        indexed=column("indexed", np.bool_),
        group=[m.group for m in memories],
        turn=column("turn", np.int64),
        vectors=vectors,
        terms=packed,
        term_offsets=term_offsets,
        entities=keys,
        entity_offsets=entity_offsets,
        spans=spans.reshape(-1, 2),
        span_offsets=span_offsets,
    )


def index_of(*memories: Memory, dimension: int | None = 2) -> SearchIndex:
    index = SearchIndex(dimension)
    index.load([batch(*memories, dimension=dimension)])
    return index


def seen(*scopes, now=NOW, **conditions) -> Visibility:
    return Visibility(scopes=scopes or ((),), now=now, **conditions)


def probe(words="", entities=(), *, visible=None, weights=None, **settings) -> Probe:
    words = words.split()
    return Probe(
        visible=visible or seen(),
        vector=np.array(v, np.float32) if (v := settings.pop("vector", None)) else None,
        terms=np.array([stable_id(word) for word in words], np.uint64),
        term_weights=np.array(weights or [1] * len(words), np.float32),
        entities=np.array([stable_id(entity) for entity in entities], np.uint64),
        **settings,
    )


def search(index, question, allowed=None):
    return index.search(question, index.visible(question.visible, allowed))


def found(index, question, allowed=None) -> set[str]:
    return set(search(index, question, allowed)[0].ids)


# -- the reference ---------------------------------------------------------------------------------------------


def is_visible(m: Memory, v: Visibility, allowed: set[int] | None) -> bool:
    status, statuses = m.status, v.statuses
    if v.known_at is not None:
        if m.recorded_at > v.known_at.timestamp():
            return False
        if status is Status.SUPERSEDED and not m.valid_to <= v.known_at.timestamp():
            status = Status.ACTIVE
    if v.as_of is not None:
        instant = v.as_of.timestamp()
        begin = m.timestamp if math.isnan(m.valid_from) else m.valid_from
        if begin > instant or m.valid_to <= instant:
            return False
        statuses = statuses | {Status.SUPERSEDED}
    return (
        m.indexed
        and any(m.scope[: len(prefix)] == prefix for prefix in v.scopes)
        and status in statuses
        and not m.expires_at <= v.now.timestamp()
        and (allowed is None or m.row in allowed)
    )


class Reference:
    """What a search over these memories has to say, by looking at each of them."""

    def __init__(self, memories, question: Probe, words, entities, allowed=None):
        self.probe, self.words, self.entities = question, words, entities
        self.visible = [m for m in memories if is_visible(m, question.visible, allowed)]
        self.term_df = [sum(m.count(word) > 0 for m in self.visible) for word in words]
        self.entity_df = [sum(entity in m.entities for m in self.visible) for entity in entities]
        self.average = (sum(m.length for m in self.visible) / len(self.visible) if self.visible else 0) or 1.0

    def idf(self, df):
        return np.log1p((len(self.visible) - df + 0.5) / (df + 0.5))

    def cosine(self, m):
        if m.vector is None or self.probe.vector is None:
            return NAN
        return float(sum(a * b for a, b in zip(m.vector, self.probe.vector.tolist(), strict=True)))

    def parts(self, m):
        """BM25 in single precision, step by step: equal memories must tie, so digits count."""
        k1, b, single = self.probe.k1, self.probe.b, np.float32
        norm = single(m.length) * single(k1 * b / self.average) + single(k1 * (1 - b))
        return [
            single(self.idf(df) * (k1 + 1)) * single(m.count(word)) / (single(m.count(word)) + norm)
            if m.count(word) and not (self.probe.common is not None and df > self.probe.common)
            else single(0)
            for word, df in zip(self.words, self.term_df, strict=True)
        ]

    def keyword(self, m):
        return sum(float(w) * float(p) for w, p in zip(self.probe.term_weights, self.parts(m), strict=True))

    def entity(self, m):
        return sum(
            float(self.idf(df))
            for e, df in zip(self.entities, self.entity_df, strict=True)
            if e in m.entities
        )

    def in_window(self, m):
        return any(
            start <= m.timestamp < end or any(s < end and (e > start or s >= start) for s, e in m.spans)
            for start, end in self.probe.windows.tolist()
        )

    def evidence(self, m):
        return (0 if math.isnan(self.cosine(m)) else self.cosine(m)) + self.keyword(m)

    def candidates(self):
        def best(members, key):
            return sorted(members, key=lambda m: (*key(m), m.name, m.row))[: self.probe.top]

        def newest_first(m):
            return math.inf if math.isnan(m.timestamp) else -m.timestamp

        chosen = {
            *best([m for m in self.visible if not math.isnan(self.cosine(m))], lambda m: (-self.cosine(m),)),
            *best([m for m in self.visible if self.keyword(m) > 0], lambda m: (-self.keyword(m),)),
            *best([m for m in self.visible if self.entity(m) > 0], lambda m: (-self.entity(m),)),
            *best(
                [m for m in self.visible if self.in_window(m)], lambda m: (-self.evidence(m), newest_first(m))
            ),
        }
        return sorted(chosen, key=lambda m: m.row)

    def check(self, columns, memories):
        """Columns hold what is known of these memories, in this order."""
        by_group = {}
        for m, code in zip(memories, columns.group.tolist(), strict=True):
            assert by_group.setdefault((m.scope, m.group), code) == code
            assert (code == -1) == (m.group is None)
        assert len(set(by_group.values()) - {-1}) == len({key for key in by_group if key[1] is not None})
        single = lambda values: np.array(values, np.float32).tolist()  # noqa: E731
        assert columns.rows.tolist() == [m.row for m in memories]
        assert columns.seq.tolist() == [m.row for m in memories]
        assert columns.ids == [m.name for m in memories]
        assert same(columns.cosine, [self.cosine(m) for m in memories])
        assert columns.terms.shape == (len(memories), len(self.words))
        assert columns.terms.tolist() == [single(self.parts(m)) for m in memories]
        assert columns.entities.shape == (len(memories), len(self.entities))
        assert columns.entities.tolist() == [[e in m.entities for e in self.entities] for m in memories]
        assert same(columns.timestamp, [m.timestamp for m in memories])
        assert columns.in_window.tolist() == [self.in_window(m) for m in memories]
        assert columns.importance.tolist() == single([m.importance for m in memories])
        assert columns.weight.tolist() == single([m.weight for m in memories])
        assert columns.weight_at.tolist() == [m.weight_at for m in memories]
        assert [TYPES[code] for code in columns.memory_type] == [m.memory_type for m in memories]
        assert [STATUSES[code] for code in columns.status] == [m.status for m in memories]
        assert columns.length.tolist() == [m.length for m in memories]

    def check_bank(self, bank):
        cosines = [c for m in self.visible if not math.isnan(c := self.cosine(m))]
        keywords = [self.keyword(m) for m in self.visible] or [0.0]
        dated = [m.timestamp for m in self.visible if not math.isnan(m.timestamp)]
        assert bank.size == len(self.visible)
        assert bank.term_df.tolist() == self.term_df
        assert bank.entity_df.tolist() == self.entity_df
        assert same(bank.newest, max(dated, default=NAN))
        assert bank.cosine_mean == pytest.approx(np.mean(cosines) if cosines else NAN, abs=1e-7, nan_ok=True)
        assert bank.cosine_std == pytest.approx(np.std(cosines) if cosines else NAN, abs=1e-7, nan_ok=True)
        assert bank.keyword_mean == pytest.approx(np.mean(keywords), abs=1e-7)
        assert bank.keyword_std == pytest.approx(np.std(keywords), abs=1e-7)

    def edges(self, rows, reach, entities, hub):
        def place(m):
            time = math.inf if math.isnan(m.timestamp) else m.timestamp
            return (math.inf if m.turn < 0 else m.turn, time, m.row)

        def newest_first(m):
            return (math.inf if math.isnan(m.timestamp) else -m.timestamp, -m.row)

        by_row = {m.row: m for m in self.visible}
        edges = set()
        for row in rows:
            seed = by_row[row]
            group = sorted(
                (
                    m
                    for m in self.visible
                    if seed.group is not None and (m.scope, m.group) == (seed.scope, seed.group)
                ),
                key=place,
            )
            for i, m in enumerate(group):
                distance = abs(i - group.index(seed))
                if 0 < distance <= reach:
                    edges.add((row, m.row, LinkKind.FOLLOWS, distance, 0, 0))
            for entity in set(seed.entities):
                named = [m for m in self.visible if entity in m.entities]
                if len(named) <= hub:
                    others = sorted((m for m in named if m is not seed), key=newest_first)[:entities]
                    edges |= {(row, m.row, LinkKind.ENTITY, 1, stable_id(entity), len(named)) for m in others}
        return edges

    def near(self, vectors, top, least):
        rows, cosines = np.full((len(vectors), top), -1), np.full((len(vectors), top), NAN)
        for i, vector in enumerate(vectors):
            member = [
                (sum(a * b for a, b in zip(m.vector, vector, strict=True)), m)
                for m in self.visible
                if m.vector
            ]
            best = sorted((-c, m.name, m.row) for c, m in member if c >= least)[:top]
            rows[i, : len(best)] = [row for _, _, row in best]
            cosines[i, : len(best)] = [-c for c, _, _ in best]
        return rows, cosines


def same(values, expected) -> bool:
    return np.array_equal(np.asarray(values, np.float64), np.asarray(expected, np.float64), equal_nan=True)


def edge_list(edges):
    columns = (getattr(edges, f.name).tolist() for f in fields(edges))
    return [(s, t, KINDS[k], d, e, n) for s, t, k, d, e, n in zip(*columns, strict=True)]


# -- any sequence of changes gives what the reference gives -----------------------------------------------------

WORDS, ENTITIES, SCOPES = (
    ["tea", "port", "茶", "端口", "no"],
    ["Redis", "安娜", "May"],
    [("ana",), ("ana", "work"), ("an",), ()],
)
times = st.sampled_from([NAN, T0 - 9, T0 - 5, T0, T0 + 5])
components = st.sampled_from([-1.0, 0.0, 0.5, 1.0])


@st.composite
def memories(draw, row):
    return Memory(
        row=row,
        scope=draw(st.sampled_from(SCOPES)),
        id=draw(
            st.sampled_from(
                [
                    "",
                    "same",
                    "a-rather-long-name-that-begins-alike-1",
                    "a-rather-long-name-that-begins-alike-2",
                    "记",
                ]
            )
        ),
        status=draw(st.sampled_from([Status.ACTIVE] * 3 + STATUSES)),
        memory_type=draw(st.sampled_from(TYPES)),
        timestamp=draw(times),
        recorded_at=T0 + draw(st.sampled_from([-9, 0])),
        valid_from=draw(times),
        valid_to=draw(times),
        expires_at=draw(st.sampled_from([NAN] * 4 + [T0 - 1, T0, T0 + 1])),
        weight_at=T0 - draw(st.integers(0, 3)),
        indexed=draw(st.sampled_from([True] * 5 + [False])),
        importance=draw(st.floats(0, 1, width=32)),
        weight=draw(st.floats(0, 1, width=32)),
        group=draw(st.sampled_from([None, "s1", "s2"])),
        turn=draw(st.integers(-1, 3)),
        vector=draw(st.none() | st.tuples(components, components)),
        words=" ".join(draw(st.lists(st.sampled_from(WORDS), max_size=6))),
        entities=tuple(draw(st.lists(st.sampled_from(ENTITIES), max_size=3))),
        spans=tuple(
            draw(st.lists(st.sampled_from([(T0 - 7, T0 - 5), (T0, T0), (T0 - 3, math.inf)]), max_size=2))
        ),
    )


rows = st.integers(1, 14)
changes = st.lists(
    st.one_of(
        st.lists(rows, max_size=7).flatmap(
            lambda chosen: st.tuples(st.just("upsert"), st.tuples(*map(memories, chosen)))
        ),
        st.tuples(st.just("remove"), st.lists(rows, max_size=4)),
        st.tuples(st.just("touch"), st.lists(rows, max_size=3, unique=True)),
    ),
    max_size=8,
)
instants = st.none() | st.sampled_from([-9, -6, 0, 5]).map(lambda s: NOW + timedelta(seconds=s))
visibilities = st.builds(
    Visibility,
    scopes=st.lists(st.sampled_from([*SCOPES, ("nobody",)]), min_size=1, max_size=2).map(tuple),
    now=st.just(NOW),
    statuses=st.sampled_from([frozenset({Status.ACTIVE}), frozenset(Status), frozenset({Status.ARCHIVED})]),
    as_of=instants,
    known_at=instants,
    unindexed=st.booleans(),
)


@st.composite
def questions(draw, everything=False):
    words = draw(st.lists(st.sampled_from([*WORDS, "unheard"]), unique=True, max_size=4))
    entities = draw(st.lists(st.sampled_from([*ENTITIES, "Nobody"]), unique=True, max_size=3))
    question = probe(
        " ".join(words),
        entities,
        visible=seen() if everything else draw(visibilities),
        weights=draw(st.tuples(*[st.sampled_from([1, 0.5, 0])] * len(words))),
        vector=draw(st.none() | st.tuples(components, components)),
        windows=np.array(
            draw(st.lists(st.sampled_from([(T0 - 6, T0 - 4), (T0, math.inf)]), max_size=2))
        ).reshape(-1, 2),
        top=draw(st.sampled_from([1, 2, 3, 100])),
        common=draw(st.sampled_from([None, None, 0, 3])),
        k1=draw(st.sampled_from([1.2, 0.0])),
        b=draw(st.sampled_from([0.4, 1.0, 0.0])),
    )
    return question, words, entities


@pytest.fixture(params=["as shipped", "small numbers"], scope="module")
def thresholds(request):
    """With small numbers, every few memories are merged and compacted, and every way of looking up is taken."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "small numbers":
            patch.setattr(contents, "_FEW_DEAD", 2)
            patch.setattr(contents, "_MANY", 8)
            patch.setattr(postings, "_FEW", 8)
            patch.setattr(postings, "_SHORT", 4)
            patch.setattr(postings, "_GALLOP", 1)
            patch.setattr(mask, "_FEW", 2)
            patch.setattr(select, "_BLOCK", 2)
            patch.setattr(dense, "_CHUNK", 3)
            patch.setattr(dense, "_PIECE", 4)
            patch.setattr(dense, "_PRODUCTS", 9)
        yield


def apply(index, state, change):
    kind, what = change
    if kind == "upsert":
        index.upsert(batch(*what))
        state.update((m.row, m) for m in what)
    elif kind == "remove":
        index.remove(np.array(what, np.int64))
        for row in what:
            state.pop(row, None)
    else:
        index.touch(
            np.array(what, np.int64), np.full(len(what), 0.25, np.float32), np.full(len(what), T0 + 1)
        )
        state.update(
            (row, replace(state[row], weight=0.25, weight_at=T0 + 1)) for row in what if row in state
        )


@settings(max_examples=100, deadline=None)
@given(
    st.lists(rows, unique=True, max_size=14).flatmap(lambda chosen: st.tuples(*map(memories, chosen))),
    changes,
    st.lists(questions(), min_size=1, max_size=3),
    st.none() | st.sets(st.integers(0, 16)),
    st.data(),
)
def test_after_any_changes_the_index_says_what_the_reference_says(
    thresholds, loaded, changes, asked, allowed, data
):
    index, state = index_of(*loaded), {m.row: m for m in loaded}
    for change in [None, *changes]:
        if change is not None:
            apply(index, state, change)
        assert len(index) == len(state)
    for question, words, entities in asked:
        reference = Reference(state.values(), question, words, entities, allowed)
        visible = index.visible(
            question.visible, None if allowed is None else np.array(sorted(allowed), np.int64)
        )
        assert len(visible) == len(reference.visible)

        columns, bank = index.search(question, visible)
        reference.check(columns, reference.candidates())
        reference.check_bank(bank)

        some = (
            data.draw(st.lists(st.sampled_from(reference.visible), max_size=6)) if reference.visible else []
        )
        handles = np.array([m.row for m in some], np.int64)
        reference.check(index.signals(question, visible, handles), some)
        stored = [m.vector or (NAN, NAN) for m in some]
        assert same(index.vectors(visible, handles), np.array(stored).reshape(-1, 2))

        limits = {
            "reach": data.draw(st.integers(0, 3)),
            "entities": data.draw(st.integers(0, 3)),
            "hub": data.draw(st.integers(0, 6)),
        }
        edges = edge_list(index.neighbours(question, visible, handles, **limits))
        assert len(edges) == len(set(edges))
        assert set(edges) == reference.edges(handles.tolist(), **limits)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(rows, unique=True, min_size=1).flatmap(lambda chosen: st.tuples(*map(memories, chosen))),
    st.lists(st.integers(20, 40), unique=True, max_size=12).flatmap(
        lambda chosen: st.tuples(*map(memories, chosen))
    ),
    questions(everything=True),
)
def test_what_others_store_changes_no_number_here(thresholds, own, others, asked):
    """Statistics of one scope never depend on another's memories, whenever those were written."""
    own = [replace(m, scope=("ana", "private")) for m in own]
    others = [replace(m, scope=("bob",)) for m in others]
    question = replace(asked[0], visible=seen(("ana",)))

    def answers(index):
        visible = index.visible(question.visible, None)
        columns, bank = index.search(question, visible)
        edges = index.neighbours(question, visible, columns.rows, reach=2, entities=2, hub=5)
        groups = np.unique(columns.group, return_inverse=True)[1]  # the codes themselves mean nothing
        return [
            [getattr(columns, f.name) for f in fields(columns) if f.name != "group"],
            groups,
            [getattr(bank, f.name) for f in fields(bank)],
            edge_list(edges),
        ]

    alone = index_of(*own)
    before, after, between = index_of(*others), index_of(*own), SearchIndex(2)
    before.upsert(batch(*own))
    after.upsert(batch(*others))
    for m, other in zip_longest(own, others):
        between.upsert(batch(*(x for x in (other, m) if x)))
    expected = answers(alone)
    for shared in (before, after, between):
        np.testing.assert_equal(answers(shared), expected)


# -- by hand ---------------------------------------------------------------------------------------------------


def test_bm25_as_computed_by_hand():
    """N = 3, average length 4; "tea" in two of them, "port" in one."""
    index = index_of(
        Memory(row=1, words="tea tea port"),
        Memory(row=2, words="tea is ready now please"),
        Memory(row=3, words="nothing to say here"),
    )
    columns, bank = search(index, probe("tea port", weights=[1, 0.5], k1=1.2, b=0.4))
    tea, port = math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)
    short, long = 1.2 * (0.6 + 0.4 * 3 / 4), 1.2 * (0.6 + 0.4 * 5 / 4)
    assert columns.ids == ["m0001", "m0002"]
    assert columns.terms == pytest.approx(
        np.array([[tea * 2.2 * 2 / (2 + short), port * 2.2 / (1 + short)], [tea * 2.2 / (1 + long), 0]]),
        rel=1e-6,
    )
    sums = [columns.terms[0, 0] + 0.5 * columns.terms[0, 1], columns.terms[1, 0], 0]
    assert (bank.keyword_mean, bank.keyword_std) == pytest.approx((np.mean(sums), np.std(sums)))
    assert bank.term_df.tolist() == [2, 1]


def test_an_empty_index_has_no_answers_and_no_numbers():
    for index in (SearchIndex(2), index_of()):
        columns, bank = search(index, probe("tea", ["Redis"], vector=(1, 0), windows=np.array([[0.0, 1.0]])))
        assert columns.ids == []
        assert (columns.terms.shape, columns.entities.shape) == ((0, 1), (0, 1))
        assert (bank.size, bank.keyword_mean, bank.keyword_std) == (0, 0, 0)
        assert math.isnan(bank.cosine_mean)
        assert math.isnan(bank.newest)
        assert len(index) == 0


def test_where_everything_is_filtered_out_nothing_is_counted():
    index = index_of(Memory(row=1, words="tea", vector=(1, 0), timestamp=T0))
    columns, bank = search(index, probe("tea", vector=(1, 0)), np.zeros(0, np.int64))
    assert (columns.ids, bank.size, bank.term_df.tolist()) == ([], 0, [0])
    assert math.isnan(bank.newest)


def test_a_word_in_every_memory_still_counts_for_something():
    columns, _ = search(index_of(*(Memory(row=row, words="tea") for row in range(1, 9))), probe("tea"))
    assert (columns.terms > 0).all()
    assert len(columns.ids) == 8


def test_common_words_are_ignored_when_asked():
    index = index_of(
        Memory(row=1, words="the port"), Memory(row=2, words="the tea"), Memory(row=3, words="the")
    )
    columns, bank = search(index, probe("the port", common=2))
    assert columns.ids == ["m0001"]
    assert columns.terms[0, 0] == 0
    assert bank.term_df.tolist() == [3, 1]


def test_an_index_without_vectors_searches_by_words():
    index = index_of(Memory(row=1, words="茶"), dimension=None)
    columns, bank = search(index, probe("茶"))
    assert columns.ids == ["m0001"]
    assert np.isnan(columns.cosine).all()
    assert math.isnan(bank.cosine_mean)


def test_equals_are_taken_in_order_of_their_ids():
    """Not in order of arrival, and whole ids count: these begin alike for more than any prefix."""
    names = [f"the-same-beginning-of-every-id-{letter}" for letter in "dacb"]
    index = index_of(
        *(Memory(row=i + 1, id=name, words="tea", vector=(1, 0)) for i, name in enumerate(names))
    )
    for question in (probe("tea", top=2), probe(vector=(1, 0), top=2)):
        assert found(index, question) == {names[1], names[3]}


def test_equal_ids_of_two_scopes_are_two_memories():
    index = index_of(
        *(Memory(row=row, id="x", scope=(s,), words="tea") for row, s in enumerate("cab", start=1))
    )
    columns, _ = search(index, probe("tea", top=2))
    assert columns.rows.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("scopes", "ids"),
    [
        ([("ana",)], "ab"),
        ([("ana", "work")], "b"),
        ([("an",)], "c"),
        ([()], "abcd"),
        ([("a",)], ""),
        ([("ana", "work"), ("ana",)], "ab"),
        ([("an",), ("安",)], "cd"),
    ],
)
def test_scopes_are_prefixes_of_whole_segments(scopes, ids):
    stored = {"a": ("ana",), "b": ("ana", "work"), "c": ("an",), "d": ("安", "a")}
    index = index_of(
        *(Memory(row=i, id=name, scope=s, words="tea") for i, (name, s) in enumerate(stored.items(), 1))
    )
    assert found(index, probe("tea", visible=seen(*scopes))) == set(ids)


def days(number):
    return NOW + timedelta(days=number)


@pytest.mark.parametrize(
    ("conditions", "ids"),
    [
        ({}, {"new", "undated"}),
        ({"statuses": frozenset(Status)}, {"old", "new", "undated", "shelved"}),
        ({"as_of": days(-30)}, {"old", "undated"}),
        ({"as_of": days(-10)}, {"new", "undated"}),
        ({"as_of": days(-11)}, {"old", "undated"}),
        ({"as_of": days(-50)}, {"undated"}),
        ({"known_at": days(-30)}, {"old", "undated"}),
        ({"known_at": days(-5)}, {"new", "undated"}),
        ({"known_at": days(-50)}, {"undated"}),
        ({"as_of": days(-30), "known_at": days(-5)}, {"old", "undated"}),
        ({"as_of": days(-5), "known_at": days(-30)}, {"undated"}),
    ],
)
def test_what_held_and_what_was_known(conditions, ids):
    """ "old" held from day -40 until "new" replaced it on day -10."""

    def at(day):
        return days(day).timestamp()

    index = index_of(
        Memory(
            row=1,
            id="old",
            words="tea",
            status=Status.SUPERSEDED,
            valid_from=at(-40),
            valid_to=at(-10),
            recorded_at=at(-40),
        ),
        Memory(row=2, id="new", words="tea", timestamp=at(-10), recorded_at=at(-10)),
        Memory(row=3, id="undated", words="tea", recorded_at=at(-60)),
        Memory(
            row=4, id="shelved", words="tea", status=Status.ARCHIVED, timestamp=at(-60), recorded_at=at(-60)
        ),
    )
    assert found(index, probe("tea", visible=seen(**conditions))) == ids


def test_a_memory_is_gone_from_the_instant_it_expires():
    index = index_of(Memory(row=1, words="tea", expires_at=T0))
    assert found(index, probe("tea", visible=seen(now=NOW - timedelta(seconds=1))))
    assert not found(index, probe("tea", visible=seen(now=NOW)))


def test_unindexed_memories_are_never_found():
    index = index_of(Memory(row=1, words="tea", indexed=False))
    assert not found(index, probe("tea", visible=seen(unindexed=True)))


@pytest.mark.parametrize(
    ("window", "ids"),
    [
        ((10, 20), {"said", "about", "instant", "open"}),
        ((11, 12), {"about", "open"}),
        ((0, 10), {"about"}),
        ((25, 30), {"open"}),
        ((-math.inf, 5), set()),
        ((20, math.inf), {"about", "open", "instant"}),
    ],
)
def test_the_time_channel_brings_what_was_said_then_or_is_about_then(window, ids):
    index = index_of(
        Memory(row=1, id="said", timestamp=10.0),
        Memory(row=2, id="about", spans=((90.0, 95.0), (8.0, 15.0))),
        Memory(row=3, id="instant", timestamp=50.0, spans=((15.0, 15.0),)),
        Memory(row=4, id="open", spans=((10.0, math.inf),)),
        Memory(row=5, id="never"),
    )
    columns, _ = search(index, probe(windows=np.array([window])))
    assert set(columns.ids) == ids
    assert columns.in_window.all()


def test_the_time_channel_prefers_evidence_then_news_then_ids():
    index = index_of(
        Memory(row=1, id="d", timestamp=5.0, words="tea"),
        Memory(row=2, id="c", timestamp=8.0),
        Memory(row=3, id="b", timestamp=8.0),
        Memory(row=4, id="a", spans=((5.0, 6.0),)),
    )
    window = np.array([[0.0, 9.0]])
    order = [found(index, probe("tea", windows=window, top=top, weights=[1])) for top in (1, 2, 3, 4)]
    assert order == [{"d"}, {"d", "b"}, {"d", "b", "c"}, {"d", "b", "c", "a"}]


# -- neighbours ------------------------------------------------------------------------------------------------


def steps(index, row, reach=1, **conditions):
    visible = index.visible(seen(**conditions), None)
    edges = index.neighbours(probe(), visible, np.array([row]), reach=reach, entities=0, hub=0)
    return sorted((distance, target) for _, target, _, distance, _, _ in edge_list(edges))


def test_an_older_turn_that_arrives_late_takes_its_place():
    index = index_of(*(Memory(row=row, group="s", turn=turn) for row, turn in [(1, 0), (2, 1), (3, 3)]))
    assert steps(index, 3) == [(1, 2)]
    index.upsert(batch(Memory(row=4, group="s", turn=2)))
    assert steps(index, 3, reach=2) == [(1, 4), (2, 2)]
    assert steps(index, 2, reach=1) == [(1, 1), (1, 4)]


def test_without_turns_time_orders_and_then_arrival():
    """Turns first, then times, then the undated."""
    stored = [(1, -1, NAN), (2, -1, 9.0), (3, -1, 5.0), (4, -1, 5.0), (5, 7, 99.0)]
    index = index_of(*(Memory(row=row, group="s", turn=turn, timestamp=time) for row, turn, time in stored))
    assert steps(index, 5, reach=9) == [(1, 3), (2, 4), (3, 2), (4, 1)]


def test_what_cannot_be_seen_is_no_step():
    index = index_of(
        Memory(row=1, group="s", turn=0),
        Memory(row=2, group="s", turn=1, status=Status.ARCHIVED),
        Memory(row=3, group="s", turn=2),
    )
    assert steps(index, 1) == [(1, 3)]
    assert steps(index, 1, statuses=frozenset(Status)) == [(1, 2)]


def test_a_session_ends_at_its_scope():
    index = index_of(Memory(row=1, group="s", turn=0), Memory(row=2, group="s", turn=1, scope=("bob",)))
    assert steps(index, 1) == []


def shared(index, row, entities, hub):
    visible = index.visible(seen(), None)
    edges = index.neighbours(probe(), visible, np.array([row]), reach=0, entities=entities, hub=hub)
    assert len(edges.source) == 0 or set(edges.entity.tolist()) == {stable_id("Redis")}
    return [(target, degree) for _, target, _, _, _, degree in edge_list(edges)]


def test_shared_entities_lead_to_the_newest_unless_everyone_shares_them():
    index = index_of(*(Memory(row=row, entities=("Redis",), timestamp=T0 + row % 4) for row in range(1, 6)))
    # times by row: 1: +1, 2: +2, 3: +3, 4: +0, 5: +1; equal times by arrival
    assert shared(index, 4, entities=9, hub=5) == [(3, 5), (2, 5), (5, 5), (1, 5)]
    assert shared(index, 4, entities=2, hub=5) == [(3, 5), (2, 5)]
    assert shared(index, 3, entities=2, hub=5) == [(2, 5), (5, 5)]
    assert shared(index, 4, entities=9, hub=4) == []


def test_nearest_memories_of_several_vectors_at_once():
    """Whether few or many are asked for at a time, memories without a vector and questions of nan stay out."""
    stored = [(1.0, 0.0), (0.6, 0.8), None, (0.6, 0.8), (0.0, 1.0)]
    index = index_of(*(Memory(row=row, vector=v) for row, v in enumerate(stored, 1)))
    visible = index.visible(seen(), None)
    for copies in (1, 5):
        asked = np.array([(0, 1), (NAN, NAN), (-1, 0)] * copies, np.float32)
        rows, cosines = index.near(visible, asked, top=2, least=-0.5)
        assert rows.tolist() == [[5, 2], [-1, -1], [5, -1]] * copies
        assert cosines == pytest.approx(np.array([[1, 0.8], [NAN, NAN], [0, NAN]] * copies), nan_ok=True)


def test_what_was_begun_answers_alike_and_only_what_is_asked(monkeypatch):
    """Begun beside other work, in pieces and by several threads, for one vector or many; and dropped when something changes."""
    monkeypatch.setattr(dense, "_PIECE", 8)
    monkeypatch.setattr(dense, "_LARGE", 16)
    vectors = np.random.default_rng(7).standard_normal((300, 2)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    stored = [Memory(row=row, vector=tuple(vector)) for row, vector in enumerate(vectors.tolist(), 1)]
    index, plain = index_of(*stored), index_of(*stored)
    everything, then = index.visible(seen(), None), plain.visible(seen(), None)

    question = probe(vector=(1, 0))
    index.begin_search(everything, [np.array((0, 1), np.float32), question.vector])
    found, expected = index.search(question, everything), plain.search(question, then)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_equal(
            [getattr(one, f.name) for f in fields(one)], [getattr(other, f.name) for f in fields(other)]
        )

    for count in (1, 3, 9):
        index.begin_near(everything, vectors[:count], top=4, least=0.5)
        for asked, top, least in (
            (vectors[:count], 4, 0.5),
            (vectors[1:5], 4, 0.5),
            (vectors[:count], 3, 0.9),
        ):
            for one, other in zip(
                index.near(everything, asked, top=top, least=least),
                plain.near(then, asked, top=top, least=least),
                strict=True,
            ):
                np.testing.assert_array_equal(one, other)

    index.begin_near(everything, vectors[:1], top=1, least=0.5)
    index.begin_search(everything, [question.vector])
    index.remove(np.array([1]))
    left = index.visible(seen(), None)
    assert index.near(left, vectors[:1], top=1, least=0.5)[0].tolist() != [[1]]
    assert 1 not in index.search(question, left)[0].rows.tolist()


def test_equal_memories_are_equally_near_wherever_they_lie():
    """Products of whole matrices differ in their last digits from place to place; what is given out does not."""
    rng = np.random.default_rng(3)
    vector, others = rng.standard_normal((2, 40)), rng.standard_normal((300, 40))
    index = SearchIndex(40)
    same_vector = {5, 77, 130, 299}
    index.load(
        [
            batch(
                *(
                    Memory(row=i + 1, vector=tuple(vector[0] if i in same_vector else v))
                    for i, v in enumerate(others)
                ),
                dimension=40,
            )
        ]
    )
    asked = np.stack([vector[0], *others[:9]]).astype(np.float32)
    rows, cosines = index.near(index.visible(seen(), None), asked, top=6, least=-99.0)
    assert rows[0, :4].tolist() == [6, 78, 131, 300]
    assert len(set(cosines[0, :4].tolist())) == 1


# -- what callers may rely on -----------------------------------------------------------------------------------


def test_answers_stay_what_they_are_when_the_index_changes():
    stored = [
        Memory(row=row, words="tea", vector=(1, 0), group="s", entities=("Redis",)) for row in range(1, 4)
    ]
    index = index_of(*stored)
    question = probe("tea", ["Redis"], vector=(1, 0))
    visible = index.visible(question.visible, None)
    rows = np.array([1, 2])

    def ask():
        columns, bank = index.search(question, visible)
        return [
            columns,
            bank,
            index.signals(question, visible, rows),
            index.neighbours(question, visible, rows, reach=1, entities=1, hub=9),
        ]

    def values(answers):
        return [np.copy(getattr(a, f.name)) for a in answers for f in fields(a)]

    answers = ask()
    before = values(answers)
    index.touch(np.array([1, 2, 3]), np.zeros(3, np.float32), np.zeros(3))
    index.upsert(batch(*(replace(m, words="port", vector=(0, 1)) for m in stored)))
    index.remove(np.array([2]))
    np.testing.assert_equal(values(answers), before)


@pytest.mark.parametrize("count", [0, 3])
def test_columns_have_the_types_the_port_promises(count):
    index = index_of(
        *(Memory(row=row, words="tea", group="s", entities=("Redis",)) for row in range(1, count + 1))
    )
    question = probe("tea", ["Redis"])
    visible = index.visible(question.visible, None)
    columns, bank = index.search(question, visible)
    edges = index.neighbours(question, visible, columns.rows, reach=1, entities=1, hub=9)
    near, cosines = index.near(visible, np.ones((count, 2), np.float32), top=1, least=0)
    assert (len(columns.ids), len(edges.source) > 0) == (count, count > 0)
    promised = {
        np.float32: [columns.cosine, columns.terms, columns.importance, columns.weight, cosines],
        np.float64: [columns.timestamp, columns.weight_at],
        np.int64: [
            columns.rows,
            columns.seq,
            columns.group,
            bank.term_df,
            bank.entity_df,
            edges.source,
            edges.target,
            near,
        ],
        np.int32: [columns.length, edges.distance, edges.degree],
        np.int8: [columns.status, columns.memory_type, edges.kind],
        np.bool_: [columns.entities, columns.in_window],
        np.uint64: [edges.entity],
    }
    for dtype, arrays in promised.items():
        assert {array.dtype for array in arrays} == {np.dtype(dtype)}


def test_a_mask_is_refused_once_the_index_has_changed():
    index = index_of(Memory(row=1, words="tea"))
    question = probe("tea")
    for change in (
        lambda: index.upsert(batch(Memory(row=2))),
        lambda: index.remove(np.array([2])),
        lambda: index.load([]),
    ):
        visible = index.visible(question.visible, None)
        change()
        with pytest.raises(StoreError, match="changed"):
            index.search(question, visible)


def test_touching_leaves_a_mask_valid():
    index = index_of(Memory(row=1, words="tea"))
    visible = index.visible(seen(), None)
    index.touch(np.array([1, 9]), np.array([0.75, 0], np.float32), np.array([T0 + 9, 0]))
    columns, _ = index.search(probe("tea"), visible)
    assert (columns.weight.tolist(), columns.weight_at.tolist()) == ([0.75], [T0 + 9])


@pytest.mark.parametrize("row", [2, 3, 0, -1])
def test_rows_that_cannot_be_seen_are_refused(row):
    index = index_of(Memory(row=1), Memory(row=2, scope=("bob",)))
    question = probe(visible=seen(("ana",)))
    visible = index.visible(question.visible, None)
    with pytest.raises(InvalidInput, match="this reading"):
        index.signals(question, visible, np.array([row]))
    with pytest.raises(InvalidInput, match="this reading"):
        index.neighbours(question, visible, np.array([1, row]), reach=1, entities=1, hub=1)


def test_loading_starts_anew_and_takes_batches_one_by_one():
    index = index_of(Memory(row=9, words="tea"))
    index.load(batch(Memory(row=row, words="tea", group="s", turn=-row % 3)) for row in (1, 2, 3))
    assert len(index) == 3
    assert found(index, probe("tea")) == {"m0001", "m0002", "m0003"}
    assert steps(index, 3) == [(1, 2)]  # turns 2, 1, 0


def test_memory_is_counted_by_what_is_kept():
    index = index_of(*(Memory(row=row, words="tea", vector=(1, 0)) for row in range(1, 1001)))
    full = index.memory_bytes
    index.remove(np.arange(1, 901))
    assert full / 20 < index.memory_bytes < full / 5


@settings(deadline=None)
@given(
    st.lists(
        st.builds(
            Memory,
            row=st.integers(1, 9),
            words=st.sampled_from(["", "tea", "tea tea milk"]),
            scope=st.sampled_from([("ana",), ("ana", "work"), ("bob",)]),
            status=st.sampled_from(STATUSES),
            indexed=st.booleans(),
            timestamp=st.sampled_from([NAN, T0, T0 + 5]),
            expires_at=st.sampled_from([NAN, NAN, T0 - 5, T0 + 5]),
        ),
        max_size=12,
    )
)
def test_what_is_kept_of_visibility_is_what_would_be_found_anew(memories):
    index = index_of()
    questions = [
        seen(*scopes, now=NOW + timedelta(seconds=later), statuses=frozenset(statuses))
        for scopes in ((), [("ana",)], [("ana", "work"), ("bob",)])
        for statuses in ([Status.ACTIVE], STATUSES)
        for later in (0, 7, -7)
    ]
    everything = np.arange(1, 10)
    for memory in memories:
        index.upsert(batch(memory))
        for question in questions:
            kept, anew = index.visible(question, None), index.visible(question, everything)
            assert kept.slots.tolist() == anew.slots.tolist()
            assert kept.member.tolist() == anew.member.tolist()
            assert (kept.words, str(kept.newest)) == (anew.words, str(anew.newest))
            assert index.search(probe("tea", visible=question), kept)[1].size == len(anew.slots)
