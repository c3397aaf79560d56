"""What differs between two entries, in lines for people: printed for each entry that an update writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_jitperf.baseline.helpers import match_helpers
from pytest_jitperf.baseline.model import Entry, StoredProgram
from pytest_jitperf.measurement import Sample
from pytest_jitperf.metrics import METRICS
from pytest_jitperf.units import Unit, format_change, format_quantity

__all__ = ["changes"]


def changes(old: Entry | None, new: Entry) -> tuple[str, ...]:
    """Says what differs, old -> new.

    Example:
        ``("program changed", "run 301 us -> 367 us", "peak_bytes 8 MiB -> 16 MiB")``

    Returns:
        One line each; none where the entries are equal, and ``("new",)`` where there was none.
    """
    if old is None:
        return ("new",)
    if old == new:
        return ()
    lines: list[str] = []
    if old.inputs != new.inputs:
        lines.append(f"inputs {old.inputs or 'none'} -> {new.inputs or 'none'}")
    lines += _program("program", old.program, new.program)
    matched = match_helpers(new.helpers, old.helpers)
    for name in sorted(new.helpers):
        before = matched.get(name, name)
        if before != name:
            lines.append(f"helper {before} -> {name}")
        lines += _program(f"helper {name}", old.helpers.get(before), new.helpers[name])
    for name in sorted(old.helpers.keys() - matched.values()):
        lines += _program(f"helper {name}", old.helpers[name], None)
    lines += _numbers(_medians(old.timed), _medians(new.timed), dict.fromkeys({*old.timed, *new.timed}, Unit.SECONDS))
    lines += _numbers(old.exact, new.exact, {})
    for name, relative in sorted(new.relative.items()):
        if name in old.relative and old.relative[name] != relative:
            lines.append(f"{name} {old.relative[name]:g} -> {relative:g} reference traces")
    lines += _host(old.host, new.host)
    lines += [
        f"{key} {before or 'none'} -> {after or 'none'}"
        for key, before, after in old.environment.differences(new.environment)
    ]
    if old.environment.machine != new.environment.machine:
        lines.append(f"machine {old.environment.machine or 'unknown'} -> {new.environment.machine or 'unknown'}")
    return tuple(lines) or ("spread of the timings only",)


def _program(name: str, old: StoredProgram | None, new: StoredProgram | None) -> Iterator[str]:
    if old == new:
        return
    if old is None:
        yield f"{name} added"
    elif new is None:
        yield f"{name} removed"
    else:
        if old.fingerprint_version != new.fingerprint_version:
            versions = f"version {old.fingerprint_version} -> {new.fingerprint_version}"
            yield f"{name}: fingerprint taken by other rules ({versions})"
        elif old.fingerprint != new.fingerprint:
            yield f"{name} changed"
        if old.inputs != new.inputs:
            yield f"{name}: inputs {old.inputs or 'as called'} -> {new.inputs or 'as called'}"
        if new.artifact is None and old.artifact is not None:
            yield f"{name}: no longer stored ({new.no_artifact or 'no artifact'})"
        elif old.artifact != new.artifact and old.fingerprint == new.fingerprint:
            yield f"{name}: stored again"
        for line in _numbers(old.exact, new.exact, {}):
            yield f"{name}: {line}"


def _host(old: Mapping[str, Mapping[str, int]], new: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    for key in sorted({*old, *new}):
        if key not in old:
            yield f"host {key} added"
        elif key not in new:
            yield f"host {key} removed"
        else:
            for line in _numbers(old[key], new[key], {}):
                yield f"{line} ({key})"


def _numbers(old: Mapping[str, float], new: Mapping[str, float], units: Mapping[str, Unit]) -> Iterator[str]:
    """One line for each number that differs, in the order in which metrics are shown, then others by name."""
    order = {name: place for place, name in enumerate(METRICS)}
    for name in sorted({*old, *new}, key=lambda name: (order.get(name, len(order)), name)):
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        unit = units.get(name) or (METRICS[name].unit if name in METRICS else Unit.COUNT)
        if before is None or after is None:
            yield f"{name} {_shown(before, unit)} -> {_shown(after, unit)}"
        else:
            yield f"{name} {format_change(before, after, unit)}"


def _shown(value: float | None, unit: Unit) -> str:
    return "none" if value is None else format_quantity(value, unit)


def _medians(timed: Mapping[str, Sample]) -> Mapping[str, float]:
    return {name: each.median for name, each in timed.items()}
