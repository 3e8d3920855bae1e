"""Which curve forgets as people do: `python -m hindsight_core.evaluation.decay_curves FILE`.

The design lets strength fall exponentially; since J. Wixted, E. Ebbesen ("On the form of forgetting", 1991) a power of time
is held to describe human forgetting better. Real reviews of flash cards tell: each says whether something learnt was
still known after so many days. With d days since the last review and n earlier successes, t = d / s * exp(-b * n):

    exponential   p = c * exp(-t)
    power         p = c * (1 + t) ** -a
    constant      p = share known in the earlier part

Fitted by least log loss on the earlier part of the reviews, in order of time, scored on the later. The exponential has three
parameters and the power curve four; scoring on what was not fitted is what makes that fair. Reviews of one card are
not independent, so the interval of the difference is a bootstrap over cards. Mind that whoever made the reviews chose
their days so that about the same share would still be known; that leaves little for any curve to tell.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import itertools
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from hindsight_core.errors import InvalidInput
from hindsight_core.ports import Doubles
from hindsight_core.strength import DAY

FITTED_ON = 0.7
_RESAMPLES = 2_000
_LEAST = 1e-4
_AGAIN = 1
"""Rating of a failed review; every other is a success."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviews:
    """Reviews that follow an earlier one of the same card, in order of time; columns of one length.

    Attributes:
        card: int64, which card.
        days: Since its last review.
        successes: Earlier successes of the card.
        known: 1.0 where it was still known, else 0.0.
    """

    card: np.ndarray[Any, np.dtype[np.int64]]
    days: Doubles
    successes: Doubles
    known: Doubles

    def __len__(self) -> int:
        return len(self.known)

    def part(self, rows: slice | np.ndarray[Any, Any]) -> Reviews:
        """Some of them."""
        return Reviews(
            card=self.card[rows],
            days=self.days[rows],
            successes=self.successes[rows],
            known=self.known[rows],
        )


def read_reviews(lines: Iterable[Mapping[str, str]], *, least_days: float = 0.0) -> Reviews:
    """Reviews from rows with `card_id`, `review_time` (ISO) and `review_rating` (1 = failed).

    Args:
        lines: Rows, in any order.
        least_days: Leave out reviews sooner after the last one; within a sitting nothing is forgotten yet.

    Raises:
        InvalidInput: A row lacks a column or holds something else in it.
    """
    try:
        said = sorted(
            (
                datetime.fromisoformat(line["review_time"]).timestamp(),
                line["card_id"],
                int(line["review_rating"]),
            )
            for line in lines
        )
    except (KeyError, ValueError) as error:
        raise InvalidInput("reviews need the columns card_id, review_time (ISO) and review_rating") from error
    last: dict[str, tuple[float, int]] = {}
    numbers: dict[str, int] = {}
    rows: list[tuple[int, float, int, bool]] = []
    for at, card, rating in said:
        known = rating != _AGAIN
        before, successes = last.get(card, (None, 0))
        if before is not None and (at - before) / DAY >= least_days:
            rows.append((numbers.setdefault(card, len(numbers)), (at - before) / DAY, successes, known))
        last[card] = at, successes + known
    columns = np.array(rows, dtype=np.float64).reshape(-1, 4).T
    return Reviews(card=columns[0].astype(np.int64), days=columns[1], successes=columns[2], known=columns[3])


# -- curves --------------------------------------------------------------------------------------------------------

Curve = Callable[[Doubles, Reviews], Doubles]


def exponential(theta: Doubles, of: Reviews) -> Doubles:
    """Chance by c * exp(-t); theta = (log s, b, logit c)."""
    return _ceiling(theta[2]) * np.exp(-_time(theta, of))


def power(theta: Doubles, of: Reviews) -> Doubles:
    """Chance by c * (1 + t) ** -a; theta = (log s, b, logit c, log a)."""
    p: Doubles = _ceiling(theta[2]) * np.power(1.0 + _time(theta, of), -np.exp(theta[3]))
    return p


def _time(theta: Doubles, of: Reviews) -> Doubles:
    t: Doubles = of.days * np.exp(np.clip(-theta[0] - theta[1] * of.successes, -30.0, 30.0))
    return t


def _ceiling(logit: float) -> float:
    return float(1.0 / (1.0 + np.exp(-logit)))


def log_losses(p: Doubles, known: Doubles) -> Doubles:
    """Minus the log of the probability given to what happened, review by review; never below 1e-4."""
    p = np.clip(p, _LEAST, 1.0 - _LEAST)
    return np.asarray(-(known * np.log(p) + (1.0 - known) * np.log(1.0 - p)), np.float64)


_STARTS: dict[Curve, list[tuple[float, ...]]] = {
    exponential: [(1.0, 4.0), (0.0, 0.5), (2.0, 5.0)],
    power: [(1.0, 4.0), (0.0, 0.5), (2.0, 5.0), (-1.5, 0.0)],
}


def fit(curve: Curve, of: Reviews) -> Doubles:
    """Parameters of least log loss, searched from a grid of starts by the simplex method."""

    def loss(theta: Doubles) -> float:
        return float(log_losses(curve(theta, of), of.known).mean())

    found = [_simplex(loss, np.array(start)) for start in itertools.product(*_STARTS[curve])]
    return min(found, key=loss)


