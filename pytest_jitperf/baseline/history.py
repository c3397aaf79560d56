"""A baseline file over its versions: for each entry the row of numbers that a metric had.

A version is what one commit made of the file. An update leaves an entry alone unless it has to be recorded anew, so
most versions only repeat an entry's numbers. What counts as evidence is a recording, not a version.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_jitperf.baseline.changes import differences
from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.baseline.store import Baseline, Key, Unusable
from pytest_jitperf.metrics import METRICS
from pytest_jitperf.units import Unit

__all__ = ["SAME", "Point", "Series", "circumstances", "metrics_of", "series", "unit_of", "unusable"]

SAME = ("same program",)
"""What is said of a recording that differs from the one before in nothing but numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What an entry said in one version.

    Attributes:
        version: Position of the version in which this was recorded.
        value: The number, in the metric's unit.
        entry: All of the entry.
    """

    version: int
    value: float
    entry: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A metric of one entry over the versions of its file.

    Attributes:
        key: Of the entry.
        metric: Name of the metric.
        unit: Its unit.
        timed: Whether it varies from recording to recording.
        values: One for each version, None where the entry or the number was not there.
        recordings: Each version that recorded the number anew, oldest first; at least one.
    """

    key: Key
    metric: str
    unit: Unit
    timed: bool
    values: tuple[float | None, ...]
    recordings: tuple[Point, ...]

    @property
    def present(self) -> bool:
        """Whether the newest version has it."""
        return self.values[-1] is not None


def series(versions: Sequence[Baseline | None], metric: str) -> tuple[Series, ...]:
    """The rows of a metric, by key.

    Args:
        versions: Of one file, oldest first; None where it was not there or cannot be read.
        metric: ``"run"``, or another number that entries hold.
    """
    keys = sorted({key for version in versions if version is not None for key in version.keys})
    made = (_series(key, [_entry(version, key) for version in versions], metric) for key in keys)
    return tuple(each for each in made if each is not None)


def metrics_of(versions: Sequence[Baseline | None]) -> tuple[str, ...]:
    """Names of the numbers that entries hold, those that the plugin knows first and in its order."""
    found: set[str] = set()
    for _, entry in _entries(versions):
        found |= {*entry.timed, *entry.exact}
        for counts in entry.host.values():
            found |= counts.keys()
    known = [name for name in METRICS if name in found]
    return (*known, *sorted(found.difference(known)))


def unusable(versions: Sequence[Baseline | None]) -> tuple[str, ...]:
    """Why entries of some versions cannot be used, a sentence each."""
    return tuple(
        found.reason
        for version in versions
        if version is not None
        for key in version.keys
        if isinstance(found := version.entry(*key.parts), Unusable)
    )


def circumstances(old: Point, new: Point) -> tuple[str, ...]:
    """What else changed between two recordings: program, inputs, surroundings.

    Returns:
        A phrase each; ``SAME`` where it is known that nothing did, and none where nothing is known of it, since Python
        drives the programs or the program cannot be stored.
    """
    said = tuple(each.text for each in differences(old.entry, new.entry) if each.kind not in ("number", "stored"))
    before, after = old.entry.program, new.entry.program
    if said or before is None or after is None or before.fingerprint is None:
        return said
    return SAME if before.fingerprint_version == after.fingerprint_version else ()


def unit_of(metric: str, *, timed: bool) -> Unit:
    """The unit of a number in entries."""
    if metric in METRICS:
        return METRICS[metric].unit
    return Unit.SECONDS if timed else Unit.COUNT


def _series(key: Key, entries: Sequence[Entry | None], metric: str) -> Series | None:
    values = [None if entry is None else _number(entry, metric) for entry in entries]
    recordings: list[Point] = []
    last: object = None
    for version, (value, entry) in enumerate(zip(values, entries, strict=True)):
        if value is None or entry is None:
            continue
        # An equal sample, spread and all, is the same recording.
        evidence = entry.timed.get(metric, value)
        if evidence != last:
            recordings.append(Point(version=version, value=value, entry=entry))
            last = evidence
    if not recordings:
        return None
    timed = metric in recordings[-1].entry.timed
    return Series(
        key=key,
        metric=metric,
        unit=unit_of(metric, timed=timed),
        timed=timed,
        values=tuple(values),
        recordings=tuple(recordings),
    )


def _number(entry: Entry, metric: str) -> float | None:
    if metric in entry.timed:
        return entry.timed[metric].median
    if metric in entry.exact:
        return entry.exact[metric]
    # Counts of the Python and jax with which the entry was recorded; those of others were only added to it.
    counts = entry.host.get(entry.environment.host_key) or next(iter(entry.host.values()), {})
    return counts.get(metric)


def _entry(version: Baseline | None, key: Key) -> Entry | None:
    found = None if version is None else version.entry(*key.parts)
    return found if isinstance(found, Entry) else None


def _entries(versions: Sequence[Baseline | None]) -> Iterator[tuple[Key, Entry]]:
    for version in versions:
        for key in () if version is None else version.keys:
            entry = _entry(version, key)
            if entry is not None:
                yield key, entry
