"""What a text says, read once: its sentences as facts, each with its words, values, names and marks.

Questions, suppositions and hearsay are left out clause by clause, so that "the budget is 450 now, can you help me
plan?" states the budget and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from operator import or_

from hindsight_core.consolidate.lazy import Lazy
from hindsight_core.consolidate.lexicon import KIN, OPPOSITES, PERSONS, QUANTIFIERS, SLOT_VERBS, word_set
from hindsight_core.consolidate.marks import Mark
from hindsight_core.consolidate.reader import ClauseReader, Token, sentences
from hindsight_core.consolidate.values import Value
from hindsight_core.text.keys import digest

LONGEST = 1200
"""Characters that are read; what follows is no part of the comparison."""
MOST_FACTS = 12
_TOGETHER = Lazy(r"\band (?:i|me)\b|\bi and\b")
_TOGETHER_HAN = Lazy("我们?[和跟与同]")
_LONG_OPPOSITES: dict[str, list[str]] = {}
for _word in OPPOSITES:
    if _word[0] >= "\u3400" and len(_word) > 1:
        _LONG_OPPOSITES.setdefault(_word[0], []).append(_word)
_FIRST = word_set("i my me mine we our us ours myself i'd i'll we'd we'll")
_PASSIVE = word_set("was were been got")


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch of a sentence between pauses, place by place.

    Attributes:
        atoms: Words in folded form, Chinese words character by character, values as such.
        kinds: What each is (see `reader.Token`).
        words: The word each belongs to.
        keys: What it talks about.
        values: Its values.
        subject: What of it comes before the verb.
        definite: Whether it speaks of one thing only: it begins with "the" or "my", or with a bare Chinese noun.
        owned: Whether a 的 or 's stands before its verb.
        marks: How it is meant.
        sides: Ends of axes of opposites that its subject, or what it is for, names: "for staging".
        said: Its English words in folded form, "#" for a value.
        han: Its Chinese text.
    """

    atoms: tuple[str | Value, ...]
    kinds: str
    words: tuple[str, ...]
    keys: frozenset[str]
    values: tuple[Value, ...]
    subject: frozenset[str]
    definite: bool
    owned: bool
    marks: int
    sides: frozenset[tuple[int, int]]
    said: str
    han: str


@dataclass(frozen=True, slots=True)
class Fact:
    """One sentence, without its questions and suppositions.

    Attributes:
        clauses: Its clauses; when there are several, the whole sentence as one more, first.
        keys: What it talks about: stems, Chinese words, names; no values.
        subject: Those before the first verb.
        names: Those that are names.
        codes: Values that name something too: LX-207.
        modified: Pairs of neighbours (modifier, head).
        attributes: Heads among them that are attributes.
        words: Its English words in folded form, function words too.
        han: Its Chinese text, to look words up that the segmenter cut otherwise.
        values: Its values, in order.
        slots: Kinds of slot it speaks of (see `lexicon.SLOTS`).
        kin: Whom it is about, when somebody of the speaker's.
        ends: Ends of the axes of opposites that it names.
        first: Whether it speaks of the speaker.
        marks: Everything that is marked in it.
        sure: What is marked in clauses that are no plans.
    """

    clauses: tuple[Clause, ...]
    keys: frozenset[str]
    subject: frozenset[str]
    names: frozenset[str]
    codes: frozenset[str]
    modified: frozenset[tuple[str, str]]
    attributes: frozenset[str]
    words: frozenset[str]
    han: str
    values: tuple[Value, ...]
    slots: frozenset[str]
    kin: frozenset[str]
    ends: frozenset[tuple[int, int]]
    first: bool
    marks: int
    sure: int


@dataclass(frozen=True, slots=True)
class Statement:
    """A text as consolidation sees it.

    Attributes:
        speaker: Who said it.
        text: What was read of it.
        digest: Equal for texts that say the same words.
        facts: What it states, sentence by sentence.
        pairs: In a short text, each two neighbouring sentences as one fact: what and how may stand apart.
        content: All its topical words, values and symbols in order, as (what, kind), questions included.
        ends: Ends of axes of opposites named anywhere in it.
        quantities: Ends of axes of quantifiers, likewise.
        persons: Whom its pronouns speak of.
        first: Whether it speaks of the speaker.
        marks: Everything that is marked in it, questions included.
        keys: The keys of all facts.
        whole: Whether the text was read to its end.
    """

    speaker: str | None
    text: str
    digest: bytes
    facts: tuple[Fact, ...]
    pairs: tuple[Fact, ...]
    content: tuple[tuple[str | Value, str], ...]
    ends: frozenset[tuple[int, int]]
    quantities: frozenset[tuple[int, int]]
    persons: frozenset[str]
    first: bool
    marks: int
    keys: frozenset[str]
    whole: bool


