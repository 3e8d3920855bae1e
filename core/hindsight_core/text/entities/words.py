"""Word lists for recognising names: what a capital letter or a tag alone cannot tell.

None of them claims to be complete. A list of what is *not* a name errs on the side of silence: an entity that is
missed costs little, since the words are indexed anyway; one that is wrong ties strangers together.
"""

from __future__ import annotations

from itertools import chain


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# -- English -------------------------------------------------------------------------------------------------

GIVEN_NAMES = _words(
    """
    aaron abby abigail adam adrian agnes ahmed aidan aisha alan albert alejandro alex alexa alexander alexandra alexis
    alfred ali alice alicia alison allen alyssa amanda amber amelia amina amir amy ana anastasia andre andrea andreas
    andrew andy angela angelina anita ann anna anne annie anthony antonio anya archie ariana arjun arthur arun ashley
    astrid audrey austin ava barbara beatrice becky bella ben benjamin bernard beth betty bianca bill billy bob bobby
    boris brad bradley brandon brenda brian bridget bruce bruno bryan caleb calvin cameron camila carl carla carlos carmen
    carol carolina caroline carolyn carrie catherine cathy cecilia charles charlie charlotte chen chloe chris christian
    christina christine christopher claire clara claudia colin connor craig crystal cynthia daisy damian dan dana daniel
    daniela danielle danny darren dave david dawn dean deborah debra denise dennis derek diana diane diego dimitri dmitri
    dominic don donald donna dora doris dorothy doug douglas dylan eddie edgar edith eduardo edward edwin eileen elaine
    eleanor elena eli elijah elizabeth ella ellen ellie elsa emil emily emma enrique eric erica erik erika erin ethan eugene
    eva evan evelyn fatima felix fernando fiona florence frances francesca francis francisco frank fred freddie frederick
    gabriel gabriela gabrielle gareth gary gavin gemma geoff george georgia gerald gerard gina giovanni giulia glen gloria
    gordon grace graham greg gregory greta guillaume gus gustavo guy hana hank hannah hans harold harriet harry harvey
    hassan hazel heather hector heidi helen helena henrik henry holly howard hugh hugo ian ibrahim igor ines ingrid irene
    iris isaac isabel isabella ivan jack jackie jackson jacob jacqueline jade jaime jake james jamie jan jane janet janice
    jasmine jason javier jay jean jeff jeffrey jen jenna jennifer jenny jeremy jerome jerry jesse jessica jill jim jimmy jin
    joan joanna joanne joe joel johan johanna john johnny jon jonas jonathan jordan jorge jose joseph josephine josh joshua
    joyce juan juanita judith judy julia julian juliana julie juliet jun justin kai karen karim karl kate katherine kathleen
    kathryn kathy katie katrina kayla keith kelly ken kenji kenneth kevin khalid kim kimberly kirsten klaus kristen kristin
    kurt kyle larry lars laura lauren laurence lea leah lee leila lena leo leon leonard leslie lewis li liam lily linda lisa
    liu lois lola lorenzo lorraine louis louise luc luca lucas lucia lucy luis luisa lukas luke luna lydia lynn madeleine
    maggie malcolm manuel marc marco marcus margaret maria marie marilyn mario marion martha martin martina mary mateo
    matt matteo matthew maureen maurice max maxim maya megan mei mel melanie melissa melvin mia michael michelle miguel
    mikael mike mikhail mila miles min ming miranda miriam mohamed mohammed molly monica muhammad nadia nancy naomi natalia
    natalie natasha nate nathan nathaniel neil nicholas nick nicola nicolas nicole nigel nikita nikolai nina noah noor nora
    norman oleg oliver olivia omar oscar otto owen pablo pamela parker pat patricia patrick paul paula pedro penny peter
    petra phil philip philippe phoebe pierre piotr priya rachel rafael raj rajesh ralph ravi ray raymond rebecca reggie
    renee ricardo richard rick riley rita rob robert roberta roberto robin rodrigo roger rohan roman ron ronald rosa rose
    rosie ross roy ruben ruby russell ruth ryan sabrina sally sam samantha samir samuel sandra sanjay santiago sara sarah
    sasha scott sean sebastian sergei sergio seth shannon sharon shawn sheila shirley simon simone sofia sonia sophia sophie
    stacy stan stanley stefan stella stephanie stephen steve steven stuart sue sunil susan suzanne sven sylvia tamara tanya
    tara ted teresa terry theo theodore theresa thomas tiffany tim timothy tina toby todd tom tommy tony tracy travis trevor
    tyler umar ursula valentina valeria valerie vanessa vera veronica victor victoria vijay vikram vincent viola violet
    virginia vivian vladimir walter wang wanda warren wayne wei wendy will william willow xavier xin yan yasmin ying yuki
    yusuf yvonne zach zachary zara zhang zhao zoe
    """
)

