"""The rules of a race keep their promise on simulated machines; the full table is the simulation's own."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.special import bdtr

from pytest_jitperf.judge.stats import ERROR
from rulemath import Verdicts, upper_bound
from trials import RUN_LIMIT, TRIALS, Trial
from wholeraces import MACHINES, whole_races

RACES = 2000
RULES = {trial.title: trial for trial in TRIALS}

# What the rules do not promise, with the share of wrong verdicts that is stated beside their constants.
STATED = {
    ("up to 24 rounds", "AR(1) 0.6, each side"): 0.055,
    ("up to 6 rounds", "AR(1) 0.6, each side"): 0.015,
    ("3 rounds", "AR(1) 0.6, each side"): 0.01,
    ("3 rounds", "two speeds"): 0.035,
    ("cheap compiles", "AR(1) 0.6, each side"): 0.02,
    ("cheap compiles", "two speeds"): 0.02,
}
CELLS = [
    (title, noise)
    for title, trial in RULES.items()
    for noise in trial.noises
    if title not in ("dear compiles", "fresh pairs, sd 0.3 %")
]


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """Off; else each race would collect."""
    gc.disable()
    yield
    gc.enable()


def wrong(found: Verdicts, *sides: int) -> int:
    return int(np.isin(found.side, sides).sum())


def within(hits: int, trials: int, share: float) -> bool:
    """Whether so many hits are no surprise, at 1 in 1,000."""
    return hits == 0 or bdtr(hits - 1, trials, share) < 0.999


def played(trial: Trial, noise: str, ratio: float, races: int = RACES) -> Verdicts:
    return trial.played(noise, ratio, races, seed=0, checked=4)


@pytest.mark.parametrize(("title", "noise"), CELLS)
def test_verdicts_at_the_limit_are_wrong_no_more_often_than_stated(title: str, noise: str) -> None:
    trial = RULES[title]
    share = STATED.get((title, noise), ERROR)
    assert within(wrong(played(trial, noise, trial.limit), -1, 1), RACES, share)


@pytest.mark.parametrize(("title", "noise"), [cell for cell in CELLS if cell != ("3 rounds", "two speeds")])
def test_unchanged_code_is_not_found_to_be_slower(title: str, noise: str) -> None:
    assert within(wrong(played(RULES[title], noise, 0.0), 1), RACES, ERROR)


@pytest.mark.parametrize(
    "noise", ["normal", "heavy tails (t, 2 df)", "slow trend", "AR(1) 0.6, shared", "interference"]
)
def test_many_rounds_find_what_is_planted(noise: str) -> None:
    found = played(RULES["many rounds"], noise, RULES["many rounds"].planted, races=200)
    assert found.share(1) == 1.0


@pytest.mark.parametrize("kind", MACHINES)
def test_whole_races_are_decided_and_right(kind: str) -> None:
    for ratio, side in ((1.0, -1), (1.2, 1)):
        found, seconds = whole_races(kind, ratio, 20, seed=0)
        assert found.share(side) == 1.0
        assert max(seconds) <= 5.5


def test_whole_races_at_the_limit_are_left_open() -> None:
    found, _ = whole_races("quiet, 2 %", np.exp(RUN_LIMIT), 20, seed=0)
    assert wrong(found, -1, 1) == 0


def test_an_upper_bound_is_the_share_that_lets_so_few_happen_in_a_twentieth_of_cases() -> None:
    assert upper_bound(0, 300) == pytest.approx(1 - 0.05 ** (1 / 300))
    assert bdtr(7, 1000, upper_bound(7, 1000)) == pytest.approx(0.05)


def test_a_simulation_that_is_not_the_rule_is_an_error() -> None:
    broken = RULES["3 rounds"]
    other = Trial(
        title="3 rounds",
        limit=broken.limit,
        planted=broken.planted,
        size=broken.size,
        rounds=3,
        many=broken.many,
        one=lambda new, old, limit: (1, 3),
    )
    with pytest.raises(AssertionError, match="3 rounds, normal: \\(1, 3\\) by the package"):
        played(other, "normal", 0.0)
