"""How a time grows with the size of the input: the exponent of a power law, with its interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.measurement import Sample
from pytest_jitperf.sizes import FEWEST_SIZES

__all__ = ["Growth", "fit_growth", "growth_finding"]

# What one program, compiled anew in other processes, differs by, as a standard error of its median run time.
_FLOOR = 0.02
# Standard error of the median of n normal values from their interquartile range: sqrt(pi / 2) / 1.349 * IQR / sqrt(n).
_FROM_QUARTILES = 0.93

_LOW, _HIGH, _STEP = -2.0, 8.0, 0.05
_STEEP, _Z = 0.5, 1.96
_CONFIDENCE = 0.95
# Below this, where a fixed cost alone explains the times, what the last size took more is noise.
_HARDLY = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """``time = fixed + factor * n ** exponent``.

    Attributes:
        exponent: The best one.
        low: Lower end of its interval of 95 %; -inf where there is none.
        high: Upper end; inf where there is none.
        first: Smallest size.
        last: Largest size.
    """

    exponent: float
    low: float
    high: float
    first: float
    last: float

    def describe(self) -> str:
        """``n^2.01 (n^1.93 ... n^2.08)``."""
        if math.isinf(self.low) and math.isinf(self.high) and self.exponent < _HARDLY:
            return "hardly grows"  # a fixed cost alone explains it
        low, high = (f"n^{each:.2f}" if math.isfinite(each) else "?" for each in (self.low, self.high))
        return f"n^{self.exponent:.2f} ({low} ... {high})"


def fit_growth(sizes: Sequence[float], samples: Sequence[Sample], floor: float = _FLOOR) -> Growth | None:
    """Fits a power law with a fixed cost to times at several sizes.

    For a given exponent the fixed cost and the factor, neither of them negative, follow by least squares of the
    relative errors (`scipy.optimize.nnls`). The best exponent is that of the least chi square, and its interval holds
    all whose chi square is larger by no more than the square of the quantile (profile likelihood: Venzon and
    Moolgavkar, Appl. Statist. 37 (1988) 87-94). Where the points lie farther from the law than their errors explain,
    as they do where a cache is outgrown, the errors are scaled up accordingly and the quantile is Student's. A fixed
    cost is allowed for since each call has one: without it, dispatch alone makes small sizes grow too slowly. How much
    of the bend is that cost is a guess, though, so the lower end is never above the slope between the two largest
    sizes, which needs no such guess; and where the data set no upper end, that slope is the exponent shown.

    Args:
        sizes: Greater than 0.
        samples: Times at these sizes, seconds.
        floor: Least standard error of a time, as a share of it.

    Returns:
        The growth, or None where there are fewer than three different sizes.

    Example:
        Calls of 10 us + n ** 2 * 10 ns at n = 16, 64, 256 give 2.00, although from 16 to 64 they only quadruple.
    """
    if len(set(sizes)) < FEWEST_SIZES:
        return None
    import numpy as np
    from scipy.optimize import brentq, nnls
    from scipy.stats import t

    n = np.asarray(sizes, dtype=float)
    scaled = n / n.max()  # large sizes to large exponents are more than a float holds
    times = np.asarray([each.median for each in samples])
    errors = np.asarray([_error(each, floor) for each in samples])

    def chi_square(exponent: float) -> float:
        columns = np.stack([np.ones_like(scaled), scaled**exponent], axis=1)
        return float(nnls(columns / (times * errors)[:, None], 1 / errors)[1] ** 2)

    grid = np.arange(_LOW, _HIGH + _STEP / 2, _STEP)
    values = [chi_square(each) for each in grid]
    best = int(np.argmin(values))
    exponent, least = _refined(chi_square, max(_LOW, grid[best] - _STEP), min(_HIGH, grid[best] + _STEP))
    freedom = len(set(sizes)) - 3
    stretch = max(1.0, least / freedom) if freedom else 1.0
    quantile = float(t.ppf((1 + _CONFIDENCE) / 2, freedom if stretch > 1 else math.inf))
    limit = least + stretch * quantile**2

    def end(direction: int) -> float:
        inside = exponent
        while _LOW <= inside <= _HIGH:
            outside = inside + direction * _STEP
            if chi_square(outside) > limit:
                return float(brentq(lambda each: chi_square(each) - limit, inside, outside))
            inside = outside
        return direction * math.inf

    low, high = end(-1), end(1)
    last = int(n.argmax())
    last_but_one = int(np.where(n < n[last], n, 0).argmax())
    if math.isinf(low) and math.isinf(high):
        # What is no power law at all, such as an exponential, fits none; that it is steep is seen all the same.
        steep = _slope(n, times, errors, int(n.argmin()), last)
        low = steep if steep >= _STEEP else low
    else:
        # A fixed cost can only flatten it.
        low = min(low, _slope(n, times, errors, last_but_one, last))
    if math.isinf(high) or not _LOW < exponent < _HIGH:
        exponent = _slope(n, times, 0 * errors, last_but_one, last)
    return Growth(exponent=max(exponent, low), low=low, high=high, first=min(sizes), last=max(sizes))


def _slope(n: Any, times: Any, errors: Any, first: int, last: int) -> float:
    """The exponent that leads from one size to another where there is no fixed cost, less what the errors allow."""
    rise = math.log(times[last] / times[first]) - _Z * math.hypot(errors[first], errors[last])
    return float(rise / math.log(n[last] / n[first]))


def _refined(function: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(function, bounds=(low, high), method="bounded")
    return float(found.x), float(found.fun)


def _error(sample: Sample, floor: float) -> float:
    """Standard error of a median, as a share of it."""
    spread = _FROM_QUARTILES * (sample.high - sample.low) / math.sqrt(sample.rounds) / sample.median
    return max(spread, floor)


def growth_finding(growth: Growth | None, limit: float, sizes: int) -> list[Finding]:
    """Holds the growth of run time to a limit.

    Args:
        growth: What was fitted, or None where that could not be.
        limit: The largest exponent that is allowed.
        sizes: How many different ones were measured.

    Returns:
        A finding where the interval lies above the limit, or where it cannot be said on which side it lies.
    """
    rule = f"budget growth={limit:g} (marker)"
    if growth is None:
        counted = "1 size was" if sizes == 1 else f"{sizes} different sizes were"
        sentence = f"growth not judged: {counted} measured, and it takes {FEWEST_SIZES}"
        return [Finding(outcome=Outcome.INCONCLUSIVE, sentence=sentence, metric="growth", rule=rule)]
    between = f"from {growth.first:g} to {growth.last:g}"
    said = f"run grows as {growth.describe()} {between}, allowed n^{limit:g}"
    if growth.low > limit:
        outcome, sentence = Outcome.OVER_BUDGET, f"growth over budget: {said}"
    elif growth.exponent > limit:
        outcome, sentence = Outcome.INCONCLUSIVE, f"growth inconclusive: {said}; more sizes or larger ones tell"
    else:
        return []
    return [
        Finding(
            outcome=outcome,
            sentence=sentence,
            metric="growth",
            new=growth.exponent,
            limit=limit,
            rule=rule,
            short=f"run grows as {growth.describe()}",
        )
    ]
