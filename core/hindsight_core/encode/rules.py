"""The default extractor: rules, no model, well under a millisecond for a chat turn.

The summary is the sentence that matters most (the whole text where that is short), without markup. The memory type
follows from what the sentences do: steps are procedural, what goes on holding is semantic, what happened is episodic.
"""

from __future__ import annotations

import re

from hindsight_core.encode.rubric import FIRST_PERSON, LASTING, SCORES, Act, Judgement, judge
from hindsight_core.ports import Extraction, ExtractionContext
from hindsight_core.text.entities import ASSISTANTS, find_entities
from hindsight_core.text.keys import normalise_key
from hindsight_core.text.split import sentences
from hindsight_core.unit import Entity, MemoryType

SHORT = 160
"""A text up to this many characters is its own summary."""
LONGEST = 240
"""A longer sentence is cut in the summary."""

_ROLE = re.compile(
    r"\**(assistant|ai|bot|agent|model|user|human|助手|机器人|客服|用户|客户|顾客)\**\s?[:：]\**\s*",
    re.IGNORECASE,
)
_TECHNICAL_TYPES = frozenset(("config", "version", "path", "identifier"))
_JUDGED = 40
"""Sentences of a text that are looked at."""

_NO_PROCEDURE = frozenset((Act.QUESTION, Act.REQUEST, Act.PREFERENCE, Act.IDENTITY))
_NOTE = 80
"""Characters; a longer text without a speaker is taken for a document."""

_FENCE = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\n]{0,500}\)")
_MARKUP = re.compile(
    r"^[ \t]{0,3}(?:#{1,6}|>+)[ \t]+|^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+(?=\S)|^[ \t]*\|?[ \t:|-]{3,}$"
    r"|(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)|`",
    re.MULTILINE,
)
_STEP = re.compile(r"(?:^|[\s。；，;,.])(?:step\s*\d+|第[一二三四五六七八九十\d]+步)", re.IGNORECASE)
_NUMBERED = re.compile(
    r"^[ \t]*(?:\d{1,2}[.)、])[ \t]*\**([a-z]+|[\u4e00-\u9fff]{2})", re.IGNORECASE | re.MULTILINE
)
_IN_ORDER = re.compile(
    r"\bfirst(?:ly)?\b.{1,300}\b(?:then|next|after that|finally)\b|^how to \w+ |"
    r"\bto \w+ [^.?!]{3,60}, (?:run|use|open|click|press|type|set|"
    r"call|execute|install|add|go|hold|select)\b|先[^。]{1,60}(?:再|然后|接着|之后|最后)|(?:步骤|流程|方法|做法)(?:是|如下|：|:)",
    re.IGNORECASE | re.DOTALL,
)
_DO = frozenset(
    [
        "open",
        "click",
        "run",
        "install",
        "select",
        "press",
        "type",
        "enter",
        "set",
        "create",
        "add",
        "go",
        "copy",
        "paste",
        "download",
        "restart",
        "start",
        "stop",
        "build",
        "deploy",
        "check",
        "connect",
        "configure",
        "edit",
        "save",
        "remove",
        "delete",
        "update",
        "upgrade",
        "clone",
        "pull",
        "push",
        "mix",
        "heat",
        "boil",
        "stir",
        "bake",
        "pour",
        "cut",
        "turn",
        "hold",
        "insert",
        "plug",
        "unplug",
        "log",
        "sign",
        "choose",
        "follow",
        "make",
        "use",
        "write",
        "打开",
        "点击",
        "运行",
        "安装",
        "选择",
        "输入",
        "设置",
        "新建",
        "创建",
        "添加",
        "进入",
        "复制",
        "粘贴",
        "下载",
        "重启",
        "启动",
        "停止",
        "编译",
        "部署",
        "检查",
        "连接",
        "配置",
        "编辑",
        "保存",
        "删除",
        "更新",
        "升级",
        "登录",
        "执行",
        "加入",
        "放入",
        "倒入",
        "搅拌",
        "切成",
        "煮熟",
        "关闭",
        "插入",
        "拔掉",
        "按住",
        "备份",
    ]
)


