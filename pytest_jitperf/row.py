"""What a judged measurement says beyond its process: a line of the table, and what an update would write.

Rows travel from xdist workers to the controller on a report, so they are made of plain JSON types only.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from pytest_jitperf.baseline.ages import spoken_of
from pytest_jitperf.baseline.model import Entry, from_json, to_json
from pytest_jitperf.baseline.store import Key
from pytest_jitperf.judge.outcome import Effect, Finding, Outcome
from pytest_jitperf.measurement import Environment, HelperUse, Sample
from pytest_jitperf.tried import Tried

__all__ = ["Row", "row_of", "skipped_row"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One judged measurement.

    Attributes:
        nodeid: Of its item.
        baseline: Path of the baseline file.
        file: Test file as one would type it where pytest was started.
        line: Line of the marker, from 1; 0 where it is not known.
        test: Key of the test.
        measurement: Name of the measurement.
        strategy: Name of the strategy.
        device: As asked for.
        device_kind: As JAX names it.
        jax: Version of jax.
        environment: Where it was measured, or None where nothing was.
        inputs: Leaf paths and abstract values of the arguments, static values as digests.
        outcome: The word.
        effect: What the findings together do to the test in this run, ``--jitperf-strict`` and ``--jitperf-missing``
            heeded.
        status: How its item ended: the value of a ``Status``; empty before all of its reports are there.
        acceptable: Whether an update may store it: its item passed, or failed by nothing but the comparison with what
            would be replaced.
        note: A few words beside it.
        findings: Everything that was judged, in the order in which it was.
        failure: The text of its failure, all of the explanation in it; empty where it does not fail.
        sweep: Of a sweep the name of the measurement that was asked for; empty elsewhere.
        size: Label of its size.
        extent: How large this is, or None.
        counted: Whether that is the number of elements of the arguments.
        compile: Cold cost of the first call, seconds, or None.
        run: Seconds per call, or None.
        waited: Of the compile time the seconds for which other processes may have had the cores.
        launches: Executables started per call, or None.
        optimised: Digest of the optimised program, empty where there is not one program.
        helpers: The programs of jitted helpers by name and signature, for strategies driven from Python.
        uses: What the jits of helpers are to the trace of an outer one, where the guide is wanted.
        expected_calls: How often the function is called in a life of the program, or None where nobody said.
        failed: Whether it fails however strict the run is.
        gated_by: What decided, empty where nothing was gated.
        metrics: Every number measured, for machine-readable reports.
        timed: The timings among them with their spread.
        why: What changed.
        notes: Sentences of the measurement and of the verdict that decide nothing.
        entry: What an update would store, in JSON types, or None.
        programs: Packed programs in base64, by file name.
        compiled: What was compiled, for a verbose table.
        moved: Whether the program is no longer the baseline's although the test passes.
        aged: The jax that exported the stored programs, where today's will soon not read them any more; else empty.
        lost: Why stored programs are of no use, should the code change.
        compiles: Extra compilations spent on comparing.
        compare_seconds: Wall time that comparing took beyond compiling.
        cut: What was left out for lack of time.
    """

    nodeid: str
    baseline: str
    file: str
    line: int = 0
    test: str
    measurement: str
    strategy: str
    device: str
    device_kind: str = ""
    jax: str = ""
    environment: Environment | None = None
    inputs: str = ""
    outcome: str
    effect: str = Effect.PASS.value
    status: str = ""
    acceptable: bool = False
    note: str = ""
    findings: tuple[Finding, ...] = ()
    failure: str = ""
    sweep: str = ""
    size: str = ""
    extent: float | None = None
    counted: bool = False
    compile: float | None = None
    run: float | None = None
    waited: float = 0.0
    launches: int | None = None
    optimised: str = ""
    helpers: tuple[str, ...] = ()
    uses: tuple[HelperUse, ...] = ()
    expected_calls: int | None = None
    failed: bool = False
    gated_by: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    timed: Mapping[str, Sample] = field(default_factory=dict)
    why: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    entry: Mapping[str, Any] | None = None
    programs: Mapping[str, str] = field(default_factory=dict)
    compiled: tuple[str, ...] = ()
    moved: bool = False
    aged: str = ""
    lost: tuple[str, ...] = ()
    compiles: int = 0
    compare_seconds: float = 0.0
    cut: tuple[str, ...] = ()

    @property
    def key(self) -> Key:
        """Key of the baseline entry."""
        return Key(test=self.test, measurement=self.measurement, strategy=self.strategy, device_kind=self.device_kind)

    def to_store(self) -> tuple[Entry | None, dict[str, bytes]]:
        """What an update stores: the entry, and the programs it names by file name."""
        if self.entry is None:
            return None, {}
        return from_json(dict(self.entry)), {name: base64.b64decode(text) for name, text in self.programs.items()}

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types."""
        made: dict[str, Any] = msgspec.to_builtins(self)
        return made

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Row:
        """The inverse of ``to_json``."""
        return msgspec.convert(value, Row)


def row_of(
    tried: Tried,
    *,
    nodeid: str,
    baseline: str,
    file: str,
    line: int = 0,
    effect: Effect = Effect.PASS,
    failure: str = "",
    expected_calls: int | None = None,
) -> Row:
    """Makes the row of a judged measurement.

    Args:
        tried: The measurement with its verdict.
        nodeid: Of its item.
        baseline: Path of the baseline file.
        file: Test file as one would type it.
        line: Line of the marker, from 1.
        effect: What the verdict does to the test in this run.
        failure: The text of its failure, empty where it does not fail.
        expected_calls: How often the function is called in a life of the program, where the marker says so.
    """
    measured, verdict, key = tried.measurement, tried.verdict, tried.key
    entry, files = tried.recorded or (None, {})
    place = tried.place
    worst = verdict.worst
    metrics = {
        **measured.exact,
        **measured.host,
        **{name: sample.median for name, sample in measured.timed.items()},
    }
    return Row(
        nodeid=nodeid,
        baseline=baseline,
        file=file,
        line=line,
        test=key.test,
        measurement=key.measurement,
        strategy=key.strategy,
        device=measured.device,
        device_kind=measured.device_kind,
        jax=measured.environment.jax,
        environment=measured.environment,
        inputs=measured.inputs,
        outcome=worst.outcome.value,
        effect=effect.value,
        note="; ".join(dict.fromkeys([worst.short, *(each.short for each in verdict.unsettled)])).strip("; "),
        findings=verdict.findings,
        failure=failure,
        sweep=place.sweep if place is not None else "",
        size=place.label if place is not None else "",
        extent=place.extent if place is not None else None,
        counted=place is not None and place.counted,
        compile=measured.value("compile"),
        run=measured.value("run"),
        waited=measured.waited,
        launches=measured.host.get("launches"),
        optimised=measured.program.optimised if measured.program is not None else "",
        helpers=tuple(measured.helpers),
        uses=measured.uses,
        expected_calls=expected_calls,
        failed=verdict.failed,
        gated_by=verdict.gated_by,
        metrics={name: float(value) for name, value in metrics.items()},
        timed=measured.timed,
        why=verdict.why,
        notes=(*measured.notes, *verdict.notes),
        entry=to_json(entry) if entry is not None else None,
        programs={name: base64.b64encode(content).decode("ascii") for name, content in files.items()},
        compiled=tried.compiled,
        moved=tried.moved,
        aged=spoken_of(tried.entry, measured.environment.jax) if tried.entry is not None else "",
        lost=tried.lost,
        compiles=tried.compiles,
        compare_seconds=round(tried.compare_seconds, 3),
        cut=tried.cut,
    )


def skipped_row(
    *, nodeid: str, file: str, line: int = 0, test: str, strategy: str, device: str, reason: str, effect: Effect
) -> Row:
    """The row of an item that did not measure anything."""
    return Row(
        nodeid=nodeid,
        baseline="",
        file=file,
        line=line,
        test=test,
        measurement="main",
        strategy=strategy,
        device=device,
        outcome=Outcome.NO_DEVICE.value,
        effect=effect.value,
        note=reason,
    )
