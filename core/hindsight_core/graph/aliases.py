"""Which names mean one and the same: given by the user, or said in a memory; and which never do.

A scope's list is a short history of merges and splits, kept among the store's settings and replayed when it is needed;
taking an entry out undoes it, whatever came after. What memories say ("Redis, also called the cache", 王小明，又名小王) is read
from them anew each time and stored nowhere, so it goes when they go. The user's word counts for more: a name split off by
hand is not joined again by what a memory says.

Two names that differ in a number are two things (Redis 6 and Redis 7, 三号楼 and 四号楼), whoever says otherwise. Names that
are nearly alike but not equal (Jon and John) are joined by the user only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher

from hindsight_core.errors import InvalidInput, NotFound, StoreCorrupted
from hindsight_core.text.keys import normalise_key
from hindsight_core.unit import MemoryUnit

MERGE, SPLIT = "merge", "split"
_ALIKE = 0.8
_NUMBER = re.compile(r"\d+(?:\.\d+)*|[零一二两三四五六七八九十百千]+(?=[号楼期代版届班层])|\b[ivx]+\b")
_NAME = r"[A-Z][\w.&+#-]*(?: (?:[A-Z][\w.&+#-]*|of|the|de|von))*|[\u4e00-\u9fff]{2,8}"
_SAID = (
    re.compile(
        rf"(?P<one>{_NAME})[,(，（ ]+(?:who is |which is |is )?(?:also (?:called|known as|named)|a\.?k\.?a\.?|aka|better known as)"
        rf" (?P<article>the )?[\"“'‘「]?(?P<other>{_NAME}|[a-z][\w-]*(?: [a-z][\w-]*)?)"
    ),
    re.compile(
        r"(?P<one>[\u4e00-\u9fff]{2,6}|[A-Za-z][\w.-]*)[,，(（、 ]*(?:又名|又称|又叫|也叫|别名|也称|人称|外号|绰号)(?:是|叫|为)?[“「\"《]?"
        r"(?P<other>[\u4e00-\u9fff]{1,6}|[A-Za-z][\w.-]*)"
    ),
)
_PRONOUNS = frozenset(
    (
        "i",
        "you",
        "he",
        "she",
        "it",
        "we",
        "they",
        "who",
        "this",
        "that",
        "我",
        "你",
        "他",
        "她",
        "它",
        "我们",
        "他们",
        "大家",
    )
)
_TAIL = re.compile(r"[的了吗呢吧]$")


@dataclass(frozen=True, slots=True)
class Decision:
    """A merge or a split, as it is kept.

    Attributes:
        id: By which it can be undone.
        kind: "merge": these names mean one thing, the first is what it is called. "split": each stands alone.
        names: At least two for a merge, one for a split.
    """

    id: str
    kind: str
    names: tuple[str, ...]


class Aliases:
    """The names of one scope.

    Args:
        decisions: In the order they were made.
        said: Pairs of names that memories call one.
    """

    def __init__(self, decisions: Sequence[Decision] = (), said: Iterable[tuple[str, str]] = ()) -> None:
        self._group: dict[str, str] = {}
        alone: set[str] = set()
        for decision in decisions:
            if decision.kind == MERGE:
                for name in decision.names[1:]:
                    self._join(decision.names[0], name)
                alone.difference_update(map(normalise_key, decision.names))
            else:
                for name in map(normalise_key, decision.names):
                    self._part(name)
                    alone.add(name)
        for one, other in said:
            if not {normalise_key(one), normalise_key(other)} & alone:
                self._join(one, other)

    def _join(self, one: str, other: str) -> None:
        kept, gone = self.key(one), self.key(other)
        if kept != gone:
            self._group = {name: kept if group == gone else group for name, group in self._group.items()}
            self._group |= {kept: kept, gone: kept}

    def _part(self, name: str) -> None:
        members = [other for other, group in self._group.items() if group == self.key(name) and other != name]
        self._group.pop(name, None)
        for other in members:  # those that are left keep together, under a name of theirs
            self._group[other] = members[0] if self._group[other] == name else self._group[other]

    def key(self, name: str) -> str:
        """The key of what a name means."""
        own = normalise_key(name)
        return self._group.get(own, own)

    def groups(self) -> dict[str, list[str]]:
        """What has several names: its key, and all of them, sorted."""
        found: dict[str, list[str]] = {}
        for name, group in sorted(self._group.items()):
            found.setdefault(group, []).append(name)
        return {group: names for group, names in sorted(found.items()) if len(names) > 1}


def numbers(name: str) -> tuple[str, ...]:
    """The numbers in a name, Chinese ones that count things among them."""
    return tuple(_NUMBER.findall(normalise_key(name)))


def nearly_alike(one: str, other: str) -> bool:
    """Whether two names are so alike that one may be a slip for the other, or another thing."""
    a, b = normalise_key(one), normalise_key(other)
    if a == b:
        return False
    if len(a) == len(b) and len(a) > 1 and sum(x != y for x, y in zip(a, b, strict=True)) == 1:
        return True
    return SequenceMatcher(None, a, b).ratio() >= _ALIKE


def check(names: Sequence[str]) -> None:
    """Refuse a merge that must not be.

    Raises:
        InvalidInput: Fewer than two names, or names that differ in a number.
    """
    if len({normalise_key(name) for name in names}) < 2 or not all(names):
        raise InvalidInput("a merge takes at least two different names")
    if len({numbers(name) for name in names}) > 1:
        raise InvalidInput("names that differ in a number mean different things and are not merged")


def said_in(units: Iterable[MemoryUnit]) -> list[tuple[str, str]]:
    """Pairs of names that active memories call one and the same, the fuller name first."""
    found: dict[tuple[str, str], None] = {}
    for unit in units:
        for pattern in _SAID:
            for match in pattern.finditer(unit.content):
                one, other = _trimmed(unit, match["one"]), _TAIL.sub("", match["other"])
                if not one or not other or {normalise_key(one), normalise_key(other)} & _PRONOUNS:
                    continue
                if numbers(one) == numbers(other) and not nearly_alike(one, other):
                    found[one, other] = None
    return list(found)


def _trimmed(unit: MemoryUnit, name: str) -> str:
    """A name as far as it is one: what stands before a Chinese name is cut off where an entity of the memory ends it."""
    ends = [entity.name for entity in unit.entities if entity.type != "time" and name.endswith(entity.name)]
    return max(ends, key=len, default=name)


def load(text: str | None) -> list[Decision]:
    """Decisions from the store's settings.

    Raises:
        StoreCorrupted: They cannot be read.
    """
    try:
        return [Decision(one["id"], one["kind"], tuple(one["names"])) for one in json.loads(text or "[]")]
    except (ValueError, KeyError, TypeError) as error:
        raise StoreCorrupted("the list of names cannot be read; restore the store from a copy") from error


def dump(decisions: Iterable[Decision]) -> str:
    """Decisions for the store's settings."""
    return json.dumps([asdict(one) for one in decisions], ensure_ascii=False)


def without(decisions: Sequence[Decision], id: str) -> list[Decision]:
    """The decisions but one.

    Raises:
        NotFound: There is none with that id.
    """
    left = [one for one in decisions if one.id != id]
    if len(left) == len(decisions):
        raise NotFound("no merge or split with that id")
    return left
