"""Signs that two alike statements are about two things: both stay."""

import pytest

from hindsight_core.consolidate import Verdict, decide, read_statement
from hindsight_core.consolidate.doubt import doubtful


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Please translate this into French.", "Please translate this into Dutch."),
        ("请翻译成法语。", "请翻译成德语。"),
        ("帮我订两个人的位子。", "帮我订四个人的位子。"),
        ("Invoice 1021 was paid.", "Invoice 1022 was paid."),
        ("订单1021已付款。", "订单1022已付款。"),
        ("Lunch was 12 euros yesterday.", "Lunch was 14 euros today."),
        ("run 0 of the cell", "run 1 of the cell"),
        ("第3条：水壶在沸腾", "第4条：水壶在沸腾"),
        ("会议室A能坐12人。", "会议室B能坐14人。"),
        ("I live in Oslo.", "I used to live in Rome."),
        ("我住在奥斯陆。", "我以前住在罗马。"),
        ("The vault code is marigold.", "The vault code again, please."),
        ("the vault code is marigold", "the vault code again"),
        ("Could you book a table for two?", "Could you book a table for four?"),
        ("许言雨现在住在厦门", "张云文搬到厦门了"),
        ("竹山服务的超时改为90秒了", "长岚看板的超时改为140秒了"),
        ("晨青看板的版本现在是7.1", "晨青看板的端口改成2467了"),
        ("朱星雨搬到青岛了", "朱星雨对鸡蛋过敏"),
        ("Rosis Sillumane has moved to Riga", "The owner of Nordalia is now Rosis Sillumane"),
        ("白桦引擎的日志放在/var/a/log。", "青桥服务的日志放在/var/b/log。"),
        ("白桦引擎的端口现在是8089。", "白桦引擎升级到6.13版本了。"),
        ("The timeout of Pelyar is 170 seconds.", "We changed the timeout of Lumbar to 60 seconds."),
        ("We moved Pelcor to port 2940.", "We moved Keljor to port 9130."),
        ("Corrosa runs version 5.18.", "We upgraded Tamzel to version 7.9."),
        ("Maren Fenlu has taken over Corrosa.", "We upgraded Corrosa to version 7.0."),
        ("The birthday of Rosia Ulm is 4 July.", "Rosia Ulm has moved to Tartu."),
        ("Fenis Jorj has taken over Ulmtam.", "The favourite drink of Fenis Jorj is now espresso."),
        (
            "蒋子远和风松平台的同事讨论了路线图，决定采用延长试用。",
            "冯舒言和溪涛仓库的同事讨论了路线图，决定采用外包。",
        ),
        ("The flat costs 900 a month.", "The other flat costs 700 a month."),
        ("Ilka speaks Czech.", "Ilka now speaks Welsh."),
        ("Merganser supports Solaris.", "Merganser now supports Plan9."),
        ("I have lunch with Ilka.", "I have lunch in the park these days."),
        (
            "Sorting Networks Revisited (Note 58). By Amara Voss.",
            "Sorting Networks Revisited (Note 61). By Amara Voss.",
        ),
        ("Register of Bridges by County, 1931.", "Register of Bridges by County, 1932."),
        ("我不吃香菜。", "小时候我可爱吃香菜了"),
        ("Now I hate olives.", "As a child I loved olives."),
        ("4 月的版本是 2.1。", "5 月的版本推迟了一周"),
        ("我师傅的老家是湖北武汉。", "我师傅的老家是武汉，湖北的那个。"),
        ("我的平板是橙子的Pad7。", "我现在的平板就是橙子的Pad7。"),
        ("我路过了松林公园。", "松林公园真是好地方，海风一吹，心情别提有多舒畅了"),
        ("我平时用的是露晶面霜。", "露晶面霜真不错，用完脸上一直都很润"),
        ("It trips above 35 °C for 10 minutes.", "触发值由 35°C 调整为 33°C，持续 10 分钟不变。"),
    ],
)
def test_both_stay(earlier, later):
    new, old = read_statement(later, "user"), read_statement(earlier, "user")
    verdict = decide(new, old, similarity=None, new_time=None, old_time=None).verdict
    assert verdict is not Verdict.EVOLVES


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The gateway port is 7420.", "The gateway port is 7421."),
        ("网关的端口是 7420。", "网关的端口改成 7421 了。"),
        ("My favourite editor is Alder.", "My favourite editor is now Birch."),
        ("Kestrel runs on v2.3", "Kestrel runs on v2.4"),
        ("I love spicy food.", "I can't stand spicy food any more."),
        ("我喜欢简洁的回答。", "我现在改用详细的回答了。"),
        ("I live in Oslo.", "I moved to Rome."),
        ("I used to live in Oslo and now live in Rome.", "I no longer live in Rome; I used to."),
        ("The audit is on 7 May.", "The audit is on 8 May."),
        ("网关的端口是 7420", "端口改成 7421 了"),
        ("林晓舟住在厦门", "林晓舟搬到青岛了，不在厦门了"),
        ("晨青看板的端口是2466", "晨青看板的端口改成2467了"),
        ("Mira is the lead of Kestrel.", "Mira is now the lead of Otter."),
        ("Please never call before nine.", "You may call from seven on now."),
        ("I like the dark view.", "No more dark view for me. The light one please."),
    ],
)
def test_nothing_speaks_against_a_change(earlier, later):
    assert not doubtful(read_statement(later, "user"), read_statement(earlier, "user"))
