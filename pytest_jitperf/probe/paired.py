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
# in 25,000 times. On a machine with twice as many busy processes as cores, pairs of compiles of 0.2 s varied by 4 to
# 8 %. Drawing pairs from those, equal costs never ended above a limit of 1.25, and costs at the limit were called fine
# in 1 % of comparisons with a first look after three pairs, in 2 to 5 % with a first look after one.
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

    Stops when the interval (`paired_interval`, at an error that all looks share) is clear of the limit. The first look
    is after the first pair where pairs are dear, after the third where they are cheap; and that the new one is above
    the limit by less than 25 % is not believed before the fifth.

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
    pairs = [first if first is not None else in_random_order(rng, build_new, build_old)]
    built = 0 if first is not None else 1
    first_look = min(_first_look(max_seconds / (sum(pairs[0]) or 1.0)), max_pairs)
    log_limit = math.log(limit)
    while True:
        log_ratios = [_log_ratio(*pair) for pair in pairs]
        look = len(pairs) - first_look + 1
        interval = paired_interval(log_ratios, confidence=1 - error_spent(error, max(look, 1)))
        estimate, low, high = interval
        above = low > log_limit and (len(pairs) >= _PAIRS_WHEN_NEAR or estimate > log_limit + _NEAR)
        decided = look >= 1 and (above or high < log_limit)
        seconds = (clocks.wall() - start) * 1e-9
        per_pair = seconds / built if built else sum(pairs[0])
        if decided or len(pairs) >= max_pairs or seconds + per_pair > max_seconds:
            return ratio_of(interval, rounds=len(pairs), seconds=seconds, decided=decided)
        pairs.append(in_random_order(rng, build_new, build_old))
        built += 1


def _first_look(affordable: float) -> int:
    """Pairs before the first verdict: three, if they take no more than a twentieth of what may be spent, else fewer."""
    return min(max(int(affordable / 20), 1), 3)


def _log_ratio(new: float, old: float) -> float:
    if new <= 0 or old <= 0:
        raise MeasurementError(
            f"clock did not advance: building took {new} and {old} CPU seconds (new, old). "
            "The CPU clock of this platform is too coarse for it, or something replaced the clock: "
            "leave 'compile' and 'xla' out of what is gated here."
        )
    return math.log(new / old)