PLACES = _words(
    """
    afghanistan africa albania algeria america amsterdam ankara antarctica argentina arizona armenia asia athens atlanta
    auckland austin australia austria baghdad bahrain baltimore bangalore bangkok bangladesh barcelona bavaria beijing
    beirut belarus belfast belgium belgrade berlin bolivia bordeaux bosnia boston brasilia brazil brisbane bristol britain
    brooklyn brussels bucharest budapest bulgaria cairo calgary california cambodia cambridge cameroon canada canberra
    caracas chengdu chennai chicago chile china cologne colombia colorado copenhagen croatia cuba cyprus dallas damascus
    delhi denmark denver detroit dubai dublin ecuador edinburgh egypt england estonia ethiopia europe finland
    florence florida france frankfurt geneva germany ghana glasgow greece greenland guangzhou hamburg hangzhou hanoi havana
    hawaii helsinki houston hungary iceland illinois india indonesia iran iraq ireland israel istanbul italy jakarta jamaica
    japan jerusalem johannesburg jordan kabul kansas kazakhstan kentucky kenya kiev korea kosovo krakow kuwait kyiv kyoto
    lagos laos latvia lebanon leeds leipzig libya lima lisbon lithuania liverpool london luxembourg lyon madrid malaysia
    malta manchester manhattan manila maryland massachusetts melbourne mexico miami michigan milan minneapolis minnesota
    missouri moldova monaco mongolia montana montenegro montreal morocco moscow mozambique mumbai munich myanmar nairobi
    namibia nanjing naples nashville nepal netherlands nevada nicaragua nigeria norway oakland ohio oklahoma oregon osaka
    oslo ottawa oxford pakistan palestine panama paraguay paris peking pennsylvania perth peru philadelphia philippines
    phoenix pittsburgh poland portland portugal prague qatar quebec reykjavik rome romania rotterdam russia rwanda sacramento
    salzburg santiago scotland seattle senegal seoul serbia seville shanghai shenzhen siberia singapore slovakia slovenia
    somalia spain stockholm stuttgart sudan sweden switzerland sydney syria taipei taiwan tanzania tehran tennessee texas
    thailand tibet tokyo toronto tunisia turin turkey u.k. u.s. u.s.a. uganda uk ukraine uruguay usa utah uzbekistan vancouver venezuela
    venice vermont vienna vietnam wales warsaw washington wisconsin wuhan wyoming xiamen xian yemen zambia zimbabwe zurich
    """
)

