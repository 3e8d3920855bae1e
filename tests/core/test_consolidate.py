"""The verdict on two statements, as a table: what a new one means for an older one, in both languages and mixed."""

from datetime import UTC, datetime

import pytest

from hindsight_core.consolidate import Decision, Verdict, decide, read_statement

EARLY, LATE = datetime(2031, 1, 5, tzinfo=UTC), datetime(2031, 3, 9, tzinfo=UTC)


def judge(old, new, similarity=None, speaker="user", new_speaker="", old_time=EARLY, new_time=LATE):
    """The decision on `new`, told after `old`."""
    return decide(
        read_statement(new, new_speaker or speaker),
        read_statement(old, speaker),
        similarity=similarity,
        new_time=new_time,
        old_time=old_time,
    )


EVOLVES = {  # what is stored, and what replaces it
    "en": [
        ("Kestrel listens on port 7420.", "Kestrel listens on port 7421."),
        ("Deployments need two approvals.", "Deployments need only one approval now."),
        ("The build uses GCC 11.", "The build uses GCC 13 since Friday."),
        ("The library closes at 6 pm.", "The library now closes at 8 pm."),
        ("I get up at 6.", "New job starts later, so I get up at 7 these days."),
        ("Our API is at version 3.", "Our API is at version 4 now, 3 is deprecated."),
        ("The mascot of our club is a heron.", "The mascot of our club is an otter."),
        ("My dentist is Dr. Okafor.", "Dr. Okafor retired, so my dentist is Dr. Blum now."),
        ("My favourite editor is Alder.", "My favourite editor is now Birch."),
        ("My top priority is the audit.", "Audit's behind us, my top priority is hiring."),
        ("The on-call engineer is Priya Raman.", "The on-call engineer is Tomas Lindqvist."),
        ("My manager is Odile Marchand.", "Odile left, my manager is now Pavel Hruby."),
        ("I'm allergic to shellfish.", "Turns out I'm no longer allergic to shellfish."),
        ("My thesis advisor is Professor Dietz.", "Professor Dietz retired, Dr. Solberg took over as my thesis advisor."),
        ("Gustav runs the mailroom.", "Busy week: the lift is stuck, Gustav left the mailroom to Pia, and lunch is free on Friday."),
        ("I hold an account at Larkbank.", "I closed my Larkbank account in January."),
        ("The office dog is called Pretzel.", "Pretzel's owner quit, so we have no office dog any more."),
        ("Jonas is our scrum master.", "Jonas handed over the scrum master role to Petra yesterday."),
        ("My sister lives in Lund.", "My sister moved to Uppsala in autumn."),
        ("I live in Aldmoor.", "I moved to Brightwater last month."),
        ("I take 20 mg of Lorvex daily.", "My doctor raised Lorvex to 40 mg."),
        ("My phone number ends in 4417.", "I changed my number, it ends in 9082 now."),
        ("The beta has 40 testers.", "The beta is up to 65 testers."),
        ("The invoices go to billing@corvid.example.", "Invoices should go to accounts@corvid.example from now on."),
        ("The yoga class is on Tuesday evenings.", "Yoga class moved to Wednesday evenings."),
        ("The password policy requires 8 characters.", "Security tightened the password policy, it requires 12 characters now."),
        ("We keep the secrets in a text file.", "Secrets have moved to Vaultine, the text file is gone."),
        ("The office wifi is called Heron.", "They renamed the office wifi, it's Egret now."),
        ("The domain is registered with Namebird.", "We transferred the domain from Namebird to Zoneworks."),
        ("The backup server is in Rotterdam.", "The backup server got moved to Ghent over the weekend."),
        ("The printer is on the ground floor.", "Heads up, facilities relocated the printer, you'll find it on the second floor."),
        ("My team lead is Anouk.", "Anouk got promoted and Bertrand is my team lead since Monday."),
        ("Please use metric units when you give me distances.", "I've moved to the States, so give me distances in miles from here on."),
        ("The kitchen is closed for renovation.", "The renovation is finished, the kitchen is open again."),
        ("I like getting long explanations.", "I'd rather get short explanations now, I'm on my phone most of the day."),
        ("I love spicy food.", "I can't stand spicy food any more."),
        ("I hate running.", "I've come to enjoy running, out three times a week."),
        ("The default theme is dark.", "The default theme has been changed to light."),
        ("The heating in the lab is broken.", "The heating in the lab works again, the technician came by."),
        ("The kids go to Ashgrove School.", "The kids changed schools, they go to Birchwood now."),
        ("We buy bread at Krumholt's.", "Krumholt's shut for good, we buy bread at the market now."),
        ("The lease ends in October.", "We renewed the lease, it ends in October 2028 now."),
        ("Leo is our goalkeeper.", "Leo plays in midfield now, Sam is the goalkeeper."),
        ("I prefer window seats.", "I prefer aisle seats these days, my knees need the room."),
        ("The API key expires on 1 June.", "They extended the API key, it expires on 1 September."),
        ("The invoice approval threshold is 500 euros.", "Finance lifted the invoice approval threshold to 750 euros."),
        ("The museum pass is valid until March.", "Renewed the museum pass, it's valid until December."),
        ("The prototype weighs 2.4 kg.", "After the redesign the prototype weighs 1.9 kg."),
        ("We're flying to Malta in May.", "Malta is cancelled, we're flying to Crete in May."),
        ("Nils reports to Greta.", "Nils reports to Anton since the reorg."),
        ("The hackathon takes place in Ghent.", "Ghent fell through, the hackathon takes place in Bruges."),
        ("The report template is in Word.", "The report template is in Markdown now."),
        ("The alarm code was changed to 7421.", "The alarm code was changed to 7422."),
        ("The port changed to 7421.", "The port changed to 7422."),
        ("I use Vim.", "I switched to Helix."),
        ("The ingest port is 7150.", "ingest port is 7160 now instead of 7150"),
        ("The snack budget is 80.", "I've had to raise the snack budget to 95, everybody is hungry."),
        ("Please call me Doctor Varga.", "Just call me Ilka from now on."),
        ("Show me the recipes in Danish.", "From now on show me the recipes in Finnish, please."),
        ("Sort the list by author.", "Let's sort the list by title from now on."),
        ("We bill in kroner.", "Since March we bill in francs."),
        ("We archive invoices on paper.", "Invoices are archived on microfilm now."),
        ("The permit hasn't been issued.", "The permit was issued yesterday."),
        ("The kitten isn't chipped yet.", "The kitten is chipped at last."),
    ],
    "zh": [
        ("押金还没退。", "押金昨天退好了。"),
        ("快递没寄。", "快递已经寄了。"),
        ("我41岁。", "我昨天满42岁了。"),
        ("验收会在 5 月 8 号。", "客户没空，验收会调到 5 月 11 号"),
        ("直接叫我老贺就行。", "以后叫我贺工吧，老贺听着显老"),
        ("我们的迭代周期是两周。", "我们的迭代周期是三周。"),
        ("我现在用 Neovim。", "我现在改用 Helix。"),
        ("网关的端口改成 7421 了。", "网关的端口改成 7422 了。"),
        ("缓存时间是300秒", "缓存时间是600秒"),
        ("红隼监听7420端口。", "红隼监听7421端口。"),
        ("我的工位在二楼。", "我的工位在四楼。"),
        ("会议室在三楼。", "会议室在四楼。"),
        ("端口是7420。", "端口是7421。"),
        ("值班工程师是陈思远。", "值班工程师是周牧。"),
        ("我的主管是欧阳兰。", "欧阳兰调走了，现在我的主管是贺一鸣。"),
        ("我的 favourite editor 是 Alder。", "我的 favourite editor 现在是 Birch。"),
        ("我最喜欢的歌手是陆鸣。", "我现在最喜欢的歌手是程野。"),
        ("团队的口号是稳中求快。", "团队的口号是快中求稳。"),
        ("我最喜欢的编辑器是赤杨。", "我最喜欢的编辑器现在是白桦。"),
        ("对接人是伊沃。", "伊沃离职了，对接人换成拉斯。"),
        ("我们最大的客户是德沃。", "德沃不再是我们最大的客户了，现在是奥川。"),
        ("图片存在本地磁盘。", "图片现在存到对象存储，不放本地磁盘了。"),
        ("张岚是市场部经理。", "张岚不再担任市场部经理了。"),
        ("我每天早上冥想。", "冥想我早就不做了。"),
        ("我订了灯塔周刊。", "灯塔周刊我已经退订了。"),
        ("我不喝酒。", "我最近又开始喝红酒了。"),
        ("我用安卓手机。", "我换苹果手机了。"),
        ("发票寄到朝阳路那个地址。", "发票地址变了，以后寄到和平街。"),
        ("工单HB-12分给奥托了。", "奥托忙不过来，HB-12转给米娜了"),
        ("孩子在白蜡小学上学。", "孩子转学了，现在在桦木小学。"),
        ("我姐姐住在隆德。", "我姐姐秋天搬到乌普萨拉了。"),
        ("夜间导出任务两点跑。", "为了避开备份，夜间导出挪到三点半了"),
        ("我电脑系统是枫叶12。", "电脑系统更新到枫叶13了，开机快了不少"),
        ("我的车牌尾号是7。", "换车了，车牌尾号现在是3。"),
        ("瑜伽课是周二晚上。", "瑜伽课调到周三晚上了。"),
        ("搜索索引每晚重建。", "搜索索引现在每小时重建一次。"),
        ("发布需要两个人审批。", "发布现在只需要一个人审批。"),
        ("告警发到运维群。", "告警现在发到值守群了。"),
        ("总结用要点列出来。", "要点看着累，以后总结写成大段文字"),
        ("我们用甲虫管缺陷。", "缺陷现在用螳螂管了。"),
        ("我喜欢靠窗的座位。", "我现在更喜欢靠过道的座位。"),
        ("退款是小布负责。", "退款现在由小赛负责，小布去物流了。"),
        ("和恒川的合同还在谈。", "恒川今天下午把合同签了"),
        ("回答请尽量简洁。", "之后的回答请详细一些。"),
        ("工单QX-88卡在法务。", "法务签字了，QX-88已经放行。"),
        ("楼下超市24小时营业。", "楼下超市现在晚上十点就关门了。"),
        ("我妈住院了。", "我妈今天出院了。"),
        ("实验室暖气坏了。", "师傅来过了，实验室暖气已经修好"),
        ("默认语言是英文。", "默认语言改成中文啦"),
        ("CI 跑在 Bramble 上。", "We dropped Bramble, CI 现在跑在 Thicket 上。"),
        ("叫我亚历山大就行。", "以后叫我萨沙吧。"),
        ("日报发到我公司邮箱。", "日报以后发我私人邮箱吧，别发公司邮箱了"),
        ("我不会游泳。", "今年夏天终于学会游泳了！"),
        ("我没有打印机。", "上周买了台打印机。"),
        ("我从来不吃早饭。", "我开始吃早饭了，因为早上要跑步。"),
        ("我们没有预发环境。", "我们终于有预发环境了。"),
        ("别用表情符号。", "现在可以用表情符号了。"),
        ("密码最短10位。", "密码最短14位。"),
        ("博物馆年卡三月到期。", "博物馆年卡续了，十二月到期。"),
    ],
}  # fmt: skip
APART = {  # both stay
    "en": [
        ("Alerts go to the #ops channel.", "Invoices go to the #finance channel."),
        ("My brother works at Brightforge.", "My sister works at Coldspring."),
        ("Our team has nine people.", "The design team has four people."),
        ("I charge 80 an hour.", "The electrician charges 95 an hour."),
        ("I speak Portuguese.", "I speak Danish."),
        ("I meditate every morning.", "I tried meditating with an app this morning."),
        ("I take notes in Papyr.", "Papyr costs 5 euros a month."),
        ("My sister lives in Lund.", "My sister has stopped smoking."),
        ("I prefer short answers.", "Just for today, answer in detail."),
        ("I bought a bike last week.", "I sold my old desk yesterday."),
        ("I sing in the cathedral choir.", "The cathedral choir sang in Vienna last week."),
        ("PRs need one reviewer.", "Docs changes need no reviewer."),
        ("Our database is Tidewater 5.", "What if we moved to Tidewater 6?"),
        ("My cat is called Miso.", "My dog is called Pepper."),
        ("Auth uses session cookies.", "The docs say: 'auth now uses tokens'. Is that true?"),
        ("My visa application is pending.", "My colleague's visa was approved."),
        ("Daria leads the mobile team.", "The mobile team has a new logo now."),
        ("I work at Coldspring.", "I finished my work early today."),
        ("I have a Brindle 5 phone.", "Thinking about getting a Sorrel 8."),
        ("The north gate code is 4471.", "The south gate code is 4482."),
        ("The printer is on the ground floor.", "The scanner is on the second floor."),
        ("Nils reports to Greta.", "Nils also reports to Anton for the pilot."),
        ("Ava is a lawyer.", "Ava is a mother of two."),
        ("I like hiking.", "I like sailing."),
        ("I get up at 6.", "I got up at 9 on Sunday."),
        ("My grandmother lives in Aldmoor.", "I moved to Aldmoor last month."),
        ("I visited Oslo in 2019.", "I visited Bergen in 2021."),
        ("Billing runs on Quarry.", "Search moved to Quarry last week."),
        ("Met Paulo for coffee on Monday.", "Met Paulo for dinner on Friday."),
        ("The pool closes at 8.", "The gym closes at 10."),
        ("I went to Kyoto last spring.", "I went to Seoul this spring."),
        ("The gym membership costs 35 a month.", "The pool membership costs 20 a month."),
        ("Lin is compliance lead at Northgate.", "Lin also looks after Northgate's code-hosting account."),
        ("Tova moved to Berlin.", "Tova has a dog."),
        ("Feedback goes to Wim.", "Lotte gave me good feedback today."),
        ("I like my steak rare.", "I like my eggs soft."),
        ("The red team meets at 9:00.", "The blue team meets at 10:00."),
        ("Production runs three replicas.", "Staging runs one replica."),
        ("Our rent is 900.", "The landlord has renewed the fence."),
        ("Our database is Tidewater 5.", "If the tests pass we will upgrade to Tidewater 6."),
        ("I live in Aldmoor with my partner Ilse.", "My flight to Bergen was moved to 14 June at 09:10."),
        ("I moved to Aldmoor in March.", "My flight to Bergen was moved to 14 June at 09:10."),
        ("I live in Aldmoor.", "My desk got moved to the third floor."),
    ],
    "zh": [
        ("部署窗口是每周四下午三点。", "我现在改成每周四晚上打羽毛球了。"),
        ("我现在改成每周四晚上打羽毛球了。", "部署窗口改到每周二上午十点。"),
        ("好的，简洁。", "好的，lantern 开发端口改为 5190。"),
        ("lantern 昨天发了 1.4，主要是图表可以放大了。", "端口改了啊，lantern 本地端口现在是 5190，5180 被占了。"),
        ("好的，之后我会写清楚原因。", "明白：沈柯已离职，发布的问题我会建议找贺然。"),
        ("我哥哥在明锻公司上班。", "我妹妹在冷泉公司上班。"),
        ("数据组四个人。", "数据组昨天一起吃了饭。"),
        ("老周是我们的项目经理。", "项目经理昨天请大家吃饭了。"),
        ("家里有一条狗。", "我们又收养了一只兔子。"),
        ("内测有40个用户。", "公测有900个用户。"),
        ("我在云雀银行上班。", "云雀银行现在推出了新的信用卡。"),
        ("健身卡一个月350。", "泳池卡一个月200。"),
        ("我的组长是安怡。", "安怡这周休假。"),
        ("去年春天我去了京都。", "今年春天我去了首尔。"),
        ("红隼跑在采石场上。", "红隼现在支持暗色主题了。"),
        ("对接人是伊沃。", "伊沃今天发了一份报告。"),
        ("桑娜是猞猁的产品经理。", "桑娜做饭很好吃。"),
        ("Kestrel 的 owner 是 Priya。", "Osprey 的 owner 是 Tomas。"),
        ("小安是律师。", "小安是两个孩子的妈妈。"),
        ("我妈住院了。", "我奶奶今天出院了。"),
        ("我女儿在读二年级。", "我女儿现在喜欢画画了。"),
        ("会员每年299。", "停车费每年399。"),
        ("我每天早上冥想。", "今天早上冥想了二十分钟。"),
        ("回答请简洁。", "今天先详细讲讲。"),
        ("我们的数据库是潮汐5。", "听说隔壁组换成潮汐6了。"),
        ("昨天和保罗喝了咖啡。", "今天和保罗吃了晚饭。"),
        ("儿子在学钢琴。", "女儿不学钢琴了。"),
        ("我平时骑车上班。", "周日沿着河骑车，风景很好。"),
        ("回答请简洁。", "这次给我详细一点。"),
        ("国庆我们去青岛。", "国庆高速免费。"),
        ("队列上限1000", "缓存上限2500"),
        ("北门的密码是4471。", "南门的密码是4482。"),
        ("发布需要两个人审批。", "今天的热修先一个人审批就行。"),
        ("林晓是北门公司的合规负责人。", "林晓还负责北门公司的代码托管账号。"),
        ("周六和老沈一家吃饭。", "周日和老沈去钓鱼。"),
        ("回答请简洁。", "以后回答请用中文。"),
        ("给海拓的演示定在3月3日。", "给科维的演示定在3月10日。"),
        ("我喜欢徒步。", "我喜欢帆船。"),
        ("我家的猫叫味噌。", "我家的狗叫胡椒。"),
        ("五月我们去马耳他。", "九月我们去罗马。"),
        ("我开的是小鹏。", "我老婆开的是零跑。"),
        ("我每天吃20毫克的洛维。", "我爸吃40毫克的洛维。"),
        ("我们在里昂有办公室。", "我们又在波尔图开了一间办公室。"),
        ("我喜欢听播客通勤。", "我也喜欢看书。"),
        ("我七点上班。", "我老公九点上班。"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("old", "new"), EVOLVES["en"] + EVOLVES["zh"])
def test_a_later_value_supersedes(old, new):
    assert judge(old, new).verdict is Verdict.EVOLVES


@pytest.mark.parametrize(("old", "new"), APART["en"] + APART["zh"])
def test_another_subject_event_question_plan_or_addition_leaves_both(old, new):
    assert judge(old, new, similarity=0.9).verdict in (Verdict.RELATED, Verdict.NEW)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The cache is thread-safe.", "The cache is not thread-safe."),
        ("Kestrel supports IPv6.", "Kestrel doesn't support IPv6."),
        ("I like olives.", "I don't like olives."),
        ("My birthday is on 4 June.", "My birthday is on 14 June."),
        ("My flat is 62 square metres.", "My flat is 26 square metres."),
        ("我的房子是62平米。", "我的房子是26平米。"),
        ("缓存是线程安全的。", "缓存不是线程安全的。"),
        ("红隼支持IPv6。", "红隼不支持IPv6。"),
        ("我的生日是6月4日。", "我的生日是6月14日。"),
    ],
)
def test_the_opposite_without_a_sign_of_change_contradicts(old, new):
    assert judge(old, new).verdict is Verdict.CONTRADICTS
    assert judge(old, new, similarity=0.99).verdict is Verdict.CONTRADICTS


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Water the ferns on Sundays.", "water the ferns on sundays!"),
        ("The spare key is in the blue box.", "The spare keys are in the blue box."),
        ("Standup is at 9:30.", "The standup is at half past nine."),
        ("Backups are kept for two weeks.", "Backups are kept for 14 days."),
        ("The kickoff with Fennel is on 7 May.", "Kickoff with Fennel is on May 7."),
        ("周日给蕨类浇水。", "周日给蕨类浇水！"),
        ("备用钥匙在蓝色盒子里。", "备用钥匙在蓝色的盒子里"),
        ("站会是九点半。", "站会是9:30。"),
        ("备份保留两周。", "备份保留14天。"),
    ],
)
def test_the_same_words_are_the_same_even_without_an_embedder(old, new):
    assert judge(old, new).verdict is Verdict.SAME
    assert judge(old, new, similarity=0.8).verdict is Verdict.SAME


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We keep the ledger in a safe.", "We keep the ledger locked in a safe."),
        ("Jun enjoys long walks by the river.", "Jun likes long walks by the river."),
        ("我同事的名字叫陈雪。", "我同事叫陈雪。"),
        ("会议室里有投影。", "大会议室里有投影。"),
    ],
)
def test_a_close_paraphrase_is_the_same_only_from_the_threshold_on(old, new):
    assert judge(old, new, similarity=0.95).verdict is Verdict.SAME
    assert judge(old, new, similarity=0.94).verdict is not Verdict.SAME
    assert judge(old, new).verdict is not Verdict.SAME


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The spare key is in the blue box.", "The spare key is in the red box."),
        ("Ann manages Ben.", "Ben manages Ann."),
        ("The train from Paris to Lyon is full.", "The train from Lyon to Paris is full."),
        ("Write short summaries.", "Write detailed summaries."),
        ("I take sugar.", "I take no sugar."),
        ("The offset is 5.", "The offset is -5."),
        ("The limit is 5 MB.", "The limit is 5 GB."),
        ("The fee is $5.", "The fee is €5."),
        ("Keep p < 0.05.", "Keep p > 0.05."),
        ("Ship v2.3 today.", "Ship v2.4 today."),
        ("All users have access.", "Only some users have access."),
        ("Always lock the shed.", "Sometimes lock the shed."),
        ("You must lock the shed.", "You may lock the shed."),
        ("The key is under the mat.", "The key is behind the mat."),
        ("He likes tea.", "She likes tea."),
        ("I want a dog.", "I have a dog."),
        ("Is the shed locked?", "The shed is locked."),
        ("The shed will be locked.", "The shed is locked."),
        ("Answer briefly this time.", "Answer briefly."),
        ("Jun says the shed is locked.", "The shed is locked."),
        ("备用钥匙在三楼。", "备用钥匙在四楼。"),
        ("买二十个灯泡。", "买二十三个灯泡。"),
        ("回答简洁一点。", "回答详细一点。"),
        ("我吃辣。", "我不吃辣。"),
        ("桌上有盒茶。", "桌下有盒茶。"),
        ("我想养狗。", "我养狗。"),
        ("他住三单元。", "他住四单元。"),
        ("所有人都能进。", "只有管理员能进。"),
    ],
)
def test_what_distinguishes_keeps_two_apart_however_similar(one, other):
    assert judge(one, other, similarity=1.0).verdict is not Verdict.SAME
    assert judge(other, one, similarity=1.0).verdict is not Verdict.SAME


