"""The shapes of values in English and Chinese, as one regular expression.

Every alternative is a named group; the name tells `values.read_value` how to read the match (a digit behind it only
keeps the names apart). Each list starts from what the first character can be, so that most words fail at once.
"""

from __future__ import annotations

_MONTH = r"(?:[Jj]an(?:uary)?|[Ff]eb(?:ruary)?|[Mm]ar(?:ch)?|[Aa]pr(?:il)?|[Mm]ay|[Jj]une?|[Jj]uly?|[Aa]ug(?:ust)?|[Ss]ept?(?:ember)?|[Oo]ct(?:ober)?|[Nn]ov(?:ember)?|[Dd]ec(?:ember)?)"
_SPELT = r"(?:(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?|(?:thir|four|fif|six|seven|eigh|nine)teen|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_HOUR = r"(?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_HAN_DIGIT = "〇零一二两三四五六七八九"
HAN_NUMBER = f"(?:\\d[\\d,]*(?:\\.\\d+)?|[{_HAN_DIGIT}十百千廿卅]+)"
_SPAN_EN = r"(?:milliseconds?|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|fortnights?|months?|years?|yrs?)"
_MEASURE = (
    "(?:年级|楼|层|岁|周岁|厘米|公分|毫米|千克|公升|升(?![级到至为])|毫升|次|句|杯|支|根|块钱|块|元|件|篇|页|行|张|份|道|门|套|辆|栋|步|公斤|斤|公里|平米|平方|米|度|秒钟|秒|分钟|"
    "毫秒|个小时|小时|个钟头|天|个星期|星期(?![一二三四五六日天])|个礼拜|周(?![一二三四五六日年末报会边围])|个月|年|倍|轮|期|版|场|节|组|字|瓶|盒|包|碗|顿|遍|级|折|"
    "人|名|位|台|只|条|本|家|间|个|部|头|棵|匹|艘|架|口|号线)"
)

_PART_OF_DAY = "(?:凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|晚)"
_PAST_HOUR = rf"(?![儿点子的])(?:半|钟|整|[一三]刻|(?:\d{{1,2}}|[{_HAN_DIGIT}十]{{1,3}})分?)?"
_DATE_EN = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}|{_MONTH}\.?\s\d{{1,2}}(?:st|nd|rd|th)?(?![\d:%]))(?![A-Za-z])(?:,?\s(?:19|20)\d\d)?"
_AFTER = "(?:(?<=in )|(?<=by )|(?<=to )|(?<=from )|(?<=till )|(?<=until )|(?<=since )|(?<=of ))"
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
        rf"(?P<telephone>{_CLEAN}\d{{3,}}(?:-\d{{2,}})+{_FINE})",
        rf"(?P<ordinal>{_CLEAN}\d+(?:st|nd|rd|th){_FINE})",
        rf"(?P<number_zh>{_CLEAN}\d[\d,]*(?:\.\d+)?[万亿千百]?{_MEASURE})",
        rf"(?P<number>{_CLEAN}[-−]?[$€£¥￥]?\d+(?:,\d{{3}}(?!\d))*(?:\.\d+)?(?:\s?(?:%|[万亿](?:元|块)?|{_SPAN_EN}(?![A-Za-z])|(?:million|thousand|billion|dollars?|euros?|pounds?|yuan|USD|EUR|RMB|percent)(?![A-Za-z]))|[A-Za-z]{{1,4}}{_FINE})?)",
    )
)
_NO_COUNT = r"(?:of|day|thing|more|by|another|can|should|will|is|was|has|had|that|who|which|to|or|and|for|in|on|at|with|from|as|i|you|we|he|she|they|it|the|a|an|my|our)\b"
_FROM_LETTERS = "|".join(
    (
        r"(?P<address>[A-Za-z0-9._+-]++@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)",
        rf"(?P<date_en2>(?=[ADFJMNOSadfjmnos])(?:{_DATE_EN}|{_AFTER}{_MONTH}{_FINE}))",
        rf"(?P<clock_en2>(?:half past|quarter past|quarter to) {_HOUR}{_FINE})",
        rf"(?P<version2>v\d+(?:\.\d+)*{_FINE})",
        rf"(?P<weekday>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?{_FINE})",
        rf"(?P<ordinal2>(?=[efnst])(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth){_FINE})",
        rf"(?P<times>(?=[efnost])(?:once|twice|thrice)(?= (?:an?|per|every|each) )|(?=[efnst]){_SPELT} times{_FINE})",
        rf"(?P<spelt>(?=[efnst]){_SPELT}(?:\s{_SPAN_EN})?{_FINE}|(?<=only )one{_FINE}|(?<=just )one{_FINE}|one(?= (?!{_NO_COUNT})[a-z]))",
        rf"(?P<rate_en>(?:every|each) (?:hour|day|night|week|month|year|minute|second){_FINE}|(?:hourly|daily|nightly|weekly|monthly|quarterly|yearly|annually){_FINE})",
        rf"(?P<one>half an hour{_FINE}|(?:an?|one) (?:hour|day|week|fortnight|month|year){_FINE})",
        r"(?P<code>[A-Za-z]{1,12}-?\d+(?:\.\d+)*(?![A-Za-z0-9_/]|[.-][A-Za-z0-9_]))",
    )
)
_FROM_HAN = "|".join(
    (
        rf"(?P<date_zh2>(?:[{_HAN_DIGIT}]{{4}}年)?[一二三四五六七八九十]{{1,2}}月(?:份|(?:\d{{1,2}}|[一二三四五六七八九十廿]{{1,3}})[日号]?)?|[一二三四五六七八九十廿]{{1,3}}[日号](?![楼线机店馆桌房门院公]))",
        rf"(?P<clock_zh2>(?:{_PART_OF_DAY}(?=[\d{_HAN_DIGIT}十]))?(?:\d{{1,2}}|[一二两三四五六七八九十]{{1,3}})点{_PAST_HOUR})",
        r"(?P<weekday2>(?:周|星期|礼拜)[一二三四五六日天](?![早起]))",
        rf"(?P<ordinal3>第(?:\d+|[{_HAN_DIGIT}十百]+)(?:{_MEASURE})?)",
        r"(?P<only_zh>(?<=[只要仅剩])一[个名位台人])",
        rf"(?P<number_zh2>百分之{HAN_NUMBER}|[{_HAN_DIGIT}十百千廿卅]+[万亿千百]?(?:{_MEASURE}|(?<=[万亿])(?![一二三四五六七八九])))",
        r"(?P<rate_zh>每个?(?:天|晚|月|年|小时|分钟|秒)|每个?(?:周|星期)(?![一二三四五六日天](?!次|个)))",
        rf"(?P<plain_zh>(?:[一二三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九][百千万][{_HAN_DIGIT}十百]*)(?=[，。；！？,.\s]|$|了))",
    )
)
HAN_VALUE = rf"(?=[第每百凌清早上中下傍晚周星礼{_HAN_DIGIT}十千廿卅])(?:{_FROM_HAN})"
VALUE = rf"(?=[\d$€£¥￥]|[-−]\d)(?:{_FROM_DIGITS})|(?=[A-Za-z])(?:{_FROM_LETTERS})|{HAN_VALUE}"
"""One alternative for each kind of value; the name of the group that matched goes to `read_value`."""