PLACES_OF_WORDS = frozenset(
    name.strip()
    for name in [
        "\n    new york",
        " new york city",
        " new jersey",
        " new mexico",
        " new orleans",
        " new hampshire",
        " new zealand",
        " new delhi",
        " new england",
        "\n    los angeles",
        " las vegas",
        " san francisco",
        " san diego",
        " san jose",
        " san antonio",
        " salt lake city",
        " hong kong",
        " sri lanka",
        " costa rica",
        "\n    puerto rico",
        " el salvador",
        " south korea",
        " north korea",
        " south africa",
        " south america",
        " north america",
        " latin america",
        "\n    saudi arabia",
        " united states",
        " united states of america",
        " united kingdom",
        " united arab emirates",
        " european union",
        "\n    czech republic",
        " buenos aires",
        " rio de janeiro",
        " sao paulo",
        " mexico city",
        " cape town",
        " tel aviv",
        " abu dhabi",
        " kuala lumpur",
        "\n    ho chi minh city",
        " north carolina",
        " south carolina",
        " north dakota",
        " south dakota",
        " west virginia",
        " rhode island",
        " middle east\n    ",
    ]
)

CALENDAR = _words(
    """
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays
    mon tue tues wed thu thur thurs fri sat sun
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    spring summer autumn fall winter christmas easter thanksgiving halloween
    am pm gmt utc cet est edt pst pdt cst
    """
)

NO_NAMES = _words(
    """
    i i'm i've i'll i'd ok okay tv ps fyi lol omg asap diy btw imo imho faq todo note warning tip hint id ids ceo cto cfo hr
    pdf etc aka vs re url urls api apis html css json xml sql http https png jpg csv yaml cpu gpu ram usb gui cli sdk ide
    english chinese french german spanish italian japanese korean russian american british european asian african indian
    latin greek dutch portuguese arabic hebrew mexican canadian australian western eastern northern southern
    christian muslim jewish buddhist catholic god lord mr mrs ms dr prof sir madam mom mum dad mommy daddy grandma grandpa
    us faqs app apps pc suv dna vip ktv ppt gdp cpi ipo etf gps led lcd oled atm
    user assistant human system bot agent ai admin q a b c d e x y z ii iii iv
    north south east west
    """
)
"""Written with a capital, yet not the name of anything a memory is about."""

