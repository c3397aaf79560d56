"""Compile time, trace time and stored times against the baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.judge.ratios import ratio_finding
from pytest_jitperf.measurement import Comparison, Measurement, Ratio
from pytest_jitperf.plan import Plan
from pytest_jitperf.units import Tolerance, Unit, format_change

__all__ = [
    "TRACE_FACTOR",
    "TRACE_TOLERANCE",
    "believed",
    "compile_ratio",
    "stored_time",
    "trace_finding",
    "trace_growth",
]

# Trace and lower of an unchanged function, relative to the reference trace, stay within a few per cent; these are the
# limits beyond which a function whose program is the same is said to trace slower.
TRACE_TOLERANCE = Tolerance(0.50, 0.050)

# Uncertainty of a single trace relative to the reference trace, as a factor.
TRACE_FACTOR = 1.15

# Below this many seconds of CPU time more, compiling is not worth a failure.
_COMPILE_FLOOR = 0.010

# Of fewer pairs, only what is beyond the limit by more than this factor is believed.
_PAIRS_WHEN_NEAR = 5
_NEAR = 1.25


def trace_growth(
    measured: Measurement,
    entry: Entry,
    relative: Mapping[str, float],
    phases: tuple[str, ...] = ("trace", "lower"),
) -> tuple[float, float] | None:
    """Trace and lower time of the baseline as they would be here and now, and today's.

    The baseline keeps both as multiples of a fixed reference trace; today's reference trace turns them into seconds.

    Args:
        measured: Today's measurement.
        entry: The baseline's entry.
        relative: Today's multiples (the measurement's own, or of a second look).
        phases: Which of the two.

    Returns:
        (old, new) thread CPU seconds, or None where they were recorded with another Python or jax, or not at all.
    """
    if entry.environment.host_key != measured.environment.host_key:
        return None
    old = new = 0.0
    for phase in phases:
        own, cpu = measured.relative.get(phase), measured.timed.get(f"{phase}_cpu")
        if phase not in entry.relative or phase not in relative or not own or cpu is None:
            return None
        unit = cpu.median / own
        old += entry.relative[phase] * unit
        new += relative[phase] * unit
    return old, new


def trace_finding(plan: Plan, measured: Measurement, entry: Entry, again: Mapping[str, float] | None) -> list[Finding]:
    """Judges trace and lower time of an unchanged program: only Python can have made them longer.

    Args:
        plan: Says whether compiling is gated at all.
        measured: Today's measurement.
        entry: The baseline's entry.
        again: Multiples of a second look, which has to agree; None where the first one was not suspicious.
    """
    allowed = plan.allowed.get("compile")
    if allowed is None or not allowed.gated or again is None:
        return []
    first, second = trace_growth(measured, entry, measured.relative), trace_growth(measured, entry, again)
    if first is None or second is None or TRACE_TOLERANCE.allows(*first) or TRACE_TOLERANCE.allows(*second):
        return []
    old, new = second
    change = format_change(old, new, Unit.SECONDS)
    times = f", x{new / old:.2f}" if old else ""
    return [
        Finding(
            outcome=Outcome.REGRESSED,
            sentence=f"trace regressed: trace and lower {change} CPU time for the same program{times}, "
            f"allowed {TRACE_TOLERANCE.describe(Unit.SECONDS)} more",
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

    Example:
        XLA takes 40 ms for the old program and x1.50 (x1.45 ... x1.55) of that for the new one; trace and lower take
        10 ms and 20 ms. The whole went from 50 ms to 60 + 20 = 80 ms, x1.60. Its low end is
        (40 * 1.45 + 20 / 1.15) / 50 = x1.51 and its high end (40 * 1.55 + 20 * 1.15) / 50 = x1.70, since one trace is
        known to 15 %. Allowed is the largest of x1.25, what an absolute tolerance adds, and 10 ms more, which is x1.20.

    Args:
        plan: With the tolerance of ``compile``.
        measured: Today's measurement.
        entry: The baseline's entry. Where its trace times are of another Python or jax, XLA alone is judged.
        comparison: The paired recompiles.
    """
    allowed = plan.allowed.get("compile")
    if allowed is None or not allowed.gated or comparison.xla is None or not comparison.old_xla_seconds:
        return []
    old_xla = comparison.old_xla_seconds
    growth = trace_growth(measured, entry, measured.relative)
    old_trace, new_trace = growth or (0.0, 0.0)
    old = old_xla + old_trace

    def total(xla: float, factor: float) -> float:
        return (old_xla * xla + new_trace * factor) / old

    ratio = replace(
        comparison.xla,
        estimate=total(comparison.xla.estimate, 1.0),
        low=total(comparison.xla.low, 1 / TRACE_FACTOR),
        high=total(comparison.xla.high, TRACE_FACTOR),
    )
    limit = 1 + max(allowed.tolerance.relative, max(allowed.tolerance.absolute, _COMPILE_FLOOR) / old)
    return [
        ratio_finding(
            "compile",
            ratio,
            limit,
            allowed.describe("compile"),
            old=old,
            new=old * ratio.estimate,
            kind="pairs",
            of="CPU time" if growth is not None else "CPU time of XLA alone",
            believed=believed(ratio, limit),
        )
    ]


def believed(ratio: Ratio, limit: float) -> bool:
    """A regression that is near the limit takes five pairs; what is clear of it on the good side does not."""
    near = ratio.low > limit and ratio.estimate <= _NEAR * limit
    return ratio.decided or not near or ratio.rounds >= _PAIRS_WHEN_NEAR


def stored_time(plan: Plan, measured: Measurement, entry: Entry) -> list[Finding]:
    """Holds run time against the stored quartiles, for machines that are declared dedicated.

    Only on the machine and in the environment of the baseline; regressed when the whole of today's interval is beyond
    the whole of the stored one by more than the tolerance.
    """
    allowed = plan.allowed.get("run")
    old, new = entry.timed.get("run"), measured.timed.get("run")
    if allowed is None or not allowed.gated or old is None or new is None:
        return []
    if entry.environment.machine != measured.environment.machine or entry.environment.differences(measured.environment):
        sentence = "run not gated: its stored time is of another machine or environment"
        return [Finding(outcome=Outcome.NOT_GATED, sentence=sentence, metric="run", short="stored elsewhere")]
    rule = f"stored times, {allowed.describe('run')}"
    change = format_change(old.median, new.median, Unit.SECONDS)
    if not allowed.tolerance.allows(old.high, new.low):
        share = allowed.tolerance.describe(Unit.SECONDS)
        outcome, sentence = Outcome.REGRESSED, f"run regressed: {change} against the stored time, allowed {share} more"
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
