"""The contract for learnt weights: tokens beside the words of a memory."""

# ruff: noqa: D102 - the name of a test says what it shows
from __future__ import annotations

from pathlib import Path

import numpy as np

from hindsight_core.contract.base import (
    MEI,
    NOW,
    ContractBase,
    assert_close,
    entry,
    found,
    probe,
    terms_of,
    unit,
    visible,
)
from hindsight_core.ports import Store


class LearntContract(ContractBase):
    """Scores of tokens, what they leave alone, and how they are replaced."""

    def _weighed(self, store: Store) -> None:
        """Three memories: tokens 3 and 70000, token 3 alone, words alone. Weights of powers of two are kept exactly."""
        self.put(
            store,
            (unit("a"), entry("x y", tokens={3: 0.5, 70_000: 2.0})),
            (unit("b"), entry("x", tokens={3: 0.25})),
            (unit("c"), entry("x x")),
        )

    def test_the_score_of_tokens_is_the_dot_product(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self._weighed(store)
            asked = probe(visible(), tokens={3: 2.0, 70_000: 0.5, 99: 7.0})
            with store.reading(visible()) as reading:
                candidates, bank = reading.search(asked)
                assert sorted(candidates.ids) == ["a", "b"]
                every, _ = reading.search(probe(visible(), words={"x": 1}))
                signals = reading.signals(asked, every.rows)
            assert signals.learnt is not None
            shown = dict(zip(signals.ids, signals.learnt.sum(axis=1).tolist(), strict=True))
            assert_close([shown[id] for id in "abc"], [2, 0.5, 0])
            if self.capabilities.exact_statistics:
                assert_close([bank.learnt_mean, bank.learnt_std], [2.5 / 3, np.std([2, 0.5, 0])])

    def test_tokens_are_no_words(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self._weighed(store)
            with store.reading(visible()) as reading:
                plain, bank = reading.search(probe(visible(), words={"x": 1}))
                both, with_tokens = reading.search(probe(visible(), words={"x": 1}, tokens={3: 1}))
            assert plain.learnt is None
            assert dict(zip(plain.ids, plain.length.tolist(), strict=True)) == {"a": 2, "b": 1, "c": 2}
            assert plain.ids == both.ids
            assert_close(plain.terms, both.terms)
            assert (bank.learnt_mean, bank.learnt_std) == (0, 0)
            assert (bank.keyword_mean, bank.keyword_std) == (
                with_tokens.keyword_mean,
                with_tokens.keyword_std,
            )
            assert bank.term_df.tolist() == with_tokens.term_df.tolist() == [3]

    def test_the_best_by_tokens_are_candidates(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self._weighed(store)
            with store.reading(visible()) as reading:
                assert found(reading, probe(visible(), tokens={3: 1}, top=1)) == ["a"]
                assert found(reading, probe(visible(), words={"y": 1}, tokens={3: 1}, top=5)) == ["a", "b"]

    def test_terms_can_be_replaced(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            self._weighed(store)
            before = store.find(visible())
            assert store.without_tokens(visible()) == [(MEI, "c")]
            with store.reading(visible()) as reading:
                assert found(reading, probe(visible(), tokens={5: 1})) == []
            with store.write(actor="test", batch="b", now=NOW) as tx:
                tx.set_terms(
                    {
                        (MEI, "c"): terms_of("x x", {5: 4.0}),
                        (MEI, "a"): terms_of("x y", {}),
                        (MEI, "gone"): terms_of("x", {5: 1.0}),
                    }
                )
            with store.reading(visible()) as reading:
                candidates, _ = reading.search(probe(visible(), words={"x": 1}, tokens={5: 1, 3: 1}))
            assert candidates.learnt is not None
            shown = dict(zip(candidates.ids, candidates.learnt.sum(axis=1).tolist(), strict=True))
            assert_close([shown[id] for id in "abc"], [0, 0.25, 4])
            assert store.without_tokens(visible()) == [(MEI, "a")]
            assert store.find(visible()) == before
            assert len(list(store.events())) == 3

    def test_an_undo_brings_back_no_tokens_of_another_model(self, tmp_path: Path) -> None:
        for name, bare in (("one", {"c"}), ("two", {"a", "c"})):
            folder = tmp_path / name
            folder.mkdir()
            with self.opened(folder) as store:
                with store.write(actor="test", batch="open", now=NOW) as tx:
                    tx.set_meta("keywords.fingerprint", "one")
                self._weighed(store)
                with store.write(actor="test", batch="gone", now=NOW) as tx:
                    tx.remove((MEI, "a"), reason="test")
                with store.write(actor="test", batch="open", now=NOW) as tx:
                    tx.set_meta("keywords.fingerprint", name)
                self.undo(store, "gone")
                assert {id for _, id in store.without_tokens(visible())} == bare
                with store.reading(visible()) as reading:
                    assert found(reading, probe(visible(), words={"y": 1})) == ["a"]
