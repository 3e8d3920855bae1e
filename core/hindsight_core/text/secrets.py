"""Secrets never reach the store: keys, tokens and passwords become visible placeholders such as `[redacted:password]`.

Two kinds of evidence. Some secrets have a *shape* that nothing else has (`ghp_...`, `AKIA...`, a JSON web token, a PEM
block, the password in `scheme://user:password@host`). The others are *told*: a label (password, token, 密码, 口令), a
link (":", "=", "is", 是, 改成) and a value. A told value must look like one: "the password is wrong" stays as it is.

Why not `detect-secrets`, the well-kept detector: it is made for source code. Measured (1.5.0): 1.3 ms for one line of
prose (here: under 0.02 ms), no Chinese, values only in quotes or after "=", no password in a sentence, offsets not
reported; and it brings `requests` and `PyYAML`. The shapes it knows are public facts, checked against the issuers'
documentation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Redaction:
    """A text without its secrets.

    Attributes:
        text: The text; everything but the secrets is unchanged.
        found: What kinds of secrets were in it, in order: "api-key", "token", "password", "private-key", "code".
    """

    text: str
    found: tuple[str, ...]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SHAPES = re.compile(
    r"""
      (?P<private_key>-----BEGIN\ [A-Z ]{0,20}PRIVATE\ KEY(?:\ BLOCK)?-----.*?(?:-----END\ [A-Z ]{0,20}PRIVATE\ KEY(?:\ BLOCK)?-----|\Z))
    | (?<![A-Za-z0-9_-])(?:
        (?P<api_key>
            sk-(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{12,}
          | [spr]k_(?:live|test)_[A-Za-z0-9]{10,}
          | whsec_[A-Za-z0-9+/=]{16,}
          | (?:AKIA|ASIA|AROA)[A-Z0-9]{16}(?![A-Z0-9])
          | LTAI[A-Za-z0-9]{12,24} | AKID[A-Za-z0-9]{16,40}
          | AIza[A-Za-z0-9_-]{30,40}
          | gsk_[A-Za-z0-9]{20,} | xai-[A-Za-z0-9]{20,} | pplx-[A-Za-z0-9]{20,} | tvly-[A-Za-z0-9-]{16,} | r8_[A-Za-z0-9]{30,}
          | SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}
          | key-[0-9a-f]{32}
        )
      | (?P<token>
            gh[pousr]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,} | gl(?:pat|ptt|dt|rt)-[A-Za-z0-9_-]{16,}
          | xox[abeoprs]-(?=[A-Za-z-]*\d)[A-Za-z0-9-]{10,} | xapp-\d-[A-Za-z0-9-]{10,}
          | hf_[A-Za-z0-9]{20,} | npm_[A-Za-z0-9]{30,} | pypi-[A-Za-z0-9_-]{40,} | dop_v1_[0-9a-f]{32,} | hvs\.[A-Za-z0-9_-]{20,}
          | ya29\.[A-Za-z0-9_-]{20,}
          | eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}
          | \d{8,10}:AA[A-Za-z0-9_-]{30,}
          | (?i:bearer)\s+(?=[A-Za-z._~+/=-]*\d)(?P<bearer>[A-Za-z0-9._~+/=-]{16,})
          | (?i:authorization:\s*basic)\s+(?P<basic>[A-Za-z0-9+/=]{8,})
        )
      | https://hooks\.slack\.com/services/(?P<hook>[A-Za-z0-9/]{20,})
      | (?P<url>[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@"'<>]{0,64}:(?P<password>[^\s/"'<>]{1,200})@(?=[A-Za-z0-9.\[-]))
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_INNER_GROUPS = (("password", "password"), ("bearer", "token"), ("basic", "password"), ("hook", "token"))
_OUTER_GROUPS = (("private_key", "private-key"), ("api_key", "api-key"), ("token", "token"))

_PASSWORD = r"pass(?:word|wd|phrase|code)|pwd|pw|密码|口令|暗号|(?:提取|门禁|解锁|开机|通行|登录)码"
_TOKEN = r"(?:access|auth|refresh|bearer|session|bot|api|personal access)?[ _-]?token|(?:访问|接口)?令牌"
_KEY = r"(?:api|access|secret|private|encryption|signing|master)[ _-]?(?:access[ _-]?)?key|(?:client|app|shared)?[ _-]?secret|(?:API|api)?\s?[密秘]钥"
_SHORT = r"pass(?:[ -]?key)?"
"""Says a password only beside an account, and only of a value that is no word: passes are for trains and mountains, too."""
_CODE = r"PIN(?: code| number)?|(?i:pin code|one[- ]time (?:code|password)|verification code|otp)|(?:短信|手机)?验证码"
_LABEL = rf"(?<!\[redacted:)(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z])|(?=[\u4e00-\u9fff]))(?:(?P<password>(?i:{_PASSWORD}))|(?P<token>(?i:{_TOKEN}))|(?P<key>(?i:{_KEY}))|(?P<code>{_CODE})|(?P<short>(?i:{_SHORT})))(?:(?![A-Za-z_])|(?<=[\u4e00-\u9fff]))"
_TOLD = re.compile(
    rf"""
    {_LABEL}
    (?P<scope>\s(?:(?:for|of|on|at)\s(?:the\s|my\s|our\s)?|to\s(?:the|my|our)\s)[\w.-]{{1,40}}(?:\s[\w.-]{{1,40}})??|\s?[(（][^()（）\n]{{1,40}}[)）])?
    (?P<aside>\s(?:I|we|you|he|she|they)\s\w{{2,8}}|,\s?[^,.\n]{{1,30}},|[，,]|的话)?
    (?P<quote>(?:["`”]|['’](?!s\s))?)
    (?:
        (?P<assigned>\s{{0,3}}(?:=>|:=|==?|[:：＝])\s{{0,3}})
      | (?P<stated>\s+(?:is|was|are|it['’]s|will(?:\s\w+)?\ be)(?:\s(?:now|still|set\ to))?:?\s+|['’]s\s+|\s?(?:现在|目前|仍然|还|就|一直|用的|设的)?(?:是|为)\s?[:：]?\s?)
      | (?P<changed>\s+(?:(?:has\ been|was|is)\s)?(?:changed\ |set\ |reset\ |updated\ )?to\s+|\s?(?:已经?)?(?:改|换|设|设置|更新|重置|变更?)(?:成|为|到)了?\s?)
      | (?P<beside>(?(scope)(?!)|\s?))
    )
    (?:(?P<open>["'`“‘「])(?P<quoted>[^"'`”’」\n]{{1,200}})["'`”’」]|(?P<value>[^\s"'`“”‘’，。；、！？）》<>]{{1,200}}))
    """,
    re.VERBOSE,
)
_REVERSED = re.compile(
    rf"(?<![^\s“\"'`])(?P<value>[!-~]{{4,100}})\s?(?:\s(?:is|as)\s(?:my|the|our|your|his|her|"
    rf"their)\s(?:[\w-]+\s){{0,2}}(?:{_PASSWORD})(?![A-Za-z])|(?:作为|当作?|做|是)(?:[\w]{{0,6}}的)?(?:密码|口令))",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"(?:(?<![A-Za-z])(?:(?P<login>log-?ins?)|credentials?|log-?in\sdetails)\s?(?:\s(?:is|are)\s|:)"
    r"|(?:[账帐]号|用户名?)(?:和|及|与|、)?密码\s?(?:分别)?[是为:：])"
    r"\s?[\w.@-]{1,40}?(?:\s?[/:|]\s?|(?(login)(?!)|(?:\s?[,，、和]\s?|\sand\s)))(?P<value>[!-~]{6,100})",
    re.IGNORECASE,
)
_ACCOUNT = re.compile(
    r"(?:(?<![A-Za-z])(?:admin|root|user|log-?in|account|db|database|server|router|wi-?fi|wlan|e?-?mail|ssh|s?ftp|vpn|master|unlock|"
    r"sudo|my|our|your|his|her|their|new|old|temporary)[\s_.-]?|=[^\s=]{1,40}\s|[\u4e00-\u9fff]\s?)$",
    re.IGNORECASE,
)
"""What stands before "pass" where an account is spoken of."""
_LISTED = re.compile(r"(?:^|[,;/|&?{(\n\"'，；、])\s?$")
"""What stands before "pass" in a list of a name and its password."""
_DATED = re.compile(r"v?\d[\d.,:/-]*[A-Za-z%°]{0,4}|.*[/\\].*")
_PARAMETER = re.compile(
    r"[?&;](?:api[_-]?key|key|access[_-]?token|token|secret|sig|signature|password|pwd|"
    r"auth)=(?P<value>[^&\s\"'<>#，。]{6,400})",
    re.IGNORECASE,
)
_AFTER_ASCII = re.compile(r"[^!-~].*", re.DOTALL)
_LABEL_ALONE = re.compile(
    rf"(?:.*[_\W])?(?:{_PASSWORD}|{_TOKEN}|{_KEY}|pin|otp|credentials?|authorization)", re.IGNORECASE
)

_TRIGGERS = _words(
    """
    pass pwd pw credential login log-in 用户 账号 帐号 提取码 门禁码 解锁码 开机码 通行码 登录码 token secret key pin otp one-time verification bearer basic 密码 口令 暗号 密钥 秘钥 令牌 验证码
    sk- sk_ pk_ rk_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat glpat- glptt- gldt- glrt- xox xapp- hf_ npm_ pypi- dop_ hvs. ya29. eyj
    akia asia aroa ltai akid aiza gsk_ xai- pplx- tvly- r8_ sg. whsec_ hooks.slack :// :aa -----begin
    """
)
_NO_VALUE = _words(
    """
    required optional wrong incorrect invalid expired missing empty blank hidden unknown secret safe secure strong weak short long
    the a an my your our his her their this that it not no none null nil true false undefined changed updated reset set stored saved
    same different correct ok okay fine good bad ready needed necessary in on at by for with to from and or but too very so also
    what which where when why how who always never still now here there string text value password token key field input
    protected encrypted hashed visible shared public private available working broken lost forgotten compromised leaked case-sensitive
    only just about something anything nothing everything easy hard simple complex complicated random default temporary permanent
    """
)
_NO_VALUE_ENDING = ("ed", "ing", "able", "ible", "ly", "ful")
_NO_VALUE_CHINESE = re.compile(
    r"[请每忘什多少哪谁不没错正一必空我你他她它这那由用需要在很太被存保加啥吗呢吧的了过对和与或及如随默强弱安随相同长短]|[0-9一二两三四五六七八九十]+[位个天年月次种]"
)
_PLACEHOLDER = re.compile(
    r"\[redacted|<.*|\$\{?\w.*|\{+.*|%\w+%?|\*+|[xX•.·_-]+$|…|your[-_ ]?\w*|my[-_ ]?(?:password|token|key).*|"
    r"example\w*|(?:os|process|self|config|settings|env|args)[.\[].*"
    r"|[\w.]*[\[(].*|changeme\b|placeholder|redacted|none\b|null\b",
    re.IGNORECASE,
)
_LABEL_WORD = re.compile(r"password|passwd|token|secret|api_?key", re.IGNORECASE)
_ENDS_CLAUSE = re.compile(r"\s*(?:[.,;!?)\n，。；！？、）]|$|and\b|but\b|so\b|now\b)")
_KINDS = {"password": "password", "token": "token", "key": "api-key", "code": "code", "short": "password"}


def redact(text: str) -> Redaction:
    """The text with every secret replaced by `[redacted:KIND]`; the rest, byte for byte, as it was."""
    folded = text.lower()
    if not any(trigger in folded for trigger in _TRIGGERS):
        return Redaction(text, ())
    parts: list[str] = []
    kinds: list[str] = []
    end = 0
    spans = (*_shaped(text), *_told(text))
    for start, stop, kind in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= end:
            parts += (text[end:start], f"[redacted:{kind}]")
            kinds.append(kind)
        end = max(end, stop)
    return Redaction("".join((*parts, text[end:])), tuple(kinds))


def redact_json(value: Any) -> Any:
    """A JSON value with the secrets in its strings replaced; what stands under a key such as "api_key" is one."""
    if isinstance(value, str):
        return redact(value).text
    if isinstance(value, Mapping):
        return {name: _under(name, inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [redact_json(inner) for inner in value]
    return value


def _under(name: object, inner: Any) -> Any:
    if not (isinstance(name, str) and _LABEL_ALONE.fullmatch(name)):
        return redact_json(inner)
    is_password = re.search(rf"{_PASSWORD}|pin|otp", name, re.IGNORECASE) is not None
    if isinstance(inner, int) and not isinstance(inner, bool) and is_password:
        return "[redacted:password]"
    if isinstance(inner, str) and inner and _PLACEHOLDER.match(inner) is None:
        if is_password:
            return "[redacted:password]"
        if " " not in inner and (len(inner) > 11 or _is_mixed(inner, 6)):
            return "[redacted:api-key]" if "key" in name.lower() else "[redacted:token]"
    return redact_json(inner)


def _shaped(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _SHAPES.finditer(text):
        for group, kind in (*_INNER_GROUPS, *_OUTER_GROUPS):
            if match[group] is not None:
                if _PLACEHOLDER.match(match[group]) is None:
                    yield *match.span(group), kind
                break
    for match in _PARAMETER.finditer(text):
        if _is_mixed(match["value"], 6):
            yield *match.span("value"), "token"


def _told(text: str) -> Iterator[tuple[int, int, str]]:
    place = 0
    while (match := _TOLD.search(text, place)) is not None:
        label = next(kind for kind in _KINDS if match[kind] is not None)
        group = "quoted" if match["quoted"] is not None else "value"
        start, end = match.start(group), match.start(group) + len(_trimmed(match[group], group == "quoted"))
        in_query = text[max(0, match.start() - 1) : match.start()] in ("?", "&")  # see _PARAMETER
        if not in_query and _is_value(text, match, label, text[start:end], end):
            yield start, end, _KINDS[label]
            place = end
        else:
            place = max(match.end(label), place + 1)
    for match in _PAIR.finditer(text):
        value = _trimmed(match["value"], False)
        if _is_said(value) and _LABEL_WORD.search(value) is None:
            yield match.start("value"), match.start("value") + len(value), "password"
    for match in _REVERSED.finditer(text):
        if _is_mixed(match["value"], 4) and _PLACEHOLDER.match(match["value"]) is None:
            yield *match.span("value"), "password"


def _trimmed(value: str, quoted: bool) -> str:
    if quoted:
        return value
    if value[0].isascii():
        value = _AFTER_ASCII.sub("", value)
    return value.rstrip(".,;:?!)]}|") or value


def _is_value(text: str, match: re.Match[str], label: str, value: str, end: int) -> bool:
    """Whether what follows a label is a secret rather than the rest of a sentence."""
    folded = value.lower()
    if _PLACEHOLDER.match(value) is not None or folded in _NO_VALUE:
        return False
    if label == "code":
        return re.fullmatch(r"\d{4,8}", value) is not None
    assigned, beside = match["assigned"], match["beside"] is not None
    if label == "short":
        before = text[max(0, match.start() - 60) : match.start()]
        named = re.search(r"(?i:db|admin|root|user|smtp|ftp|redis|mysql|postgres|pg)_$", before) is not None
        if named and "=" in (assigned or ""):
            return len(value) > 2
        listed = match["stated"] is None and _LISTED.search(before)
        moved = match["changed"] is None or re.search(r"(?i:\b(?:re)?set|chang|updat|[改换设])", before)
        return bool((_ACCOUNT.search(before) or listed) and moved) and _is_said(value)
    if match["aside"] is not None:
        return _is_said(value)
    if _LABEL_WORD.search(value) is not None and not any(map(str.isdigit, value)):
        return False  # password=user_password
    if label != "password":
        least = 6 if assigned is not None else 10 if beside else 8
        return " " not in value and (_is_mixed(value, least) or (assigned is not None and len(value) > 19))
    if beside:
        return (_is_mixed(value, 6) and any(map(str.isdigit, value))) or (
            not match[label].isascii() and re.fullmatch(r"\d{4,12}", value) is not None
        )
    if _is_mixed(value, 4) or re.fullmatch(r"\d{4,20}", value) is not None:
        return True
    if match["quoted"] is not None or "=" in (assigned or ""):
        return len(value) > 2
    if match["changed"] is not None or _ENDS_CLAUSE.match(text, end) is None:
        return False
    if value.isascii():
        return len(value) > 4 and value.isalpha() and not folded.endswith(_NO_VALUE_ENDING)
    return 1 < len(value) < 13 and "的" not in value and _NO_VALUE_CHINESE.match(value) is None


def _is_said(value: str) -> bool:
    """Whether a value that little else speaks for looks like a password: long and mixed, and no date, size or path."""
    return _is_mixed(value, 6) and any(map(str.isalpha, value)) and _DATED.fullmatch(value) is None


def _is_mixed(value: str, least: int) -> bool:
    """Whether a value is no word: it has digits among letters or signs, or signs among upper and lower case."""
    value = value.strip("*_")  # bold type
    if len(value) < least or " " in value:
        return False
    digits = any(map(str.isdigit, value))
    letters = any(map(str.isalpha, value))
    cased = value.lower() != value and value.upper() != value
    return (digits and letters) or (any(sign in value for sign in "!@#$%^&*+~_") and (cased or digits))
