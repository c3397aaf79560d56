"""Ratios that were raced or paired, each with its interval against the limit that holds for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_jitperf.judge.outcome import Effect, Outcome
from pytest_jitperf.judge.ratios import span
from pytest_jitperf.measurement import Ratio
from pytest_jitperf.report.drawing import WIDTH, Axis, Figure, Shape, box, dot, label, line

__all__ = ["Compared", "ratio_plot"]

_ROW, _TOP, _FOOT = 38.0, 6.0, 24.0
_LEFT, _RIGHT = 4.0, WIDTH - 4.0
_TICKS = (
    *(0.01, 0.02, 0.05, 0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0),
    *(20.0, 50.0, 100.0, 200.0, 500.0, 1000.0),
)
_TICK_GAP = 38.0
# The axis shows at least this much on both sides of 1, so that an interval of half a per cent looks as small as it is.
_LEAST = 1.15
_MOST = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One ratio of a test.

    Attributes:
        name: What was compared: ``"outer run"``.
        ratio: With its interval.
        limit: The largest that passes, or the least, or None.
        at_least: Whether the limit is the least that passes, as it is for ``faster_than``.
        outcome: The word.
        effect: What that does to the test.
    """

    name: str
    ratio: Ratio
    limit: float | None
    at_least: bool
    outcome: Outcome
    effect: Effect


def ratio_plot(found: Sequence[Compared]) -> Figure | None:
    """Draws ratios of one kind, one below the other on one logarithmic axis.

    Args:
        found: All with the same ``at_least``; of more than 16 the first are drawn.

    Returns:
        Nothing where there are none.
    """
    if not found:
        return None
    drawn = found[:_MOST]
    axis = _axis(drawn)
    bottom = _TOP + _ROW * len(drawn)
    shapes = [shape for n, each in enumerate(drawn) for shape in _row(each, _TOP + _ROW * n, axis)]
    ticks = [shape for value in _ticks(axis) for shape in _tick(value, axis, bottom)]
    left_out = len(found) - len(drawn)
    more = f" {left_out} more are among what was judged." if left_out else ""
    faster = found[0].at_least
    return Figure(
        title="How many times as fast as another strategy" if faster else "Time of now over time of the baseline's",
        description="; ".join(_sentence(each) for each in drawn) + ".",
        height=bottom + _FOOT,
        shapes=(*ticks, *shapes),
        caption=(
            "Raced in this run. The band is what was asked for, the bar the interval of the ratio."
            if faster
            else "Both programs compiled and raced here and now. The band is what is allowed, the bar the interval of "
            "the ratio."
        )
        + more,
    )


def _axis(found: Sequence[Compared]) -> Axis:
    values = [1 / _LEAST, _LEAST]
    for each in found:
        values += [each.ratio.low, each.ratio.estimate, each.ratio.high]
        values += [each.limit] if each.limit else []
    known = [value for value in values if _TICKS[0] <= value <= _TICKS[-1]]
    margin = (max(known) / min(known)) ** 0.06
    return Axis(low=min(known) / margin, high=max(known) * margin, start=_LEFT, end=_RIGHT)


def _row(each: Compared, top: float, axis: Axis) -> list[Shape]:
    """Name and value above, band, limit, interval and estimate below."""
    middle = top + 26
    kind = _KINDS[each.effect]
    shapes = [label(_LEFT, top + 12, each.name), label(_RIGHT, top + 12, f"x{each.ratio.estimate:.2f}", "value", "end")]
    if each.limit is not None:
        x = axis.at(each.limit)
        start, end = (x, _RIGHT) if each.at_least else (_LEFT, x)
        shapes += [box(start, middle - 7, end - start, 14, "band"), line(x, middle - 9, x, middle + 9, "limit")]
    low, high = axis.at(each.ratio.low), axis.at(each.ratio.high)
    shapes.append(line(low, middle, high, middle, f"interval {kind}"))
    shapes += [line(x, middle - 4, x, middle + 4, f"interval {kind}") for x in (low, high)]
    shapes.append(_mark(axis.at(each.ratio.estimate), middle, each))
    return shapes


def _mark(x: float, y: float, each: Compared) -> Shape:
    """A square where it fails, a ring where it is open, a dot where it is fine."""
    if each.effect is Effect.FAIL:
        return box(x - 4.5, y - 4.5, 9, 9, "mark fail")
    return dot(x, y, "mark warn" if each.effect is Effect.WARN else "mark pass", 4.0)


def _ticks(axis: Axis) -> list[float]:
    """1 and what else finds room beside it."""
    taken = [axis.at(1.0)]
    found = [1.0]
    for value in sorted(_TICKS, key=lambda value: abs(math.log(value))):
        x = axis.at(value)
        if axis.holds(value) and all(abs(x - other) >= _TICK_GAP for other in taken):
            taken.append(x)
            found.append(value)
    return sorted(found)


def _tick(value: float, axis: Axis, bottom: float) -> list[Shape]:
    x = axis.at(value)
    anchor = "start" if x < _LEFT + 12 else "end" if x > _RIGHT - 12 else "middle"
    kind = "one" if value == 1 else "grid"
    return [line(x, _TOP, x, bottom, kind), label(x, bottom + 15, f"x{value:g}", "tick", anchor)]


def _sentence(each: Compared) -> str:
    limit = "" if each.limit is None else f", {'at least' if each.at_least else 'allowed'} x{each.limit:.3g}"
    return f"{each.name} {span(each.ratio)}{limit}: {each.outcome.value}"


_KINDS = {Effect.FAIL: "fail", Effect.WARN: "warn", Effect.SKIP: "pass", Effect.PASS: "pass"}
