"""One measurement from the user's call to its verdict: probe, evidence, judge.

This is where the three meet; each of them knows nothing of the others. JAX is imported with the probe, and the probe
only when a measurement starts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_jitperf.baseline import programs
from pytest_jitperf.baseline.model import Entry, StoredProgram, entry_from_measurement
from pytest_jitperf.baseline.store import Baseline, Key
from pytest_jitperf.errors import BaselineError, MeasurementError
from pytest_jitperf.judge.outcome import Finding, Outcome, Verdict
from pytest_jitperf.judge.ratios import largest_run_ratio
from pytest_jitperf.judge.times import TRACE_TOLERANCE, trace_growth
from pytest_jitperf.judge.verdict import Evidence, input_changes, judge
from pytest_jitperf.measurement import Comparison, Measurement, Program, Ratio
from pytest_jitperf.plan import Plan

if TYPE_CHECKING:
    from pytest_jitperf.probe.measure import Probed, Request

__all__ = ["Asked", "Baselines", "Planner", "Trial", "Tried"]

Planner = Callable[[str, bool | None], Plan]
"""From a platform, and whether a call starts one compiled program (None: not known yet), to the plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One call of the fixture.

    Attributes:
        name: Name of the measurement within the test.
        function: The user's function.
        args: Positional arguments.
        kwargs: Keyword arguments.
        make_args: Builds arguments per call, or None.
        inputs: A sequence of inputs whose compilations are counted, or None.
        device: The one device to measure on, as asked for.
    """

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    make_args: Callable[[], Any] | None = None
    inputs: Sequence[Any] | None = None
    device: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A measurement with its verdict.

    Attributes:
        key: Key of the baseline entry.
        measurement: What was measured.
        entry: What the baseline holds, or None.
        verdict: What was made of it.
        result: What the user's function returned.
        compiles: Extra compilations spent on the comparison.
        cut: What was left out for lack of time, one sentence each.
        moved: Whether the program is no longer the baseline's although the test passes.
        recorded: What an update would store, and the programs it names by file name; None where nothing is recorded.
    """

    key: Key
    measurement: Measurement
    entry: Entry | None
    verdict: Verdict
    result: Any
    compiles: int = 0
    cut: tuple[str, ...] = ()
    moved: bool = False
    recorded: tuple[Entry, Mapping[str, bytes]] | None = None


class Baselines:
    """What a trial asks the baseline: entries and programs of one test file."""

    def __init__(self, path: Path, read: Callable[[Path], Baseline]) -> None:
        self.path = path
        self._read = read

    def entry(self, key: Key) -> Entry | None:
        """The entry, or None where there is none.

        Raises:
            BaselineError: The file or the entry cannot be used.
        """
        found = self._read(self.path).entry(*key.parts)
        if found is None or isinstance(found, Entry):
            return found
        raise BaselineError(found.reason)

    def raw(self, stored: StoredProgram) -> tuple[bytes | None, str]:
        """The bytes of a stored program, or why there are none."""
        if stored.artifact is None:
            return None, stored.no_artifact or "no program was stored"
        loaded = programs.load(self._read(self.path).directory, stored.artifact)
        return (loaded, "") if isinstance(loaded, bytes) else (None, loaded.reason)


