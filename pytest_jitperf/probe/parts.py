"""What a measurement gathers on its way, and the steps that every strategy shares."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import jax

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.measurement import Program, Sample

from . import counts, equal
from .collector import collector_off
from .compilelog import CompileLog, compile_log
from .costs import Costs, program_costs, unused_donation_bytes
from .fingerprint import FINGERPRINT_VERSION
from .idle import Span
from .inputs import content_digest
from .lock import DeviceLock
from .program import FlatProgram
from .race import sample
from .retraces import METRIC_OF, repeated
from .stages import ColdStages, Seconds, reference_trace_seconds
from .subject import Subject

_NOTHING_RUN = "compiled and not run: the arguments are shapes without values"
_RUN_SECONDS = 0.2
# Of a call that takes longer than this, one serves for all counts.
_DEAR_CALL_SECONDS = 2.0
_REPEAT_SECONDS = 1.5
_REPEAT_ROUNDS = 5

T = TypeVar("T")


@dataclass(slots=True)
class Parts:
    """The mutable counterpart of ``Measurement``, alive only inside the probe."""

    inputs: str = ""
    program: Program | None = None
    helpers: dict[str, Program] = field(default_factory=dict)
    exact: dict[str, float] = field(default_factory=dict)
    host: dict[str, int] = field(default_factory=dict)
    timed: dict[str, Sample] = field(default_factory=dict)
    relative: dict[str, float] = field(default_factory=dict)
    unavailable: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    flats: dict[str, FlatProgram] = field(default_factory=dict)
    retraces: dict[str, tuple[str, ...]] = field(default_factory=dict)
    compiled: str = ""
    lowered: Any = None
    executable: Any = None
    other_trace: Any = None
    waited: float = 0.0
    launched: Mapping[str, int] = field(default_factory=dict)

    def add_other_trace(self, counted: Any, rounds: Sequence[ColdStages]) -> None:
        """Adds a trace that is not the one of the program, if there was another.

        Args:
            counted: The trace whose Python calls were counted.
            rounds: Cold stages, those of the program first.
        """
        others = (each for each in (*[stages.traced for stages in rounds[1:]], counted) if each is not rounds[0].traced)
        self.other_trace = next(others, None)

    def add_calls(self, name: str, calls: int | None, missing: str = counts.PROFILED) -> None:
        """Adds a count of Python calls, or why there is none."""
        if calls is None:
            self.unavailable[name] = missing
        else:
            self.host[name] = calls

    def add_compilations(self, log: CompileLog) -> None:
        """Adds how many executables were built, or why that is not known."""
        for metric, names in (("compilations", log.user), ("primitive_compilations", log.primitives)):
            if log.missing:
                self.unavailable[metric] = log.missing
            else:
                self.host[metric] = len(names)

    def add_costs(self, stages: ColdStages) -> Costs:
        """Adds the exact metrics of the one program, and the program for those of the user's own."""
        self.lowered, self.executable = stages.lowered, stages.compiled
        costs = program_costs(stages.compiled, stages.lowered.as_text())
        self.exact.update(costs.exact)
        self.exact["jaxpr_eqns"] = equation_count(stages.traced.jaxpr)
        self.unavailable.update(costs.missing)
        return costs

    def add_donation(self, compiled: Any, donated: Sequence[Any]) -> None:
        """Adds how much of the donated leaves of the one program no result takes over."""
        unused = unused_donation_bytes(compiled, donated)
        if unused is None:
            self.unavailable["unused_donation_bytes"] = (
                "the backend does not say" if donated else 'nothing is donated; add  jit={"donate_argnums": ...}'
            )
        else:
            self.exact["unused_donation_bytes"] = unused

    def add_stages(self, rounds: list[ColdStages], reference: tuple[float, float]) -> None:
        """Adds the timings of cold stages and their size relative to the reference trace."""
        for phase in ("trace", "lower", "xla"):
            spent: list[Seconds] = [getattr(each, phase) for each in rounds]
            self.timed[phase] = summary([each.wall for each in spent])
            self.timed[f"{phase}_cpu"] = summary([each.cpu for each in spent])
        self.timed["compile"] = summary([each.trace.wall + each.lower.wall + each.xla.wall for each in rounds])
        self.timed["compile_cpu"] = summary([each.trace.cpu + each.lower.cpu + each.xla.cpu for each in rounds])
        self.add_waited([each.spans()["compile"] for each in rounds])
        for phase, unit in zip(("trace", "lower"), reference, strict=True):
            if unit > 0:
                self.relative[phase] = self.timed[f"{phase}_cpu"].median / unit

    def add_waited(self, rounds: Sequence[Span]) -> None:
        """Adds how far load may have stretched a cold compile."""
        self.waited = statistics.median(each.wall - each.least for each in rounds)

    def add_warm(self, subject: Subject, lock: DeviceLock, first: list[tuple[str, Any]] | None = None) -> None:
        """Adds what only warm calls show: run time, Python calls and launches per call.

        Args:
            subject: Within ``subject.active()``.
            lock: Held for timed blocks.
            first: Leaves of the first call's result, to be compared with a late one's; None to leave that out.
        """
        with lock.held(), collector_off():
            self.timed["run"] = sample(subject.side(), block=subject.wait, max_seconds=_RUN_SECONDS)
        prepared = subject.prepare()
        if subject.make_args is not None and first is not None:
            first = first if content_digest(prepared) == content_digest(subject.inputs) else None
        counted: list[tuple[int | None, Any]] = []

        def counting() -> Any:
            counted.append(counts.python_calls(lambda: subject.call(prepared)))
            return counted[-1][1]

        dear = self.timed["run"].median > _DEAR_CALL_SECONDS
        with compile_log() as log:
            if dear:
                self._add_launches(subject, counting)
            if not counted:
                subject.wait(counting())
        calls, result = counted.pop()
        if first is not None and equal.difference(first, equal.leaves_of(result), None, None) is not None:
            self.notes.append("the result changes from call to call: the function is not repeatable")
        del prepared, result
        if log.user or log.primitives:
            # The third call or so: what compiles now compiles in every call.
            self._add_repeated(subject)
        self.add_calls("host_calls", calls)
        if not dear:
            prepared = subject.prepare()
            self._add_launches(subject, lambda: subject.call(prepared))

    def _add_launches(self, subject: Subject, call: Callable[[], Any]) -> None:
        try:
            found = counts.launches(call, subject.wait)
            self.host["launches"], self.launched = found.count, found.names
        except MeasurementError as error:
            self.unavailable["launches"] = str(error)
        if self.host.get("launches") == 0 and subject.device.platform != "cpu":
            del self.host["launches"]
            self.unavailable["launches"] = f"the profiler names no launches on {subject.device.platform}"

    def add_nothing_run(self) -> None:
        """Says that what only calls show is not known."""
        self.notes.append(_NOTHING_RUN)
        self.unavailable.update(dict.fromkeys(("run", "host_calls", "launches"), _NOTHING_RUN))

    def _add_repeated(self, subject: Subject) -> None:
        """Counts what every call compiles, and says why: the difference between one call and the next."""
        logs = CompileLog(watching=True), CompileLog(watching=True)
        for log in logs:
            prepared = subject.prepare()
            with compile_log(log):
                subject.wait(subject.call(prepared))
        for metric, lines in repeated(*(log.compilations for log in logs)).items():
            if metric in self.host:
                self.host[metric] += sum(METRIC_OF[each.own] == metric for each in logs[1].compilations)
            self.retraces[metric] = (*self.retraces.get(metric, ()), *lines)
            more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
            self.notes += [f"compiles again in {lines[0]}{more}"] if lines else []

    def add_flat(self, key: str, flat: FlatProgram, exact: Mapping[str, float]) -> Program:
        """Keeps a program that can be built again."""
        self.flats[key] = flat
        return Program(
            fingerprint=flat.fingerprint,
            fingerprint_version=FINGERPRINT_VERSION,
            inputs=flat.inputs,
            unused=flat.unused,
            artifact=flat.raw,
            exact=exact,
            donated=flat.donated,
            options=flat.options,
        )


