"""What differs between two entries: in lines for people, and as numbers for those who compare them.

An update prints the lines for each entry that it writes; the ``jitperf`` command adds what the numbers say.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from pytest_jitperf.baseline.helpers import match_helpers
from pytest_jitperf.baseline.merge import same_count
from pytest_jitperf.baseline.model import Entry, StoredProgram
from pytest_jitperf.measurement import Environment, Sample
from pytest_jitperf.metrics import METRICS, unit_of
from pytest_jitperf.units import Tolerance, Unit, format_change, format_quantity

__all__ = ["Difference", "changes", "differences"]

Kind = Literal["inputs", "program", "stored", "number", "environment", "machine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing in which two entries differ.

    Attributes:
        kind: What it is about; ``"program"`` where another program runs, ``"stored"`` where only what is kept differs.
        text: The line for people: ``run 301 us -> 367 us``.
        name: Of the metric, or of the part of the environment; empty for the others.
        where: Which of several numbers of that name it is: a helper, or the Python and jax that counted; else empty.
        old: The number before, in the metric's unit, or None where there was none.
        new: The number after.
        unit: Of both numbers.
        moved: Whether the number is another one, and not only the same one measured again. Of what never varies it
            always is; a timing where the quartiles are apart and the change is beyond what the gate lets pass, and the
            wall time of compiling never where its CPU time is known, nor any wall time that was taken once.
        before: The text before, for the environment.
        after: The text after.
    """

    kind: Kind
    text: str
    name: str = ""
    where: str = ""
    old: float | None = None
    new: float | None = None
    unit: Unit = Unit.COUNT
    moved: bool = False
    before: str = ""
    after: str = ""

    @property
    def ratio(self) -> float | None:
        """New over old, or None where there is no such number."""
        return self.new / self.old if self.old and self.new is not None else None

    @property
    def size(self) -> float:
        """How far the number moved, up or down: ``|log(new / old)|``, 0 where it did not.

        What the gate lets pass in any case is added to both sides, so that 8 B after none are not infinitely many. A
        number that came or went has no size.
        """
        if not self.moved or self.old is None or self.new is None:
            return 0.0
        floor = _tolerance(self.name).absolute or (1.0 if self.unit is Unit.COUNT else 0.0)
        before, after = self.old + floor, self.new + floor
        return abs(math.log(after / before)) if before > 0 and after > 0 else math.inf


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
    return tuple(each.text for each in differences(old, new)) or ("spread of the timings only",)


def differences(old: Entry, new: Entry) -> tuple[Difference, ...]:
    """What differs but for the spread of timings, in the order of the lines."""
    found: list[Difference] = []
    if old.inputs != new.inputs:
        found.append(Difference(kind="inputs", text=f"inputs {old.inputs or 'none'} -> {new.inputs or 'none'}"))
    found += _program("program", "", old.program, new.program)
    matched = match_helpers(new.helpers, old.helpers)
    for name in sorted(new.helpers):
        before = matched.get(name, name)
        if before != name:
            found.append(Difference(kind="stored", text=f"helper {before} -> {name}"))
        found += _program(f"helper {name}", name, old.helpers.get(before), new.helpers[name])
    for name in sorted(old.helpers.keys() - matched.values()):
        found += _program(f"helper {name}", name, old.helpers[name], None)
    found += _timings(old.timed, new.timed)
    found += _numbers(old.exact, new.exact)
    found += _relative(old.relative, new.relative)
    found += _host(old.host, new.host)
    found += _environment(old.environment, new.environment)
    return tuple(found)


def _program(name: str, where: str, old: StoredProgram | None, new: StoredProgram | None) -> Iterator[Difference]:
    if old == new:
        return
    if old is None:
        yield Difference(kind="program", text=f"{name} added")
    elif new is None:
        yield Difference(kind="program", text=f"{name} removed")
    else:
        if old.fingerprint_version != new.fingerprint_version:
            versions = f"version {old.fingerprint_version} -> {new.fingerprint_version}"
            yield Difference(kind="stored", text=f"{name}: fingerprint taken by other rules ({versions})")
        elif old.fingerprint != new.fingerprint:
            yield Difference(kind="program", text=f"{name} changed")
        if old.inputs != new.inputs:
            text = f"{name}: inputs {old.inputs or 'as called'} -> {new.inputs or 'as called'}"
            yield Difference(kind="inputs", text=text)
        if new.artifact is None and old.artifact is not None:
            text = f"{name}: no longer stored ({new.no_artifact or 'no artifact'})"
            yield Difference(kind="stored", text=text)
        elif old.artifact != new.artifact and old.fingerprint == new.fingerprint:
            yield Difference(kind="stored", text=f"{name}: stored again")
        yield from _numbers(old.exact, new.exact, where, before=f"{name}: ")


