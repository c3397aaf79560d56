"""Compile time, trace time and stored times against the baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.judge.compileterms import COMPILE_FLOOR, TRACE_FACTOR, CompileTerms, is_stuck
from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.judge.ratios import ratio_finding
from pytest_jitperf.measurement import Comparison, Measurement, Ratio
from pytest_jitperf.plan import Plan
from pytest_jitperf.units import Tolerance, Unit, format_change, format_quantity

__all__ = [
    "TRACE_TOLERANCE",
    "believed",
    "compile_ratio",
    "compile_terms",
    "stored_time",
    "trace_finding",
    "trace_growth",
]

# Trace and lower of an unchanged function, relative to the reference trace, stay within a few per cent; these are the
# limits beyond which a function whose program is the same is said to trace slower.
TRACE_TOLERANCE = Tolerance(0.50, 0.050)

_TRACE_IS_COARSE = f"trace and lower are known to {TRACE_FACTOR - 1:.0%} only".replace("%", " %")

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
            limit=TRACE_TOLERANCE.limit(old),
            rule=f"{TRACE_TOLERANCE.describe(Unit.SECONDS)} for the same program (default)",
            short=f"trace {change}",
        )
    ]


def compile_terms(plan: Plan, measured: Measurement, entry: Entry) -> CompileTerms | None:
    """What compile time may grow to, or None where it is not gated.

    Args:
        plan: With the tolerance of ``compile``.
        measured: Today's measurement.
        entry: The baseline's entry. Where its trace times are of another Python or jax, XLA alone is judged.
    """
    allowed = plan.allowed.get("compile")
    if allowed is None or not allowed.gated:
        return None
    old, new = trace_growth(measured, entry, measured.relative) or (0.0, 0.0)
    xla = plan.allowed.get("xla")
    own = xla.tolerance if xla is not None and xla.gated else None
    return CompileTerms(tolerance=allowed.tolerance, xla=own, old_trace=old, new_trace=new)


def compile_ratio(plan: Plan, measured: Measurement, entry: Entry, comparison: Comparison) -> list[Finding]:
    """Judges ``compile``: XLA by paired cold recompiles, trace and lower through the reference trace.

    See `CompileTerms`. All parts are CPU seconds of here and now, so that load cancels out.

    Args:
        plan: With the tolerance of ``compile``.
        measured: Today's measurement.
        entry: The baseline's entry.
        comparison: The paired recompiles.
    """
    terms, old_xla, xla = compile_terms(plan, measured, entry), comparison.old_xla_seconds, comparison.xla
    if terms is None or xla is None or not old_xla:
        return []
    whole = partial(terms.whole, old_xla)
    estimate, low, high = whole((xla.estimate, xla.low, xla.high))
    ratio, limit, old = replace(xla, estimate=estimate, low=low, high=high), terms.limit(old_xla), terms.old(old_xla)
    rule = plan.allowed["compile"].describe("compile")
    if terms.tolerance.absolute < COMPILE_FLOOR:
        rule += f"; {format_quantity(COMPILE_FLOOR, Unit.SECONDS)} more are always allowed"
    return [
        ratio_finding(
            "compile",
            ratio,
            limit,
            rule,
            old=old,
            new=old * ratio.estimate,
            kind="pairs",
            of="CPU time" if terms.new_trace else "CPU time of XLA alone",
            believed=believed(ratio, limit),
            remedy=_TRACE_IS_COARSE if is_stuck((xla.estimate, xla.low, xla.high), whole, limit) else "",
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
    if measured.traced_by:
        sentence = f"run not gated: {measured.traced_by} traces this process, so Python code takes longer"
        short = f"run: {measured.traced_by} traces this process"
        return [Finding(outcome=Outcome.NOT_GATED, sentence=sentence, metric="run", short=short)]
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
