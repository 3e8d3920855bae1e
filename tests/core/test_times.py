"""Times a text speaks of: a table of what each expression means, computed by hand.

The rows were also put to two other parsers, the suite of recognizers and jionlp (tools/time_oracles.py). Where they
read a row otherwise, a comment says why we do not, but for these general differences: they give a day for "two weeks
ago" where we give the week, end a rolling window at the minute or the day before, begin a night at 20 and end it at
midnight, leave the last day out of "from Monday to Friday", and jionlp puts every date without a year into this year.
The reference instant is a Wednesday morning in Shanghai; a date without a time is midnight there.
"""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from hindsight_core.text.times import TimeSpan, find_times

ZONE = ZoneInfo("Asia/Shanghai")
NOW = datetime(2024, 5, 15, 10, 0, tzinfo=ZONE)  # a Wednesday

Row = tuple[str, str, str | None, str | None, str]


def at(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=ZONE)


def only(text: str, now: datetime = NOW) -> TimeSpan:
    spans = find_times(text, now)
    assert len(spans) == 1, [span.text for span in spans]
    return spans[0]


# The text, the words that say it, start, end, grain ("!" = explicit).
ENGLISH: list[Row] = [
    # days
    ("I called her yesterday.", "yesterday", "2024-05-14", "2024-05-15", "day"),
    ("Today is fine", "Today", "2024-05-15", "2024-05-16", "day"),
    ("See you tomorrow", "tomorrow", "2024-05-16", "2024-05-17", "day"),
    ("the day before yesterday", "the day before yesterday", "2024-05-13", "2024-05-14", "day"),
    ("It arrives the day after tomorrow", "the day after tomorrow", "2024-05-17", "2024-05-18", "day"),
    ("yesterday's meeting", "yesterday", "2024-05-14", "2024-05-15", "day"),
    # parts of a day; a night lasts until the small hours
    ("We eat tonight", "tonight", "2024-05-15 18:00", "2024-05-16 04:00", "part"),
    ("I ran this morning", "this morning", "2024-05-15 04:00", "2024-05-15 12:00", "part"),
    ("I slept badly last night", "last night", "2024-05-14 18:00", "2024-05-15 04:00", "part"),
    ("yesterday afternoon", "yesterday afternoon", "2024-05-14 12:00", "2024-05-14 18:00", "part"),
    ("on Monday evening", "Monday evening", "2024-05-13 17:00", "2024-05-13 22:00", "part"),
    ("the morning of May 3", "morning of May 3", "2024-05-03 04:00", "2024-05-03 12:00", "part"),
    # weekdays: the most recent one, unless the clause says future
    ("We met on Monday", "Monday", "2024-05-13", "2024-05-14", "day"),
    ("It is Wednesday", "Wednesday", "2024-05-15", "2024-05-16", "day"),
    ("on Friday", "Friday", "2024-05-10", "2024-05-11", "day"),
    ("I'll call you on Friday", "Friday", "2024-05-17", "2024-05-18", "day"),
    ("the review is due Friday", "Friday", "2024-05-17", "2024-05-18", "day"),
    ("What did I plan to do on Friday?", "Friday", "2024-05-10", "2024-05-11", "day"),
    # "Last Monday" is the one just past; the suite takes the one of last week.
    ("last Monday", "last Monday", "2024-05-13", "2024-05-14", "day"),
    ("last Wednesday", "last Wednesday", "2024-05-08", "2024-05-09", "day"),
    ("last Fri", "last Fri", "2024-05-10", "2024-05-11", "day"),
    ("this Friday", "this Friday", "2024-05-17", "2024-05-18", "day"),
    ("next Friday", "next Friday", "2024-05-24", "2024-05-25", "day"),
    ("Monday last week", "Monday last week", "2024-05-06", "2024-05-07", "day"),
    ("this past Saturday", "this past Saturday", "2024-05-11", "2024-05-12", "day"),
    # weeks to centuries
    ("last week", "last week", "2024-05-06", "2024-05-13", "week"),
    ("this week", "this week", "2024-05-13", "2024-05-20", "week"),
    ("next week", "next week", "2024-05-20", "2024-05-27", "week"),
    # The suite reads "the week" alone.
    ("the week before last", "the week before last", "2024-04-29", "2024-05-06", "week"),
    ("last weekend", "last weekend", "2024-05-11", "2024-05-13", "weekend"),
    ("this weekend", "this weekend", "2024-05-18", "2024-05-20", "weekend"),
    ("over the weekend", "weekend", "2024-05-11", "2024-05-13", "weekend"),
    ("last month", "last month", "2024-04-01", "2024-05-01", "month"),
    ("next month", "next month", "2024-06-01", "2024-07-01", "month"),
    ("last quarter", "last quarter", "2024-01-01", "2024-04-01", "quarter"),
    ("last year", "last year", "2023-01-01", "2024-01-01", "year"),
    ("next year", "next year", "2025-01-01", "2026-01-01", "year"),
    ("last decade", "last decade", "2010-01-01", "2020-01-01", "decade"),
    # counted from now: the unit that holds the moment
    ("3 days ago", "3 days ago", "2024-05-12", "2024-05-13", "day"),
    ("twenty-one days ago", "twenty-one days ago", "2024-04-24", "2024-04-25", "day"),
    ("two weeks ago", "two weeks ago", "2024-04-29", "2024-05-06", "week"),
    ("three months ago", "three months ago", "2024-02-01", "2024-03-01", "month"),
    ("ten years ago", "ten years ago", "2014-01-01", "2015-01-01", "year"),
    # The suite does not join the two halves, here and in the other rows of this form.
    ("10 years ago in March", "10 years ago in March", "2014-03-01", "2014-04-01", "month"),
    ("a year ago today", "a year ago today", "2023-05-15", "2023-05-16", "day"),
    ("a year and a half ago", "a year and a half ago", "2022-11-01", "2022-12-01", "month"),
    ("5 minutes ago", "5 minutes ago", "2024-05-15 09:55", "2024-05-15 09:56", "minute"),
    ("half an hour ago", "half an hour ago", "2024-05-15 09:30", "2024-05-15 09:31", "minute"),
    ("two hours ago", "two hours ago", "2024-05-15 08:00", "2024-05-15 09:00", "hour"),
    # Vague counts become ranges; the suite makes "a few" exactly three.
    ("a couple of days ago", "a couple of days ago", "2024-05-12", "2024-05-14", "range"),
    ("a few days ago", "a few days ago", "2024-05-10", "2024-05-14", "range"),
    ("2-3 weeks ago", "2-3 weeks ago", "2024-04-22", "2024-05-06", "range"),
    ("the other day", "the other day", "2024-05-10", "2024-05-15", "range"),
    ("in 3 days", "in 3 days", "2024-05-18", "2024-05-19", "day"),
    ("in two weeks' time", "in two weeks' time", "2024-05-27", "2024-06-03", "week"),
    ("10 days from now", "10 days from now", "2024-05-25", "2024-05-26", "day"),
    ("two days later", "two days later", "2024-05-17", "2024-05-18", "day"),
    # rolling windows, rounded outwards to whole days: what is said right now lies inside
    ("in the last 3 days", "the last 3 days", "2024-05-12", "2024-05-16", "range"),
    ("over the past week", "the past week", "2024-05-08", "2024-05-16", "range"),
    ("in the past two months", "the past two months", "2024-03-15", "2024-05-16", "range"),
    ("the next 3 days", "the next 3 days", "2024-05-15", "2024-05-19", "range"),
    ("in recent years", "in recent years", "2019-05-15", "2024-05-16", "range"),
    ("I recently moved", "recently", "2024-05-01", "2024-05-16", "recent"),
    ("How are you lately?", "lately", "2024-05-01", "2024-05-16", "recent"),
    # months, seasons, quarters
    ("in March", "March", "2024-03-01", "2024-04-01", "month"),
    ("in June", "June", "2023-06-01", "2023-07-01", "month"),
    ("We will meet in June", "June", "2024-06-01", "2024-07-01", "month"),
    ("September was wet", "September", "2023-09-01", "2023-10-01", "month"),
    ("in March 2023", "March 2023", "2023-03-01", "2023-04-01", "month!"),
    ("March last year", "March last year", "2023-03-01", "2023-04-01", "month"),
    # The most recent one that is over; the suite takes the one of last year.
    ("last March", "last March", "2024-03-01", "2024-04-01", "month"),
    ("2016, November", "2016, November", "2016-11-01", "2016-12-01", "month!"),
    ("Q3 2023", "Q3 2023", "2023-07-01", "2023-10-01", "quarter!"),
    ("in Q1", "Q1", "2024-01-01", "2024-04-01", "quarter"),
    ("the third quarter of 2023", "third quarter of 2023", "2023-07-01", "2023-10-01", "quarter!"),
    # Seasons are whole months; the suite knows no bounds of them.
    ("last summer", "last summer", "2023-06-01", "2023-09-01", "season"),
    ("this spring", "this spring", "2024-03-01", "2024-06-01", "season"),
    ("in the fall", "fall", "2023-09-01", "2023-12-01", "season"),
    ("the summer of 2022", "summer of 2022", "2022-06-01", "2022-09-01", "season!"),
    ("winter 2022", "winter 2022", "2022-12-01", "2023-03-01", "season!"),
    ("next spring", "next spring", "2025-03-01", "2025-06-01", "season"),
    ("Any plans for the summer?", "summer", "2024-06-01", "2024-09-01", "season"),
    # pieces of something longer
    ("at the end of last month", "the end of last month", "2024-04-21", "2024-05-01", "range"),
    ("early 2022", "early 2022", "2022-01-01", "2022-05-01", "range!"),
    ("late 2022", "late 2022", "2022-09-01", "2023-01-01", "range!"),
    ("a false start in 2007", "2007", "2007-01-01", "2008-01-01", "year!"),
    ("mid-March", "mid-March", "2024-03-11", "2024-03-21", "range"),
    ("the first half of last year", "the first half of last year", "2023-01-01", "2023-07-01", "range"),
    ("the beginning of the year", "the beginning of the year", "2024-01-01", "2024-04-01", "range"),
    # Past like all else that is not said to be in the future; the suite says this month.
    ("the end of the month", "the end of the month", "2024-04-21", "2024-05-01", "range"),
    # The suite drops the year.
    ("the first week of March 2023", "the first week of March 2023", "2023-03-01", "2023-03-08", "week!"),
    ("the last Friday of April", "the last Friday of April", "2024-04-26", "2024-04-27", "day"),
    ("the first weekend of July 2023", "the first weekend of July 2023", "2023-07-01", "2023-07-03", "weekend!"),
    # years and more
    ("in 2022", "2022", "2022-01-01", "2023-01-01", "year!"),
    ("2019-2021", "2019-2021", "2019-01-01", "2022-01-01", "range!"),
    ("the 1990s", "the 1990s", "1990-01-01", "2000-01-01", "decade!"),
    ("the early 1990s", "the early 1990s", "1990-01-01", "1994-01-01", "range!"),
    ("the 90s", "the 90s", "1990-01-01", "2000-01-01", "decade!"),
    ("the 20th century", "the 20th century", "1900-01-01", "2000-01-01", "century!"),
    # dates
    ("March 5", "March 5", "2024-03-05", "2024-03-06", "day"),
    ("on May 20th", "May 20th", "2023-05-20", "2023-05-21", "day"),
    ("on may 3rd", "may 3rd", "2024-05-03", "2024-05-04", "day"),
    ("5th of May", "5th of May", "2024-05-05", "2024-05-06", "day"),
    ("5 March 2023", "5 March 2023", "2023-03-05", "2023-03-06", "day!"),
    ("March 5, 2023", "March 5, 2023", "2023-03-05", "2023-03-06", "day!"),
    ("Sept. 5", "Sept. 5", "2023-09-05", "2023-09-06", "day"),
    ("March 5-8, 2023", "March 5-8, 2023", "2023-03-05", "2023-03-09", "range!"),
    ("on February 29", "February 29", "2024-02-29", "2024-03-01", "day"),
    ("January 26, 1837", "January 26, 1837", "1837-01-26", "1837-01-27", "day!"),
    ("Monday, March 6, 2023", "Monday, March 6, 2023", "2023-03-06", "2023-03-07", "day!"),
    ("2023-03-05", "2023-03-05", "2023-03-05", "2023-03-06", "day!"),
    ("2023/3/5", "2023/3/5", "2023-03-05", "2023-03-06", "day!"),
    ("03/05/2023", "03/05/2023", "2023-03-05", "2023-03-06", "day!"),
    ("15/03/2023", "15/03/2023", "2023-03-15", "2023-03-16", "day!"),
    ("15.3.2023", "15.3.2023", "2023-03-15", "2023-03-16", "day!"),
    ("2023-03", "2023-03", "2023-03-01", "2023-04-01", "month!"),
    # times of day
    ("at 3pm", "3pm", "2024-05-15 15:00", "2024-05-15 16:00", "hour"),
    ("tomorrow at 15:30", "tomorrow at 15:30", "2024-05-16 15:30", "2024-05-16 15:31", "minute"),
    ("8:30 am on 1 May, 2023", "8:30 am on 1 May, 2023", "2023-05-01 08:30", "2023-05-01 08:31", "minute!"),
    ("at 8 in the morning yesterday", "8 in the morning yesterday", "2024-05-14 08:00", "2024-05-14 09:00", "hour"),
    # A night goes on after midnight; the suite says two in the afternoon.
    ("last night at 2am", "last night at 2am", "2024-05-15 02:00", "2024-05-15 03:00", "hour"),
    ("noon tomorrow", "noon tomorrow", "2024-05-16 12:00", "2024-05-16 13:00", "hour"),
    ("2023-05-01 08:30", "2023-05-01 08:30", "2023-05-01 08:30", "2023-05-01 08:31", "minute!"),
    # The suite drops the zone.
    ("2023-05-01T08:30:00Z", "2023-05-01T08:30:00Z", "2023-05-01 16:30", "2023-05-01 16:31", "minute!"),
    ("2023-05-01T08:30+05:30", "2023-05-01T08:30+05:30", "2023-05-01 11:00", "2023-05-01 11:01", "minute!"),
    # holidays
    ("last Christmas", "last Christmas", "2023-12-25", "2023-12-26", "day"),
    ("this Christmas", "this Christmas", "2024-12-25", "2024-12-26", "day"),
    ("on New Year's Eve", "New Year's Eve", "2023-12-31", "2024-01-01", "day"),
    ("Thanksgiving 2023", "Thanksgiving 2023", "2023-11-23", "2023-11-24", "day!"),
    ("on Memorial Day 2023", "Memorial Day 2023", "2023-05-29", "2023-05-30", "day!"),
    ("the day after Christmas", "the day after Christmas", "2023-12-26", "2023-12-27", "day"),
    ("this time last year", "this time last year", "2023-04-30", "2023-05-31", "month"),
    # ranges and sides
    ("from March to May 2023", "from March to May 2023", "2023-03-01", "2023-06-01", "range!"),
    ("between June and August", "between June and August", "2023-06-01", "2023-09-01", "range"),
    ("from Monday to Friday", "from Monday to Friday", "2024-05-13", "2024-05-18", "range"),
    ("from 9am to 5pm yesterday", "from 9am to 5pm yesterday", "2024-05-14 09:00", "2024-05-14 17:00", "range"),
    ("April 28 - May 2", "April 28 - May 2", "2024-04-28", "2024-05-03", "range"),
    ("between 2019 and 2021", "between 2019 and 2021", "2019-01-01", "2022-01-01", "range!"),
    ("since March", "since March", "2024-03-01", None, "range"),
    ("since 2020", "since 2020", "2020-01-01", None, "range!"),
    ("from 2021 onwards", "from 2021 onwards", "2021-01-01", None, "range!"),
    ("before Friday", "before Friday", None, "2024-05-10", "range"),
    ("after May 3rd", "after May 3rd", "2024-05-04", None, "range"),
    ("after 3pm", "after 3pm", "2024-05-15 15:00", None, "range"),
    ("until last Sunday", "until last Sunday", None, "2024-05-13", "range"),
    ("It is due by next Friday", "by next Friday", None, "2024-05-25", "range"),
    # counted from another time
    ("the week before August 3, 2023", "the week before August 3, 2023", "2023-07-27", "2023-08-03", "week!"),
    ("two weeks before August 11, 2023", "two weeks before August 11, 2023", "2023-07-24", "2023-07-31", "week!"),
    ("the Friday before May 22, 2023", "Friday before May 22, 2023", "2023-05-19", "2023-05-20", "day!"),
    ("the week of May 3", "the week of May 3", "2024-04-29", "2024-05-06", "week"),
]  # fmt: skip