COMMON = _words(
    """
    about absolutely according accordingly actually add additionally adjust after afterwards again agree ahead all allow
    almost along already alright also alternatively although always amazing among analyze and another answer any anybody
    anyone anything anyway apart apparently appendix apply appreciate approach are art article as ask assume assuming at
    attempt aunt authors available avoid aw awesome aww baby back background bad based basic basically be because become
    before begin behind being below benefits beside besides best better between beware beyond big both break brief bring
    brother budget build business but buy by bye call can cannot care careful catch cause certainly change chapter
    chat check choose class clean clear clearly click close code collect come coming common community company compare
    complete conclusion conduct configure confirm congrats congratulations connect consequently consider contact content
    continue convert cook cool copy correct could count cousin create critical curious current currently customize cut daily
    damn data date day days dear decide deep define definitely delete deploy describe description design despite determine
    develop did different dinner discover discuss do document does dog don't done double down download draft draw dream
    dude due during each early easy eat edit education effective efficient either else email emphasize enable encourage
    end engage enjoy enough ensure enter especially establish estimate evaluate even eventually ever every everybody everyone
    everything everywhere evidently exactly example excellent except exciting execute exercise expand expect experience explain
    explore extra extract fair family fantastic far fast father feature features feel few figure file final finally find
    fine finish first fix focus follow following food for fortunately found foundation free friend friends from fun function
    funny further furthermore future gather general generally generate get getting give given glad go goal goals going
    gonna good goodbye goodness gosh got gotcha gotta gradually grandfather grandmother great group guess guide had haha
    half hang happily happy hard has have having he health hear heard hello help helpful hence her here here's hers hey hi
    high highly hire his hold home honestly hope hopefully host house how however huge hundreds husband identify if image
    imagine immediately implement important improve in include including income increase incredible indeed initially input
    insert inside inspect install instead integrate interesting internal into introduction invest invite is isn't issue issues
    it it's its itself job join journal just keep key kids kind know last lastly late lately later launch learn least leave
    less let let's letter level leverage life like likely likewise limit limited link list listen literally little live local
    logically long look looking looks lots love lovely low luckily lunch mail main maintain make making man manage manager
    many map mark market match maybe me mean meanwhile meet meeting mention message method might mine minor miss model
    modify moment monitor month monthly more moreover morning most mostly mother move movie moving much multiple music must nature challenges success confidence
    my myself name naturally near nearly need neither never nevertheless new next nice night no nobody none nope nor normally
    not note notes nothing notice now number obviously occasionally of off offer often oh old on once one only oops open
    option options or order organize original other others otherwise our ours out outside over overall overview own page
    paint paper part parents partly party pass past people perfect perform perhaps period person personal personally phase
    phone photo pick picture place plan play please plenty plus point possible possibly practice prepare presumably
    pretty prevent previously price print prioritize probably problem problems process product project projects
    promote properly protect prove provide purchase purpose put question questions quick quickly quite rain rarely rate
    rather reach read reading ready real really reason recall recently recommend reduce refer reference regarding regardless
    register regular regularly related relax release remember remind remove replace reply report request require requirements
    research research reserve resources respect respond response restart result results return review reward right role room
    run running sadly safe sales same save say schedule school search second section see seek seems seldom select send
    separate seriously service session set setbacks setup several shall share she should show sign similar similarly simple
    simply since sister sit size skip slowly small so social some somebody somehow someone something sometimes somewhere son
    soon sorry sounds source speak special specific specifically spend stage stand start state status stay step steps still
    stop store story strategy street strong structure student study stuff style subject submit subsequently such suddenly
    suggest summary sunday super support suppose supposedly sure surely surprisingly sweet switch system table take taking talk
    target task tasks teach team technically tell ten test than thank thankfully thanks that that's the their them then there
    there's therefore these they they're thing things think third this those though thousands three through throughout thus
    time times title to today together tomorrow tonight too took top topic total totally track train travel treat trip true
    truly trust try trying turn two type typically ugh uncle under understand understood unfortunately unless unlike until
    up update upgrade upon use useful user users using usually utilize value various verify version very view visit wait
    walk want was wash watch way we we're wedding week weekend weekly welcome well were what what's whatever when whenever
    where whether which while who whoever whole whose why wife will wish with within without woah woman wonder wonderful
    woohoo work working world worth would wow write writing wrong yay yeah year years yep yes yesterday yet yo you you're
    your yours yourself yup
    """
)
"""Ordinary words: at the start of a sentence, or alone, their capital says nothing."""

ORDINARY_ENDING = (
    "ing",
    "ed",
    "ly",
    "tion",
    "sion",
    "ness",
    "ment",
    "able",
    "ible",
    "ful",
    "ous",
    "less",
    "ize",
    "ise",
)
"""Endings that, at the start of a sentence, speak against a name."""

ORGANISATION_ENDING = _words(
    """
    inc corp corporation company co ltd llc gmbh plc group holdings university college institute school academy bank
    foundation association society committee council agency ministry department union club team laboratory lab labs
    hospital clinic church museum library studio studios press partners ventures capital airlines
    """
)
PLACE_ENDING = _words(
    """
    street road avenue lane square park river lake mountain mountains island islands beach city county airport station
    bridge valley bay district harbor harbour hill hills creek forest desert canyon falls
    """
)
THING_ENDING = _words(
    "award awards prize center centre dome brand theorem law act series book books cup open hall house tower method model "
    "algorithm framework project telescope day street theory test foundation effect"
)
"""What carries a person's name is no person."""
HONORIFICS = _words(
    "mr mrs ms miss dr prof professor sir madam captain president senator judge uncle aunt coach"
)
KIN = (
    "mother|father|mom|mum|dad|parents|brother|sister|son|daughter|wife|husband|spouse|partner|girlfriend|boyfriend|"
    "fiancée?|uncle|aunt|cousin|nephew|niece|grandmother|grandfather|grandma|grandpa|roommate|flatmate|neighbou?r|boss|"
    "manager|supervisor|colleague|coworker|co-worker|mentor|therapist|doctor|dentist|landlord|landlady|teacher|tutor|coach"
)

