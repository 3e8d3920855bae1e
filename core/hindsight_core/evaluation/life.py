"""An agent's life that nobody lived: 250 days of turns in two languages, of which most are not worth keeping.

What it imitates is the experience the design starts from: one agent's store grew to 15,000 memories, most of them noise,
repeats and outdated values; with forgetting it settled near 6,000 and answered better. The rates, and why:

    60 turns a day x 250 days     15,000 memories where everything is kept
    30 %  acknowledgements        in the Switchboard corpus backchannels, agreement, appreciation, abandoned and
                                  non-verbal utterances, yes-answers and closings make up about 36 % (D. Jurafsky et al., "Switchboard
                                  SWBD-DAMSL Coders Manual", 1997); writing to an agent is a little terser
    15 %  passing                 requests, questions and remarks of no use tomorrow; they name the same systems and people
                                  as facts do, so they compete with them
    15 %  repeats                 a fact in force said again, 2 in 5 word for word, the others in other words
    12 %  values that change      1 in 6 is a new fact, 5 in 6 change one: some 300 facts of 6 values each, so that
                                  10 % of all turns are outdated at the end
    14 %  lasting facts           told once
    14 %  events                  dated, told once

So noise, repeats and outdated values are 70 % of it; the source let 60 % go. How often a fact is asked for follows a
Pareto law of exponent 1, which is Zipf's law of ranks: the odds that a memory is needed fall off as a power of its rank
(J. Anderson, L. Schooler, "Reflections of the environment in memory", 1991). 12 questions a day are asked that way, so a few
facts are asked for again and again and most never. A quarter of an hour of talk is 15 turns; four such sessions make a day.

The labelled questions come at the end: the present value of facts that changed, facts that did not change, and what happened
on a date. Half of each kind is drawn as the life asks, half evenly from all else that was ever told, which no use
has kept alive: that half is where forgetting can do harm. Everything comes from a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TypeVar

import numpy as np

from hindsight_core.evaluation import phrases

T = TypeVar("T")

DAYS = 250
TURNS_A_DAY = 60
ASKED_A_DAY = 12
START = datetime(2031, 1, 1, tzinfo=UTC)
QUESTIONS = {"changed": 150, "lasting": 150, "dated": 100}
_SESSION = 15
_NEW_VALUE = 1 / 6
_WORD_FOR_WORD = 0.4


class Kind(StrEnum):
    """What a turn is."""

    ACKNOWLEDGEMENT = "acknowledgement"
    PASSING = "passing"
    REPEAT = "repeat"
    CHANGE = "change"
    FACT = "fact"
    EVENT = "event"


SHARES = {
    Kind.ACKNOWLEDGEMENT: 0.30,
    Kind.PASSING: 0.15,
    Kind.REPEAT: 0.15,
    Kind.CHANGE: 0.12,
    Kind.FACT: 0.14,
    Kind.EVENT: 0.14,
}


@dataclass(frozen=True, slots=True)
class Told:
    """What a turn says: a value of a fact; two turns that say the same are equal here."""

    fact: int
    value: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn; `told` is None for what is not worth keeping."""

    text: str
    speaker: str
    session: str
    at: datetime
    kind: Kind
    told: Told | None


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the value that answers it.

    Attributes:
        text: The question.
        kind: "changed", "lasting" or "dated".
        used: Drawn as the life asks, and not evenly from the rest.
        gold: The right answer; another value of the same fact is stale.
    """

    text: str
    kind: str
    used: bool
    gold: Told


@dataclass(frozen=True, slots=True)
class Day:
    """One day: what is said, then what is asked."""

    evening: datetime
    turns: tuple[Turn, ...]
    asked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Life:
    """All days, and the questions at the end."""

    days: tuple[Day, ...]
    questions: tuple[Question, ...]


_SUBJECTS = 320
"""Names of each sort and language."""


@dataclass(slots=True)
class _Fact:
    """Something that holds, as it stands now."""

    number: int
    about: str
    matter: phrases.Matter | None
    lang: str
    value: str
    wording: str
    ask: str
    need: float
    changed: bool = False


class _Teller:
    """Draws a life from one source of chance."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._names: dict[tuple[str, str], list[str]] = {}
        makers: dict[tuple[str, str], Callable[[], str]] = {
            ("en", "system"): lambda: self._word(2),
            ("en", "person"): lambda: f"{self._word(1)} {self._word(2)}",
            ("zh", "system"): lambda: self._han(phrases.SYSTEM_HAN, 2) + self._one(phrases.SYSTEM_ENDS),
            ("zh", "person"): lambda: self._han(phrases.SURNAMES, 1) + self._han(phrases.GIVEN, 2),
        }
        for sort, make in makers.items():
            names: dict[str, None] = {}
            while len(names) < _SUBJECTS:
                names[make()] = None
            self._names[sort] = list(names)
        self._facts: list[_Fact] = []
        self._told: set[tuple[object, ...]] = set()

    # -- days ------------------------------------------------------------------------------------------------

    def day(self, number: int, turns: int, asked: int) -> Day:
        morning = START + timedelta(days=number, hours=9)
        kinds = self._rng.choice(len(SHARES), turns, p=list(SHARES.values()))
        said = []
        for place, kind in enumerate(kinds):
            session, turn = divmod(place, _SESSION)
            at = morning + timedelta(hours=2 * session, minutes=turn)
            said.append(self._turn(list(SHARES)[kind], f"d{number:03d}-{session}", at))
        questions = [fact.ask for fact in self._needed(self._facts, asked)] if self._facts else []
        return Day(morning + timedelta(hours=11), tuple(said), tuple(questions))

    def questions(self, wanted: dict[str, int]) -> tuple[Question, ...]:
        """Labelled questions on everything told so far."""
        found = []
        for kind, count in wanted.items():
            open_to = [fact for fact in self._facts if _kind_of(fact) == kind]
            used = self._needed(open_to, min(count // 2, len(open_to)))
            rest = [fact for fact in open_to if all(fact is not one for one in used)]
            even = [rest[i] for i in self._rng.permutation(len(rest))[: count - len(used)]]
            for facts, was_used in ((used, True), (even, False)):
                found += [Question(f.ask, kind, was_used, Told(f.number, f.value)) for f in facts]
        return tuple(found)

    def _needed(self, facts: Sequence[_Fact], count: int) -> list[_Fact]:
        """Facts drawn by how often they are needed, each at most once."""
        need = np.array([fact.need for fact in facts])
        count = min(count, len(facts))
        return [facts[i] for i in self._rng.choice(len(facts), count, replace=False, p=need / need.sum())]

    # -- turns -----------------------------------------------------------------------------------------------

    def _turn(self, kind: Kind, session: str, at: datetime) -> Turn:
        lang = self._one(("en", "zh"))
        if kind is Kind.ACKNOWLEDGEMENT:
            forms, tails = phrases.ACKNOWLEDGED[lang]
            text = self._one(forms.split("|")).replace("{}", self._one(tails.split("|")))
            return Turn(text, self._one(("Mira", "assistant")), session, at, kind, None)
        if kind is Kind.PASSING:
            return Turn(self._passing(lang), "Mira", session, at, kind, None)
        standing = [fact for fact in self._facts if fact.matter is not None]
        changing = [fact for fact in standing if fact.matter is not None and fact.matter.changes]
        if kind is Kind.REPEAT and standing:
            fact = self._needed(standing, 1)[0]
            text = fact.wording if self._rng.random() < _WORD_FOR_WORD else self._again(fact)
        elif kind is Kind.CHANGE and changing and self._rng.random() >= _NEW_VALUE:
            fact = self._one(changing)
            text = self._change(fact)
        elif kind is Kind.EVENT:
            fact = self._event(lang, at)
            text = fact.wording
        else:
            fact = self._fact(lang, changes=kind is Kind.CHANGE)
            text = fact.wording
        return Turn(text, "Mira", session, at, kind, Told(fact.number, fact.value))

    def _passing(self, lang: str) -> str:
        names = {"s": self._one(self._names[lang, "system"]), "p": self._one(self._names[lang, "person"])}
        numbers = {"n": int(self._rng.integers(100, 990)), "m": int(self._rng.integers(3, 60))}
        return self._one(phrases.PASSING[lang].split("|")).format(**names, **numbers)

    def _fact(self, lang: str, *, changes: bool) -> _Fact:
        matters = [m for m in (phrases.ENGLISH if lang == "en" else phrases.CHINESE) if m.changes == changes]
        while True:
            matter = self._one(matters)
            about = self._one(self._names[lang, matter.about])
            if (about, matter) not in self._told:
                break
        self._told.add((about, matter))
        value = self._value(matter.values, lang)
        wording = matter.tell.format(s=about, v=value)
        return self._add(about, matter, lang, value, wording, matter.ask.format(s=about))

    def _event(self, lang: str, at: datetime) -> _Fact:
        tell, ask = phrases.EVENTS[lang]
        while True:
            about, topic = self._one(self._names[lang, "system"]), self._value("topic", lang)
            if (about, topic, at.date()) not in self._told:
                break
        self._told.add((about, topic, at.date()))
        value, person = self._value("choice", lang), self._one(self._names[lang, "person"])
        date = f"{at.day} {at:%B %Y}" if lang == "en" else f"{at.year}年{at.month}月{at.day}日"
        wording = tell.format(p=person, s=about, topic=topic, v=value)
        return self._add(about, None, lang, value, wording, ask.format(s=about, topic=topic, date=date))

    def _add(
        self, about: str, matter: phrases.Matter | None, lang: str, value: str, wording: str, ask: str
    ) -> _Fact:
        need = 1.0 / (1.0 - self._rng.random())
        fact = _Fact(len(self._facts), about, matter, lang, value, wording, ask, need)
        self._facts.append(fact)
        return fact

    def _again(self, fact: _Fact) -> str:
        assert fact.matter is not None
        return self._one(fact.matter.again).format(s=fact.about, v=fact.value)

    def _change(self, fact: _Fact) -> str:
        assert fact.matter is not None
        before = fact.value
        while fact.value == before:
            fact.value = self._value(fact.matter.values, fact.lang)
        fact.changed = True
        fact.wording = self._one(fact.matter.change).format(s=fact.about, v=fact.value)
        return fact.wording

    # -- words -----------------------------------------------------------------------------------------------

    def _value(self, sort: str, lang: str) -> str:
        rng = self._rng
        match sort:
            case "port":
                return str(rng.integers(2000, 9999))
            case "version":
                return f"{rng.integers(1, 9)}.{rng.integers(0, 20)}"
            case "seconds":
                return str(rng.integers(2, 40) * 5)
            case "path":
                return f"/var/{self._word(2).lower()}/log"
            case "day":
                day = START + timedelta(days=int(rng.integers(0, 365)))
                return f"{day.day} {day:%B}" if lang == "en" else f"{day.month}月{day.day}日"
            case "person":
                return self._one(self._names[lang, "person"])
            case "pet":
                return self._word(2) if lang == "en" else self._han(phrases.GIVEN, 2)
        listed = phrases.LISTS[lang][sort]
        return self._one(listed.split(",") if "," in listed else listed.split())

    def _word(self, syllables: int) -> str:
        starts, ends = (part.split() for part in phrases.SYLLABLES)
        return ("".join(self._one(starts) for _ in range(syllables)) + self._one(ends)).capitalize()

    def _han(self, characters: str, count: int) -> str:
        return "".join(self._one(characters) for _ in range(count))

    def _one(self, choices: Sequence[T]) -> T:
        return choices[int(self._rng.integers(len(choices)))]


def _kind_of(fact: _Fact) -> str:
    if fact.matter is None:
        return "dated"
    return "changed" if fact.changed else "lasting" if not fact.matter.changes else "told once, may change"


def live(*, seed: int = 7, days: int = DAYS, turns: int = TURNS_A_DAY, asked: int = ASKED_A_DAY) -> Life:
    """A life; equal arguments give equal lives.

    Args:
        seed: Of all chance.
        days: How many.
        turns: Said on each.
        asked: Questions asked on each, by need.
    """
    teller = _Teller(seed)
    lived = tuple(teller.day(number, turns, asked) for number in range(days))
    share = days * turns / (DAYS * TURNS_A_DAY)
    return Life(lived, teller.questions({kind: max(2, round(n * share)) for kind, n in QUESTIONS.items()}))