def read_statement(text: str, speaker: str | None) -> Statement:
    """Read a text; the cost is bounded whatever its length."""
    read = [*sentences(text[:LONGEST])]
    report = bool(read) and _dated(read[0][0])
    facts = tuple(fact for clauses in read[:MOST_FACTS] if (fact := _fact(clauses, report)) is not None)
    clauses = [clause for sentence in read for clause in sentence]
    tokens = [token for clause in clauses for token in clause.tokens]
    words = [word for clause in clauses for word in clause.words]
    return Statement(
        speaker,
        text[:LONGEST],
        digest(text),
        facts,
        tuple(_joined(one, two) for one, two in pairwise(facts)) if len(facts) <= 3 else (),
        tuple(
            (token.key if token.key and token.kind != "#" else token.form, token.kind)
            for token in tokens
            if token.kind not in "fpu="
        ),
        _ends(tokens, words, "".join(run for clause in clauses for run in clause.han)),
        frozenset(
            QUANTIFIERS[word] for word in (*words, *(token.form for token in tokens)) if word in QUANTIFIERS
        ),
        frozenset(PERSONS[word] for word in (*words, *(token.form for token in tokens)) if word in PERSONS),
        any(_speaks_of_itself(clause) for clause in clauses),
        reduce(or_, (clause.marks for clause in clauses), Mark.NONE),
        frozenset().union(*(fact.keys for fact in facts)),
        len(text) <= LONGEST and len(read) <= MOST_FACTS,
    )


def _fact(clauses: list[ClauseReader], report: bool) -> Fact | None:
    """What a sentence states, or None when it states nothing."""
    stated = _stated(clauses)
    if not stated:
        return None
    marks = reduce(or_, (clause.marks for clause in stated))
    if report or _dated(stated[0]):
        marks |= Mark.EVENT
    tokens = [token for clause in stated for token in clause.tokens]
    han = "，".join("".join(clause.han) for clause in stated if clause.han)
    parts = [_clause(clause.tokens, clause) for clause in stated]
    if len(parts) > 1:
        parts.insert(
            0, replace(_clause(tokens, stated[0]), said=" ".join(part.said for part in parts), han=han)
        )
    subject = _subject(stated[0])
    words = frozenset(word for clause in stated for word in clause.words)
    together = any(
        _TOGETHER.search(" ".join(clause.words[:6])) or _TOGETHER_HAN.search("".join(clause.han))
        for clause in stated
    )
    opening = (
        []
        if together
        else [
            word
            for clause in stated
            for word in (*clause.words[:4], *(str(token.form) for token in clause.tokens[:4]))
        ]
    )
    pairs = [
        (one.key, two.key, two.kind)
        for clause in stated
        for one, two in pairwise(token for token in clause.tokens if token.form != "的")
        if one.key
        and two.key
        and (one.kind in "kna" or (one.kind == "v" and one.key >= "\u3400"))
        and two.kind in "ka"
    ]
    return Fact(
        tuple(parts),
        parts[0].keys,
        subject,
        frozenset(token.key for token in tokens if token.kind == "n"),
        frozenset(token.key for token in tokens if token.key and token.kind == "#"),
        frozenset((one, two) for one, two, _ in pairs),
        frozenset(token.key for token in tokens if token.kind == "a"),
        words,
        han,
        tuple(token.form for token in tokens if isinstance(token.form, Value)),
        frozenset(
            (
                *(key for key in parts[0].keys if key[0] == "@"),
                *(SLOT_VERBS[word] for clause in stated for word in _moving(clause)),
            )
        ),
        frozenset(KIN[word] for word in opening if word in KIN),
        _ends(tokens, words, han),
        any(_speaks_of_itself(clause) for clause in stated),
        marks,
        reduce(or_, (clause.marks for clause in stated if not clause.marks & Mark.PLANS), Mark.NONE),
    )


def _moving(clause: ClauseReader) -> Iterator[str]:
    """Verbs that change a slot unsaid; what "was moved" is a thing or a date, and nobody's home."""
    for place, word in enumerate(clause.words):
        if word in SLOT_VERBS and _PASSIVE.isdisjoint(clause.words[max(0, place - 2) : place]):
            yield word


