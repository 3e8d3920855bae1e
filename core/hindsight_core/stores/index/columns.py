"""Building blocks: columns that grow, columns with several values per memory, and numbers for names.

A memory's position in every column is its *slot*. Slots are given in order of arrival at the index and never
change their content except by `touch`; a replaced or removed memory leaves a dead slot behind until compaction
moves the living ones together.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from hindsight_core.ports import Ints

Small = NDArray[np.int32]
"""Slots and codes as they are kept: four bytes each."""

Value = TypeVar("Value", bound=np.generic)
Name = TypeVar("Name", bound=Hashable)

_CHUNK = 1 << 12


class Growing(Generic[Value]):
    """An array that grows at its end. Room is taken twofold with `np.empty`: untouched pages cost no memory."""

    def __init__(self, dtype: type[Value], width: int | None = None) -> None:
        self._data: NDArray[Value] = np.empty((0,) if width is None else (0, width), dtype)
        self._size = 0

    @classmethod
    def holding(cls, values: NDArray[Value]) -> Growing[Value]:
        """One that begins with these values, which it takes over."""
        found = cls.__new__(cls)
        found._data, found._size = values, len(values)
        return found

    def __len__(self) -> int:
        return self._size

    @property
    def view(self) -> NDArray[Value]:
        """The values, without a copy: for reading inside the index, and for changes in place."""
        return self._data[: self._size]

    @property
    def nbytes(self) -> int:
        """Bytes of the values (not of the room taken)."""
        return int(self.view.nbytes)

    def extend(self, values: NDArray[np.generic]) -> None:
        """Append values."""
        self.reserve(len(values))
        size = self._size + len(values)
        self._data[self._size : size] = values
        self._size = size

    def reserve(self, count: int) -> None:
        """Make room for so many values more, at once."""
        if self._size + count > len(self._data):
            self._move(2 * (self._size + count))

    def keep(self, positions: Ints) -> None:
        """Retain only these ascending positions, moved down in place: no second copy of a large column."""
        for start in range(0, len(positions), _CHUNK):
            part = positions[start : start + _CHUNK]
            self._data[start : start + len(part)] = self._data[part]
        self._size = len(positions)
        if 4 * self._size < len(self._data):
            self._move(2 * self._size)

    def _move(self, room: int) -> None:
        data = np.empty((room, *self._data.shape[1:]), self._data.dtype)
        data[: self._size] = self.view
        self._data = data


def sizes_of(offsets: Ints) -> Ints:
    """Lengths of the parts between offsets."""
    return offsets[1:] - offsets[:-1]


def offsets_of(sizes: Ints) -> Ints:
    """Where parts of these lengths lie when put together: one offset more than parts."""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def ranges(start: Ints, stop: Ints) -> Ints:
    """The concatenated integer ranges [start[i], stop[i])."""
    lengths = stop - start
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(start - (ends - lengths), lengths) + np.arange(total)


class Ragged(Generic[Value]):
    """Any number of values per slot, concatenated in order of slots.

    Attributes:
        values: The values.
        owner: The slot of each value.
    """

    def __init__(self, dtype: type[Value], width: int | None = None) -> None:
        self.values = Growing(dtype, width)
        self.owner = Growing(np.int32)
        self._stop = Growing(np.int64)

    @property
    def nbytes(self) -> int:
        """Bytes of the values and what finds them."""
        return self.values.nbytes + self.owner.nbytes + self._stop.nbytes

    def reserve(self, count: int) -> None:
        """Make room for so many slots more, with a value each."""
        for column in (self.values, self.owner, self._stop):
            column.reserve(count)

    def extend(self, values: NDArray[np.generic], lengths: Ints) -> None:
        """Append the values of the next slots, `lengths[i]` of them for the i-th."""
        first = len(self._stop)
        self.owner.extend(np.repeat(np.arange(first, first + len(lengths)), lengths))
        self._stop.extend(np.cumsum(lengths) + len(self.values))
        self.values.extend(values)

    def of(self, slots: Ints) -> tuple[Ints, NDArray[Value]]:
        """The values of some slots, each with the position of its slot within `slots`."""
        start, stop = self._bounds(slots)
        return np.repeat(np.arange(len(slots)), stop - start), self.values.view[ranges(start, stop)]

    def keep(self, slots: Ints) -> None:
        """Retain only these ascending slots."""
        start, stop = self._bounds(slots)
        positions = ranges(start, stop)
        lengths = stop - start
        self.values.keep(positions)
        self.owner.keep(positions)
        self.owner.view[:] = np.repeat(np.arange(len(slots)), lengths)
        self._stop.keep(slots)
        self._stop.view[:] = np.cumsum(lengths)

    def _bounds(self, slots: Ints) -> tuple[Ints, Ints]:
        stop = self._stop.view
        if not len(stop):
            return slots, slots
        return np.where(slots > 0, stop[slots - 1], 0), stop[slots]


class Codes(Generic[Name]):
    """Numbers 0, 1, 2, ... for names, so that a column holds four bytes instead of an object.

    Attributes:
        names: The name of each code.
    """

    def __init__(self) -> None:
        self.names: list[Name] = []
        self._code: dict[Name, int] = {}

    def __len__(self) -> int:
        return len(self.names)

    def codes(self, names: Sequence[Name]) -> Small:
        """The codes of names, new ones where need be."""
        for name in dict.fromkeys(names):
            if name not in self._code:
                self._code[name] = len(self.names)
                self.names.append(name)
        return np.fromiter(map(self._code.__getitem__, names), np.int32, len(names))

    def prune(self, column: Small) -> None:
        """Forget names whose code is not in the column (-1 = none there), and renumber the column in place."""
        used = np.unique(column[column >= 0])
        table = np.full(len(self.names) + 1, -1, np.int32)  # the last entry is what -1 finds
        table[used] = np.arange(len(used))
        column[:] = table[column]
        self.names = [self.names[code] for code in used.tolist()]
        self._code = {name: code for code, name in enumerate(self.names)}


class Places:
    """Which slot a row id has."""

    def __init__(self) -> None:
        self._slot = np.zeros(1, np.int32)  # slot + 1, 0 = none; no memory has row id 0
        self._largest = 0  # row id ever placed

    @property
    def nbytes(self) -> int:
        """Bytes of the table."""
        return int(self._slot.nbytes)

    def find(self, row: Ints) -> Ints:
        """The slot of each row id; -1 = none."""
        known = (row > 0) & (row < len(self._slot))
        return self._slot[np.where(known, row, 0)].astype(np.int64) - 1

    def are_new(self, row: Ints) -> bool:
        """Whether row ids ascend from above all that were ever placed, as those of memories just stored do."""
        return not len(row) or bool(row[0] > self._largest and (row[1:] > row[:-1]).all())

    def set(self, row: Ints, slots: Ints) -> None:
        """Place row ids; of equal ones the last counts."""
        if not len(row):
            return
        self._largest = max(self._largest, int(row.max()))
        if self._largest >= len(self._slot):
            table = np.zeros(2 * self._largest + 1, np.int32)
            table[: len(self._slot)] = self._slot
            self._slot = table
        self._slot[row] = slots + 1

    def clear(self, row: Ints) -> None:
        """Forget row ids that have a slot."""
        self._slot[row] = 0
