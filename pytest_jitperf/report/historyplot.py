"""The run time that a baseline held from commit to commit, and the commits at which it changed level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_jitperf.report.drawing import (
    WIDTH,
    Axis,
    Figure,
    Shape,
    dot,
    label,
    line,
    path,
    place_labels,
    seconds_label,
    series_class,
)

__all__ = ["Past", "Step", "history_plot"]

_HEIGHT = 170.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, WIDTH - 62.0, 18.0, 136.0
_LABEL_GAP = 13.0
# So that a row in which nothing changed looks level.
_LEAST_RANGE = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one commit made of an entry.

    Attributes:
        place: Position of the commit among those that changed the file.
        commit: Short hash; empty for what is in no commit yet.
        date: Day of the commit; empty likewise.
        seconds: Run time that was recorded in it.
        changed: Whether it begins a new level.
    """

    place: int
    commit: str
    date: str
    seconds: float
    changed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """The recordings of one strategy, oldest first.

    Attributes:
        name: What the strategy is called in the table.
        strategy: Name of the strategy.
        steps: At least one.
        now: Run time of this run, or None.
    """

    name: str
    strategy: str
    steps: tuple[Step, ...]
    now: float | None = None


def history_plot(pasts: Sequence[Past]) -> Figure | None:
    """Draws the recordings of the strategies of a test, from commit to commit.

    Returns:
        Nothing where no strategy has been recorded twice.
    """
    shown = [each for each in pasts if len(each.steps) > 1]
    if not shown:
        return None
    places = sorted({step.place for step in _steps(shown)})
    values = [step.seconds for step in _steps(shown)] + [each.now for each in shown if each.now]
    middle = (min(values) * max(values)) ** 0.5
    low, high = min(min(values) / 1.1, middle / _LEAST_RANGE), max(max(values) * 1.1, middle * _LEAST_RANGE)
    seconds = Axis(low=low, high=high, start=_BOTTOM, end=_TOP)
    order = Axis(low=0.0, high=float(len(places)), start=_LEFT, end=_RIGHT, logarithmic=False)
    shapes: list[Shape] = [line(_LEFT, _BOTTOM, _RIGHT, _BOTTOM, "axis")]
    for value in (min(values), max(values)):
        y = seconds.at(value)
        shapes += [line(_LEFT, y, _RIGHT, y, "grid"), label(_LEFT - 6, y + 4, seconds_label(value), "tick", "end")]
    ends: list[float] = []
    strategies = [each.strategy for each in shown]
    for each in shown:
        kind = series_class(each.strategy, list(dict.fromkeys(strategies)))
        points = [(order.at(places.index(step.place)), seconds.at(step.seconds)) for step in each.steps]
        # What was recorded holds until it is recorded anew.
        last = points[-1][0] if each.now is None else _RIGHT
        shapes.append(path([*_stairs(points), (last, points[-1][1])], f"series {kind}"))
        for (x, y), step in zip(points, each.steps, strict=True):
            shapes.append(dot(x, y, f"point {kind}", 2.5))
            if step.changed:
                shapes += [line(x, _TOP, x, _BOTTOM, "expected"), label(x, _TOP - 5, _commit(step), "tick", _anchor(x))]
        if each.now is not None:
            shapes.append(dot(_RIGHT, seconds.at(each.now), "crossing", 3.0))
        ends.append(seconds.at(each.now if each.now is not None else each.steps[-1].seconds))
    for each, y in zip(shown, place_labels(ends, _LABEL_GAP, _TOP + 4, _BOTTOM), strict=True):
        kind = series_class(each.strategy, list(dict.fromkeys(strategies)))
        shapes.append(
            label(_RIGHT + 6, y + 4, each.name if len(each.name) <= 9 else f"{each.name[:8]}…", f"name {kind}")
        )
    first = min(_steps(shown), key=lambda step: step.place)
    shapes += [label(_LEFT, _BOTTOM + 16, first.date, "tick"), label(_RIGHT, _BOTTOM + 16, "now", "tick", "end")]
    return Figure(
        title="Run time in the baseline, from commit to commit",
        description="; ".join(map(_sentence, shown)) + ".",
        height=_HEIGHT,
        shapes=tuple(shapes),
        caption="Each was recorded on the machine of its day, so it is no measure of the code alone. Rings are this "
        "run; dashed are commits at which the level changed.",
    )


def _steps(pasts: Sequence[Past]) -> list[Step]:
    return [step for each in pasts for step in each.steps]


def _stairs(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    found = [points[0]]
    for (_, before), (x, after) in pairwise(points):
        found += [(x, before), (x, after)]
    return found


def _commit(step: Step) -> str:
    return step.commit or "not committed"


def _anchor(x: float) -> str:
    return "end" if x > _RIGHT - 40 else "start" if x < _LEFT + 20 else "middle"


def _sentence(past: Past) -> str:
    first, last = past.steps[0], past.steps[-1]
    changed = ", ".join(_commit(step) for step in past.steps if step.changed)
    now = f", {seconds_label(past.now)} now" if past.now is not None else ""
    said = f"{past.name}: {len(past.steps)} recordings, {seconds_label(first.seconds)} in {_commit(first)}, "
    return f"{said}{seconds_label(last.seconds)} in {_commit(last)}{now}{f', changed at {changed}' if changed else ''}"
