"""Holidays whose date can be computed: fixed ones and those on the nth weekday of a month.

Lunar ones (Chinese New Year, Easter) are left out: a table of them would end some year.
"""

from __future__ import annotations

from hindsight_core.text.times.readers import Reader, day_of_year, nth_of_month

# A pattern and where the day lies in a year; English as kept in the United States.
ENGLISH_HOLIDAYS: tuple[tuple[str, Reader], ...] = (
    (r"new\s+year'?s?\s+eve", day_of_year(12, 31)),
    (r"new\s+year(?:'?s)?(?:\s+day)?", day_of_year(1, 1)),
    (r"valentine'?s?\s+day", day_of_year(2, 14)),
    (r"(?:saint|st\.?)\s+patrick'?s?\s+day", day_of_year(3, 17)),
    (r"april\s+fools?(?:'?s?)?\s+day", day_of_year(4, 1)),
    (r"mother'?s?\s+day", nth_of_month(2, 6, month=5)),
    (r"memorial\s+day", nth_of_month(-1, 0, month=5)),
    (r"father'?s?\s+day", nth_of_month(3, 6, month=6)),
    (r"juneteenth", day_of_year(6, 19)),
    (r"independence\s+day", day_of_year(7, 4)),
    (r"labou?r\s+day", nth_of_month(1, 0, month=9)),
    (r"hallowe'?en", day_of_year(10, 31)),
    (r"veterans?'?\s+day", day_of_year(11, 11)),
    (r"thanksgiving(?:\s+day)?", nth_of_month(4, 3, month=11)),
    (r"christmas\s+eve", day_of_year(12, 24)),
    (r"(?:christmas|xmas)(?:\s+day)?", day_of_year(12, 25)),
    (r"boxing\s+day", day_of_year(12, 26)),
)

CHINESE_HOLIDAYS: tuple[tuple[str, Reader], ...] = (
    (r"元旦节?", day_of_year(1, 1)),
    (r"情人节", day_of_year(2, 14)),
    (r"三八(?:妇女)?节|妇女节", day_of_year(3, 8)),
    (r"愚人节", day_of_year(4, 1)),
    (r"(?:五一|劳动节)(?:假期|长假|黄金周|小长假)", day_of_year(5, 1, 5)),
    (r"五一(?:国际)?(?:劳动)?节|劳动节|五一(?![路街村广大小中桥厂镇九八])", day_of_year(5, 1)),
    (r"五四青年节|青年节", day_of_year(5, 4)),
    (r"母亲节", nth_of_month(2, 6, month=5)),
    (r"六一(?:国际)?(?:儿童)?节|儿童节|六一(?![路街村广大小中居])", day_of_year(6, 1)),
    (r"父亲节", nth_of_month(3, 6, month=6)),
    (r"教师节", day_of_year(9, 10)),
    (r"(?:国庆|十一)节?(?:假期|长假|黄金周)", day_of_year(10, 1, 7)),
    (r"国庆节?", day_of_year(10, 1)),
    (r"万圣节", day_of_year(10, 31)),
    (r"双(?:十一|11)", day_of_year(11, 11)),
    (r"感恩节", nth_of_month(4, 3, month=11)),
    (r"双(?:十二|12)", day_of_year(12, 12)),
    (r"平安夜", day_of_year(12, 24)),
    (r"圣诞节?(?![老树卡歌帽礼])", day_of_year(12, 25)),
    (r"跨年夜?", day_of_year(12, 31)),
)