def test_a_long_turn_that_is_met_in_part_stays():
    old = (
        "We rehearse in the old mill. Bring your own stand. The piano is tuned in April, and Odile keeps the keys. "
        "The concert is on 7 May."
    )
    decision = judge(old, "The concert has been moved to 21 May.")
    assert decision == Decision(Verdict.RELATED, "replaces a part: another value", partly=True)


@pytest.mark.parametrize(
    "old",
    ["Hi, I prefer tea over coffee. 我住在杭州。", "I prefer tea over coffee. I live in Aldmoor.", "我喜欢喝茶，不喜欢咖啡。我住在杭州。"],
)  # fmt: skip
def test_a_turn_that_also_says_where_somebody_lives_stays(old):
    assert judge(old, "Actually I prefer coffee now, not tea.").verdict is not Verdict.EVOLVES


def test_a_turn_that_also_asks_for_something_stays():
    decision = judge("Our budget is 400. Can you help me plan the trip?", "Our budget is 450 now.")
    assert decision.verdict is Verdict.RELATED
    assert decision.partly


def test_a_change_is_found_among_other_facts_of_a_long_turn():
    new = "Long week. The heating broke twice, Mia has the flu, and from Monday we park on level 3 instead of level 2."
    assert judge("We park on level 2.", new).verdict is Verdict.EVOLVES


