"""How a time grows with the size: exponents whose intervals hold the truth, and what a limit makes of them."""

from __future__ import annotations

import math
import random

import pytest

from pytest_jitperf.judge.growth import Growth, fit_growth, growth_finding
from pytest_jitperf.judge.outcome import Outcome
from pytest_jitperf.measurement import Sample

SIZES = (16.0, 64.0, 256.0, 1024.0)


def growth(exponent: float, low: float, high: float) -> Growth:
    return Growth(exponent=exponent, low=low, high=high, first=16, last=1024)


def sample(seconds: float, spread: float = 0.01) -> Sample:
    return Sample(median=seconds, low=seconds * (1 - spread), high=seconds * (1 + spread), rounds=20)


def fitted(law: list[float], sizes: tuple[float, ...] = SIZES, spread: float = 0.01) -> Growth:
    found = fit_growth(sizes, [sample(each, spread) for each in law])
    assert found is not None
    return found


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("fixed", [0.0, 1e-5])
def test_a_power_law_is_found_with_and_without_a_fixed_cost(exponent: float, fixed: float) -> None:
    found = fitted([fixed + 1e-8 * n**exponent for n in SIZES])
    assert found.low < exponent < found.high
    assert (found.first, found.last) == (16.0, 1024.0)
    if exponent >= 1 and fixed == 0:
        assert found.exponent == pytest.approx(exponent, abs=0.02)
        assert found.high - found.low < 0.4


def test_the_interval_holds_the_truth_in_19_of_20_noisy_sweeps() -> None:
    rng = random.Random(4)

    def noisy(exponent: float) -> Growth:
        times = [(2e-6 + 1e-8 * n**exponent) * math.exp(rng.gauss(0, 0.02)) for n in SIZES]
        return fitted(times)

    for exponent in (1.0, 2.0):
        held = sum(each.low <= exponent <= each.high for each in (noisy(exponent) for _ in range(100)))
        assert held >= 90


def test_points_far_from_any_power_law_widen_the_interval() -> None:
    """From the third size on nothing fits into the cache."""
    smooth = fitted([1e-6 * n for n in SIZES])
    cliff = fitted([1e-6 * n * (3 if n > 100 else 1) for n in SIZES])
    assert cliff.high - cliff.low > 2 * (smooth.high - smooth.low)
    assert cliff.low < 1.3


def test_wider_samples_widen_the_interval() -> None:
    law = [1e-6 * n for n in SIZES]
    exact, wide = fitted(law), fitted(law, spread=0.5)
    assert wide.high - wide.low > 2 * (exact.high - exact.low)


@pytest.mark.parametrize("sizes", [(1.0, 2.0), (1.0, 2.0, 2.0)])
def test_fewer_than_three_sizes_tell_nothing(sizes: tuple[float, ...]) -> None:
    assert fit_growth(sizes, [sample(each) for each in sizes]) is None


def test_a_jump_at_the_last_of_three_sizes_is_not_taken_for_certain() -> None:
    """Dispatch, dispatch, and threads that start: a fixed cost and n ** 5 fit, and so does much else."""
    found = fitted([6e-6, 6.3e-6, 40e-6], (16.0, 64.0, 256.0))
    assert found.low < 1.4
    assert found.exponent == pytest.approx(1.33, abs=0.1)


def test_a_size_that_is_there_twice_is_one() -> None:
    found = fitted([1e-6, 2e-6, 4e-6, 4e-6], (1.0, 2.0, 4.0, 4.0))
    assert found.low < 1.0 < found.high


def test_three_sizes_are_enough() -> None:
    found = fitted([1e-6 * n**2 for n in SIZES[:3]], SIZES[:3])
    assert found.low < 2 < found.high < 3


@pytest.mark.parametrize("factor", [1.0, 1.01])
def test_times_that_hardly_change_say_nothing(factor: float) -> None:
    found = fitted([1e-4, 1e-4, 1e-4, factor * 1e-4])
    assert (found.low, found.high) == (-math.inf, math.inf)
    assert found.describe() == "hardly grows"
    assert growth_finding(found, 1.2, 4) == []


def test_an_exponential_is_above_every_limit() -> None:
    found = fitted([1e-6 * 2.0**n for n in (8, 16, 24, 32)], (8.0, 16.0, 24.0, 32.0))
    assert found.low > 3


@pytest.mark.parametrize(
    ("found", "outcome", "sentence"),
    [
        (growth(1.1, 1.0, 1.3), None, ""),
        (
            growth(2.0, 1.9, 2.1),
            Outcome.OVER_BUDGET,
            "growth over budget: run grows as n^2.00 (n^1.90 ... n^2.10) from 16 to 1024, allowed n^1.2",
        ),
        (
            growth(1.3, 1.1, math.inf),
            Outcome.INCONCLUSIVE,
            "growth inconclusive: run grows as n^1.30 (n^1.10 ... ?) from 16 to 1024, allowed n^1.2; more sizes or "
            "larger ones tell",
        ),
        (None, Outcome.INCONCLUSIVE, "growth not judged: 2 different sizes were measured, and it takes 3"),
        (growth(0.1, -math.inf, math.inf), None, ""),
        (
            growth(2.0, -math.inf, math.inf),
            Outcome.INCONCLUSIVE,
            "growth inconclusive: run grows as n^2.00 (? ... ?) from 16 to 1024, allowed n^1.2; more sizes or larger "
            "ones tell",
        ),
    ],
)
def test_only_an_interval_that_lies_above_the_limit_fails(
    found: Growth | None, outcome: Outcome | None, sentence: str
) -> None:
    findings = growth_finding(found, 1.2, 2)
    assert [(each.outcome, each.sentence, each.rule) for each in findings] == (
        [(outcome, sentence, "budget growth=1.2 (marker)")] if outcome else []
    )
