"""What words say about slots: which differ as opposites, which name one slot in other words, which hold many values."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a text, divided by spaces."""
    return frozenset(text.split())


def _axes(text: str) -> dict[str, tuple[int, int]]:
    """One axis a line, its ends divided by "/": word -> (axis, end)."""
    found: dict[str, tuple[int, int]] = {}
    for axis, line in enumerate(text.strip().splitlines()):
        for end, named in enumerate(line.split("/")):
            for word in named.split():
                found[word] = (axis, end)
    return found


OPPOSITES = _axes(
    """
    short shorter brief briefly concise succinct terse 短 简洁 简短 简单 精简 扼要 / long longer detailed thorough elaborate lengthy depth 长 详细 详尽 具体 展开
    on enabled enable re-enabled reenabled reactivated active activated open opened opens 营业 打开 开启 开着 启用 开放 开通 / off disabled disable inactive deactivated closed closes 关 关闭 关着 关门 歇业 停业 关掉 停用 禁用
    broken crashed faulty 坏 坏了 故障 / repaired fixed working works mended 修好 修复 正常
    light bright 浅色 亮色 / dark 深色 暗色
    like likes love loves enjoy enjoys adore fond prefer 喜欢 爱 爱吃 爱上 迷上 偏爱 / hate hates dislike dislikes detest stand 讨厌 不喜欢 受不了 反感
    quiet silent 安静 清静 / noisy lively loud 热闹 吵
    hot warm 热 / cold iced 冷 冰
    morning mornings 早上 上午 / evening evenings night nights 晚上 夜里
    public 公开 / private 私有 私密
    formal 正式 / casual informal 随意 口语
    free 免费 / paid pay cost costs charge charges charging 付费 收费
    vegetarian vegan veggie 素食 吃素 / meat 吃肉 荤
    hospitalised 住院 / discharged 出院
    single unmarried 单身 / married 结婚 已婚
    remote remotely home 远程 在家 居家 / onsite office 现场 办公室 坐班
    manual manually 手动 / automatic automatically automated 自动
    allowed allow allows permitted 允许 / forbidden banned prohibited 禁止
    required mandatory 必须 必填 / optional 可选 选填
    full-time 全职 / part-time 兼职
    increase up raise 上涨 / decrease down lower 下降
    passing passes pass / failing fails failed fail 失败 挂
    blocked stuck waiting pending 卡 卡住 阻塞 / unblocked approved released done resolved merged signed 批 签字 解决 完成 放行 通过
    early earlier 早 / late later 晚
    tea 茶 / coffee 咖啡
    sweet 甜 / bitter savoury salty 苦 咸
    stable 稳定 / unstable flaky 不稳定
    left 左 左边 / right 右 右边
    first 首 / last 末
    before 之前 以前 / after 之后 以后
    minimum min 最小 最低 / maximum max 最大 最高
    internal 内部 内网 / external 外部 外网
    staging 预发 测试 / production prod 生产 线上
    primary master / replica secondary
    read 读 / write 写
    north 北 / south 南 / east 东 / west 西
    buy bought buying 买 / sell sold selling 卖
    english 英文 英语 / chinese mandarin 中文 汉语 / spanish 西班牙语 西语 / french 法语 法文 / german 德语 德文 / japanese 日语 日文 / korean 韩语 韩文 / russian 俄语 俄文 / italian 意大利语 / portuguese 葡萄牙语
    metric km kilometres kilometers 公制 公里 / imperial miles 英制 英里
    celsius 摄氏 摄氏度 / fahrenheit 华氏 华氏度
    bullet bullets 要点 列表 / prose paragraphs paragraph 段落 大段 / table tables 表格
    red 红 红色 / blue 蓝 蓝色 / green 绿 绿色 / yellow 黄 黄色 / white 白 白色 / black 黑 黑色 / grey gray 灰 灰色
    online virtually 线上 / offline person 线下
    kindergarten 幼儿园 / primary-school elementary 小学 / 初中 / 高中 / university 大学
    start starts begin 开始 / end ends stop 结束
    """
)


def _groups(text: str) -> dict[str, str]:
    """One group a line, named by its first word: word -> name."""
    found: dict[str, str] = {}
    for line in text.strip().splitlines():
        name, *group = line.split()
        found |= dict.fromkeys(group, name)
    return found