def test_first_person_facts_of_two_speakers_are_two_facts():
    assert judge(
        "I live in Aldmoor.", "I moved to Brightwater.", speaker="Ann", new_speaker="Ben"
    ).verdict not in (
        Verdict.SAME,
        Verdict.EVOLVES,
    )
    assert (
        judge("I like jazz.", "I like jazz.", 1.0, speaker="Ann", new_speaker="Ben").verdict
        is not Verdict.SAME
    )
    assert (
        judge("The port is 7420.", "The port is 7421 now.", speaker="Ann", new_speaker="Ben").verdict
        is Verdict.EVOLVES
    )


def test_an_assistant_never_supersedes_what_a_user_said():
    assert (
        judge("The port is 7420.", "The port is 7421 now.", new_speaker="assistant").verdict
        is not Verdict.EVOLVES
    )


def test_passages_of_two_documents_must_lie_near_each_other():
    old, new = (
        "The sieve makes 40 primes a second.",
        "The sieve was changed, it makes 90 primes a second now.",
    )
    assert judge(old, new, speaker=None, similarity=0.55).verdict is Verdict.EVOLVES
    assert judge(old, new, speaker=None, similarity=0.45).verdict is Verdict.RELATED
    assert judge(old, new, speaker="user", similarity=0.45).verdict is Verdict.EVOLVES


