"""Time expressions of Chinese, as rules over text with simplified characters and plain digits.

Chinese writes no spaces, so every rule says what must not stand around it: 三个月 is a duration and 三个月前 a time,
一点 is an hour in 下午一点 and "a bit" in 有一点, 后天 is a day in 后天见 and "acquired" in 后天性.
"""

from __future__ import annotations

import re
from datetime import datetime

from hindsight_core.text.times import readers
from hindsight_core.text.times.calendar import Window
from hindsight_core.text.times.grammar import ANY, Atom, Determiner, Rules, before, fixed
from hindsight_core.text.times.holidays import CHINESE_HOLIDAYS
from hindsight_core.text.times.numerals import (
    CHINESE_NUMBER,
    CHINESE_NUMERAL,
    Count,
    chinese_count,
    chinese_integer,
)
from hindsight_core.text.times.readers import Reader

# How a time can begin. Trying all rules at every character would cost three times as much as asking this first; a
# rule that begins in another way must be added here.
_N = "0-9零〇一二两三四五六七八九十廿卅百几数半"
_OPENINGS = (
    rf"[{_N}]{{1,5}}[多个]{{0,2}}半?[年月日号点时天周星礼小分钟季世\-~至到]|好[几{_N}]|第[{_N}]|[五六十双][一十1二]|三八|五四|"
    rf"[上下]{{1,2}}一?[个周星礼月世午半旬季]|[本这](?:一?[个周星礼月季世]|[年几两段阵些时{_N}])|"
    rf"[前后近](?:[的几些段阵一不来期日天年早晚儿]|[{_N}])|大[前后]|[去来]年|最近|未来|"
    r"[昨今明][天日年早晚晨夜儿后]|[年月][初底末终中]|(?:周|星期|礼拜)[一二三四五六日天末1-7]|[春夏秋冬][天季]|[寒暑]假|"
    r"(?<=[年月份代纪度日号天一二三四五六末])[的春夏秋冬早晚上中下后末初底这此同]|早[上晨间]|晚[上间]|凌晨|清晨|中午|正午|午[后夜间]|"
    r"傍晚|黄昏|夜[里间晚]|[深半]夜|接下|往后|不久|过去|日前|刚才|元旦|国庆|感恩|儿童|教师|[母父]亲|平安|万圣|圣诞|跨年|愚人|"
    r"劳动|妇女|情人|青年"
)
CHINESE = Rules(
    f"(?={_OPENINGS})",
    first=_N + "上下本这前近大后去来最未昨今明年月周星礼春夏秋冬寒暑的早晚凌清中正午傍黄夜深"
    "接往不过日刚元国感儿教母父平万圣跨愚劳妇情青好第双此同底末初",
)

_NUMBER = rf"(?:\d{{1,2}}|{CHINESE_NUMERAL}{{1,3}})"
_NOT_COUNTED = r"(?<![0-9.:/第每同这那某零〇一二两三四五六七八九十廿卅百千万几数半多])"
_UNITS = {
    "分钟": "minute", "小时": "hour", "钟头": "hour", "天": "day", "日": "day", "周": "week", "星期": "week",
    "礼拜": "week", "月": "month", "季度": "quarter", "年": "year", "世纪": "century",
}  # fmt: skip
_AMOUNT = (
    rf"(?P<count>{CHINESE_NUMBER})多?(?P<of>个)?(?:(?P<half>半)|多)?"
    r"(?P<unit>分钟|小时|钟头|天(?![气空性才赋])|日(?=[前后内以之来])|周(?![年岁边围期末])|星期|礼拜|月|季度|年(?![级代龄])|世纪)"
    r"(?:(?P<half_more>半)|多)?"
)
_DAYS = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
_YEARS = {**_DAYS, "去": -1, "本": 0}
_OFFSETS = {"上上": -2, "上": -1, "本": 0, "这": 0, "下": 1, "下下": 2}
_DETERMINER = re.compile(
    r"(?:(?<![早晚马路线身海网世以之一楼])(?P<up>上上?)|(?<![一以之楼线私如余地天])(?P<down>下下?)|本|这)一?个?$"
)
_WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
# 上周一起去 is "together, last week", not "from Monday on".
_WEEKDAY = (
    r"(?:一(?!共|直(?!播)|起(?!床)|下(?!午)|[个次样般些边定切整路家位名场顿])|[二三四五六](?![个次种件场趟位名条])|"
    r"日(?![记报期常子])|天(?![气空])|[1-7](?![\d.天次个]))"
)
# What makes 三号 the number of a thing, and 5日 a length of time.
_NUMBERED = "楼线门馆院厅店桌位机车床房室井球坑文电选站台库仓柜舱厂区路教场出入口码字公段商令称召汽"
_AFTER_DAYS = "本元游均线常记子程志"
_PAUSE = ("", *"，。；：！？、,.;:!? \n“（(我你他她们在将要于约过就再")
_WHOLE = tuple("年月季周期的")
_WEEK = r"(?:周|星期|礼拜)"

