"""Chinese names, from the part-of-speech tags of a segmenter and from the words names end with.

The segmenter (`rjieba`, the dictionary and hidden Markov model of jieba) tags names, but too freely: it calls
登山 a place and 高峰 a person. So a tag counts only with a second sign: a surname, a known place, an ending such as
公司 or 论坛. The dictionary is loaded on first use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hindsight_core.text.entities import words_chinese as words
from hindsight_core.text.entities.technical import Mention
from hindsight_core.text.entities.words_english import COMMON, NO_NAMES
from hindsight_core.text.keys import storable

_HAN = "\u4e00-\u9fff"
HAS_HAN = re.compile(f"[{_HAN}]")


def _any_of(names: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, names), key=lambda name: (-len(name), name)))


_QUOTED = re.compile(r"《([^《》\n]{1,40})》|[“「『]([^“”「」『』\n，。；：！？、,]{3,16})[”」』]")
_TRANSLITERATED = "[" + "".join(sorted(words.TRANSLITERATION)) + "]"
_FOREIGN = re.compile(f"{_TRANSLITERATED}{{1,6}}(?:[·•‧]{_TRANSLITERATED}{{1,8}})+")
_CALLED = re.compile(
    r"(?:名叫|叫做|叫作|名为|名字是|名称是|全名是|(我|[他她它](?:们)?|名字|小名|昵称|小区|公司|单位|学校|店|餐厅|医院|项目|系统|狗|猫|儿子|女儿|孩子|"
    r"宝宝|朋友|同事|妹|姐|哥|弟|品牌)就?叫[做作]?)(?!我|你|他|她|它|什么|啥)"
    rf"([{_HAN}A-Za-z0-9·]{{2,16}})(?=[，。,.!！?？;；、\s）)]|$)"
)
_CALLED_TYPES = {
    **dict.fromkeys(("公司", "单位", "学校", "医院"), "organisation"),
    **dict.fromkeys(("小区", "店", "餐厅"), "place"),
    **dict.fromkeys(("项目", "系统", "品牌"), "system"),
}
_KIN = re.compile(_any_of(words.CHINESE_KIN))
_KNOWN = re.compile(f"({_any_of(words.ORGANISATIONS)})|({_any_of(words.SYSTEMS)})")
_SURNAME = (
    f"(?:{_any_of(words.COMPOUND_SURNAMES)}|[{''.join(sorted(words.SURNAMES | words.AMBIGUOUS_SURNAMES))}])"
)
_ADDRESSED = re.compile(rf"(?:[小老阿]{_SURNAME}|{_SURNAME}(?:{_any_of(words.CHINESE_TITLES)}))")
_PERSON = re.compile(f"{_SURNAME}[{_HAN}]{{1,2}}")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*[A-Za-z0-9+]")
_CHINESE_SIDE = re.compile(f"[{_HAN}，。、；：！？（）《》“”…]")
_PLACE_WORD = re.compile(rf"[{_HAN}]{{2,}}(?:{_any_of(words.PLACE_SUFFIXES)})")
_FOREIGN_PLACE = ("斯坦", "尼亚", "维亚", "利亚", "堡", "岛")

_IN_NAMES = frozenset(
    ["n", "nr", "ns", "nt", "nz", "nrt", "nrfg", "vn", "an", "j", "eng", "b", "ng", "l", "s", "v", "a"]
)
_PROPER_TAGS = frozenset(["nr", "ns", "nt", "nz", "nrt", "nrfg", "eng"])
_NAME_TAILS = frozenset(["nr", "ng", "zg", "ag", "g", "nz", "tg", "j"])
_PERSON_TAGS = frozenset(("nr", "nrt", "nrfg"))
_FOREIGN_TAGS = frozenset(("nr", "nrt", "nrfg", "ns", "nz", "x", "zg", "ng", "m", "j", "q", "g", "u"))
_LONGEST = 18


class _Segment(NamedTuple):
    start: int
    end: int
    text: str
    tag: str


def chinese(text: str) -> Iterator[Mention]:
    """Names in the Chinese parts of a text, the surest first."""
    for match in _QUOTED.finditer(text):
        group = match.lastindex or 0
        yield Mention(match.start(group), match.end(group), match[group], "title")
    for match in _CALLED.finditer(text):
        if (kind := _type_of_called(match[2], match[1])) is not None:
            yield Mention(match.start(2), match.end(2), match[2], kind)
    segments = _segments(text)
    yield from _compounds(segments)
    for match in _KNOWN.finditer(text):
        yield Mention(match.start(), match.end(), match[0], "organisation" if match[1] else "system")
    for match in _FOREIGN.finditer(text):
        yield Mention(match.start(), match.end(), match[0], "person")
    yield from _foreign(segments)
    for segment, after in zip(segments, [*segments[1:], None], strict=True):
        if segment.tag in _PERSON_TAGS:
            yield from _person(segment, after)
        elif segment.tag == "ns":
            yield from _place(segment)
        elif segment.tag == "nt":
            yield from _organisation(segment)
        elif segment.tag == "eng":
            yield from _latin(segment, text)
    for match in _KIN.finditer(text):
        yield Mention(match.start(), match.end(), match[0], "person")


def _segments(text: str) -> list[_Segment]:
    found: list[_Segment] = []
    place = 0
    for word, tag in _tag(text):
        found.append(_Segment(place, place + len(word), word, tag))
        place += len(word)
    return found


def _tag(text: str) -> list[tuple[str, str]]:
    import rjieba  # loads its dictionary, a tenth of a second: only when there is Chinese

    return rjieba.tag(storable(text))


# -- names known by their ending -------------------------------------------------------------------------------

_ENDINGS = {
    **dict.fromkeys(words.PLACE_SUFFIXES, "place"),
    **dict.fromkeys(words.SYSTEM_SUFFIXES, "system"),
    **dict.fromkeys(words.TITLE_SUFFIXES, "title"),
    **dict.fromkeys(words.ORGANISATION_SUFFIXES, "organisation"),
}
_ENDING = re.compile(f"(?:{_any_of(ending for ending in _ENDINGS if len(ending) > 1)})$")


def _type_of_called(name: str, what: str | None) -> str | None:
    if (ending := _ENDING.search(name)) is not None:
        return _ENDINGS[ending[0]]
    if any(tag in ("v", "p", "r", "d", "ul", "uj") for word, tag in _tag(name) if len(word) < len(name)):
        return None  # "called Wang to come": no name follows
    if what in _CALLED_TYPES:
        return _CALLED_TYPES[what]
    return "person" if len(name) <= 4 and (what or _PERSON.fullmatch(name)) else "title"


def _compounds(segments: list[_Segment]) -> Iterator[Mention]:
    """Runs of nouns that end like a name: 北京 蓝天 航空 服务 有限公司."""
    place = 0
    while place < len(segments):
        first = place
        while place < len(segments) and _fits(segments[place], place > first):
            place += 1
        yield from _longest_compound(segments[first:place])
        place = max(place, first + 1)


def _fits(segment: _Segment, inside: bool) -> bool:
    text, tag = segment.text, segment.tag
    if tag == "m":
        return text.startswith("第")
    if tag == "eng":
        return inside
    if not HAS_HAN.match(text) or text in words.CHINESE_NO_MODIFIER or text in words.CHINESE_KIN:
        return False
    if tag in ("v", "a", "b", "s"):
        return len(text) > 1
    return tag in _IN_NAMES or (inside and tag in ("t", "zg", "l"))


def _longest_compound(run: list[_Segment]) -> Iterator[Mention]:
    for last in range(len(run) - 1, -1, -1):
        if (ending := _ENDING.search(run[last].text)) is None:
            continue
        first = 0
        while first < last and (_leads(run[first]) or run[last].end - run[first].start > _LONGEST):
            first += 1
        name = "".join(segment.text for segment in run[first : last + 1])
        proper = any(segment.tag in _PROPER_TAGS for segment in run[first : last + 1])
        modifier = name[: -len(ending[0])]
        strong = proper or len(modifier) > 3 or ending[0] not in words.WEAK_ENDINGS
        if strong and _is_modifier(modifier):
            yield Mention(run[first].start, run[last].end, name, _ENDINGS[ending[0]])
        yield from _longest_compound(run[last + 1 :])
        return


def _is_modifier(before: str) -> bool:
    return len(before) > 1 and before not in words.CHINESE_GENERIC


def _leads(segment: _Segment) -> bool:
    """Whether a segment stands before a name without being part of it."""
    return segment.text in words.CHINESE_LEADS or (
        segment.tag == "v" and segment.text not in words.NAMING_VERBS
    )


# -- names known by their tag ----------------------------------------------------------------------------------


def _foreign(segments: list[_Segment]) -> Iterator[Mention]:
    """Neighbouring segments written with the characters of foreign names: 泽 + 连斯基."""
    run: list[_Segment] = []
    for segment in [*segments, _Segment(0, 0, "", "end")]:
        if segment.tag in _FOREIGN_TAGS and segment.text and words.TRANSLITERATION.issuperset(segment.text):
            run.append(segment)
            continue
        name = "".join(part.text for part in run)
        if len(name) > 2 and any(part.tag in _PERSON_TAGS for part in run) and name not in words.NOT_PERSONS:
            is_place = name in words.CITIES or name.endswith(_FOREIGN_PLACE)
            yield Mention(run[0].start, run[-1].end, name, "place" if is_place else "person")
        run = []


def _person(segment: _Segment, after: _Segment | None) -> Iterator[Mention]:
    start, name = segment.start, segment.text
    if len(name) == 2 and after is not None and after.tag in _NAME_TAILS and len(after.text) == 1:
        name += after.text
    if len(name) > 2 and name[-1] in words.AFTER_GIVEN_NAME:
        name = name[:-1]
    if len(name) > 2 and name[0] in words.BEFORE_NAME:
        start, name = start + 1, name[1:]
    if _is_person(name, segment.tag):
        yield Mention(start, start + len(name), name, "person")


def _organisation(segment: _Segment) -> Iterator[Mention]:
    name = segment.text
    if (ending := _ENDING.search(name)) is not None and _is_modifier(name[: -len(ending[0])]):
        yield Mention(segment.start, segment.end, name, _ENDINGS[ending[0]])


def _latin(segment: _Segment, text: str) -> Iterator[Mention]:
    """A word in Latin letters amid Chinese is nearly always a name."""
    name, lower = segment.text, segment.text.lower()
    if _LATIN.fullmatch(name) is None or lower in COMMON or lower in NO_NAMES:
        return
    before = text[max(0, segment.start - 2) : segment.start].strip()[-1:]
    after = text[segment.end : segment.end + 2].strip()[:1]
    chinese_sides = sum(_CHINESE_SIDE.match(side) is not None for side in (before, after))
    if chinese_sides == 2 or (chinese_sides and name != lower):
        yield Mention(segment.start, segment.end, name, "system")


def _is_person(name: str, tag: str) -> bool:
    if name in words.NOT_PERSONS or name[:2] in words.NOT_PERSONS or words.NEVER_IN_NAMES.intersection(name):
        return False
    if _ADDRESSED.fullmatch(name):
        return True
    if name in words.CITIES or name.endswith("人"):
        return False
    if _PERSON.fullmatch(name) and (len(name) == 3 or name[0] in words.SURNAMES):
        return True
    if len(name) == 4 and name[:2] in words.COMPOUND_SURNAMES:
        return True
    return tag == "nrt" and len(name) == 2 and words.TRANSLITERATION.issuperset(name)


def _place(segment: _Segment) -> Iterator[Mention]:
    name = segment.text
    if len(name) == 4 and name[:2] in words.CITIES and name[2:] in words.CITIES:
        yield Mention(segment.start, segment.start + 2, name[:2], "place")
        yield Mention(segment.start + 2, segment.end, name[2:], "place")
    elif name in words.CITIES or (
        len(name) > 2 and _PLACE_WORD.fullmatch(name) and name not in words.NOT_PLACES
    ):
        yield Mention(segment.start, segment.end, name, "place")