def _simplex(loss: Callable[[Doubles], float], start: Doubles, *, steps: int = 400) -> Doubles:
    """J. Nelder, R. Mead, "A simplex method for function minimization" (1965): no gradient, a handful of parameters."""
    corners = [start, *(start + 0.5 * unit for unit in np.eye(len(start)))]
    values = [loss(corner) for corner in corners]
    for _ in range(steps):
        order = np.argsort(values, kind="stable")
        corners, values = [corners[i] for i in order], [values[i] for i in order]
        if values[-1] - values[0] < 1e-10:
            break
        centre = np.mean(corners[:-1], axis=0)

        def along(
            far: float, centre: Doubles = centre, worst: Doubles = corners[-1]
        ) -> tuple[Doubles, float]:
            corner = centre + far * (worst - centre)
            return corner, loss(corner)

        corner, value = along(-1.0)
        if value < values[0]:
            further, its = along(-2.0)
            corner, value = (further, its) if its < value else (corner, value)
        elif value >= values[-2]:
            corner, value = along(-0.5 if value < values[-1] else 0.5)
            if value >= values[-1]:
                corners = [corners[0], *((corners[0] + one) / 2.0 for one in corners[1:])]
                values = [loss(one) for one in corners]
                continue
        corners[-1], values[-1] = corner, value
    return corners[int(np.argmin(values))]


# -- the comparison ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Log losses on the later part; a difference below 0 means the power curve predicts better.

    Attributes:
        fitted_on: Reviews fitted on.
        scored_on: Reviews scored on.
        known: Share of the latter that was still known.
        constant: Loss of the constant rate.
        exponential: Loss of the exponential.
        power: Loss of the power curve.
        difference: Power minus exponential.
        low: Of its 95 % interval, over cards.
        high: Of the same.
        parameters: Of both curves.
    """

    fitted_on: int
    scored_on: int
    known: float
    constant: float
    exponential: float
    power: float
    difference: float
    low: float
    high: float
    parameters: dict[str, list[float]]


def compare_curves(reviews: Reviews, *, fitted_on: float = FITTED_ON, seed: int = 7) -> Compared:
    """Fit both curves and the constant on the earlier part, score them on the later."""
    cut = round(len(reviews) * fitted_on)
    if not 0 < cut < len(reviews):
        raise InvalidInput(f"{len(reviews)} reviews are too few to fit on some and score on others")
    early, late = reviews.part(slice(0, cut)), reviews.part(slice(cut, None))
    thetas = {curve.__name__: fit(curve, early) for curve in (exponential, power)}
    losses = {
        "constant": log_losses(np.full(len(late), early.known.mean()), late.known),
        "exponential": log_losses(exponential(thetas["exponential"], late), late.known),
        "power": log_losses(power(thetas["power"], late), late.known),
    }
    difference = losses["power"] - losses["exponential"]
    low, high = _over_cards(difference, late.card, seed)
    return Compared(
        fitted_on=len(early),
        scored_on=len(late),
        known=float(late.known.mean()),
        **{name: float(loss.mean()) for name, loss in losses.items()},
        difference=float(difference.mean()),
        low=low,
        high=high,
        parameters={name: [round(float(x), 4) for x in theta] for name, theta in thetas.items()},
    )


def _over_cards(values: Doubles, card: np.ndarray[Any, np.dtype[np.int64]], seed: int) -> tuple[float, float]:
    """The 95 % interval of the mean when whole cards are drawn anew."""
    _, place = np.unique(card, return_inverse=True)
    sums, counts = np.bincount(place, values), np.bincount(place)
    rng = np.random.default_rng(seed)
    means = np.empty(_RESAMPLES)
    for i in range(_RESAMPLES):
        drawn = rng.integers(0, len(sums), len(sums))
        means[i] = sums[drawn].sum() / counts[drawn].sum()
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def tables(found: Mapping[str, Compared]) -> Iterator[Table]:
    """One row for each selection of reviews."""
    table = Table(title="log loss on the later part, lower is better", title_justify="left")
    for column in (
        "reviews", "fitted on", "scored on", "known", "constant", "exponential", "power", "power - exponential",
    ):  # fmt: skip
        table.add_column(column)
    for name, one in found.items():
        table.add_row(
            name, f"{one.fitted_on:,}", f"{one.scored_on:,}", f"{one.known:.3f}", f"{one.constant:.4f}",
            f"{one.exponential:.4f}", f"{one.power:.4f}", f"{one.difference:+.4f} [{one.low:+.4f}, {one.high:+.4f}]",
        )  # fmt: skip
    yield table


def verdict(one: Compared) -> str:
    """In words."""
    if one.low <= 0.0 <= one.high:
        said = "neither curve predicts better than the other, since the interval holds 0"
    else:
        better, other = (
            ("power curve", "exponential") if one.difference < 0 else ("exponential", "power curve")
        )
        said = f"the {better} predicts better than the {other}"
    if min(one.exponential, one.power) >= one.constant:
        said += "; the constant rate predicts no worse than either"
    return said + "."


def main(argv: Sequence[str] | None = None) -> int:
    """Compare on a file and print."""
    parser = argparse.ArgumentParser(
        prog="python -m hindsight_core.evaluation.decay_curves", description=__doc__
    )
    parser.add_argument("file", type=Path, help="reviews as CSV, .gz or plain")
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args(argv)
    opener = gzip.open if args.file.suffix == ".gz" else open
    with opener(args.file, "rt", encoding="utf-8", newline="") as opened:
        lines = list(csv.DictReader(opened))
    found = {
        "all": compare_curves(read_reviews(lines)),
        "after a day or more": compare_curves(read_reviews(lines, least_days=1.0)),
    }
    if args.json:
        sys.stdout.write(json.dumps({name: asdict(one) for name, one in found.items()}, indent=2) + "\n")
        return 0
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    for table in tables(found):
        console.print(table)
    for name, one in found.items():
        console.print(f"{name}: {verdict(one)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
