"""What a made-up life can speak of, in two languages: matters and their wordings, lists of values, pieces of names.

A matter is an attribute that something or somebody has; {s} stands for whose, {v} for its value.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Matter:
    """An attribute that something or somebody has, with the ways to speak of it; {s} is whose, {v} the value."""

    about: str
    changes: bool
    values: str
    tell: str
    again: tuple[str, ...]
    change: tuple[str, ...]
    ask: str


def _matters(*rows: tuple[str, str, str, tuple[str, ...], tuple[str, ...], str]) -> tuple[Matter, ...]:
    return tuple(
        Matter(about, bool(change), values, tell, again, change, ask)
        for about, values, tell, again, change, ask in rows
    )


ENGLISH = _matters(
    ("system", "port", "The port of {s} is {v}.", ("{s} listens on port {v}.", "As I said, the port of {s} is {v}."),
     ("The port of {s} is now {v}.", "We moved {s} to port {v}."), "Which port does {s} use?"),
    ("system", "person", "The owner of {s} is {v}.", ("{s} is owned by {v}.", "{v} is the owner of {s}."),
     ("The owner of {s} is now {v}.", "{v} has taken over {s}."), "Who owns {s}?"),
    ("system", "version", "{s} runs version {v}.", ("The version {s} runs is {v}.", "{s} is on version {v}."),
     ("{s} now runs version {v}.", "We upgraded {s} to version {v}."), "Which version does {s} run?"),
    ("system", "seconds", "The timeout of {s} is {v} seconds.", ("{s} times out after {v} seconds.",),
     ("The timeout of {s} is now {v} seconds.", "We changed the timeout of {s} to {v} seconds."), "What is the timeout of {s}?"),
    ("person", "city", "{s} lives in {v}.", ("{v} is where {s} lives.",),
     ("{s} has moved to {v}.", "{s} now lives in {v}."), "Where does {s} live?"),
    ("person", "drink", "The favourite drink of {s} is {v}.", ("{s} likes {v} best of all drinks.",),
     ("The favourite drink of {s} is now {v}.",), "What is the favourite drink of {s}?"),
    ("system", "language", "{s} is written in {v}.", ("The code of {s} is {v}.",), (), "What language is {s} written in?"),
    ("system", "path", "{s} keeps its logs in {v}.", ("The logs of {s} are in {v}.",), (), "Where are the logs of {s}?"),
    ("system", "thing", "{s} was named after a {v}.", ("The name of {s} comes from a {v}.",), (), "What was {s} named after?"),
    ("person", "day", "The birthday of {s} is {v}.", ("{s} has a birthday on {v}.",), (), "When is the birthday of {s}?"),
    ("person", "food", "{s} is allergic to {v}.", ("{v} makes {s} ill, it is an allergy.",), (), "What is {s} allergic to?"),
    ("person", "pet", "The dog of {s} is called {v}.", ("{s} has a dog by the name of {v}.",), (), "What is the dog of {s} called?"),
    ("person", "field", "{s} studied {v}.", ("The subject {s} studied is {v}.",), (), "What did {s} study?"),
)  # fmt: skip
CHINESE = _matters(
    ("system", "port", "{s}的端口是{v}。", ("{s}监听{v}端口。", "我说过，{s}的端口是{v}。"),
     ("{s}的端口现在是{v}。", "{s}的端口改成{v}了。"), "{s}用哪个端口？"),
    ("system", "person", "{s}的负责人是{v}。", ("{s}由{v}负责。", "{v}是{s}的负责人。"),
     ("{s}的负责人现在是{v}。", "{s}的负责人换成{v}了。"), "{s}由谁负责？"),
    ("system", "version", "{s}的版本是{v}。", ("{s}运行的是{v}版本。",),
     ("{s}升级到{v}版本了。", "{s}的版本现在是{v}。"), "{s}现在是哪个版本？"),
    ("system", "seconds", "{s}的超时是{v}秒。", ("{s}超过{v}秒就超时。",),
     ("{s}的超时改为{v}秒了。", "{s}的超时现在是{v}秒。"), "{s}的超时是多少秒？"),
    ("person", "city", "{s}住在{v}。", ("{v}是{s}住的地方。",), ("{s}搬到{v}了。", "{s}现在住在{v}。"), "{s}住在哪里？"),
    ("person", "drink", "{s}最喜欢喝{v}。", ("{v}是{s}最喜欢的饮料。",), ("{s}现在最喜欢喝{v}。",), "{s}最喜欢喝什么？"),
    ("system", "language", "{s}是用{v}写的。", ("{s}的代码用的是{v}。",), (), "{s}是用什么语言写的？"),
    ("system", "path", "{s}的日志放在{v}。", ("{v}里是{s}的日志。",), (), "{s}的日志放在哪里？"),
    ("system", "thing", "{s}的名字来自{v}。", ("{s}是因{v}得名的。",), (), "{s}的名字来自什么？"),
    ("person", "day", "{s}的生日是{v}。", ("{s}在{v}过生日。",), (), "{s}的生日是哪天？"),
    ("person", "food", "{s}对{v}过敏。", ("{s}一吃{v}就过敏。",), (), "{s}对什么过敏？"),
    ("person", "pet", "{s}的狗叫{v}。", ("{s}养的狗名叫{v}。",), (), "{s}的狗叫什么？"),
    ("person", "field", "{s}大学学的是{v}。", ("{s}读的专业是{v}。",), (), "{s}大学学的是什么？"),
)  # fmt: skip

LISTS = {
    "en": {
        "city": "Bristol Oslo Porto Lyon Turin Ghent Leeds Graz Cork Bergen Malaga Riga Basel Tartu Aarhus Split",
        "drink": "oolong,cocoa,cider,mint tea,espresso,ginger ale,apple juice,mate,lemonade,chai,buttermilk,rooibos",
        "language": "Rust Kotlin Python Haskell Erlang Scala Ruby Elixir OCaml Swift",
        "thing": "heron,glacier,lighthouse,comet,orchard,lantern,badger,harbour,violin,meadow,falcon,quarry",
        "food": "peanuts,shellfish,pollen,celery,sesame,lupin,mustard,hazelnuts,kiwi,gluten",
        "field": "geology,botany,architecture,law,acoustics,history,statistics,medicine,linguistics,optics",
        "topic": "backup plan,hiring round,office move,data model,release date,price list,logo,audit,alert rules,road map",
        "choice": "the cheaper offer,a smaller team,two phases,the older design,a weekly review,the blue draft,"
        "an outside firm,a longer trial,the second vendor,no change at all",
    },
    "zh": {
        "city": "杭州,苏州,成都,厦门,青岛,昆明,南京,西安,大理,珠海,长沙,无锡",
        "drink": "乌龙茶,豆浆,拿铁,酸梅汤,普洱茶,柠檬水,椰汁,菊花茶,可可,米酒",
        "language": "Rust,Kotlin,Python,Haskell,Erlang,Scala,Ruby,Elixir",
        "thing": "一座山,一条河,一种鸟,一首诗,一颗星,一座桥,一种花,一艘船",
        "food": "花生,虾,芒果,牛奶,芝麻,鸡蛋,腰果,大豆",
        "field": "地质学,植物学,建筑学,法学,声学,历史学,统计学,医学,语言学,光学",
        "topic": "备份方案,招聘计划,搬家安排,数据模型,发布日期,价格表,标志设计,审计工作,告警规则,路线图",
        "choice": "便宜的方案,小一点的团队,分两期做,原来的设计,每周评审,蓝色的稿子,外包公司,延长试用,第二家供应商,不做改动",
    },
}
ACKNOWLEDGED = {
    "en": (
        "Thanks{}!|Okay{}.|Great{}.|Sounds good{}.|Got it{}.|I see{}.|Perfect{}, thanks.|Yes{}.|No problem{}.|Sure{}.|"
        "Good morning{}.|See you later{}.|Haha{}, right.|Nice{}.|Wow{}, cool.|Hmm{}, okay.|You are welcome{}.",
        "|, really|, then|, well done|, friend|, of course|, as always|, lovely",
    ),
    "zh": (
        "谢谢{}！|好的{}。|收到{}。|太好了{}。|明白了{}。|没问题{}。|嗯{}。|可以{}。|早上好{}。|回头见{}。|哈哈{}，是的。|不错{}。|辛苦了{}。|不客气{}。",
        "|啊|呀|，真的|，那就这样|，朋友|，太感谢了|，继续吧",
    ),
}
PASSING = {
    "en": (
        "Can you make the second paragraph about {s} shorter?|Is {s} up right now?|{s} feels a bit slow today.|"
        "Please check the spelling of {s} in my mail.|Build {n} took {m} minutes this morning.|I will look at {s} after lunch.|"
        "What should I write to {p} about room {n}?|{p} is running {m} minutes late today.|It rained for {m} minutes on my way in.|"
        "Could you list {m} titles for the talk on {s}?|I am on page {n} of the minutes {p} sent.|{p} just called, nothing urgent."
    ),
    "zh": (
        "能把关于{s}的第二段改短一点吗？|{s}现在正常吗？|{s}今天有点慢。|请检查一下邮件里{s}的写法。|今早第{n}次构建用了{m}分钟。|我吃完饭再看{s}。|"
        "我该怎么跟{p}说{n}会议室的事？|{p}今天要晚{m}分钟到。|路上下了{m}分钟的雨。|给{s}的演讲想{m}个标题吧。|{p}发的纪要我看到第{n}页了。|{p}刚来过电话，没什么急事。"
    ),
}
EVENTS = {
    "en": ("{p} and the {s} team met about the {topic} and chose {v}.", "What was chosen about the {topic} of {s} on {date}?"),
    "zh": ("{p}和{s}的同事开会讨论了{topic}，决定采用{v}。", "{date}开会讨论{s}的{topic}，决定采用什么？"),
}  # fmt: skip
SYLLABLES = ("bar cor dal fen gil hol jor kel lum mar nor pel quin ros sil tam ulm ver wen yar zel", "a e i o ia ane en is on ur")  # fmt: skip
SURNAMES = "陈林周吴郑冯蒋沈韩杨朱秦许何吕施张孔曹严金魏陶姜"
GIVEN = "若明思远嘉宁子安文博雨晴梓涵书言景行一诺知夏星河云舒清和"
SYSTEM_HAN = "青岚远山晨星白露流云听雨长风暮雪松涛海棠竹溪石桥"
SYSTEM_ENDS = ("网关", "平台", "服务", "引擎", "仓库", "看板")
