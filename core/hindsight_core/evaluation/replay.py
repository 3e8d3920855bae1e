"""The same question under many profiles, with the store asked once.

A profile changes what is made of a store's answers, and hardly ever what the store is asked. So a replay keeps those answers and
ranks from them: exactly what `recall` would give under the profile, in a fraction of the time. What a profile does ask anew (bridges
start from other hits under other weights) is looked up and kept as well.

Nothing may write to the memory meanwhile, and profiles must not differ in how they encode.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import fields
from datetime import datetime
from functools import partial
from typing import Any, cast

import numpy as np

from hindsight_core.engine import Hindsight
from hindsight_core.engine.keywords import question_weights
from hindsight_core.engine.reading import Request, question_vectors
from hindsight_core.ports import Floats, Ints, Probe, Reading, Store, Visibility
from hindsight_core.profiles import Profile
from hindsight_core.recall import Hit, analyse, hear, rank
from hindsight_core.unit import MemoryUnit

_KEPT = 64
"""Answers kept for a question; the oldest make room. A profile needs about six."""


class Replay:
    """One question to one memory.

    Args:
        memory: A handle; it reads what it would read for its user.
        text: The question.
        now: The moment of asking.
        history: The turns before it.
        include_history: Superseded memories too.
        known_at: By what was known then.
    """

    def __init__(
        self,
        memory: Hindsight,
        text: str,
        *,
        now: datetime,
        history: Sequence[str] = (),
        include_history: bool = False,
        known_at: datetime | None = None,
    ) -> None:
        parts = memory.parts
        request = Request(
            query=text,
            k=1,
            now=now,
            history=tuple(history),
            where=None,
            scopes=memory.reach,
            as_of=None,
            known_at=known_at,
            include_history=include_history,
            include_archived=False,
            floor=None,
        )
        self._visible = request.visible
        heard = hear(
            text,
            embed=partial(question_vectors, parts),
            weigh=partial(question_weights, parts.keywords),
            history=history,
        )
        self._question = analyse(heard, now)
        self._calibration = parts.calibration
        self._kept = _KeptView(parts.store, self._visible)

    def hits(self, profile: Profile, k: int) -> list[Hit]:
        """What a recall of k gives under a profile, its floor included."""
        with self._kept as view:
            return rank(
                view,
                self._question,
                visible=self._visible,
                profile=profile,
                calibration=self._calibration,
                k=k,
                floor=profile.floor,
            )


class _KeptView:
    """A reading whose answers are kept; rows stay valid as long as nothing is written."""

    def __init__(self, store: Store, visible: Visibility) -> None:
        self._store = store
        self._visible = visible
        self._answers: dict[tuple[Any, ...], Any] = {}
        self._units: dict[int, MemoryUnit] = {}
        self._vectors: dict[int, Floats] = {}
        self._stack = ExitStack()
        self._opened: Reading | None = None

    def __enter__(self) -> Reading:
        return cast(Reading, self)

    def __exit__(self, *raised: object) -> None:
        self._opened = None
        self._stack.close()

    def __getattr__(self, name: str) -> Any:
        return partial(self._answer, name)

    def expect(self, probes: Sequence[Probe]) -> None:
        """What is kept need not be fetched."""

    def units(self, rows: Ints) -> list[MemoryUnit]:
        """As the reading's; kept one by one, since every profile shows others."""
        return [self._units[row] for row in self._known(self._units, rows, "units")]

    def vectors(self, rows: Ints) -> Floats:
        """As the reading's, kept alike."""
        return np.stack([self._vectors[row] for row in self._known(self._vectors, rows, "vectors")])

    def _known(self, kept: dict[int, Any], rows: Ints, name: str) -> list[int]:
        wanted: list[int] = np.asarray(rows, dtype=np.int64).tolist()
        missing = [row for row in dict.fromkeys(wanted) if row not in kept]
        if missing:
            kept.update(zip(missing, getattr(self._reading(), name)(np.array(missing)), strict=True))
        return wanted

    def _answer(self, name: str, *args: Any, **more: Any) -> Any:
        key = (name, *map(_key, args), *((k, _key(v)) for k, v in more.items()))
        if key not in self._answers:
            if len(self._answers) >= _KEPT:
                del self._answers[next(iter(self._answers))]
            self._answers[key] = getattr(self._reading(), name)(*args, **more)
        return self._answers[key]

    def _reading(self) -> Reading:
        if self._opened is None:
            self._opened = self._stack.enter_context(self._store.reading(self._visible))
        return self._opened


def _key(value: Any) -> Any:
    """Something hashable that is equal for equal arguments; what may be seen is the same in all of a replay."""
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, Probe):
        return tuple(_key(getattr(value, f.name)) for f in fields(value) if f.name != "visible")
    return value
