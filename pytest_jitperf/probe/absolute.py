"""Whether a call takes more than an absolute limit, here, on an idle machine.

A time alone, with nothing to run it against, says as much about the machine as about the program. So it is not the wall
time that is judged but what is known of the time on an idle machine (`pytest_jitperf.probe.idle`): it is over the limit
when the least that it can be is, and within it when the most is. Load makes the two move apart, and the verdict
uncertain; it does not make it wrong.
"""

from __future__ import annotations

import math
import os
import random
import statistics
from bisect import insort
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pytest_jitperf.judge.stats import ERROR
from pytest_jitperf.measurement import Settled

from .block import Cost, Pace, Side, cost_of, pace_for, run_block
from .clock import CLOCKS, Clocks
from .collector import collector_off
from .idle import Span, watched
from .onecore import Pin, one_core
from .rounds import FEW_ROUNDS, Interval, few_interval, few_rule, median_rule

__all__ = ["settled_run"]

Watch = Callable[[Callable[[], Any]], tuple[Span, Any]]

# As in a race: short rounds, of which 20 and more are judged by their median and fewer by a t interval.
_ROUNDS_WANTED = 40
_ROUNDS_FOR_MEDIAN = 20
_OVERTIME = 3.0
# How far beyond its time it may go for a single round on one core.
_PATIENCE = 6.0
_MOST_ROUNDS = 10_000
_SLOW_SECONDS = 0.1

# A call computes for as much longer on a busy machine, whose caches it shares: measured up to 3 %, with seven times as
# many busy processes as cores. Executables of one program differ by 1.5 %.
_LONGER_BY_LOAD = 0.03

# Shorter calls are over before another process gets the core: the fastest of a few was not interrupted. Of longer ones,
# each is watched, which takes a fraction of a millisecond.
_SELDOM_INTERRUPTED_SECONDS = 1e-3