# -- Chinese -------------------------------------------------------------------------------------------------

SURNAMES = frozenset(
    "王李张刘陈杨赵黄吴徐孙胡朱林何郭罗梁宋郑谢韩唐冯董萧曹袁邓傅沈曾彭吕苏卢蒋蔡魏薛潘杜戴姜范廖邹熊谭陆郝孔崔邱秦侯邵孟"
    "尹黎贾龚赖樊葛殷翟倪韦聂邢俞柯阮詹覃霍翁隋甄裴鲍骆庄祁耿尤靳冉郎沙茅娄岑谌饶阎牟佟丁叶钟姚贺汪汤武康"
)
"""Common surnames that are seldom the beginning of another word."""

AMBIGUOUS_SURNAMES = frozenset(
    "高马金方石夏田任江史龙万段雷钱白于余严余毛常温程成易安洪顾许文施陶季项周华欧舒纪童卫司宁齐路梅辛连单艾"
)
"""Surnames that begin many other words as well: a tag alone is not believed for two characters."""

COMPOUND_SURNAMES = _words("欧阳 司马 上官 诸葛 司徒 东方 独孤 南宫 夏侯 皇甫 尉迟 公孙 慕容 令狐 端木 闻人")

NOT_PERSONS = _words(
    """
    黄金 黄色 黄昏 黄河 黄山 黄瓜 黄油 黄豆 张家 张家界 张家口 李子 杨树 杨梅 林业 林地 林肯 林区 何时 何况 何处 何必 何种 罗马 罗列 梁山 宋代 宋朝 郑重
    郑州 谢谢 谢意 韩国 韩语 韩剧 唐代 唐朝 唐诗 冯氏 董事 董事长 曹操 曾经 曾任 彭博 苏州 苏打 苏联 苏醒 卢布 卢森堡 蒋家 蔡家 魏都 潘多拉 杜绝 杜鹃
    戴上 戴森 姜汤 范围 范本 范畴 熊猫 熊市 谭家 陆军 陆地 陆续 孔雀 孔子 孟子 邱县 秦朝 秦皇岛 侯爵 邵阳 孟加拉 黎明 黎巴嫩 贾家 赖账 葛根 殷切 韦伯 聂耳 柯达 詹姆斯
    霍乱 霍尔 鲍鱼 庄园 庄重 庄严 庄家 尤其 尤为 尤文图斯 沙特 沙发 沙滩 沙漠 沙尘暴 沙拉 丁香 叶子 叶片 叶酸 钟头 钟表 钟情 姚家 贺信 贺卡 贺岁 汪洋 汤圆 汤料 武器 武术 武汉
    武装 武力 武侠 康复 康熙 康乃馨 高尔夫 高尔夫球 高峰会 高水平 高中生 高科技 马拉松 马来西亚 马赛克 马铃薯 石家庄 石油气 方便面 金字塔 金融业
    金额 田径赛 任天堂 江南春 史无前例 龙卷风 龙井茶 白皮书 白血病 于今 余额宝 常见病 程序员 成年人 成绩单 易拉罐 安全感 安慰剂 许多人 文艺片 季后赛 项目部 周边游
    华尔街 欧洲人 欧冠 纪念日 童年时 司机师 齐心协力 路由器 单身汉 艾滋病 王者 王国 王子 王牌 王冠 李宁 吴语 徐徐 孙女 孙子 胡同 胡萝卜 胡椒 朱红 刘海 陈述 陈旧 陈列 陈醋 赵州桥 郭靖 宋体
    安全性 安全部 许可证 易方达 卫健委 乌托邦 比特 科普 多达 在世 令人 新奇 换人 尤文 高新区 高血压 文学家 石家庄 余额 万达 夏令营 田园风
    周一 周二 周三 周四 周五 周六 周日 周末 乔丹 阎王 郎平 茅台 骆驼 饶舌 范文 纪检监察 顾问 毛病 万元户 段时间 安静 温馨 高峰 石头 成都 成长 沙县 沙龙 唐山 汤姆 贺兰山
    """
)

