"""Which units may be seen, said on a unit in hand; a store says the same in its own language."""

from __future__ import annotations

from hindsight_core.errors import InvalidInput
from hindsight_core.ports import Visibility
from hindsight_core.scope import covers
from hindsight_core.unit import MemoryUnit, Status


def check(visible: Visibility) -> None:
    """Refuse a visibility without scopes: it must never come to mean "everything"."""
    if not visible.scopes or not all(visible.scopes):
        raise InvalidInput("a visibility needs at least one scope, and no scope may be empty")


def statuses_of(visible: Visibility) -> frozenset[Status]:
    """The statuses shown: with `as_of`, superseded memories are seen while they held."""
    return visible.statuses | {Status.SUPERSEDED} if visible.as_of is not None else visible.statuses


def sees(visible: Visibility, unit: MemoryUnit) -> bool:
    """Whether a unit, as it is in hand, may be seen."""
    start = unit.timestamp if unit.valid_from is None else unit.valid_from
    as_of, known_at = visible.as_of, visible.known_at
    return (
        any(covers(prefix, unit.scope) for prefix in visible.scopes)
        and unit.status in statuses_of(visible)
        and (unit.expires_at is None or unit.expires_at > visible.now)
        and (unit.indexed or visible.unindexed)
        and (as_of is None or start is None or start <= as_of)
        and (as_of is None or unit.valid_to is None or as_of < unit.valid_to)
        and (known_at is None or unit.recorded_at <= known_at)
        and (visible.where is None or visible.where.matches(unit))
    )