def described(program: Program, costs: Costs) -> Program:
    """The program with what it consists of, by which a change is explained."""
    return replace(program, operations=costs.operations, constants=costs.constants)


def relative_unit(lock: DeviceLock) -> tuple[float, float]:
    """The reference trace here and now, the smaller of two."""
    with lock.held(), collector_off():
        first, second = reference_trace_seconds(), reference_trace_seconds()
    return min(first[0], second[0]), min(first[1], second[1])


def summary(values: list[float]) -> Sample:
    """Median and quartiles of a few rounds, seconds."""
    ordered = sorted(values)
    count = len(ordered)

    def at(share: float) -> float:
        position = share * (count - 1)
        below = int(position)
        above = min(below + 1, count - 1)
        return ordered[below] + (position - below) * (ordered[above] - ordered[below])

    return Sample(median=at(0.5), low=at(0.25), high=at(0.75), rounds=count)


def equation_count(jaxpr: Any) -> int:
    """Equations of a jaxpr and of every jaxpr inside its equations."""
    inner = getattr(jaxpr, "jaxpr", jaxpr)
    total = 0
    for equation in inner.eqns:
        total += 1
        for value in equation.params.values():
            for part in value if isinstance(value, (tuple, list)) else (value,):
                if hasattr(getattr(part, "jaxpr", part), "eqns"):
                    total += equation_count(part)
    return total


def donated_positions(lowered: Any) -> tuple[int, ...]:
    """Which of the program's leaves it may overwrite."""
    infos = jax.tree.leaves(lowered.args_info, is_leaf=lambda each: isinstance(each, jax.stages.ArgInfo))
    return tuple(n for n, info in enumerate(infos) if info.donated)


def repeat_while_cheap(once: Callable[[], T], first: T, cost: float) -> list[T]:
    """Repeats something cold while it is cheap.

    Args:
        once: Does it once more.
        first: What the first time gave.
        cost: Seconds that the first time took.
    """
    rounds = [first]
    while len(rounds) < _REPEAT_ROUNDS and cost * (len(rounds) + 1) <= _REPEAT_SECONDS:
        rounds.append(once())
    return rounds
