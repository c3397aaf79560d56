"""Where a row of recorded timings changed level.

Timings of unchanged code come out different each time they are recorded, now and then by half, so a change is a level
that several recordings keep and that differs by more than they do. The method is a standard one: a piecewise constant
level fitted to the logarithms, with a price for each change (PELT: Killick, Fearnhead and Eckley, "Optimal detection of
changepoints with a linear computational cost", JASA 107, 2012), as the package ``ruptures`` has it. Distances are taken
as they are (cost "l1") and not squared, and a level lasts for two recordings at least: so a single one, however far
off, changes nothing. What never varies needs none of this.
"""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from pytest_jitperf.errors import JitperfError

__all__ = ["FEWEST", "LEAST_NOISE", "METHOD", "PRICE", "Levels", "MissingLibrary", "levels", "noise_of"]

METHOD = "PELT, cost l1, on logarithms"
"""What it is called, for reports."""
FEWEST = 4
"""Recordings below this cannot be told from noise: a level lasts for two."""
PRICE = 7.0
"""What a change has to gain, in units of the noise.

With this, 1 row in 100 without a change gets a mark, of 4 to 40 recordings, with noise that is normal or of Student's t
with three degrees of freedom; 1 to 5 where a tenth of the recordings are 1.8 times as large (simulated, in the tests).
"""
LEAST_NOISE = 0.05
"""Noise is never taken to be less (standard deviation of the logarithm): a few recordings agree by chance."""

# Recordings that a level lasts for.
_SHORTEST = 2
# The median of |d| is this share of the standard deviation of normal d.
_MAD = 0.6744897501960817


class MissingLibrary(JitperfError):
    """The package that finds changes of level is not installed: install it."""

    def __init__(self) -> None:
        super().__init__(
            "changes of timings are found with ruptures, which is not installed: pip install ruptures, "
            "or pytest-jitperf with its extra history"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """Timings cut into stretches of one level each.

    Attributes:
        starts: Positions at which a new level begins, 0 left out.
        medians: Of each stretch, one more than ``starts``.
        noise: Standard deviation of the logarithm that was reckoned with: 0.05 is about 5 %.
    """

    starts: tuple[int, ...]
    medians: tuple[float, ...]
    noise: float


def levels(values: Sequence[float], places: Container[int] | None = None) -> Levels:
    """Finds the levels of timings.

    Args:
        values: One per recording, oldest first, each above 0; at least one.
        places: Positions at which a level can begin, where something is known of that; None for any. A change that is
            found elsewhere is moved to the one that suits best, and dropped where none does.

    Raises:
        MissingLibrary: ``ruptures`` is not installed.
    """
    noise = noise_of(values)
    logarithms, price = [math.log(each) for each in values], PRICE * noise
    starts = _starts(logarithms, price) if len(values) >= FEWEST else []
    if places is not None:
        starts = _moved(logarithms, starts, places, price)
    bounds = pairwise([0, *starts, len(values)])
    return Levels(starts=tuple(starts), medians=tuple(median(values[a:b]) for a, b in bounds), noise=noise)


def noise_of(values: Sequence[float]) -> float:
    """How much recordings of one level differ: standard deviation of the logarithm.

    From the median distance of neighbours, which some changes of level and some outliers leave alone.
    """
    distances = [abs(math.log(after / before)) for before, after in pairwise(values)]
    return max(median(distances) / _MAD / math.sqrt(2) if distances else 0.0, LEAST_NOISE)


def _starts(logarithms: Sequence[float], price: float) -> list[int]:
    try:
        import ruptures
    except ImportError as error:
        raise MissingLibrary from error
    import numpy as np

    found = ruptures.Pelt(model="l1", min_size=_SHORTEST, jump=1).fit(np.asarray(logarithms)).predict(pen=price)
    return [int(each) for each in found[:-1]]


def _moved(logarithms: Sequence[float], starts: Sequence[int], places: Container[int], price: float) -> list[int]:
    """The starts at places where a level can begin, each between its neighbours and worth its price there."""
    moved: list[int] = []
    for start, end in pairwise([*starts, len(logarithms)]):
        before = moved[-1] if moved else 0
        stretch = logarithms[before:end]
        costs = {
            place: _cost(stretch[: place - before]) + _cost(stretch[place - before :])
            for place in range(before + _SHORTEST, end - _SHORTEST + 1)
            if place in places
        }
        if costs:
            best = min(costs, key=lambda place: (costs[place], abs(place - start)))
            if costs[best] + price < _cost(stretch):
                moved.append(best)
    return moved


def _cost(logarithms: Sequence[float]) -> float:
    middle = median(logarithms)
    return math.fsum(abs(each - middle) for each in logarithms)
