"""Marks: the words that say how a clause is meant, whatever it is about.

A fact changes when somebody says so ("no longer", 改成) or restates it with another value. Just as telling are the
words that forbid such a reading: a question, a plan, a supposition, hearsay, a one-off request, an addition.

Both tables are indexed by how a phrase begins, so that a clause is walked once whatever their size.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Final, NamedTuple

from hindsight_core.consolidate.lazy import Lazy


class Mark:
    """How a clause is meant: plain bits, since an enumeration's operators would cost more than the reading."""

    NONE: Final = 0
    ENDED: Final = 1 << 0  # a state is over: "no longer", 不再
    CHANGED: Final = 1 << 1  # another value took its place: "switched to", 改成
    NOW: Final = 1 << 2  # so by now, and not before: "now", 已经
    FRESH: Final = 1 << 3  # recent: "just", "since", 刚刚
    LASTS: Final = 1 << 4  # from here on: outweighs ONCE and PLANS
    ADDS: Final = 1 << 5  # one more: "also", 又
    ONCE: Final = 1 << 6  # for this occasion: "tonight", 这次
    ASKS: Final = 1 << 7
    PLANS: Final = 1 << 8
    SUPPOSES: Final = 1 << 9
    REPORTS: Final = 1 << 10  # someone else's words
    NOT: Final = 1 << 11
    WISH: Final = 1 << 12  # how the speaker wants things done: "please", 请
    EVENT: Final = 1 << 13  # something that happened, and stays true
    CORRECTS: Final = 1 << 14  # what was said before was wrong: "typo", 说错了


class Phrase(NamedTuple):
    """The rest of an English phrase.

    Attributes:
        rest: The words that follow the first; "#" is any value.
        mark: What the phrase marks.
        silent: Whether it only says when or how, and is no part of what is said.
    """

    rest: tuple[str, ...]
    mark: int
    silent: bool


