"""Intervals for ratios that stay true although one looks again and again and stops when one likes the answer.

Everything works on natural logarithms of ratios, new over old, so that twice as slow and twice as fast lie equally far
from "the same". Two rules, for two situations:

* `median_interval`, for many rounds that cost little: a confidence sequence for the median. It supposes nothing about
  the noise but that, whatever went before, the next round is as likely to fall above the median as below it. A race
  that draws the order of its two sides anew in each round sees to that, but for what sticks to one side for longer
  than a round: `serial_margin` widens the interval by what that can do.
* `paired_interval`, for a few pairs that cost much: a t interval that takes on trust how noisy a pair is at the least.
  `sides_sd` is a second opinion on that, as long as there are too few pairs to tell.

What they achieve, by kind of noise, is printed by `tests/quality/simulation.py`.

numpy and scipy are imported inside the functions: this module is loaded when pytest starts.
"""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left
from collections.abc import Sequence

__all__ = [
    "ERROR",
    "PAIR_SD",
    "error_spent",
    "median_interval",
    "paired_interval",
    "quartiles",
    "serial_margin",
    "sides_sd",
]

#: Probability, both directions together, that an interval ever leaves out the true ratio.
ERROR = 0.001

#: Least standard deviation of the log-ratio of one pair of cold compiles in CPU time. Measured on a quiet machine: a
#: compile varies by 2 to 2.5 % from one time to the next, hence a pair by 3 to 3.5 %; pairs of a compile of 24 s lay
#: between 0.97 and 1.09.
PAIR_SD = 0.03

# What PAIR_SD is trusted for, in degrees of freedom. With 8, one pair of equal compiles (x1.00) shows at an error of
# 0.0005 that the ratio is below x1.18, which is what it takes to clear a tolerance of 25 % without a second pair.
_PRIOR_DF = 8.0

# Pairs from which on their ratios alone say how noisy a pair is.
_PAIRS_THAT_TELL = 8

# The autocorrelation of n ranks has a standard error of 1 / sqrt(n). With what lies within three of them, rounds that
# each correlate by 0.6 with the one before leave out the true median in 0.1 % of sequences, with two in 0.4 %, and with
# no allowance at all in 8 % (by simulation, with looks at up to 200 rounds and 0.1 % promised).
_SERIAL_ERRORS = 3.0
_SERIAL_MOST = 0.9
# Half-width of an interval of 99.9 % for the median of n normal values, times sqrt(n), over their interquartile range:
# 3.29 standard errors of sqrt(pi / 2) standard deviations, of which 1.349 make the range.
_HALF_WIDTH = 3.29 * math.sqrt(math.pi / 2) / 1.349


def median_interval(values: Sequence[float], alpha: float = ERROR) -> tuple[float, float, float]:
    """Median of the values, with an interval that holds at every length of the sequence at once.

    With probability 1 - ``alpha`` the true median lies inside the intervals of *all* prefixes of the sequence, so one
    may look after each round and stop at will. This is a sign test turned round: a candidate m is left out as soon as
    the number s of the n values above it (or below it) is so lopsided that the bets of a gambler who spreads his
    stake evenly over all coins, 2**n / ((n + 1) * C(n, s)), have grown to 1 / ``alpha``. For a fair coin that happens
    ever with probability ``alpha`` at the most (Ville 1939). What is left in is bounded by two order statistics.

    Source: Darling and Robbins, "Confidence sequences for mean, variance, and median", PNAS 58 (1967) 66-68; Robbins,
    "Statistical methods related to the law of the iterated logarithm", Ann. Math. Statist. 41 (1970) 1397-1409; for
    quantiles in general, Howard and Ramdas, Bernoulli 28 (2022) 1704-1728.

    At 0.001 it takes 14 values to exclude anything at all. As long as there are fewer, the ends are infinite.

    Args:
        values: At least one number, in any order.
        alpha: Error over the whole sequence and both ends together, between 0 and 1.

    Returns:
        Median, lower end, upper end.

    Example:
        >>> median_interval([0.0] * 6 + [0.1] * 20 + [0.2] * 6)
        (0.1, 0.0, 0.2)
    """
    ordered = sorted(values)
    rounds = len(ordered)
    median = statistics.median(ordered)
    # The smallest count on one side that convicts; one more than there are values where none does.
    lopsided = (rounds + 1) // 2 + bisect_left(
        range((rounds + 1) // 2, rounds + 1), -math.log(alpha), key=lambda count: _log_wealth(count, rounds)
    )
    if lopsided > rounds:
        return median, -math.inf, math.inf
    return median, ordered[rounds - lopsided], ordered[lopsided - 1]


def _log_wealth(count: int, rounds: int) -> float:
    """Logarithm of what a stake of 1 has grown to when ``count`` of the rounds fell on one side."""
    log_binomial = math.lgamma(rounds + 1) - math.lgamma(count + 1) - math.lgamma(rounds - count + 1)
    return rounds * math.log(2) - math.log(rounds + 1) - log_binomial