QUANTIFIERS = _axes(
    """
    all every each whole entire 所有 全部 全体 每个 都 / some several few 有些 一些 部分 几个 / most majority 大部分 大多数 多数 / only just solely 只 仅 只有 仅仅 / both / none neither 没有人
    must shall 必须 一定 / should ought 应该 最好 / can may could might 可以 可能 也许
    always 总是 一直 永远 每次 / often usually 经常 通常 一般 / sometimes occasionally 有时 有时候 偶尔 / rarely seldom 很少 极少 / never 从不 从来
    daily 每天 / weekly 每周 / monthly 每月 / yearly annually 每年
    """
)
"""How many, how surely, how often: they keep two texts apart, but "all" against "only" tells of no change."""

PERSONS = _groups(
    """
    I i my me mine myself 我
    we we our us ours ourselves 我们 咱们
    you you your yours yourself 你 您 你们
    he he him his 他
    she she her hers 她
    they they them their theirs 他们 她们
    """
)
"""Who is spoken of by a pronoun."""

SLOTS = _groups(
    """
    @home live lives living lived reside resides 住 住在 搬 搬到 搬去 搬进 搬家 搬走 搬离 搬出 搬出来
    @phone phone telephone extension number mobile 电话 分机 分机号 手机号 号码 座机
    @deadline deadline due 截止 截止日期 到期 期限
    @boss boss manager supervisor 领导 上司 老板 主管 经理
    @job job employer work works working 工作 上班 任职 就职 入职 供职
    @rent rent 房租 租金 月租
    @allergy allergic allergy 过敏
    @price price cost costs 价格 售价 单价
    @editor editor ide 编辑器
    @meeting meeting meetings sync 会议 例会
    @money budget spend 预算 经费
    """
)

SWITCHES = word_set("switch move go 换 换成 改用 改 切换 转")
"""Keys of verbs that tell of a change and no more."""

SLOT_VERBS = {"moved": "@home", "relocated": "@home", "moving": "@home"}
"""Verbs that change a slot without naming it."""

MANY = word_set(
    """
    like likes love loves enjoy enjoys speak speaks know knows play plays own owns visit visited collect
    collects read reads eat eats drink drinks cook watch watches study studies learn learns include includes
    support supports help helps want wants need needs mention see sees contain contains handle handles
    maintain maintains cover covers teach teaches famous known child children son daughter brother sister
    cousin uncle aunt friend friends colleague colleagues neighbour neighbor roommate classmate hobby hobbies
    interest interests skill skills pet pets responsible responsibilities looks look member part fan good 喜欢
    爱 会 说 讲 懂 知道 去过 有 养 负责 参与 包括 支持 擅长 爱好 兴趣 技能 精通 学 认识 拥有 收藏 想 需要 管理 朋友 同事 同学 下属 表哥 表弟 表姐 表妹 堂哥 堂弟 堂姐 堂妹 哥哥
    弟弟 姐姐 妹妹 叔叔 阿姨 舅舅 姑姑 姨妈 邻居 室友 儿子 女儿 孩子 侄子 侄女 外甥 员工 队友 客户 学生 徒弟 宠物 狗 猫 cat dog kid kids puppy kitten 特长
    朋友们 吃 喝 看 玩 买
    """
)
"""Words after or around which a second value is one more, not another one."""

ATTRIBUTES = word_set(
    """
    favourite favorite default main primary current preferred official usual name title colour color port
    host address email phone number capital author director chairperson chairman president ceo head leader
    lead owner manager boss headquarters language religion type version branch database datastore editor
    browser shell font theme style framework status state location place venue room time date day deadline
    timeout limit quota size budget rent salary price cost rate target goal password username timezone
    birthday age weight height major job position role team department doctor dentist school university bank
    provider plan region cluster server url endpoint queue key format protocol encoding currency contact
    mentor supervisor successor priority focus top biggest largest best closest nearest
    """
)
"""Nouns that hold one value at a time: "the X of Y is Z"."""

STATIVE = word_set(
    """
    use uses live lives work works prefer prefers cost costs run runs start starts end ends expire expires
    open opens close closes take takes default defaults belong belongs sit sits need needs drive drives
    report reports lead leads manage manages weigh weighs last lasts hold holds want wants like likes love
    loves park parks get gets speak speaks play plays own owns know knows mean means equals points listens
    serves keep keeps store stores stay stays sleep sleeps eat eats drink drinks wear wears study studies
    teach teaches rent rents pay pays enjoy enjoys go goes died have has had is are was were am be been contains requires supports
    retires meets reads writes deploy deploys
    """
)

COPULAS = word_set("is are was were am be 是 为")
PREPOSITIONS = word_set(
    "in of by to with for at on from as into under about near than 在 于 到 给 跟 和 从 向 往 由 用"
)

IMMUTABLE = word_set("born birthday birth birthdate 出生 生日 生于 生的")
"""What cannot change: another value for it is a mistake somewhere, not a change."""