# One phrase up to each ";", alternatives divided by "|", a silent phrase behind "~".
_ENGLISH = {
    Mark.NONE: """
        dropped off|by|in|me|you|him|her|them; moved on|by; moved to tears; left over|behind; left my|his|her|a|an|some|it|them|me|him|us|side|hand|turn|to|with;
        left wondering|guessing|feeling; sold out; cut off; grew up; came down to; no more than; not any more than; right now; just now; now that; new year|years;
        used to it; used to be; get|got|getting used to; even if; as if; not only; no doubt|worries|problem|idea|wonder|matter; why not; finished with a; turned out to be; went up to me|him|her
    """,
    Mark.ENDED: """
        ~no longer; ~not anymore; ~anymore; ~any more; ~any longer; no more; stopped; quit; quitting; gave|given|giving up; gave it up; dropped; ditched; abandoned; scrapped;
        got|gotten rid of; resigned; retired; gone on|into pension|leave|retirement; stepped|stepping down; stood down; handed|handing over; handed in; walked away from; cancelled; canceled; called off; is|are off;
        broke|broken up|off; split up; got|are|is divorced; gone|went off; fed up with; done with; is|are|was|all done; finished; i|we|he|she|they closed; closed the|my|our; got out of; moved out; sold; discontinued; decommissioned; deprecated; removed; deleted;
        moved|moving|migrated|migrating away|off; switched|turned off; shut|closed down; taken|took down; phased out; gave|given away; threw|thrown away|out; ripped|torn|tore out;
        outgrew; outgrown; grew|grown out of; passed away; wore|worn off; fell through; used to; left; leaving; moved|moving out of; parted ways; back|home from; returned from;
        over with; is|are over; pulled|dropped|backed out of; withdrew; withdrawn; had|have|has to stop|quit; behind us; in months|years|ages; recovered from; cured of; expired; unsubscribed; uninstalled
    """,
    Mark.CHANGED: """
        switched|switching|switches|moved|moving|changed|migrated|migrating|shifted|converted|upgraded|upgrading|downgraded|updated|renamed|revised|corrected
          to|from|over|onto|into|back; switched; migrated; upgraded; downgraded; renamed; replaced; replaces; replacing; supersedes; ~instead; rather than;
        rescheduled; rebooked; postponed; reassigned; relocated; transferred; promoted; extended|prolonged|renewed until|to|till|by; gone|went|go over to; went with; reversed; overturned; revoked; dyed; painted; repainted; swapped; elected; appointed;
        pushed to|back|out; put off; brought|moved forward|up|back|away; took|taken|takes|taking over; became; turned into; turned #; went|gone|goes from|up|down; up|down to #;
        grew|grown|rose|risen|fell|fallen|dropped|cut|improved|climbed|slipped to|from; reached #; changed my|his|her|our|their mind|minds; change of plan|plans|heart;
        was|were|is|has|have changed; has|have been changed; turned out; started over; settled on; after all; new name|number|address|owner; new phone number; is|are my|our|the new; coming|came|come round|around to; have|has come to; reopened; resumed; rewrote; rewritten; rebuilt; re-enabled; reenabled; reactivated; restored
    """,
    Mark.NOW: """
        ~now; ~these days; ~nowadays; this school|academic year; this term|semester; ~currently; ~already; ~finally; ~as of; effective; since #|last|this|then|yesterday|today|january|february|march|april|may|june|july|august|september|october|november|december; ~at last; ~at the moment; has|have become; ~by now; ~again; makes|making #; signed off; unblocked; approved; resolved; merged; went live; shipped
    """,
    Mark.FRESH: """
        bumped; raised; lowered; reduced; increased; extended; shortened; doubled; halved; adjusted; delayed; cut the|our|my|it|back; ~recently; ~lately; has|have been; ~starting; from #; since; new; newly; ~today; just; started; began; ~yesterday; latest; this|last week|month|year|morning|summer|winter|spring|autumn|fall
    """,
    Mark.LASTS: "~for good; ~from now on; ~permanently; every time; in general; ~in future; ~in the future; ~going forward; forever; ~from here on; ~from here on out",
    Mark.ADDS: """
        ~also; ~too; as well; besides; additionally; in addition; another; second one; on top of; along with; apart from that; additional; extra; one more; both; as well as; on the side; either
    """,
    Mark.ONCE: """
        this time; just|only for today|tonight|now|once|this; for today; for today's; for tonight; for tonight's; tonight; tonight's; for now; for the moment; just this once; this once; for once; today only;
        temporarily; for the time being; an exception; as an exception; until tomorrow; just today; only today; for this one; for this; for a change; goes|going back to; go back to normal; this meeting only
    """,
    Mark.ASKS: """
        can|could|would|will|do|did|does you|i|we|they|he|she; is|are|was there; is|are|was it|this|that|he|she|they|you|we; should i|we|he|she|they; what; how; why; which; who; whom; whose;
        any idea; any ideas|tips|advice|suggestions; i wonder; wondering if|whether; i was wondering; not sure if|whether; let me know if|whether|how|what; asked|asks whether|if|how|what|why|for|me; whether
    """,
    Mark.PLANS: """
        plan to|is|on; plans to|are; planning to|on; planned to; going to; will; might; may; maybe; perhaps; possibly; probably; thinking of|about; considering; consider; want|wants|wanted to; want;
        would like|love; hope|hopes|hoping to; intend to; intends to; tempted to; looking to|into; some day; someday; one day; eventually; need to; needs to; have to; should; ought to; let's;
        trying to; try to; tried to; about to; proposal; propose; proposed; proposes; suggest; suggested; i'll; we'll; he'll; she'll; they'll; it'll; you'll; i'd; we'd; you'd; aim to; aiming to;
        can't wait; looking forward; dream of|about; wish
    """,
    Mark.SUPPOSES: "if; unless; would; could; suppose; supposing; imagine; in case; what if; otherwise; hypothetically; assuming; as though; provided",
    Mark.REPORTS: """
        says; said; saying; say; thinks; claims; claimed; told me|us; heard; apparently; according to; rumour; rumours; rumor; rumors; rumored; reckons; swears; argues; insists; supposedly; allegedly; believes;
        wrote that; quote; quoted; i read that|somewhere|about|in; someone; dreamt; dreamed; dream that; he|she|they wants|want
    """,
    Mark.NOT: """
        not; no; never; none; nothing; without; neither; nor; nobody; hardly; can't; cannot; don't; doesn't; didn't; isn't; aren't; wasn't; weren't; won't; wouldn't; shouldn't; couldn't; hasn't; haven't;
        hadn't; dont; doesnt; isnt; cant; wont; ain't; unable; stop; avoid
    """,
    Mark.CORRECTS: """
        correction; corrections; corrected; correcting; typo; typos; misspelled; misspelt; mistyped; misread; misheard; misremembered; misspoke; miscounted; my mistake|bad; a mistake; by mistake; mixed up|that|it|them;
        got it|that|this|her|his|the wrong; i|we was|were wrong; that was wrong; scratch that; i meant; i mean; actually; not quite right; wrongly; in error; mixed that|it|them up
    """,
    Mark.WISH: "please; prefer; i'd rather; call me; keep; answer; answers; reply; respond; write me; explain; address me; stop; don't",
}  # fmt: skip


