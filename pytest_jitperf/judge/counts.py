"""Metrics that never vary against the stored ones."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.metrics import METRICS, Metric
from pytest_jitperf.plan import AllowedChange, Plan
from pytest_jitperf.units import Unit, format_change, format_quantity

__all__ = ["exact_findings", "gated_metrics"]


def gated_metrics(plan: Plan, side: str) -> tuple[str, ...]:
    """Exact metrics of one side that the plan gates, in the order in which metrics are shown."""
    return tuple(
        name
        for name, metric in METRICS.items()
        if metric.kind == "exact" and metric.side == side and name in plan.allowed and plan.allowed[name].gated
    )


def exact_findings(
    plan: Plan,
    side: str,
    old: Mapping[str, float],
    new: Mapping[str, float],
    unavailable: Mapping[str, str],
) -> list[Finding]:
    """Compares what is gated and in the baseline.

    Args:
        plan: With the tolerances.
        side: ``"program"`` or ``"host"``.
        old: Values of the baseline.
        new: Values of today.
        unavailable: Why a metric has none today.

    Returns:
        One finding per gated metric that the baseline has: within its tolerance, beyond it, better than by it, or not
        gated since today has no number.
    """
    return [
        _compared(METRICS[name], plan.allowed[name], old[name], new.get(name), unavailable.get(name, ""))
        for name in gated_metrics(plan, side)
        if name in old
    ]


def _compared(metric: Metric, allowed: AllowedChange, old: float, new: float | None, missing: str) -> Finding:
    name, rule = metric.name, allowed.describe(metric.name)
    if new is None:
        reason = missing or "it was not measured"
        sentence = f"{name} not gated: the baseline has {format_quantity(old, metric.unit)}, this run none ({reason})"
        return Finding(
            outcome=Outcome.NOT_GATED, sentence=sentence, metric=name, old=old, rule=rule, short=f"{name}: {reason}"
        )
    change = format_change(old, new, metric.unit)
    short = f"{name} {change}"
    limit = allowed.tolerance.limit(old)
    # Of a count no more than its whole part can be reached.
    limit = math.floor(limit) if metric.unit is Unit.COUNT else limit
    if not allowed.tolerance.allows(old, new):
        times = f", x{new / old:.2f}" if old and new / old >= 1.005 else ""
        largest = format_quantity(limit, metric.unit)
        outcome, sentence = Outcome.REGRESSED, f"{name} regressed: {change}{times}, allowed {largest}"
    elif not allowed.tolerance.allows(new, old):
        outcome, sentence = Outcome.IMPROVED, f"{name} improved: {change}; record it with --jitperf-update"
    else:
        outcome, sentence, short = Outcome.OK, f"{name} {change}", ""
    return Finding(
        outcome=outcome, sentence=sentence, metric=name, old=old, new=new, limit=limit, rule=rule, short=short
    )