IRREGULAR = _groups(
    """
    go went gone
    have had
    eat ate eaten
    meet met
    buy bought
    see saw seen
    run ran
    do did done
    come came
    take took taken
    get got gotten
    make made
    give gave given
    leave left
    lead led
    drink drank drunk
    speak spoke spoken
    teach taught
    drive drove driven
    write wrote written
    choose chose chosen
    sell sold
    build built
    send sent
    pay paid
    keep kept
    hold held
    wear wore worn
    sleep slept
    begin began begun
    find found
    lose lost
    win won
    spend spent
    tell told
    think thought
    feel felt
    bring brought
    catch caught
    grow grew grown
    know knew known
    fly flew flown
    swim swam swum
    sing sang sung
    ride rode ridden
    fall fell fallen
    break broke broken
    """
)
PAST = frozenset(IRREGULAR) - {"had", "left", "kept", "held", "chose", "chosen", "known", "led", "built"}

LASTING = word_set(
    """
    decided chose picked agreed settled hired bought adopted joined subscribed set configured assigned named installed moved switched
    detailed limited advanced tired married engaged interested related called based located retired closed blocked injured stored hosted employed unemployed
    registered signed elected appointed promoted enabled disabled planned scheduled booked
    """
)
"""Past tenses that tell of a state which holds since."""

KIN = _groups(
    """
    mother mother mom mum mama 妈 妈妈 母亲 我妈
    father father dad papa 爸 爸爸 父亲 我爸
    wife wife 老婆 妻子 太太
    husband husband 老公 丈夫
    son son 儿子
    daughter daughter 女儿
    brother brother 哥哥 哥
    little_brother 弟弟 弟
    sister sister 姐姐 姐
    little_sister 妹妹 妹
    grandmother grandmother grandma granny 奶奶 外婆 姥姥
    grandfather grandfather grandpa 爷爷 外公 姥爷
    partner partner girlfriend boyfriend 女朋友 男朋友 对象
    friend friend 朋友 闺蜜
    colleague colleague coworker 同事
    uncle uncle 叔叔
    mothers_brother 舅舅
    aunt aunt 阿姨
    fathers_sister 姑姑 姑妈
    mothers_sister 姨妈 姨
    uncles_wife 婶婶 舅妈 伯母
    elder_uncle 伯伯 伯父 大伯
    cousin cousin 表哥
    younger_cousin 表弟
    girl_cousin 表姐
    younger_girl_cousin 表妹
    paternal_cousin 堂哥
    younger_paternal_cousin 堂弟
    paternal_girl_cousin 堂姐
    younger_paternal_girl_cousin 堂妹
    nephew nephew 侄子 外甥
    niece niece 侄女 外甥女
    boss boss manager supervisor 领导 上司 老板 主管
    subordinate subordinate 下属
    classmate classmate 同学
    neighbour neighbour neighbor 邻居
    roommate roommate flatmate 室友
    customer customer client 客户
    """
)
"""Who a sentence is about when it is about somebody of the speaker's: word -> whose."""

UNIQUE_KIN = word_set("mother father wife husband partner boss grandmother grandfather")
"""Whom one has one of."""

LIGHT_STEMS = word_set(
    """
    mayb usual twice onc fulli realli probabl complet basic general normal typic certain definit
    absolut actual simpli almost last next this near lot bit thing stuff way everyth someth anyth noth one ones week yesterday
    today tomorrow tonight now fyi start began want need tri keep make take give know think feel guess mean
    sure done far ago sinc soon later recent late ever hour minut second finish around back new current first
    third anymor longer instead use kinda sorta worri stress nervous excit happi frustrat overwhelm wonder
    help hope thank love great nice good decid struggl look forward plan manag figur understand
    """
)
"""English stems that carry no topic."""

LIGHT = word_set(
    """
    所有 全部 全体 整个 每个 各个 部分 一些
    是 有 在 用 要 会 能 做 到 去 来 说 让 给 觉得 可以 应该 希望 想 没有 没 不 就是 还是 时候 东西 事情 点 那边 这边 出来 起来 进去 过去 过来 上周末 上周 下周 本周 上个月
    这个月 今年 去年 明年 最近 今天 昨天 明天 前天 现在 目前 之前 以前 以后 之后 已经 一共 有点 些 起 大家 人家 上次 下次 一直 这个 那个 里 上 下 中 前 后 时 地 得 挺 特别 比较
    请 一下 直接 附近 旁边 每 我会 好 好的 明白 收到
    """
)
"""Chinese words that carry no topic, beyond those a tag gives away."""