CHINESE: list[Row] = [
    # 日
    ("今天天气真好", "今天", "2024-05-15", "2024-05-16", "day"),
    ("我昨天去了公园", "昨天", "2024-05-14", "2024-05-15", "day"),
    ("前天", "前天", "2024-05-13", "2024-05-14", "day"),
    ("大前天", "大前天", "2024-05-12", "2024-05-13", "day"),
    ("明天见", "明天", "2024-05-16", "2024-05-17", "day"),
    ("后天出发", "后天", "2024-05-17", "2024-05-18", "day"),
    ("今早", "今早", "2024-05-15 04:00", "2024-05-15 12:00", "part"),
    # jionlp takes the whole day before for 昨晚, and ends a night at midnight.
    ("昨晚", "昨晚", "2024-05-14 18:00", "2024-05-15 04:00", "part"),
    # A night goes on after midnight; the others say 14:00 or 02:00 of the day before.
    ("昨晚两点", "昨晚两点", "2024-05-15 02:00", "2024-05-15 03:00", "hour"),
    ("前天下午", "前天下午", "2024-05-13 12:00", "2024-05-13 18:00", "part"),
    ("5月6日晚", "5月6日晚", "2024-05-06 18:00", "2024-05-07 04:00", "part"),
    # 周
    ("上周", "上周", "2024-05-06", "2024-05-13", "week"),
    # The suite sees 上周 only, and 下周 in 下下周.
    ("上上周", "上上周", "2024-04-29", "2024-05-06", "week"),
    ("本周", "本周", "2024-05-13", "2024-05-20", "week"),
    ("这周", "这周", "2024-05-13", "2024-05-20", "week"),
    ("下个星期", "下个星期", "2024-05-20", "2024-05-27", "week"),
    ("上周一起去爬山", "上周", "2024-05-06", "2024-05-13", "week"),
    ("上周一去爬山", "上周一", "2024-05-06", "2024-05-07", "day"),
    ("上周三", "上周三", "2024-05-08", "2024-05-09", "day"),
    ("周三", "周三", "2024-05-15", "2024-05-16", "day"),
    # Most recent, not the one of this week: jionlp says 19 May.
    ("星期天", "星期天", "2024-05-12", "2024-05-13", "day"),
    ("礼拜二", "礼拜二", "2024-05-14", "2024-05-15", "day"),
    ("周五要开会", "周五", "2024-05-17", "2024-05-18", "day"),
    ("周五开会了", "周五", "2024-05-10", "2024-05-11", "day"),
    ("下周五晚上七点", "下周五晚上七点", "2024-05-24 19:00", "2024-05-24 20:00", "hour"),
    ("下下周一下午两点", "下下周一下午两点", "2024-05-27 14:00", "2024-05-27 15:00", "hour"),
    # A weekend has two days; jionlp keeps Sunday only.
    ("这周末", "这周末", "2024-05-18", "2024-05-20", "weekend"),
    ("上周末", "上周末", "2024-05-11", "2024-05-13", "weekend"),
    # 月
    ("上个月", "上个月", "2024-04-01", "2024-05-01", "month"),
    ("下个月", "下个月", "2024-06-01", "2024-07-01", "month"),
    ("上月底", "上月底", "2024-04-21", "2024-05-01", "range"),
    ("上个月底", "上个月底", "2024-04-21", "2024-05-01", "range"),
    ("本月初", "本月初", "2024-05-01", "2024-05-11", "range"),
    ("月底", "月底", "2024-04-21", "2024-05-01", "range"),
    ("月底要交房租", "月底", "2024-05-21", "2024-06-01", "range"),
    ("3月中旬", "3月中旬", "2024-03-11", "2024-03-21", "range"),
    ("三月份", "三月份", "2024-03-01", "2024-04-01", "month"),
    ("十一月", "十一月", "2023-11-01", "2023-12-01", "month"),
    ("上个4月", "上个4月", "2024-04-01", "2024-05-01", "month"),
    ("2023年3-5月", "2023年3-5月", "2023-03-01", "2023-06-01", "range!"),
    # 年
    ("去年", "去年", "2023-01-01", "2024-01-01", "year"),
    ("前年", "前年", "2022-01-01", "2023-01-01", "year"),
    ("今年", "今年", "2024-01-01", "2025-01-01", "year"),
    ("明年", "明年", "2025-01-01", "2026-01-01", "year"),
    ("今年三月", "今年三月", "2024-03-01", "2024-04-01", "month"),
    # Seasons are whole months; jionlp counts from solar terms.
    ("去年夏天", "去年夏天", "2023-06-01", "2023-09-01", "season"),
    ("三年前的夏天", "三年前的夏天", "2021-06-01", "2021-09-01", "season"),
    ("去年暑假", "去年暑假", "2023-07-01", "2023-09-01", "range"),
    # The suite knows no halves of a year.
    ("上半年", "上半年", "2024-01-01", "2024-07-01", "half"),
    ("去年下半年", "去年下半年", "2023-07-01", "2024-01-01", "half"),
    ("上个季度", "上个季度", "2024-01-01", "2024-04-01", "quarter"),
    ("去年第三季度", "去年第三季度", "2023-07-01", "2023-10-01", "quarter"),
    ("去年前三季度", "去年前三季度", "2023-01-01", "2023-10-01", "range"),
    # 年初 and 年底 are the outer quarters; jionlp takes two months.
    ("年初", "年初", "2024-01-01", "2024-04-01", "range"),
    ("今年初", "今年初", "2024-01-01", "2024-04-01", "range"),
    ("去年年底", "去年年底", "2023-10-01", "2024-01-01", "range"),
    ("去年这个时候", "去年这个时候", "2023-04-30", "2023-05-31", "month"),
    ("五年前的今天", "五年前的今天", "2019-05-15", "2019-05-16", "day"),
    ("20世纪90年代", "20世纪90年代", "1990-01-01", "2000-01-01", "decade!"),
    ("上世纪八十年代", "上世纪八十年代", "1980-01-01", "1990-01-01", "decade"),
    ("90年代初", "90年代初", "1990-01-01", "1994-01-01", "range"),
    # 具体日期
    ("2023年", "2023年", "2023-01-01", "2024-01-01", "year!"),
    ("二〇二三年", "二〇二三年", "2023-01-01", "2024-01-01", "year!"),
    ("2023年3月", "2023年3月", "2023-03-01", "2023-04-01", "month!"),
    # The suite says the year 23.
    ("23年3月", "23年3月", "2023-03-01", "2023-04-01", "month!"),
    ("2023年3月5日", "2023年3月5日", "2023-03-05", "2023-03-06", "day!"),
    # The others do not know 廿.
    ("二零二三年十二月廿五日", "二零二三年十二月廿五日", "2023-12-25", "2023-12-26", "day!"),
    ("３月５号", "３月５号", "2024-03-05", "2024-03-06", "day"),
    ("五月三号", "五月三号", "2024-05-03", "2024-05-04", "day"),
    # In the future this year, so last year's; jionlp stays in this year.
    ("12月25日", "12月25日", "2023-12-25", "2023-12-26", "day"),
    ("3号", "3号", "2024-05-03", "2024-05-04", "day"),
    ("我三号去看牙", "三号", "2024-05-03", "2024-05-04", "day"),
    ("4月30号为什么要搬家？", "4月30号", "2024-04-30", "2024-05-01", "day"),
    ("25号", "25号", "2024-04-25", "2024-04-26", "day"),
    ("5月1日（周三）", "5月1日（周三）", "2024-05-01", "2024-05-02", "day"),
    ("2023年3月5日至8日", "2023年3月5日至8日", "2023-03-05", "2023-03-09", "range!"),
    ("2023年4月至5月", "2023年4月至5月", "2023-04-01", "2023-06-01", "range!"),
    # 从现在数
    ("三天前", "三天前", "2024-05-12", "2024-05-13", "day"),
    ("两周前", "两周前", "2024-04-29", "2024-05-06", "week"),
    # The month of that day; jionlp widens it by half a month on both sides, as in the next rows.
    ("三个月前", "三个月前", "2024-02-01", "2024-03-01", "month"),
    ("半年前", "半年前", "2023-11-01", "2023-12-01", "month"),
    ("一个半月前", "一个半月前", "2024-03-25", "2024-04-01", "week"),
    ("五年多前", "五年多前", "2018-01-01", "2020-01-01", "range"),
    ("两三天前", "两三天前", "2024-05-12", "2024-05-14", "range"),
    ("几天前", "几天前", "2024-05-10", "2024-05-14", "range"),
    ("半小时前", "半小时前", "2024-05-15 09:30", "2024-05-15 09:31", "minute"),
    ("三天后见", "三天后", "2024-05-18", "2024-05-19", "day"),
    # jionlp starts rolling windows at the very minute.
    ("最近三天", "最近三天", "2024-05-12", "2024-05-16", "range"),
    ("近一周", "近一周", "2024-05-08", "2024-05-16", "range"),
    ("过去两个月", "过去两个月", "2024-03-15", "2024-05-16", "range"),
    ("二十年来", "二十年来", "2004-05-15", "2024-05-16", "range"),
    ("这几天", "这几天", "2024-05-10", "2024-05-16", "range"),
    ("前几天", "前几天", "2024-05-10", "2024-05-15", "range"),
    ("三天内", "三天内", "2024-05-12", "2024-05-19", "range"),  # either side: the text does not say which
    ("未来三天", "未来三天", "2024-05-15", "2024-05-19", "range"),
    ("最近在忙什么", "最近", "2024-05-01", "2024-05-16", "recent"),
    ("前段时间", "前段时间", "2024-03-16", "2024-05-09", "range"),
    # 时刻
    ("上午", "上午", "2024-05-15 04:00", "2024-05-15 12:00", "part"),
    ("凌晨", "凌晨", "2024-05-15", "2024-05-15 06:00", "part"),
    ("下午三点半", "下午三点半", "2024-05-15 15:30", "2024-05-15 15:31", "minute"),
    ("昨天下午3:30", "昨天下午3:30", "2024-05-14 15:30", "2024-05-14 15:31", "minute"),
    ("昨天晚上十二点", "昨天晚上十二点", "2024-05-15", "2024-05-15 01:00", "hour"),
    ("中午一点", "中午一点", "2024-05-15 13:00", "2024-05-15 14:00", "hour"),
    ("15点", "15点", "2024-05-15 15:00", "2024-05-15 16:00", "hour"),
    # Without a part of the day the hour is the one on a 24-hour clock, as jionlp has it.
    ("昨天三点", "昨天三点", "2024-05-14 03:00", "2024-05-14 04:00", "hour"),
    ("2024年2月25日下午4时", "2024年2月25日下午4时", "2024-02-25 16:00", "2024-02-25 17:00", "hour!"),
    ("今天下午3点到5点", "今天下午3点到5点", "2024-05-15 15:00", "2024-05-15 17:00", "range"),
    # 节日
    ("元旦", "元旦", "2024-01-01", "2024-01-02", "day"),
    ("五一", "五一", "2024-05-01", "2024-05-02", "day"),
    ("去年五一期间", "去年五一", "2023-05-01", "2023-05-02", "day"),
    ("国庆节", "国庆节", "2023-10-01", "2023-10-02", "day"),
    ("国庆假期", "国庆假期", "2023-10-01", "2023-10-08", "range"),
    ("圣诞节", "圣诞节", "2023-12-25", "2023-12-26", "day"),
    ("上个国庆", "上个国庆", "2023-10-01", "2023-10-02", "day"),
    # The three days before that day; the others count them from now.
    ("国庆前三天", "国庆前三天", "2023-09-28", "2023-10-01", "range"),
    ("5月3日的前一天", "5月3日的前一天", "2024-05-02", "2024-05-03", "day"),
    # 从、到、以来
    ("自从去年以来", "自从去年以来", "2023-01-01", None, "range"),
    ("今年2月以来", "今年2月以来", "2024-02-01", None, "range"),
    ("2020年至今", "2020年至今", "2020-01-01", None, "range!"),
    ("从周一到周三", "从周一到周三", "2024-05-13", "2024-05-16", "range"),
    ("从去年开始", "从去年开始", "2023-01-01", None, "range"),
    ("自7月1日起，", "自7月1日起", "2023-07-01", None, "range"),
    # Before that day; jionlp takes it in.
    ("5月3日之前", "5月3日之前", None, "2024-05-03", "range"),
    ("国庆以后", "国庆以后", "2023-10-02", None, "range"),
    ("截至2023年底", "截至2023年底", None, "2024-01-01", "range!"),
    ("3月和5月之间", "3月和5月之间", "2024-03-01", "2024-06-01", "range"),
    # 繁體
    ("三個月前", "三個月前", "2024-02-01", "2024-03-01", "month"),
    ("上週三", "上週三", "2024-05-08", "2024-05-09", "day"),
    ("今晚八點", "今晚八點", "2024-05-15 20:00", "2024-05-15 21:00", "hour"),
]  # fmt: skip

