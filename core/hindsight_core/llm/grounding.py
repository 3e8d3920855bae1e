"""Whether what a model says about a text stands in the text.

A model adds, translates, mixes up its texts and gives back its own instructions. What is stored must be made of the
words of the one text it is about: every number and every name of a summary occurs there, most of its other words do, and it
denies nothing that the text does not deny. It is a check of words and knows no paraphrase; what it refuses costs a summary, and the rules have one.
"""

from __future__ import annotations

import re
import unicodedata

from hindsight_core.llm.prompts import language_of
from hindsight_core.text.entities import ASSISTANTS
from hindsight_core.text.keys import normalise_key
from hindsight_core.text.times.numerals import CHINESE_NUMERAL, chinese_integer
from hindsight_core.text.tokens import terms

_SHARE = 0.5
"""Share of the words of a summary that its text must hold."""
_HAN_SHARE = 0.6
"""The same for Chinese characters, of which there are fewer different ones."""

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_HAN_LABELS = re.compile("用户|助手|说话者|对方|表示|提到|认为|希望|自己|他们|她们|[说称的了是在其他她]")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_HAN_NUMBER = re.compile(f"{CHINESE_NUMERAL}+")
_SPELLED = {
    word: str(number)
    for number, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
            "twenty",
        ]
    )
}
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f][\w'\u00c0-\u024f-]*")
_SENTENCE_START = re.compile(r"(?:^|[.!?。！？:：]\s*[\"'(]*)\Z")
_START_WITHIN = 12
"""Characters between the end of a sentence and the next word: blanks and quotation marks; not the whole summary for each word."""
_LABELS = frozenset(
    "user users assistant speaker said say says told asked wants want prefers prefer likes like named called".split()  # noqa: SIM905
)
_CLAUSE_END = re.compile(r"[,;:.!?，；：。！？、\n](?=.)|\b(?:and|but|so|because)\b", re.IGNORECASE)
_NEGATION = re.compile(
    r"n't\b|\b(?:not|no|never|nobody|nothing|none|neither|nor|cannot|without)\b"
    r"|不(?![错过仅但只如同])|没(?!关系|事)|(?<![特分区级类性])别(?![的人墅])|未|并非|无法",
    re.IGNORECASE,
)
_ABOUT_THE_USER = re.compile(r"\bthe user(?:'s|s)?\b|^users?\b|用户", re.IGNORECASE)

_SPEAKS_TO_MODELS = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.!?\n]{0,60}\b(?:instructions?|prompts?|rules|directions|guidelines|"
    r"(?:said|told|written) (?:above|before)|everything above)\b"
    r"|\b(?:system|developer) (?:prompt|message|instructions?)\b|\bnew instructions?\b|\byou are now (?:an?|in|the)\b"
    r"|\b(?:output|respond|reply|answer|emit)\b[^.!?\n]{0,40}(?:\bjson\b|\bthe following\b|\{)"
    r"|\b(?:set|mark|rate|give|assign)\b[^.!?\n]{0,40}\bimportance\b|\b(?:rate|score|grade) this (?:memory|message|turn|text)\b"
    r"|\b(?:override|ignore|bypass)\b[^.!?\n]{0,20}\bschema\b|^\s*system\s*:|\bmemory (?:extractor|summari[sz]er|judge)\b"
    r"|\bwhen(?:ever)? you (?:summari[sz]e|extract|judge|read) (?:this|these|it)\b"
    r"|[\"']?\b(?:importance|memory_type|summary|relations?)\b[\"']?\s*[:=]"
    r"|<\|?/?(?:im_start|im_end|system|assistant|user|instructions?|endoftext)\b|\[/?INST\]|^#+\s*(?:system|instructions?)\b"
    r"|(?:忽略|无视|忘记|忘掉|不要理会|别管|抛弃)[^。！？\n]{0,15}(?:指令|指示|提示|规则|要求|设定|以上|上面|上述|之前的)"
    r"|系统(?:提示|指令|消息)|提示词|新的?指令|(?:你现在是|从现在起你)"
    r"|(?:输出|返回|回复|回答)[^。！？\n]{0,15}(?:json|以下内容|下面的|如下|[{\[])"
    r"|给(?:这|本|该|此)[条段句个]?(?:记忆|消息|话|文本|内容)打|[条个](?:记忆|消息)标[记为成]"
    r"|重要(?:性|度|程度)[^。！？，,\n]{0,6}(?:设[为成]|标[为成]|评[为成]|打\d|打满|改[为成]|调到|[为是=]\s?\d)",
    re.IGNORECASE | re.MULTILINE,
)


