"""The parts of the search index, each by itself against the obvious way of doing the same."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.errors import InvalidInput
from hindsight_core.stores.index import dense, postings, select
from hindsight_core.stores.index.columns import Codes, Growing, Places, Ragged, offsets_of, ranges, sizes_of
from hindsight_core.stores.index.dense import Vectors
from hindsight_core.stores.index.mask import Mask
from hindsight_core.stores.index.postings import Lists, Postings, bm25, idf


@pytest.fixture(autouse=True, scope="module")
def small_numbers():
    """Thresholds so low that small examples take every path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings, "_FEW", 6)
        patch.setattr(postings, "_SHORT", 4)
        patch.setattr(postings, "_GALLOP", 1)
        patch.setattr(select, "_BLOCK", 2)
        patch.setattr(dense, "_CHUNK", 3)
        yield


# -- columns ---------------------------------------------------------------------------------------------------


@given(st.lists(st.lists(st.integers(-9, 9), max_size=9), max_size=9), st.data())
def test_a_growing_column_is_a_list(batches, data):
    column, expected = Growing(np.int64), []
    for batch in batches:
        column.extend(np.array(batch, np.int64))
        expected += batch
        if data.draw(st.booleans()):
            kept = sorted(
                data.draw(st.sets(st.integers(0, len(expected) - 1)) if expected else st.just(set()))
            )
            column.keep(np.array(kept, np.int64))
            expected = [expected[i] for i in kept]
        assert column.view.tolist() == expected
        assert len(column) == len(expected)
    assert column.nbytes == 8 * len(expected)


def test_a_column_that_shrinks_much_gives_its_room_back():
    column = Growing(np.int64)
    column.extend(np.arange(10_000))
    column.keep(np.array([3, 9_999]))
    assert column.view.tolist() == [3, 9_999]
    assert column.view.base.nbytes < 100


def test_room_reserved_is_not_taken_again():
    column = Growing(np.float32, 3)
    column.reserve(10)
    room = column.view.base
    column.extend(np.ones((10, 3), np.float32))
    assert column.view.base is room


@given(
    st.lists(st.lists(st.integers(0, 99), max_size=4), min_size=1, max_size=12), st.integers(1, 5), st.data()
)
def test_a_ragged_column_is_a_list_of_lists(lists, step, data):
    column = Ragged(np.int32)
    for start in range(0, len(lists), step):
        part = lists[start : start + step]
        column.extend(np.array(list(chain(*part)), np.int32), np.array([len(values) for values in part]))
    kept = sorted(data.draw(st.sets(st.integers(0, len(lists) - 1))))
    if kept or data.draw(st.booleans()):
        column.keep(np.array(kept, np.int64))
        lists = [lists[i] for i in kept]
    assert column.values.view.tolist() == list(chain(*lists))
    assert column.owner.view.tolist() == [slot for slot, values in enumerate(lists) for _ in values]
    asked = data.draw(st.lists(st.integers(0, len(lists) - 1))) if lists else []
    position, values = column.of(np.array(asked, np.int64))
    assert values.tolist() == [value for slot in asked for value in lists[slot]]
    assert position.tolist() == [i for i, slot in enumerate(asked) for _ in lists[slot]]


def test_offsets_sizes_and_ranges_fit_together():
    assert offsets_of(np.array([2, 0, 3])).tolist() == [0, 2, 2, 5]
    assert sizes_of(np.array([0, 2, 2, 5])).tolist() == [2, 0, 3]
    assert ranges(np.array([7, 3, 1]), np.array([9, 3, 4])).tolist() == [7, 8, 1, 2, 3]
    assert ranges(np.zeros(0, np.int64), np.zeros(0, np.int64)).tolist() == []


def test_codes_are_numbers_in_order_of_first_sight():
    codes = Codes()
    assert codes.codes(["b", "a", "b"]).tolist() == [0, 1, 0]
    assert codes.codes(["c", "a"]).tolist() == [2, 1]
    column = np.array([2, -1, 0, 2], np.int32)
    codes.prune(column)
    assert codes.names == ["b", "c"]
    assert column.tolist() == [1, -1, 0, 1]
    assert codes.codes(["a", "c"]).tolist() == [2, 1]


