"""What the rounds of a race have shown so far, and the rules by which they are judged."""

from __future__ import annotations

import math
import statistics
from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from pytest_jitperf.judge.stats import error_spent, median_interval, paired_interval

__all__ = ["FEW_ROUNDS", "Interval", "Rounds", "Rule", "few_interval", "few_rule", "median_rule"]

#: From log-ratios to estimate, lower end, upper end; infinite ends where it is too early to say.
Interval = Callable[[Sequence[float]], tuple[float, float, float]]

# Few rounds. A round is taken to vary by 2 % at least, for as much as 4 degrees of freedom are worth, and nothing is
# said before the third. By simulation of races at a ratio equal to the limit, where every verdict is wrong, the error
# stays below 0.1 % for rounds that vary by 4 %. It is 1.5 % and 2 % for 10 % and 20 %, as on a very busy machine, and a
# quarter for two equally likely speeds 20 % apart. Unchanged code ends as regressed in 0.3 % of races at the worst of
# these. Who has time for more rounds looks later, at the eighth at most.
_FEW_SD = 0.02
_FEW_PRIOR_DF = 4.0
#: Rounds below which nothing is said.
FEW_ROUNDS = 3
_LATEST_FIRST_LOOK = 8


@dataclass(slots=True)
class Rounds:
    """Log-ratios new / old of the rounds of one stage, ascending."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def add(self, wall: float, new_cpu: float, old_cpu: float) -> None:
        """Adds a round: its ratio by the wall clock, and CPU seconds of either side."""
        insort(self.wall, math.log(wall))
        # CPU clocks are coarse on some platforms: where one stood still, the round has one witness only.
        if new_cpu > 0 and old_cpu > 0:
            insort(self.cpu, math.log(new_cpu / old_cpu))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How the rounds of one stage are judged.

    Attributes:
        interval: The interval for the ratio.
        statistic: What a block's timings come down to.
        cpu: Whether the CPU clock is heard.
        one_core: Whether all threads are on one core, so that the clocks must agree.
    """

    interval: Interval
    statistic: Callable[[Sequence[float]], float] = statistics.median
    cpu: bool = False
    one_core: bool = False

    def judge(self, rounds: Rounds, limit: float) -> tuple[tuple[float, float, float], bool]:
        """The interval that counts, and whether it decides."""
        wall = self.interval(rounds.wall)
        by_wall = _side(wall, limit)
        if not self.cpu or not rounds.cpu:
            return wall, by_wall != 0
        cpu = self.interval(rounds.cpu)
        by_cpu = _side(cpu, limit)
        if by_wall:
            return wall, not (self.one_core and by_cpu == -by_wall)
        if by_cpu and (wall[0] > limit) == (by_cpu > 0):
            return cpu, True
        return wall, False


def _side(interval: tuple[float, float, float], limit: float) -> int:
    """1 where the interval lies above the limit, -1 where it lies below, 0 where it holds it."""
    _, low, high = interval
    return (low > limit) - (high < limit)


def median_rule(error: float) -> Interval:
    """The interval for many rounds: that of their median, true whenever one looks."""
    return partial(median_interval, alpha=error)


def few_rule(error: float, fitting: float) -> Interval:
    """The interval for few rounds: t, from a first look on which is the later the more rounds fit.

    Args:
        error: What all looks may use together.
        fitting: How many rounds fit in the time.
    """
    first_look = min(max(int(fitting / 4), FEW_ROUNDS), _LATEST_FIRST_LOOK)

    def interval(log_ratios: Sequence[float]) -> tuple[float, float, float]:
        look = len(log_ratios) - first_look + 1
        if look < 1:
            return statistics.median(log_ratios), -math.inf, math.inf
        return few_interval(log_ratios, error_spent(error, look))

    return interval


def few_interval(log_ratios: Sequence[float], error: float) -> tuple[float, float, float]:
    """The t interval for few rounds, at one look: at least one log-ratio, and the error for this look."""
    return paired_interval(log_ratios, floor_sd=_FEW_SD, confidence=1 - error, prior_df=_FEW_PRIOR_DF)
