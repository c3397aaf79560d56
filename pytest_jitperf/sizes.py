"""The sizes of a sweep: the inputs that a test is measured with in turn, and how large each of them is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["FEWEST_SIZES", "Place", "Size", "numbers"]

FEWEST_SIZES = 3
"""Sizes that it takes to tell a fixed cost from what grows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """One entry of ``sizes=``.

    Attributes:
        label: What it is called in tables and baselines.
        make: Makes the arguments: returns a tuple of them, ``(args, kwargs)``, or one argument.
        number: The label as a number, where all labels of the sweep are numbers; else None.
    """

    label: str
    make: Callable[[], Any] = field(repr=False)
    number: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a measurement stands in a sweep.

    Attributes:
        sweep: Name of the measurement that was asked for, of which this is one size.
        label: Of the size.
        extent: How large it is: the number that the label is, else how many elements the arguments have together.
        counted: Whether these elements are meant.
    """

    sweep: str
    label: str
    extent: float
    counted: bool


def numbers(labels: Iterable[str]) -> list[float] | None:
    """The labels as numbers greater than 0, or None where one is not such a number.

    Example:
        >>> numbers(["1_024", "4,096"]), numbers(["small", "2"])
        ([1024.0, 4096.0], None)
    """
    found = []
    for label in labels:
        try:
            number = float(label.replace("_", "").replace(",", ""))
        except ValueError:
            return None
        if not 0 < number < math.inf:
            return None
        found.append(number)
    return found