def test_a_record_is_corrected_by_its_next_edition_where_a_person_contradicts_himself():
    old, new = "Maro Vens was born in Aldmoor.", "Maro Vens was born in Brightwater."
    assert judge(old, new, speaker=None).verdict is Verdict.EVOLVES
    assert judge(old, new, speaker="Ann").verdict is Verdict.CONTRADICTS


# -- the rows of the case list that a pure function can answer ------------------------------------------------


def test_a10_the_same_statement_twice_is_one_memory():
    text = "The spare key is in the blue box."
    assert judge(text, text) == Decision(Verdict.SAME, "same words")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The audit starts on 7 May.", "The audit starts on 8 May."),
        ("We ship v2.3.", "We ship v2.4."),
        ("会议室在三楼。", "会议室在四楼。"),
    ],
)
def test_a11_facts_that_differ_by_one_number_are_never_merged(old, new):
    assert judge(old, new, similarity=0.99).verdict is not Verdict.SAME


@pytest.mark.parametrize(
    "paraphrase",
    [
        "We keep the spare keys in the blue box.",
        "By the way, we keep the spare key in the blue box.",
        "The spare key, we keep it in the blue box.",
        "We have kept the spare key in the blue box.",
    ],
)
def test_a12_a62_paraphrases_of_one_fact_are_one_memory(paraphrase):
    assert (
        judge("We keep the spare key in the blue box.", paraphrase, similarity=0.96).verdict is Verdict.SAME
    )


