"""Numbers as people say them beside a time unit: digits, English words, Chinese numerals, and vague ones.

A count is a pair (fewest, most), counted in halves: "three" is (6, 6), 一个半 is (3, 3), "a few" is (4, 10), so
that "a few days ago" becomes the window from five to two days ago instead of a day that nobody named.
"""

from __future__ import annotations

Count = tuple[int, int]

ONE: Count = (2, 2)
FEW: Count = (4, 10)
_COUPLE: Count = (4, 6)
_TEN_ODD: Count = (22, 38)
_TENS: Count = (40, 180)

_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
    "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip

ENGLISH_NUMBER = (
    r"(?:\d{1,4}(?:\.5)?|(?:a\s+)?couple(?:\s+of)?|(?:a\s+)?few|several|half\s+an?|an?|"
    r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[-\s](?:one|two|three|four|five|six|seven|eight|nine))?|"
    r"(?:thir|four|fif|six|seven|eigh|nine)teen|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
)

_DIGITS = {
    "零": 0,
    "〇": 0,
    "一": 1,
    "二": 2,
    "两": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
}
_POWERS = {"十": 10, "百": 100}

CHINESE_NUMERAL = "[零〇一二两三四五六七八九十廿卅百]"
CHINESE_NUMBER = r"(?:\d{1,4}|[一二两三四五六七八九十廿卅百零几数半]{1,5})"


def english_count(words: str) -> Count:
    """The count an `ENGLISH_NUMBER` says."""
    if "couple" in words:
        return _COUPLE
    if "few" in words or words == "several":
        return FEW
    if words.startswith("half"):
        return 1, 1
    if words[0].isdigit():
        halves = round(2 * float(words))
    else:
        halves = 2 * sum(_WORDS.get(word, 1) for word in words.replace("-", " ").split())
    return halves, halves


def chinese_integer(numeral: str) -> int | None:
    """The value of a numeral, place by place (二〇二三) or with powers (二十三, 廿三); None when it is neither."""
    if numeral.isdecimal():
        return int(numeral)
    numeral = numeral.replace("廿", "二十").replace("卅", "三十")
    if numeral and all(character in _DIGITS for character in numeral):
        return int("".join(str(_DIGITS[character]) for character in numeral))
    total, digit = 0, 0
    for position, character in enumerate(numeral):
        if character in _POWERS:
            total += (digit if position else 1) * _POWERS[character]
            digit = 0
        elif character in _DIGITS and not digit:
            digit = _DIGITS[character]
        else:
            return None
    return total + digit if numeral else None


def chinese_count(numeral: str) -> Count | None:
    """The count a `CHINESE_NUMBER` says; None when it says none."""
    if numeral == "半":
        return 1, 1
    if numeral in ("几", "数"):
        return FEW
    if numeral == "十几":
        return _TEN_ODD
    if numeral in ("几十", "数十"):
        return _TENS
    if len(numeral) == 2 and all(character in _DIGITS for character in numeral):
        fewest, most = (2 * _DIGITS[character] for character in numeral)
        return (fewest, most) if most == fewest + 2 else None
    number = chinese_integer(numeral)
    return None if number is None else (2 * number, 2 * number)
