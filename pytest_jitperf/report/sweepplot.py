"""A time against the size of the input, one line per strategy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

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
from pytest_jitperf.report.grouping import one_line, place
from pytest_jitperf.row import Row

__all__ = ["sweep_plot"]

_HEIGHT = 220.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, WIDTH - 62.0, 10.0, 180.0
_LABEL_GAP = 13.0
_TICK_GAP = 30.0


def sweep_plot(rows: Sequence[Row], metric: str, *, several_devices: bool = False) -> Figure | None:
    """Draws a metric against the size, both logarithmic, with the quartiles of each time.

    Args:
        rows: All sizes of one sweep, each strategy's together, the smallest first.
        metric: ``"run"`` or ``"compile"``.
        several_devices: Whether lines have to be told apart by device.

    Returns:
        Nothing where fewer than two sizes have a number.
    """
    known = [row for row in rows if row.extent and metric in row.timed and row.timed[metric].median > 0]
    extents = sorted({row.extent or 0.0 for row in known})
    if len(extents) < 2:
        return None
    sizes = Axis(low=extents[0], high=extents[-1], start=_LEFT + 8, end=_RIGHT - 8)
    values = [each for row in known for each in (row.timed[metric].median, row.timed[metric].high)]
    seconds = Axis(
        low=10.0 ** math.floor(math.log10(min(values))),
        high=10.0 ** math.ceil(math.log10(max(values)) + 1e-9),
        start=_BOTTOM,
        end=_TOP,
    )
    shapes = _grid(sizes, seconds, known)
    lines = [(list(found)) for _, found in groupby(known, key=place)]
    strategies = list(dict.fromkeys(row.strategy for row in known))
    names: list[tuple[float, str, str]] = []
    for found in lines:
        kind = series_class(found[0].strategy, strategies)
        points = [(sizes.at(row.extent or 0.0), seconds.at(row.timed[metric].median)) for row in found]
        shapes.append(path(points, f"series {kind}"))
        for (x, y), row in zip(points, found, strict=True):
            sample = row.timed[metric]
            shapes.append(line(x, seconds.at(sample.low), x, seconds.at(sample.high), f"spread {kind}"))
            shapes.append(dot(x, y, f"point {kind}", 3.0))
        name = f"{found[0].strategy} {found[0].device}" if several_devices else found[0].strategy
        names.append((points[-1][1], name, kind))
    for (_, name, kind), y in zip(
        names, place_labels([each[0] for each in names], _LABEL_GAP, _TOP + 4, _BOTTOM), strict=True
    ):
        shapes.append(label(_RIGHT + 2, y + 4, name if len(name) <= 9 else f"{name[:8]}…", f"label name {kind}"))
    return Figure(
        title=f"{metric.capitalize()} time against the size",
        description="; ".join(
            f"{found[0].strategy}: "
            + ", ".join(f"{seconds_label(row.timed[metric].median)} at {one_line(row.size)}" for row in found)
            for found in lines
        )
        + ".",
        height=_HEIGHT,
        shapes=tuple(shapes),
        caption="Seconds per call, with quartiles, on logarithmic axes."
        if metric == "run"
        else "Seconds of the first call beyond running, on logarithmic axes.",
    )


def _grid(sizes: Axis, seconds: Axis, rows: Sequence[Row]) -> list[Shape]:
    shapes: list[Shape] = []
    for value in decades(seconds.low, seconds.high, 5):
        y = seconds.at(value)
        shapes += [line(_LEFT, y, _RIGHT, y, "grid"), label(_LEFT - 6, y + 4, seconds_label(value), "tick", "end")]
    labels = {row.extent or 0.0: count_label(row.extent or 0.0) if row.counted else one_line(row.size) for row in rows}
    last = -math.inf
    for extent, text in sorted(labels.items()):
        x = sizes.at(extent)
        shapes.append(line(x, _TOP, x, _BOTTOM, "grid"))
        if x - last >= max(_TICK_GAP, 6.5 * len(text)):
            shapes.append(label(x, _BOTTOM + 15, text, "tick", "middle"))
            last = x
    shapes.append(line(_LEFT, _BOTTOM, _RIGHT, _BOTTOM, "axis"))
    what = "elements of the arguments" if rows[0].counted else "size"
    shapes.append(label((_LEFT + _RIGHT) / 2, _BOTTOM + 32, what, "tick", "middle"))
    return shapes