_VAGUE: tuple[tuple[str, Reader], ...] = (
    (
        r"最近(?:这?段时间|这?阵子|这些[天日]子?)?(?!的?一[次回家个篇条]|的?[^，。,\s]{0,3}[站店院馆场])",
        readers.recently,
    ),
    (r"近来|近期|近日|这段时间|这阵子|日前(?!的)|前不久|不久前", readers.recently),
    (r"近年来?|近些年来?", readers.rolling("year", (10, 10), -1)),
    (r"这些[天日]子?", readers.rolling("day", (14, 14), -1)),
    (r"前些[天日]子?", readers.A_FEW_DAYS_AGO),
    (r"前一?段时间|前一?阵子?", readers.A_WHILE_AGO),
    (r"前些年", readers.away("year", (4, 20), -1)),
    (r"刚才", readers.JUST_NOW),
)
_SEASONS: tuple[tuple[str, Reader], ...] = (
    (r"春[天季]|(?<=年)春(?![节游运晚联秋])", readers.season(0)),
    (r"夏[天季]|(?<=年)夏(?![令至])", readers.season(1)),
    (r"秋[天季]|(?<=年)秋(?![分裤])", readers.season(2)),
    (r"冬[天季]|(?<=年)冬(?![奥至眠])", readers.season(3)),
    (r"暑假", readers.month(7, 8)),
    (r"寒假", readers.month(1, 2)),
)
_PARTS: tuple[tuple[str, str], ...] = (
    (r"凌晨", "dawn"),
    (r"清晨|早晨|早上|早间|上午|(?<=[日号天一二三四五六末])早(?![已就在期点饭餐])", "morning"),
    (r"中午|正午|午间", "noon"),
    (r"下午|午后", "afternoon"),
    (r"傍晚|黄昏", "evening"),
    (
        r"晚上|晚间|夜里|夜间|深夜|半夜|午夜|夜晚|(?<=[日号天一二三四五六末])晚(?![期年辈婚会安饭餐宴霞报])",
        "night",
    ),
)
_NEAR_PARTS = {"早": "morning", "晨": "morning", "晚": "night", "夜": "night"}
_EDGES = {
    "初": "start", "上旬": "early", "早期": "early", "中": "mid", "中旬": "mid", "中期": "mid", "底": "end",
    "末": "end", "终": "end", "下旬": "late", "后期": "late", "末期": "late",
}  # fmt: skip


def _choice(options: tuple[tuple[str, object], ...]) -> str:
    """One pattern for a table, its rows as groups x0, x1, ..."""
    return "|".join(f"(?P<x{i}>{pattern})" for i, (pattern, _) in enumerate(options))


def _row(match: re.Match[str]) -> int:
    return int((match.lastgroup or "x0")[1:])


def _recurring(match: re.Match[str], grain: str, cycle: str, read: Reader, *, alone: bool = True) -> Atom:
    """An atom together with the determiner before it; one that is not `alone` by itself is so with it."""
    begin, which = match.start(), None
    found = _DETERMINER.search(match.string, max(0, begin - 5), begin)
    if found:
        begin, which = found.start(), _which(found, cycle)
    return Atom(begin, match.end(), grain, read, cycle, alone=alone or found is not None, which=which)


def _which(found: re.Match[str], cycle: str) -> Determiner:
    """上周三 is the Wednesday of last week, but 上个夏天 the last summer that is over."""
    if cycle == "week":
        return len(found["down"] or "") - len(found["up"] or "")
    return "last" if found["up"] else "next" if found["down"] else "this"


