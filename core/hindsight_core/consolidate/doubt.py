"""When in doubt, both stay: signs that two alike statements are about two things rather than one that changed.

Superseding hides a memory, so a wrong one costs more than a missed one. These signs are read off the two texts as they
stand, whatever their grammar, and speak only against.
"""

from __future__ import annotations

import re
from itertools import takewhile

from hindsight_core.consolidate.lazy import Lazy
from hindsight_core.consolidate.lexicon import COPULAS, PREPOSITIONS, STATIVE, word_set
from hindsight_core.consolidate.same import opposed
from hindsight_core.consolidate.statement import Statement
from hindsight_core.consolidate.values import Value

_HAN = "\u3400"

_TOKEN = Lazy(r"[A-Za-z]+(?:'[a-z]+)?|\d+(?:[.,:]\d+)*|[\u4e00-\u9fff]|[^\s\w]")
_REQUEST = Lazy(
    r"^\W*(?:please\b|(?:can|could|would|will) you\b|translate\b|remind me\b|book\b|请(?![假求教客])|帮我|帮忙|麻烦|给我(?!的))",
    re.IGNORECASE,
)
_STANDING = Lazy(
    r"\b(?:never|always|from now on|any ?more|every|whenever|when you|use|write|answer|reply|respond|call me|address|keep|speak|talk|"
    r"explain|format|show|prefer|text me|email me|notify|don't|do not|stop)\b|以后|总是|永远|每次|不要|别|今后|回[答复]|[称叫]|用|写|显示|简|详",
    re.IGNORECASE,
)
_OCCASION = Lazy(r"\b(?:this|that|the following|these)\b|这|那|翻译", re.IGNORECASE)
"""A request on one occasion, although its verb could be that of a standing one: "please write this in French"."""
_INSTEAD = Lazy(r"\bfrom now on\b|\binstead of\b|以后|今后|往后", re.IGNORECASE)
_FEW = 8
_FORMERLY = Lazy(
    r"\bused to\b|\bformerly\b|\bback then\b|\bonce (?:lived|worked)\b|\bbefore that\b|\b(?:years|months) ago\b|\bback in\b|"
    r"^in (?:19|20)\d\d\b|以前|曾经|从前|原先|原来(?!是)|[\d一二三四五六七八九十]年前|当年|我们?(?:19|20)\d\d年",
    re.IGNORECASE,
)
_LONG_AGO = Lazy(
    r"\bas a child\b|\bwhen (?:i|we) (?:was|were) (?:a child|kids|little|young)\b|小时候", re.IGNORECASE
)
_FORMER_THING = Lazy(
    r"\b(?:(?<!years )(?<!year )(?<!months )old|former|previous|last (?:year|month|week|term|season)'?s?)\b|旧|去年|前年|上个?[月周]|上学期",
    re.IGNORECASE,
)
_OTHER = Lazy(
    r"^(?:the|my|our) (?:other|second|next) |^另外?一?[个套间辆台条]|^第二[个套间辆台条]", re.IGNORECASE
)
_NOW = Lazy(
    r"\bnow\b|\bno longer\b|\bany ?more\b|\binstead\b|\bthese days\b|现在|不再|如今|改|了(?:[，。,！!]|$)",
    re.IGNORECASE,
)
_DEICTIC = Lazy(
    r"\b(?:today|yesterday|tonight|last night|this (?:morning|afternoon|evening))\b|今天|昨天|前天|今早|今晚|昨晚",
    re.IGNORECASE,
)
_PREDICATE = (
    COPULAS
    | PREPOSITIONS
    | STATIVE
    | word_set(
        "been being 's 're had = : listens weighs 改 换 有 叫 住 ： 需 要 坐 重 花 设 升 延 推 挪 调 搬"
    )
)
_SMALL, _TITLE_WORDS = 3, 3
"""What has fewer words of more letters could be a sentence about somebody: "Ann got Marlin"."""
_AGAIN = Lazy(r"\bagain\b|再(?:说|发|问|来)", re.IGNORECASE)


def doubtful(later: Statement, earlier: Statement) -> bool:
    """Whether `earlier` had better stay, although `later` seems to give it another value."""
    texts = later.text, earlier.text
    if not _INSTEAD.search(later.text) and any(
        _REQUEST.search(text) and (_OCCASION.search(text) or not _STANDING.search(text)) for text in texts
    ):
        return True
    if any(_LONG_AGO.search(text) or (_FORMERLY.search(text) and not _NOW.search(text)) for text in texts):
        return True
    if _FORMER_THING.search(earlier.text) and not _FORMER_THING.search(later.text):
        return True
    if _OTHER.search(later.text) and not _OTHER.search(earlier.text):
        return True
    if all(map(_titled, texts)):
        return True
    days = [{day.casefold() for day in _DEICTIC.findall(text)} for text in texts]
    if days[0] and days[1] and days[0] != days[1]:
        return True
    one = [token.casefold() for token in _TOKEN.findall(later.text)]
    if (
        _AGAIN.search(later.text)
        and len(one) <= _FEW
        and not _PREDICATE & set(one)
        and not any("v" in fact.clauses[0].kinds for fact in later.facts)
    ):
        return True
    numbers = [_NUMBER_HAN.match(text) for text in texts]
    if numbers[0] and numbers[1] and numbers[0][0] != numbers[1][0]:
        return True
    return _labels_differ(later, earlier) or _subjects_differ(later, earlier)


