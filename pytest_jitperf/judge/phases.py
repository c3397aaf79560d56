"""The parts of compiling, where somebody gave them a tolerance of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.judge.compileterms import TRACE_FACTOR
from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.judge.ratios import ratio_finding
from pytest_jitperf.judge.times import believed, trace_growth
from pytest_jitperf.measurement import Comparison, Measurement, Ratio
from pytest_jitperf.plan import Plan
from pytest_jitperf.units import Unit, format_change

__all__ = ["phase_findings"]


def phase_findings(
    plan: Plan, measured: Measurement, entry: Entry, comparison: Comparison, again: Mapping[str, float] | None
) -> list[Finding]:
    """Judges ``trace``, ``lower`` and ``xla`` where the marker or an option gives them a tolerance of their own.

    ``xla`` cannot have regressed where the program is the same. One trace is known to 15 %, so that ``trace`` and
    ``lower`` regress only where they are beyond the limit by more; a second look, where there is one, has to agree.
    """
    findings = []
    for phase in ("trace", "lower", "xla"):
        allowed = plan.allowed.get(phase)
        if allowed is None or not allowed.gated or (phase == "xla" and comparison.same):
            continue
        old, ratio = _xla(comparison) if phase == "xla" else _traced(measured, entry, again, phase)
        rule = allowed.describe(phase)
        if not old or ratio is None:
            reason = comparison.cannot if phase == "xla" else _no_trace(measured, entry)
            sentence = f"{phase} not gated: {reason or 'it was not compared'}"
            findings.append(
                Finding(outcome=Outcome.NOT_GATED, sentence=sentence, metric=phase, rule=rule, short=sentence)
            )
            continue
        limit = 1 + max(allowed.tolerance.relative, allowed.tolerance.absolute / old)
        new = old * ratio.estimate
        if phase != "xla" and ratio.low <= limit < ratio.high:
            findings.append(_near(phase, old, new, limit, rule))
            continue
        findings.append(
            ratio_finding(
                phase,
                ratio,
                limit,
                rule,
                old=old,
                new=new,
                kind="pairs",
                of="CPU time",
                # That the race is over says that compile is decided, not that xla alone is.
                believed=phase != "xla" or believed(replace(ratio, decided=False), limit),
            )
        )
    return findings


def _near(phase: str, old: float, new: float, limit: float, rule: str) -> Finding:
    change = format_change(old, new, Unit.SECONDS)
    if new <= limit * old:
        return Finding(
            outcome=Outcome.OK,
            sentence=f"{phase} {change} CPU time",
            metric=phase,
            old=old,
            new=new,
            limit=limit * old,
            rule=rule,
        )
    sentence = (
        f"{phase} inconclusive: {change} CPU time, x{new / old:.2f}, allowed x{limit:.2f}, and one {phase} is known to "
        f"{TRACE_FACTOR - 1:.0%}".replace("%", " %")
    )
    short = f"{phase} {change}"
    return Finding(
        outcome=Outcome.INCONCLUSIVE,
        sentence=sentence,
        metric=phase,
        old=old,
        new=new,
        limit=limit * old,
        rule=rule,
        short=short,
    )


def _xla(comparison: Comparison) -> tuple[float | None, Ratio | None]:
    return comparison.old_xla_seconds, comparison.xla


def _traced(
    measured: Measurement, entry: Entry, again: Mapping[str, float] | None, phase: str
) -> tuple[float | None, Ratio | None]:
    """Seconds of the baseline and the ratio, of the look that finds least growth."""
    looks = [trace_growth(measured, entry, each, (phase,)) for each in (measured.relative, again) if each is not None]
    known = [(new / old, old) for old, new in filter(None, looks) if old > 0]
    if not known:
        return None, None
    estimate, old = min(known)
    low, high = estimate / TRACE_FACTOR, estimate * TRACE_FACTOR
    return old, Ratio(estimate=estimate, low=low, high=high, rounds=len(known), seconds=0.0, decided=True)


def _no_trace(measured: Measurement, entry: Entry) -> str:
    if entry.environment.host_key != measured.environment.host_key:
        return f"recorded with Python {entry.environment.python} and jax {entry.environment.jax}"
    return "it was not measured beside the reference trace"