AFTER_GIVEN_NAME = "是说来去在和跟与有的了把被给让做也就都将曾会想要想爱喜住"
"""Characters that the segmenter sometimes leaves at the end of a name."""

BEFORE_NAME = "叫让给跟和找与问请喊"
"""Characters that it sometimes leaves at the beginning of one."""

NEVER_IN_NAMES = frozenset("的了是在和有不这那也就都很太真们么吗呢吧被把与及或但而所其之于")

TRANSLITERATION = frozenset(
    "阿埃艾爱安昂奥巴拜班邦保堡鲍贝本比彼毕宾波伯博布采查达代丹德登邓狄迪蒂丁顿多厄恩尔法凡范菲费芬丰弗福富盖戈格贡古哈海汉豪赫亨侯胡华惠霍基吉加贾杰金卡"
    "凯坎考科克肯库夸拉莱赖兰朗劳勒雷里力利立连列林琳龙卢鲁伦罗洛吕马玛迈麦曼芒梅门蒙米密敏明摩莫姆穆纳乃南内能尼妮宁纽努诺欧帕派潘庞佩彭皮平珀蒲普契齐奇恰乔切钦琼"
    "丘让热日荣若萨塞赛桑瑟森沙莎山尚舍申圣施史士什斯丝苏索塔台泰坦汤唐陶特滕廷图托瓦万旺威韦维魏温文翁沃乌伍西希锡夏香肖谢辛欣休许雪雅亚延扬杨耶叶伊依因英尤于约云泽"
    "扎詹芝朱兹佐卓翰默涅喀夫丽娜莉露娅黛茜萝蕾薇莲芙弥隆嘉"
)
"""Characters that foreign names are written with."""

CITIES = frozenset(
    chain(
        _words(
            """
            北京 上海 天津 重庆 广州 深圳 杭州 南京 苏州 武汉 成都 西安 郑州 长沙 青岛 济南 大连 沈阳 哈尔滨 长春 厦门 福州 宁波 无锡 合肥 南昌 昆明 贵阳 南宁 海口 三亚
            太原 石家庄 兰州 西宁 银川 乌鲁木齐 呼和浩特 拉萨 佛山 东莞 珠海 中山 惠州 汕头 湛江 温州 嘉兴 绍兴 金华 台州 湖州 义乌 常州 徐州 南通 扬州 镇江 盐城 连云港
            烟台 潍坊 临沂 淄博 威海 洛阳 开封 桂林 柳州 北海 大理 丽江 洱海 泉州 漳州 莆田 赣州 九江 景德镇 株洲 湘潭 岳阳 宜昌 襄阳 荆州 芜湖 蚌埠 黄山 唐山 保定 邯郸
            秦皇岛 大同 包头 鞍山 吉林 大庆 咸阳 宝鸡 延安 绵阳 德阳 乐山 遵义 浦东 雄安 敦煌 阳朔 张家界 台北 高雄 香港 澳门 台湾
            北京市 天津市 上海市 重庆市 河北 山西 辽宁 黑龙江 江苏 浙江 安徽 福建 江西 山东 河南 湖北 湖南 广东 海南 四川 贵州 云南 陕西 甘肃 青海 内蒙古 广西 西藏 宁夏 新疆
            西湖 泰山 华山 峨眉山 长城 故宫 天安门 颐和园 黄河 长江 太湖 洞庭湖 鼓浪屿 九寨沟
            """
        ),
        _words(
            """
            中国 美国 英国 法国 德国 日本 韩国 朝鲜 俄罗斯 印度 泰国 越南 新加坡 马来西亚 印尼 印度尼西亚 菲律宾 缅甸 柬埔寨 老挝 蒙古 巴基斯坦 孟加拉国 斯里兰卡 尼泊尔 伊朗
            伊拉克 以色列 巴勒斯坦 沙特 阿联酋 卡塔尔 土耳其 叙利亚 黎巴嫩 约旦 埃及 南非 尼日利亚 肯尼亚 埃塞俄比亚 摩洛哥 乌克兰 波兰 捷克 匈牙利 罗马尼亚 奥地利 瑞士 瑞典
            挪威 芬兰 丹麦 荷兰 比利时 西班牙 葡萄牙 意大利 希腊 爱尔兰 冰岛 加拿大 墨西哥 巴西 阿根廷 智利 秘鲁 哥伦比亚 古巴 委内瑞拉 澳大利亚 新西兰 哈萨克斯坦 阿富汗
            欧洲 亚洲 非洲 美洲 南极 纽约 洛杉矶 旧金山 西雅图 芝加哥 波士顿 华盛顿 伦敦 巴黎 柏林 慕尼黑 莫斯科 东京 大阪 京都 首尔 曼谷 悉尼 墨尔本 多伦多 温哥华 罗马 米兰 威尼斯
            马德里 巴塞罗那 维也纳 日内瓦 苏黎世 阿姆斯特丹 布鲁塞尔 迪拜 孟买 新德里 吉隆坡 雅加达 河内 硅谷 夏威夷 加沙
            """
        ),
    )
)

