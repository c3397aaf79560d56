"""A row of numbers as a row of bars, one character each."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["BLOCKS", "PLAIN", "bars_for", "sparkline"]

BLOCKS = "▁▂▃▄▅▆▇█"
"""Bars of eight heights."""
PLAIN = "_.,-~=*#"
"""The same in ASCII, by how high up and how dark they are."""

# A row in which nothing changed is to look level, so full height stands for a factor of 1.5 at least.
_LEAST_RANGE = math.log(1.5)


def bars_for(encoding: str | None) -> str:
    """The bars that an encoding has."""
    try:
        BLOCKS.encode(encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return PLAIN
    return BLOCKS


def sparkline(values: Sequence[float | None], bars: str = BLOCKS, width: int | None = None) -> str:
    """Draws numbers of 0 or more on a logarithmic scale, so that equal ratios are equal steps.

    Args:
        values: In order; None leaves a gap.
        bars: Characters from the lowest to the highest.
        width: At most so many characters, the last number of each stretch standing for it; None for one per number.
    """
    if width is not None and len(values) > max(width, 1):
        width = max(width, 1)
        values = [values[(place + 1) * len(values) // width - 1] for place in range(width)]
    positive = [each for each in values if each]
    if not positive:
        return "".join(" " if each is None else bars[0] for each in values)
    # The lowest bar is nothing where there is nothing.
    lowest = 1 if 0 in values else 0
    low, high = math.log(min(positive)), math.log(max(positive))
    if high - low < _LEAST_RANGE:
        middle = (low + high) / 2
        low, high = middle - _LEAST_RANGE / 2, middle + _LEAST_RANGE / 2
    return "".join(
        _bar(each, low, high, bars[lowest:]) if each else " " if each is None else bars[0] for each in values
    )


def _bar(value: float, low: float, high: float, bars: str) -> str:
    return bars[min(int((math.log(value) - low) / (high - low) * len(bars)), len(bars) - 1)]
