"""Time expressions of English, as rules over lower-cased text.

Many English time words are also other words (may, march, fall, second, sun). Those count only with a neighbour
that makes them a time: a preposition ("in May"), a determiner ("last fall"), a number, or a capital letter.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime

from hindsight_core.text.times import readers
from hindsight_core.text.times.calendar import Window
from hindsight_core.text.times.grammar import ANY, Atom, Determiner, Rules, fixed
from hindsight_core.text.times.holidays import ENGLISH_HOLIDAYS
from hindsight_core.text.times.numerals import ENGLISH_NUMBER, FEW, ONE, Count, english_count
from hindsight_core.text.times.readers import Reader

_BORDER = r"(?![a-z0-9_])"
# Most words can be told from their first letters not to begin a time; trying all rules on each would cost five times
# as much as this list, which must know how every rule may begin.
_FIRST_LETTERS = (
    r"a(?:n?\s|fter|pr|u[gt])|b(?:eg|ox)|c(?:hr|om|ou|ur)|d(?:ay|ec)|e(?:ar|ig|le|nd|ve)|f(?:al|at|eb|ew|i[frv]|o[ru]|ri)|"
    r"hal|in(?:\s|d)|j(?:an|u[lns])|la|m(?:a[ry]|em|id|o[nrt])|n(?:ew|ex|i[gn]|o[ov])|o(?:ct|ne)|p(?:as|re)|q[1-4]|rec|"
    r"s(?:at|ai|e[cpv]|ix|pr|t|u[mn])|t(?:en|h(?:an|e\s|ese|ir|is|ose|re|u)|o[dmn]|ue|w)|v(?:al|et)|w(?:e[de]|in)|xm|yes"
)
ENGLISH = Rules(
    rf"(?<![a-z0-9_])(?:(?={_FIRST_LETTERS})|(?=\d)(?<![$€£¥#@=.:/+])(?<![0-9a-ce-z]-))",
    first="a-z0-9",
    end=_BORDER,
)

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>january|february|march|april|may|june|july|august|september|october|november|december|"
    r"(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)(?:\.(?=\s)|(?![a-z0-9_])))"
)
_UNAMBIGUOUS = frozenset({"january", "february", "july", "september", "october", "november", "december"})
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_YEAR = r"(?:19|20)\d\d"
_DATED = r"(?:1[5-9]|20)\d\d"  # a month or a day beside it makes older years sure
_UNIT = r"(?P<unit>minute|min|hour|hr|day|week|fortnight|month|quarter|year|yr|decade|century|centurie)s?"
_NEAR = {"yesterday": -1, "today": 0, "tomorrow": 1}
_UNITS = {"min": "minute", "hr": "hour", "yr": "year", "centurie": "century"}
_SEASONS = {"spring": 0, "summer": 1, "fall": 2, "autumn": 2, "winter": 3}
_ORDINALS = {
    "first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": -1,
}  # fmt: skip
_EDGES = {
    "beginning": "start", "start": "start", "middle": "mid", "mid": "mid", "end": "end", "early": "early", "late": "late",
}  # fmt: skip

# A number of things is no year: "in 2000 cases".
_THINGS = (
    r"(?!\s*[%$€£¥])(?!\s+(?:units?|people|users?|items?|lines?|words?|rows?|records?|times|dollars?|euros?|yuan|pounds|"
    r"usd|rmb|km|miles|met(?:er|re)s?|feet|ms|[kmg]b|bytes|steps?|tokens?|files?|requests?|samples?|pixels?|points?|"
    r"calories|followers|students|employees|customers|members|participants|pieces|copies|seats|votes|cases|degrees?)"
    + _BORDER
    + ")"
)
_BEFORE_YEAR = re.compile(
    r"(?<![a-z])(?:in|during|since|until|till|by|before|after|around|throughout|through|between|from|of|for|year|fy)"
    r"\s+(?:the\s+year\s+)?$"
)
_BEFORE_MONTH = re.compile(
    r"(?<![a-z])(?:in|during|since|until|till|by|before|after|around|throughout|through|between)\s+$"
)
_BEFORE_SEASON = re.compile(
    r"(?<![a-z])(?:in|during|since|until|till|by|before|after|over|throughout|for(?=\s+the))\s+(?:the\s+)?$"
)
_BEFORE_DAY = re.compile(
    r"(?<![a-z])(?:on|at|for|over|before|after|since|until|till|by|around|during)\s+(?:the\s+)?$"
)
_BEFORE_SHORT_DAY = re.compile(r"(?<![a-z])(?:on|since|until|till)\s+$")
_BEFORE_WEEKEND = re.compile(
    r"(?<![a-z])(?:at|over|on|during|before|after|since|until|till|by|for)\s+(?:the\s+)?$|(?<![a-z])the\s+$"
)
_NAMED_DAY = re.compile(
    r"(?<![a-z])(?:black|good|ash|cyber|super|palm)\s+$"
)  # other days than the next of that name
_FESTIVE = re.compile(
    r"(?:'s)?\s+(?:trees?|cards?|gifts?|presents?|songs?|carols?|movies?|lights?|music|decorations?|resolutions?)"
)
_DETERMINER = re.compile(
    r"(?<![a-z0-9_])(?:(?P<last>last|previous|past|this\s+past)|(?P<next>next|coming|this\s+coming|upcoming)|this|current)\s+$"
)


def _cue(pattern: re.Pattern[str], match: re.Match[str]) -> bool:
    return pattern.search(match.string, max(0, match.start() - 16), match.start()) is not None


def _recurring(
    match: re.Match[str],
    grain: str,
    cycle: str,
    read: Reader,
    *,
    cues: re.Pattern[str] | None = None,
    capital_at: int = -1,
) -> Atom:
    """An atom together with the determiner before it; it stands alone with one, or after one of the cues."""
    begin, which = match.start(), None
    found = _DETERMINER.search(match.string, max(0, begin - 14), begin)
    if found:
        begin, which = found.start(), _which(found, grain, cycle)
        capital_at = -1
    alone = found is not None or (cues is not None and _cue(cues, match))
    return Atom(begin, match.end(), grain, read, cycle, alone=alone, which=which, capital_at=capital_at)


def _which(found: re.Match[str], grain: str, cycle: str) -> Determiner:
    """The last Monday is the one just past, but the next Monday that of next week; a weekend goes with its week."""
    if found["last"]:
        return -1 if grain == "weekend" else "last"
    if found["next"]:
        return 1 if cycle == "week" else "next"
    return 0 if cycle == "week" else "this"


def _unit_and_count(match: re.Match[str]) -> tuple[str, Count]:
    """The unit and how many of it, from the groups `low`, `count`, `half` and `unit`."""
    groups = match.groupdict()
    fewest, most = english_count(groups["count"]) if groups.get("count") else ONE
    if groups.get("low"):
        low = english_count(groups["low"])[0]
        # "Two to three weeks", but "twenty-one days".
        fewest, most = (low, most) if low < fewest else (low + fewest, low + most)
    if groups.get("half") or groups.get("more"):
        fewest, most = fewest + 1, most + 1
    grain = _UNITS.get(match["unit"], match["unit"])
    return ("week", (2 * fewest, 2 * most)) if grain == "fortnight" else (grain, (fewest, most))


_COUNT = rf"(?:(?P<low>{ENGLISH_NUMBER})(?:\s*-\s*|\s+(?:to|or)\s+))?(?P<count>{ENGLISH_NUMBER})(?P<half>\s+and\s+a\s+half)?\s+"


@ENGLISH(
    r"(?:the\s+)?day\s+before\s+yesterday|(?:the\s+)?day\s+after\s+tomorrow|yesterday|today(?!\(\))|tomorrow"
)
def _near_day(match: re.Match[str]) -> Atom:
    words = match[0]
    return fixed(match, "day", readers.current("day", _NEAR.get(words, -2 if "before" in words else 2)))


@ENGLISH(r"tonight|last\s+night|this\s+(?P<part>morning|afternoon|evening)")
def _near_part(match: re.Match[str]) -> Atom:
    offset = -1 if match[0].startswith("last") else 0
    return fixed(match, "part", readers.part_of_day(offset, match["part"] or "night"))


@ENGLISH(
    rf"{_COUNT}{_UNIT}(?P<more>\s+and\s+a\s+half)?\s+"
    r"(?:(?P<ago>ago|back)(?:\s+(?P<day>today|yesterday|tomorrow))?|from\s+(?:now|today)|(?P<later>later))"
)
def _away(match: re.Match[str]) -> Atom:
    grain, count = _unit_and_count(match)
    sign, day = -1 if match["ago"] else 1, match["day"]
    if day:
        read = readers.day_from(grain, -(count[0] // 2), _NEAR[day])
        return fixed(match, "day", read)
    return Atom(
        *match.span(),
        grain,
        readers.away(grain, count, sign),
        onward=match["later"] is not None,
    )


@ENGLISH(rf"in\s+{_COUNT}(?P<unit>day|week|fortnight|month|year|decade)s?(?:'s?)?(?:\s+time)?")
def _in(match: re.Match[str]) -> Atom:
    grain, count = _unit_and_count(match)
    return Atom(*match.span(), grain, readers.away(grain, count, 1), onward=True)


@ENGLISH(
    rf"(?:(?:the|these|those)\s+)?(?:(?P<back>last|past|previous)|next|coming)\s+{_COUNT}{_UNIT}"
    rf"|the\s+(?P<back1>last|past)\s+(?P<unit1>hour|day|week|month|quarter|year|decade|century)(?!\s+(?:of|before|in|at|on)\s)"
    rf"|past\s+(?P<unit2>week|month|quarter|year|decade)"
    rf"|in\s+recent\s+(?P<unit3>day|week|month|year)s"
)
def _rolling(match: re.Match[str]) -> Atom:
    if match["unit"]:
        (grain, count), sign = _unit_and_count(match), -1 if match["back"] else 1
    else:
        grain, sign = match["unit1"] or match["unit2"] or match["unit3"], -1
        count = FEW if match["unit3"] else ONE
    return fixed(match, "range", readers.rolling(grain, count, sign))


@ENGLISH(
    r"(?P<recently>recently|lately)|(?P<day>the\s+other\s+day)|(?P<hour>just\s+now)|a\s+while\s+(?:ago|back)"
)
def _vague(match: re.Match[str]) -> Atom:
    if match["recently"]:
        return fixed(match, "recent", readers.recently)
    read = (
        readers.A_FEW_DAYS_AGO if match["day"] else readers.JUST_NOW if match["hour"] else readers.A_WHILE_AGO
    )
    return fixed(match, "range", read)


@ENGLISH(r"the\s+(?P<unit>week|month|year)\s+(?P<way>before\s+last|after\s+next)")
def _second_unit(match: re.Match[str]) -> Atom:
    return fixed(match, match["unit"], readers.current(match["unit"], -2 if match["way"][0] == "b" else 2))


@ENGLISH(
    r"(?:the\s+)?(?P<edge>beginning|start|middle|end)\s+of\s+(?:the\s+|this\s+)(?P<unit>week|month|quarter|year)"
)
def _edge_of_unit(match: re.Match[str]) -> Atom:
    return Atom(*match.span(), "range", readers.piece(_EDGES[match["edge"]]), match["unit"])


@ENGLISH(
    r"(?:(?P<last>last|previous)|(?P<next>next|coming|this\s+coming)|this|current)\s+"
    r"(?P<unit>week|month|quarter|year|decade|century)"
)
def _this_unit(match: re.Match[str]) -> Atom:
    return fixed(
        match,
        match["unit"],
        readers.current(match["unit"], -1 if match["last"] else 1 if match["next"] else 0),
    )


@ENGLISH(r"(?:this|the\s+same)\s+time(?=\s+(?:last|next)\s+year)")
def _this_time(match: re.Match[str]) -> Atom:
    return Atom(*match.span(), "month", readers.same_time, "year", alone=False)


@ENGLISH(
    rf"{_MONTH}\s*(?:the\s+)?(?P<day>\d{{1,2}})(?P<nth>st|nd|rd|th)?"
    rf"(?:\s*(?:-|~|to|through)\s*(?P<last>\d{{1,2}})(?:st|nd|rd|th)?)?"
    rf"(?:\s?,?\s+(?:of\s+)?(?P<year>{_DATED}))?(?![a-z0-9_%]|[:./]\d){_THINGS}"
    rf"|(?P<day2>\d{{1,2}})(?P<nth2>st|nd|rd|th)?(?:\s*(?:-|~|to)\s*(?P<last2>\d{{1,2}})(?:st|nd|rd|th)?)?"
    rf"\s+(?:of\s+)?{_MONTH.replace('<month>', '<month2>')}(?:\s?,?\s+(?P<year2>{_DATED}))?"
)
def _date(match: re.Match[str]) -> Atom | None:
    n = "2" if match["month2"] else ""
    number = _MONTHS.index(match["month" + n][:3]) + 1
    day, last = int(match["day" + n]), match["last" + n]
    if not 1 <= day <= 31:
        return None
    # "Two may fail": as a date, a bare month needs its capital.
    sure = match["nth" + n] or match["year" + n] or (not n and _cue(_BEFORE_DAY, match))
    read = readers.day_of_year(number, day, int(last) if last else None)
    grain = "range" if last else "day"
    if match["year" + n] is None:
        return Atom(*match.span(), grain, read, "year", capital_at=-1 if sure else match.start("month" + n))
    year = readers.absolute(int(match["year" + n]))

    def in_year(outer: Window, now: datetime) -> Window | None:
        window = year(outer, now)
        return window and read(window, now)

    return Atom(*match.span(), grain, in_year, explicit=True)


@ENGLISH(rf"{_MONTH}(?:'s)?,?\s+(?:of\s+)?(?P<year>{_DATED})(?![a-z0-9_%]|[-./:]\d){_THINGS}")
def _month_of_year(match: re.Match[str]) -> Atom:
    read = readers.absolute(int(match["year"]), _MONTHS.index(match["month"][:3]) + 1)
    return Atom(
        *match.span(),
        "month",
        read,
        explicit=True,
        capital_at=match.start() if match["month"] == "may" else -1,
    )


@ENGLISH(
    rf"(?:the\s+)?(?P<nth>first|second|third|fourth|last|1st|2nd|3rd|4th)\s+(?P<what>week|weekend|{_WEEKDAY})"
    rf"(?=\s+(?:of|in)\s+(?:{_MONTH.replace('?P<month>', '?:')}|(?:last|this|next)\s|the\s+month))"
)
def _nth(match: re.Match[str]) -> Atom:
    what, number = match["what"], _ORDINALS[match["nth"]]
    if what == "week":
        return Atom(*match.span(), "week", readers.nth_of_month(number), "month", alone=False)
    day, days = (5, 2) if what == "weekend" else (_WEEKDAYS.index(what[:3]), 1)
    read = readers.nth_of_month(number, day, days=days)
    return Atom(*match.span(), "weekend" if days == 2 else "day", read, "month", alone=False)


@ENGLISH(rf"{_MONTH}")
def _month(match: re.Match[str]) -> Atom:
    word = match["month"]
    read = readers.month(_MONTHS.index(word[:3]) + 1)
    atom = _recurring(match, "month", "year", read, cues=_BEFORE_MONTH)
    if word in _UNAMBIGUOUS:
        return replace(atom, alone=True)
    # "This may not work": after a determiner, the verb is told by its small letter.
    return replace(atom, capital_at=match.start()) if word in ("may", "march") and atom.which else atom


@ENGLISH(rf"(?P<day>{_WEEKDAY})(?!\.[a-z])|(?P<short>mon|tues?|wed|thu|thurs?|fri|sat|sun)(?:\.(?=\s)|)")
def _weekday(match: re.Match[str]) -> Atom | None:
    if _NAMED_DAY.search(match.string, max(0, match.start() - 7), match.start()):
        return None
    read = readers.weekday(_WEEKDAYS.index(match[0][:3]))
    if match["day"]:
        return replace(_recurring(match, "day", "week", read), alone=True)
    return _recurring(match, "day", "week", read, cues=_BEFORE_SHORT_DAY, capital_at=match.start())


@ENGLISH(r"weekend")
def _weekend(match: re.Match[str]) -> Atom:
    return _recurring(match, "weekend", "week", readers.weekend, cues=_BEFORE_WEEKEND)


@ENGLISH(
    r"(?P<season>spring|summer|fall|autumn|winter)(?![a-z0-9_])"
    r"(?!\s+(?:boot|framework|security|cloud|mvc|data|beans?|back|apart|asleep|behind|down|short|under|through|rolls?|"
    r"onions?|water|cleaning|into|of\s+(?!\d|last|this|next)))"
)
def _season(match: re.Match[str]) -> Atom:
    return _recurring(match, "season", "year", readers.season(_SEASONS[match["season"]]), cues=_BEFORE_SEASON)


@ENGLISH(r"q(?P<number>[1-4])|(?P<nth>first|second|third|fourth|1st|2nd|3rd|4th)\s+quarter")
def _quarter(match: re.Match[str]) -> Atom:
    number = int(match["number"] or _ORDINALS[match["nth"]])
    return _recurring(match, "quarter", "year", readers.quarter(number), cues=_BEFORE_SEASON)


@ENGLISH("|".join(f"(?P<h{i}>{pattern})" for i, (pattern, _) in enumerate(ENGLISH_HOLIDAYS)))
def _holiday(match: re.Match[str]) -> Atom | None:
    if _FESTIVE.match(match.string, match.end()):
        return None
    read = ENGLISH_HOLIDAYS[int((match.lastgroup or "h0")[1:])][1]
    return _recurring(match, "day", "year", read, cues=_BEFORE_DAY)


@ENGLISH(rf"(?P<year>{_YEAR})(?![a-z0-9_%年]|[-./:,]\d){_THINGS}")
def _year(match: re.Match[str]) -> Atom:
    read = readers.absolute(int(match["year"]))
    return Atom(*match.span(), "year", read, alone=_cue(_BEFORE_YEAR, match), explicit=True)


@ENGLISH(r"(?:the\s+)?(?P<decade>(?:19|20)\d0)'?s|the\s+'?(?P<short>[5-9]0)'?s")
def _decade(match: re.Match[str]) -> Atom:
    year = int(match["decade"] or "19" + match["short"])
    return Atom(*match.span(), "decade", readers.absolute(year, grain="decade"), explicit=True)


@ENGLISH(r"(?:the\s+)?(?P<century>1\d|20|21)(?:th|st)\s+century")
def _century(match: re.Match[str]) -> Atom:
    year = 100 * (int(match["century"]) - 1)
    return Atom(*match.span(), "century", readers.absolute(year, grain="century"), explicit=True)


@ENGLISH(
    r"(?P<hour>\d{1,2})(?::(?P<minute>[0-5]\d)(?::[0-5]\d)?)?\s{0,3}(?:(?P<half>[ap])(?:\.m\.?|m)"
    r"|(?P<full>o'clock)|(?=\s+in\s+the\s+(?:morning|afternoon|evening)))"
)
def _clock(match: re.Match[str]) -> Atom | None:
    hour = int(match["hour"])
    if not 1 <= hour <= 12:
        return None
    if match["half"]:
        hour = hour % 12 + (12 if match["half"] == "p" else 0)
    minute = int(match["minute"]) if match["minute"] else None
    read = readers.clock(hour, minute, twelve=match["half"] is None)
    alone = match["half"] is not None or match["full"] is not None
    return Atom(*match.span(), "hour" if minute is None else "minute", read, "day", alone=alone)


@ENGLISH(r"(?P<word>noon|midday|midnight)")
def _noon(match: re.Match[str]) -> Atom:
    read = readers.clock(0 if match["word"] == "midnight" else 12, twelve=match["word"] == "midnight")
    return Atom(*match.span(), "hour", read, "day", alone=_cue(_BEFORE_DAY, match))


@ENGLISH(r"(?:early\s+|late\s+)?(?P<part>morning|afternoon|evening|night)")
def _part(match: re.Match[str]) -> Atom:
    return Atom(*match.span(), "part", readers.part(match["part"]), "day", alone=False)


@ENGLISH(
    r"(?:the\s+)?(?:(?P<edge>early|late|mid)(?=\s*-\s*[a-z0-9]|\s+[a-z0-9])|"
    r"(?P<noun>beginning|start|middle|end)(?=\s+of\s)|(?P<half>first|second|latter)\s+half(?=\s+of\s))"
)
def _edge(match: re.Match[str]) -> Atom:
    half = "first half" if match["half"] == "first" else "second half"
    name = half if match["half"] else _EDGES[match["edge"] or match["noun"]]
    return Atom(*match.span(), "range", readers.piece(name), ANY, alone=False)
