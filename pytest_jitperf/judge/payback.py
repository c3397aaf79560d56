"""From how many uses a jitted helper pays back under an outer jit, where only trace and lower can gain."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pytest_jitperf.measurement import HelperUses

__all__ = ["Payback", "payback"]

_Z = 1.96


@dataclass(frozen=True, slots=True, kw_only=True)
class Payback:
    """Uses with the same shapes from which on the jit of a helper saves trace and lower time.

    Attributes:
        first: The number of uses, at least 1; infinite where no number is enough.
        low: Lower end of its interval of 95 %.
        high: Upper end; infinite where it may never pay back.
    """

    first: float
    low: float
    high: float


def payback(uses: HelperUses, outer: float, both: float, floor: float) -> Payback:
    """Solves for the number of uses at which nothing is saved and nothing lost.

    A helper that takes ``t`` to trace and lower costs ``k * a * t`` where it is not jitted and is used ``k`` times with
    the same shapes. Jitted it costs ``t`` once, and ``k * b * t`` for the calls. So the two are equal where
    ``k * (a - b) = 1``, and ``a - b`` follows from what all helpers of a trace save together:
    ``outer - both = (a - b) * every - once``.

    Args:
        uses: How often helpers are called and what tracing them costs.
        outer: CPU seconds of trace and lower without jitted helpers.
        both: The same with them.
        floor: Standard error of each of these times, as a share of it.
    """
    per_use = (outer - both + uses.once) / uses.every
    error = _Z * floor * math.hypot(outer, both, uses.once) / uses.every
    return Payback(first=_uses(per_use), low=_uses(per_use + error), high=_uses(per_use - error))


def _uses(per_use: float) -> float:
    return max(1 / per_use, 1.0) if per_use > 0 else math.inf
