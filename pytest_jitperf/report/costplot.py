"""What a number of calls costs in all, for each strategy, and where another becomes the cheapest."""

from __future__ import annotations

import math
from itertools import pairwise

from pytest_jitperf.judge.envelope import Line, total
from pytest_jitperf.report.drawing import (
    WIDTH,
    Axis,
    Figure,
    Shape,
    count_label,
    decades,
    dot,
    label,
    line,
    path,
    place_labels,
    seconds_label,
    series_class,
)
from pytest_jitperf.report.guide import Advice, calls_until, choice, number_of_calls

__all__ = ["cost_plot"]

_HEIGHT = 236.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, WIDTH - 62.0, 16.0, 196.0
_LEAST_CALLS, _MOST_CALLS = 1e3, 1e9
# Points a decade: between two of them the curve of a sum on two logarithmic axes is straight for the eye.
_POINTS = 5
_LABEL_GAP = 13.0


def cost_plot(advice: Advice) -> Figure:
    """Draws ``compile + calls x run`` of each strategy on logarithmic axes, the cheapest one underlined.

    Args:
        advice: The strategies of one measurement on one device.
    """
    calls = Axis(low=1.0, high=_last_call(advice), start=_LEFT, end=_RIGHT)
    costs = [total(each, at) for each in advice.lines for at in (calls.low, calls.high)]
    seconds = Axis(low=_below(min(costs)), high=_above(max(costs)), start=_BOTTOM, end=_TOP)
    names = [each.strategy for each in advice.lines]
    kinds = {name: series_class(name, names) for name in names}
    shapes = [*_grid(calls, seconds), *_cheapest(advice, calls, seconds)]
    if advice.expected_calls is not None:
        x = calls.at(advice.expected_calls)
        shapes += [line(x, _TOP, x, _BOTTOM, "expected")]
        shapes.append(_inside(x, _TOP - 4, number_of_calls(advice.expected_calls)))
    shapes += [path(_curve(each, calls, seconds), f"series {kinds[each.strategy]}") for each in advice.lines]
    for segment in advice.segments[1:]:
        if calls.holds(segment.first):
            y = seconds.at(total(advice.line(segment.strategy), segment.first))
            shapes.append(line(calls.at(max(segment.low, 1.0)), y, calls.at(segment.high), y, "interval"))
            shapes.append(dot(calls.at(segment.first), y, "crossing"))
    ends = [seconds.at(total(each, calls.high)) for each in advice.lines]
    for each, y in zip(advice.lines, place_labels(ends, _LABEL_GAP, _TOP + 4, _BOTTOM), strict=True):
        shapes.append(label(_RIGHT + 5, y + 4, _short(each.strategy), f"label name {kinds[each.strategy]}"))
    return Figure(
        title="Cost against the number of calls",
        description=_description(advice),
        height=_HEIGHT,
        shapes=tuple(shapes),
        caption="Seconds in all, compile + calls x run, on logarithmic axes. Underlined is the cheapest; a dot marks "
        "where another takes over, the bar through it how well that is known."
        if len(advice.segments) > 1
        else "Seconds in all, compile + calls x run, on logarithmic axes. Underlined is the cheapest.",
    )


def _last_call(advice: Advice) -> float:
    """How far the axis goes: a decade beyond what there is to see."""
    seen = [each.first for each in advice.segments[1:]] + [float(advice.calls)]
    return min(max(_above(10 * max(seen)), _LEAST_CALLS), _MOST_CALLS)


def _grid(calls: Axis, seconds: Axis) -> list[Shape]:
    shapes: list[Shape] = []
    for value in decades(seconds.low, seconds.high):
        y = seconds.at(value)
        shapes += [line(_LEFT, y, _RIGHT, y, "grid"), label(_LEFT - 6, y + 4, seconds_label(value), "tick", "end")]
    for value in decades(calls.low, calls.high):
        x = calls.at(value)
        shapes += [line(x, _TOP, x, _BOTTOM, "grid"), label(x, _BOTTOM + 15, count_label(value), "tick", "middle")]
    shapes.append(line(_LEFT, _BOTTOM, _RIGHT, _BOTTOM, "axis"))
    shapes.append(label((_LEFT + _RIGHT) / 2, _BOTTOM + 32, "calls", "tick", "middle"))
    return shapes


def _cheapest(advice: Advice, calls: Axis, seconds: Axis) -> list[Shape]:
    """A broad line below the strategy that is the cheapest, from turn to turn."""
    starts = [max(each.first, 1.0) for each in advice.segments] + [calls.high]
    return [
        path(_curve(advice.line(each.strategy), calls, seconds, first, last), "cheapest")
        for each, (first, last) in zip(advice.segments, pairwise(starts), strict=True)
        if first < min(last, calls.high)
    ]


def _curve(
    cost: Line, calls: Axis, seconds: Axis, first: float | None = None, last: float | None = None
) -> list[tuple[float, float]]:
    low, high = calls.low if first is None else first, min(calls.high, calls.high if last is None else last)
    steps = max(1, math.ceil(_POINTS * math.log10(high / low)))
    values = [low * (high / low) ** (n / steps) for n in range(steps + 1)]
    return [(calls.at(each), seconds.at(total(cost, each))) for each in values]


def _inside(x: float, y: float, text: str) -> Shape:
    """A label above a vertical line, on the side where there is room."""
    anchor = "end" if x > (_LEFT + _RIGHT) / 2 else "start"
    return label(x, y, text, "tick", anchor)


def _description(advice: Advice) -> str:
    costs = "; ".join(
        f"{each.strategy} {seconds_label(total(each, 1))} for the first call, then {seconds_label(each.run)} a call"
        for each in advice.lines
    )
    turns = "".join(f"; {each.strategy} is the cheapest from {calls_until(each)} on" for each in advice.segments[1:])
    return f"{choice(advice)}. {costs}{turns}."


def _short(name: str) -> str:
    return name if len(name) <= 9 else f"{name[:8]}…"


def _below(value: float) -> float:
    return 10.0 ** math.floor(math.log10(value) + 1e-9)


def _above(value: float) -> float:
    return 10.0 ** math.ceil(math.log10(value) - 1e-9)
