"""A reranker within bounds: so many candidates, so many milliseconds.

Reranking must never make a recall fail or hang. When it takes longer than it may, fails, or is still busy with earlier
recalls, it gives no answer and the fused order stands. A run that took too long goes on in its own thread, so that a
model which was only loading is ready for the next recall.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Sequence

import numpy as np

from hindsight_core.errors import InvalidSettings
from hindsight_core.ports import Floats, Reranker

log = logging.getLogger(__name__)

_AT_ONCE = 4
"""Runs in progress; one more recall does without."""


class BoundedReranker:
    """Any reranker, within bounds.

    Args:
        reranker: Asked for scores.
        candidates: It sees so many of the best hits; the others keep their places below.
        milliseconds: It may take so long; None waits for it.
        share: How much of a hit's score is the reranker's; the rest stays with the fused score, which knows what a
            reranker cannot: time, importance, association.

    Raises:
        InvalidSettings: A bound is impossible.
    """

    def __init__(
        self,
        reranker: Reranker,
        *,
        candidates: int = 20,
        milliseconds: float | None = 500.0,
        share: float = 0.7,
    ) -> None:
        faults = []
        if isinstance(candidates, bool) or not isinstance(candidates, int) or not 1 <= candidates <= 1000:
            faults.append("candidates must be in 1..1000")
        if milliseconds is not None and not 0 < milliseconds < 1e9:
            faults.append("milliseconds must be above 0, or None")
        if not 0 < share <= 1:
            faults.append("share must be above 0 and at most 1")
        if faults:
            raise InvalidSettings("BoundedReranker", faults)
        self.reranker = reranker
        self.candidates = candidates
        self.milliseconds = milliseconds
        self.share = share
        self._slots = threading.Semaphore(_AT_ONCE)

    def scores(self, question: str, passages: Sequence[str]) -> Floats | None:
        """One score in 0..1 per passage, shape (n,); None when the fused order has to stand."""
        if self.milliseconds is None:
            return self._asked(question, passages)
        if not self._slots.acquire(blocking=False):
            log.info("the reranker is still busy; the fused order stands")
            return None
        answer: list[Floats | None] = []
        done = threading.Event()

        def work() -> None:
            try:
                answer.append(self._asked(question, passages))
            finally:
                self._slots.release()
                done.set()

        threading.Thread(target=work, name="hindsight-rerank", daemon=True).start()
        if not done.wait(self.milliseconds / 1000.0):
            log.info("reranking took longer than %g ms; the fused order stands", self.milliseconds)
            return None
        return answer[0] if answer else None

    def erase(self, texts: Iterable[str]) -> None:
        """Remove what the reranker keeps about these texts."""
        if (forget := getattr(self.reranker, "erase", None)) is not None:
            forget(texts)

    def _asked(self, question: str, passages: Sequence[str]) -> Floats | None:
        try:
            scores = np.asarray(self.reranker.rerank(question, list(passages)), dtype=np.float32)
        except Exception as error:  # noqa: BLE001 (a reranker may raise anything; recall goes on without it)
            log.warning("the reranker failed (%s); the fused order stands", type(error).__name__)
            return None
        if scores.shape != (len(passages),) or not np.isfinite(scores).all():
            log.warning("the reranker did not give one number per passage; the fused order stands")
            return None
        return np.clip(scores, 0.0, 1.0)