def test_a15_a_dislike_supersedes_the_liking():
    assert judge("I love spicy food.", "I can't stand spicy food any more.").verdict is Verdict.EVOLVES
    assert judge("我爱吃辣。", "我再也不吃辣了。").verdict is Verdict.EVOLVES


def test_a16_a_new_favourite_supersedes_the_old_one():
    assert (
        judge("My favourite editor is Alder.", "My favourite editor is now Birch.").verdict is Verdict.EVOLVES
    )
    assert judge("我最喜欢的编辑器是赤杨。", "我最喜欢的编辑器现在是白桦。").verdict is Verdict.EVOLVES


def test_a17_an_additive_statement_about_the_same_person_leaves_both():
    old, new = (
        "Lin is compliance lead at Northgate.",
        "Lin also looks after Northgate's code-hosting account.",
    )
    assert judge(old, new, similarity=0.9).verdict is Verdict.RELATED


def test_a50_two_simultaneous_writes_of_one_fact_are_one_memory_whichever_is_first():
    text = "Water the ferns on Sundays"
    assert judge(text, text, old_time=LATE, new_time=LATE).verdict is Verdict.SAME


def test_there_and_back_again_is_a_third_entry():
    alder, birch = "My favourite editor is Alder.", "My favourite editor is Birch."
    assert judge(alder, birch).verdict is Verdict.EVOLVES
    assert judge(birch, alder).verdict is Verdict.EVOLVES


def test_an_older_event_imported_later_takes_its_place_without_displacing_the_newer():
    decision = judge("The port is 7421.", "The port is 7420.", old_time=LATE, new_time=EARLY)
    assert decision.verdict is Verdict.EVOLVES
    assert decision.earlier_wins


def test_without_two_times_the_order_of_arrival_decides():
    old, new = read_statement("The port is 7420.", None), read_statement("The port is 7421.", None)
    assert not decide(new, old, similarity=None, new_time=None, old_time=None).earlier_wins
    assert decide(new, old, similarity=None, new_time=None, old_time=None, arrived_later=False).earlier_wins


def test_a_dated_and_an_undated_value_contradict_unless_one_says_that_it_changed():
    assert judge("The port is 7420.", "The port is 7421.", new_time=None).verdict is Verdict.CONTRADICTS
    assert judge("The port is 7420.", "The port is 7421 now.", new_time=None).verdict is Verdict.EVOLVES