def _amount(match: re.Match[str]) -> tuple[str, Count] | None:
    """The unit and how many of it; None when the number is no count (2020年前) or the unit a name (三月)."""
    count, grain = chinese_count(match["count"]), _UNITS[match["unit"]]
    if count is None or (grain == "year" and count[0] >= 2000):
        return None
    if match["unit"] == "月" and not match["of"] and match["count"] not in ("数", "半"):
        return None
    if match["unit"] == "日" and match["count"].isdecimal():
        return None
    halves = 1 if match["half"] or match["half_more"] else 0
    odd = 2 if "多" in match[0] else 0  # 三个多月 is between three and four
    return grain, (count[0] + halves, count[1] + halves + odd)


@CHINESE(
    rf"好?{_AMOUNT}(?:(?P<ago>以前|之前|前(?![后夕往]))(?:的?(?P<day>[今昨][天日]))?|"
    r"(?P<later>以后|之后|后(?!悔|天(?!气)))|"
    r"以来|来(?=[，,。的、\s]|$)|(?P<around>以内|之内|内(?![容部心存在向外地衣人])))"
)
def _counted(match: re.Match[str]) -> Atom | None:
    amount = _amount(match)
    if amount is None:
        return None
    grain, count = amount
    if match["day"]:
        return fixed(match, "day", readers.day_from(grain, -(count[0] // 2), _DAYS[match["day"][0]]))
    if match["ago"]:
        return Atom(*match.span(), grain, readers.away(grain, count, -1), offset=True)
    if match["later"]:
        # 上市三年后 counts from an event, not from now: only after a pause or a person is it said of now.
        alone = before(match, 1) in _PAUSE
        return Atom(
            *match.span(), grain, readers.away(grain, count, 1), alone=alone, onward=True, offset=True
        )
    if before(match, 1) in tuple("后每至"):
        return None
    # 三天内 says neither what was nor what will be: within three days of now.
    return fixed(match, "range", readers.rolling(grain, count, *((-1, 1) if match["around"] else (-1,))))


@CHINESE(
    rf"(?:(?P<back>最近|近|过去)|(?P<ahead>未来|接下来|今后|往后)|(?P<these>这)|(?P<before>前)|(?P<after>后))的?{_AMOUNT}"
    r"(?:以来|之内|以内|之间|来|内|里|间|时间)?"
)
def _rolling(match: re.Match[str]) -> Atom | None:
    amount, once = _amount(match), match["count"] in ("一", "1")
    if amount is None or (match["these"] and once):
        return None  # 这一天 points at a day spoken of before
    grain, count = amount
    if match["after"]:  # only of something: 国庆后三天
        return Atom(*match.span(), "range", readers.away(grain, (2, count[1]), 1), alone=False, offset=True)
    if not match["before"]:
        return fixed(match, "range", readers.rolling(grain, count, 1 if match["ahead"] else -1))
    if match["count"] == "半" or grain == "quarter":
        return None
    # 前一天 needs a day to be before of, and 假期的前三天 are its first days.
    alone = not once and before(match, 1) not in _WHOLE
    return Atom(*match.span(), "range", readers.away(grain, (2, count[1]), -1), alone=alone, offset=True)


@CHINESE(_choice(_VAGUE))
def _vague(match: re.Match[str]) -> Atom | None:
    if re.search(r"离[^，。,]{0,4}$", before(match, 6)):
        return None  # 离家最近 is nearest, not recent
    return fixed(match, "range", _VAGUE[_row(match)][1])


@CHINESE(
    r"(?P<which>大前|(?<![以之目从先年月日周跟眼提房门])前|昨|今|明|大后|(?<![以之然最雨今年月日周])(?<!先天)后)"
    r"(?:天(?!性|赋|晴|空|然|养|培|因素)|日(?!本|子|常)|儿个?)"
)
def _near_day(match: re.Match[str]) -> Atom | None:
    word, after = match[0], match.string[match.end() : match.end() + 2]
    # 目前天气, 说明天气: here 天 belongs to the weather.
    if word in ("前天", "后天", "明天") and after[:1] == "气" and before(match, 1) in tuple("以目之说证声清"):
        return None
    if word in ("前日", "后日", "前儿", "后儿"):
        return None
    return fixed(match, "day", readers.current("day", _DAYS[match["which"]]))


@CHINESE(r"(?P<day>今|昨|前(?!夜)|明)(?P<part>[早晚](?![期年])|[晨夜])上?")
def _near_part(match: re.Match[str]) -> Atom:
    return fixed(match, "part", readers.part_of_day(_DAYS[match["day"]], _NEAR_PARTS[match["part"]]))


@CHINESE(
    r"(?P<which>大前|(?<![以之目从先年月日周提])前|(?<!过)去|今|明|本|(?<![以之然最今年月日周天])后)年度?(?![轻龄纪货])"
)
def _near_year(match: re.Match[str]) -> Atom:
    return fixed(match, "year", readers.current("year", _YEARS[match["which"]]))


@CHINESE(
    rf"(?P<which>(?<![早晚马路线身海网世以之一楼])上上?|(?<![一以之楼线私如余地天])下下?|本|这)一?个?"
    rf"(?P<unit>月(?![亮饼球台子经])|{_WEEK}(?![末年岁边围期刊转]|{_WEEKDAY})|季度|世纪)"
)
def _near_unit(match: re.Match[str]) -> Atom:
    grain = _UNITS[match["unit"]]
    return fixed(match, grain, readers.current(grain, _OFFSETS[match["which"]]))


@CHINESE(
    r"(?P<year>\d{4}|[〇零一二三四五六七八九]{4})年(?![级代龄])"
    rf"|(?P<short>\d\d)年(?=(?:\d{{1,2}}|{CHINESE_NUMERAL}{{1,2}})月|[春夏秋冬](?![节奥])|年?[初底末])"
)
def _year(match: re.Match[str]) -> Atom | None:
    if before(match, 1).isdecimal():
        return None
    year = chinese_integer(match["year"] or match["short"])
    if year is None or (match["year"] and not 1000 <= year <= 2999):
        return None
    if match["short"]:
        year += 1900 if year >= 50 else 2000
    return Atom(*match.span(), "year", readers.absolute(year), explicit=True)


@CHINESE(
    rf"{_NOT_COUNTED}(?P<first>{_NUMBER})(?:[-~至到](?P<last>{_NUMBER}))?月份?"
    r"(?![亮饼龄]|[一二两三\d]次|大[的了]|天(?!气))"
)
def _month(match: re.Match[str]) -> Atom | None:
    first, last = chinese_integer(match["first"]), chinese_integer(match["last"]) if match["last"] else None
    if first is None or not 1 <= first <= (last or first) <= 12:
        return None
    return _recurring(match, "range" if last else "month", "year", readers.month(first, last))


@CHINESE(
    rf"{_NOT_COUNTED}(?P<first>{_NUMBER})(?:[-~至到](?P<last>{_NUMBER}))?"
    r"(?:号|(?P<sun>日))"
)
def _day_of_month(match: re.Match[str]) -> Atom | None:
    first, last = chinese_integer(match["first"]), chinese_integer(match["last"]) if match["last"] else None
    if first is None or not 1 <= first <= (last or first) <= 31:
        return None
    tail = match.string[match.end() : match.end() + 1]
    if before(match, 1) != "月" and tail and tail in (_AFTER_DAYS if match["sun"] else _NUMBERED):
        return None
    if match["sun"]:  # 三日 alone may be three days, and 5日内 within five
        alone = match["first"].isdecimal() and tail not in tuple("内前后以之")
    else:  # 神舟十三号 is a name
        alone = before(match, 1) in _PAUSE or before(match, 1) in tuple("到至从自和与跟及是的")
    return Atom(
        *match.span(), "range" if last else "day", readers.day_of_month(first, last), "month", alone=alone
    )


@CHINESE(rf"(?<![一二两三四五六七八九十几每\d]){_WEEK}(?:(?P<day>{_WEEKDAY})|末)(?![丰福围])")
def _weekday(match: re.Match[str]) -> Atom:
    if match["day"] is None:
        return _recurring(match, "weekend", "week", readers.weekend)
    day = match["day"]
    number = int(day) - 1 if day.isdecimal() else _WEEKDAYS[day]
    return _recurring(match, "day", "week", readers.weekday(number))


@CHINESE(_choice(_SEASONS))
def _season(match: re.Match[str]) -> Atom:
    return _recurring(match, "season", "year", _SEASONS[_row(match)][1], alone=False)


@CHINESE(r"第?(?P<number>[一二三四1-4])季度|前三季度")
def _quarter(match: re.Match[str]) -> Atom:
    if match["number"] is None:
        return Atom(*match.span(), "range", readers.month(1, 9), "year")
    return _recurring(match, "quarter", "year", readers.quarter(chinese_integer(match["number"]) or 1))


@CHINESE(r"(?P<which>[上下])半(?P<unit>[年月])")
def _half(match: re.Match[str]) -> Atom:
    if match["unit"] == "年":
        return Atom(*match.span(), "half", readers.half(1 if match["which"] == "上" else 2), "year")
    name = "first half" if match["which"] == "上" else "second half"
    return Atom(*match.span(), "range", readers.piece(name), "month")


@CHINESE(
    rf"{_NOT_COUNTED}(?<!个)(?P<unit>[年月])(?P<edge>初(?![一二三四五六七八九十])|底|末|终(?!奖|总结)|中(?![国央文学间旬]))"
)
def _edge_of_unit(match: re.Match[str]) -> Atom:
    return Atom(
        *match.span(),
        "range",
        readers.piece(_EDGES[match["edge"]]),
        "year" if match["unit"] == "年" else "month",
    )


@CHINESE(
    r"(?<=[年月份代纪度])(?:(?P<edge>[上中下]旬|[早中后末]期|初(?![一二三四五六七八九十级中期始次步])|底(?![部下层薪])|末(?![尾端班日代]))|"
    r"(?P<same>的?(?:这个?时候|这时|此时|同期)))"
)
def _edge(match: re.Match[str]) -> Atom:
    if match["same"]:
        return Atom(*match.span(), "month", readers.same_time, "year", alone=False)
    return Atom(*match.span(), "range", readers.piece(_EDGES[match["edge"]]), ANY, alone=False)


@CHINESE(rf"{_NOT_COUNTED}(?P<number>{_NUMBER})世纪")
def _century(match: re.Match[str]) -> Atom | None:
    number = chinese_integer(match["number"])
    if number is None or not 11 <= number <= 30:
        return None
    return Atom(
        *match.span(), "century", readers.absolute(100 * number - 100, grain="century"), explicit=True
    )


@CHINESE(r"(?P<year>\d{3}0)年代|(?P<decade>[1-9]0|[一二三四五六七八九]?十)年代")
def _decade(match: re.Match[str]) -> Atom:
    if match["year"]:
        return Atom(
            *match.span(), "decade", readers.absolute(int(match["year"]), grain="decade"), explicit=True
        )
    number = chinese_integer(match["decade"]) or 0

    def read(century: Window, now: datetime) -> Window | None:
        return readers.absolute(century.start.year + number, grain="decade")(century, now)

    return Atom(*match.span(), "decade", read, "century")


@CHINESE(_choice(CHINESE_HOLIDAYS))
def _holiday(match: re.Match[str]) -> Atom:
    return _recurring(match, "day", "year", CHINESE_HOLIDAYS[_row(match)][1])


@CHINESE(rf"(?:{_choice(_PARTS)})(?!好)")
def _part(match: re.Match[str]) -> Atom:
    return Atom(*match.span(), "part", readers.part(_PARTS[_row(match)][1]), "day")


@CHINESE(
    rf"{_NOT_COUNTED}(?P<hour>{_NUMBER})(?:(?P<clock>点钟)|点(?![儿点])|时(?![间候代常期段长尚刻区装隔速髦机光不而空差薪效限]))"
    r"(?:(?P<half>半)|(?P<quarter>[一三])刻|(?P<sharp>整)|"
    r"(?P<minute>\d{1,2}|零?[一二三四五六七八九](?=分)|零[一二三四五六七八九]|[二三四五]?十[一二三四五六七八九]?)分?)?"
)
def _clock(match: re.Match[str]) -> Atom | None:
    hour = chinese_integer(match["hour"])
    minute = {"一": 15, "三": 45}.get(match["quarter"]) or (30 if match["half"] else None)
    if match["minute"]:
        minute = chinese_integer(match["minute"])
    if hour is None or hour > 24 or (minute or 0) > 59:
        return None
    sure = minute is not None or match["clock"] or match["sharp"] or (match["hour"].isdecimal() and hour > 12)
    # 昨天一点都不累: without more, one o'clock needs its part of the day.
    if match["hour"] == "一" and not sure and before(match, 1) not in tuple("午晨晚上里夜"):
        return None
    read = readers.clock(hour, minute)
    return Atom(*match.span(), "hour" if minute is None else "minute", read, "day", alone=bool(sure))
