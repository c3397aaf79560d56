"""What two things cost to build, compared in a few pairs."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.judge.compileterms import Whole, is_stuck
from pytest_jitperf.judge.stats import ERROR, PAIR_SD, error_spent, paired_interval, sides_sd
from pytest_jitperf.measurement import Ratio

from .clock import CLOCKS, Clocks

__all__ = ["in_order", "in_random_order", "paired_costs", "ratio_of", "turns"]

# Pairs of compiles of one program vary by 3 to 3.5 % on a quiet machine (CPU time), and by 4 to 8 % on one with twice
# as many busy processes as cores. Where a pair is cheap, the first look is after three, and `PAIR_SD` is worth 5
# degrees of freedom; where it is dear, after two or one, and worth 8, which is what it takes to clear equal costs of a
# limit of 1.25 by a single pair.
#
# Achieved by simulation at a ratio equal to the limit, where every verdict is wrong (0.1 % is what is promised), for
# pairs that vary by 3.5 / 7 / 14 %: cheap 0 / 0.04 / 0.2 %, dear 0 / 0.9 / 12 %; with two speeds 12 % apart, 1.8 %.
# What compiles for many seconds varies less: single pairs of a compile of 24 s lay within 9 %. Equal costs were found
# to be above a limit of 1.25 in 0.01 % at the worst, whatever the noise, and x1.5 to be within it in none where a pair
# is cheap, and in 0.7 % where it is dear and varies by 14 %.
_CHEAP_PAIRS = 3
_CHEAP_DF = 5.0
_DEAR_DF = 8.0
# Looks that find nothing cost error: there is none before there is a third more to see.
_MORE_TO_SEE = 4 / 3

# That a program is above the limit is not believed of a single pair, unless there is no time for a second; and that it
# is so by a little, not before the fifth.
_PAIRS_WHEN_NEAR = 5
_NEAR = 1.25

T = TypeVar("T")


def in_random_order(rng: random.Random, new: Callable[[], T], old: Callable[[], T]) -> tuple[T, T]:
    """Calls both, which first a coin decides, and returns both results, new before old."""
    return in_order(rng.random() < 0.5, new, old)


def in_order(new_first: bool, new: Callable[[], T], old: Callable[[], T]) -> tuple[T, T]:
    """Calls both and returns both results, new before old, whichever was called first."""
    if new_first:
        first = new()
        return first, old()
    second = old()
    return new(), second


def turns(rng: random.Random) -> Iterator[bool]:
    """Whether the new one goes first: what a coin says, then the other way round, and so on.

    So of a few pairs about half are in either order, and whatever comes of going first is seen, and cancels out. Of
    many, a coin for each does as well, and leaves no pattern that the machine's own might fall in with.
    """
    while True:
        first = rng.random() < 0.5
        yield first
        yield not first


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
    whole: Whole = lambda ratio: ratio,
    own_limit: float | None = None,
    clocks: Clocks = CLOCKS,
    error: float = ERROR,
) -> Ratio:
    """Compares what two things cost to build, in pairs, in random order within each.

    Stops when the interval (`paired_interval`, at an error that all looks share) is clear of the limit, or that of the
    whole of which it is a part; and where no further pair could make it so. The first look
    is after the first pair where pairs are dear, after the third where they are cheap. That the new one is above the
    limit takes a second pair, if there is time for it, and the fifth where it is so by less than 25 %. Of two pairs in
    a row, one is built in either order.

    Args:
        build_new: Builds the new one from cold and returns the CPU seconds it took.
        build_old: Builds the old one likewise.
        limit: Ratio new / old, more than 0, that matters: 1.25 for "at most 25 % dearer".
        max_seconds: Wall time for building. A pair that would go beyond it is not begun; without ``first``, one pair is
            built in any case.
        rng: Draws the order of every other pair.
        first: CPU seconds (new, old) of a pair that there is already.
        max_pairs: Number of pairs, ``first`` included, at which to stop.
        whole: From estimate, low and high end of the ratio to those of the ratio that is held to the limit, where there
            is more to it than what is built here.
        own_limit: The limit of the ratio itself, where that is held to one too.
        clocks: Tells the time.
        error: Probability, both directions together, that the interval leaves out the true ratio.

    Returns:
        The mean ratio of what is built here, with its interval; ``seconds`` is the wall time spent here, ``decided``
        says whether what is held to the limit is clear of it.

    Raises:
        MeasurementError: A build took no time.
    """
    start = clocks.wall()
    order = turns(rng)
    pairs = [first if first is not None else in_order(next(order), build_new, build_old)]
    built = 0 if first is not None else 1
    next_look = min(_first_look(max_seconds / (sum(pairs[0]) or 1.0)), max_pairs)
    prior_df = _DEAR_DF if next_look < _CHEAP_PAIRS else _CHEAP_DF
    looks = 0
    while True:
        seconds = (clocks.wall() - start) * 1e-9
        per_pair = seconds / built if built else sum(pairs[0])
        last = len(pairs) >= max_pairs or seconds + per_pair > max_seconds
        if last or len(pairs) >= next_look:
            looks, next_look = looks + 1, max(len(pairs) + 1, int(len(pairs) * _MORE_TO_SEE))
            interval = _interval(pairs, error_spent(error, looks), prior_df)
            ends = (math.exp(interval[0]), math.exp(interval[1]), math.exp(interval[2]))
            decided = _is_clear(whole(ends), limit, len(pairs), last)
            if own_limit is not None:
                decided = decided and _is_clear(ends, own_limit, len(pairs), last)
            if decided or last or (own_limit is None and is_stuck(ends, whole, limit)):
                return ratio_of(interval, rounds=len(pairs), seconds=seconds, decided=decided)
        pairs.append(in_order(next(order), build_new, build_old))
        built += 1


def _is_clear(ratio: tuple[float, float, float], limit: float, pairs: int, last: bool) -> bool:
    estimate, low, high = ratio
    believed = _PAIRS_WHEN_NEAR if estimate <= limit * _NEAR else 1 if last else 2
    return high < limit or (low > limit and pairs >= believed)


def _interval(pairs: Sequence[tuple[float, float]], error: float, prior_df: float) -> tuple[float, float, float]:
    """The interval of the pairs' ratio, at one look.

    Raises:
        MeasurementError: A build took no time.
    """
    for new, old in pairs:
        if new <= 0 or old <= 0:
            raise MeasurementError(
                f"clock did not advance: building took {new} and {old} CPU seconds (new, old). "
                "The CPU clock of this platform is too coarse for it, or something replaced the clock: "
                "leave 'compile' and 'xla' out of what is gated here."
            )
    news, olds = ([math.log(pair[side]) for pair in pairs] for side in (0, 1))
    ratios = [new - old for new, old in zip(news, olds, strict=True)]
    floor = max(PAIR_SD, sides_sd(news, olds))
    return paired_interval(ratios, floor_sd=floor, confidence=1 - error, prior_df=prior_df)


def _first_look(affordable: float) -> int:
    """Pairs before the first verdict: three, if they take no more than a twentieth of what may be spent, else fewer."""
    return min(max(int(affordable / 20), 1), _CHEAP_PAIRS)