@cache
def phrases() -> dict[str, tuple[Phrase, ...]]:
    """First word -> what may follow, longest first."""
    found: dict[str, dict[tuple[str, ...], Phrase]] = {}
    for mark, phrases in _ENGLISH.items():
        for phrase in phrases.split(";"):
            choices = [word.split("|") for word in phrase.replace("~", "").split()]
            for first, *rest in product(*choices):
                same = found.setdefault(first, {})
                known = same.get(tuple(rest), Phrase(tuple(rest), Mark.NONE, False))
                same[tuple(rest)] = Phrase(tuple(rest), known.mark | mark, known.silent or "~" in phrase)
    return {
        first: tuple(sorted(rests.values(), key=lambda p: -len(p.rest))) for first, rests in found.items()
    }


_TO = frozenset(["to"])
_AWAY = frozenset(["to", "into", "from", "off", "out"])
RESETS = (
    dict.fromkeys(("moved", "shifted", "migrated", "switched"), _AWAY)
    | dict.fromkeys(
        (
            "changed",
            "updated",
            "set",
            "turned",
            "bumped",
            "raise",
            "raised",
            "lower",
            "lowered",
            "increase",
            "reduce",
            "renamed",
            "converted",
            "cut",
            "passed",
        ),
        _TO,
    )
    | {"handed": frozenset(["over"])}
    | dict.fromkeys(("extended", "prolonged", "renewed"), frozenset(["until", "till", "to", "by"]))
)
"""With one of these a few words on, they tell of another value: "changed log_level to warn"."""

