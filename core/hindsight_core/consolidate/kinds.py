"""Kinds of state, and what ends or replaces a state of each kind.

"I live in Aldmoor" ends with "we bought a house in Ferrara", "the lift is out of order" with "it has been repaired": the
two sentences share no word for the slot, yet one kind of state. Every kind is a pair of patterns, the state and the
change, over folded English words and over Chinese text. *Personal* kinds hold one value for each person; the others need a
word that says what they are about.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

from hindsight_core.consolidate.lazy import Lazy


class Kind(NamedTuple):
    """One kind of state.

    Attributes:
        personal: Whether a person has one state of this kind, so that whose it is says enough.
        state: English pattern of the state, over folded words.
        change: English pattern of what ends or replaces it.
        state_zh: The same in Chinese.
        change_zh: The same in Chinese.
        signed: Whether the change looks like a state of the same kind, so that it needs another sign: "now", 以后.
    """

    personal: bool
    state: str
    change: str
    state_zh: str
    change_zh: str
    signed: bool = False


KINDS = {
    "home": Kind(
        True,
        r"lives?|living in|resides?|stay(?:s|ing)? (?:in|at|with)|rent(?:s|ing)? a (?:flat|room|place|house)|flatmates?",
        r"moved (?!(?:\S+ ){0,3}\S*(?:meeting|standup|desk))|relocated|settled in|bought a (?:house|flat|place)|moving in|(?:live|lives|living) \S+ \S* ?now",
        r"住(?!院)|租房|合租|[家]在",
        r"搬|迁居|定居|入住|住进|买了?(?:房|套)|来住|去住|合租",
    ),
    "place": Kind(
        False,
        r"sit next to|(?:is|are|sits?|stored?|stores|keeps?|kept|lives?|based|located|hosted?|hosts|parks?|stays?|held|takes place|happens?) (?:\S+ ){0,3}(?:in|at|on|under|behind|next to)",
        r"(?:moved|moving|relocated|transferred|shifted|migrated) (?:\S+ ){0,4}(?:to|into)",
        r"在(?!用|做|学|看|读|写|等|招|找|备|谈|装|测|跑)|存|放|停|位于",
        r"[搬迁移挪换转调](?:移)?[到至去入回进]|改[到在放存停](?!一|了)|(?:放|存|停|坐)[到进]",
    ),
    "where": Kind(
        False,
        r"(?:is|are|sits?|lives?|based|located|stored?|stores|hosted|parks?) (?:\S+ ){0,3}(?:in|at|on)(?! \#)",
        r"(?:is|are|sits?|lives?|based|located|stored?|stores|hosted|parks?) (?:\S+ ){0,3}(?:in|at|on)(?! \#)",
        r"(?:放|存|停|位于|坐落|跑)[在到]",
        r"(?:放|存|停|位于|坐落|跑)[在到]",
        signed=True,
    ),
    "commute": Kind(
        True,
        r"(?:ride|take|drive|walk|cycle|commute|bike|go by|run)\b.* to (?:work|school|the office|uni\w*)|commute",
        r"(?:ride|take|taking|drive|driving|walk|walking|cycle|cycling|commute|bike|biking|by (?:bus|train|car))\b.* to (?:work|school|the office|uni\w*)",
        r"[坐骑开走乘搭打].{0,5}[上下]班",
        r"[坐骑开走乘搭打].{0,5}[上下]班",
        signed=True,
    ),
    "contact": Kind(
        True,
        r"(?:call|phone|ring|email|text|message|notify|write|reach|contact|ping) me|phone calls|(?:by|via) (?:email|phone|text|post|sms|chat)|notifications?",
        r"(?:call|calling|phone|email|emailing|text|texting|message|messaging|notify|pinging|reach|contact) me|(?:by|via) (?:email|phone|text|post|sms|chat)|(?:push|email|text) \S+ (?:are|is) fine",
        r"[给发打].{0,4}(?:电话|短信|邮[箱件]|消息|微信|通知)|通知.{0,3}发",
        r"[给发打].{0,4}(?:电话|短信|邮[箱件]|消息|微信|通知)|通知.{0,3}发",
        signed=True,
    ),
    "tongue": Kind(
        True,
        r"(?:in|speak|use) (?:english|german|french|spanish|italian|dutch|chinese|mandarin|japanese|korean|russian|portuguese|polish)",
        r"(?:in|speak|use) (?:english|german|french|spanish|italian|dutch|chinese|mandarin|japanese|korean|russian|portuguese|polish)",
        r"[用说讲写][汉中英德法日韩俄西]\S{0,1}[语文]",
        r"[用说讲写][汉中英德法日韩俄西]\S{0,1}[语文]",
        signed=True,
    ),
    "address": Kind(
        True,
        r"(?:call|address) me (?!at|on|back|when|if|tomorrow|later|by|before|after)|my (?:name|nickname) is|go by",
        r"call me (?!at|on|back|when|if|tomorrow|later|by|before|after)|address me as",
        r"叫我(?!起)|称呼我|喊我",
        r"(?<!点)叫我(?!起)|称呼我|喊我",
    ),
    "job": Kind(
        True,
        r"works? (?:at|for|in|as)|working (?:at|for|as)|job (?:is|at)|employed|interning|(?:i am|i'm) (?:an? )?(?:\S+ ){0,2}(?:intern|trainee|developer|engineer|nurse|teacher|analyst|manager|accountant|designer|cook|clerk|consultant|assistant|student|driver|barista|waiter|lawyer|sales\w*) (?:at|for|with)|title|position|unemployed|out of work|jobless",
        r"(?:left|quit|leaving) (?:my job|work\b|the company)|(?:joined|joining)|new job|(?:found|got|landed|started|start|took) (?:a |an |my |the )?(?:new )?(?:job|position|role|contract)|permanent contract|handed in my (?:notice|resignation)|resigned|laid off|got fired|got hired|hired me|promoted to|transferred to|started (?:at|with|as)",
        r"[在于].{1,10}(?:上班|工作|任职|供职|实习|做)|title|职位|职称|是.{0,4}(?:工程师|开发|设计师|会计|老师|律师|经理|护士|实习生|运营|产品|销售|编辑)|没工作|待业|失业|在.{1,4}[部组]",
        r"离职|辞职|跳槽|入职|转岗|裁员|被裁|找到.{0,3}工作|换.{0,3}工作|[调转]到.{1,5}[部组]|转正|升(?!级|到|温|降)",
    ),
    "seat": Kind(
        True,
        r"sit|sitting|seat",
        r"sit|sitting|seat|moved me (?:next )?to",
        r"坐.{0,6}(?:排|旁边|窗|过道|边上)|座位",
        r"坐.{0,6}(?:排|旁边|窗|过道|边上)|座位",
        signed=True,
    ),
    "payment": Kind(
        True,
        r"pay (?:with|in|by|for everything with)",
        r"pay (?:with|in|by)",
        r"付款|付钱|支付|结账|付现|刷卡",
        r"付款|付钱|支付|结账|付现|刷卡",
        signed=True,
    ),
    "bed": Kind(
        True,
        r"(?:go|going) to (?:bed|sleep)|bedtime|fall asleep",
        r"(?:go|going) to (?:bed|sleep)|bedtime|fall asleep",
        r"[点早晚夜就才]睡|睡觉|就寝",
        r"[点早晚夜就才]睡|睡觉|就寝",
        signed=True,
    ),
    "waking": Kind(
        True,
        r"(?:get|getting|got|wake|waking) up",
        r"(?:get|getting|wake|waking) up",
        r"起床|[点就才]起(?!来)",
        r"起床|[点就才]起(?!来)",
        signed=True,
    ),
    "meal": Kind(
        True,
        r"(?:have|eat) (?:lunch|dinner|breakfast) (?:at|around)",
        r"(?:have|eat|having|eating) (?:lunch|dinner|breakfast) (?:at|around)",
        r"点半?才?吃[午晚早]?饭",
        r"点半?才?吃[午晚早]?饭",
        signed=True,
    ),
    "plan": Kind(
        True,
        r"on (?:the|a) (?:\S+ )?(?:plan|tier|package)|subscription",
        r"(?:upgraded|downgraded|switched|moved) to (?:the|a) (?:\S+ )?(?:plan|tier|package|subscription)",
        r"套餐|会员",
        r"(?:升级|升|降|换|改)[到成为].{1,6}(?:套餐|会员)",
    ),
    "age": Kind(
        True,
        r"(?:am|is|are) #",
        r"turn(?:ed|s)? #",
        r"岁",
        r"满|生日",
    ),
    "bond": Kind(
        True,
        r"(?:engaged|married) to|dating|seeing|going out with|in a relationship|together with|(?:girl|boy)friend|wife|husband|partner|fianc",
        r"broke (?:up|off)|broken up|split up|(?:got|are|getting) divorced|divorce came|separated|parted ways|no longer (?:together|engaged|married|seeing|dating)|not together|left me",
        r"谈恋爱|在一起|结婚|订婚|男朋友|女朋友|对象|老公|老婆|未婚夫|未婚妻",
        r"分手|分开|离婚|离了|掰了|解除婚约|退婚|不在一起",
    ),
    "single": Kind(
        True,
        r"(?:i am|i'm|is|am|still) single|unmarried",
        r"got (?:married|engaged)|(?:am|are|is|got) engaged|married|seeing someone|(?:have|got) a (?:girl|boy)friend|met someone",
        r"单身|没对象|没结婚",
        r"结婚|领证|订婚|脱单|谈恋爱|有(?:男|女)朋友|有对象",
    ),
    "pregnant": Kind(
        False,
        r"pregnant|expecting (?:a|her|their|twins)",
        r"had (?:her|the|a|their) (?:baby|daughter|son|twins)|gave birth|(?:baby|daughter|son|twins) (?:is|was|were|are) (?:born|here)",
        r"怀孕|预产期|有喜",
        r"生了|生下|出生|当妈|分娩",
    ),
    "hurt": Kind(
        False,
        r"too (?:high|low)|injured|hurts?|sprained|broken|broke|sore|sick|ill|down with|has the flu|has a cold|on crutches|in plaster|a cast|antibiotics|in (?:the )?hospital|hospitali[sz]ed|in quarantine|medication",
        r"healed|recovered|cured|back to normal|(?:is|are|am|feeling) (?:better|well|fine|healthy)|got rid of|came off|(?:is|are) off|finished|discharged|(?:back|came|come|is) home|cast came",
        r"伤|骨折|石膏|拐杖|生病|病了|感冒|发烧|住院|抗生素|隔离|疼|过敏",
        r"养好|好了|痊愈|康复|恢复|拆了|拆掉|扔了|退烧|出院|吃完了|解除|治好|不疼了",
    ),
    "away": Kind(
        False,
        r"on (?:\S+ )?(?:leave|holiday|vacation|sabbatical|sick leave|a trip)|away|out of (?:the )?office|abroad|off sick|travell?ing",
        r"(?:is|am|are|came|come|got) back|returned",
        r"休假|请假|产假|陪产假|出差|度假|外派",
        r"回来|病好|上班|复工|返岗|销假|回国|休完",
    ),
    "broken": Kind(
        False,
        r"broken|out of order|down|not working|doesn't work|does not work|crash\w*|fail(?:s|ing|ed)|flaky|stuck|leaks?|leaking|offline|blocked|under repair|jammed",
        r"repaired|fixed|mended|works? (?:again|now|fine)|(?:back|up) (?:again|online|and running)|up again|running again|green|pass(?:es|ing)|replaced|no longer|unblocked|signed off|resolved",
        r"坏|故障|挂|宕|崩|不能用|用不了|失败|报错|漏|卡|堵|断",
        r"修好|修复|恢复|能用了|正常|通过|全绿|绿了|换好|解决|畅通|通了|好了|批了|签",
    ),
    "closed": Kind(
        False,
        r"closed|shut|blocked off|under construction|being renovated|renovation|being built",
        r"reopen\w*|open(?:s|ed)? (?:again|now|its doors)|(?:is|are) open|(?:is|are) (?:done|finished|complete\w*|over)|has finished",
        r"封|关闭|关门|停业|装修|施工|在建|歇业",
        r"重新|开放|开门|营业|通车|开业|完工|竣工|装修完|修完|建好|解封",
    ),
    "unreleased": Kind(
        False,
        r"(?:is|are) not \w+ed|in (?:\S+ )?(?:beta|preview|alpha|testing|development|progress|review)|not (?:\S+ )?(?:released|done|ready|finished|merged|started|begun|live|available|implemented|yet)|isn't (?:\S+ )?(?:released|done|ready|finished|merged|live)|unfinished|unpaid|unsigned|unanswered|unread|planned|hasn't (?:been )?\w+|haven't (?:been )?\w+|pending|under review|in draft|open|todo",
        r"released|shipped|launched|went live|is live|out of (?:beta|preview)|general availability|available to everyone|(?:is|are|was|were|got|been) (?:done|finished|merged|signed|approved|completed|closed|implemented|accepted|granted|paid|published|resolved)|has (?:started|begun)|started|signed off|(?:was|were|been|got) \w+ed (?:on|yesterday|today|this|last)",
        r"还?没[^有]|没有?(?:开始|做|上线|完成|签|动工|合并)|未|内测|测试中|开发中|待|在审|审核中|在谈|开着|进行中",
        r"已经?[^，。不没]{1,3}了|上线|发布了|全量|做完|做好|完成|签了|签好|签下|开工|动工|开始了|合并了|合了|关单|关了|批了|通过|拿到|下来了|办好|谈妥|谈成",
    ),
    "sought": Kind(
        False,
        r"saving (?:up )?for|waiting list|looking for|searching for|hunting for|in need of|waiting for|waiting on|wait for|applied for|hiring|recruiting|need (?:a|an|another)",
        r"bought|sent me|received|found|hired|got|signed|came through|arrived|(?:was|is|got) (?:approved|granted|issued|delivered)|moved into|filled",
        r"在?[找招](?=.)|攒钱|排队|候补|等|申请|物色|缺|还没下来|没到",
        r"买到|排到|轮到|找到|招到|招满|下来了|到了|拿到|收到|批了|签了|租到|买到|入职",
    ),
    "owned": Kind(
        False,
        r"(?:have|has|own|owns) (?:a|an|two|one)|(?:is|are) called|is named|drives?|my (?:\S+ )?(?:phone|car|laptop|camera|bike|dog|cat|pet|computer|tablet|watch)",
        r"sold|died|passed away|had to put|put down|gave away|got stolen|stolen|written off|broke down|gave up|scrapped|traded in|got myself|replaced|had to be put",
        r"养|有[一只条辆台个]|[叫开]|是",
        r"卖了|卖掉|去世|走了|没了|送人|丢了|报废|被偷|换了(?=[，。]|$|一?[台部辆只])|死了|走丢",
    ),
    "lead": Kind(
        False,
        r"leads?|manages?|maintains?|runs?|owns?|heads?|in charge|responsible|looks? after|head of|lead|manager|director|ceo|cto|chair\w*|captain|president|treasurer|secretary|coach|mayor|goalkeeper|speaker|owner|maintainer|contact",
        r"(?:taken|took|takes|taking) over|(?:handed|handing|passed) (?:\S+ ){0,4}(?:over|to|on)|stepped down|resigned|retired|replaced|succeed(?:s|ed)|appointed|elected|voted|new (?:head|lead|owner|manager)|left the|has left|moved (?:on )?to another",
        r"负责|维护|管|带|主管|经理|总监|组长|队长|主席|出纳|教练|秘书|总裁|owner|对接|接口人",
        r"接手|接任|接替|接管|交接|移交|交给|转给|换成|换了|卸任|退休|离任|调走|离职|转组|上任|[选推]了?.{1,4}[当做]",
    ),
    "colleague": Kind(
        False,
        r"(?:colleague|teammate|coworker|intern|our \S+|works? (?:with|for) us|on (?:our|the|my) team|flatmate|roommate|housemate|tenant|neighbou?r|member)",
        r"left|quit|resigned|moved (?:out|away)|laid off|fired|retired|no longer with",
        r"同事|室友|合租|租客|邻居|队友|实习生|组员|成员",
        r"离职|走了|搬走|退出|离开|辞职|调走|退租",
    ),
}  # fmt: skip


PERSONAL = frozenset(name for name, kind in KINDS.items() if kind.personal)
SIGNED = frozenset(name for name, kind in KINDS.items() if kind.signed)


@lru_cache(maxsize=1 << 12)
def kinds(words: str, han: str, *, change: bool) -> frozenset[str]:
    """Of which kinds a clause tells the state, or the change."""
    found: set[str] = set()
    for text, suffix in ((words, ""), (han, "_zh")):
        if text:
            for name, kind in KINDS.items():
                if _one(getattr(kind, ("change" if change else "state") + suffix), suffix == "").search(text):
                    found.add(name)
    return frozenset(found)


@cache
def _one(pattern: str, words: bool) -> Lazy:
    return Lazy(rf"(?<!\w)(?:{pattern})(?:(?<=\s)|(?!\w))" if words else pattern)
