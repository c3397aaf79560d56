"""The race: which of two callables is faster, here and now, and by how much.

Both are run in turns, in a random order within each round, and what counts is the ratio within a round: whatever slows
the machine down for longer than a round slows both down. The race ends as soon as the interval of the ratio lies clear
of the limit, above or below it. The random order is also what makes the interval true (see
`pytest_jitperf.judge.stats.median_interval`): when load comes and goes, a coin decides which side it hits.
"""

from __future__ import annotations

import math
import random
import statistics
from bisect import insort
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pytest_jitperf.judge.stats import ERROR, error_spent, median_interval, paired_interval
from pytest_jitperf.measurement import Ratio

from .block import Cost, Pace, Side, collector_off, cost_of, pace_for, run_block, sample
from .clock import CLOCKS, Clocks
from .onecore import one_core
from .paired import in_random_order, paired_costs, ratio_of

__all__ = ["Side", "paired_costs", "race", "sample"]

_Interval = Callable[[Sequence[float]], tuple[float, float, float]]
Pin = Callable[[random.Random], AbstractContextManager[bool]]

# Rounds are made short enough for 40 of them in the time given; a clear case takes 14 to 17.
_ROUNDS_WANTED = 40
_ROUNDS_FOR_MEDIAN = 18

# Few rounds. A round is taken to vary by 2 % at least, for as much as 4 degrees of freedom are worth, and nothing is
# said before the third. By simulation the error stays below 0.1 % for rounds that vary by 4 %; when they vary by 10 %
# and 20 %, as on a very busy machine, 1.4 % and 2.2 % of races at a ratio equal to the limit are decided wrongly, and
# 0.2 % of races of unchanged code end as regressed. Who has time for more rounds looks later, at the eighth at most.
_FEW_SD = 0.02
_FEW_PRIOR_DF = 4.0
_FEW_ROUNDS = 3
_FEW_LATEST_LOOK = 8
# Blocks of slow calls get their warm call as long as six rounds fit with it.
_ROUNDS_WORTH_WARMING = 6
# How far beyond its time a race may go for the sake of its first three rounds.
_OVERTIME = 3.0

# Whatever the clock says, a race ends.
_MOST_ROUNDS = 10_000
_PROGRESS_SECONDS = 1.0


def race(
    new: Side,
    old: Side,
    *,
    limit: float,
    max_seconds: float,
    block: Callable[[Any], None],
    rng: random.Random,
    progress: Callable[[str], None] | None = None,
    clocks: Clocks = CLOCKS,
    pin: Pin | None = one_core,
    error: float = ERROR,
) -> Ratio:
    """Races two sides until the ratio new / old is clear of the limit, or the time is up.

    In each round both sides run one block, in random order. The ratio of a round is that of the blocks' medians, and
    the interval that of the median of the rounds (`median_interval`).

    Undecided at half the time, all threads are pinned to one core and the race starts anew there, with the blocks'
    minima and with two witnesses, the wall clock and the CPU clock of the process. The wall clock's interval decides
    unless that of the CPU clock is clear of the limit on the other side; where the wall clock's is not clear, the CPU
    clock's decides if the wall clock's estimate lies on the same side. An interval that lies wholly apart from the
    first stage's decides nothing: one core does not notice a program that has lost its parallelism.

    Of slow calls, fewer than 18 rounds fit in the time (36, with two stages). They are judged in one stage by a t
    interval, from the third to the eighth round on, also with both clocks, but for the CPU clock's right to object.
    Three rounds are run even if they take up to three times as long as allowed.

    Args:
        new: The side in question.
        old: What it is compared with.
        limit: The ratio that matters, more than 0: 1.10 for "at most 10 % slower".
        max_seconds: Time for the race, about.
        block: Waits for the result of a call.
        rng: Draws the orders and the core.
        progress: Told about once a second how things stand.
        clocks: Tells the time.
        pin: Pins the process to one core. None for programs that run on an accelerator: there is no such stage then,
            and CPU time is not looked at.
        error: Probability, both directions together, that the interval leaves out the true ratio.

    Returns:
        The ratio with its interval. Where ``decided`` is set, the interval is clear of the limit.

    Raises:
        MeasurementError: The clock did not advance.
    """
    with collector_off():
        return _Race(
            new=new,
            old=old,
            limit=math.log(limit),
            max_seconds=max_seconds,
            block=block,
            rng=rng,
            progress=progress or (lambda text: None),
            clocks=clocks,
            pin=pin,
            error=error,
            start=clocks.wall(),
        ).run()


