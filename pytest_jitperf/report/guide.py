"""Where to put the jit: which strategy of a test is the cheapest for how many calls, in a sentence."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_jitperf.judge.envelope import Line, Segment, apart, lower_envelope, total
from pytest_jitperf.judge.outcome import Outcome
from pytest_jitperf.measurement import Sample
from pytest_jitperf.report.grouping import Group
from pytest_jitperf.row import Row
from pytest_jitperf.units import Unit, format_quantity
from pytest_jitperf.wording import listed

__all__ = ["Advice", "advise", "calls_until", "choice", "number_of_calls", "recommendation"]

# Least standard error of the median run time, as a share of it: what one and the same program, compiled anew in other
# processes of a quiet machine, differed by (687 to 694 us).
_RUN_FLOOR = 0.01

# Least standard deviation of one cold compile, as a share of it. By the wall clock of a quiet machine, repeats of one
# compile in one process varied by 6 to 9 %, of one trace by 3 %.
_COMPILE_FLOOR = 0.05

# Standard error of the median of n normal values from their interquartile range: sqrt(pi / 2) / 1.349 * IQR / sqrt(n).
_FROM_QUARTILES = 0.93

_USUAL_CALLS = 1_000

# Seconds from which on thousands are set apart.
_LONG = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What the strategies of one measurement cost on one device, and which of them are worth having.

    Attributes:
        device: Where several of a kind were measured, which; else empty.
        rows: The strategies that are compared, in the order in which they are shown, at least two.
        lines: What each of them costs.
        wrong: Strategies that are left out for a wrong result.
        segments: The cheapest ones, in the order of their turns.
    """

    device: str = ""
    rows: tuple[Row, ...]
    lines: tuple[Line, ...]
    segments: tuple[Segment, ...]
    wrong: tuple[str, ...] = ()

    @property
    def expected_calls(self) -> int | None:
        """What the marker says, or None."""
        return next((row.expected_calls for row in self.rows if row.expected_calls is not None), None)

    @property
    def calls(self) -> int:
        """How many calls the strategies are compared at."""
        return self.expected_calls or _USUAL_CALLS

    @property
    def present(self) -> Line:
        """What one has who jits without asking: the first strategy that jits, which is ``outer`` where it is there."""
        return next(line for line in self.lines if line.strategy != "eager")

    @property
    def best(self) -> Line:
        """The cheapest for that many calls.

        Starts and run times that cannot be told apart, each by itself, may still add up to a difference that can. And
        nobody is sent from the present one to one that, as measured, costs more.
        """
        turn = self.line([each for each in self.segments if each.first <= self.calls][-1].strategy)
        least = min(self.lines, key=lambda line: total(line, self.calls))
        if not _alike_at(turn, least, self.calls):
            return least
        return self.present if total(self.present, self.calls) < total(turn, self.calls) else turn

    @property
    def saving(self) -> float:
        """Seconds that the best costs less than the present one; 0 where the two cannot be told apart."""
        if _alike_at(self.present, self.best, self.calls):
            return 0.0
        return total(self.present, self.calls) - total(self.best, self.calls)

    def is_alike(self, strategy: str) -> bool:
        """Whether a strategy can be told apart from the best, for the calls at hand, by nothing."""
        found = next((line for line in self.lines if line.strategy == strategy), None)
        return found is not None and (found is self.best or _alike_at(found, self.best, self.calls))

    def line(self, strategy: str) -> Line:
        """What a strategy costs."""
        return next(line for line in self.lines if line.strategy == strategy)

    def row(self, strategy: str) -> Row | None:
        """The row of a strategy, or None where it is not compared."""
        return next((row for row in self.rows if row.strategy == strategy), None)


def advise(group: Group) -> list[Advice]:
    """Compares the strategies of a measurement, on each device by itself.

    Left out are strategies without numbers and those with a wrong result; where fewer than two are left there is
    nothing to choose.
    """
    found = []
    for device in dict.fromkeys(row.device for row in group.rows):
        rows = tuple(row for row in group.rows if row.device == device and _comparable(row))
        if len(rows) > 1:
            lines = _lines(rows)
            segments = _certain(lower_envelope(lines))
            label = device if group.several_devices else ""
            here = (row for row in group.rows if row.device == device)
            wrong = tuple(row.strategy for row in here if row.outcome == Outcome.WRONG_RESULT.value)
            found.append(Advice(device=label, rows=rows, lines=lines, segments=segments, wrong=wrong))
    return found