def test_places_know_the_last_slot_of_a_row():
    places = Places()
    assert places.find(np.array([1, 5])).tolist() == [-1, -1]
    places.set(np.array([5, 2, 5]), np.array([0, 1, 2]))
    assert places.find(np.array([5, 2, 1, 0, -3, 10**12])).tolist() == [2, 1, -1, -1, -1, -1]
    places.clear(np.array([5]))
    places.set(np.array([900]), np.array([3]))
    assert places.find(np.array([5, 2, 900])).tolist() == [-1, 1, 3]


# -- selection -------------------------------------------------------------------------------------------------

pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=40)


@given(pairs, st.integers(0, 12))
def test_the_first_few_are_those_a_sort_would_give(values, top):
    """Ties that no column breaks are broken by position here, as a third column."""
    columns = [np.array([value[i] for value in values], np.float64) for i in range(2)]
    found = select.first(
        len(values), top, [*(c.__getitem__ for c in columns), np.arange(len(values)).__getitem__]
    )
    expected = sorted(range(len(values)), key=lambda i: (values[i], i))[:top]
    assert sorted(found.tolist()) == sorted(expected)


def test_a_later_column_is_asked_only_about_ties():
    asked = []

    def second(at):
        asked.extend(at.tolist())
        return at

    first = np.array([5, 1, 2, 2, 9, 2, 9, 9])
    assert sorted(select.first(8, 3, [first.__getitem__, second]).tolist()) == [1, 2, 3]
    assert asked == [2, 3, 5]


# -- postings --------------------------------------------------------------------------------------------------

# Terms whose 32 upper bits collide, and neighbours: 56 bits shifted left by 8.
TERMS = [1, 2, 3, (1 << 24) + 1, (1 << 24) + 2, (1 << 40) + 1, (1 << 40) + 2, (1 << 55), (1 << 56) - 1]
documents = st.lists(st.dictionaries(st.sampled_from(TERMS), st.integers(1, 255), max_size=5), max_size=14)


def packed(documents, first=0):
    entries = [
        (term << 8 | count, first + i)
        for i, words in enumerate(documents)
        for term, count in sorted(words.items())
    ]
    return (
        np.array([entry for entry, _ in entries], np.uint64),
        np.array([slot for _, slot in entries], np.int32),
    )


def found(index, terms, mask):
    lists = index.find(np.array(terms, np.uint64) << np.uint64(8), mask)
    parts = [slice(lists.bounds[t], lists.bounds[t + 1]) for t in range(len(terms))]
    return [list(zip(lists.slots[part].tolist(), lists.counts[part].tolist(), strict=True)) for part in parts]


@given(documents, st.integers(1, 4), st.booleans(), st.data())
def test_postings_find_what_reading_every_document_would(documents, step, at_once, data):
    """However they were added, whatever is visible, before and after documents are dropped."""
    index = Postings()
    if at_once:
        index.merge(*packed(documents))
    else:
        for first in range(0, len(documents), step):
            index.extend(*packed(documents[first : first + step], first))
    for _ in range(2):
        visible = sorted(
            data.draw(st.sets(st.integers(0, len(documents) - 1)) if documents else st.just(set()))
        )
        mask = Mask(np.array(visible, np.int64), len(documents), 0)
        asked = data.draw(st.lists(st.sampled_from([*TERMS, 77]), unique=True))
        assert found(index, asked, mask) == [
            [(slot, documents[slot][term]) for slot in visible if term in documents[slot]] for term in asked
        ]
        index.remap(np.array(visible, np.int64), len(documents))
        documents = [documents[slot] for slot in visible]


@pytest.mark.parametrize("add", [Postings.extend, Postings.merge])
def test_a_term_given_twice_for_a_slot_is_there_once(add):
    index = Postings()
    add(index, np.array([7 << 8 | 1, 7 << 8 | 1, 9 << 8 | 1], np.uint64), np.array([0, 0, 0], np.int32))
    assert found(index, [7, 9], Mask(np.array([0]), 1, 0)) == [[(0, 1)], [(0, 1)]]


def test_new_postings_that_are_read_again_and_again_are_merged():
    words = [{1: 2, 3: 1}, {1: 1, 2: 4}, {3: 9}]
    index, mask = Postings(), Mask(np.arange(3), 3, 0)
    index.merge(*packed(words[:1]))
    index.extend(*packed(words[1:], 1))
    merged = index.nbytes
    answers = [found(index, [1, 2, 3], mask) for _ in range(4)]
    assert index.nbytes > merged
    assert answers == [[[(0, 2), (1, 1)], [(1, 4)], [(0, 1), (2, 9)]]] * 4


