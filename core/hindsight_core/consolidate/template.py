"""Two sentences as one template: alike word for word but in one place, where a value stands.

"The port of Marlin is 7420" / "... is 7421" differ in one slot behind the verb: the later one gives the slot another
value. "The capital of Japan is Tokyo" / "of France is Paris" differ in two, "Ann leads it" / "Ben leads it" before the
verb: other subjects, nothing is replaced. Where the slot by its nature holds many values ("speaks", 喜欢), or the
sentence tells an event, a second value is one more.
"""

from __future__ import annotations

from itertools import takewhile

from hindsight_core.consolidate.lexicon import KIN, MANY, word_set
from hindsight_core.consolidate.marks import Mark
from hindsight_core.consolidate.statement import Clause
from hindsight_core.consolidate.values import Value, comparable, same_amount

_LONGEST_VALUE = 8
_LONGEST_CHINESE_NAME = 4
_HAN = "\u3400"
_PARTICLES = frozenset("个的")
_SEPARATE = word_set("in on at for with from to by 在 从 给 跟")


def other_value(later: Clause, earlier: Clause) -> str | None:
    """How the later clause gives a slot of the earlier one another value, or None when it does not."""
    if later.atoms[:2] != earlier.atoms[:2]:
        return None
    begin = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(later.atoms, earlier.atoms, strict=False))
    )
    if begin < 2:
        return None
    limit = min(len(later.atoms), len(earlier.atoms)) - begin
    backwards = zip(reversed(later.atoms), reversed(earlier.atoms), strict=False)
    tail = min(limit, sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], backwards)))
    new, old = later.atoms[begin : len(later.atoms) - tail], earlier.atoms[begin : len(earlier.atoms) - tail]
    if not new or not old or max(len(new), len(old)) > _LONGEST_VALUE:
        return None
    kinds = later.kinds[begin : len(later.kinds) - tail], earlier.kinds[begin : len(earlier.kinds) - tail]
    head = later.kinds[:begin]
    verb = max(head.rfind("v"), head.rfind("="))
    chinese = isinstance(new[0], str) and new[0] >= _HAN
    if chinese and _fuller(new, old):
        return None
    said = (
        "=" if chinese and later.kinds[verb] == "=" and begin - 1 == verb else "v="
    )  # what follows a copula is a noun, whatever its tag
    wish = bool(later.marks & earlier.marks & Mark.WISH)
    if (
        verb < (-1 if wish else 1)
        or any(kind in said for kind in "".join(kinds))
        or not any(kind in "knav" for kind in head)
    ):
        return None
    values = [(n, o) for n in new if isinstance(n, Value) for o in old if isinstance(o, Value)]
    codes = all(new.kind == old.kind == "code" and new.unit != old.unit for new, old in values)
    if values and not (codes and all(set(kind) <= set("#n") for kind in kinds)):
        alone = all(set(kind) <= set("#pf") for kind in kinds)
        differs = len(values) == 1 and comparable(*values[0]) and not same_amount(*values[0])
        return "another value in the same words" if alone and differs else None
    if any(
        _SEPARATE.intersection(words)
        for words in (
            later.words[begin : len(later.words) - tail],
            earlier.words[begin : len(earlier.words) - tail],
        )
    ):
        return None  # "to Malta in May" / "to Rome in June": two slots
    names = bool(values) or all("n" in kind and not set(kind) - set("npf") for kind in kinds)
    if chinese and not names:  # a tagger that knows the family name may stumble over the given one
        names = max(len(new), len(old)) <= _LONGEST_CHINESE_NAME and all(kind[0] == "n" for kind in kinds)
    if names:
        while begin - 1 > verb and later.kinds[begin - 1] == "n":  # the United States / the United Kingdom
            begin -= 1
    if verb > 0 and begin - 1 == verb:
        single = later.kinds[verb] == "=" and _holds_one(later, verb, names, kinds)
        return "another value of the same attribute" if single else None
    if wish and verb <= 0:
        return "another wish" if names else None
    return "another value of the same relation" if _relates_to_one(later, verb, begin, names) else None


def _fuller(new: tuple[str | Value, ...], old: tuple[str | Value, ...]) -> bool:
    """Whether a Chinese value is the other with more or fewer words: 武汉 / 湖北武汉, 博士 / 博士毕业."""
    one, two = ({atom for atom in atoms if isinstance(atom, str)} - _PARTICLES for atoms in (new, old))
    return one < two or two < one


def _holds_one(clause: Clause, verb: int, names: bool, kinds: tuple[str, str]) -> bool:
    """Whether "X is ..." names what there is one of: an attribute, or a definite thing called by a name."""
    before = [
        (word, kind) for word, kind in zip(clause.words[:verb], clause.kinds, strict=False) if kind in "knap"
    ]
    if not before:
        return False
    chinese = clause.words[verb - 1] >= _HAN
    nouns = before if chinese else [*takewhile(lambda noun: noun[1] != "p", before)] or before
    holder = nouns[-1][0]
    if holder in MANY:
        return False
    if names:
        return clause.definite or any(kind == "a" for _, kind in before)
    if chinese:
        nominal = set("knvlf" if clause.owned else "kn")
        return (
            clause.definite
            and nouns[-1][1] == "k"
            and holder not in KIN
            and all(set(kind) <= nominal for kind in kinds)
        )
    of = clause.definite and any(word == "of" for word, _ in before) and all(kind == "k" for kind in kinds)
    return of or any(kind == "a" for _, kind in before)


def _relates_to_one(clause: Clause, verb: int, begin: int, names: bool) -> bool:
    """Whether "X lives in ...", "X plays the position of ..." holds one value: a verb with its preposition."""
    if clause.kinds[begin - 1] != "p":
        return False
    if clause.words[begin - 1] == "than":
        return False
    relation, kinds = clause.words[verb:begin], clause.kinds[verb:begin]
    attribute = "a" in kinds and "languag" not in relation
    apposed = len(kinds) > 2 and kinds[-2] == "k" and kinds[-3] == "p"
    if not (names or attribute or apposed):
        return False
    return attribute or MANY.isdisjoint(relation)