MIXED: list[Row] = [
    ("上周 Monday 3pm 的 standup", "上周 Monday 3pm", "2024-05-06 15:00", "2024-05-06 16:00", "hour"),
    ("last week周三", "last week周三", "2024-05-08", "2024-05-09", "day"),
    ("deploy 在2023-03-05 下午3:30", "2023-03-05 下午3:30", "2023-03-05 15:30", "2023-03-05 15:31", "minute!"),
    ("昨天的 meeting", "昨天", "2024-05-14", "2024-05-15", "day"),
    ("去年 Christmas", "去年 Christmas", "2023-12-25", "2023-12-26", "day"),
    ("从last Monday到昨天", "从last Monday到昨天", "2024-05-13", "2024-05-15", "range"),
    ("我在Q3 2023加入", "Q3 2023", "2023-07-01", "2023-10-01", "quarter!"),
    ("next week要上线v2.3", "next week", "2024-05-20", "2024-05-27", "week"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words", "start", "end", "grain"), ENGLISH + CHINESE + MIXED)
def test_an_expression_means(text: str, words: str, start: str | None, end: str | None, grain: str) -> None:
    span = only(text)
    assert (span.text, span.start, span.end) == (words, at(start), at(end))
    assert (span.grain, span.explicit) == (grain.rstrip("!"), grain.endswith("!"))
    assert text[slice(*span.position)] == words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "He resigned on May 3 and came back two days later.",
            [("May 3", "2024-05-03"), ("two days later", "2024-05-05")],
        ),
        ("In 2022 we married, in March we moved.", [("2022", "2022-01-01"), ("March", "2022-03-01")]),
        ("2019年结婚，三年后生子", [("2019年", "2019-01-01"), ("三年后", "2022-01-01")]),
        ("2014年9月10日发布，9月19日上市。", [("2014年9月10日", "2014-09-10"), ("9月19日", "2014-09-19")]),
        ("2023年4月和11月", [("2023年4月", "2023-04-01"), ("11月", "2023-11-01")]),
        ("5月3号和5号", [("5月3号", "2024-05-03"), ("5号", "2024-05-05")]),
        (
            "Yesterday we walked, at 3pm we rested.",
            [("Yesterday", "2024-05-14"), ("3pm", "2024-05-14 15:00")],
        ),
        ("in March and April", [("March", "2024-03-01"), ("April", "2024-04-01")]),
        # A new sentence starts afresh.
        ("In 2022 we married. In March we moved.", [("2022", "2022-01-01"), ("March", "2024-03-01")]),
        ("2019年结婚。三月搬家。", [("2019年", "2019-01-01"), ("三月", "2024-03-01")]),
    ],
)
def test_a_sentence_goes_on_in_the_time_it_spoke_of(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(span.text, span.start) for span in find_times(text, NOW)] == [(w, at(s)) for w, s in expected]


