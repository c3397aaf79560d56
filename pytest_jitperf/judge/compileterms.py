"""What compile time may grow to, with the parts of it that are not XLA's."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from pytest_jitperf.units import Tolerance

__all__ = ["COMPILE_FLOOR", "TRACE_FACTOR", "CompileTerms", "Whole", "is_stuck"]

Whole = Callable[[tuple[float, float, float]], tuple[float, float, float]]
"""From estimate, low and high end of a part's ratio to those of the whole's."""

# Uncertainty of a single trace relative to the reference trace, as a factor.
TRACE_FACTOR = 1.15

COMPILE_FLOOR = 0.010
"""Seconds of CPU time more below which compiling is not worth a failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileTerms:
    """From a ratio of XLA's time to that of the whole, all of it CPU seconds of here and now.

    Example:
        XLA takes 40 ms for the old program and x1.50 (x1.45 ... x1.55) of that for the new one; trace and lower take
        10 ms and 20 ms. The whole went from 50 ms to 60 + 20 = 80 ms, x1.60. Its low end is
        (40 * 1.45 + 20 / 1.15) / 50 = x1.51 and its high end (40 * 1.55 + 20 * 1.15) / 50 = x1.70, since one trace is
        known to 15 %. Allowed is the largest of x1.25, what an absolute tolerance adds, and 10 ms more, which is x1.20.

    Attributes:
        tolerance: Of ``compile``.
        xla: Of ``xla`` alone, where somebody gave it one.
        old_trace: Trace and lower of the baseline, as they would be today; 0.0 where they cannot be compared.
        new_trace: Today's; 0.0 likewise.
    """

    tolerance: Tolerance
    xla: Tolerance | None = None
    old_trace: float = 0.0
    new_trace: float = 0.0

    def old(self, old_xla: float) -> float:
        """The whole of the baseline, where XLA takes ``old_xla`` for its program."""
        return old_xla + self.old_trace

    def limit(self, old_xla: float) -> float:
        """The largest ratio of the whole that is allowed; infinite where a coarse clock saw nothing of the old one."""
        old, floor = self.old(old_xla), max(self.tolerance.absolute, COMPILE_FLOOR)
        return 1 + max(self.tolerance.relative, floor / old) if old > 0 else math.inf

    def xla_limit(self, old_xla: float) -> float | None:
        """The largest ratio of XLA's time that is allowed, or None where it is not held to one."""
        if self.xla is None:
            return None
        return 1 + max(self.xla.relative, self.xla.absolute / old_xla) if old_xla > 0 else math.inf

    def whole(self, old_xla: float, xla: tuple[float, float, float]) -> tuple[float, float, float]:
        """Estimate, low and high end of the whole's ratio, from those of XLA's."""

        def total(ratio: float, factor: float) -> float:
            return (old_xla * ratio + self.new_trace * factor) / self.old(old_xla)

        estimate, low, high = xla
        return total(estimate, 1.0), total(low, 1 / TRACE_FACTOR), total(high, TRACE_FACTOR)


def is_stuck(xla: tuple[float, float, float], whole: Whole, limit: float) -> bool:
    """Whether the whole would be left open by any ratio within the interval, were it known exactly.

    So it is where what one trace is known to decides: no further pair can do anything about that.
    """
    _, low, high = xla
    return whole((high, high, high))[1] <= limit <= whole((low, low, low))[2]
