"""Which strategy costs least in all, for how many calls: start-up against speed.

What a number of uses of a strategy cost in all is a line, ``start + calls * run``. The strategies worth having are
those on the lower envelope of these lines, and where two neighbours on it cross one should change to the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

__all__ = ["Line", "Segment", "apart", "crossing", "lower_envelope", "total"]

# Two-sided 95 %: what tells two starts or two slopes apart, and what the ends of a crossing stand for.
_Z = 1.96


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What a strategy costs.

    Attributes:
        strategy: Its name.
        start: Seconds that the first call takes beyond running.
        run: Seconds per call.
        start_sd: Standard error of ``start``.
        run_sd: Standard error of ``run``.
    """

    strategy: str
    start: float
    run: float
    start_sd: float = 0.0
    run_sd: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A strategy, and the number of calls from which on it is the cheapest.

    Attributes:
        strategy: Its name.
        first: Calls at which it overtakes the one before; 0 for the first.
        low: Lower end of the interval for ``first``.
        high: Upper end; infinite where the two run too equally fast to tell.
    """

    strategy: str
    first: float = 0.0
    low: float = 0.0
    high: float = 0.0


def total(line: Line, calls: float) -> float:
    """Seconds that a number of calls cost in all, start-up included."""
    return line.start + calls * line.run


def crossing(early: Line, late: Line) -> Segment:
    """Where ``late``, which starts later and runs faster, overtakes ``early``.

    The number of calls is a ratio of two differences, each with its error; its 95 % interval is Fieller's (E. C.
    Fieller, "Some problems in interval estimation", J. R. Statist. Soc. B 16 (1954) 175-185).

    Args:
        early: Starts sooner.
        late: Runs faster, at least by its estimate.

    Example:
        A start of 0.2 s and 4.3 ms a call against 2.1 s and 1.3 ms: 1.9 s / 3 ms = 633 calls.
    """
    gap, gain = late.start - early.start, early.run - late.run
    gap_error = _Z**2 * (early.start_sd**2 + late.start_sd**2)
    gain_error = _Z**2 * (early.run_sd**2 + late.run_sd**2)
    first = gap / gain
    square, constant = gain**2 - gain_error, gap**2 - gap_error
    root = math.sqrt(max((gap * gain) ** 2 - square * constant, 0.0))
    if square <= 0:
        # The gain may be nothing at all. What is left of Fieller's set has no upper end.
        return Segment(strategy=late.strategy, first=first, low=0.0, high=math.inf)
    low, high = (gap * gain - root) / square, (gap * gain + root) / square
    return Segment(strategy=late.strategy, first=first, low=max(low, 0.0), high=max(high, 0.0))


def lower_envelope(lines: Sequence[Line]) -> tuple[Segment, ...]:
    """The strategies that are cheapest for some number of calls from the first on, in the order of their turns.

    Of two that start or run equally as far as can be told, the one that is given first is preferred, so give the
    simpler one first.

    Args:
        lines: What the strategies cost.

    Returns:
        One segment per strategy that is ever the cheapest; empty only where no lines are given.
    """
    if not lines:
        return ()
    even = _evened(lines)
    at = min(even, key=lambda line: total(line, 1))
    found = [Segment(strategy=at.strategy)]
    while True:
        faster = [line for line in even if line.run < at.run]
        if not faster:
            return tuple(found)
        segments = {line.strategy: crossing(at, line) for line in faster}
        # At equal crossings the fastest of them is the one that matters from there on.
        at = min(faster, key=lambda line: (segments[line.strategy].first, line.run))
        found.append(segments[at.strategy])


def _evened(lines: Sequence[Line]) -> list[Line]:
    """The lines without those that a preferred one equals, and without differences that cannot be told."""
    kept: list[Line] = []
    for line in lines:
        twin = next((each for each in kept if not apart(each.run, line.run, each.run_sd, line.run_sd)), None)
        if twin is None:
            kept.append(line)
        elif line.start < twin.start and apart(twin.start, line.start, twin.start_sd, line.start_sd):
            kept[kept.index(twin)] = replace(line, run=twin.run, run_sd=twin.run_sd)
    return kept


def apart(one: float, other: float, one_sd: float, other_sd: float) -> bool:
    """Whether two values differ by more than their standard errors explain, at 95 %."""
    return abs(one - other) > _Z * math.hypot(one_sd, other_sd)
