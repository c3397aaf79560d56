"""The race: which of two callables is faster, here and now, and by how much.

Both are run in turns, in a random order within each round, and what counts is the ratio within a round: whatever slows
the machine down for longer than a round slows both down. The race ends as soon as the interval of the ratio lies clear
of the limit, above or below it. The random order is also what makes the interval true (see
`pytest_jitperf.judge.stats.median_interval`): when load comes and goes, a coin decides which side it hits.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from pytest_jitperf.judge.stats import ERROR
from pytest_jitperf.measurement import Ratio

from .block import Cost, Pace, Side, collector_off, cost_of, pace_for, run_block, sample
from .clock import CLOCKS, Clocks
from .onecore import one_core
from .paired import in_random_order, paired_costs, ratio_of
from .rounds import FEW_ROUNDS, Rounds, Rule, few_interval, few_rule, median_rule

__all__ = ["Side", "paired_costs", "race", "sample"]

Pin = Callable[[random.Random], AbstractContextManager[bool]]

# Rounds are made short enough for 40 of them in the time given; a clear case takes 14 to 18.
_ROUNDS_WANTED = 40
_ROUNDS_FOR_MEDIAN = 20
# The part of the error that the first of two stages may use.
_FIRST_STAGE = 0.75
# Threads that spin while they wait for each other can be a thousand times slower on a busy machine than on one core of
# it. Slow calls go to one core if one of them shows that they are of this kind.
_MUCH_FASTER = 3.0

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

    Of slow calls, fewer than 20 rounds fit in the time (40, with two stages). They are judged by a t interval, from the
    third to the eighth round on, also with both clocks, but for the CPU clock's right to object; and they stay on all
    cores unless a call on one core turns out to be several times as fast. Three rounds are run even if they take up
    to three times as long as allowed.

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
        rounds = Rounds()
        stages = 2 if self.pin else 1
        error = self.error * _FIRST_STAGE if self.pin else self.error
        fast = self.fitting(paces, self.max_seconds) >= stages * _ROUNDS_FOR_MEDIAN
        if fast:
            rule = Rule(interval=median_rule(error))
        else:
            if self.fitting(paces, self.max_seconds) < _ROUNDS_WORTH_WARMING:
                paces = replace(paces[0], warm=0), replace(paces[1], warm=0)
                # As the calls need no warming up, those that told the cost were a round already.
                rounds.add(costs[0].call / costs[1].call, costs[0].cpu, costs[1].cpu)
            fitting = self.fitting(paces, self.max_seconds)
            rule = Rule(interval=few_rule(error / stages, fitting), cpu=self.pin is not None)
        if self.pin is None:
            return self.go_on(rounds, paces, rule, self.max_seconds)
        first = self.go_on(rounds, paces, rule, self.max_seconds / 2)
        if first.decided or first.rounds < FEW_ROUNDS:
            return first
        with self.pin(self.rng) as pinned:
            if pinned and (fast or self.call_of_old() * _MUCH_FASTER < costs[1].call):
                return replace(self.weighed(first, self.one_core()), seconds=self.seconds())
        return self.go_on(rounds, paces, rule, self.max_seconds)

    def one_core(self) -> Ratio:
        """The second stage, with all threads on one core already."""
        self.progress("race: undecided on all cores, now on one")
        until = max(self.max_seconds, self.seconds() + self.max_seconds / 2)
        paces = self.paces(self.costs())
        fitting = self.fitting(paces, until - self.seconds())
        error = self.error * (1 - _FIRST_STAGE) / 2
        interval = median_rule(error) if fitting >= _ROUNDS_FOR_MEDIAN else few_rule(error, fitting)
        rule = Rule(interval=interval, statistic=min, cpu=True, one_core=True)
        return replace(self.go_on(Rounds(), paces, rule, until), one_core=True)

    def weighed(self, first: Ratio, second: Ratio) -> Ratio:
        """Which stage speaks for the race."""
        apart = second.low > first.high or second.high < first.low
        if second.decided and not apart:
            return second
        contradicted = math.log(second.low) > self.limit or math.log(second.high) < self.limit
        return first if contradicted else min(first, second, key=lambda ratio: ratio.high / ratio.low)

    def call_of_old(self) -> float:
        return cost_of(self.old, self.block, self.clocks).call

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

    def go_on(self, rounds: Rounds, paces: tuple[Pace, Pace], rule: Rule, until: float) -> Ratio:
        """Adds rounds until the rule decides or the race has lasted ``until``, and says how things stand."""
        told = self.seconds()
        while True:
            if rounds.wall:
                interval, decided = rule.judge(rounds, self.limit)
                count, seconds = len(rounds.wall), self.seconds()
                late = seconds >= (until if count >= FEW_ROUNDS else self.max_seconds * _OVERTIME)
                if decided or late or count >= _MOST_ROUNDS:
                    break
                if seconds - told >= _PROGRESS_SECONDS:
                    told = seconds
                    self.progress(f"race: {count} rounds, x{math.exp(interval[0]):.2f}")
            new, old = in_random_order(
                self.rng,
                lambda: run_block(self.new, paces[0], self.block, self.clocks),
                lambda: run_block(self.old, paces[1], self.block, self.clocks),
            )
            statistic = rule.statistic
            rounds.add(statistic(new.wall) / statistic(old.wall), statistic(new.cpu), statistic(old.cpu))
        if math.isinf(interval[1]):
            # Reports and JSON need finite numbers.
            interval = few_interval(rounds.wall, self.error)
        return ratio_of(interval, rounds=count, seconds=seconds, decided=decided)
