"""Timed blocks of calls, and how long they have to be.

A block is what one side of a race runs at a time: a few warm calls that are not timed, then a few timings of one or
more calls each. The warm calls are not for show: two executables of the same program differed by a factor of 3 to 4,
depending only on what had run just before.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pytest_jitperf.judge.stats import quartiles
from pytest_jitperf.measurement import Sample

from .clock import CLOCKS, Clocks, clock_stood_still, elapsed_seconds
from .collector import collector_off

__all__ = ["Block", "Cost", "Pace", "Side", "cost_of", "pace_for", "run_block", "sample", "warm_calls"]

# A timing lasts at least this long: shorter calls are timed in batches, so that the clock's own 55 ns, and the
# interrupts of a quiet machine, vanish in it.
_TIMING_SECONDS = 2e-4
_BATCH_BELOW_SECONDS = 5e-5

# From here on one warm call is enough for a block: of ten programs of 80 us to 3 ms that took turns with another, the
# first call was slower than the eighth by up to 2.3 %, the second by up to 2.0 %.
_ONE_WARM_CALL_SECONDS = 2e-4
# From here on a first call tells enough about the cost.
_VERY_SLOW_SECONDS = 0.1

_MOST_BATCH = 4096
_MOST_SAMPLES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of two things to be raced.

    Attributes:
        call: Takes what ``prepare`` returned (None without it), makes one call and returns the call's result.
        prepare: Makes the fresh input of one call outside the timed part, for calls that use their input up.
        before: Runs before each block of this side, untimed, for sides that disturb each other's caches.
    """

    call: Callable[[Any], Any]
    prepare: Callable[[], Any] | None = None
    before: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one call of a side costs, roughly, in seconds.

    Attributes:
        call: The call itself, by the wall clock.
        cpu: The call itself, by the CPU clock of the process.
        prepare: Making its input.
        before: What is done before a block.
        batches: Whether several calls may be timed together; not where each needs its own input.
    """

    call: float
    cpu: float = 0.0
    prepare: float = 0.0
    before: float = 0.0
    batches: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How a block of one side is made up.

    Attributes:
        warm: Calls before the timings.
        timings: Timings in the block.
        batch: Calls per timing.
        seconds: What the block will take, roughly.
    """

    warm: int
    timings: int
    batch: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The timings of one block, seconds per call.

    Attributes:
        wall: By the wall clock, each more than 0.
        cpu: By the CPU clock of the process.
    """

    wall: tuple[float, ...]
    cpu: tuple[float, ...]


def _time_calls(side: Side, calls: int, block: Callable[[Any], None], clocks: Clocks) -> tuple[float, float]:
    """Wall and CPU seconds per call; each result is waited for and dropped before the next call."""
    call = side.call
    given = side.prepare() if side.prepare else None
    cpu_start, wall_start = clocks.process(), clocks.wall()
    for _ in range(calls):
        block(call(given))
    wall_end, cpu_end = clocks.wall(), clocks.process()
    what = "a call" if calls == 1 else f"a batch of {calls} calls"
    return elapsed_seconds(wall_start, wall_end, what) / calls, (cpu_end - cpu_start) * 1e-9 / calls


def _call(side: Side, block: Callable[[Any], None]) -> None:
    """One call that is not timed."""
    block(side.call(side.prepare() if side.prepare else None))


def run_block(side: Side, pace: Pace, block: Callable[[Any], None], clocks: Clocks = CLOCKS) -> Block:
    """Runs one block.

    Args:
        side: What to run.
        pace: How many calls.
        block: Waits for a result.
        clocks: Tells the time.

    Raises:
        MeasurementError: The clock did not advance.
    """
    if side.before:
        side.before()
    for _ in range(pace.warm):
        _call(side, block)
    timings = [_time_calls(side, pace.batch, block, clocks) for _ in range(pace.timings)]
    return Block(wall=tuple(wall for wall, _ in timings), cpu=tuple(cpu for _, cpu in timings))


def cost_of(side: Side, block: Callable[[Any], None], clocks: Clocks = CLOCKS) -> Cost:
    """Finds out what a call costs: by one call where it is slow, by a few where it is fast.

    Args:
        side: What to run; it was called before, or its first call costs what later ones do.
        block: Waits for a result.
        clocks: Tells the time.

    Raises:
        MeasurementError: The clock did not advance.
    """
    start = clocks.wall()
    if side.before:
        side.before()
    prepared = clocks.wall()
    call, cpu = _time_calls(side, 1, block, clocks)
    end = clocks.wall()
    before = max(prepared - start, 0) * 1e-9
    prepare = max((end - prepared) * 1e-9 - call, 0.0) if side.prepare else 0.0
    if call < _VERY_SLOW_SECONDS:
        batch = 1
        while True:
            call, cpu = _time_calls(side, batch, block, clocks)
            if call * batch >= _TIMING_SECONDS or side.prepare:
                break
            if batch >= _MOST_BATCH:
                # 50 ns a call is less than Python needs to make one.
                raise clock_stood_still(f"a batch of {batch} calls", round(call * batch * 1e9))
            batch *= 4
    return Cost(call=call, cpu=cpu, prepare=prepare, before=before, batches=side.prepare is None)


def warm_calls(cost: Cost) -> int:
    """Calls of a block that are made before those that are timed."""
    return 2 if cost.call < _ONE_WARM_CALL_SECONDS else 1


def pace_for(cost: Cost, room: float, timings: int | None = None, most: int = 5, warm: int | None = None) -> Pace:
    """Chooses how a block is made up.

    Args:
        cost: What a call costs.
        room: Seconds that a block should take, if calls are short enough.
        timings: The number of timings, where it is settled already.
        most: The largest number of timings.
        warm: The number of warm calls, where it is settled already.

    Returns:
        One to ``most`` timings, as many as there is room for. Where changing sides costs more than the timings do, up
        to 25 of them make the change worth its while.
    """
    batch = 1
    if cost.batches and cost.call < _BATCH_BELOW_SECONDS:
        batch = min(math.ceil(_TIMING_SECONDS / cost.call), _MOST_BATCH)
    each = batch * cost.call + cost.prepare
    single = cost.call + cost.prepare
    warm = warm_calls(cost) if warm is None else warm
    if timings is None:
        most = 25 if cost.before > 5 * each else most
        timings = min(max(int((max(room, cost.before) - warm * single) / each), 1), most)
    return Pace(warm=warm, timings=timings, batch=batch, seconds=cost.before + warm * single + timings * each)


def sample(
    side: Side,
    *,
    block: Callable[[Any], None],
    max_seconds: float = 0.2,
    min_rounds: int = 3,
    clocks: Clocks = CLOCKS,
) -> Sample:
    """Takes a short sample of a call's time.

    Args:
        side: What to run; its first call has been made already.
        block: Waits for a result.
        max_seconds: Time to spend, about. A call that takes longer than this is made once.
        min_rounds: Timings to take all the same, as long as a call takes less than ``max_seconds``.
        clocks: Tells the time.

    Returns:
        Seconds per call.

    Raises:
        MeasurementError: The clock did not advance.
    """
    with collector_off():
        start = clocks.wall()
        cost = cost_of(side, block, clocks)
        if cost.call >= max_seconds:
            return Sample(median=cost.call, low=cost.call, high=cost.call, rounds=1)
        # The calls that told the cost have warmed the side up.
        pace = pace_for(cost, room=0.0, timings=1)
        walls: list[float] = []
        while len(walls) < _MOST_SAMPLES:
            walls.append(_time_calls(side, pace.batch, block, clocks)[0])
            if len(walls) >= min_rounds and (clocks.wall() - start) * 1e-9 >= max_seconds:
                break
    median, low, high = quartiles(walls)
    return Sample(median=median, low=low, high=high, rounds=len(walls))