def choice(advice: Advice) -> str:
    """Says which strategy is the cheapest for how many calls, why the others are not, and which are left out."""
    wrong = f"; left out for a wrong result: {listed(advice.wrong)}" if advice.wrong else ""
    return f"{_choice(advice)}{wrong}"


def _choice(advice: Advice) -> str:
    """Says which strategy is the cheapest for how many calls, and why the others are not.

    Example:
        ``inner up to 640 +-40 calls, from there outer; eager never``
    """
    winners = [advice.line(each.strategy) for each in advice.segments]
    losers = [line for line in advice.lines if line not in winners]
    twins = {line.strategy: twin for line in losers if (twin := _twin(line, winners)) is not None}
    others = [line for line in losers if line.strategy not in twins]
    if len(winners) == 1:
        if not others and winners[0].strategy == "eager":
            return f"nothing beats eager ({listed(twins)} alike within noise)"
        if not others:
            return f"{listed(line.strategy for line in advice.lines)} cannot be told apart"
        why = [f"{listed(twins)} alike within noise"] if twins else []
        why += [_reason(line, winners[0]) for line in others]
        return f"{winners[0].strategy} {from_the_first_call(advice.segments[0])} ({'; '.join(why)})"
    turns = [f"{each.strategy} up to {calls_until(after)}" for each, after in itertools.pairwise(advice.segments)]
    text = f"{', then '.join(turns)}, from there {winners[-1].strategy}"
    text += "".join(f"; {name} like {twin.strategy} within noise" for name, twin in twins.items())
    return text + (f"; {listed(line.strategy for line in others)} never" if others else "")


def from_the_first_call(segment: Segment) -> str:
    """Since when the first strategy is the cheapest; where another one may be it at first, since when at the latest."""
    if segment.high <= 1:
        return "from the first call"
    if math.isinf(segment.high):
        return "from the first call, as far as can be told"
    return f"from the first call, or from {_rounded(segment.high, _step(segment.high))} calls on at the latest"


def recommendation(advice: Advice) -> str:
    """Says which strategy is the cheapest for the calls at hand, and what each costs in all.

    Example:
        ``for 1,000 calls: outer, 3.2 s in all (inner 4.5 s, eager 98 s)``
    """
    calls, best = advice.calls, advice.best
    others = sorted((line for line in advice.lines if line is not best), key=lambda line: total(line, calls))
    same = [line.strategy for line in others if _alike_at(line, best, calls)]
    parts = [f"{listed(same)} alike within noise"] if same else []
    parts += [f"{line.strategy} {_seconds(total(line, calls))}" for line in others if line.strategy not in same]
    return f"for {number_of_calls(calls)}: {best.strategy}, {_seconds(total(best, calls))} in all ({', '.join(parts)})"


def number_of_calls(calls: int) -> str:
    """``1 call``, ``1,000 calls``."""
    return "1 call" if calls == 1 else f"{calls:,} calls"


def calls_until(segment: Segment) -> str:
    """Where a strategy takes over: ``640 +-40 calls``, or ``640 (480 ... 960) calls`` where the error is lopsided."""
    below, above = segment.first - segment.low, segment.high - segment.first
    if math.isinf(above):
        return f"{segment.low:,.0f} calls or more"
    if above > 1.5 * below:
        step = _step(below)
        low, high = _rounded(segment.low, step), _rounded(segment.high, step)
        return f"{_rounded(segment.first, step)} ({low} ... {high}) calls"
    step = _step(above)
    first = _rounded(segment.first, step)
    error = f" +-{_rounded(above, step)}" if above >= 0.5 else ""
    return f"{first}{error} {'call' if first == '1' and not error else 'calls'}"


def _comparable(row: Row) -> bool:
    return {"compile", "run"} <= set(row.timed) and row.outcome != Outcome.WRONG_RESULT.value


