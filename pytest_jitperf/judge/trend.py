"""At which versions of a baseline file a metric of an entry changed, and what else changed there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_jitperf.baseline.history import SAME, Point, Series, circumstances
from pytest_jitperf.baseline.merge import same_count
from pytest_jitperf.judge.changepoints import FEWEST, METHOD, levels

__all__ = ["EACH_VALUE", "Change", "Trend", "trend"]

EACH_VALUE = "each change of value"
"""The method for what never varies."""

# No clock tells less; a timing of nothing has no logarithm.
_SHORTEST = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of a metric.

    Attributes:
        version: Position of the version that made it.
        old: The number, or for timings the level, before.
        new: The same after.
        circumstances: What else changed since the recording before.
    """

    version: int
    old: float
    new: float
    circumstances: tuple[str, ...]

    @property
    def ratio(self) -> float | None:
        """New over old, or None where that was nothing."""
        return self.new / self.old if self.old else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """What became of a metric over the versions.

    Attributes:
        series: Its numbers.
        changes: Oldest first.
        method: How they were found.
        noise: Of a timing, how much recordings differ: standard deviation of the logarithm; None for what never varies.
        enough: Whether there are recordings enough to find a change.
    """

    series: Series
    changes: tuple[Change, ...] = ()
    method: str = EACH_VALUE
    noise: float | None = None
    enough: bool = True


def trend(series: Series) -> Trend:
    """Finds the changes of a row of numbers: each change of value of an exact metric, of a timing each of level.

    Raises:
        MissingLibrary: It is a timing, and what finds changes of level is not installed.
    """
    if not series.timed:
        return Trend(series=series, changes=tuple(_steps(series.recordings, series.metric)))
    found = levels([max(each.value, _SHORTEST) for each in series.recordings], _places(series))
    return Trend(
        series=series,
        changes=tuple(
            _change(series.recordings, start, old, new)
            for start, (old, new) in zip(found.starts, pairwise(found.medians), strict=True)
        ),
        method=METHOD,
        noise=found.noise,
        enough=len(series.recordings) >= FEWEST,
    )


def _places(series: Series) -> frozenset[int] | None:
    """Recordings at which the metric can have changed: the same program in the same surroundings runs as it ran."""
    if series.metric != "run" or any(each.entry.program is None for each in series.recordings):
        return None
    pairs = enumerate(pairwise(series.recordings), 1)
    return frozenset(place for place, (before, after) in pairs if circumstances(before, after) != SAME)


def _steps(recordings: Sequence[Point], metric: str) -> list[Change]:
    """Against the last value that was marked, so that many small steps do not go unseen."""
    found: list[Change] = []
    marked = recordings[0].value
    for place, point in enumerate(recordings):
        if not same_count(metric, marked, point.value):
            found.append(_change(recordings, place, marked, point.value))
            marked = point.value
    return found


def _change(recordings: Sequence[Point], place: int, old: float, new: float) -> Change:
    since = circumstances(recordings[place - 1], recordings[place])
    return Change(version=recordings[place].version, old=old, new=new, circumstances=since)
