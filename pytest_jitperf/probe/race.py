"""The race: which of two callables is faster, here and now, and by how much.

Both are run in turns, in a random order within each round, and what counts is the ratio within a round: whatever slows
the machine down for longer than a round slows both down. The race ends as soon as the interval of the ratio lies clear
of the limit, above or below it. The random order is also what makes the interval true (see
`pytest_jitperf.judge.stats.median_interval`): when load comes and goes, a coin decides which side it hits.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from pytest_jitperf.judge.stats import ERROR
from pytest_jitperf.measurement import Ratio

from .block import Cost, Pace, Side, cost_of, sample
from .clock import CLOCKS, Clocks
from .collector import collector_off
from .course import TIMINGS_ON_ONE_CORE, Course
from .idle import Threads, thread_times, waited_seconds
from .onecore import Pin, one_core
from .paired import paired_costs
from .rounds import FEW_ROUNDS, Rounds, RoundsInterval, Rule, few_rounds, first_look_of, many_rounds

__all__ = ["Side", "paired_costs", "race", "sample"]

_ROUNDS_FOR_MEDIAN = 20
# The part of the error that the first of two stages may use: as little less than all of it as leaves the verdict at the
# 14th round.
_FIRST_STAGE = 0.92
# Threads that spin while they wait for each other can be a thousand times slower on a busy machine than on one core of
# it. Slow calls go to one core if one of them shows that they are of this kind, and fast ones whose rounds take so much
# longer than the first calls had promised.
_MUCH_FASTER = 3.0
# A machine is busy where threads wait for a core for such a part of the time; on a quiet one it is 1 % and less.
_BUSY = 0.1

# Blocks of slow calls get their warm call as long as twelve rounds fit with it, which is for calls of up to 0.1 s. What
# a call has to do again because another program ran before it are page faults, a few milliseconds at the most.
_ROUNDS_WORTH_WARMING = 12


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
    threads: Callable[[], Threads] = thread_times,
) -> Ratio:
    """Races two sides until the ratio new / old is clear of the limit, or the time is up.

    In each round both sides run one block, in random order. The ratio of a round is that of the blocks' medians, and
    the interval that of the median of the rounds (`many_rounds`).

    Undecided at half the time, all threads are pinned to one core and the race starts anew there, with the blocks'
    minima and with two witnesses, the wall clock and the CPU clock of the process. The wall clock's interval decides
    unless that of the CPU clock is clear of the limit on the other side; where the wall clock's is not clear, the CPU
    clock's decides if the wall clock's estimate lies on the same side. An interval that lies wholly apart from the
    first stage's decides nothing: one core does not notice a program that has lost its parallelism.

    Where threads that spin while they wait for each other make it hopeless on all cores of a busy machine, the race
    goes to one core at once: when both sides' calls are several times as fast there, or when rounds take several times
    as long as they were made for. What error no verdict has used goes with it.

    Of slow calls, fewer than 20 rounds fit in the time (40, with two stages). They are judged by a t interval
    (`few_rounds`), from the sixth round on, or, where fewer fit, when the time is up; also with both clocks, but for
    the CPU clock's right to object. Every other round runs in the order that its predecessor did not. They stay on all
    cores unless a call on one core turns out to be several times as fast. Three rounds are run even if they take up to
    three times as long as allowed.

    Args:
        new: The side in question; it was called before, and so was the other.
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
        threads: Tells what the threads of the process have waited for a core.

    Returns:
        The ratio with its interval. Where ``decided`` is set, the interval is clear of the limit.

    Raises:
        MeasurementError: The clock did not advance.
    """
    with collector_off():
        course = Course(
            new=new,
            old=old,
            limit=math.log(limit),
            max_seconds=max_seconds,
            block=block,
            rng=rng,
            clocks=clocks,
            error=error,
            progress=progress or (lambda text: None),
        )
        return _Race(course=course, pin=pin, threads=threads).run()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Race:
    """The stages of a race."""

    course: Course
    pin: Pin | None
    threads: Callable[[], Threads]

    def run(self) -> Ratio:
        course, rounds, max_seconds = self.course, Rounds(), self.course.max_seconds
        before, start = self.threads(), course.seconds()
        costs = course.costs()
        waited = waited_seconds(before, self.threads())
        paces = course.paces(costs)
        stages = 2 if self.pin else 1
        error = course.error * _FIRST_STAGE if self.pin else course.error
        fast = _fitting(paces, max_seconds) >= stages * _ROUNDS_FOR_MEDIAN
        busy = waited > _BUSY * (course.seconds() - start)
        if self.pin and busy:
            with self.pin(course.rng) as pinned:
                if pinned and all(self.much_faster(costs)):
                    return self.one_core(course.error)
        if fast:
            rule = Rule(interval=many_rounds(error))
        else:
            if _fitting(paces, max_seconds) < _ROUNDS_WORTH_WARMING:
                paces = _unwarmed(paces[0], costs[0]), _unwarmed(paces[1], costs[1])
                # As the calls need no warming up, those that told the cost were a round already.
                new, old = costs
                rounds.add((new.call, old.call), (new.cpu, old.cpu))
            first_look = first_look_of(_fitting(paces, max_seconds))
            interval = few_rounds(error / stages, first_look)
            rule = Rule(interval=interval, first_look=first_look, cpu=self.pin is not None, balanced=True)
        if self.pin is None:
            return course.go_on(rounds, paces, rule, max_seconds)
        needed = _first_verdict(rule.interval) if fast else rule.first_look
        promised = course.seconds() + needed * (paces[0].seconds + paces[1].seconds) * _MUCH_FASTER
        first = course.go_on(rounds, paces, rule, min(promised, max_seconds / 2), last=False)
        spoken = first.rounds >= needed
        if spoken and not first.decided:
            first = course.go_on(rounds, paces, rule, max_seconds / 2, last=False)
        if first.decided or (first.rounds < FEW_ROUNDS and not busy):
            return first
        with self.pin(course.rng) as pinned:
            if pinned and (fast or any(self.much_faster(costs) if busy else self.old_much_faster(costs))):
                second = self.one_core(course.error * (1 - _FIRST_STAGE) if spoken else course.error)
                return replace(self.weighed(first, second), seconds=course.seconds())
        return course.go_on(rounds, paces, rule, max_seconds)

    def one_core(self, error: float) -> Ratio:
        """The race with all threads on one core already.

        Args:
            error: What it may use, by both clocks together.
        """
        course, error = self.course, error / 2
        course.progress("race: undecided on all cores, now on one")
        until = max(course.max_seconds, course.seconds() + course.max_seconds / 2)
        paces = course.paces(course.costs(), TIMINGS_ON_ONE_CORE)
        fitting = _fitting(paces, until - course.seconds())
        many = fitting >= _ROUNDS_FOR_MEDIAN
        first_look = 0 if many else first_look_of(fitting)
        interval = many_rounds(error) if many else few_rounds(error, first_look)
        rule = Rule(interval=interval, first_look=first_look, statistic=min, cpu=True, one_core=True, balanced=not many)
        return replace(course.go_on(Rounds(), paces, rule, until), one_core=True)

    def much_faster(self, costs: tuple[Cost, Cost]) -> Iterator[bool]:
        """Whether a call of the new side, and one of the old side, is several times as fast as it was before."""
        for now, before in zip(self.course.costs(), costs, strict=True):
            yield now.call * _MUCH_FASTER < before.call

    def old_much_faster(self, costs: tuple[Cost, Cost]) -> Iterator[bool]:
        """The same of the old side alone, where calls may be slow because they are."""
        yield cost_of(self.course.old, self.course.block, self.course.clocks).call * _MUCH_FASTER < costs[1].call

    def weighed(self, first: Ratio, second: Ratio) -> Ratio:
        """Which stage speaks for the race."""
        limit = self.course.limit
        apart = first.rounds >= FEW_ROUNDS and (second.low > first.high or second.high < first.low)
        if second.decided and not apart:
            return second
        contradicted = math.log(second.low) > limit or math.log(second.high) < limit
        return first if contradicted else min(first, second, key=lambda ratio: ratio.high / ratio.low)


def _first_verdict(interval: RoundsInterval) -> int:
    """The round before which nothing can be said."""
    return next(n for n in count(1) if math.isfinite(interval([0.0] * n, [0.0] * n)[2]))


def _unwarmed(pace: Pace, cost: Cost) -> Pace:
    return replace(pace, warm=0, seconds=pace.seconds - pace.warm * (cost.call + cost.prepare))


def _fitting(paces: tuple[Pace, Pace], seconds: float) -> float:
    """How many rounds fit in the time."""
    return seconds / (paces[0].seconds + paces[1].seconds)
