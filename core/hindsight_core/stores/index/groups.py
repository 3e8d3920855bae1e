"""Order within sessions and documents: what came before and after.

Members of a group are ordered by turn, then time, then arrival; those without a turn come after those with one, and
those without a time after those with one. The order of two members never depends on a third.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left

import numpy as np

from hindsight_core.arrays import distinct
from hindsight_core.ports import Ints
from hindsight_core.stores.index.columns import Small
from hindsight_core.stores.index.mask import Mask, joined
from hindsight_core.stores.index.memories import Memories


class Groups:
    """The members of each group, in order."""

    def __init__(self, memories: Memories) -> None:
        self._memories = memories
        self._members: list[array[int]] = []  # by group code

    def build(self) -> None:
        """Order all slots anew."""
        slots = np.flatnonzero(self._memories.group.view >= 0)
        turn = self._memories.turn.view[slots]
        turn = np.where(turn < 0, np.iinfo(np.int64).max, turn)
        order = np.lexsort((self._memories.seq.view[slots], self._memories.timestamp.view[slots], turn))
        slots = slots[order]  # lexsort puts nan last
        codes = self._memories.group.view[slots]
        slots = slots[np.argsort(codes, kind="stable")].astype(np.intc)
        stops = np.cumsum(np.bincount(codes, minlength=len(self._memories.groups)))
        parts = np.split(slots, stops)  # the last part is empty
        self._members = [array("i", part.tobytes()) for part in parts[:-1]]

    def insert(self, slots: Ints) -> None:
        """Put new slots into their places."""
        self._members += (array("i") for _ in range(len(self._members), len(self._memories.groups)))
        for slot, code in zip(slots.tolist(), self._memories.group.view[slots].tolist(), strict=True):
            if code < 0:
                continue
            members, key = self._members[code], self._key(slot)
            if not members or self._key(members[-1]) <= key:  # nearly always
                members.append(slot)
            else:
                members.insert(bisect_left(members, key, key=self._key), slot)

    def around(self, mask: Mask, seeds: Ints, reach: int) -> tuple[Ints, Ints, Small]:
        """The visible members up to `reach` steps before and after each (visible, distinct) seed.

        Only visible members count as steps.

        Returns:
            Seeds, members and distances, an entry for each pair.
        """
        group = self._memories.group.view
        seeds = seeds[group[seeds] >= 0]
        chain = joined([self._members[code] for code in distinct(np.sort(group[seeds])).tolist()])
        chain = chain[mask.member[chain]]
        place = np.empty(len(self._memories), np.int64)
        place[chain] = np.arange(len(chain))
        steps = np.concatenate([np.arange(-reach, 0), np.arange(1, reach + 1)])
        seed, step = np.repeat(seeds, len(steps)), np.tile(steps, len(seeds))
        at = place[seed] + step
        inside = (at >= 0) & (at < len(chain))
        seed, step, member = seed[inside], step[inside], chain[at[inside]]
        same = group[member] == group[seed]
        return seed[same], member[same], np.abs(step[same]).astype(np.int32)

    def _key(self, slot: int) -> tuple[bool, int, bool, float, int]:
        turn = int(self._memories.turn.view[slot])
        time = float(self._memories.timestamp.view[slot])
        undated = time != time
        return turn < 0, turn, undated, 0.0 if undated else time, int(self._memories.seq.view[slot])
