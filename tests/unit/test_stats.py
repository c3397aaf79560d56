"""Intervals keep their promises: exactly where that can be computed, by simulation where it cannot."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_jitperf.judge.stats import (
    ERROR,
    error_spent,
    median_interval,
    paired_interval,
    quartiles,
    serial_margin,
    sides_sd,
)

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


def stretch(values: list[float]) -> float:
    """By what factor the margin widens an interval of 99.9 % of as many independent values."""
    low, high = np.quantile(values, [0.25, 0.75])
    half_width = 3.29 * math.sqrt(math.pi / 2) / 1.349 * (high - low) / math.sqrt(len(values))
    return 1 + serial_margin(values) / float(half_width)


def test_values_that_hang_together_need_a_margin_as_large_as_their_ranks_allow() -> None:
    """Three standard errors are 0.3 for 100 values; the most that is allowed for is 0.9, and the root of 19 is 4.36."""
    ascending, alternating = [float(n) for n in range(100)], [0.0, 1.0] * 50
    assert stretch(ascending) == pytest.approx(math.sqrt(19))
    assert serial_margin(alternating) == 0.0
    # Pairs of equal ranks, each pair unlike the next: half of the neighbours are equal, so that r is 0 (0.01) + 0.3.
    assert stretch([0.0, 0.0, 1.0, 1.0] * 25) == pytest.approx(math.sqrt(1.31 / 0.69), abs=1e-3)


def test_wild_values_need_no_margin() -> None:
    """It is as large as the bulk of the values is wide, and depends on the ranks of the others alone."""
    values = np.random.default_rng(5).normal(size=60)
    wild = np.where(values > 1, values * 1e6, values)
    assert serial_margin(wild.tolist()) == pytest.approx(serial_margin(values.tolist()))
    assert serial_margin([0.1] * 20) == serial_margin([0.1]) == 0.0


def test_of_few_values_little_is_known_about_how_they_hang_together() -> None:
    """Within three standard errors of nothing: about sqrt((1 + 3 / sqrt(n)) / (1 - 3 / sqrt(n)))."""
    rng = np.random.default_rng(5)
    means = [np.mean([stretch(rng.normal(size=n).tolist()) for _ in range(200)]) for n in (15, 100, 900)]
    assert means == pytest.approx([2.9, 1.35, 1.1], rel=0.04)


def test_a_pair_varies_as_two_sides_would_that_have_nothing_in_common_until_there_are_eight() -> None:
    """Standard deviations of 3 and 4 make 5, whatever the sides have in common."""
    new, old = [0.0, 3.0, 6.0], [0.0, 4.0, 8.0]
    assert sides_sd(new, old) == pytest.approx(5.0)
    assert sides_sd([7.0], [1.0]) == 0.0
    assert sides_sd([*new, *new, 1.0], [*old, *old, 1.0]) > 0
    assert sides_sd([*new, *new, 1.0, 2.0], [*old, *old, 1.0, 2.0]) == 0.0


def test_error_spent_over_all_looks_is_the_whole_error_and_no_more() -> None:
    parts = [error_spent(ERROR, look) for look in range(1, 1000)]
    assert parts[:3] == pytest.approx([0.0005, 0.001 / 6, 0.001 / 12])
    assert 0.998 * ERROR < sum(parts) < ERROR


def test_quartiles_interpolate_between_values() -> None:
    assert quartiles([4.0, 1.0, 3.0, 2.0]) == (2.5, 1.75, 3.25)


def test_quartiles_of_one_value_are_that_value() -> None:
    assert quartiles([3.0]) == (3.0, 3.0, 3.0)