_CHINESE = {
    Mark.ENDED: r"""
        不再 再也[不没] 戒[了掉烟酒] 辞[职了] 离职 调走 取消 停[了用掉产] 不用了 弃用 废弃 放弃 作废 分手 分开 离婚 别(?!提|说|有)[^，。,]{1,8}了 卖[了掉] 退[了出役休订掉] 下线 注销 没了 扔了 拆了 用不了 关停 卸载 卸任
        搬[走出离] 告别 不(?!那|这|怎|再|错|过(?!敏)|少|仅|但|好意思|知道|久|同|到|及|料|对|了|小心|得了|一定|太)[^，。,了]{1,8}了(?!解) 已经好了 痊愈 治好 换掉 淘汰 停止 终止 结束 吃腻 喝腻 玩腻 完(?<=[休学做读看修住养治建还付交写办考吃喝用上忙]完)(?=[了，。,！!]|$) 删[了掉] 不了了 回来了 坏了 出院 康复 毕业了 摘[了掉] 送人了 退[赛学租][了，]? 到期了 做完 走了""",
    Mark.CHANGED: r"""
        改[成为到用在叫由喝吃坐骑走学做看听回读练从写跑放存向跟给去发交住] 改(?:主意|变|名|期|版|了|[\u4e00-\u9fff][到成为在]) 换[成到了为用回家去] 更换 替换 换.{1,8}了 搬[到去进家回了] 迁[到移至往入] 移[到至] 转[到去成为用岗向学投] 调[到成为岗至去]
        调整?[到成为了] 升(?:到|至|为|职|级[到为至成了]) 降[到为级至] 涨[到了价至] 加到 提(?:到|高[到了至]) 增加到 减[到少] 缩[短减] 延[长期后到至续] 改签 推[迟到后翻] 提前 挪[到至] 接手 接任 接替 接管 取代 代替 顶替 变[成为了更]
        而不是 更新[为成到] 最[后终](?:选|定|用|还是) 重命名 更名 跳槽 入职 晋升 升任 恢复了 重新 又开始 反悔 打开了 关[掉了闭]了? 开通 启用 砍[到掉] 从[^，。,]{1,12}(?:改|换|变|升|降|调|搬|转|涨|到)
        轮到 [喷染刷涂漆]成 分[配]?到 交给 交接 转交 移交 [瘦胖涨跌降升减增加长扩缩压砍][大小高低长短]?到 [只就仅]剩下? 突?破(?=\d) 转给 新[\u4e00-\u9fff]{1,4}[是叫]""",
    Mark.NOW: r"""
        更[喜爱愿] [这本]学[期年] 新规 新政策 又(?=开放|开了|能|可以|恢复|营业) 过了(?=[，。,.\s]|$) 现在 目前 如今 眼下 已经 己经 终于 以后 今后 从[^，。,]{1,8}起 周[一二三四五六日天]起 明天起 下个?[周月]起 起(?=[，,。\s]|每) 开始 签字 签了 放行 批[了准] 通过了 上线了 修[好复]了 解决了 接下来 之后的 往后""",
    Mark.FRESH: r"""
        最近 近来 近期 刚刚 刚(?=[从把换到给]) 新版 改版 这周 上周 上个月 这个月 昨天 今早 今天 刚才 新(?=的|来|换) 了(?=[，。！!,.\s]|$)""",
    Mark.LASTS: "以后 从今往后 今后 往后 永远 彻底",
    Mark.ADDS: r"""
        [也又](?!是|不|没|许|开|能|可以|恢复|营业) 还(?!不|没|未|是|在|款|书|钱|有点) 另外 再加 同时 外加 除了 此外 并且 兼 再养 多了 加上 以及 额外 附带 新增 不光 不仅 不但 顺便 再(?=领|养|买|学|加|开)""",
    Mark.ONCE: r"""
        这[次回趟单](?!起) 这一[次回趟单] 今天先 今天的 今晚 临时 暂时 先(?=这样|用|按|别|一) 就今天 仅此 下不为例 改回去 破例 例外 本次 此次 今天(?=就|给|帮|想|要) 明天(?=就|给|帮)""",
    Mark.ASKS: r"""
        [吗嘛么呢](?=[？?。，,！!\s]|$) 什么 怎么 为什么 为何 如何 哪[个里些儿位种] 几[个点号] 多少 是不是 有没有 要不要 能不能 可不可以 会不会 需不需要 好不好 行不行 是否 谁(?!都|也) 请问 想问""",
    Mark.PLANS: r"""
        打算 准备 计划 考虑 想(?!起|到|念|法|了|着) 可能 也许 或许 希望 将来 有一天 说不定 建议 应该 要不 争取 预计 有望 等[^，。,]{1,12}[再就后完了] 下半年 明年 以后再 回头 迟早 正在评估 将(?=会|在|要|于) 快要 马上要 该(?=换|升|改)""",
    Mark.SUPPOSES: "如果 要是 假如 假设 万一 的话(?![费题语剧筒]) 倘若 即使 就算 哪怕 除非 不然 否则 若(?!干)",
    Mark.REPORTS: r"听说 据说 传言 梦[见到] 说(?![明服法好起了不])(?<![小再]说) 觉得 认为 以为 声称 [“「『]",
    Mark.NOT: r"不(?<!^不过)(?<![要能好行可]不)(?!错|仅|但|久|少|同|得了|好意思|光|断|管|论|客气|止|一定|太) 没(?!关系|事|错) [未勿](?!来|必) 别(?<![特区分级性类告个]别)(?!的|人|墅|致|处|名) 无(?![论数聊]|辣不) 莫 免 休想 难以",
    Mark.WISH: "请 回[答复] 称呼 叫我 喊我 别(?=给|用|再|叫|发) 不要 以后 希望 [些点]吧",
    Mark.CORRECTS: r"更正 纠正 [说写打记看搞弄听算]错 口误 笔误 不对(?=[，,、]|$) 准确地?说 手误",
    Mark.EVENT: r"[去吃喝买看跑玩见聊花开听打写做走逛参来碰遇拍爬游读进赢输赚][^，。,的]{0,8}[了过](?!敏) 试(?<![测考面调]试)[^，。,的]{0,8}[了过] [去来见吃过]过(?!敏)",
}  # fmt: skip
_REPORTERS = Lazy(
    r"(?:我|我们|咱们|医生|大夫|官方|通知|公告|文档|老师|房东|公司)[^，。,]{0,4}(?:说|觉得|认为|以为)"
)


@cache
def _chinese() -> dict[str, tuple[tuple[Lazy, int], ...]]:
    found: dict[str, list[tuple[Lazy, int]]] = {}
    for mark, patterns in _CHINESE.items():
        for pattern in patterns.split():
            firsts = pattern[1 : pattern.index("]")] if pattern[0] == "[" else pattern[0]
            for first in firsts:
                found.setdefault(first, []).append((Lazy(pattern), mark))
    return {first: tuple(rules) for first, rules in found.items()}


_POSSIBLE = Lazy("(?:可以|可|能够?)(?:[^，。,]{0,8})[改换调]")
"""可以改成: it may be changed, which nobody has done."""


def chinese_marks(clause: str) -> int:
    """What a Chinese clause marks."""
    found = Mark.NONE
    rules = _chinese()
    for place, character in enumerate(clause):
        for pattern, mark in rules.get(character, ()):
            if not mark & found and pattern.match(clause, place):
                found |= mark
    if found & Mark.CHANGED and _POSSIBLE.search(clause):
        found &= ~Mark.CHANGED
    if found & Mark.REPORTS and _REPORTERS.search(clause):
        found &= ~Mark.REPORTS
    return found