ORGANISATIONS = _words(
    """
    华为 腾讯 阿里巴巴 字节跳动 百度 京东 美团 网易 滴滴 拼多多 比亚迪 特斯拉 谷歌 微软 亚马逊 英伟达 英特尔 高通 三星 索尼 大疆 联合国 国务院 外交部 新华社 欧盟
    阿里云 腾讯云 华为云 大润发 沃尔玛 星巴克 麦当劳 肯德基 海底捞
    """
)
SYSTEMS = _words(
    "微信 企业微信 支付宝 淘宝 天猫 抖音 快手 钉钉 飞书 小红书 知乎 微博 哔哩哔哩 鸿蒙 推特 脸书 小程序 语雀 有道 高德地图 百度地图"
)

ORGANISATION_SUFFIXES = _words(
    """
    有限公司 公司 集团 大学 学院 中学 小学 幼儿园 医院 银行 研究院 研究所 科学院 委员会 协会 学会 基金会 事务所 律所 法院 检察院 出版社 杂志社 报社 通讯社 俱乐部 工作室 公安局
    派出所 航空 证券 保险 科技 传媒 网络 工厂 餐饮 实验室 联盟 团队 战队 乐队 电视台 政府 法务部 市场部 研发部 财政部 商务部 教育部
    """
)
PLACE_SUFFIXES = _words(
    """
    小区 家园 花园 公寓 广场 公园 车站 火车站 地铁站 机场 酒店 饭店 餐厅 咖啡馆 超市 商场 书店 图书馆 博物馆 美术馆 体育馆 健身房 大厦 大桥 古镇 森林公园 步行街 度假村 景区
    园区 校区 码头 路 街 大道 村 镇 县 区 市 省 州 山 湖 江 河 岛 寺 塔
    """
)
TITLE_SUFFIXES = _words(
    """
    论坛 峰会 高峰会 大会 展会 展览 展览会 博览会 招聘会 研讨会 发布会 运动会 音乐会 演唱会 交流会 分享会 讲座 训练营 夏令营 晚会 大赛 锦标赛 联赛 友谊赛 世界杯 音乐节 购物节
    电影节 艺术节 美食节 盛宴 之旅 之行 团队行 购物行
    """
)
SYSTEM_SUFFIXES = _words(
    """
    系统 平台 项目 网关 引擎 框架 数据库 模块 小程序 客户端 服务器 集群 中台 插件 机器人
    """
)

