"""What every race is run on: two sides, their blocks, the clocks, and rounds until a rule decides."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pytest_jitperf.measurement import Ratio

from .block import Cost, Pace, Side, cost_of, pace_for, run_block, warm_calls
from .clock import Clocks
from .paired import in_order, ratio_of, turns
from .rounds import FEW_ROUNDS, Rounds, Rule, few_rounds

__all__ = ["ROUNDS_WANTED", "TIMINGS", "TIMINGS_ON_ONE_CORE", "Course"]

#: Rounds are made short enough for 40 of them in the time given; a clear case takes 14 to 19.
ROUNDS_WANTED = 40
#: Timings in a block, if there is room for them. Three, of which the median counts, do as well as five, on a quiet
#: machine and on a busy one; with a warm call before them they take two thirds of the time.
TIMINGS = 3
#: On one core the fastest call of a block counts.
TIMINGS_ON_ONE_CORE = 5
# A block as short as this costs next to nothing, and gets five.
_SHORT_BLOCK_SECONDS = 2.5e-3
_TIMINGS_WHEN_SHORT = 5

# How far beyond its time a race may go for the sake of its first three rounds.
_OVERTIME = 3.0

# Whatever the clock says, a race ends.
_MOST_ROUNDS = 10_000
_PROGRESS_SECONDS = 1.0


@dataclass(slots=True, kw_only=True)
class Course:
    """Two sides under way.

    Attributes:
        new: The side in question.
        old: What it is compared with.
        limit: Logarithm of the ratio that matters.
        max_seconds: Time for all of it, about.
        block: Waits for the result of a call.
        rng: Draws the orders.
        clocks: Tells the time.
        error: Probability that the interval shown leaves out the true ratio, where no rule had its say.
        progress: Told about once a second how things stand.
        start: When it began, ns.
        order: Who goes first where it is by turns.
    """

    new: Side
    old: Side
    limit: float
    max_seconds: float
    block: Callable[[Any], None]
    rng: random.Random
    clocks: Clocks
    error: float
    progress: Callable[[str], None] = lambda text: None
    start: int = field(init=False)
    order: Iterator[bool] = field(init=False)

    def __post_init__(self) -> None:
        """Starts the clock."""
        self.start, self.order = self.clocks.wall(), turns(self.rng)

    def seconds(self) -> float:
        """Since it began."""
        return (self.clocks.wall() - self.start) * 1e-9

    def costs(self) -> tuple[Cost, Cost]:
        """What a call of the new and of the old side costs."""
        return in_order(
            next(self.order),
            lambda: cost_of(self.new, self.block, self.clocks),
            lambda: cost_of(self.old, self.block, self.clocks),
        )

    def paces(self, costs: tuple[Cost, Cost], most: int = TIMINGS) -> tuple[Pace, Pace]:
        """Blocks short enough for the rounds wanted, with as many calls on one side as on the other."""
        room, warm = self.max_seconds / ROUNDS_WANTED / 2, max(map(warm_calls, costs))
        if all(pace_for(cost, room, _TIMINGS_WHEN_SHORT, warm=warm).seconds <= _SHORT_BLOCK_SECONDS for cost in costs):
            most = _TIMINGS_WHEN_SHORT
        timings = min(pace_for(cost, room, most=most, warm=warm).timings for cost in costs)
        new, old = (pace_for(cost, room, timings, warm=warm) for cost in costs)
        return new, old

    def go_on(self, rounds: Rounds, paces: tuple[Pace, Pace], rule: Rule, until: float, *, last: bool = True) -> Ratio:
        """Adds rounds until the rule decides or it has lasted ``until``, and says how things stand.

        Args:
            rounds: Those there are.
            paces: Blocks of the new and the old side.
            rule: Judges.
            until: Seconds since it began.
            last: Whether it is over when they have passed.
        """
        told, next_look = self.seconds(), 1
        while True:
            count, seconds = len(rounds.wall), self.seconds()
            late = seconds >= (until if count >= FEW_ROUNDS else max(until, self.max_seconds * _OVERTIME))
            over = count > 0 and (late or count >= _MOST_ROUNDS)
            if over or count >= next_look:
                # Another look is worth its while when there are 2 % more rounds to look at.
                next_look = count + 1 + count // 50
                interval, decided = rule.judge(rounds, self.limit, time_up=over and last)
                if decided or over:
                    break
                if seconds - told >= _PROGRESS_SECONDS:
                    told = seconds
                    self.progress(f"race: {count} rounds, x{math.exp(interval[0]):.2f}")
            new, old = in_order(
                next(self.order) if rule.balanced else self.rng.random() < 0.5,
                lambda: run_block(self.new, paces[0], self.block, self.clocks),
                lambda: run_block(self.old, paces[1], self.block, self.clocks),
            )
            statistic = rule.statistic
            rounds.add((statistic(new.wall), statistic(old.wall)), (statistic(new.cpu), statistic(old.cpu)))
        if math.isinf(interval[1]):
            # Reports and JSON need finite numbers.
            interval = few_rounds(self.error)(rounds.wall.new, rounds.wall.old)
        return ratio_of(interval, rounds=count, seconds=seconds, decided=decided)