def settled_run(
    side: Side,
    *,
    limit: float,
    expected: float,
    max_seconds: float,
    block: Callable[[Any], None],
    rng: random.Random,
    progress: Callable[[str], None] = lambda text: None,
    clocks: Clocks = CLOCKS,
    pin: Pin | None = one_core,
    watch: Watch = watched,
    error: float = ERROR,
) -> Settled:
    """Times a call until it is clear on which side of the limit it lies, or the time is up.

    A round is a block of up to five calls. The lower end of the result is that of the interval for the fastest call of
    a block at the least (`Span.least`), less 3 % by which load makes a call compute longer; the upper end that for the
    median call at the most (`Span.most`). Both hold whenever one looks (`median_interval`), and for slow calls, of
    which fewer rounds fit, are those of a t interval.

    What is undecided at half the time, and whatever seems to be over, is timed again with all threads on one core and
    BLAS on one thread. That frees programs whose threads spin while they wait
    for each other, and on a busy machine burn CPU time over it. It convicts nobody, since a program of several threads
    takes longer there: what is over the limit is so on all cores and on one, but for calls so slow that one round on
    one core might take six times ``max_seconds``.

    Args:
        side: What is called; its first call has been made already.
        limit: Seconds per call, more than 0.
        expected: What a call takes, about, seconds; where that is long, it is not tried out first.
        max_seconds: Time to spend, about.
        block: Waits for the result of a call.
        rng: Draws the core.
        progress: Told when it goes to one core.
        clocks: Tells the time.
        pin: Pins the process to one core. None for programs that run on an accelerator: there is no such stage then,
            and nothing but the wall time is looked at.
        watch: Times one call of a millisecond or more.
        error: Probability, both ends together, that the interval leaves out the true time.

    Returns:
        The time with its interval: above the limit as a whole, below it as a whole, or undecided.

    Raises:
        MeasurementError: The clock did not advance.
    """
    with collector_off():
        return _Settling(
            side=side,
            limit=limit,
            expected=expected,
            max_seconds=max_seconds,
            block=block,
            rng=rng,
            progress=progress,
            clocks=clocks,
            pin=pin,
            watch=watch,
            error=error,
            start=clocks.wall(),
        ).run()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settling:
    """What `settled_run` was given, and when it began."""

    side: Side
    limit: float
    expected: float
    max_seconds: float
    block: Callable[[Any], None]
    rng: random.Random
    progress: Callable[[str], None]
    clocks: Clocks
    pin: Pin | None
    watch: Watch
    error: float
    start: int

    def run(self) -> Settled:
        cost = self.cost()
        on_one_core = self.seconds_on_one_core(cost)
        in_halves = FEW_ROUNDS * on_one_core <= self.max_seconds / 2
        first_part = self.max_seconds / 2 if in_halves else self.max_seconds
        timings = _Timings(interval=self.rule(cost, first_part, self.error / 2))
        first = self.stage(timings, cost, first_part)
        if first.high < self.limit:
            return first
        over = first.low > self.limit
        alone = None
        if on_one_core <= _PATIENCE * self.max_seconds:
            alone = self.one_core(slow=not in_halves and not over)
        if not over and (alone is None or alone.high >= self.limit):
            first = self.stage(timings, cost, self.max_seconds)
        return first if alone is None else self.both(first, alone)

    def one_core(self, *, slow: bool) -> Settled | None:
        """The stage with all threads on one core; None where they cannot be pinned.

        Args:
            slow: Whether the calls are slow, and not worth that time unless a first one is below the limit there.
        """
        with self.pin(self.rng) if self.pin else nullcontext(False) as pinned:
            if not pinned or (slow and self.watched_call().most >= self.limit):
                return None
            self.progress("run time against its budget, now on one core")
            cost, until = self.cost(), max(self.max_seconds, self.seconds() + self.max_seconds / 2)
            interval = self.rule(cost, until - self.seconds(), self.error / 2)
            return self.stage(_Timings(interval=interval), cost, until)

    def both(self, first: Settled, alone: Settled) -> Settled:
        """It takes at least the smaller of both lower ends, and at most the smaller of both upper ends."""
        low, high = min(first.low, alone.low), min(first.high, alone.high)
        below = alone.high < self.limit
        return Settled(
            estimate=min(max((alone if below else first).estimate, low), high),
            low=low,
            high=high,
            rounds=first.rounds + alone.rounds,
            seconds=self.seconds(),
            one_core=below,
            timed_out=low <= self.limit <= high,
        )

    def cost(self) -> Cost:
        if self.expected >= _SLOW_SECONDS:
            return Cost(call=self.expected, batches=False)
        return cost_of(self.side, self.block, self.clocks)

    def seconds_on_one_core(self, cost: Cost) -> float:
        """What a round takes there at the most, however many threads the program has."""
        return math.inf if self.pin is None else self.pace(cost).seconds * (os.cpu_count() or 1)

    def pace(self, cost: Cost) -> Pace:
        """A block without warm calls, for nothing else runs in between."""
        pace = pace_for(cost, self.max_seconds / _ROUNDS_WANTED)
        return replace(pace, warm=0, seconds=pace.seconds - pace.warm * (cost.call + cost.prepare))

    def rule(self, cost: Cost, seconds: float, error: float) -> Interval:
        """The interval for as many rounds as fit in the time."""
        fitting = seconds / self.pace(cost).seconds
        return median_rule(error) if fitting >= _ROUNDS_FOR_MEDIAN else few_rule(error, fitting)

    def stage(self, timings: _Timings, cost: Cost, until: float) -> Settled:
        """Adds rounds until the interval is clear of the limit, or ``until`` seconds have passed since the start."""
        pace, limit = self.pace(cost), math.log(self.limit)
        while True:
            if timings.wall:
                low, high = timings.ends(timings.interval)
                seconds, count = self.seconds(), len(timings.wall)
                late = seconds >= (until if count >= FEW_ROUNDS else self.max_seconds * _OVERTIME)
                if low > limit or high < limit or late or count >= _MOST_ROUNDS:
                    break
            timings.add(self.round(cost, pace))
        if math.isinf(low) or math.isinf(high):
            low, high = timings.ends(partial(few_interval, error=self.error))
        return Settled(
            estimate=math.exp(min(max(statistics.median(timings.wall), low), high)),
            low=math.exp(low),
            high=math.exp(high),
            rounds=count,
            seconds=seconds,
            timed_out=low <= limit <= high,
        )

    def round(self, cost: Cost, pace: Pace) -> list[Span]:
        """The timings of one block."""
        if self.pin is not None and cost.call >= _SELDOM_INTERRUPTED_SECONDS:
            return [self.watched_call() for _ in range(pace.timings)]
        timed = run_block(self.side, pace, self.block, self.clocks)
        # CPU clocks are coarse on some platforms; where one stood still, there is one witness only.
        cpus = timed.cpu if self.pin is not None else timed.wall
        pairs = zip(timed.wall, cpus, strict=True)
        return [Span(wall=wall, least=min(wall, cpu) if cpu > 0 else wall, most=wall) for wall, cpu in pairs]

    def watched_call(self) -> Span:
        given = self.side.prepare() if self.side.prepare else None
        return self.watch(lambda: self.block(self.side.call(given)))[0]

    def seconds(self) -> float:
        return (self.clocks.wall() - self.start) * 1e-9


@dataclass(slots=True, kw_only=True)
class _Timings:
    """The rounds of one stage, as logarithms of seconds, ascending.

    Attributes:
        interval: How they are judged.
        wall: The median call's wall time.
        least: The fastest call at the least.
        most: The median call at the most.
    """

    interval: Interval
    wall: list[float] = field(default_factory=list)
    least: list[float] = field(default_factory=list)
    most: list[float] = field(default_factory=list)

    def add(self, spans: Sequence[Span]) -> None:
        """Adds a round."""
        insort(self.wall, math.log(statistics.median(span.wall for span in spans)))
        insort(self.least, math.log(min(span.least for span in spans)))
        insort(self.most, math.log(statistics.median(span.most for span in spans)))

    def ends(self, interval: Interval) -> tuple[float, float]:
        """Lower and upper end."""
        return interval(self.least)[1] - _LONGER_BY_LOAD, interval(self.most)[2]
