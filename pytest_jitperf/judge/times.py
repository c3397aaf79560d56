"""Compile time, trace time and stored times against the baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.measurement import Comparison, Measurement, Ratio
from pytest_jitperf.plan import Plan
from pytest_jitperf.units import Tolerance, Unit, format_change

__all__ = ["compile_ratio", "stored_time", "trace_finding", "trace_growth"]

# Trace and lower of an unchanged function, relative to the reference trace, stay within a few per cent; these are the
# limits beyond which a function whose program is the same is said to trace slower.
TRACE_TOLERANCE = Tolerance(0.50, 0.050)

# Uncertainty of a single trace relative to the reference trace, as a factor.
_TRACE_FACTOR = 1.15

# Below this many seconds of CPU time more, compiling is not worth a failure.
_COMPILE_FLOOR = 0.010


def trace_growth(measured: Measurement, entry: Entry, relative: Mapping[str, float]) -> tuple[float, float] | None:
    """Trace and lower time of the baseline as they would be here and now, and today's.

    The baseline keeps both as multiples of a fixed reference trace; today's reference trace turns them into seconds.

    Args:
        measured: Today's measurement.
        entry: The baseline's entry.
        relative: Today's multiples (the measurement's own, or of a second look).

    Returns:
        (old, new) thread CPU seconds, or None where they were recorded with another Python or jax, or not at all.
    """
    if entry.environment.host_key != measured.environment.host_key:
        return None
    old = new = 0.0
    for phase in ("trace", "lower"):
        own, cpu = measured.relative.get(phase), measured.timed.get(f"{phase}_cpu")
        if phase not in entry.relative or phase not in relative or not own or cpu is None:
            return None
        unit = cpu.median / own
        old += entry.relative[phase] * unit
        new += relative[phase] * unit
    return old, new


def trace_finding(
    plan: Plan, measured: Measurement, entry: Entry, again: Mapping[str, float] | None, *, same: bool
) -> list[Finding]:
    """Judges trace and lower time of an unchanged program: only Python can have made them longer.

    Args:
        plan: Says whether compiling is gated at all.
        measured: Today's measurement.
        entry: The baseline's entry.
        again: Multiples of a second look, which has to agree.
        same: Whether the program is the same; otherwise the whole of ``compile`` is judged elsewhere.
    """
    allowed = plan.allowed.get("compile")
    if not same or allowed is None or not allowed.gated or again is None:
        return []
    first, second = trace_growth(measured, entry, measured.relative), trace_growth(measured, entry, again)
    if first is None or second is None or any(TRACE_TOLERANCE.allows(old, new) for old, new in (first, second)):
        return []
    old, new = second
    change = format_change(old, new, Unit.SECONDS)
    return [
        Finding(
            outcome=Outcome.REGRESSED,
            sentence=f"trace regressed: trace and lower {change} for the same program, x{new / old:.2f}, "
            f"allowed {TRACE_TOLERANCE.describe(Unit.SECONDS)}",
            metric="trace",
            old=old,
            new=new,
            rule=f"{TRACE_TOLERANCE.describe(Unit.SECONDS)} for the same program (default)",
            short=f"trace {change}",
        )
    ]


def compile_ratio(plan: Plan, measured: Measurement, entry: Entry, comparison: Comparison) -> list[Finding]:
    """Judges ``compile``: XLA by paired cold recompiles, trace and lower through the reference trace.

    All parts are CPU seconds of here and now, so that load cancels out.
    """
    allowed = plan.allowed.get("compile")
    if allowed is None or not allowed.gated or comparison.xla is None or comparison.old_xla_seconds is None:
        return []
    old_xla = comparison.old_xla_seconds
    growth = trace_growth(measured, entry, measured.relative)
    old_trace, new_trace = growth if growth is not None else (0.0, 0.0)
    old = old_xla + old_trace

    def total(xla: float, factor: float) -> float:
        return (old_xla * xla + new_trace * factor) / old

    ratio = replace(
        comparison.xla,
        estimate=total(comparison.xla.estimate, 1.0),
        low=total(comparison.xla.low, 1 / _TRACE_FACTOR),
        high=total(comparison.xla.high, _TRACE_FACTOR),
    )
    limit = max(1 + allowed.tolerance.relative, 1 + max(allowed.tolerance.absolute, _COMPILE_FLOOR) / old)
    rule = allowed.describe("compile")
    return [_finding(old, ratio, limit, rule)]


def _finding(old: float, ratio: Ratio, limit: float, rule: str) -> Finding:
    new = old * ratio.estimate
    change = format_change(old, new, Unit.SECONDS)
    span = f"x{ratio.estimate:.2f} (x{ratio.low:.2f} ... x{ratio.high:.2f})"
    short = f"compile x{ratio.estimate:.2f}"
    if ratio.low > limit:
        outcome, sentence = Outcome.REGRESSED, f"compile regressed: {change} CPU time, {span}, allowed x{limit:.2f}"
    elif ratio.high < 1 / limit:
        outcome, sentence = (
            Outcome.IMPROVED,
            f"compile improved: {change} CPU time, {span}; record it with --jitperf-update",
        )
    elif ratio.high < limit:
        outcome, sentence = Outcome.OK, f"compile {span}, allowed x{limit:.2f}"
    else:
        outcome, sentence = (
            Outcome.INCONCLUSIVE,
            f"compile inconclusive: {span} after {ratio.rounds} pairs, allowed x{limit:.2f}",
        )
    return Finding(
        outcome=outcome, sentence=sentence, metric="compile", old=old, new=new, ratio=ratio, rule=rule, short=short
    )


def stored_time(plan: Plan, measured: Measurement, entry: Entry) -> list[Finding]:
    """Holds run time against the stored quartiles, for machines that are declared dedicated.

    Only on the machine and in the environment of the baseline; regressed when the whole of today's interval is beyond
    the whole of the stored one by more than the tolerance.
    """
    allowed = plan.allowed.get("run")
    old, new = entry.timed.get("run"), measured.timed.get("run")
    if allowed is None or old is None or new is None:
        return []
    if entry.environment.machine != measured.environment.machine or entry.environment.differences(measured.environment):
        sentence = "stored times not used: recorded on another machine or in another environment"
        return [Finding(outcome=Outcome.NOT_GATED, sentence=sentence, metric="run")]
    rule = f"stored times, {allowed.describe('run')}"
    change = format_change(old.median, new.median, Unit.SECONDS)
    if not allowed.tolerance.allows(old.high, new.low):
        outcome, sentence = Outcome.REGRESSED, f"run regressed: {change} against the stored time"
    elif not allowed.tolerance.allows(new.high, old.low):
        outcome, sentence = Outcome.IMPROVED, f"run improved: {change}; record it with --jitperf-update"
    else:
        outcome, sentence = Outcome.OK, f"run {change} against the stored time"
    return [
        Finding(
            outcome=outcome,
            sentence=sentence,
            metric="run",
            old=old.median,
            new=new.median,
            rule=rule,
            short=f"run {change}",
        )
    ]
