"""What a reader may see, as a set of slots; everything counted, ranked or returned is taken from it.

Two ways lead to the set: when scopes or the caller's filter leave few memories, only those are looked at;
otherwise whole columns are compared. Either way the same conditions hold (see `SearchIndex.visible`).
"""

from __future__ import annotations

from array import array
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from hindsight_core.ports import Doubles, Ints, Visibility
from hindsight_core.scope import covers
from hindsight_core.stores.index.columns import Growing, Value
from hindsight_core.stores.index.memories import Memories
from hindsight_core.unit import Scope, Status

_STATUSES = list(Status)
_KEPT = 64  # masks
_FEW = 4  # one memory looked up costs as much as about four in a row


class Mask:
    """The visible memories at one state of the index.

    Attributes:
        slots: int64, ascending.
        member: bool over all slots.
        version: The state of the index it belongs to.
        words: Number of terms in the visible memories, repetitions counted.
        newest: Time of the newest dated one; nan when none is dated.
    """

    def __init__(
        self, slots: Ints, count: int, version: int, *, words: int = 0, newest: float = np.nan
    ) -> None:
        self.slots = slots
        self.version = version
        self.words = words
        self.newest = newest
        self.member: NDArray[np.bool_] = np.zeros(count, np.bool_)
        self.member[slots] = True
        self._slots = Growing.holding(
            slots
        )  # shared with all that grow from this one, each sees its own part
        self._member = Growing.holding(self.member)

    def __len__(self) -> int:
        return len(self.slots)

    def grown(self, memories: Memories, added: Ints, shown: NDArray[np.bool_], version: int) -> Mask:
        """The mask of a later state, in which slots were added and some of them are shown; once for each mask."""
        new = added[shown]
        grown = Mask.__new__(Mask)
        grown._slots, grown._member = self._slots, self._member
        grown._slots.extend(new)
        grown._member.extend(shown)
        grown.slots, grown.member = grown._slots.view, grown._member.view
        grown.version = version
        grown.words = self.words + int(memories.length.view[new].sum())
        grown.newest = float(np.fmax.reduce(memories.timestamp.view[new], initial=self.newest))
        return grown

    @property
    def average(self) -> float:
        """Mean length of the visible memories in terms; 1 where they have none."""
        return self.words / max(len(self.slots), 1) or 1.0

    @property
    def selective(self) -> bool:
        """So few are visible that looking them up is cheaper than passing over everything."""
        return len(self.slots) * _FEW < len(self.member)

    @property
    def full(self) -> bool:
        """Everything is visible."""
        return len(self.slots) == len(self.member)


class Masks:
    """The masks of questions that need no more than scopes and statuses, kept until something changes or expires."""

    def __init__(self) -> None:
        self._kept: dict[tuple[tuple[Scope, ...], frozenset[Status]], tuple[Mask, float, float]] = {}

    def clear(self) -> None:
        """Forget them: the index changed."""
        self._kept.clear()

    def find(self, visible: Visibility) -> Mask | None:
        """The mask that was kept for such a question, if it holds at its `now`."""
        kept = self._kept.get((visible.scopes, visible.statuses))
        if kept is None or not kept[1] <= visible.now.timestamp() < kept[2]:
            return None
        return kept[0]

    def grow(self, memories: Memories, added: Ints, version: int) -> None:
        """Let the masks take in new slots behind all others; nothing else has changed."""
        if not np.isnan(memories.expires_at.view[added]).all():
            self._kept.clear()  # then a mask holds no longer as long as it did
        found = memories.live.view[added] & memories.indexed.view[added]
        has = [_STATUSES[code] for code in memories.status.view[added].tolist()]
        names = [memories.scopes.names[code] for code in memories.scope.view[added].tolist()]
        for (scopes, statuses), (mask, since, until) in self._kept.items():
            shown = found & [
                status in statuses and any(covers(scope, name) for scope in scopes)
                for status, name in zip(has, names, strict=True)
            ]
            self._kept[scopes, statuses] = mask.grown(memories, added, shown, version), since, until

    def keep(self, visible: Visibility, mask: Mask, expires_at: Doubles) -> None:
        """Keep a mask from the last expiry before the question's `now` until the next after it."""
        if len(self._kept) >= _KEPT:
            self._kept.clear()
        now = visible.now.timestamp()
        since = expires_at[expires_at <= now].max(initial=-np.inf)
        until = expires_at[expires_at > now].min(initial=np.inf)
        self._kept[visible.scopes, visible.statuses] = mask, float(since), float(until)