@pytest.mark.parametrize(
    ("now", "text", "start", "end"),
    [
        ("2024-01-20 09:00", "in winter", "2023-12-01", "2024-03-01"),
        ("2024-01-20 09:00", "last winter", "2022-12-01", "2023-03-01"),
        ("2024-01-20 09:00", "this winter", "2023-12-01", "2024-03-01"),
        ("2024-05-19 23:59", "last weekend", "2024-05-11", "2024-05-13"),  # a Sunday: its weekend is not over
        ("2024-05-19 23:59", "this weekend", "2024-05-18", "2024-05-20"),
        ("2024-05-20 00:00", "上周", "2024-05-13", "2024-05-20"),
        ("2024-05-20 00:00", "last Sunday", "2024-05-19", "2024-05-20"),
        ("2023-03-01 10:00", "on February 29", "2020-02-29", "2020-03-01"),
        ("2024-03-31 10:00", "a month ago", "2024-02-01", "2024-03-01"),
        ("2024-03-31 10:00", "31号", "2024-03-31", "2024-04-01"),
        ("2024-05-01 10:00", "31号", "2024-03-31", "2024-04-01"),  # April has no 31st
        ("2024-01-01 10:00", "上个月", "2023-12-01", "2024-01-01"),
        ("2024-01-01 00:00", "昨天", "2023-12-31", "2024-01-01"),
        ("2024-05-15 02:00", "last night", "2024-05-14 18:00", "2024-05-15 04:00"),
    ],
)
def test_the_reference_decides(now: str, text: str, start: str, end: str) -> None:
    reference = at(now)
    assert reference is not None
    span = only(text, reference)
    assert (span.start, span.end) == (at(start), at(end))
