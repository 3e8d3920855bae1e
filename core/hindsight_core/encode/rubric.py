"""Importance by the published rubric: 8-10 explicit facts, preferences, decisions; 5-7 useful background; 1-4 small talk.

Each sentence is judged by what it does (states a preference, reports a decision, asks, thanks, ...), recognised by
patterns in both languages; a text is as important as its most important sentence. A question or a request is not a
fact, whatever it mentions; and what the assistant says about itself is nothing the user prefers.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from hindsight_core.text.entities.words_chinese import CHINESE_KIN
from hindsight_core.text.entities.words_english import KIN


class Act(StrEnum):
    """What a sentence does."""

    STANDING = "standing"
    PREFERENCE = "preference"
    DECISION = "decision"
    IDENTITY = "identity"
    APPOINTMENT = "appointment"
    TECHNICAL = "technical"
    FACT = "fact"
    EVENT = "event"
    REMARK = "remark"
    REQUEST = "request"
    QUESTION = "question"
    REACTION = "reaction"
    SMALL_TALK = "small talk"


SCORES = {
    Act.STANDING: 0.9,
    Act.PREFERENCE: 0.85,
    Act.DECISION: 0.85,
    Act.IDENTITY: 0.85,
    Act.APPOINTMENT: 0.8,
    Act.TECHNICAL: 0.8,
    Act.FACT: 0.8,
    Act.EVENT: 0.55,
    Act.REMARK: 0.45,
    Act.REQUEST: 0.35,
    Act.QUESTION: 0.3,
    Act.REACTION: 0.25,
    Act.SMALL_TALK: 0.1,
}
"""The rubric's 1-10 over 10."""

LASTING = frozenset((Act.STANDING, Act.PREFERENCE, Act.DECISION, Act.IDENTITY, Act.TECHNICAL, Act.FACT))
"""What goes on holding after it was said."""


class Judgement(NamedTuple):
    """What a sentence does and how much that matters, 0..1."""

    act: Act
    score: float


class _Cue:
    """Patterns of both languages for one thing, compiled when first needed; the Chinese ones only on such text.

    Those for the beginning of a sentence are looked for there alone: in a search they would be tried at each character.
    """

    def __init__(self, english: tuple[str, ...], chinese: tuple[str, ...]) -> None:
        self._parts = (english, chinese)

    @cached_property
    def _english(self) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
        return _opening_and_anywhere(self._parts[0], re.IGNORECASE)

    @cached_property
    def _chinese(self) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
        return _opening_and_anywhere(self._parts[1], 0)

    def __call__(self, sentence: str) -> bool:
        return _says(self._english, sentence) or (not sentence.isascii() and _says(self._chinese, sentence))


def _opening_and_anywhere(
    parts: tuple[str, ...], flags: int
) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
    opening = [part for part in parts if part[0] == "^"]
    anywhere = [part for part in parts if part[0] != "^"]
    first, second = ("|".join(f"(?:{part})" for part in some) for some in (opening, anywhere))
    return re.compile(first, flags) if first else None, re.compile(second, flags) if second else None


def _says(patterns: tuple[re.Pattern[str] | None, re.Pattern[str] | None], sentence: str) -> bool:
    opening, anywhere = patterns
    if opening is not None and opening.match(sentence) is not None:
        return True
    return anywhere is not None and anywhere.search(sentence) is not None


