"""Words that carry no topic, in English and Chinese.

They are left out of the index and of questions alike: in a memory of conversations, "what did I say about the
boat" should be a question about the boat. The lists are short on purpose. A word stays out of them when it often
means something (`may` is a month, `back` a body part); rarity weighting takes care of the rest.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH = _words(
    """
    a an the this that these those
    i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves
    who whom whose which what when where why how
    am is are was were be been being do does did doing done have has had having
    can could will would shall should must might cannot
    and or but nor so if then else than because while until although though unless whether
    of at by for with about against between into through during before after above below to from
    in out on off over under as via per
    again further once here there all any both each few more most other some such no not only own same too very
    just also ever even still yet really quite much many lot lots
    let lets get gets got getting go goes went going gone
    say says said tell tells told
    oh ok okay yeah yes hey hi hello please thanks thank
    etc eg ie im ive id ill dont doesnt didnt isnt arent wasnt werent wont cant couldnt wouldnt shouldnt
    youre youve youd youll hes shes theyre theyve weve thats whats theres
    """
)

ACRONYMS = frozenset({"IT", "US", "WHO"})
"""Stop words that name something when written in capitals."""

CHINESE_CHARACTERS = frozenset(
    "的了吗呢吧啊呀嘛哦嗯哈么着过把被让给向从在是和与或而且就都也还又很太最更我你您他她它们这那哪谁啥什怎们些个之其于以及则但若"
)
"""Function characters: not indexed alone, and a pair made of two of them is no pair."""

CHINESE_PAIRS = _words(
    """
    什么 怎么 怎样 如何 为何 多少 几个 哪里 哪些 哪儿 哪种 时候 这里 那里 这些 那些 这样 那样 这种 那种
    我们 你们 他们 她们 它们 咱们 自己 大家 一个 一下 一些 有点
    因为 所以 但是 不过 如果 虽然 然后 而且 或者 以及 还是 就是 不是 只是 可是 于是
    可以 应该 需要 没有 已经 正在 曾经 一直 非常 真的 知道 告诉 觉得 请问 关于 对于 为什 么时
    """
)
"""Function words of two characters, and pairs that only arise inside them."""