class RulesExtractor:
    """Extracts by rules, in English and Chinese (see `text.entities` and `encode.rubric`)."""

    def extract(self, text: str, context: ExtractionContext) -> Extraction:
        """Extract from one piece of text; see `ports.Extractor`."""
        entities = find_entities(
            text, types=context.entity_types, now=context.timestamp, speaker=context.speaker
        )
        plain = strip_markup(text)
        parts = sentences(plain)[:_JUDGED]
        speaker = normalise_key(context.speaker or "")
        named = [entity for entity in entities if entity.key != speaker]
        judged = _judged_all(parts, named, speaker in ASSISTANTS)
        best = max(range(len(judged)), key=lambda at: (judged[at][0].score, judged[at][1], -at))
        verdicts = [verdict for verdict, _ in judged]
        return Extraction(
            summary=_summary(plain, parts, best) or _shortened(text.strip()),
            entities=entities,
            importance=_importance(text, parts, verdicts, speaker),
            memory_type=_memory_type(text, verdicts[best].act, bool(speaker)),
        )


def strip_markup(text: str) -> str:
    """The text without code blocks and Markdown signs; code alone stays, without its fences."""
    plain = _FENCE.sub("\n", text) if "```" in text or "~~~" in text else text
    if not plain.strip():
        plain = _FENCE.sub(r"\2", text)
    return _MARKUP.sub("", _LINK.sub(r"\1", plain))


def _judged_all(parts: list[str], named: list[Entity], by_assistant: bool) -> list[tuple[Judgement, int]]:
    """For each sentence its judgement and how many things it names; the assistant's are background at most.

    A transcript in one text ("user: ... assistant: ...") changes its speaker on the way.
    """
    judged = []
    for part in parts:
        if (role := _ROLE.match(part)) is not None:
            by_assistant = normalise_key(role[1]) in ASSISTANTS
            part = part[role.end() :]
        within = [entity.type for entity in named if entity.name in part]
        act, score = judge(part, technical=not _TECHNICAL_TYPES.isdisjoint(within), named=bool(within))
        judged.append((Judgement(act, min(score, 0.5) if by_assistant else score), len(within)))
    return judged or [(Judgement(Act.REMARK, SCORES[Act.REMARK]), 0)]


def _summary(plain: str, parts: list[str], best: int) -> str:
    whole = " ".join(plain.split())
    return whole if len(whole) <= SHORT or not parts else _shortened(" ".join(parts[best].split()))


def _shortened(sentence: str) -> str:
    if len(sentence) <= LONGEST:
        return sentence
    cut = sentence[:LONGEST].rstrip()
    space = cut.rfind(" ")
    return (cut[:space] if space > LONGEST * 2 // 3 else cut).rstrip(" ,;，；、") + "…"


def _importance(text: str, parts: list[str], verdicts: list[Judgement], speaker: str) -> float:
    best = max(score for _, score in verdicts)
    if speaker or len(text) <= _NOTE:
        return best
    # A document tells of many decisions and preferences; only the writer's own are explicit facts about the user.
    own = (
        score
        for part, (_, score) in zip(parts, verdicts, strict=False)
        if FIRST_PERSON.search(part) is not None
    )
    return max(min(best, 0.7), *own, 0.0)


def _memory_type(text: str, act: Act, spoken: bool) -> MemoryType:
    if act not in _NO_PROCEDURE and _is_procedure(text):
        return MemoryType.PROCEDURAL
    if act in LASTING or (act is Act.REMARK and not spoken):
        return MemoryType.SEMANTIC
    return MemoryType.EPISODIC


def _is_procedure(text: str) -> bool:
    if len(_STEP.findall(text)) > 1 or _IN_ORDER.search(text) is not None:
        return True
    return sum(first.lower() in _DO for first in _NUMBERED.findall(text)) > 1
