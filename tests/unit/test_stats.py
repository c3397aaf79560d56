"""Intervals keep their promises: exactly where that can be computed, by simulation where it cannot."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_jitperf.judge.stats import ERROR, error_spent, median_interval, paired_interval, quartiles

Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]

# Median 0 each, and nothing else in common.
NOISES: dict[str, Draw] = {
    "normal": lambda rng, shape: rng.normal(0, 0.05, shape),
    "heavy tail": lambda rng, shape: rng.standard_cauchy(shape) * 0.01,
    "bimodal": lambda rng, shape: rng.choice([-0.3, 0.3], shape) + rng.normal(0, 0.01, shape),
    "skewed": lambda rng, shape: rng.exponential(0.1, shape) - 0.1 * math.log(2),
    # Every round that counts fails the same way for a while, but whom it hits is drawn anew.
    "phases of load": lambda rng, shape: rng.normal(0, 1, shape) * np.repeat([0.01, 0.5], shape[1] // 2),
}


def excluding_count(rounds: int, alpha: float) -> int:
    """How many of the rounds must fall on one side of a value for the interval to exclude it; rounds + 1 for never."""
    _, low, _ = median_interval([float(n) for n in range(rounds)], alpha)
    return rounds + 1 if math.isinf(low) else rounds - int(low)


def chance_that_a_fair_coin_is_excluded(alpha: float, rounds: int) -> float:
    """Exact probability that the true median leaves the interval at any of the first rounds."""
    reached = {0: 1.0}
    excluded = 0.0
    for count in range(1, rounds + 1):
        limit = excluding_count(count, alpha)
        after: dict[int, float] = {}
        for above, probability in reached.items():
            for now in (above, above + 1):
                if now >= limit or count - now >= limit:
                    excluded += probability / 2
                else:
                    after[now] = after.get(now, 0.0) + probability / 2
        reached = after
    return excluded


@pytest.mark.parametrize("alpha", [0.001, 0.0005, 0.05])
def test_looking_after_each_of_300_rounds_excludes_the_true_median_no_more_often_than_promised(alpha: float) -> None:
    chance = chance_that_a_fair_coin_is_excluded(alpha, 300)
    assert alpha / 4 < chance <= alpha


@pytest.mark.parametrize("noise", NOISES)
def test_the_promise_does_not_depend_on_the_kind_of_noise(noise: str) -> None:
    """At a ratio equal to the limit every verdict is wrong; 5 % are promised, 1 in 20 of 400 sequences."""
    rng = np.random.default_rng(7)
    sequences, limit = 400, math.log(1.1)
    wrong = 0
    for values in limit + NOISES[noise](rng, (sequences, 100)):
        listed = values.tolist()
        for rounds in range(5, 101):
            _, low, high = median_interval(listed[:rounds], 0.05)
            if low > limit or high < limit:
                wrong += 1
                break
    assert wrong <= 0.05 * sequences


def test_median_interval_bounds_what_bets_on_a_coin_leave_over() -> None:
    """The ends are the outermost values that the definition, worked out in whole numbers, does not exclude."""

    def excluded(count: int, rounds: int) -> bool:
        return 2 * count > rounds and 2**rounds >= 1000 * (rounds + 1) * math.comb(rounds, count)

    for rounds in (14, 15, 40, 101):
        values = [float(n) for n in range(rounds)]
        kept = [m for m in values if not excluded(int(rounds - 1 - m), rounds) and not excluded(int(m), rounds)]
        assert median_interval(values) == ((rounds - 1) / 2, kept[0], kept[-1])


@pytest.mark.parametrize(("alpha", "rounds"), [(0.001, 14), (0.0005, 15), (0.00025, 17)])
def test_rounds_that_all_agree_decide_as_soon_as_the_error_allows(alpha: float, rounds: int) -> None:
    assert median_interval([0.2] * rounds, alpha) == (0.2, 0.2, 0.2)
    assert median_interval([0.2] * (rounds - 1), alpha) == (0.2, -math.inf, math.inf)


def test_median_interval_ignores_the_order_and_wild_values() -> None:
    values = [0.1] * 20 + [1e9, -1e9]
    assert median_interval(values) == median_interval(values[::-1]) == (0.1, 0.1, 0.1)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=60), st.sampled_from([0.001, 0.05]))
def test_median_interval_is_the_same_upside_down(values: list[float], alpha: float) -> None:
    median, low, high = median_interval(values, alpha)
    assert low <= median <= high
    assert median_interval([-value for value in values], alpha) == (-median, -high, -low)


def test_a_single_pair_is_worth_what_the_floor_says() -> None:
    """5.0413 is the 99.95 % quantile of t with 8 degrees of freedom, from tables."""
    mean, low, high = paired_interval([0.25])
    assert mean == 0.25
    assert [low, high] == pytest.approx([0.25 - 5.0413 * 0.03, 0.25 + 5.0413 * 0.03], abs=1e-5)


def test_pairs_that_agree_by_luck_are_held_to_the_floor_and_scattered_ones_to_their_own_spread() -> None:
    """4.4370 is the 99.95 % quantile of t with 11 degrees of freedom (8 + 3); 2 is the root of 4 pairs."""
    _, low, high = paired_interval([0.1, 0.1, 0.1, 0.1], floor_sd=0.03)
    assert (high - low) / 2 == pytest.approx(4.4370 / 2 * 0.03, abs=1e-5)
    _, low, high = paired_interval([-0.3, 0.3, -0.3, 0.3], floor_sd=0.03)
    assert (high - low) / 2 == pytest.approx(4.4370 / 2 * math.sqrt(0.12), abs=1e-4)


@pytest.mark.parametrize("pairs", [1, 2, 5, 10])
@pytest.mark.parametrize("noise", ["normal", "uniform", "heavy tail"])
def test_paired_interval_holds_the_truth_as_often_as_promised_where_the_floor_is_right(noise: str, pairs: int) -> None:
    rng = np.random.default_rng(11)
    draws = {
        "normal": rng.normal(0, 0.03, (2000, pairs)),
        "uniform": rng.uniform(-1, 1, (2000, pairs)) * 0.03 * math.sqrt(3),
        "heavy tail": rng.standard_t(4, (2000, pairs)) * 0.03 / math.sqrt(2),
    }
    intervals = [paired_interval(row.tolist(), 0.03, 0.95) for row in draws[noise]]
    missed = sum(not low <= 0 <= high for _, low, high in intervals)
    assert missed <= 0.05 * 2000


def test_error_spent_over_all_looks_is_the_whole_error_and_no_more() -> None:
    parts = [error_spent(ERROR, look) for look in range(1, 1000)]
    assert parts[:3] == pytest.approx([0.0005, 0.001 / 6, 0.001 / 12])
    assert 0.998 * ERROR < sum(parts) < ERROR


def test_quartiles_interpolate_between_values() -> None:
    assert quartiles([4.0, 1.0, 3.0, 2.0]) == (2.5, 1.75, 3.25)


def test_quartiles_of_one_value_are_that_value() -> None:
    assert quartiles([3.0]) == (3.0, 3.0, 3.0)