def _ends(tokens: Iterable[Token], words: Iterable[str], han: str) -> frozenset[tuple[int, int]]:
    """The ends of axes of opposites that are named; "too short" names none."""
    named = {OPPOSITES[word] for word in words if word in OPPOSITES}
    too = False
    for token in tokens:
        if token.form in OPPOSITES and not too:
            named.add(OPPOSITES[token.form])
        too = token.form in ("太", "不够")
    for place, character in enumerate(han):
        for word in _LONG_OPPOSITES.get(character, ()):
            if han.startswith(word, place):
                named.add(OPPOSITES[word])
    return frozenset(named)


def _speaks_of_itself(clause: ClauseReader) -> bool:
    return not _FIRST.isdisjoint(clause.words) or any("我" in run for run in clause.han)


def _stated(clauses: list[ClauseReader]) -> list[ClauseReader]:
    """The clauses that assert something: no question or hearsay and what follows it, no condition and its outcome."""
    stated: list[ClauseReader] = []
    supposed = False
    for clause in clauses:
        outcome, supposed = supposed, bool(clause.marks & Mark.SUPPOSES)
        if clause.marks & (Mark.ASKS | Mark.REPORTS):
            break
        if (
            not supposed
            and not outcome
            and (clause.marks or any(token.kind not in "nfu" for token in clause.tokens))
        ):  # not "hey Ann"
            stated.append(clause)
    return stated


def _dated(clause: ClauseReader) -> bool:
    """Whether a sentence opens with its own full date: a report of that day, which later ones do not replace."""
    opening = clause.tokens[: max(clause.verb, 3) if clause.verb >= 0 else None]
    return any(
        isinstance(token.form, Value) and token.form.kind == "date" and str(token.form.amount)[0] != "*"
        for token in opening
    )


def _subject(clause: ClauseReader) -> frozenset[str]:
    copula = next((place for place, token in enumerate(clause.tokens) if token.kind == "="), -1)
    verb = copula if copula > 0 and (clause.han or clause.definite) else clause.verb
    if verb < 0:  # "the gate code 1180", 房租两千
        verb = next((place for place, token in enumerate(clause.tokens) if token.kind == "#"), -1)
    if verb == 0 and clause.han:
        verb = next(
            (
                place
                for place, token in enumerate(clause.tokens)
                if (place and token.kind in "=v#") or token.form == "在"
            ),
            -1,
        )
    return frozenset(token.key for token in clause.tokens[: max(verb, 0)] if token.key and token.kind != "#")


def _clause(tokens: list[Token], source: ClauseReader) -> Clause:
    atoms: list[str | Value] = []
    kinds: list[str] = []
    words: list[str] = []
    for form, kind, _ in tokens:
        if kind == "u":
            continue
        if isinstance(form, str) and form[0] >= "\u3400":
            atoms.extend(form)
            kinds.append(kind * len(form))
            words.extend((form,) * len(form))
        else:
            atoms.append(form)
            kinds.append(kind)
            words.append(form if isinstance(form, str) else "#")
    keys = frozenset(token.key for token in tokens if token.key and token.kind != "#")
    return Clause(
        tuple(atoms),
        "".join(kinds),
        tuple(words),
        keys,
        tuple(t.form for t in tokens if isinstance(t.form, Value)),
        _subject(source),
        source.definite,
        source.owned,
        source.marks,
        frozenset(_sides(source)),
        " ".join(filter(None, source.words)),
        "".join(source.han),
    )


def _sides(clause: ClauseReader) -> Iterator[tuple[int, int]]:
    before = ""
    last = max((place for place, token in enumerate(clause.tokens) if token.kind != "u"), default=-1)
    verb = clause.verb if clause.verb >= 0 else len(clause.tokens)
    for place, (token, word) in enumerate(zip(clause.tokens, clause.words, strict=True)):
        named = OPPOSITES.get(word) or (OPPOSITES.get(token.form) if isinstance(token.form, str) else None)
        if named and (place < min(verb, last) or before == "for") and token.kind in "knav":
            yield named
        before = word


def _joined(one: Fact, two: Fact) -> Fact:
    return Fact(
        (),
        one.keys | two.keys,
        one.subject,
        one.names | two.names,
        one.codes | two.codes,
        one.modified | two.modified,
        one.attributes | two.attributes,
        one.words | two.words,
        f"{one.han}。{two.han}",
        one.values + two.values,
        one.slots | two.slots,
        one.kin | two.kin,
        one.ends | two.ends,
        one.first or two.first,
        one.marks | two.marks,
        one.sure | two.sure,
    )