CHINESE_KIN = _words(
    """
    表哥 表弟 表姐 表妹 堂哥 堂弟 堂姐 堂妹 爸爸 妈妈 父亲 母亲 老爸 老妈 爷爷 奶奶 外公 外婆 姥姥 姥爷 公公 婆婆 岳父 岳母 舅舅 舅妈 姑姑 姑妈 姑父 姑妈 叔叔 婶婶 伯父
    伯母 大伯 阿姨 姨妈 姨父 小姨 哥哥 弟弟 姐姐 妹妹 嫂子 姐夫 妹夫 弟妹 丈夫 妻子 老公 老婆 爱人 儿子 女儿 孙子 孙女 外甥 外甥女 侄子 侄女 女朋友 男朋友 女友 男友 未婚夫
    未婚妻 同事 上司 下属 老板 室友 舍友 邻居 同桌 导师 班主任 房东
    """
)
"""People known by what they are to the speaker."""

CHINESE_TITLES = _words(
    """
    老师 经理 总监 主任 医生 教授 律师 阿姨 叔叔 师傅 同学 女士 先生 总 工 哥 姐
    """
)

CHINESE_NO_MODIFIER = _words(
    """
    使用 采用 参加 加入 开发 搭建 升级 登录 访问 打开 推出 举办 举行 出席 组织 关注 进入 离开 成立 位于 任职 就职 毕业 负责 参与 担任 工作 喜欢 需要 觉得 知道 认为 希望 推荐
    召开 会见 关于 参观 经过 来到 前往 作为 成为 属于 包括 没有 就是 还有 发现 听说 看到 去过 住在 正在 开始 继续 告诉 购买 注册 下载 安装 重启 维护 管理 支持 提供 包含 通过 进行 选择
    不错 很好 好吃 漂亮 方便 舒服 安静 干净 热闹 便宜 昂贵 有名 著名 周到 真是 非常 特别 一般 将要 准备 打算 计划 报名 利用 联系 涉及 涉嫌 发布 宣布 表示 指出 强调
    """
)
"""Verbs and adjectives that stand before a name without being part of it."""

CHINESE_LEADS = _words(
    """
    我国 全国 全球 国内 国际 本地 当地 附近 周边 同事 朋友 老家 一家 热门 大型 小型 新型 普通 主要 最大 相关 有关 有时候 点儿 时候 这家 那家 该 本 某 各 新 老 大 小
    """
)
"""Nouns and the like that stand before a name without being part of it."""

CHINESE_GENERIC = CHINESE_LEADS | _words(
    """
    公司 集团 有限公司 大学 学院 医院 银行 系统 平台 项目 小区 活动 论坛 大会 国家 城市 地区 综合 上市 科技 互联网 国有 私人 民营 操作 管理 免疫 教育 交通 生态 社交 电商
    服务 技术 网络 合作 交流 投资 建设 重点 重大 上司 下属 单位 高端 人员 企业 商业 新闻 体育 音乐 美食 购物 精英 高峰 行业 专业 部门 机构 官方 政府 地方 综合型 大型综合 连锁
    快餐 科研 学术 开发 后台 前端 线上 线下 产品 安全 视听 年终总结 艺术 人力资源 定点 全资 全资子 子 部分 视频 社交媒体 中国式
    """
)
"""Words that make no name of what follows them."""

NAMING_VERBS = _words(
    "创新 支付 拓展 探索 阅读 登录 搜索 推荐 跑步 监控 结算 发展 投资 招聘 体育 旅行 健身 摄影 观影 配送 推送 审批 报销 考勤 调度 渲染"
)
"""Verbs that may begin a name."""

WEAK_ENDINGS = _words(
    "团队 科技 餐饮 网络 航空 传媒 保险 证券 工厂 政府 联盟 项目 机器人 广场 商场 超市 餐厅"
)
"""Endings that need a proper name before them."""

NOT_PLACES = _words(
    "人山人海 中超联赛 城市 海洋 高山 登山 上山 雪山 火山 东南西北 大中城市 一线城市 周边城市 两岸三地"
)
