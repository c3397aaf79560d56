"""Plots as plain values: shapes with their coordinates, and the axes that place them.

Plots of the HTML report are SVG inside it, made here and in the modules of each plot without a plotting library. So
they follow the page into the dark, onto paper and onto a narrow screen, their text is text, the same results give the
same bytes, and a report of hundreds of tests stays small.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_jitperf.units import Unit, format_quantity

__all__ = [
    "WIDTH",
    "Axis",
    "Figure",
    "Shape",
    "box",
    "count_label",
    "decades",
    "dot",
    "label",
    "line",
    "path",
    "place_labels",
    "seconds_label",
    "series_class",
]

WIDTH = 360
"""Of every figure, in its own units, which are about those of a narrow phone."""

_SERIES = ("eager", "outer", "inner", "both")
_OTHER_SERIES = 4
_FAINTEST = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One element of a drawing.

    Attributes:
        tag: Of SVG.
        attributes: Names and values, not escaped.
        text: What it says, where it is text.
    """

    tag: str
    attributes: Mapping[str, str]
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A plot.

    Attributes:
        title: What is shown, for those who do not see it too.
        description: The numbers in a sentence or two, for those who do not see them.
        height: In the units of ``WIDTH``.
        shapes: Those behind first.
        caption: How to read it; empty where it needs no words.
        key: Class and meaning of each kind of area, where they are not labelled in the plot.
    """

    title: str
    description: str
    height: float
    shapes: tuple[Shape, ...]
    caption: str = ""
    key: tuple[tuple[str, str], ...] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """Where values stand.

    Attributes:
        low: Value at the start.
        high: Value at the end.
        start: Coordinate of the start.
        end: Coordinate of the end.
        logarithmic: Whether equal distances are equal factors; then ``low`` is greater than 0.
    """

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = True

    def at(self, value: float) -> float:
        """The coordinate of a value; what lies outside stands at the end next to it."""
        inside = min(max(value, self.low), self.high)
        if self.logarithmic:
            share = math.log(inside / self.low) / math.log(self.high / self.low)
        else:
            share = (inside - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def holds(self, value: float) -> bool:
        """Whether a value is neither beyond one end nor the other."""
        return self.low <= value <= self.high


def decades(low: float, high: float, most: int = 6) -> list[float]:
    """Powers of ten from ``low`` to ``high``, ends included, every second or third where they would be too many."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    step = max(1, math.ceil((last - first + 1) / most))
    return [10.0**power for power in range(first, last + 1, step)]


def place_labels(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Coordinates near those wanted, in their order, none nearer than ``gap`` to the next.

    Args:
        wanted: One per label.
        gap: Least distance.
        low: Least coordinate.
        high: Largest; labels that do not fit between the two go beyond it.
    """
    order = sorted(range(len(wanted)), key=lambda n: wanted[n])
    placed = dict.fromkeys(order, 0.0)
    floor = low
    for n in order:
        placed[n] = max(wanted[n], floor)
        floor = placed[n] + gap
    ceiling = max(high, low + gap * (len(wanted) - 1))
    for n in reversed(order):
        placed[n] = min(placed[n], ceiling)
        ceiling = placed[n] - gap
    return [placed[n] for n in range(len(wanted))]


def series_class(strategy: str, strategies: Sequence[str]) -> str:
    """The class by which the style sheet draws a strategy; built-in ones look alike in every figure.

    Args:
        strategy: Its name.
        strategies: Names of all strategies of the figure.
    """
    if strategy in _SERIES:
        return f"s{_SERIES.index(strategy)}"
    others = [name for name in strategies if name not in _SERIES]
    return f"s{len(_SERIES) + others.index(strategy) % _OTHER_SERIES}"


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Shape:
    """A straight line."""
    return path([(x1, y1), (x2, y2)], kind)


def path(points: Iterable[tuple[float, float]], kind: str) -> Shape:
    """A line through points."""
    steps = (f"{_number(x)} {_number(y)}" for x, y in points)
    return Shape(tag="path", attributes={"class": kind, "d": f"M{' L'.join(steps)}"})


def box(x: float, y: float, width: float, height: float, kind: str) -> Shape:
    """A filled rectangle."""
    values = {"x": x, "y": y, "width": max(width, 0.0), "height": height}
    return Shape(tag="rect", attributes={"class": kind, **{name: _number(value) for name, value in values.items()}})


def dot(x: float, y: float, kind: str, radius: float = 3.5) -> Shape:
    """A point."""
    return Shape(tag="circle", attributes={"class": kind, "cx": _number(x), "cy": _number(y), "r": _number(radius)})


def label(x: float, y: float, text: str, kind: str = "label", anchor: str = "start") -> Shape:
    """Text beside a point; ``anchor`` is ``"start"``, ``"middle"`` or ``"end"``."""
    attributes = {"class": kind, "x": _number(x), "y": _number(y), "text-anchor": anchor}
    return Shape(tag="text", attributes=attributes, text=text)


def seconds_label(value: float) -> str:
    """``10 ms``."""
    return format_quantity(value, Unit.SECONDS)


def count_label(value: float) -> str:
    """``10``, ``1k``, ``10M``: a whole number in the width of an axis; powers of ten above that."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}" if value < 1e12 else f"{value:.0e}".replace("e+", "e")
    return f"{value:.3g}"


def _number(value: float) -> str:
    """With one decimal at most, so that files stay small."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