def _lines(rows: Sequence[Row]) -> tuple[Line, ...]:
    """What each strategy costs; those whose optimised program is the same run alike, so they share one run time."""
    plain = [_line(row) for row in rows]
    pooled = []
    for row, line in zip(rows, plain, strict=True):
        pairs = zip(rows, plain, strict=True)
        same = [each for other, each in pairs if row.optimised and other.optimised == row.optimised]
        pooled.append(_with_run_of(line, same) if len(same) > 1 else line)
    return tuple(pooled)


def _line(row: Row) -> Line:
    compiled, run = row.timed["compile"], row.timed["run"]
    floor = _COMPILE_FLOOR * compiled.median / math.sqrt(compiled.rounds)
    return Line(
        strategy=row.strategy,
        start=compiled.median,
        run=run.median,
        # At most that much too long: an interval of two standard errors reaches down to it.
        start_sd=max(_standard_error(compiled), floor, row.waited / 2),
        run_sd=max(_standard_error(run), _RUN_FLOOR * run.median),
    )


def _standard_error(sample: Sample) -> float:
    """Of the median, from how many times as long the upper quartile is as the lower one.

    Noise is a factor, and mostly one that makes longer: the mere width of 0.8 ms ... 7 ms around a median of 0.9 ms
    would leave it open whether that is any longer than 0.04 ms.
    """
    if sample.low <= 0:
        return _FROM_QUARTILES * (sample.high - sample.low) / math.sqrt(sample.rounds)
    return _FROM_QUARTILES * sample.median * math.log(sample.high / sample.low) / math.sqrt(sample.rounds)


def _with_run_of(line: Line, same: Sequence[Line]) -> Line:
    """The line with the mean run time; how far the measured ones lie apart is an error that none of them knows of."""
    runs = [each.run for each in same]
    known = math.hypot(*(each.run_sd for each in same)) / len(same)
    return replace(line, run=statistics.fmean(runs), run_sd=max(known, statistics.stdev(runs) / math.sqrt(len(runs))))


def _certain(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """The segments without a first one that may be over at the first call; the next one's ``high`` says how late."""
    left = list(segments)
    while len(left) > 1 and left[1].low <= 1:
        del left[0]
    return (Segment(strategy=left[0].strategy, high=left[0].high), *left[1:])


def _twin(line: Line, winners: Sequence[Line]) -> Line | None:
    """The winner that costs as much, start and run alike, as far as can be told."""
    return next((each for each in winners if not _starts_apart(line, each) and not _runs_apart(line, each)), None)


def _reason(line: Line, winner: Line) -> str:
    """Why a strategy never beats the one that wins from the first call."""
    later = line.start - winner.start
    slower = f"runs {format_quantity(line.run / winner.run, Unit.FACTOR)} as long"
    if not _starts_apart(line, winner):
        return f"{line.strategy} {slower}"
    if later < 0:
        return f"{line.strategy} starts {_seconds(-later)} sooner, but {slower}"
    if _runs_apart(line, winner):
        return f"{line.strategy} starts {_seconds(later)} later"
    # Not to be told apart is not to be equal: a busy machine hides what is no small difference.
    runs = "runs no faster" if line.run >= winner.run else "runs alike within noise"
    return f"{line.strategy} starts {_seconds(later)} later and {runs}"


def _starts_apart(one: Line, other: Line) -> bool:
    return apart(one.start, other.start, one.start_sd, other.start_sd)


def _runs_apart(one: Line, other: Line) -> bool:
    return apart(one.run, other.run, one.run_sd, other.run_sd)


def _alike_at(one: Line, other: Line, calls: int) -> bool:
    errors = [math.hypot(line.start_sd, calls * line.run_sd) for line in (one, other)]
    return not apart(total(one, calls), total(other, calls), *errors)


def _seconds(value: float) -> str:
    return f"{value:,.0f} s" if value >= _LONG else format_quantity(value, Unit.SECONDS, 2)


def _step(error: float) -> float:
    """The place of the last digit that is worth writing: an error has one, or two where it begins with 1.

    Whole calls are the least.
    """
    return 10.0 ** max(math.floor(math.log10(error / 2)), 0) if error > 0 else 1.0


def _rounded(value: float, step: float) -> str:
    return f"{round(value / step) * step:,.0f}"