class Scopes:
    """Which slots lie under a scope."""

    def __init__(self) -> None:
        self._codes: defaultdict[Scope, array[int]] = defaultdict(lambda: array("i"))  # by prefix
        self._slots: list[array[int]] = []  # by code

    def extend(self, memories: Memories, slots: Ints) -> None:
        """Take in new slots, in ascending order."""
        for code in range(len(self._slots), len(memories.scopes)):
            scope = memories.scopes.names[code]
            for segments in range(len(scope) + 1):
                self._codes[scope[:segments]].append(code)
            self._slots.append(array("i"))
        for slot, code in zip(slots.tolist(), memories.scope.view[slots].tolist(), strict=True):
            self._slots[code].append(slot)

    def under(self, scopes: tuple[Scope, ...]) -> set[int] | None:
        """Codes of the scopes under any of these prefixes; None = all of them."""
        found: set[int] = set()
        for scope in scopes:
            codes = self._codes.get(scope, ())
            if len(codes) == len(self._slots):
                return None
            found.update(codes)
        return None if len(found) == len(self._slots) else found

    def count(self, codes: set[int]) -> int:
        """Number of slots in some scopes, dead ones included."""
        return sum(len(self._slots[code]) for code in codes)

    def slots(self, codes: set[int]) -> Ints:
        """The slots in some scopes, ascending, dead ones included."""
        return np.sort(joined([self._slots[code] for code in codes]))


def joined(parts: list[array[int]]) -> Ints:
    """Several arrays of slots as one."""
    return np.frombuffer(b"".join(parts), np.intc).astype(np.int64)


def visible_slots(memories: Memories, scopes: Scopes, visible: Visibility, allowed: Ints | None) -> Ints:
    """The slots that may be seen, ascending."""
    codes = scopes.under(visible.scopes)
    slots: Ints | None = None  # None = all
    if codes is not None:
        if scopes.count(codes) * _FEW < len(memories):
            slots = scopes.slots(codes)
        else:
            within = np.zeros(len(memories.scopes), np.bool_)
            within[list(codes)] = True
            slots = np.flatnonzero(within[memories.scope.view])
    if allowed is not None:
        permitted = np.zeros(len(memories) + 1, np.bool_)
        permitted[memories.places.find(allowed)] = True  # -1 sets the spare entry at the end
        slots = np.flatnonzero(permitted[:-1]) if slots is None else slots[permitted[slots]]

    def of(column: Growing[Value]) -> NDArray[Value]:
        return column.view if slots is None else column.view[slots]

    keep = of(memories.live) & of(memories.indexed)
    keep &= ~(of(memories.expires_at) <= visible.now.timestamp())
    status = of(memories.status)
    statuses = visible.statuses
    if visible.as_of is not None:
        instant = visible.as_of.timestamp()
        valid_from = of(memories.valid_from)
        keep &= ~(np.where(np.isnan(valid_from), of(memories.timestamp), valid_from) > instant)
        keep &= ~(of(memories.valid_to) <= instant)
        statuses |= {Status.SUPERSEDED}
    if visible.known_at is not None:
        instant = visible.known_at.timestamp()
        keep &= of(memories.recorded_at) <= instant
        later = (status == _STATUSES.index(Status.SUPERSEDED)) & ~(of(memories.valid_to) <= instant)
        status = np.where(later, np.int8(_STATUSES.index(Status.ACTIVE)), status)
    shown = np.zeros(len(keep), np.bool_)
    for each in statuses:
        shown |= status == _STATUSES.index(each)
    keep &= shown
    return np.flatnonzero(keep) if slots is None else slots[keep]
