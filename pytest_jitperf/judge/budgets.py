"""Absolute limits: what a strategy may cost, whatever it cost before."""

from __future__ import annotations

from pytest_jitperf.judge.differences import written_constants
from pytest_jitperf.judge.evidence import Evidence
from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.judge.ratios import resolution
from pytest_jitperf.measurement import Measurement, Settled
from pytest_jitperf.metrics import unit_of
from pytest_jitperf.plan import Limit, Plan
from pytest_jitperf.units import Unit, format_change, format_quantity

__all__ = ["open_limits", "over_budget"]

# A sample of a time that lies below this part of its budget is clear: load only stretches it.
_CLEARLY_BELOW = 0.8

# What is spent in Python, whole or in part.
_OF_PYTHON = ("compile", "trace", "lower")


def open_limits(plan: Plan, measured: Measurement) -> dict[str, float]:
    """The budgets, in seconds, of which one sample does not tell that they hold.

    Args:
        plan: With the limits of this strategy.
        measured: The samples.
    """
    return {
        name: limit.value
        for name, limit in plan.limits.items()
        if name in measured.timed
        and measured.timed[name].high > _CLEARLY_BELOW * limit.value
        and not _distorted(name, measured)
    }


def over_budget(plan: Plan, measured: Measurement, evidence: Evidence) -> list[Finding]:
    """Holds a measurement against the budgets of its plan.

    A count is over when it is larger. A time is over when the whole interval is that was found for it, on an idle
    machine; where the interval holds the budget, that is inconclusive.

    Args:
        plan: With the limits of this strategy.
        measured: The values.
        evidence: What was settled of the budgets that one sample leaves open; and what compiled again, for the messages
            of the metrics that count it.

    Returns:
        A finding for each budget that is broken, undecided or cannot be checked.
    """
    findings = []
    undecided = open_limits(plan, measured)
    for name, limit in plan.limits.items():
        value = measured.value(name)
        if name in measured.timed:
            settled = evidence.budgets.get(name)
            if _distorted(name, measured) and measured.timed[name].high > _CLEARLY_BELOW * limit.value:
                findings.append(_not_held(name, limit, measured))
            if name in undecided and settled is None:
                findings.append(_unchecked(name, limit, "it was not timed again"))
            elif name in undecided and settled is not None and settled.high >= limit.value:
                findings.append(_time(name, limit, settled))
        elif value is None and not limit.named and plan.metrics[name].side == "program" and measured.program is None:
            # Set for all strategies of the test: it holds for those that have one program to speak of.
            continue
        elif value is None:
            reason = measured.unavailable.get(name, f"strategy {measured.strategy} has no such number")
            findings.append(_unchecked(name, limit, reason))
        elif value > limit.value:
            again = "".join(f"\n    {each}" for each in evidence.compiled_again.get(name, ()))
            said = _beside(value, limit.value, unit_of(name))
            findings.append(_over(name, limit, value, f"{said}{_captured(name, measured)}{again}"))
    return findings


def _distorted(name: str, measured: Measurement) -> bool:
    """Whether a time is largely that of Python code, and somebody looks at every line of it."""
    driven = name == "run" and measured.program is None
    return bool(measured.traced_by) and (name in _OF_PYTHON or driven)


def _captured(name: str, measured: Measurement) -> str:
    """What of it is captured constants, by which they are found in the code."""
    constants = measured.program.constants if measured.program is not None else ()
    return f" ({written_constants(constants)})" if name == "constant_bytes" and constants else ""


def _time(name: str, limit: Limit, settled: Settled) -> Finding:
    said, budget = _interval(settled, limit.value)
    said += ", on one core" if settled.one_core else ""
    if settled.low > limit.value:
        return _over(name, limit, settled.estimate, f"{said}, budget {budget}")
    noun, option = ("round", "--jitperf-max-time") if name == "run" else ("compile", "--jitperf-max-compile")
    plural = "" if settled.rounds == 1 else "s"
    more = f"; {option} gives it more time" if settled.timed_out else ""
    sentence = (
        f"{name} inconclusive: {said} after {settled.rounds} {noun}{plural} in {settled.seconds:.1f} s"
        f"{resolution(settled)}, budget {budget}{more}"
    )
    return Finding(
        outcome=Outcome.INCONCLUSIVE,
        sentence=sentence,
        metric=name,
        new=settled.estimate,
        limit=limit.value,
        rule=limit.describe(name),
        short=f"{name} {said}, budget {budget}",
    )


def _over(name: str, limit: Limit, value: float, said: str) -> Finding:
    return Finding(
        outcome=Outcome.OVER_BUDGET,
        sentence=f"{name} over budget: {said}",
        metric=name,
        new=value,
        limit=limit.value,
        rule=limit.describe(name),
        short=f"{name} {_beside(value, limit.value, unit_of(name))}",
    )


def _unchecked(name: str, limit: Limit, reason: str) -> Finding:
    sentence = f"{name} not measured, so its budget cannot be checked: {reason}"
    return Finding(
        outcome=Outcome.NOT_MEASURED,
        sentence=sentence,
        metric=name,
        limit=limit.value,
        rule=limit.describe(name),
        short=f"{name}: {reason}",
    )


def _not_held(name: str, limit: Limit, measured: Measurement) -> Finding:
    """Within its budget or not, it would be another time without whoever looks on."""
    reason = f"{measured.traced_by} traces this process"
    said = _beside(measured.timed[name].median, limit.value, Unit.SECONDS)
    return Finding(
        outcome=Outcome.NOT_GATED,
        sentence=f"{name} not held to its budget: {said}, but {reason}, so Python code takes longer",
        metric=name,
        limit=limit.value,
        rule=limit.describe(name),
        short=f"{name}: {reason}",
    )


def _beside(value: float, limit: float, unit: Unit) -> str:
    """Value and budget, with as many digits as it takes to tell them apart."""
    shown, allowed = format_change(value, limit, unit).split(" -> ")
    return f"{shown}, budget {allowed}"


def _interval(settled: Settled, limit: float) -> tuple[str, str]:
    """``1.2 ms (1.1 ms ... 1.3 ms)`` and the budget, with as many digits as it takes to tell the ends from it."""
    for digits in (3, 5, 7, 10):
        values = settled.estimate, settled.low, settled.high, limit
        estimate, low, high, budget = (format_quantity(value, Unit.SECONDS, digits) for value in values)
        if budget not in (low, high):
            break
    return f"{estimate} ({low} ... {high})", budget