@dataclass(slots=True, kw_only=True)
class Trial:
    """Measures and judges for one item.

    Attributes:
        planner: Makes the plan for a platform; for a strategy of the user's also from whether it is one program.
        test: Key of the test in the baseline.
        baselines: Entries and programs, or None where a run does not compare.
        references: Reference results of this process.
        progress: Told what is going on.
    """

    planner: Planner
    test: str
    baselines: Baselines
    references: Any
    progress: Callable[[str], None]

    def run(self, asked: Asked) -> Tried:
        """Measures one call and judges it.

        Raises:
            JitperfError: It cannot be measured, or its baseline cannot be read.
            Exception: Whatever the user's function raised.
        """
        from pytest_jitperf.probe.measure import measure

        request = self._request(asked)
        probed = measure(request, self.references, self.progress)
        measured = _bounded(probed.measurement)
        plan = self.planner(measured.environment.platform, measured.program is not None)
        key = Key(
            test=self.test,
            measurement=asked.name,
            strategy=plan.strategy_name,
            device_kind=measured.device_kind,
        )
        entry = None if plan.mode == "update" else self.baselines.entry(key)
        evidence = self._evidence(plan, request, probed, measured, entry)
        verdict = judge(plan, measured, entry, evidence)
        compared = [*([evidence.program] if evidence.program else []), *evidence.helpers.values()]
        return Tried(
            key=key,
            measurement=measured,
            entry=entry,
            verdict=verdict,
            result=probed.result,
            compiles=sum(each.compiles for each in compared),
            cut=tuple(each.cut for each in compared if each.cut),
            moved=any(not each.same for each in compared),
            recorded=entry_from_measurement(measured) if plan.mode == "update" else None,
        )

    def run_once(self, asked: Asked) -> Any:
        """Calls the function once under the strategy, unmeasured and unjudged.

        Raises:
            JitperfError: The strategy cannot be applied.
            Exception: Whatever the user's function raised.
        """
        from pytest_jitperf.probe.measure import call_once

        return call_once(self._request(asked))

    def end(self) -> None:
        """Takes away what is shown of the progress."""
        end = getattr(self.progress, "end", None)
        if end is not None:
            end()

    def _request(self, asked: Asked) -> Request:
        from pytest_jitperf.probe.measure import Equality, Request

        plan = self.planner("", None)
        sequence = list(asked.inputs) if asked.inputs is not None else None
        if sequence is not None and not sequence:
            raise MeasurementError("jitperf.measure(inputs=[]) has nothing to run; give at least one input")
        args, kwargs = asked.args, asked.kwargs
        if sequence is not None:
            from pytest_jitperf.probe.subject import as_call

            first = as_call(sequence[0])
            args, kwargs = first.args, first.kwargs
        return Request(
            test=self.test,
            name=asked.name,
            function=asked.function,
            args=args,
            kwargs=kwargs,
            make_args=asked.make_args,
            sequence=sequence,
            strategy=plan.strategy,
            references=plan.references,
            inner=plan.inner,
            jit=plan.jit,
            device=asked.device,
            equality=Equality(rtol=plan.rtol, atol=plan.atol) if plan.equal_results else None,
            record=plan.mode == "update",
        )

    def _evidence(
        self, plan: Plan, request: Request, probed: Probed, measured: Measurement, entry: Entry | None
    ) -> Evidence:
        faster = self._faster(plan, request, probed)
        if entry is None or input_changes(measured, entry):
            return Evidence(faster=faster, wrong=probed.wrong, retraces=probed.retraces)
        program = None
        if measured.program is not None and not probed.wrong:
            program = self._compare(plan, probed, "", measured.program, entry.program or StoredProgram(), entry)
        helpers = {
            key: self._compare(plan, probed, key, program_now, entry.helpers[key], entry)
            for key, program_now in measured.helpers.items()
            if key in entry.helpers
        }
        again = None
        if program is not None and program.same:
            growth = trace_growth(measured, entry, measured.relative)
            if growth is not None and not TRACE_TOLERANCE.allows(*growth):
                from pytest_jitperf.probe.onejit import relative_again

                again = relative_again(probed.subject)
        return Evidence(
            program=program,
            helpers=helpers,
            faster=faster,
            wrong=probed.wrong,
            retraces=probed.retraces,
            trace_again=again,
        )

    def _compare(
        self, plan: Plan, probed: Probed, key: str, now: Program, stored: StoredProgram, entry: Entry
    ) -> Comparison:
        from pytest_jitperf.probe.compare import Effort, Stored, compare, seed_of
        from pytest_jitperf.probe.lock import DeviceLock

        raw, missing = self.baselines.raw(stored)
        run = plan.allowed.get("run")
        compiling = plan.allowed.get("compile")
        run_gated = run is not None and (run.gated or key != "")
        now_run = probed.measurement.value("run") if key == "" else None
        device = probed.subject.device
        return compare(
            probed.programs.get(key),
            now.no_artifact,
            probed.subject,
            Stored(
                fingerprint=stored.fingerprint,
                raw=raw,
                missing=missing,
                inputs=stored.inputs or entry.inputs,
                donated=tuple(stored.donated),
                options=stored.options,
                jax=entry.environment.jax,
            ),
            Effort(
                run_limit=largest_run_ratio(run.tolerance, now_run) if run is not None and run_gated else None,
                compile_limit=1 + compiling.tolerance.relative
                if compiling is not None and compiling.gated and key == ""
                else None,
                race_seconds=plan.max_race_seconds,
                compile_seconds=plan.max_compile_seconds,
                random=seed_of(f"{self.test}/{plan.strategy_name}/{key}"),
            ),
            DeviceLock(f"{device.platform}:{device.id}", self.progress),
            self.progress,
        )

    def _faster(self, plan: Plan, request: Request, probed: Probed) -> dict[str, Ratio | str]:
        if not plan.faster_than or probed.wrong:
            return {}
        from pytest_jitperf.probe.faster import race_strategies

        found: dict[str, Ratio | str] = {}
        for other, factor in plan.faster_than.items():
            self.progress(f"racing {other}")
            try:
                found[other] = race_strategies(
                    request, plan.find(other), factor=factor, max_seconds=plan.max_race_seconds
                )
            except MeasurementError as error:
                found[other] = str(error)
        return found


def failed_trial(sentence: str) -> Verdict:
    """The verdict of something that could not be measured."""
    return Verdict(findings=(Finding(outcome=Outcome.NOT_MEASURED, sentence=sentence),))


def _bounded(measured: Measurement) -> Measurement:
    """Leaves programs that are too large out of what may be stored."""
    from dataclasses import replace

    def bound(program: Program) -> Program:
        if program.artifact is None:
            return program
        size = len(programs.pack(program.artifact))
        if size <= programs.MAX_ARTIFACT_BYTES:
            return program
        constants = measured.exact.get("constant_bytes", 0)
        cause = f", {constants / 2**20:.1f} MiB of it captured constants" if constants > 2**19 else ""
        return replace(program, artifact=None, no_artifact=f"it is too large to store ({size / 2**20:.1f} MiB{cause})")

    return replace(
        measured,
        program=bound(measured.program) if measured.program else None,
        helpers={key: bound(each) for key, each in measured.helpers.items()},
    )
