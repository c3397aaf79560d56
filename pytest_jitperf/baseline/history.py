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
from pytest_jitperf.metrics import unit_of as unit_by_name
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
    made = (_series(key, [*_entries(versions, key)], metric) for key in _keys(versions))
    return tuple(each for each in made if each is not None)


def metrics_of(versions: Sequence[Baseline | None]) -> tuple[str, ...]:
    """Names of the numbers that entries hold, those that the plugin knows first and in its order."""
    found: set[str] = set()
    for entry in (each for key in _keys(versions) for each in _entries(versions, key)):
        if isinstance(entry, Entry):
            found |= {*entry.timed, *entry.exact, *(name for counts in entry.host.values() for name in counts)}
    known = [name for name in METRICS if name in found]
    return (*known, *sorted(found.difference(known)))


def unusable(versions: Sequence[Baseline | None]) -> tuple[str, ...]:
    """Why entries of some versions cannot be used, a sentence each."""
    every = (each for key in _keys(versions) for each in _entries(versions, key))
    return tuple(dict.fromkeys(each.reason for each in every if isinstance(each, Unusable)))


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
    return Unit.SECONDS if timed else unit_by_name(metric)


def _series(key: Key, entries: Sequence[Entry | Unusable | None], metric: str) -> Series | None:
    values = [_number(entry, metric) if isinstance(entry, Entry) else None for entry in entries]
    recordings: list[Point] = []
    last: object = None
    for version, (value, entry) in enumerate(zip(values, entries, strict=True)):
        if value is None or not isinstance(entry, Entry):
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


def _keys(versions: Sequence[Baseline | None]) -> list[Key]:
    return sorted({key for version in versions if version is not None for key in version.keys})


def _entries(versions: Sequence[Baseline | None], key: Key) -> Iterator[Entry | Unusable | None]:
    """What each version has under a key; what only repeats the version before is read once."""
    before: object = None
    found: Entry | Unusable | None = None
    for version in versions:
        written = None if version is None else _written(version, key)
        if version is None or written is None or written != before:
            found = None if version is None else version.entry(*key.parts)
        before = written
        yield found


def _written(version: Baseline, key: Key) -> object:
    """What stands in the file."""
    value: object = version.document["tests"]
    for part in key.parts:
        value = value.get(part) if isinstance(value, dict) else None
    return value