def speaks_to_models(text: str) -> bool:
    """Whether a text seems to give orders to a model that reads it.

    Such a text is remembered by the rules, which obey nobody; what is meant honestly loses little by that.
    """
    if not text.isascii():  # letters of other widths, and invisible ones between them
        text = "".join(c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c) != "Cf")
    return _SPEAKS_TO_MODELS.search(text) is not None


def occurs(name: str, text: str) -> bool:
    """Whether a text holds a name, letter by letter but for case, width and spacing."""
    key = normalise_key(name)
    return (
        bool(key)
        and re.search(rf"(?<![a-z0-9]){re.escape(key)}(?![a-z0-9])", normalise_key(text)) is not None
    )


def fault(summary: str, text: str, speaker: str | None) -> str | None:
    """Why a summary cannot be kept, in a few words without its own; None when it can."""
    if normalise_key(speaker or "") in ASSISTANTS and _ABOUT_THE_USER.search(summary):
        return "it makes a fact about the user of what the assistant said"
    if _HAN.search(text) is None and _HAN.search(summary) is not None:
        return "it is in another language"
    if language_of(text) == "zh" and _HAN.search(summary) is None:
        return "it is in another language"
    told = f"{speaker}\n{text}" if speaker else text
    counted = _numbers(told) | _spelled(told) | {"0", "1"}  # "one" and 一 are seldom numbers
    if not _numbers(summary) <= _numbers(told) | _spelled(told) or not _spelled(summary) <= counted:
        return "it holds a number that the text does not"
    if _turned(summary, text):
        return "it says the opposite"
    words = _words(summary)
    known, written = set(terms(told)), normalise_key(told)

    def stands(word: str) -> bool:
        found = terms(word)
        return not found or any(term in known for term in found) or normalise_key(word) in written

    if any(named and not stands(word) for word, named in words):
        return "it holds a name that the text does not"
    plain = [word for word, _ in words if word.casefold() not in _LABELS]
    plain = [word for word in plain if terms(word)]  # function words say nothing
    if plain and sum(map(stands, plain)) < _SHARE * len(plain):
        return "most of its words are not in the text"
    han = _HAN.findall(_HAN_LABELS.sub("", summary))
    if han and sum(character in text for character in han) < _HAN_SHARE * len(han):
        return "most of its characters are not in the text"
    if not plain and not han and not _numbers(summary):
        return "it says nothing"
    return None


def _turned(summary: str, text: str) -> bool:
    """Whether a summary denies what its text does not, or affirms what a text of one clause denies."""
    denies, denied = (_NEGATION.search(one.replace("\u2019", "'")) is not None for one in (summary, text))
    if denies or not denied:
        return denies and not denied
    return _CLAUSE_END.search(text.strip()) is None


def _words(summary: str) -> list[tuple[str, bool]]:
    """Latin words with whether each is written as a name: a capital letter that no beginning of a sentence explains."""
    return [
        (
            match[0],
            match[0][0].isupper()
            and match[0].casefold() not in _LABELS
            and match[0] not in ("I", "I'm")
            and _SENTENCE_START.search(summary, max(0, match.start() - _START_WITHIN), match.start()) is None,
        )
        for match in _LATIN.finditer(summary)
    ]


def _numbers(text: str) -> set[str]:
    """Numbers written in digits, each whole and without grouping."""
    plain = unicodedata.normalize("NFKC", text)
    return {re.sub(r",(?=\d{3}\b)", "", number) for number in _NUMBER.findall(plain)}


def _spelled(text: str) -> set[str]:
    """Numbers written in words, as digits."""
    found = {_SPELLED[word] for word in re.findall(r"[a-z]+", text.casefold()) if word in _SPELLED}
    values = (chinese_integer(numeral) for numeral in _HAN_NUMBER.findall(text))
    return found | {str(value) for value in values if value is not None}
