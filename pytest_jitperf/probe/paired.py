"""What two things cost to build, compared in a few pairs."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import TypeVar

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.judge.stats import ERROR, error_spent, paired_interval
from pytest_jitperf.measurement import Ratio

from .clock import CLOCKS, Clocks

__all__ = ["in_random_order", "paired_costs", "ratio_of"]

# A single pair of compiles of the same program is off by more than 25 % once in 200 times, the mean of five pairs once
# in 25,000 times.
_PAIRS_WHEN_NEAR = 5
_NEAR = math.log(1.25)

T = TypeVar("T")


def in_random_order(rng: random.Random, new: Callable[[], T], old: Callable[[], T]) -> tuple[T, T]:
    """Calls both, which first a coin decides, and returns both results, new before old."""
    if rng.random() < 0.5:
        first = new()
        return first, old()
    second = old()
    return new(), second


def ratio_of(logs: tuple[float, float, float], *, rounds: int, seconds: float, decided: bool) -> Ratio:
    """A Ratio from the logarithms of estimate, lower end and upper end."""
    estimate, low, high = (math.exp(each) for each in logs)
    return Ratio(estimate=estimate, low=low, high=high, rounds=rounds, seconds=seconds, decided=decided)


def paired_costs(
    build_new: Callable[[], float],
    build_old: Callable[[], float],
    *,
    limit: float,
    max_seconds: float,
    rng: random.Random,
    first: tuple[float, float] | None = None,
    max_pairs: int = 10,
    clocks: Clocks = CLOCKS,
    error: float = ERROR,
) -> Ratio:
    """Compares what two things cost to build, in pairs, in random order within each.

    Stops when the interval (`paired_interval`, at an error that all looks share) is clear of the limit. That the new
    one is too dear by less than 25 % of the limit is not believed before the fifth pair.

    Args:
        build_new: Builds the new one from cold and returns the CPU seconds it took.
        build_old: Builds the old one likewise.
        limit: Ratio new / old, more than 0, that matters: 1.25 for "at most 25 % dearer".
        max_seconds: Wall time for building. A pair that would go beyond it is not begun; without ``first``, one pair is
            built in any case.
        rng: Draws the order within pairs.
        first: CPU seconds (new, old) of a pair that there is already.
        max_pairs: Number of pairs, ``first`` included, at which to stop.
        clocks: Tells the time.
        error: Probability, both directions together, that the interval leaves out the true ratio.

    Returns:
        The mean ratio with its interval; ``seconds`` is the wall time spent here, ``decided`` says whether the interval
        is clear of the limit.

    Raises:
        MeasurementError: A build took no time.
    """
    start = clocks.wall()
    log_ratios: list[float] = []
    per_pair = 0.0
    if first is not None:
        log_ratios.append(_log_ratio(*first))
        per_pair = sum(first)
    built = 0
    while True:
        seconds = (clocks.wall() - start) * 1e-9
        if built:
            per_pair = seconds / built
        if log_ratios:
            pairs = len(log_ratios)
            estimate, low, high = paired_interval(log_ratios, confidence=1 - error_spent(error, pairs))
            above = low > math.log(limit) and (pairs >= _PAIRS_WHEN_NEAR or estimate > math.log(limit) + _NEAR)
            decided = above or high < math.log(limit)
            if decided or pairs >= max_pairs or seconds + per_pair > max_seconds:
                return ratio_of((estimate, low, high), rounds=pairs, seconds=seconds, decided=decided)
        log_ratios.append(_log_ratio(*in_random_order(rng, build_new, build_old)))
        built += 1


def _log_ratio(new: float, old: float) -> float:
    if new <= 0 or old <= 0:
        raise MeasurementError(
            f"clock did not advance: building took {new} and {old} CPU seconds (new, old). "
            "The CPU clock of this platform is too coarse for it, or something replaced the clock: "
            "leave 'compile' and 'xla' out of what is gated here."
        )
    return math.log(new / old)
