"""The grammar both languages share: atoms, how they combine, and which occurrence is meant.

A time expression is a chain of *atoms*, each narrowing the one before: 去年 | 三月 | 五号 | 下午 | 三点半, or
"3pm | on Monday | last week", where English says the fine one first. An atom is either *fixed* by itself
("yesterday", "2023", "three weeks ago") or *recurs* once in every unit of its cycle ("Monday" in each week, "March"
in each year) and needs a unit to be read in. So one rule serves both languages and any mixture of them: sort the
neighbouring atoms from coarse to fine, then read each inside of what is known so far.

A chain that begins with a recurring atom is pinned by, in this order: its determiner ("next", 上), what the sentence
said before ("in 2022 ... in March"), the tense of its clause, and else the habit of a memory, which speaks of the
past: the most recent occurrence that has begun.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from hindsight_core.text.times.calendar import RANK, Window, unit
from hindsight_core.text.times.readers import DIVISIBLE, Reader

Determiner = Literal["last", "this", "next"] | int
"""Which occurrence: the last that has ended, the present one, the next to begin, or the one n units off."""

ANY = "any"
"""The cycle of atoms that cut a piece out of whatever is coarser: "the end of ...", ...底."""

# How many units an occurrence is looked for: 29 February can be absent for seven years.
_REACH = 9


@dataclass(frozen=True, slots=True)
class Atom:
    """The smallest part of a time expression.

    Attributes:
        begin: First character.
        end: After the last character.
        grain: How fine a window it gives.
        read: Gives its window inside a unit of its cycle; a fixed atom ignores the unit.
        cycle: The unit it occurs once in; None = fixed, `ANY` = a piece of anything coarser.
        alone: Means a time by itself; others ("May", "fall", 3点) need a neighbour or a preposition.
        explicit: Fixed whatever the reference instant is.
        which: The determiner before it, if there is one.
        capital_at: Where the text must have a capital letter ("3 May", not "3 may"); -1 = nowhere.
        onward: Counted from what the sentence spoke of before, if anything ("two days later").
        offset: May be counted from the time just before it (国庆前三天).
    """

    begin: int
    end: int
    grain: str
    read: Reader
    cycle: str | None = None
    alone: bool = True
    explicit: bool = False
    which: Determiner | None = None
    capital_at: int = -1
    onward: bool = False
    offset: bool = False


def fixed(match: re.Match[str], grain: str, read: Reader) -> Atom:
    """An atom that needs nothing but the reference instant."""
    return Atom(*match.span(), grain, read)


Maker = Callable[[re.Match[str]], Atom | None]
"""Turns a match into an atom; None = a false friend after all."""


class Rules:
    """The rules of one language in order of preference; `@rules(pattern)` adds the function that makes the atom.

    Args:
        start: What must hold where any of the rules may begin; a cheap test that spares trying them all.
        first: The characters they begin with (the inside of a character class), a still cheaper one.
        end: What must hold where any of them ends.
    """

    def __init__(self, start: str, *, first: str, end: str = "") -> None:
        self.start, self.first, self.end = start, first, end
        self.patterns: list[str] = []
        self.makers: list[Maker] = []

    def __call__(self, pattern: str) -> Callable[[Maker], Maker]:
        """Register a rule."""

        def register(make: Maker) -> Maker:
            self.patterns.append(pattern)
            self.makers.append(make)
            return make

        return register


class Scanner:
    """All rules as one pattern, so that a text is walked once whatever their number."""

    def __init__(self, *languages: Rules) -> None:
        self._rules: list[tuple[str, Maker]] = []
        self._compiled: dict[int, re.Pattern[str]] = {}
        parts = []
        for rules in languages:
            choices = []
            for pattern, make in zip(rules.patterns, rules.makers, strict=True):
                anonymous = re.sub(r"\(\?P<\w+>", "(?:", pattern)
                choices.append(f"(?P<r{len(self._rules)}>{anonymous})")
                self._rules.append((f"{rules.start}(?:{pattern}){rules.end}", make))
            parts.append(f"(?=[{rules.first}]){rules.start}(?:{'|'.join(choices)}){rules.end}")
        firsts = "".join(rules.first for rules in languages)
        self._pattern = re.compile(f"(?=[{firsts}])(?:{'|'.join(parts)})")

    def __call__(self, text: str) -> Iterator[Atom]:
        """The atoms of a text, in order, not overlapping."""
        position = 0
        while found := self._pattern.search(text, position):
            position = found.start() + 1
            # The rule that matched comes first; when it takes its match for a false friend, the later ones may try.
            for number in range(int((found.lastgroup or "r0")[1:]), len(self._rules)):
                match = self._rule(number).match(text, found.start())
                if match and (atom := self._rules[number][1](match)):
                    yield atom
                    position = atom.end
                    break

    def _rule(self, number: int) -> re.Pattern[str]:
        """One rule alone, compiled when it is first needed: most never are."""
        if number not in self._compiled:
            self._compiled[number] = re.compile(self._rules[number][0])
        return self._compiled[number]


@dataclass(frozen=True, slots=True)
class Phrase:
    """Neighbouring atoms that narrow one another, coarse to fine.

    Attributes:
        begin: First character.
        end: After the last character.
        chain: The atoms, coarse to fine.
        alone: Whether it means a time without a preposition.
    """

    begin: int
    end: int
    chain: tuple[Atom, ...]
    alone: bool

    @property
    def head(self) -> Atom:
        """The coarsest atom, which decides how the phrase is pinned."""
        return self.chain[0]

    @property
    def grain(self) -> str:
        """How fine the phrase is."""
        return min((atom.grain for atom in self.chain), key=lambda grain: RANK.get(grain, -1))


def before(match: re.Match[str], width: int) -> str:
    """The few characters before a match."""
    return match.string[max(0, match.start() - width) : match.start()]


def phrases(atoms: Sequence[Atom], text: str, glue: re.Pattern[str]) -> list[Phrase]:
    """Join neighbouring atoms into phrases, as many as fit together.

    Args:
        atoms: In order of position.
        text: What they were found in.
        glue: What may stand between two atoms of one phrase.
    """
    joined: list[Phrase] = []
    for atom in atoms:
        if joined and glue.fullmatch(text, joined[-1].end, atom.begin):
            chain = _arrange((*joined[-1].chain, atom))
            if chain:
                # 5月1日（周一）
                opened = re.search("[(（]", text[joined[-1].end : atom.begin])
                closed = opened is not None and text[atom.end : atom.end + 1] in tuple(")）")
                joined[-1] = Phrase(joined[-1].begin, atom.end + closed, chain, alone=True)
                continue
        joined.append(Phrase(atom.begin, atom.end, (atom,), atom.alone))
    return joined


def _coarseness(atom: Atom) -> tuple[float, int]:
    if atom.cycle is None:
        return len(RANK), 0
    # A piece is cut from weeks and longer stretches, after those are known; parts of a day hold times of day.
    cycle = RANK["week"] + 0.5 if atom.cycle == ANY else RANK[atom.cycle]
    return cycle, RANK.get(atom.grain, -1)


def _arrange(atoms: tuple[Atom, ...]) -> tuple[Atom, ...] | None:
    """Sort atoms from coarse to fine; None when one of them does not fit into those before.

    A weekday beside a date ("Monday, 6 March") says nothing new, and is left out.
    """
    chain: list[Atom] = []
    for atom in sorted(atoms, key=_coarseness, reverse=True):
        if not chain or _fits(atom, chain[-1].grain):
            chain.append(atom)
        elif (
            atom.cycle != "week" or chain[-1].grain != "day" or any(other.cycle == "week" for other in chain)
        ):
            return None
    return tuple(chain)


def _fits(atom: Atom, grain: str) -> bool:
    if atom.cycle == ANY:
        return grain in DIVISIBLE
    if atom.cycle == "day" and grain == "part":
        return RANK[atom.grain] < RANK["part"]
    return atom.cycle == grain


@dataclass(frozen=True, slots=True)
class Said:
    """A window that was spoken of, and whether it is absolute; what follows in the sentence leans on it."""

    window: Window
    explicit: bool


def pin(phrase: Phrase, now: datetime, *, said: Said | None = None, future: bool = False) -> Said | None:
    """What a phrase says.

    Args:
        phrase: Neighbouring atoms.
        now: The reference instant.
        said: What the same sentence spoke of before.
        future: Whether its clause speaks of the future.

    Returns:
        None when there is no such time ("30 February"), or it is a piece of nothing.
    """
    head = phrase.head
    if said and head.which is None:
        window = None
        if head.onward:
            window = _read(phrase, said.window, said.window.start)
        elif head.cycle and (outer := _outer(head.cycle, said)):
            window = _read(phrase, outer, now)
        if window:
            return Said(window, said.explicit)
    window = _read(phrase, unit("day", now), now) if head.cycle is None else _occurrence(phrase, now, future)
    return Said(window, head.explicit) if window else None


def _occurrence(phrase: Phrase, now: datetime, future: bool) -> Window | None:
    cycle, which = phrase.head.cycle, phrase.head.which
    if cycle is None or cycle == ANY:
        return None
    if isinstance(which, int) or cycle == "day":
        return _read(phrase, unit(cycle, now, which if isinstance(which, int) else 0), now)
    if which == "this":
        here, earlier = (_read(phrase, unit(cycle, now, offset), now) for offset in (0, -1))
        return earlier if earlier and earlier.end > now else here
    if which == "last":
        today = unit("day", now).start
        return _first(phrase, now, now, -1, lambda window: window.end <= today)
    if which == "next":
        return _first(phrase, now, now, 1, lambda window: window.start > now)
    if future:
        return _first(phrase, now, now, 1, lambda window: window.end > now)
    return _first(phrase, now, now, -1, lambda window: window.start <= now)


def pin_pair(
    first: Phrase, last: Phrase, now: datetime, *, said: Said | None = None, future: bool = False
) -> Said | None:
    """The range between two phrases; an end that only recurs is sought from the other one.

    "From March to May 2023" says the year once, "from Monday to Friday" means a Friday after that Monday, and
    下午三点到五点 the part of the day once.
    """
    part = next((atom for atom in first.chain if atom.grain == "part"), None)
    if part and all(RANK.get(atom.grain, 0) < RANK["part"] for atom in last.chain):
        both = _pair(first, replace(last, chain=(part, *last.chain)), now, said, future)
        if both:
            return both
    return _pair(first, last, now, said, future)


def _pair(first: Phrase, last: Phrase, now: datetime, said: Said | None, future: bool) -> Said | None:
    start: Said | None
    end: Said | None
    if first.head.cycle and not last.head.cycle:
        end = pin(last, now)
        start = end and _nearest(first, end, now, back=True)
    else:
        start = pin(first, now, said=said, future=future)
        recurs = last.head.cycle is not None and last.head.which is None
        end = start and (_nearest(last, start, now, back=False) if recurs else pin(last, now))
    if not start or not end or start.window.start > end.window.start or start.window.end > end.window.end:
        return None
    # "From nine to five" ends at five o'clock, "from Monday to Friday" when Friday is over.
    after = end.window.start if end.window.is_instant else end.window.end
    if after <= start.window.start:
        return None
    return Said(Window(start.window.start, after, "range"), start.explicit and end.explicit)


def _nearest(phrase: Phrase, other: Said, now: datetime, *, back: bool) -> Said | None:
    anchor = other.window.start
    if back:
        window = _first(phrase, anchor, now, -1, lambda window: window.start <= anchor)
    else:
        window = _first(phrase, anchor, now, 1, lambda window: window.start > anchor)
    return Said(window, other.explicit) if window else None


def beside(phrase: Phrase, other: Said, now: datetime, *, back: bool) -> Said | None:
    """The nearest occurrence that is over before a time, or begins after it ("the Friday before 5 May")."""
    start, end = other.window.start, other.window.end
    if back:
        window = _first(phrase, start, now, -1, lambda window: window.end <= start)
    else:
        window = _first(phrase, end, now, 1, lambda window: window.start >= end)
    return Said(window, other.explicit) if window else None


def _read(phrase: Phrase, outer: Window, now: datetime) -> Window | None:
    window: Window | None = outer
    for atom in phrase.chain:
        window = window and atom.read(window, now)
    return window


def _first(
    phrase: Phrase, anchor: datetime, now: datetime, step: int, is_meant: Callable[[Window], bool]
) -> Window | None:
    """The nearest occurrence that is meant, from the unit of `anchor` onwards or backwards."""
    cycle = phrase.head.cycle
    if cycle is None or cycle == ANY:
        return None
    for offset in range(0, step * _REACH, step):
        window = _read(phrase, unit(cycle, anchor, offset), now)
        if window and is_meant(window):
            return window
    return None


def _outer(cycle: str, said: Said) -> Window | None:
    """The unit in which a sentence goes on: its last year, month or day, as far as that was said."""
    window = said.window
    if window.grain == cycle:
        return window
    if RANK.get(window.grain, RANK["century"]) > RANK[cycle]:
        return None
    if cycle == "day" or (cycle == "month" and window.grain == "day") or (cycle == "year" and said.explicit):
        return unit(cycle, window.start)
    return None