def serial_margin(values: Sequence[float]) -> float:
    """How much farther either end of a median's interval has to lie where a value may depend on those before it.

    The variance of a mean of many values whose autocorrelation at lag k is r**k is (1 + r) / (1 - r) times that of a
    mean of independent ones (Bayley and Hammersley, "The effective number of independent observations in an
    autocorrelated time series", Suppl. J. R. Stat. Soc. 8 (1946) 184-197); that of a median grows much alike. Taken
    for r is the largest value that the ranks leave possible, within three standard errors of what they show: where
    there are few values, something has to be allowed for although nothing is seen. What has to grow is the half-width
    that an interval of 99.9 % has for independent normal values of the same quartiles. So the margin is next to nothing
    where the bulk of the values is close together, however wild a few of them are.

    Args:
        values: In the order in which they came, at least one.

    Returns:
        The margin, in units of the values; 0.0 where at least half of them are the same.

    Example:
        Of 20 rounds in random order, half lie within 1 % of each other: r may well be 0.6, which doubles the half-width
        of 0.7 %, and the margin is about 0.8 %. Of 20 that ascend, it is 2.3 %.
    """
    import numpy as np

    given = np.asarray(values, dtype=float)
    ordered = np.sort(given)
    low, high = np.quantile(ordered, [0.25, 0.75])
    if low == high:
        return 0.0
    ranks = np.searchsorted(ordered, given, "left") + np.searchsorted(ordered, given, "right")
    centred = ranks - ranks.mean()
    shown = float((centred[1:] * centred[:-1]).sum() / (centred * centred).sum())
    serial = min(max(shown + _SERIAL_ERRORS / math.sqrt(len(given)), 0.0), _SERIAL_MOST)
    half_width = _HALF_WIDTH * float(high - low) / math.sqrt(len(given))
    return half_width * (math.sqrt((1 + serial) / (1 - serial)) - 1)


def sides_sd(new: Sequence[float], old: Sequence[float]) -> float:
    """Standard deviation that the log-ratio of a pair has if its two sides have nothing in common.

    Three ratios that agree by chance are not rare; that three pairs agree on either side as well is: it is the
    two-sample t test's estimate, with twice the degrees of freedom. But a machine that changes its speed changes it for
    both sides of a pair, which is what pairs are for, so that from eight on their ratios alone are asked.

    Args:
        new: Logarithms of the new side, pair by pair.
        old: Logarithms of the old side.

    Returns:
        The standard deviation; 0.0 for a single pair, and from eight on.
    """
    if not 1 < len(new) < _PAIRS_THAT_TELL:
        return 0.0
    return math.hypot(statistics.stdev(new), statistics.stdev(old))


def paired_interval(
    log_ratios: Sequence[float],
    floor_sd: float = PAIR_SD,
    confidence: float = 1 - ERROR,
    prior_df: float = _PRIOR_DF,
) -> tuple[float, float, float]:
    """Mean of a few log-ratios with a t interval whose standard deviation is never taken below a floor.

    The half-width is t * max(s, ``floor_sd``) / sqrt(n), t with ``prior_df`` + n - 1 degrees of freedom: three lucky
    pairs that agree by chance prove nothing, and one pair can prove something. Lending the estimate degrees of freedom
    from other measurements of the same kind is the idea of the moderated t test (Smyth, Stat. Appl. Genet. Mol. Biol. 3
    (2004) article 3); the floor in place of its average makes the interval wider, never narrower. It is right for one
    look, and as far as the floor is right: noise well above the floor, seen in very few pairs, breaks the promise.

    Args:
        log_ratios: At least one log-ratio.
        floor_sd: Least standard deviation of a single log-ratio, more than 0.
        confidence: Probability that the interval holds the truth, for example 0.999.
        prior_df: How much the floor is worth, in degrees of freedom; more than 0 where there is one log-ratio only.

    Returns:
        Mean, lower end, upper end.
    """
    from scipy.special import stdtrit

    pairs = len(log_ratios)
    mean = statistics.fmean(log_ratios)
    spread = statistics.stdev(log_ratios) if pairs > 1 else 0.0
    quantile = float(stdtrit(prior_df + pairs - 1, (1 + confidence) / 2))
    half = quantile * max(spread, floor_sd) / math.sqrt(pairs)
    return mean, mean - half, mean + half


def error_spent(alpha: float, look: int) -> float:
    """The part of an error that the given look may use, so that any number of looks together use no more than all.

    The parts are alpha / (look * (look + 1)): half, a sixth, a twelfth, and so on, and sum to ``alpha`` (alpha
    spending, Lan and DeMets, Biometrika 70 (1983) 659-663, with the union bound in place of the joint distribution).

    Args:
        alpha: Error of all looks together.
        look: Number of the look, from 1.
    """
    return alpha / (look * (look + 1))


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Median, lower quartile and upper quartile, interpolated linearly between the values.

    Args:
        values: At least one number, in any order.
    """
    import numpy as np

    low, median, high = np.quantile(np.asarray(values, dtype=float), [0.25, 0.5, 0.75])
    return float(median), float(low), float(high)