def _host(old: Mapping[str, Mapping[str, int]], new: Mapping[str, Mapping[str, int]]) -> Iterator[Difference]:
    for key in sorted({*old, *new}):
        if key not in old:
            yield Difference(kind="stored", text=f"host {key} added")
        elif key not in new:
            yield Difference(kind="stored", text=f"host {key} removed")
        else:
            yield from _numbers(old[key], new[key], key, after=f" ({key})")


def _environment(old: Environment, new: Environment) -> Iterator[Difference]:
    for key, before, after in old.differences(new):
        text = f"{key} {before or 'none'} -> {after or 'none'}"
        yield Difference(kind="environment", text=text, name=key, before=before, after=after)
    if old.machine != new.machine:
        text = f"machine {old.machine or 'unknown'} -> {new.machine or 'unknown'}"
        yield Difference(kind="machine", text=text, name="machine", before=old.machine, after=new.machine)


def _timings(old: Mapping[str, Sample], new: Mapping[str, Sample]) -> Iterator[Difference]:
    for name in _in_order({*old, *new}):
        before, after = old.get(name), new.get(name)
        a = None if before is None else before.median
        b = None if after is None else after.median
        if a != b:
            moved = before is None or after is None or _moved(name, before, after)
            # What compiling takes is told by its CPU time, which a busy machine hardly changes.
            moved = moved and not {f"{name}_cpu"} & old.keys() & new.keys()
            yield _number(name, Unit.SECONDS, a, b, moved)


def _moved(name: str, old: Sample, new: Sample) -> bool:
    # The quartiles of a wall time that was taken once are no quartiles.
    told = name.endswith("_cpu") or min(old.rounds, new.rounds) > 1
    apart = new.low > old.high or new.high < old.low
    small, large = sorted((old.median, new.median))
    return told and apart and not _tolerance(name).allows(small, large)


def _relative(old: Mapping[str, float], new: Mapping[str, float]) -> Iterator[Difference]:
    for name, after in sorted(new.items()):
        before = old.get(name)
        if before is not None and before != after:
            text = f"{name} {before:g} -> {after:g} reference traces"
            yield Difference(
                kind="number", text=text, name=name, where="reference traces", old=before, new=after, unit=Unit.FACTOR
            )


def _numbers(
    old: Mapping[str, float], new: Mapping[str, float], where: str = "", *, before: str = "", after: str = ""
) -> Iterator[Difference]:
    """One for each number that differs, in the order in which metrics are shown, then others by name."""
    for name in _in_order({*old, *new}):
        a, b = old.get(name), new.get(name)
        if a != b:
            moved = a is None or b is None or not same_count(name, a, b)
            yield _number(name, unit_of(name), a, b, moved, where, before, after)


def _number(
    name: str,
    unit: Unit,
    old: float | None,
    new: float | None,
    moved: bool,
    where: str = "",
    before: str = "",
    after: str = "",
) -> Difference:
    if old is None or new is None:
        text = f"{name} {_shown(old, unit)} -> {_shown(new, unit)}"
    else:
        text = f"{name} {format_change(old, new, unit)}"
    return Difference(
        kind="number", text=f"{before}{text}{after}", name=name, where=where, old=old, new=new, unit=unit, moved=moved
    )


def _in_order(names: set[str]) -> list[str]:
    order = {name: place for place, name in enumerate(METRICS)}
    return sorted(names, key=lambda name: (order.get(name, len(order)), name))


def _tolerance(name: str) -> Tolerance:
    """What the gate lets pass by default; for parts of compiling what it lets pass of the whole."""
    metric = METRICS.get(name.removesuffix("_cpu"))
    if metric is not None and metric.kind == "timed" and metric.default is None:
        metric = METRICS["compile"]
    return metric.default if metric is not None and metric.default is not None else Tolerance()


def _shown(value: float | None, unit: Unit) -> str:
    return "none" if value is None else format_quantity(value, unit)
