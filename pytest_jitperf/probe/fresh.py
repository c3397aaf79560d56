"""How two programs compare, whatever executables they happen to get.

Executables of one and the same program differ by up to 1.5 % in speed: where the code and the buffers come to lie is a
matter of luck. However well a race knows the ratio of two executables, it knows that of their programs no better than
that. So where it matters, several pairs of fresh executables are raced for a moment each, and the interval is that of
the pairs: what is luck, and what is noise, differs from pair to pair, and is in their spread.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from pytest_jitperf.judge.stats import ERROR, error_spent, paired_interval
from pytest_jitperf.measurement import Ratio

from .block import Side
from .clock import CLOCKS, Clocks
from .collector import collector_off
from .course import TIMINGS, TIMINGS_ON_ONE_CORE, Course
from .onecore import Pin
from .paired import ratio_of
from .rounds import Rounds, Rule, few_rounds

__all__ = ["EXECUTABLES_DIFFER", "FIRST_LOOK", "race_afresh"]

#: How far off the ratio of a single pair of executables may be, as a factor: five of its standard deviations of 0.9 %.
EXECUTABLES_DIFFER = 1.045

#: Pairs before the first verdict. Achieved by simulation at a ratio equal to the limit, where every verdict is wrong
#: (0.1 % is what is promised): 0.07 % for pairs that vary normally, 0.1 % for executables of two speeds, 0.2 % for
#: pairs that are spread evenly. With a limit of x1.01, programs of equal speed are told from it by 6 to 9 pairs where
#: pairs vary by 0.3 %, and by 20 in half of the cases where they vary by 0.9 %.
FIRST_LOOK = 6

# Taken for the spread of pairs that agree by luck; and for that of too few pairs for a verdict.
_LEAST_SD = 0.003
_USUAL_SD = 0.009
_USUAL_DF = 8.0

# Looks that find nothing cost error: the next one is when there are half as many pairs more to see.
_MORE_TO_SEE = 3 / 2
_PAIRS_WANTED = 20
_MOST_PAIRS = 30

# A round at which no race arrives.
_NEVER = 10**9


def race_afresh(
    pair: Callable[[], tuple[Side, Side]],
    *,
    known: Sequence[float],
    limit: float,
    max_seconds: float,
    may_compile: Callable[[], bool],
    block: Callable[[Any], None],
    rng: random.Random,
    progress: Callable[[str], None] = lambda text: None,
    clocks: Clocks = CLOCKS,
    error: float = ERROR,
    pin: Pin | None = None,
) -> Ratio:
    """Races pair after pair of fresh executables, until the ratio new / old of the programs is clear of the limit.

    Args:
        pair: Compiles both anew and gives the new and the old side, each called once.
        known: Ratios of pairs of executables that have been raced already, at least one.
        limit: The ratio that matters, more than 0.
        max_seconds: Wall time for racing, compiling aside.
        may_compile: Whether there is time to compile another pair.
        block: Waits for the result of a call.
        rng: Draws the orders.
        progress: Told how things stand.
        clocks: Tells the time.
        error: Probability, both directions together, that the interval leaves out the true ratio.
        pin: Pins the process to one core while a pair is raced, where that is what made their race possible.

    Returns:
        The mean ratio with its interval; ``rounds`` and ``executables`` count the pairs, those known included.

    Raises:
        MeasurementError: The clock did not advance.
    """
    ratios = [math.log(each) for each in known]
    raced, looks, next_look = 0.0, 0, FIRST_LOOK
    while True:
        pairs = len(ratios)
        over = raced >= max_seconds or pairs >= _MOST_PAIRS or not may_compile()
        if over or pairs >= next_look:
            looks, next_look = looks + 1, max(pairs + 1, int(pairs * _MORE_TO_SEE))
            interval = _interval(ratios, error_spent(error, looks))
            decided = pairs >= FIRST_LOOK and not interval[1] <= math.log(limit) <= interval[2]
            if decided or over:
                found = ratio_of(interval, rounds=pairs, seconds=raced, decided=decided)
                return replace(found, executables=pairs)
        progress(f"racing fresh executables, pair {pairs + 1}")
        new, old = pair()
        start = clocks.wall()
        with pin(rng) if pin else nullcontext(False) as pinned:
            ratios.append(_glimpse(new, old, max_seconds / _PAIRS_WANTED, block, rng, clocks, one_core=pinned))
        raced += (clocks.wall() - start) * 1e-9
        del new, old  # before the next ones are compiled


def _interval(ratios: Sequence[float], error: float) -> tuple[float, float, float]:
    if len(ratios) < FIRST_LOOK:
        return paired_interval(ratios, floor_sd=_USUAL_SD, confidence=1 - error, prior_df=_USUAL_DF)
    return paired_interval(ratios, floor_sd=_LEAST_SD, confidence=1 - error, prior_df=0.0)


def _glimpse(
    new: Side,
    old: Side,
    max_seconds: float,
    block: Callable[[Any], None],
    rng: random.Random,
    clocks: Clocks,
    *,
    one_core: bool,
) -> float:
    """Logarithm of the median ratio of as many rounds as fit in a short time, and of three at least.

    On one core the fastest call of a block counts, as in a race there.
    """
    with collector_off():
        course = Course(
            new=new, old=old, limit=0.0, max_seconds=max_seconds, block=block, rng=rng, clocks=clocks, error=ERROR
        )
        rounds, paces = Rounds(), course.paces(course.costs(), TIMINGS_ON_ONE_CORE if one_core else TIMINGS)
        statistic = min if one_core else statistics.median
        rule = Rule(interval=few_rounds(ERROR), first_look=_NEVER, statistic=statistic)
        course.go_on(rounds, paces, rule, max_seconds, last=False)
    return statistics.median(above - below for above, below in zip(rounds.wall.new, rounds.wall.old, strict=True))
