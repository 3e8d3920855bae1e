"""Verdicts on pairs of texts: what is read for them at all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hindsight_core.consolidate import Verdict
from hindsight_core.engine import verdicts
from hindsight_core.engine.verdicts import verdict_on
from hindsight_core.ports import Told

MONDAY = datetime(2024, 3, 4, tzinfo=UTC)
SHORT = Told("The port of Marlin is 7421 now.", "ann", MONDAY + timedelta(days=1))
LONG_EN = Told(
    "The port of Marlin is 7420. We met about it. Ben was late. The room was cold. Lunch was good. I left early.",
    "ann",
    MONDAY,
)
LONG_ZH = Told("马林的端口是7420。我们开了会。小周迟到了。房间很冷。午饭不错。我走得早。", "ann", MONDAY)


@pytest.mark.parametrize("old", [LONG_EN, LONG_ZH])
def test_what_says_much_stays_beside_what_is_near_without_being_read(old, monkeypatch):
    monkeypatch.setattr(verdicts, "statement", None)
    assert verdict_on(SHORT, old, 0.7).verdict is Verdict.RELATED


@pytest.mark.parametrize("old", [LONG_EN, LONG_ZH])
def test_a_long_text_that_may_be_told_again_is_read(old):
    assert verdict_on(Told(old.text, "ann", SHORT.timestamp), old, 0.99).verdict is Verdict.SAME


def test_a_long_text_replaces_a_short_one_and_takes_its_place_before_a_newer_one():
    short = Told("The port of Marlin is 7419.", "ann", MONDAY - timedelta(days=1))
    found = verdict_on(LONG_EN, short, 0.7)
    assert (found.verdict, found.earlier_wins) == (Verdict.EVOLVES, False)
    told_late = verdict_on(LONG_EN, SHORT, 0.7)
    assert (told_late.verdict, told_late.earlier_wins) == (Verdict.RELATED, False)


def test_whoever_is_asked_is_heard_on_long_texts_too():
    assert verdict_on(SHORT, LONG_EN, 0.7, "evolves").verdict is Verdict.EVOLVES