_SMALL_TALK = re.compile(
    r"\b(?:hi|hey|hello|good (?:morning|afternoon|evening|night)|thanks|thank you|thx|cheers|bye|goodbye|"
    r"see (?:you|ya)|take care|you['’]?re (?:very |most )?welcome|"
    r"no (?:problem|worries)|ok|okay|okey|sure|yes|yeah|yep|yup|no|nope|nah|lol|haha+|hmm+|oh|ah|wow|cool|"
    r"nice|great|awesome|perfect|exactly|right|indeed|got it|i see|"
    r"of course|sounds good|will do|done|good luck|have (?:fun|a (?:nice|good|great) (?:day|evening|night|"
    r"weekend|one))|congrats|congratulations|well|alright|all right|fine|"
    r"please|talk (?:to you )?(?:soon|later)|how are you(?: doing)?|how(?:['’]s| is) it going|what['’]?s up|"
    r"nice to (?:meet|see|hear from) you|good to (?:see|hear from) you|"
    r"so much|a lot|again|everyone|all|then|later|soon|tomorrow|too|very much|friend|buddy|dear|assistant|"
    r"sir|madam|there|man|mate|you too|welcome)\b|"
    r"你好|您好|嗨|哈喽|早上好|早安|早啊?|上午好|下午好|晚上好|晚安|再见|拜拜|回头见|明天见|下次见|谢谢|多谢|感谢|谢啦|谢了|不客气|不用谢|没事|没关系|没问题|好的?|行|嗯|哦|噢|"
    r"哈|嘿|呵|是的?|对的?|可以|明白|知道|收到|了解|辛苦|加油|太好|太棒|真棒|厉害|不错|恭喜|祝你好运|你们?|您|大家|了|啦|呀|啊|呢|吧|朋友|助手|老师|真的?|非常",
    re.IGNORECASE,
)
_NAME_ALONE = re.compile(r"\W*(?:[A-Z][a-z]+|[\u4e00-\u9fff]{2,3})?\W*")
_REACTION = _Cue(
    (
        r"^(?:thanks|thank you) (?:so much )?for\b|^(?:i )?(?:really |so )?appreciate\b",
        r"\bmeans? (?:a lot|so much|the world)\b|\b(?:weather|day) (?:is|was|today)\b|"
        r"\b(?:nice|lovely|beautiful) (?:weather|day)\b",
        r"^(?:wow|oh|aw+|yay|haha|great|awesome|cool|nice|amazing|that(?:'s|’s| is| was| sounds| looks)|"
        r"it(?:'s|’s) (?:so |really |very )?(?:great|nice|good|awesome|amazing|cool|lovely)|"
        r"sounds|looks|glad|happy to hear|so (?:glad|happy|sorry|proud)|congrat|good luck|keep (?:it )?up|"
        r"keep going|love (?:that|it|this|the|your)|i (?:love|like) (?:it|that|this|how|your|you)\b|"
        r"i(?:'m|’m| am) (?:so |really |very )?(?:glad|happy|sorry|proud|excited|thrilled|sure|not sure|fine|"
        r"good|ok|okay)\b|i (?:don't|don’t|do not) (?:know|think|mind|care|remember)|i (?:agree|see|"
        r"understand|bet|hope|guess)\b)",
    ),
    (
        r"^(?:谢谢|感谢|多谢)",
        r"天气(?:真|很|挺|不错|好)",
        r"^(?:哇|哈哈|太|真(?!的)|好(?!的)|听起来|看起来|恭喜|祝|希望你|加油|我(?:也)?(?:同意|理解|明白|觉得不错|很高兴|很开心|不知道|不确定|不清楚)|那(?:太|真|"
        r"挺|很)|这(?:太|真|挺|听))",
    ),
)
_QUESTION = _Cue(
    (
        r"[?？][\s\"'”’)）]*$",
        r"^(?:(?:and|so|but|also|then|well|hey|by the way),? )?(?:what|which|who|whom|whose|where|when|why|"
        r"how)\b(?!ever)(?=.{0,200}$)(?!.{0,80}\b(?:is why|matters)\b)",
        r"^(?:is|are|was|were|do|does|did|can|could|will|would|should|shall|has|have|am)\s(?:i|you|we|they|"
        r"he|she|it|there|this|that|the|my|your|any|anyone)\b",
    ),
    (
        r"吗[。.!！\s]*$",
        r"^(?:请问|为什么|怎么(?!样都)|如何|哪(?:里|个|些|种|位)|谁|什么|多少|几点|有没有|是不是|能不能|可不可以|要不要|会不会)",
    ),
)
_REQUEST = _Cue(
    (
        r"^(?:please|pls|kindly|can you|could you|would you|will you|help me|tell me|show me|give me|write|"
        r"explain|recommend|suggest|summari[sz]e|translate|find|search|list|make me|create|generate|"
        r"draft|describe|compare|check|fix|let's (?!see)\w+|i(?:'d| would) like (?:you )?to|i (?:want|"
        r"need) (?:you to|to know|help|some help|your)|i(?:'m| am) (?:looking for|wondering)|"
        r"remind me|look up|send me|open|play|book|buy)\b",
        r"\b(?:can|could|would|will) you (?:please |help|tell|show|give|explain|suggest|recommend|also|make|"
        r"write|check)|\bplease (?:help|tell|show|give|explain|write|check|let me)",
        r"\bthis time\b|\bjust (?:this )?once\b|\bfor now,? (?:please|just|give|make|keep)",
    ),
    (
        r"^(?:请(?!记|以后)|麻烦|拜托|帮(?:我|忙|一下)|给我|告诉我|推荐|介绍|写|翻译|总结|解释|查|搜|列|生成|能不能|能否|可以帮|可否|我想(?:知道|问|请教|了解|咨询)|"
        r"想请教|你能|你可以|你帮|来(?:一|个|份))",
        r"(?:这次|这一次|这回|暂时).{0,12}(?:详细|简短|简洁|长|短|一点|一些|就好|就行|即可)",
    ),
)
_STANDING = _Cue(
    (
        r"\b(?:remember (?:that|this|my|to)|don't forget|do not forget|keep in mind|for (?:the|your|"
        r"future) (?:record|reference)|note to self)\b",
        r"\b(?:from now on|going forward|in (?:the )?future,? (?:please|always|use|answer|reply|don't)|"
        r"whenever i (?:ask|say|write))\b",
        r"^(?:please |and |but )*(?:always|never) (?!(?:been|seen|heard|thought|knew|had|mind)\b)\w+|"
        r"^(?:don't|do not|stop) (?:use|using|call|calling|send|sending|add|adding|ask|asking)\b",
        r"\bplease (?:always|never|don't|do not|stop|avoid)\b|\b(?:just )?call me [A-Z]",
    ),
    (
        r"记住|请记|(?<![我还都不你])记得(?!吗|你|我|那|上|小|以前|当)|别忘|不要忘|帮我记|备忘",
        r"以后(?:请|都|就|不要|别|回答|回复|用|你|一律)|从(?:现在|今天|今)(?:开始|起|以后|往后)|今后|每次(?:都|回答|回复)|一律|永远(?:不要|别|用)|(?:不要|"
        r"别)再(?:用|给|叫|发|问)|(?:叫|称呼)我[^，。]{1,8}(?:就好|就行|吧|即可|。|$)|请(?:一直|始终|总是|务必)",
    ),
)
_PREFERENCE = _Cue(
    (
        r"\bi(?:'d| would|’d)? (?:(?:really|absolutely|still|usually|always|generally|much|strongly|also|"
        r"just|actually|definitely|personally|rather|never|only) )*"
        r"(?:prefer|love|hate|dislike|adore|enjoy|detest|loathe|favou?r|can(?:'t|’t|not) stand|(?:don't|"
        r"don’t|do not) (?:really )?(?:like|enjoy|eat|drink|want)|like)\b"
        r"(?! (?:it|how|your|you|to (?:ask|know|see|hear|thank|say|add)|(?:that|this)(?! \w+ing|"
        r" [a-z]{4,}))\b)(?! ?[.!?]*$)",
        r"\bmy (?:\w+ ){0,2}(?:favou?rites?|preference|preferred|hobby|hobbies|taste|dream|pet peeve)\b|"
        r"\bi(?:'m|’m| am) (?:really |very |deeply |also )?(?:a (?:big |huge |real )?fan of|not a fan|"
        r"allergic|lactose|vegetarian|vegan|"
        r"intolerant|afraid of|scared of|fond of|obsessed with|addicted to|interested in|passionate about|"
        r"keen on|into|tired of|sick of|used to)\b",
        r"\bi (?:only|never|always|usually) (?:eat|drink|use|wear|work|fly|read|take|buy|listen|watch|write|"
        r"sleep|travel|run|order|cook|choose|pick|sit|book)\b",
    ),
    (
        r"(?:我|本人|咱)(?:们)?[^，。！？,.!?的]{0,8}(?:喜欢|喜爱|热爱|偏好|偏爱|最爱|爱好|爱(?:吃|喝|看|听|玩|用|穿|去)|讨厌|厌恶|反感|受不了|不(?:吃|喝|"
        r"爱|抽|想要)|过敏|忌口|习惯(?:了|用|于|在)?|更?倾向|感兴趣|害怕|迷上|想要的是|只(?:吃|喝|用|看|穿|坐|买))(?!这个吗|吗|你|它[。！!]|这[。！!])",
        r"我的?(?:最爱|爱好|兴趣|偏好|口味|习惯|梦想)|(?:对.{1,8}|花粉|海鲜|青霉素|坚果)过敏",
    ),
)
_THIRD_PREFERENCE = _Cue(
    (
        r"\b(?:he|she|they|[A-Z][a-z]+|my \w+) (?:(?:really|also|still) )?(?:prefers|loves|likes|hates|"
        r"dislikes|enjoys|is allergic|can't stand|is a fan|is afraid)\b",
    ),
    (
        r"(?:他|她|它|[\u4e00-\u9fff]{2,6})(?:特别|很|最|也|非常|挺|比较|平时|不|更)*(?:喜欢|讨厌|爱(?:吃|喝|看|听|玩|好)|热爱|过敏|害怕|偏爱)",
    ),
)
_DECISION = _Cue(
    (
        r"\b(?:we|i|they|he|she|the (?:team|board|company|client|customer)|[A-Z][a-z]+)(?:'ve|’ve|'re|’re|'m|"
        r"’m|'ll|’ll| have| has| are| am| is| will| was| were)? (?:(?:finally|just|all|already|officially|"
        r"now|jointly|both) )*"
        r"(?:decid(?:ed|ing)|agreed (?:to|on|that)|chos(?:e|en)|picked|settled (?:on|for)|committed to|opted|"
        r"going (?:with|for)|(?:use|go|stick|stay) with|switch(?:ed|ing) (?:to|from)|mov(?:ed|ing) (?:to|"
        r"from|off)|migrat(?:ed|ing)|"
        r"adopted|approved|rejected|cancel(?:l?ed|l?ing)|signed|finali[sz]ed|upgraded|replaced|dropped|"
        r"postponed|resigned|quit|accepted|hired|stopped using|no longer (?:us|eat|drink|work|liv|need|"
        r"want)\w*)\b",
        r"\b(?:the (?:final )?(?:decision|plan|verdict) is|it(?:'s| is|’s) (?:been )?decided|decision:|"
        r"final answer|was (?:changed|moved|postponed|cancell?ed|replaced|upgraded|renamed|approved) (?:to|"
        r"by|from|on)|(?:is|are) now|no longer)\b",
    ),
    (
        r"决定|(?:已经?|都|就)?(?:商|敲|选|确|约|谈)定(?!吗)|定(?:了|下来|在|于|为)|选(?:了|用|择了)|改(?:用|成|为|到|在)|换(?:成|了|到|用)|采用|"
        r"同意了?|通过了|取消|放弃|推迟|延期|提前到|升级(?:到|为|成)|迁移|签(?:了|约)|批准|不再|停用|弃用|搬(?:到|去|家)|辞职|离职|入职|跳槽|录用|录取|分手|订婚|"
        r"结婚|离婚",
    ),
)
_IDENTITY = _Cue(
    (
        rf"\b(?:my|our) (?:(?:full|first|last|real|new|current|old|home|work|older|younger|little|big|best|"
        rf"late|ex|own|team|company|dog|cat|pet)(?:'s|’s)? ){{0,2}}(?:name|nickname|birthday|anniversary|"
        rf"address|phone|number|e-?mail|job|title|salary|budget|"
        rf"age|height|weight|size|blood type|hometown|country|timezone|time zone|school|major|degree|employer|"
        rf"company|team|manager|laptop|car|bike|house|flat|apartment|dog|cat|pet|goal|deadline|schedule|"
        rf"address|account|server|{KIN})s?(?:'s name)? "
        r"(?:is|are|was|were|has|have|lives?|works?|moved|studies|study|turns?|turned|died|got|goes|went|"
        r"graduated|called|named)\b",
        r"\bi(?:'m|’m| am) (?:(?:also|now|currently|originally|actually) )?(?:(?:a|an|the) (?!(?:bit|little|"
        r"lot|few|fan|big fan)\b)\w+|\d{1,3}\b|from [A-Z]|based in|married|single|engaged|divorced|retired|"
        r"pregnant|diabetic|left-handed|colou?r-?blind|born|"
        r"(?:living|working|studying|staying|training|learning|teaching) )",
        r"\bi (?:(?:also|now|currently|still|have|used to) )*(?:live[ds]? (?:in|at|on|near|with)|work(?:ed|"
        r"s)? (?:at|for|as|in|on)|stud(?:y|ied)|was born|grew up|graduated|own|speak|teach|manage|lead|"
        r"joined|weigh|drive|got (?:married|engaged|promoted|divorced)|"
        r"have (?:a|an|one|two|three|four|five|no|\d+) (?!(?:question|idea|feeling|hunch|quick|problem|few|"
        r"lot|bit|minute|moment|doubt|look|chance|plan|clue)\b))",
        r"\b[A-Z][a-z]+ is my |\bthis is my (?!\w+ time)",
    ),
    (
        r"我(?:的名字|全名|小名)?叫(?!了|他|她|你|车|外卖|醒)|我姓|我是(?!说|想|觉得|不|否|在|要|不是|真的|来|想要|很|怕|第|这)|我今年|我(?:现在|目前)?住|"
        r"我家(?:在|有|是|住|里有)|我(?:现在|目前|一直)?在[^，。？?]{1,16}(?:工作|上班|上学|读书|读研|实习|做|当|任职|学习)|我(?:有|"
        r"养了?)(?:[一二两三四五六七八九十几\d]|个|只|条)|我(?:毕业|出生|来自|属|会说|身高|体重|体检|血型)",
        rf"(?:我|我们|咱)的?(?:{'|'.join(sorted(CHINESE_KIN, key=len, reverse=True))}|生日|电话|手机号?|号码|邮箱|地址|职业|专业|身高|"
        rf"体重|血型|家乡|老家|学历|公司|单位|学校|名字|年龄|工资|预算|目标|猫|狗|宠物|车)[^，。？?]{{0,10}}(?:是|叫|在|有|为|住|：|:|今年|\d)",
        r"是我的?(?!错|意思|想法|事|问题|责任|最)[\u4e00-\u9fff]{2,6}",
    ),
)
_MEETING = _Cue(
    (
        r"\b(?:appointment|deadline|meeting|interview|flight|train|exam|wedding|party|conference|concert|"
        r"reservation|surgery|due|launch|release|demo|presentation|anniversary|visit|trip|course|class)\b",
    ),
    (
        r"截止|会议|开会|例会|预约|约(?:好|了)|面试|航班|高铁|火车|考试|婚礼|聚会|聚餐|出差|行程|发布|上线|交付|答辩|手术|体检|演出|演唱会|发布会|讲座|课",
    ),
)
_WHEN = _Cue(
    (
        r"\b(?:tomorrow|tonight|next (?:week|month|year|monday|tuesday|wednesday|thursday|friday|saturday|"
        r"sunday)|(?:on|by|until|before) (?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:at|"
        r"from) \d{1,2}(?::\d\d)?(?: ?[ap]m)?\b|\d{1,2} ?[ap]m|"
        r"(?:january|february|march|april|may|june|july|august|september|october|november|december) \d|"
        r"\d{4}-\d\d)",
    ),
    (
        r"明天|后天|大后天|今晚|下(?:周|个?月|星期|礼拜)|周[一二三四五六日天末]|星期[一二三四五六日天]|\d+[月点号日时]|[一二三四五六七八九十]+[月点号日]",
    ),
)
_TECHNICAL = _Cue(
    (
        r"\b(?:is|was|are|set to|upgraded|uses?|requires?|runs?|defaults? to|moved|changed|fails?|supports?|"
        r"listens?|returns?|needs?|depends|lives|points|=)\b",
    ),
    (r"是|为|设|改|升级|使用|用|需要|运行|默认|支持|监听|返回|依赖|位于|版本|配置|=",),
)
_PAST = _Cue(
    (
        r"\b(?:i|we|he|she|they|[A-Z][a-z]+)(?:'ve|’ve| have| has)? (?:(?:just|also|finally|recently|already|"
        r"once|never) )*(?:\w{3,}ed|went|was|were|had|got|took|made|saw|met|bought|found|came|did|ran|wrote|"
        r"read|ate|won|lost|gave|left|told|said|began|sold|built|"
        r"caught|spent|taught|thought|flew|drove|felt|heard|been|gone|seen|done)\b",
        r"\b(?:yesterday|last (?:night|week|month|year|summer|winter|spring|fall|\w+day)|\d+ (?:days?|weeks?|"
        r"months?|years?) ago|this morning|recently|earlier today)\b",
    ),
    (
        r"昨天|前天|昨晚|上(?:周|个?月|次|星期)|去年|前几天|刚(?:刚|才)?|今早|最近|曾经?|已经|[\u4e00-\u9fff](?:了|过)(?:[^，。]|$)",
    ),
)
_STATEMENT = _Cue(
    (
        r"\b(?:is|are|was|were|has|have|had|lives|works|means|contains|includes|costs|weighs|belongs|"
        r"consists|comes|requires|uses|provides)\b",
    ),
    (r"是|有|为|叫|在|属于|位于|包括|包含|等于|达到|需要",),
)
FIRST_PERSON = re.compile(
    r"\b(?:i|my|mine|me|we|our|us)\b|(?<!自)我(?![国市省军校方])|咱|本人", re.IGNORECASE
)
_OPINION_OF_YOU = re.compile(r"^(?:you|your)\b|^[你您]", re.IGNORECASE)
_ASKING_TAIL = re.compile(
    r"(?:,|;| -|—|\.\.\.)? (?:and |so |but )?(?:(?:can|could|would|will) you|(?:can|could|should|may) (?:i|"
    r"we)|what|how|which|who|where|when|why|do you|does|"
    r"did you|is it|is there|are there|any (?:ideas|tips|advice)|please (?:help|tell|give|show|"
    r"suggest))\b[^,;]*$|[，,；;][^，,；;]*$",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d|[一二三四五六七八九十百千万]{2,}")


def judge(sentence: str, *, technical: bool = False, named: bool = False) -> Judgement:
    """Judge one sentence.

    Args:
        sentence: The sentence.
        technical: Whether it holds a version, configuration key, path or identifier.
        named: Whether it names someone or something.
    """
    act = _act(sentence, technical=technical, named=named)
    if act in (Act.QUESTION, Act.REQUEST) and (tail := _ASKING_TAIL.search(sentence, 4)) is not None:
        # "I'm allergic to nuts, what can I eat?" states a fact and asks.
        stated = judge(sentence[: tail.start()], technical=technical, named=named)
        if stated.score > SCORES[Act.REMARK]:
            return stated
    score = SCORES[act]
    if act in (Act.FACT, Act.EVENT, Act.REMARK):
        score += 0.05 * (named + (_DIGIT.search(sentence) is not None))
    return Judgement(act, round(score, 2))


def _is_small_talk(sentence: str) -> bool:
    """Whether nothing but greetings, thanks and assent is left, or the name of who is greeted."""
    if len(sentence) > 80:
        return False
    rest = _SMALL_TALK.sub("", sentence)
    return not any(map(str.isalnum, rest)) or (rest != sentence and _NAME_ALONE.fullmatch(rest) is not None)


def _act(sentence: str, *, technical: bool, named: bool) -> Act:
    if _is_small_talk(sentence):
        return Act.SMALL_TALK
    asks = _QUESTION(sentence)
    if _STANDING(sentence) and not asks:
        return Act.STANDING
    if asks:
        return Act.QUESTION
    if _REQUEST(sentence):
        return Act.REQUEST
    for cue, act in ((_PREFERENCE, Act.PREFERENCE), (_IDENTITY, Act.IDENTITY)):
        if cue(sentence):
            return act
    if _REACTION(sentence) and not technical:
        return Act.REACTION
    if _DECISION(sentence) and _OPINION_OF_YOU.match(sentence) is None:
        return Act.DECISION
    if _MEETING(sentence) and _WHEN(sentence):
        return Act.APPOINTMENT
    if technical and _TECHNICAL(sentence):
        return Act.TECHNICAL
    if _THIRD_PREFERENCE(sentence):
        return Act.FACT
    if _PAST(sentence):
        return Act.EVENT
    if _STATEMENT(sentence) and (named or _DIGIT.search(sentence) is not None):
        return Act.FACT
    return Act.REMARK
