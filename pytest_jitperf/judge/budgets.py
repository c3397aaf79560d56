"""Absolute limits: what a strategy may cost, whatever it cost before."""

from __future__ import annotations

from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.measurement import Measurement
from pytest_jitperf.metrics import METRICS
from pytest_jitperf.plan import Plan
from pytest_jitperf.units import Unit, format_change, format_quantity

__all__ = ["over_budget"]


def over_budget(plan: Plan, measured: Measurement, retraces: tuple[str, ...]) -> list[Finding]:
    """Holds a measurement against the budgets of its plan.

    A count is over when it is larger. A time is over only when all of what was measured is: the lower quartile of
    ``run``; for compiling the smaller of wall and CPU time, since a busy machine stretches the wall time and several
    compiler threads the CPU time.

    Args:
        plan: With the limits of this strategy.
        measured: The values.
        retraces: What compiled again, for the message of ``compilations``.

    Returns:
        A finding for each budget that is broken, undecided or cannot be checked.
    """
    findings = []
    for name, limit in plan.limits.items():
        unit = METRICS[name].unit
        rule = limit.describe(name)
        value = measured.value(name)
        if value is None and not limit.named and METRICS[name].side == "program" and measured.program is None:
            # Set for all strategies of the test: it holds for those that have one program to speak of.
            continue
        if value is None:
            reason = measured.unavailable.get(name, f"strategy {measured.strategy} has no such number")
            sentence = f"{name} not measured, so its budget cannot be checked: {reason}"
            short = f"{name}: {reason}"
            findings.append(
                Finding(outcome=Outcome.NOT_MEASURED, sentence=sentence, metric=name, rule=rule, short=short)
            )
            continue
        certain = _certain(name, measured, value)
        said = _beside(value, limit.value, unit)
        if certain > limit.value:
            sentence = f"{name} over budget: {said}"
            if name == "compilations" and retraces:
                sentence += "".join(f"\n    {each}" for each in retraces)
            short = f"{name} {said}"
            findings.append(
                Finding(outcome=Outcome.OVER_BUDGET, sentence=sentence, metric=name, new=value, rule=rule, short=short)
            )
        elif value > limit.value:
            sentence = (
                f"{name} inconclusive: {said}, but it may be as little as {format_quantity(certain, unit)}: "
                "the machine was too busy to say"
            )
            short = f"{name} {said}"
            findings.append(
                Finding(outcome=Outcome.INCONCLUSIVE, sentence=sentence, metric=name, new=value, rule=rule, short=short)
            )
    return findings


def _beside(value: float, limit: float, unit: Unit) -> str:
    """Value and budget, with as many digits as it takes to tell them apart."""
    shown, allowed = format_change(value, limit, unit).split(" -> ")
    return f"{shown}, budget {allowed}"


def _certain(name: str, measured: Measurement, value: float) -> float:
    """The smallest value that the measurement allows for."""
    sample = measured.timed.get(name)
    if sample is None:
        return value
    cpu = measured.timed.get(f"{name}_cpu")
    return sample.low if cpu is None else min(sample.low, cpu.low)
