"""The evidence for a verdict: the old program against the new one, one strategy against another, a second look."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_jitperf.baseline.helpers import match_helpers
from pytest_jitperf.baseline.inputs import program_inputs
from pytest_jitperf.baseline.lookup import Baselines
from pytest_jitperf.baseline.model import Entry, StoredProgram
from pytest_jitperf.baseline.store import Key
from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.judge.budgets import open_limits
from pytest_jitperf.judge.evidence import Evidence
from pytest_jitperf.judge.inputs import input_changes, perhaps_unread
from pytest_jitperf.judge.ratios import largest_run_ratio
from pytest_jitperf.judge.times import TRACE_TOLERANCE, compile_terms, trace_growth
from pytest_jitperf.measurement import Comparison, Measurement, Program, Ratio, Settled
from pytest_jitperf.plan import Plan

if TYPE_CHECKING:
    from pytest_jitperf.probe.compare import Effort
    from pytest_jitperf.probe.measure import Probed, Request

__all__ = ["Gathering"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathering:
    """Gathers what a measurement alone does not tell.

    Attributes:
        plan: What is asked of the item, nothing undecided.
        test: Key of the test in the baseline.
        baselines: Stored programs.
        progress: Told what is going on.
        left_out: Strategies that exceeded a limit and are not raced, with a sentence that says so.
    """

    plan: Plan
    test: str
    baselines: Baselines
    progress: Callable[[str], None]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def evidence(self, request: Request, probed: Probed, measured: Measurement, entry: Entry | None) -> Evidence:
        """Compares and races what can be.

        Args:
            request: What was measured.
            probed: What is still alive of it.
            measured: The values.
            entry: What the baseline holds, or None.
        """
        faster = self._faster(request, probed)
        retraces, operations = (probed.retraces.get(each, ()) for each in ("compilations", "primitive_compilations"))
        if entry is None or (input_changes(measured, entry) and not perhaps_unread(measured, entry)):
            budgets = self._budgets(probed, measured, 0.0)
            return Evidence(
                faster=faster,
                wrong=probed.wrong,
                retraces=retraces,
                operations=operations,
                budgets=budgets,
                elsewhere=self._elsewhere(measured) if entry is None else (),
            )
        program = None
        if measured.program is not None and not probed.wrong:
            program = self._compare(probed, "", measured.program, entry.program or StoredProgram(), entry)
        helpers = {
            key: self._compare(probed, key, measured.helpers[key], entry.helpers[stored], entry)
            for key, stored in match_helpers(measured.helpers, entry.helpers).items()
        }
        again = None
        if program is not None and program.same:
            growth = trace_growth(measured, entry, measured.relative)
            if growth is not None and not TRACE_TOLERANCE.allows(*growth):
                from pytest_jitperf.probe.onejit import relative_again

                again = relative_again(probed.subject)
        compared = [*([program] if program is not None else []), *helpers.values()]
        return Evidence(
            program=program,
            helpers=helpers,
            faster=faster,
            wrong=probed.wrong,
            trace_again=again,
            budgets=self._budgets(probed, measured, sum(each.compiling_seconds for each in compared)),
            retraces=retraces,
            operations=operations,
        )

    def _elsewhere(self, measured: Measurement) -> tuple[str, ...]:
        """Other kinds of devices that have an entry where this one has none."""
        if self.plan.mode == "update":
            return ()
        key = Key(
            test=self.test,
            measurement=measured.name,
            strategy=self.plan.strategy_name,
            device_kind=measured.device_kind,
        )
        return self.baselines.other_kinds(key)

    def _budgets(self, probed: Probed, measured: Measurement, compiling_seconds: float) -> dict[str, Settled]:
        """Settles the budgets that one sample leaves open, after ``compiling_seconds`` of extra compiling."""
        limits = open_limits(self.plan, measured)
        if not limits:
            return {}
        from pytest_jitperf.probe.compare import seed_of
        from pytest_jitperf.probe.lock import DeviceLock
        from pytest_jitperf.probe.settle import settle

        device = probed.subject.device
        return settle(
            probed.subject,
            measured,
            limits,
            race_seconds=self.plan.max_race_seconds,
            compile_seconds=max(0.0, self.plan.max_compile_seconds - compiling_seconds),
            lock=DeviceLock(f"{device.platform}:{device.id}", self.progress),
            rng=seed_of(f"{self.test}/{self.plan.strategy_name}/budgets"),
            progress=self.progress,
        )

    def _compare(self, probed: Probed, key: str, now: Program, stored: StoredProgram, entry: Entry) -> Comparison:
        """The program of today under ``key`` (empty: the whole one) against the stored one."""
        from pytest_jitperf.probe.compare import Stored, compare
        from pytest_jitperf.probe.lock import DeviceLock

        program = probed.programs.get(key)
        # What is the same need not be built again, so it is not read either.
        known = program is not None and program.fingerprint == stored.fingerprint
        raw, missing = (None, "") if known else self.baselines.raw(stored)
        device = probed.subject.device
        return compare(
            program,
            now.no_artifact,
            probed.subject,
            Stored(
                fingerprint=stored.fingerprint,
                raw=raw,
                missing=missing,
                fingerprint_version=stored.fingerprint_version,
                inputs=program_inputs(stored, entry),
                unused=stored.unused,
                donated=stored.donated,
                options=stored.options,
                jax=entry.environment.jax,
            ),
            self._effort(probed, key, entry),
            DeviceLock(f"{device.platform}:{device.id}", self.progress),
            self.progress,
        )

    def _effort(self, probed: Probed, key: str, entry: Entry) -> Effort:
        """How far a comparison goes: as far as its verdict is asked for."""
        from pytest_jitperf.probe.compare import Effort, seed_of

        run, run_limit = self.plan.allowed.get("run"), None
        if run is not None and (run.gated or key):
            # Each helper's program is judged on its own where the strategy as a whole cannot be.
            run_limit = largest_run_ratio(run.tolerance, None if key else probed.measurement.value("run"))
        return Effort(
            run_limit=run_limit,
            compiling=None if key else compile_terms(self.plan, probed.measurement, entry),
            race_seconds=self.plan.max_race_seconds,
            compile_seconds=self.plan.max_compile_seconds,
            random=seed_of(f"{self.test}/{self.plan.strategy_name}/{key}"),
        )

    def _faster(self, request: Request, probed: Probed) -> dict[str, Ratio | str]:
        if not self.plan.faster_than or probed.wrong:
            return {}
        from pytest_jitperf.probe.faster import race_strategies

        found: dict[str, Ratio | str] = {}
        if probed.subject.abstract:
            return dict.fromkeys(self.plan.faster_than, "the arguments are shapes without values")
        for other, factor in self.plan.faster_than.items():
            if other in self.left_out:
                found[other] = self.left_out[other]
                continue
            self.progress(f"racing {other}")
            try:
                found[other] = race_strategies(
                    request,
                    self.plan.find(other),
                    factor=factor,
                    max_seconds=self.plan.max_race_seconds,
                    compile_seconds=self.plan.max_compile_seconds,
                )
            except MeasurementError as error:
                found[other] = str(error)
        return found