def _titled(text: str) -> bool:
    """Whether a text begins as a title does, with capitals and without a verb: "Index by Subject, 1969" names a thing."""
    words = text.split(". ", 1)[0].split()
    weighty = [word for word in words if len(word) > _SMALL and word not in PREPOSITIONS]
    capitals = all(word.lstrip('("“')[:1].isupper() or not word.isalpha() for word in weighty)
    return len(weighty) >= _TITLE_WORDS and capitals and COPULAS.isdisjoint(words) and text[0] < _HAN


_NUMBER_HAN = Lazy(r"(?:\d+|[一二三四五六七八九十]+) ?(?:[号期路栋](?=[\u4e00-\u9fff])|月份?的)")
_SIDE = Lazy(
    r"^[\s“\"「]*[\u4e00-\u9fffA-Za-z0-9_-]{2,10}? ?的 ?(?P<what>[\u4e00-\u9fffA-Za-z_]{2,8}?) ?(?=现在|已|是|在|用|改|换|搬|要|将|从|升|为|叫|由|归|\d)"
)
_OWNER = Lazy(r"[“\"「]?(?P<who>[\u4e00-\u9fffA-Za-z0-9_-]{2,10}?) ?的 ?(?=[\u4e00-\u9fffA-Za-z])")
_PRONOUN = Lazy("我|你|您|他|她|它|咱|大家|这|那|今|明|昨|以后|现在|目前|最近|请")
_OF = Lazy(r"the (?P<what>[a-z]+)(?: [a-z]+)? of (?P<who>[A-Z][\w-]+)", re.IGNORECASE)
_PERSONAL = word_set(
    "i my me mine we our us he she it they his her their its this that there 我 我们 你 您 他 她 它 咱们"
)


def _subjects_differ(later: Statement, earlier: Statement) -> bool:
    """Whether both begin by naming what they are about, and name different things, or different sides of one thing."""
    new, old = _SIDE.match(later.text), _SIDE.match(earlier.text)
    if new and old and new["what"] not in earlier.text and old["what"] not in later.text:
        return True
    if _owners_differ(later.text, earlier.text):
        return True
    if not opposed(later.ends, earlier.ends) and _slot_left_out(later.text, earlier.text):
        return True
    if not later.facts or not earlier.facts:
        return False
    one, two = (statement.facts[0].clauses[0] for statement in (later, earlier))
    if _PERSONAL & {*one.words[:3], *two.words[:3]}:
        return False
    first, other = (*one.words, "")[0], (*two.words, "")[0]
    named = one.kinds[:1] == two.kinds[:1] == "n" and first >= _HAN and other >= _HAN
    if named and first not in earlier.text and other not in later.text:
        return True
    return _unmet(later, earlier) and _unmet(earlier, later)


def _owners_differ(later: str, earlier: str) -> bool:
    """Whether two begin with different owners: 白山引擎的日志, 桥白服务的日志."""
    new, old = _OWNER.match(later), _OWNER.match(earlier)
    if new is None or old is None or _PRONOUN.match(later) or _PRONOUN.match(earlier):
        return False
    return new["who"] not in earlier and old["who"] not in later


def _slot_left_out(later: str, earlier: str) -> bool:
    """Whether the later text speaks of the same owner and not of the slot: the birthday of Ann, and Ann has moved."""
    old = _OF.match(earlier)
    if old is not None:
        words = later.casefold()
        return old["who"].casefold() in words and old["what"].casefold()[:5] not in words
    old = _OWNER.match(earlier)
    if old is None or _PRONOUN.match(earlier) or _OWNER.match(later):
        return False
    return old["who"] in later and earlier[old.end() : old.end() + 2] not in later


def _unmet(one: Statement, other: Statement) -> bool:
    """Whether a statement says what it is about, and nothing of it is in the other."""
    subject = frozenset().union(*(clause.subject for fact in one.facts for clause in fact.clauses))
    return bool(subject) and not any(
        key in other.keys or (key >= _HAN and key in other.text) for key in subject
    )


def _labels_differ(later: Statement, earlier: Statement) -> bool:
    """Whether what differs first is a number or letter that names the subject: invoice 1021 / 1022, 会议室A / 会议室B.

    A number before the predicate tells which one is meant; behind one ("the port is 7421"), or at the end, it is what is said.
    """
    if not later.facts or not earlier.facts:
        return False
    new, old = later.facts[0].clauses[0], earlier.facts[0].clauses[0]
    pairs = zip(new.atoms, old.atoms, strict=False)
    place = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    if place >= min(len(new.atoms), len(old.atoms)) or not set("v=p").isdisjoint(old.kinds[:place]):
        return False
    behind = old.kinds[place + 1 : place + 2]
    if set(old.kinds[place + 1 :]).isdisjoint("v=kna"):
        return False
    return all(_is_label(clause.atoms[place], behind in ("v", "=")) for clause in (new, old))


_NUMBERED = frozenset(["", "号", "版", "期", "章", "条", "路", "栋", "班", "届", "号线", "单元"])


def _is_label(atom: str | Value, alone: bool) -> bool:
    """Whether a number names what it stands behind; `alone`: the predicate follows at once."""
    if isinstance(atom, Value):
        if atom.kind != "count":
            return atom.kind in ("ordinal", "code", "version", "year")
        return (
            atom.unit in _NUMBERED
            or (alone and atom.unit.isascii())
            or (isinstance(atom.amount, float) and 1900 <= atom.amount <= 2100)
        )
    return atom == "one" or (len(atom) == 1 and atom.isascii() and atom.isalnum() and atom != "i")
