"""From how many calls in one trace the jit of a helper pays under an outer jit, where only trace and lower can gain."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pytest_jitperf.measurement import HelperUse

__all__ = ["Payback", "payback"]

_Z = 1.96


@dataclass(frozen=True, slots=True, kw_only=True)
class Payback:
    """Calls with the same signature from which on the jit of a helper saves trace and lower time.

    Attributes:
        first: The number of calls, at least 1; infinite where no number is enough.
        low: Lower end of its interval of 95 %.
        high: Upper end; infinite where it may never pay.
    """

    first: float
    low: float
    high: float


def payback(use: HelperUse) -> Payback:
    """Solves for the number of calls at which nothing is saved and nothing lost.

    The jit costs ``extra`` more at the first call and saves ``saved`` at each further one, so the two are even at
    ``1 + extra / saved`` calls. The ends of the interval take the worse and the better end of both.

    Args:
        use: What the jit costs and saves.
    """
    extra_error, saved_error = _Z * use.extra_error, _Z * use.saved_error
    return Payback(
        first=_calls(use.extra, use.saved),
        low=_calls(use.extra - extra_error, use.saved + saved_error),
        high=_calls(use.extra + extra_error, use.saved - saved_error),
    )


def _calls(extra: float, saved: float) -> float:
    if extra <= 0 and saved >= 0:
        return 1.0
    return 1 + extra / saved if saved > 0 else math.inf
