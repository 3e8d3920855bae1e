"""Typed values: what a sentence says in numbers, dates and clock times, in one form whatever the wording.

"two weeks", "14 days" and 十四天 are one length of time; "half past nine" and 九点半 are one time of day; "7 May" and
5月7日 are one date. Two values are *comparable* when they could stand in one slot: lengths of time with lengths of
time, dates with dates, counts with counts of the same thing. Facts that differ in comparable values are never the
same fact, and often one is the successor of the other.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from hindsight_core.text.times.numerals import chinese_integer


class Value(NamedTuple):
    """One value.

    Attributes:
        kind: "date", "clock", "span" (a length of time, in seconds), "weekday", "ordinal", "money", "version", "code" (a
            name with a number in it), or "count".
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
_LARGE = {"百": 1e2, "千": 1e3, "k": 1e3, "thousand": 1e3, "万": 1e4, "m": 1e6, "million": 1e6, "亿": 1e8, "bn": 1e9, "billion": 1e9}
_MONEY = {"$": "$", "€": "€", "£": "£", "¥": "¥", "￥": "¥", "元": "¥", "块": "¥", "块钱": "¥", "dollar": "$", "usd": "$", "buck": "$", "euro": "€", "eur": "€", "pound": "£", "yuan": "¥", "rmb": "¥"}
_MONTHS = {name: at for at, name in enumerate(["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1)}
_WEEKDAYS = {name: at for at, name in enumerate(["mon", "tue", "wed", "thu", "fri", "sat", "sun"], 1)}
_CHINESE_WEEKDAYS = {"一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "日": 7, "天": 7}
_CARDINALS = {
    word: number
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
    )
} | {word: tens * 10 for tens, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2)}
_ORDINALS = {word: n for n, word in enumerate(["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"], 1)}

_MONTH = r"(?:[Jj]an(?:uary)?|[Ff]eb(?:ruary)?|[Mm]ar(?:ch)?|[Aa]pr(?:il)?|[Mm]ay|[Jj]une?|[Jj]uly?|[Aa]ug(?:ust)?|[Ss]ept?(?:ember)?|[Oo]ct(?:ober)?|[Nn]ov(?:ember)?|[Dd]ec(?:ember)?)"
_SPELT = r"(?:(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?|(?:thir|four|fif|six|seven|eigh|nine)teen|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_HOUR = r"(?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_HAN_DIGIT = "〇零一二两三四五六七八九"
_HAN_NUMBER = f"(?:\\d[\\d,]*(?:\\.\\d+)?|[{_HAN_DIGIT}十百千廿卅]+)"
_SPAN_EN = r"(?:milliseconds?|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|fortnights?|months?|years?|yrs?)"
_MEASURE = (
    "(?:年级|楼|层|岁|周岁|厘米|公分|毫米|千克|公升|升(?![级到至为])|毫升|次|句|杯|支|根|块钱|块|元|件|篇|页|行|张|份|道|门|套|辆|栋|步|公斤|斤|公里|平米|平方|米|度|秒钟|秒|分钟|"
    "毫秒|个小时|小时|个钟头|天|个星期|星期(?![一二三四五六日天])|个礼拜|周(?![一二三四五六日年末报会边围])|个月|年|倍|轮|期|版|场|节|组|字|瓶|盒|包|碗|顿|遍|级|折|"
    "人|名|位|台|只|条|本|家|间|个|部|头|棵|匹|艘|架|口|号线)"
)

_PART_OF_DAY = "(?:凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|晚)"
_PAST_HOUR = rf"(?![儿点子的])(?:半|钟|整|[一三]刻|(?:\d{{1,2}}|[{_HAN_DIGIT}十]{{1,3}})分?)?"
_DATE_EN = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}|{_MONTH}\.?\s\d{{1,2}}(?:st|nd|rd|th)?(?![\d:%]))(?![A-Za-z])(?:,?\s(?:19|20)\d\d)?"
_CLEAN = r"(?<![A-Za-z0-9_.])"
_FINE = r"(?![A-Za-z0-9_])"

_FROM_DIGITS = "|".join(
    (
        rf"(?P<iso>{_CLEAN}(?<!-)\d{{4}}(?P<_joint>[-/.])\d{{1,2}}(?P=_joint)\d{{1,2}}(?![A-Za-z0-9_-]))",
        r"(?P<date_zh>(?:\d{4}年)?\d{1,2}月(?:份|\d{1,2}[日号]?)?|\d{1,2}[日号](?![楼线机店馆桌房门院公]))",
        rf"(?P<date_en>{_CLEAN}{_DATE_EN})",
        rf"(?P<clock_zh>\d{{1,2}}点{_PAST_HOUR})",
        rf"(?P<clock_en>{_CLEAN}\d{{1,2}}(?::\d\d(?:\s?[AaPp]\.?[Mm]\b\.?)?|\s?(?:[AaPp]\.?[Mm]\b\.?|o'clock))(?![A-Za-z0-9_:]))",
        rf"(?P<version>{_CLEAN}\d+(?:\.\d+){{2,}}{_FINE})",
        rf"(?P<ordinal>{_CLEAN}\d+(?:st|nd|rd|th){_FINE})",
        rf"(?P<number_zh>{_CLEAN}\d[\d,]*(?:\.\d+)?[万亿千百]?{_MEASURE})",
        rf"(?P<number>{_CLEAN}[-−]?[$€£¥￥]?\d+(?:,\d{{3}})*(?:\.\d+)?(?:\s?(?:%|[万亿](?:元|块)?|{_SPAN_EN}(?![A-Za-z])|(?:million|thousand|billion|dollars?|euros?|pounds?|yuan|USD|EUR|RMB|percent)(?![A-Za-z]))|[A-Za-z]{{1,4}}{_FINE})?)",
    )
)
_FROM_LETTERS = "|".join(
    (
        rf"(?P<date_en2>(?=[A-Z]|[a-z]+\.?\s\d){_DATE_EN})",
        rf"(?P<clock_en2>(?:half past|quarter past|quarter to) {_HOUR}{_FINE})",
        rf"(?P<version2>v\d+(?:\.\d+)*{_FINE})",
        rf"(?P<weekday>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?{_FINE})",
        rf"(?P<ordinal2>(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth){_FINE})",
        rf"(?P<times>(?:once|twice|thrice)(?= (?:an?|per|every|each) )|{_SPELT} times{_FINE})",
        rf"(?P<spelt>{_SPELT}(?:\s{_SPAN_EN})?{_FINE}|(?<=only )one{_FINE}|(?<=just )one{_FINE})",
        rf"(?P<one>(?:an?|one) (?:hour|day|week|fortnight|month|year){_FINE})",
        r"(?P<code>[A-Za-z]{1,12}-?\d+(?:\.\d+)*(?![A-Za-z0-9_/]|[.-][A-Za-z0-9_]))",
    )
)
_FROM_HAN = "|".join(
    (
        rf"(?P<date_zh2>(?:[{_HAN_DIGIT}]{{4}}年)?[一二三四五六七八九十]{{1,2}}月(?:份|(?:\d{{1,2}}|[一二三四五六七八九十廿]{{1,3}})[日号]?)?|[一二三四五六七八九十廿]{{1,3}}[日号](?![楼线机店馆桌房门院公]))",
        rf"(?P<clock_zh2>(?:{_PART_OF_DAY}(?=[\d{_HAN_DIGIT}十]))?(?:\d{{1,2}}|[一二两三四五六七八九十]{{1,3}})点{_PAST_HOUR})",
        r"(?P<weekday2>(?:周|星期|礼拜)[一二三四五六日天](?![早起]))",
        rf"(?P<ordinal3>第(?:\d+|[{_HAN_DIGIT}十百]+)(?:{_MEASURE})?)",
        rf"(?P<only_zh>(?<=[只要仅剩])一[个名位台人])",
        rf"(?P<number_zh2>百分之{_HAN_NUMBER}|[{_HAN_DIGIT}十百千廿卅]+[万亿千百]?(?:{_MEASURE}|(?<=[万亿])))",
        rf"(?P<plain_zh>(?:[一二三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九][百千万][{_HAN_DIGIT}十百]*)(?=[，。；！？,.\s]|$|了))",
    )
)
HAN_VALUE = rf"(?=[第百凌清早上中下傍晚周星礼{_HAN_DIGIT}十千廿卅])(?:{_FROM_HAN})"
VALUE = rf"(?=[\d$€£¥￥]|[-−]\d)(?:{_FROM_DIGITS})|(?=[A-Za-z])(?:{_FROM_LETTERS})|{HAN_VALUE}"
"""One alternative for each kind of value; the name of the group that matched goes to `read_value`."""

_NUMBER = re.compile(r"([-−]?)([$€£¥￥]?)(\d[\d,]*(?:\.\d+)?)\s?(.*)", re.DOTALL)
_HAN = re.compile(f"({_HAN_NUMBER})([万亿千百]?)(.*)")
_CODE = re.compile(r"([A-Za-z]+)-?([\d.]+)")
_CLOCK = re.compile(r"(凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|晚)?(.+?)点(.*)")
_DATE_ZH = re.compile(r"(?:(.{4})年)?(?:(.+?)月)?(?:份|(.+?)[日号]?)?")


@lru_cache(maxsize=1 << 14)
def read_value(kind: str, text: str) -> Value | None:
    """The value a match of `VALUE` says; None for what only looks like one (一个, an article)."""
    return _READERS[kind.rstrip("23")](text)


def same_amount(one: Value, other: Value) -> bool:
    """Whether two comparable values agree; what a date leaves open agrees with anything."""
    if one.amount == other.amount:
        return True
    if one.kind != "date" or other.kind != "date":
        return False
    pairs = zip(str(one.amount).split("-"), str(other.amount).split("-"), strict=True)
    return all(left == right or "*" in (left, right) for left, right in pairs)


def comparable(one: Value, other: Value) -> bool:
    """Whether two values could stand in the same slot."""
    if one.kind == other.kind:
        return one.unit == other.unit
    kinds = {one.kind, other.kind}
    return (kinds == {"count", "money"} and "" in (one.unit, other.unit)) or kinds == {"count", "version"}


def _integer(numeral: str) -> int:
    numeral = numeral.replace(",", "")
    thousands, found, rest = numeral.partition("千")
    if found:
        return 1000 * (chinese_integer(thousands) or 1) + (chinese_integer(rest.lstrip("零")) or 0 if rest else 0)
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
    minute = {"": 0, "钟": 0, "整": 0, "半": 30, "一刻": 15, "三刻": 45}.get(rest)
    late = parts[1] in ("下午", "傍晚", "晚上", "晚") and hour < 12
    return Value("clock", "", (hour + 12 * late) * 60 + (_integer(rest) if minute is None else minute))


def _clock_en(text: str) -> Value:
    folded = text.lower().replace(".", "")
    words = folded.split()
    if len(words) == 3:
        hour = _CARDINALS.get(words[2]) or int(words[2])
        return Value("clock", "", hour * 60 + {"half": 30, "quarter": 15}[words[0]] * (-1 if words[1] == "to" else 1))
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
    if numeral == "一" and not large and measure not in _SECONDS and measure not in ("楼", "层", "年级", "次"):  # an article
        return None
    if measure == "年" and len(numeral) == 4:
        return Value("year", "", _integer(numeral))
    return _counted(_amount(numeral) * _LARGE.get(large, 1), measure)


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
    return Value("version", "", float(text[1:]) if re.fullmatch(r"v\d+(?:\.\d+)?", text) else text.removeprefix("v"))


_READERS = {
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
    "one": lambda text: _counted(1.0, text.split()[1]),
    "plain_zh": lambda text: Value("count", "", float(_integer(text))),
    "code": _code,
    "times": _times,
    "only_zh": lambda text: Value("count", text[1:], 1.0),
}
