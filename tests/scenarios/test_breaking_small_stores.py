"""A store of a few memories without vectors: what has the words stands first, whatever else is joined with it."""

import pytest

from hindsight_core import Hindsight
from hindsight_core.clock import CountedIds

CASES = [
    ("Bergen", "Ada lives in Bergen.", ["Ada owns a blue bike."]),
    ("Who plays chess?", "Ada plays chess.", ["Ada lives in Bergen.", "Ada owns a blue bike."]),
    ("3.12.0.7", "Proxy upgraded to 3.12.0.7", ["Proxy moved to rack 9"]),
    ("合肥", "苏敏住在合肥。", ["苏敏有一辆蓝色自行车。"]),
    ("which port", "Redis listens on port 6380", ["Redis was upgraded in May", "Redis 跑在三号机上"]),
]


@pytest.mark.parametrize("others", [0, 5])
@pytest.mark.parametrize(("question", "holds", "joined"), CASES, ids=[case[0] for case in CASES])
def test_a_memory_that_is_only_joined_with_the_exact_hit_stands_below_it(question, holds, joined, others):
    more = ["Tea is at noon.", "The lamp is green.", "河水涨了。", "A train leaves at six.", "Jam is sweet."]
    with Hindsight.open(":memory:", "u", embedder=None, new_id=CountedIds()) as memory:
        for text in (holds, *joined, *more[:others]):
            memory.remember(text, consolidate=False)
        hits = memory.recall(question)
        assert hits[0].unit.content == holds
        assert all(hit.relevance < hits[0].relevance for hit in hits[1:])