@dataclass(slots=True)
class _Rounds:
    """Log-ratios new / old of the rounds of one stage, ascending."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def add(self, wall: float, new_cpu: float, old_cpu: float) -> None:
        insort(self.wall, math.log(wall))
        # CPU clocks are coarse on some platforms: where one stood still, the round has one witness only.
        if new_cpu > 0 and old_cpu > 0:
            insort(self.cpu, math.log(new_cpu / old_cpu))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """How the rounds of one stage are judged.

    Attributes:
        interval: From log-ratios to estimate, lower end, upper end; infinite ends where it is too early to say.
        statistic: What a block's timings come down to.
        cpu: Whether the CPU clock is heard.
        one_core: Whether all threads are on one core, so that the clocks must agree.
    """

    interval: _Interval
    statistic: Callable[[Sequence[float]], float] = statistics.median
    cpu: bool = False
    one_core: bool = False

    def judge(self, rounds: _Rounds, limit: float) -> tuple[tuple[float, float, float], bool]:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Race:
    """A race under way: what `race` was given, the limit as a logarithm, and when it began."""

    new: Side
    old: Side
    limit: float
    max_seconds: float
    block: Callable[[Any], None]
    rng: random.Random
    progress: Callable[[str], None]
    clocks: Clocks
    pin: Pin | None
    error: float
    start: int

    def run(self) -> Ratio:
        costs = self.costs()
        paces = self.paces(costs)
        needed = _ROUNDS_FOR_MEDIAN * (2 if self.pin else 1)
        if self.fitting(paces, self.max_seconds) < needed:
            return self.few_rounds(costs, paces)
        if self.pin is None:
            rule = _Rule(interval=partial(median_interval, alpha=self.error))
            return self.go_on(_Rounds(), paces, rule, self.max_seconds)
        return self.two_stages(paces, self.pin)

    def two_stages(self, paces: tuple[Pace, Pace], pin: Pin) -> Ratio:
        """Fast calls on the CPU: first on all cores, then on one, with half of the error each."""
        rule = _Rule(interval=partial(median_interval, alpha=self.error / 2))
        rounds = _Rounds()
        first = self.go_on(rounds, paces, rule, self.max_seconds / 2)
        if first.decided:
            return first
        with pin(self.rng) as pinned:
            if not pinned:
                return self.go_on(rounds, paces, rule, self.max_seconds)
            self.progress("race: undecided on all cores, now on one")
            paces = self.paces(self.costs())
            fitting = self.fitting(paces, self.max_seconds - self.seconds())
            interval = self.rule_for_few(self.error / 4, fitting)
            if fitting >= _ROUNDS_FOR_MEDIAN:
                interval = partial(median_interval, alpha=self.error / 4)
            rule = _Rule(interval=interval, statistic=min, cpu=True, one_core=True)
            second = replace(self.go_on(_Rounds(), paces, rule, self.max_seconds), one_core=True)
        if second.decided:
            apart = second.low > first.high or second.high < first.low
            return first if apart else second
        return min(first, second, key=lambda ratio: ratio.high / ratio.low)

    def few_rounds(self, costs: tuple[Cost, Cost], paces: tuple[Pace, Pace]) -> Ratio:
        """Slow calls: one stage, a t interval."""
        rounds = _Rounds()
        if self.fitting(paces, self.max_seconds) < _ROUNDS_WORTH_WARMING:
            paces = replace(paces[0], warm=0), replace(paces[1], warm=0)
            # As the calls need no warming up, those that told the cost were a round already.
            rounds.add(costs[0].call / costs[1].call, costs[0].cpu, costs[1].cpu)
        interval = self.rule_for_few(self.error / 2 if self.pin else self.error, self.fitting(paces, self.max_seconds))
        return self.go_on(rounds, paces, _Rule(interval=interval, cpu=self.pin is not None), self.max_seconds)

    def rule_for_few(self, error: float, fitting: float) -> _Interval:
        """The t interval from the first look on, which is the later the more rounds fit."""
        first_look = min(max(int(fitting / 4), _FEW_ROUNDS), _FEW_LATEST_LOOK)

        def interval(log_ratios: Sequence[float]) -> tuple[float, float, float]:
            look = len(log_ratios) - first_look + 1
            if look < 1:
                return statistics.median(log_ratios), -math.inf, math.inf
            return _few_interval(log_ratios, error_spent(error, look))

        return interval

    def costs(self) -> tuple[Cost, Cost]:
        return in_random_order(
            self.rng,
            lambda: cost_of(self.new, self.block, self.clocks),
            lambda: cost_of(self.old, self.block, self.clocks),
        )

    def paces(self, costs: tuple[Cost, Cost]) -> tuple[Pace, Pace]:
        """Blocks short enough for the rounds wanted, with as many timings on one side as on the other."""
        room = self.max_seconds / _ROUNDS_WANTED / 2
        timings = min(pace_for(cost, room).timings for cost in costs)
        new, old = costs
        return pace_for(new, room, timings), pace_for(old, room, timings)

    def fitting(self, paces: tuple[Pace, Pace], seconds: float) -> float:
        """How many rounds fit in the time."""
        return seconds / (paces[0].seconds + paces[1].seconds)

    def seconds(self) -> float:
        return (self.clocks.wall() - self.start) * 1e-9

    def go_on(self, rounds: _Rounds, paces: tuple[Pace, Pace], rule: _Rule, until: float) -> Ratio:
        """Adds rounds until the rule decides or the race has lasted ``until``, and says how things stand."""
        told = self.seconds()
        while True:
            new, old = in_random_order(
                self.rng,
                lambda: run_block(self.new, paces[0], self.block, self.clocks),
                lambda: run_block(self.old, paces[1], self.block, self.clocks),
            )
            statistic = rule.statistic
            rounds.add(statistic(new.wall) / statistic(old.wall), statistic(new.cpu), statistic(old.cpu))
            interval, decided = rule.judge(rounds, self.limit)
            count, seconds = len(rounds.wall), self.seconds()
            late = seconds >= until * (1 if count >= _FEW_ROUNDS else _OVERTIME)
            if decided or late or count >= _MOST_ROUNDS:
                if math.isinf(interval[1]):
                    # Numbers that are finite, at least: reports and JSON need them.
                    interval = _few_interval(rounds.wall, self.error)
                return ratio_of(interval, rounds=count, seconds=seconds, decided=decided)
            if seconds - told >= _PROGRESS_SECONDS:
                told = seconds
                self.progress(f"race: {count} rounds, x{math.exp(interval[0]):.2f}")


def _few_interval(log_ratios: Sequence[float], error: float) -> tuple[float, float, float]:
    return paired_interval(log_ratios, floor_sd=_FEW_SD, confidence=1 - error, prior_df=_FEW_PRIOR_DF)