def test_new_postings_that_nobody_reads_are_not_merged():
    index, mask = Postings(), Mask(np.arange(3), 3, 0)
    index.extend(*packed([{1: 2, 3: 1}, {1: 1, 2: 4}, {3: 9}]))
    before = index.nbytes
    for _ in range(4):
        assert found(index, [77], mask) == [[]]
    assert index.nbytes == before


def test_bm25_by_hand():
    """Three memories of 2, 3 and 7 terms; one term once in the first and four times in the last, one in all."""
    weight = idf(3, np.array([2, 3]))
    assert weight == pytest.approx([0.4700036, 0.1335314])  # ln(1 + 1.5/2.5), ln(1 + .5/3.5)
    lists = Lists(np.array([0, 2, 0, 1, 2]), np.array([1, 4, 1, 3, 3], np.uint8), np.array([0, 2, 5]))
    length = np.array([2, 7, 2, 3, 7], np.int32)
    parts = bm25(lists, length, weight, average=4.0, k1=1.2, b=0.4)
    # norm = 1.2 * (.6 + .4 * length / 4): .96, 1.56, .96, 1.08, 1.56
    assert parts.dtype == np.float32
    assert parts == pytest.approx(
        [
            0.4700036 * 2.2 * 1 / 1.96,
            0.4700036 * 2.2 * 4 / 5.56,
            0.1335314 * 2.2 * 1 / 1.96,
            0.1335314 * 2.2 * 3 / 4.08,
            0.1335314 * 2.2 * 3 / 4.56,
        ],
        rel=1e-6,
    )


@given(st.integers(1, 10**6), st.data())
def test_idf_is_above_zero_and_falls_with_frequency(size, data):
    df = data.draw(st.integers(0, size - 1))
    rare, common = idf(size, np.array([df, df + 1]))
    assert rare > common > 0


# -- vectors ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dimension", [1, 3, 16, 37, 384])
def test_a_cosine_does_not_depend_on_where_the_vector_lies(dimension):
    """Bit for bit: otherwise equal vectors would not tie, and a scan and a look-up would disagree."""
    rng = np.random.default_rng(5)
    stored = rng.standard_normal((50, dimension)).astype(np.float32)
    query = rng.standard_normal(dimension).astype(np.float32)
    vectors = Vectors(dimension)
    vectors.extend(stored, 50)
    everything = vectors.scan(query, Mask(np.arange(50), 50, 0))
    assert everything == pytest.approx(stored @ query, abs=1e-4)
    for slots in (np.array([7]), np.array([7, 7, 3]), np.arange(1, 50), np.array([49, 0, 12, 12, 31])):
        assert vectors.cosines(query, slots).tolist() == everything[slots].tolist()
    few = np.array([2, 40])
    assert vectors.scan(query, Mask(few, 50, 0)).tolist() == everything[few].tolist()
    most = np.arange(5, 50)
    assert vectors.scan(query, Mask(most, 50, 0)).tolist() == everything[most].tolist()


def test_a_missing_vector_has_no_cosine():
    vectors = Vectors(2)
    vectors.extend(np.array([[1, 0], [np.nan, np.nan]], np.float32), 2)
    vectors.extend(None, 1)
    vectors.extend(np.array([[0.6, 0.8]], np.float32), 1)
    cosine = vectors.scan(np.array([0, 1], np.float32), Mask(np.arange(4), 4, 0))
    assert np.isnan(cosine).tolist() == [False, True, True, False]
    assert cosine[[0, 3]] == pytest.approx([0, 0.8])
    assert np.isnan(vectors.of(np.array([3, 1]))).tolist() == [[False, False], [True, True]]


@pytest.mark.parametrize("dimension", [None, 3])
def test_a_vector_of_another_length_is_refused(dimension):
    vectors = Vectors(dimension)
    with pytest.raises(InvalidInput, match="dimension"):
        vectors.extend(np.ones((1, 2), np.float32), 1)
    vectors.extend(None, 1)
    with pytest.raises(InvalidInput, match="dimension"):
        vectors.scan(np.ones(2, np.float32), Mask(np.arange(1), 1, 0))
