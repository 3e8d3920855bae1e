"""Typed values: what a sentence says in numbers, dates and clock times, in one form whatever the wording.

"two weeks", "14 days" and 十四天 are one length of time; "half past nine" and 九点半 are one time of day; "7 May" and
5月7日 are one date. Two values are *comparable* when they could stand in one slot: lengths of time with lengths of
time, dates with dates, counts with counts of the same thing. Facts that differ in comparable values are never the
same fact, and often one is the successor of the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from hindsight_core.consolidate.lazy import Lazy
from hindsight_core.consolidate.patterns import HAN_NUMBER
from hindsight_core.text.times.numerals import chinese_integer


class Value(NamedTuple):
    """One value.

    Attributes:
        kind: "date", "clock", "weekday", "year", "span" (a length of time, in seconds), "rate" (how often, by the seconds
            between), "money", "version", "ordinal", "address" (of mail), "code" (a name with a number in it), "count".
        unit: What is counted, a currency, the letters of a code; "" when the text does not say.
        amount: The number, or a date as year-month-day with * for what is left open.
    """

    kind: str
    unit: str
    amount: float | str


_SECONDS = {
    "second": 1, "sec": 1, "s": 1, "秒": 1, "秒钟": 1, "ms": 0.001, "millisecond": 0.001, "毫秒": 0.001,
    "minute": 60, "min": 60, "分钟": 60, "hour": 3600, "hr": 3600, "h": 3600, "小时": 3600, "个小时": 3600, "钟头": 3600, "个钟头": 3600,
    "day": 86400, "d": 86400, "天": 86400, "week": 604800, "周": 604800, "个星期": 604800, "星期": 604800, "个礼拜": 604800, "礼拜": 604800,
    "fortnight": 1209600, "month": 2592000, "个月": 2592000, "year": 31536000, "yr": 31536000, "年": 31536000,
}  # fmt: skip
_LARGE = {"百": 1e2, "千": 1e3, "k": 1e3, "thousand": 1e3, "万": 1e4, "m": 1e6, "million": 1e6, "亿": 1e8, "bn": 1e9, "billion": 1e9}  # fmt: skip
_MONEY = {
    "$": "$", "dollar": "$", "usd": "$", "buck": "$", "€": "€", "euro": "€", "eur": "€", "£": "£", "pound": "£",
    "¥": "¥", "￥": "¥", "元": "¥", "块": "¥", "块钱": "¥", "yuan": "¥", "rmb": "¥",
}  # fmt: skip
_RATES = {
    "min": 60, "hou": 3600, "dai": 86400, "day": 86400, "nig": 86400, "wee": 604800, "mon": 2592000, "qua": 7776000, "yea": 31536000, "ann": 31536000, "sec": 1,
    "钟": 60, "时": 3600, "天": 86400, "晚": 86400, "周": 604800, "期": 604800, "月": 2592000, "年": 31536000, "秒": 1,
}  # fmt: skip


def _numbered(text: str, start: int = 0) -> dict[str, int]:
    return {word: number for number, word in enumerate(text.split(), start)}


_MONTHS = _numbered("jan feb mar apr may jun jul aug sep oct nov dec", 1)
_WEEKDAYS = _numbered("mon tue wed thu fri sat sun", 1)
_CHINESE_WEEKDAYS = _numbered("一 二 三 四 五 六 日", 1) | {"天": 7}
_ORDINALS = _numbered("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth", 1)
_CARDINALS = _numbered(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
)
_CARDINALS |= {
    word: 10 * tens
    for word, tens in _numbered("twenty thirty forty fifty sixty seventy eighty ninety", 2).items()
}

_NUMBER = Lazy(r"([-−]?)([$€£¥￥]?)(\d[\d,]*(?:\.\d+)?)\s?(.*)", re.DOTALL)
_HAN = Lazy(f"({HAN_NUMBER})([万亿千百]?)(.*)")
_CODE = Lazy(r"([A-Za-z]+)-?([\d.]+)")
_CLOCK = Lazy(r"(凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|晚)?(.+?)点(.*)")
_DATE_ZH = Lazy(r"(?:(.{4})年)?(?:(.+?)月)?(?:份|(.+?)[日号]?)?")


@lru_cache(maxsize=1 << 14)
def read_value(kind: str, text: str) -> Value | None:
    """The value a match of `patterns.VALUE` says; None for what only looks like one (一个, an article)."""
    return _READERS[kind.rstrip("23")](text)


def same_amount(one: Value, other: Value) -> bool:
    """Whether two comparable values agree; what a date leaves open agrees with anything."""
    if one.amount == other.amount:
        return True
    if one.kind == "span" and other.kind == "count":
        return isinstance(other.amount, float) and any(
            other.amount * unit == one.amount for unit in _SECONDS.values()
        )
    if one.kind == "count" and other.kind == "span":
        return same_amount(other, one)
    if one.kind != "date" or other.kind != "date":
        return False
    pairs = zip(str(one.amount).split("-"), str(other.amount).split("-"), strict=True)
    return all(left == right or "*" in (left, right) for left, right in pairs)


def comparable(one: Value, other: Value) -> bool:
    """Whether two values could stand in the same slot."""
    if one.kind == other.kind:
        return one.unit == other.unit
    kinds = {one.kind, other.kind}
    if kinds == {"count", "span"}:  # "is four years old", "turned five"
        return "" in (one.unit if one.kind == "count" else other.unit,)
    return (kinds == {"count", "money"} and "" in (one.unit, other.unit)) or kinds == {"count", "version"}


def _integer(numeral: str) -> int:
    numeral = numeral.replace(",", "")
    thousands, found, rest = numeral.partition("千")
    if found:
        return 1000 * (chinese_integer(thousands) or 1) + (
            chinese_integer(rest.lstrip("零")) or 0 if rest else 0
        )
    return chinese_integer(numeral) or 0


def _iso(text: str) -> Value:
    year, month, day = re.split(r"[-/.]", text)
    return Value("date", "", f"{int(year)}-{int(month)}-{int(day)}")


def _date_zh(text: str) -> Value | None:
    parts = _DATE_ZH.fullmatch(text)
    if parts is None:
        return None
    year, month, day = ("*" if part is None else str(_integer(part)) for part in parts.groups())
    return Value("date", "", f"{year}-{month}-{day}")


def _date_en(text: str) -> Value:
    words = re.findall(r"[A-Za-z]+|\d+", text)
    month = next(_MONTHS[word[:3].lower()] for word in words if word[:3].lower() in _MONTHS)
    numbers = [int(word) for word in words if word.isdigit()]
    year = next((str(number) for number in numbers if number > 31), "*")
    return Value("date", "", f"{year}-{month}-{next((number for number in numbers if number <= 31), '*')}")


def _clock_zh(text: str) -> Value | None:
    parts = _CLOCK.fullmatch(text)
    if parts is None or (parts[2] == "一" and not parts[3] and not parts[1]):  # 一点: a little
        return None
    hour = _integer(parts[2])
    rest = parts[3].removesuffix("分")
    minutes = {"": 0, "钟": 0, "整": 0, "半": 30, "一刻": 15, "三刻": 45}.get(rest)
    late = parts[1] in ("下午", "傍晚", "晚上", "晚") and hour < 12
    return Value("clock", "", (hour + 12 * late) * 60 + (_integer(rest) if minutes is None else minutes))


def _clock_en(text: str) -> Value:
    folded = text.lower().replace(".", "")
    words = folded.split()
    if len(words) == 3:
        past = _CARDINALS.get(words[2]) or int(words[2])
        return Value(
            "clock", "", past * 60 + {"half": 30, "quarter": 15}[words[0]] * (-1 if words[1] == "to" else 1)
        )
    hour, _, minute = re.sub(r"[^\d:]", "", folded).partition(":")
    late = "pm" in folded and int(hour) < 12
    return Value("clock", "", (int(hour) + 12 * late) * 60 + int(minute or 0))


def _weekday(text: str) -> Value:
    return Value("weekday", "", _WEEKDAYS.get(text[:3].lower()) or _CHINESE_WEEKDAYS[text[-1]])


def _ordinal(text: str) -> Value:
    if text.startswith("第"):
        parts = _HAN.fullmatch(text[1:])
        return Value("ordinal", parts[3], _integer(parts[1])) if parts else Value("ordinal", "", text)
    digits = re.match(r"\d+", text)
    return Value("ordinal", "", int(digits[0]) if digits else _ORDINALS[text])


def _number_zh(text: str) -> Value | None:
    if text.startswith("百分之"):
        return Value("count", "%", float(_amount(text[3:])))
    parts = _HAN.fullmatch(text)
    if parts is None:
        return None
    numeral, large, measure = parts.groups()
    if (
        numeral == "一"
        and not large
        and measure not in _SECONDS
        and measure not in ("楼", "层", "年级", "次")
    ):  # an article
        return None
    if measure == "年" and len(numeral) == 4:
        return Value("year", "", _integer(numeral))
    return _counted(_amount(numeral) * _LARGE.get(large, 1), measure)


def _colloquial(numeral: str) -> int:
    """一万五 is 15,000: a lone digit behind a unit counts tenths of it."""
    if len(numeral) != 3 or numeral[1] not in "万千百" or numeral[2] not in "一二三四五六七八九":
        return 0
    unit = int(_LARGE[numeral[1]])
    return _integer(numeral[0]) * unit + _integer(numeral[2]) * unit // 10


def _amount(numeral: str) -> float:
    return float(numeral.replace(",", "")) if numeral[0].isdecimal() else _integer(numeral)


def _number(text: str) -> Value | None:
    parts = _NUMBER.fullmatch(text)
    if parts is None:
        return None
    minus, sign, digits, unit = parts.groups()
    amount = float(digits.replace(",", "")) * (-1 if minus else 1)
    unit = unit.lower()
    if unit[:1] in _LARGE and unit[1:] in ("", "元", "块"):
        amount, unit = amount * _LARGE[unit[:1]], unit[1:]
    elif unit in _LARGE:
        amount, unit = amount * _LARGE[unit], ""
    return Value("money", _MONEY[sign], amount) if sign else _counted(amount, unit)


def _counted(amount: float, unit: str) -> Value:
    unit = {"percent": "%"}.get(unit, unit)
    single = unit if unit in _SECONDS else unit.removesuffix("s")
    if single in _SECONDS:
        return Value("span", "", amount * _SECONDS[single])
    if single in _MONEY:
        return Value("money", _MONEY[single], amount)
    return Value("count", unit, amount)


def _spelt(text: str) -> Value:
    *numeral, last = text.replace("-", " ").split()
    if last not in _CARDINALS:
        return _counted(float(sum(_CARDINALS[word] for word in numeral)), last)
    return Value("count", "", float(sum(_CARDINALS[word] for word in (*numeral, last))))


def _times(text: str) -> Value:
    word = text.split()[0]
    return Value("count", "time", float({"once": 1, "twice": 2, "thrice": 3}.get(word) or _CARDINALS[word]))


def _code(text: str) -> Value | None:
    parts = _CODE.match(text)
    return Value("code", parts[1].lower(), parts[2]) if parts else None


def _version(text: str) -> Value:
    return Value(
        "version", "", float(text[1:]) if re.fullmatch(r"v\d+(?:\.\d+)?", text) else text.removeprefix("v")
    )


_READERS: dict[str, Callable[[str], Value | None]] = {
    "iso": _iso,
    "date_zh": _date_zh,
    "date_en": _date_en,
    "clock_zh": _clock_zh,
    "clock_en": _clock_en,
    "version": _version,
    "weekday": _weekday,
    "ordinal": _ordinal,
    "number_zh": _number_zh,
    "number": _number,
    "spelt": _spelt,
    "one": lambda text: (
        Value("span", "", 1800.0) if text.startswith("half") else _counted(1.0, text.split()[1])
    ),
    "rate_en": lambda text: Value("rate", "", _RATES[text.split()[-1][:3]]),
    "rate_zh": lambda text: Value("rate", "", _RATES[text[-1]]),
    "plain_zh": lambda text: Value("count", "", float(_colloquial(text) or _integer(text))),
    "telephone": lambda text: Value("code", "", text),
    "code": _code,
    "address": lambda text: Value("address", "", text.lower()),
    "times": _times,
    "only_zh": lambda text: Value("count", text[1:], 1.0),
}
