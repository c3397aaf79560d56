"""One measurement from the user's call to its verdict: probe, evidence, judge.

This is where the three meet; each of them knows nothing of the others. JAX is imported with the probe, and the probe
only when a measurement starts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pytest_jitperf.baseline.lookup import Baselines
from pytest_jitperf.baseline.model import Entry, entry_from_measurement
from pytest_jitperf.baseline.store import Key
from pytest_jitperf.completing import bounded, with_counts, with_facts
from pytest_jitperf.custom import CustomMetric
from pytest_jitperf.errors import BaselineError, MeasurementError
from pytest_jitperf.gathering import Gathering
from pytest_jitperf.judge.growth import fit_growth, growth_finding
from pytest_jitperf.judge.outcome import Verdict
from pytest_jitperf.judge.verdict import judge
from pytest_jitperf.measurement import Measurement
from pytest_jitperf.plan import Plan
from pytest_jitperf.rehearsing import Rehearsing
from pytest_jitperf.sizes import Place
from pytest_jitperf.strategies import name_of
from pytest_jitperf.tried import Asked, Tried
from pytest_jitperf.wording import listed

if TYPE_CHECKING:
    from pytest_jitperf.probe.measure import Probed, Request

__all__ = ["Planner", "Trial"]

Planner = Callable[[str, bool | None], Plan]
"""From a platform, and whether a call starts one compiled program (None: not known yet), to the plan."""


def _as_it_is(measured: Measurement, verdict: Verdict) -> Verdict:
    return verdict


@dataclass(slots=True, kw_only=True)
class Trial:
    """Measures and judges for one item.

    Attributes:
        planner: Makes the plan for a platform; for a strategy of the user's also from whether it is one program.
        test: Key of the test in the baseline.
        baselines: Entries and programs, or None where a run does not compare.
        references: Reference results of this process.
        progress: Told what is going on.
        facts: What a plugin adds to the environment.
        review: Sees each verdict before it counts.
        rehearsing: Who waits for this process where it only rehearses, or None.
        left_out: Other strategies that exceeded a limit, and a sentence that says so.
        custom: Metrics of the user's own.
    """

    planner: Planner
    test: str
    baselines: Baselines
    references: Any
    progress: Callable[[str], None]
    facts: Mapping[str, str] = field(default_factory=dict)
    review: Callable[[Measurement, Verdict], Verdict] = _as_it_is
    rehearsing: Rehearsing | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    custom: tuple[CustomMetric, ...] = ()

    def run(self, asked: Asked) -> Tried:
        """Measures one call and judges it.

        Raises:
            JitperfError: It cannot be measured, or its baseline cannot be read.
            Exception: Whatever the user's function raised.
        """
        from pytest_jitperf.probe.jaxconfig import config_kept

        with config_kept() as changed:
            return self._run(asked, changed)

    def _run(self, asked: Asked, changed: Callable[[], Sequence[str]]) -> Tried:
        from pytest_jitperf.probe.measure import measure

        request = self._request(asked)
        probed = measure(request, self.references, self.progress)
        measured = with_facts(bounded(probed.measurement), self.facts)
        measured = with_counts(measured, self.custom, asked, probed)
        measured = self._noted(measured, changed())
        plan = _as_far_as_measured(self.planner(measured.environment.platform, measured.program is not None), measured)
        key = Key(
            test=self.test,
            measurement=asked.measurement,
            strategy=plan.strategy_name,
            device_kind=measured.device_kind,
        )
        entry = None if plan.mode == "update" else self.baselines.entry(key)
        gathering = Gathering(
            plan=plan, test=self.test, baselines=self.baselines, progress=self.progress, left_out=self.left_out
        )
        evidence = gathering.evidence(request, probed, measured, entry)
        compared = [*([evidence.program] if evidence.program else []), *evidence.helpers.values()]
        moved = any(not each.same and not each.cannot for each in compared)
        if moved or plan.mode == "update":
            from pytest_jitperf.probe.unsteady import UNSTEADY, is_unsteady

            if is_unsteady(probed):
                # To record it anew would not help.
                measured, moved = replace(measured, notes=(*measured.notes, UNSTEADY)), False
        verdict = self.review(measured, judge(plan, measured, entry, evidence))
        return Tried(
            key=key,
            measurement=measured,
            entry=entry,
            verdict=verdict,
            result=probed.result,
            compiles=sum(each.compiles for each in compared) + evidence.recompiles,
            compare_seconds=sum(each.seconds - each.compiling_seconds for each in compared),
            cut=tuple(each.cut for each in compared if each.cut),
            compiled=_compiled(probed),
            place=_place(asked),
            moved=moved,
            lost=self.baselines.lost(entry) if entry is not None else (),
            recorded=_recorded(measured, plan),
        )

    def swept(self, sizes: Sequence[Tried]) -> Tried:
        """The largest size of a sweep with the growth over all of them, judged.

        Args:
            sizes: The measurements of one sweep on one device, the largest last.
        """
        last = sizes[-1]
        pairs = [(each.place.extent, each.measurement.timed.get("run")) for each in sizes if each.place is not None]
        timed = [(extent, sample) for extent, sample in pairs if sample is not None]
        growth = fit_growth([extent for extent, _ in timed], [sample for _, sample in timed])
        limit = self.planner("", None).growth
        found = growth_finding(growth, limit, len({extent for extent, _ in timed})) if limit is not None else []
        verdict = replace(last.verdict, findings=(*last.verdict.findings, *found))
        if limit is not None and not verdict.gated_by:
            verdict = replace(verdict, gated_by="limits")
        return replace(last, growth=growth, verdict=verdict)

    def run_once(self, asked: Asked) -> Any:
        """Calls the function once under the strategy, unmeasured and unjudged.

        Raises:
            JitperfError: The strategy cannot be applied.
            Exception: Whatever the user's function raised.
        """
        from pytest_jitperf.probe.jaxconfig import config_kept
        from pytest_jitperf.probe.measure import call_once

        with config_kept():
            return call_once(self._request(asked))

    def rehearse(self, asked: Asked) -> Any:
        """Calls what a measurement would call once each, watched by whoever waits for this process.

        Raises:
            JitperfError: The strategy cannot be applied.
            Exception: Whatever the user's function raised.
        """
        from pytest_jitperf.probe.rehearse import rehearse

        assert self.rehearsing is not None, "asked before"
        plan = self.planner("", None)
        others = [plan.find(name) for name in plan.faster_than if name not in self._left_out()]
        return rehearse(self._request(asked), others, plan.phase_limits, self.rehearsing)

    def _noted(self, measured: Measurement, changed: Sequence[str]) -> Measurement:
        """The measurement with the references that it could not be held against, and settings that were put back."""
        plan = self.planner("", None)
        names = [name_of(each) for each in plan.references]
        before = names[: names.index(plan.strategy_name)] if plan.strategy_name in names else names
        missing = [self.left_out[name] for name in before if name in self.left_out] if plan.equal_results else []
        notes = [f"not compared with a reference: {sentence}" for sentence in missing]
        if changed:
            notes.append(f"the function sets {listed(changed)}, which is put back as it was after the measurement")
        return replace(measured, notes=(*measured.notes, *notes)) if notes else measured

    def _left_out(self) -> Collection[str]:
        return self.rehearsing.order.left_out if self.rehearsing is not None else self.left_out

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
            name=asked.measurement,
            function=asked.function,
            args=args,
            kwargs=kwargs,
            make_args=asked.make_args,
            sequence=sequence,
            strategy=plan.strategy,
            references=tuple(each for each in plan.references if name_of(each) not in self._left_out()),
            inner=plan.inner,
            jit=plan.jit,
            device=asked.device,
            equality=Equality(rtol=plan.rtol, atol=plan.atol) if plan.equal_results else None,
            record=plan.mode == "update",
            guide=plan.guide,
        )


def _recorded(measured: Measurement, plan: Plan) -> tuple[Entry, dict[str, bytes]] | None:
    """What an update would store; a run that only compares does not fail over a number that could not be stored."""
    if not plan.record:
        return None
    try:
        return entry_from_measurement(measured)
    except BaselineError:
        if plan.mode == "update":
            raise
        return None


def _as_far_as_measured(plan: Plan, measured: Measurement) -> Plan:
    """The plan without the race of what was compiled and not run."""
    run, missing = plan.allowed.get("run"), measured.unavailable.get("run")
    if run is None or missing is None:
        return plan
    return replace(plan, allowed={**plan.allowed, "run": replace(run, gated=False, why_not=missing)})


def _place(asked: Asked) -> Place | None:
    if asked.size is None:
        return None
    number = asked.size.number
    if number is None:
        from pytest_jitperf.probe.inputs import elements

        number = float(elements((asked.args, asked.kwargs)))
    return Place(sweep=asked.name, label=asked.size.label, extent=number, counted=asked.size.number is None)


def _compiled(probed: Probed) -> tuple[str, ...]:
    retraces = probed.retraces.get("compilations", ())
    if not probed.compiled:
        return retraces
    return (probed.compiled, *retraces, *probed.retraces.get("primitive_compilations", ()))
