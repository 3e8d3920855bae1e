"""Fitting a profile to a user's own questions, and saying honestly whether that helped.

    tuning = tune(labelled(dataset, system), start=profiles.ASSISTANT)
    if tuning.profile is not None:
        write_profile(tuning.profile, "ours.json")

What is fitted are the weights of the five signals, how far activation spreads, and the floor where some questions have no answer.
The aim is the mean of `Example.value`, less a small price for every step away from where it starts, so that what makes no difference
stays as it was. Each evaluation ranks every question anew from kept answers of the store (`replay`), which is exact.

A ranking changes in jumps, so there is no gradient. One setting after the other is searched along its range, then along the directions
that helped (M. J. D. Powell, 1964; SciPy's). From a spoilt start, with 120 evaluations on 50 questions, that reached .614 on 50 others
where a quadratic model in a trust region (COBYQA) reached .541.

**No gain is claimed that was not seen on questions held back.** The questions are dealt into folds; for each, a profile is fitted to the
others and compared with the start on the fold it has not seen. A profile is given only when the mean difference over all
held-back questions is above 0 and a sign-flip test finds it at p < .05 (`significance`). It is then fitted once more, to everything.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hindsight_core.errors import InvalidInput, MissingExtra
from hindsight_core.evaluation.examples import Example
from hindsight_core.evaluation.runner import Advance
from hindsight_core.evaluation.significance import SEED, Comparison, Estimate, compare, estimate
from hindsight_core.ports import Doubles
from hindsight_core.profiles import DEFAULT, Profile

LEAST = 20
"""With fewer questions no gain could be told from chance."""
SIGNIFICANT = 0.05
_PRICE = 0.02
"""What moving every setting to the end of its range costs."""
_FINE = 0.05
"""Of a range: where the search along it ends."""

_WEIGHTS = ("vector", "keyword", "entity", "recency", "importance")
_SPREADING = {
    "turn": 1.0,
    "turn_meaning": 1.0,
    "session": 1.0,
    "named": 1.5,
    "speaker": 3.0,
    "bridge": 3.0,
    "link": 1.0,
    "cover": 1.0,
    "repeat": 1.5,
}
_HIGHEST_FLOOR = 0.8

Vector = Doubles


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One number to be fitted, in 0..high; a position of .5 is where it starts, 0 and 1 are the ends."""

    name: str
    start: float
    high: float

    def at(self, position: float) -> float:
        """Its value at a position."""
        if position <= 0.5:
            return self.start * 2.0 * position
        return self.start + (self.high - self.start) * (2.0 * position - 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """What came of it.

    Attributes:
        start: The profile before.
        profile: The fitted one; None when cross-validation shows no gain.
        fitted: What the fit to all questions gave, whether or not it may be trusted.
        questions: How many there were.
        before: Mean value under the start.
        held_back: Fitted profiles against the start, each on questions it was not fitted to.
        seen: Mean value of `fitted` on the very questions it was fitted to: flattering, and no evidence.
    """

    start: Profile
    profile: Profile | None
    fitted: Profile
    questions: int
    before: Estimate
    held_back: Comparison
    seen: Estimate

    @property
    def changed(self) -> dict[str, tuple[float, float]]:
        """Settings that `fitted` moved, by name: before and after."""
        moved = {}
        for setting in settings_of(self.start, floor=True):
            after = value_of(self.fitted, setting.name)
            if abs(after - setting.start) > 1e-9:
                moved[setting.name] = (setting.start, after)
        return moved


def settings_of(start: Profile, *, floor: bool) -> Iterator[Setting]:
    """What is fitted. Only ratios of weights matter, so the largest of them stays as it is."""
    weights = {name: float(getattr(start.weights, name)) for name in _WEIGHTS}
    anchor = max(weights, key=lambda name: weights[name])
    for name, value in weights.items():
        if name != anchor:
            # No signal becomes more than twice what was the strongest.
            yield Setting(name=f"weights.{name}", start=value, high=2.0 * weights[anchor])
    for name, high in _SPREADING.items():
        value = float(getattr(start.spreading, name))
        yield Setting(name=f"spreading.{name}", start=value, high=max(high, value))
    if floor and start.floor is not None:
        yield Setting(name="floor", start=start.floor, high=max(_HIGHEST_FLOOR, start.floor))


def value_of(profile: Profile, name: str) -> float:
    """A setting of a profile, by the name of a `Setting`."""
    part, _, what = name.rpartition(".")
    return float(getattr(getattr(profile, part) if part else profile, what))


def moved(start: Profile, settings: Sequence[Setting], position: Vector) -> Profile:
    """The profile at a position of 0..1 for each setting."""
    parts: dict[str, dict[str, Any]] = {"weights": {}, "spreading": {}, "": {}}
    for setting, at in zip(settings, position.tolist(), strict=True):
        part, _, what = setting.name.rpartition(".")
        # Three decimals say all there is to say, and keep the file readable.
        parts[part][what] = setting.start if at == 0.5 else round(setting.at(at), 3)
    changes: dict[str, Any] = {
        "weights": replace(start.weights, **parts["weights"]),
        "spreading": replace(start.spreading, **parts["spreading"]),
        **parts[""],
    }
    return replace(start, **changes)


def tune(
    examples: Sequence[Example],
    *,
    start: Profile = DEFAULT,
    name: str = "tuned",
    folds: int = 5,
    evaluations: int = 120,
    seed: int = SEED,
    advance: Advance = lambda what, done, total: None,
) -> Tuning:
    """Fit a profile.

    Args:
        examples: Questions with what is known of their answers.
        start: Where to start, and what to be better than.
        name: Of the fitted profile.
        folds: Parts the questions are dealt into.
        evaluations: Profiles tried for one fit, at most; `folds + 1` fits are made.
        seed: Deals the questions out. Equal input gives an equal profile.
        advance: Told how far it is.

    Raises:
        InvalidInput: Fewer than 20 questions, or fewer than two folds.
        MissingExtra: SciPy is not installed.
    """
    if len(examples) < LEAST:
        raise InvalidInput(
            f"{len(examples)} questions say too little; at least {LEAST} are needed, better 100 or more"
        )
    if folds < 2:
        raise InvalidInput("at least two folds are needed")
    minimise = _optimiser()
    # Where every question has an answer nothing is known that a floor is good for, and lower would always seem better.
    silent = any(not example.gold for example in examples)
    settings = list(settings_of(start, floor=silent))
    fold = dealt([example.kind for example in examples], folds, seed)
    total = (folds + 1) * evaluations

    def fit(chosen: Sequence[Example], number: int) -> Profile:
        tried = number * evaluations

        def loss(position: Vector) -> float:
            nonlocal tried
            tried += 1
            advance("fitting", tried, total)
            profile = moved(start, settings, np.clip(position, 0.0, 1.0))
            away = float(np.mean((2.0 * position - 1.0) ** 2))
            return _PRICE * away - float(np.mean([example.value(profile) for example in chosen]))

        best = minimise(loss, len(settings), evaluations)
        return replace(moved(start, settings, best), name=name)

    before = np.array([example.value(start) for example in examples])
    after = np.empty(len(examples))
    for number in range(folds):
        profile = fit([e for e, of in zip(examples, fold, strict=True) if of != number], number)
        for i in np.flatnonzero(np.equal(fold, number)).tolist():
            after[i] = examples[i].value(profile)
    fitted = fit(examples, folds)
    held_back = compare(after.tolist(), before.tolist(), seed=seed)
    gained = held_back.difference.mean > 0 and held_back.p < SIGNIFICANT
    return Tuning(
        start=start,
        profile=fitted if gained else None,
        fitted=fitted,
        questions=len(examples),
        before=estimate(before),
        held_back=held_back,
        seen=estimate([example.value(fitted) for example in examples]),
    )


def dealt(kinds: Sequence[str], folds: int, seed: int) -> list[int]:
    """A fold for each question, every kind spread evenly."""
    order = list(range(len(kinds)))
    random.Random(seed).shuffle(order)
    order.sort(key=lambda i: kinds[i])  # stable: shuffled within a kind
    fold = [0] * len(kinds)
    for place, i in enumerate(order):
        fold[i] = place % folds
    return fold


Minimise = Callable[[Callable[[Vector], float], int, int], Vector]


def _optimiser() -> Minimise:
    try:
        optimize = importlib.import_module("scipy.optimize")
    except ImportError as error:
        raise MissingExtra("tuning (scipy)", "eval") from error

    def minimise(loss: Callable[[Vector], float], n: int, evaluations: int) -> Vector:
        best = np.full(n, 0.5)
        least = loss(best)
        left = evaluations - 1

        def noted(position: Vector) -> float:
            nonlocal best, least, left
            if not left:
                raise StopIteration  # Powell's own limit is looked at between rounds only
            left -= 1
            value = loss(position)
            if value < least - 1e-9:  # among equals the first, which is nearer to the start
                best, least = position.copy(), value
            return value

        with suppress(StopIteration):
            optimize.minimize(
                noted,
                best,
                method="Powell",
                bounds=[(0.0, 1.0)] * n,
                options={"xtol": _FINE, "ftol": 1e-3},
            )
        found: Vector = np.clip(best, 0.0, 1.0)
        return found

    return minimise
