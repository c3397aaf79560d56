"""The arithmetic of the rules for many races at once, with arrays; the package's own judge one race at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, stdtrit

from noise import Array
from pytest_jitperf.judge import stats
from pytest_jitperf.judge.stats import error_spent, median_interval


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What came of many races.

    Attributes:
        side: 1 where the ratio was found above the limit, -1 below, 0 where it was left open.
        rounds: After how many rounds.
    """

    side: Array
    rounds: Array

    def share(self, side: int) -> float:
        return float((self.side == side).mean())

    def error(self, *sides: int) -> str:
        """Share of verdicts for these sides, with its upper bound."""
        wrong, races = int(np.isin(self.side, sides).sum()), len(self.side)
        return f"{100 * wrong / races:.3f} (< {100 * upper_bound(wrong, races):.3f})"


def upper_bound(hits: int, trials: int) -> float:
    """The largest share that lets so few hits happen in 5 % of cases (Clopper and Pearson)."""
    return 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 0.95))


def looks(first: int, most: int, following: Callable[[int], int]) -> Iterator[int]:
    """Rounds after which there is a look; the last round is one."""
    look = first
    while look < most:
        yield look
        look = max(look + 1, following(look))
    yield most


def by_median(new: Array, old: Array, limit: float, *, error: float) -> Verdicts:
    """`rounds.many_rounds`, looked at as a race does."""
    ratios = new - old
    races, most = ratios.shape
    above, below = np.cumsum(ratios > limit, axis=1), np.cumsum(ratios < limit, axis=1)
    side, taken = np.zeros(races, int), np.full(races, most)
    for count in looks(1, most, lambda n: n + 1 + n // 50):
        needed = _needed(count, error)
        may_be = (side == 0) & ((above[:, count - 1] >= needed) | (below[:, count - 1] >= needed))
        if needed > count or not may_be.any():
            continue
        seen = ratios[may_be, :count]
        ordered = np.sort(seen, axis=1)
        margin = _margins(seen)
        low, high = ordered[:, count - needed] - margin, ordered[:, needed - 1] + margin
        found = np.where(low > limit, 1, np.where(high < limit, -1, 0))
        side[may_be], taken[may_be] = found, np.where(found != 0, count, most)
    return Verdicts(side, taken)


def _needed(count: int, error: float) -> int:
    """How many rounds on one side convict; one more than there are where none do."""
    _, low, _ = median_interval([float(n) for n in range(count)], error)
    return count + 1 if math.isinf(low) else count - int(low)


def _margins(ratios: Array) -> Array:
    """`judge.stats.serial_margin` of each race."""
    count = ratios.shape[1]
    centred = ratios.argsort(axis=1).argsort(axis=1) - (count - 1) / 2
    shown = (centred[:, 1:] * centred[:, :-1]).sum(axis=1) / (centred**2).sum(axis=1)
    serial = np.clip(shown + stats._SERIAL_ERRORS / math.sqrt(count), 0, stats._SERIAL_MOST)
    low, high = np.quantile(ratios, [0.25, 0.75], axis=1)
    margins: Array = stats._HALF_WIDTH * (high - low) / math.sqrt(count) * (np.sqrt((1 + serial) / (1 - serial)) - 1)
    return margins


def by_t(
    new: Array,
    old: Array,
    limit: float,
    *,
    at: Sequence[int],
    floor: float,
    prior_df: float,
    error: float,
    sides: bool = True,
    near: tuple[int, float] = (0, 0.0),
) -> Verdicts:
    """`judge.stats.paired_interval` at the looks ``at``, as races of few rounds and pairs of compiles use it.

    ``near``: as long as there are fewer rounds, what is above the limit by less is not believed.
    """
    ratios = new - old
    races, most = ratios.shape
    side, taken = np.zeros(races, int), np.full(races, most)
    for look, count in enumerate(at, 1):
        seen = ratios[:, :count]
        mean, spread = seen.mean(axis=1), np.full(races, floor)
        if count > 1:
            spread = np.maximum(spread, seen.std(axis=1, ddof=1))
        if sides and 1 < count < 8:
            own = (each[:, :count].var(axis=1, ddof=1) for each in (new, old))
            spread = np.maximum(spread, np.sqrt(sum(own)))
        half = stdtrit(prior_df + count - 1, 1 - error_spent(error, look) / 2) * spread / math.sqrt(count)
        above = (mean - half > limit) & ((count >= near[0]) | (mean > limit + near[1])) & (count > 1)
        found = np.where(side != 0, 0, np.where(above, 1, np.where(mean + half < limit, -1, 0)))
        side, taken = np.where(found != 0, found, side), np.where(found != 0, count, taken)
    return Verdicts(side, taken)
