"""What the rounds of a race have shown so far, and the rules by which they are judged."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from pytest_jitperf.judge.stats import error_spent, median_interval, paired_interval, serial_margin, sides_sd

__all__ = [
    "FEW_ROUNDS",
    "Interval",
    "Logs",
    "Rounds",
    "RoundsInterval",
    "Rule",
    "Sides",
    "few_interval",
    "few_rounds",
    "few_rule",
    "first_look_of",
    "many_rounds",
    "median_rule",
]

#: Estimate, lower end, upper end, as logarithms; infinite ends where it is too early to say.
Logs = tuple[float, float, float]
#: From logarithms in any order to their interval.
Interval = Callable[[Sequence[float]], Logs]
#: From the logarithms of the new and the old side, round by round, to the interval of their ratio.
RoundsInterval = Callable[[Sequence[float], Sequence[float]], Logs]

# Few of one thing. It is taken to vary by 2 % at least, for as much as 4 degrees of freedom are worth, and nothing is
# said before the third. Who has time for more looks later, at the eighth at most.
_FEW_SD = 0.02
_FEW_PRIOR_DF = 4.0
_LATEST_FIRST_LOOK = 8

#: Rounds below which nothing is said.
FEW_ROUNDS = 3

# Few rounds of a race. A round is taken to vary by 1.5 % at least, for as much as 3 degrees of freedom are worth: calls
# of a second on a quiet machine, of which three rounds have to do, are told from x1.1 and from x1.2 by that. The first
# verdict is at the sixth round if there is time for six: where each call has one of two speeds at random, one round in
# four is as misleading as it can be, and three of them agree by luck in one race of 32, six in one of 2,000.
#
# Achieved by simulation at a ratio equal to the limit, where every verdict is wrong (0.1 % is what is promised), with
# six rounds and more / with three: independent noise of 4 to 20 % a round, 0.03 / 0.07 %; heavy tails, spikes and
# interference, 0.01 / 0.06 %; the second one slower by 20 %, a slow trend, load that sets in, load that both share,
# 0.06 / 0.02 %; two speeds 20 % apart, 0.07 / 3 %. Unchanged code is found to be slower than x1.10 in 0.02 / 1.5 % at
# the worst of these, and a regression is reported only when a second race agrees; x1.2 is found to be fine in 0.03 /
# 1.6 %. Calls that depend on those before them on the same side (by 0.6 from one to the next, which a machine that
# changes its speed does not do) break the promise at the limit: 0.8 % with three rounds, 1.2 % with six, 5 % with up to
# 24.
_ROUND_SD = 0.015
_ROUND_PRIOR_DF = 3.0
_FIRST_LOOK = 6


@dataclass(slots=True)
class Sides:
    """Logarithms of what either side took, round by round."""

    new: list[float] = field(default_factory=list)
    old: list[float] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.new)

    def add(self, new: float, old: float) -> None:
        """Adds a round, seconds."""
        self.new.append(math.log(new))
        self.old.append(math.log(old))


@dataclass(slots=True)
class Rounds:
    """The rounds of one stage, by the wall clock and by the CPU clock."""

    wall: Sides = field(default_factory=Sides)
    cpu: Sides = field(default_factory=Sides)

    def add(self, wall: tuple[float, float], cpu: tuple[float, float]) -> None:
        """Adds a round: seconds of the new and the old side, by either clock."""
        self.wall.add(*wall)
        # CPU clocks are coarse on some platforms: where one stood still, the round has one witness only.
        if min(cpu) > 0:
            self.cpu.add(*cpu)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How the rounds of one stage are judged.

    Attributes:
        interval: The interval for the ratio.
        first_look: Rounds before there is a verdict, if there is time for them.
        statistic: What a block's timings come down to.
        cpu: Whether the CPU clock is heard.
        one_core: Whether all threads are on one core, so that the clocks must agree.
        balanced: Whether every other round is run in the order that its predecessor was not.
    """

    interval: RoundsInterval
    first_look: int = 0
    statistic: Callable[[Sequence[float]], float] = statistics.median
    cpu: bool = False
    one_core: bool = False
    balanced: bool = False

    def judge(self, rounds: Rounds, limit: float, *, time_up: bool = False) -> tuple[Logs, bool]:
        """The interval that counts, and whether it decides.

        Args:
            rounds: So far, at least one.
            limit: Logarithm of the ratio that matters.
            time_up: Whether there will be no more: then a first look need not wait for its round.
        """
        wall = self.interval(rounds.wall.new, rounds.wall.old)
        if len(rounds.wall) < (min(FEW_ROUNDS, self.first_look) if time_up else self.first_look):
            return (wall[0], -math.inf, math.inf), False
        by_wall = _side(wall, limit)
        if not self.cpu or not rounds.cpu:
            return wall, by_wall != 0
        cpu = self.interval(rounds.cpu.new, rounds.cpu.old)
        by_cpu = _side(cpu, limit)
        if by_wall:
            return wall, not (self.one_core and by_cpu == -by_wall)
        if by_cpu and (wall[0] > limit) == (by_cpu > 0):
            return cpu, True
        return wall, False


def _side(interval: Logs, limit: float) -> int:
    """1 where the interval lies above the limit, -1 where it lies below, 0 where it holds it."""
    _, low, high = interval
    return (low > limit) - (high < limit)


def many_rounds(error: float) -> RoundsInterval:
    """The interval for many rounds: that of their median, true whenever one looks, and wider where they hang together.

    Args:
        error: What all looks may use together.
    """

    def interval(new: Sequence[float], old: Sequence[float]) -> Logs:
        ratios = [above - below for above, below in zip(new, old, strict=True)]
        median, low, high = median_interval(ratios, error)
        margin = serial_margin(ratios)
        return median, low - margin, high + margin

    return interval


def few_rounds(error: float, first_look: int = FEW_ROUNDS) -> RoundsInterval:
    """The interval for few rounds: t, with a spread that is never taken below that of two unrelated sides.

    Args:
        error: What all looks may use together.
        first_look: The round of the first look; earlier ones count as the first.
    """

    def interval(new: Sequence[float], old: Sequence[float]) -> Logs:
        ratios = [above - below for above, below in zip(new, old, strict=True)]
        return paired_interval(
            ratios,
            floor_sd=max(_ROUND_SD, sides_sd(new, old)),
            confidence=1 - error_spent(error, max(len(ratios) - first_look + 1, 1)),
            prior_df=_ROUND_PRIOR_DF,
        )

    return interval


def first_look_of(fitting: float) -> int:
    """The round of the first look where so many fit in the time."""
    return min(max(int(fitting), FEW_ROUNDS), _FIRST_LOOK)


def median_rule(error: float) -> Interval:
    """The interval for many: that of their median, true whenever one looks."""
    return partial(median_interval, alpha=error)


def few_rule(error: float, fitting: float) -> Interval:
    """The interval for few: t, from a first look on which is the later the more fit.

    Args:
        error: What all looks may use together.
        fitting: How many fit in the time.
    """
    first_look = min(max(int(fitting / 4), FEW_ROUNDS), _LATEST_FIRST_LOOK)

    def interval(logs: Sequence[float]) -> Logs:
        look = len(logs) - first_look + 1
        if look < 1:
            return statistics.median(logs), -math.inf, math.inf
        return few_interval(logs, error_spent(error, look))

    return interval


def few_interval(logs: Sequence[float], error: float) -> Logs:
    """The t interval for few, at one look: at least one logarithm, and the error for this look."""
    return paired_interval(logs, floor_sd=_FEW_SD, confidence=1 - error, prior_df=_FEW_PRIOR_DF)
