"""A handle on an open memory: what it writes, what it may read, and the moment it acts in."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from hindsight_core.engine import reading
from hindsight_core.engine.items import Instant, instant
from hindsight_core.engine.parts import Parts
from hindsight_core.errors import InvalidInput
from hindsight_core.profiles import Profile
from hindsight_core.scope import narrow, parse_scope
from hindsight_core.unit import Scope


class Handle:
    """The state of a handle; what can be asked of it is in `ExactQuestions`, `Changes` and `Hindsight`."""

    def __init__(self, parts: Parts, scope: Scope, read: tuple[Scope, ...]) -> None:
        self._parts = parts
        self._scope = scope
        self._reach = read
        self._recalls = reading.RecallLog()

    @property
    def scope(self) -> Scope:
        """The scope this handle writes."""
        return self._scope

    @property
    def reach(self) -> tuple[Scope, ...]:
        """The scopes it reads, each with what lies below it."""
        return self._reach

    @property
    def profile(self) -> Profile:
        """Its settings."""
        return self._parts.profile

    @property
    def parts(self) -> Parts:
        """The engine's parts: store, embedder, clock, ...; for adapters."""
        return self._parts

    def close(self) -> None:
        """Close the store for every handle of it; closing twice is fine."""
        self._parts.store.close()
        self._parts.closes.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # a handle is a reference to an open store; what holds one is copied with the same

    def __reduce__(self) -> tuple[Any, ...]:
        raise InvalidInput(
            "a handle on an open memory cannot be pickled; open the file again where it is needed"
        )

    def __repr__(self) -> str:
        return f"<Hindsight scope={'/'.join(self._scope)!r} profile={self.profile.name!r}>"

    def _now(self, now: Instant | None = None) -> datetime:
        return instant(self._parts.clock.now() if now is None else now, "now")  # type: ignore[return-value]

    def _scopes(self, scope: str | Iterable[str] | None) -> tuple[Scope, ...]:
        if scope is None:
            return self._reach
        wanted = parse_scope(scope)
        if not narrow(self._reach, wanted):
            raise InvalidInput(
                "a per-call scope can only narrow what this handle reads; open another handle instead"
            )
        return (wanted,)
