"""Metrics that never vary against the stored ones."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.metrics import Metric, is_custom
from pytest_jitperf.plan import DEFAULT, AllowedChange, Plan
from pytest_jitperf.units import Unit, format_change, format_quantity

__all__ = ["Explained", "exact_findings", "gated_metrics", "trace_calls_explained", "unrecorded_findings"]

# What tracing one operation takes at the least, written with jax.numpy: 50 to 300 calls.
_LEAST_CALLS = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """Growth of a metric that something else accounts for.

    Attributes:
        amount: In the metric's unit.
        by: What accounts for it.
    """

    amount: float = 0.0
    by: str = ""


_NOTHING: Mapping[str, Explained] = MappingProxyType({})


def gated_metrics(plan: Plan, side: str) -> tuple[str, ...]:
    """Exact metrics of one side that the plan gates, in the order in which metrics are shown."""
    return tuple(
        name
        for name, metric in plan.metrics.items()
        if metric.kind == "exact" and metric.side == side and name in plan.allowed and plan.allowed[name].gated
    )


def exact_findings(
    plan: Plan,
    side: str,
    old: Mapping[str, float],
    new: Mapping[str, float],
    unavailable: Mapping[str, str],
    explained: Mapping[str, Explained] = _NOTHING,
    undonated: Collection[str] = (),
) -> list[Finding]:
    """Compares what is gated and in the baseline.

    Args:
        plan: With the tolerances.
        side: ``"program"`` or ``"host"``.
        old: Values of the baseline.
        new: Values of today.
        unavailable: Why a metric has none today.
        explained: Growth of a metric that something else accounts for; it counts where the tolerance is the default,
            since who sets one means it.
        undonated: Metrics of a program to which fewer arguments are donated than before. Whoever donates means every
            byte, so of the default tolerance the amount is not allowed.

    Returns:
        One finding per gated metric that the baseline has: within its tolerance, beyond it, better than by it, or not
        gated since today has no number.
    """
    return [
        _compared(
            plan.metrics[name],
            plan.allowed[name],
            old[name],
            new.get(name, plan.metrics[name].absent),
            unavailable.get(name, ""),
            explained.get(name, Explained()) if plan.allowed[name].rule == DEFAULT else Explained(),
            undonated=name in undonated and plan.allowed[name].rule == DEFAULT,
        )
        for name in gated_metrics(plan, side)
        if name in old
    ]


def unrecorded_findings(plan: Plan, old: Mapping[str, float], new: Mapping[str, float]) -> list[Finding]:
    """Metrics of the user's own that are gated and not in the baseline yet: passing them by would be silent.

    Args:
        plan: With the tolerances.
        old: Values of the baseline.
        new: Values of today.
    """
    return [
        Finding(
            outcome=Outcome.NOT_GATED,
            sentence=f"{name} not gated: the baseline has none; record it with --jitperf-update",
            metric=name,
            new=new[name],
            rule=plan.allowed[name].describe(name),
            short=f"{name} not in the baseline",
        )
        for name in gated_metrics(plan, "program")
        if is_custom(name) and name in new and name not in old
    ]


def trace_calls_explained(calls: float, old_operations: float, new_operations: float) -> Explained:
    """How many more Python calls of a trace the operations account for that it has gained.

    An operation more takes Python calls to trace, which is no slower trace; what it costs otherwise is judged by what
    it costs. Operations differ in what they take: up to twice the mean of the trace is taken for explained.

    Args:
        calls: Python calls of the old trace.
        old_operations: Operations that it gave, before XLA.
        new_operations: Operations of today's.
    """
    gained = new_operations - old_operations
    if gained <= 0 or not old_operations:
        return Explained()
    price = 2 * max(calls / old_operations, _LEAST_CALLS)
    noun = "operation" if gained == 1 else "operations"
    return Explained(amount=price * gained, by=f"{gained:,.0f} more {noun} traced")


def _compared(
    metric: Metric,
    allowed: AllowedChange,
    old: float,
    new: float | None,
    missing: str,
    explained: Explained,
    *,
    undonated: bool,
) -> Finding:
    name, rule = metric.name, allowed.describe(metric.name)
    if undonated:
        rule = f"{rule}, of which the amount is not allowed where fewer arguments are donated"
        allowed = replace(allowed, tolerance=replace(allowed.tolerance, absolute=0.0))
    if explained.amount:
        rule = f"{rule}, and {format_quantity(math.floor(explained.amount), metric.unit)} for {explained.by}"
    if new is None:
        reason = missing or "it was not measured"
        sentence = f"{name} not gated: the baseline has {format_quantity(old, metric.unit)}, this run none ({reason})"
        return Finding(
            outcome=Outcome.NOT_GATED, sentence=sentence, metric=name, old=old, rule=rule, short=f"{name}: {reason}"
        )
    change = format_change(old, new, metric.unit)
    short = f"{name} {change}"
    limit = allowed.tolerance.limit(old) + explained.amount
    # Of a count no more than its whole part can be reached.
    limit = math.floor(limit) if metric.unit is Unit.COUNT else limit
    if not allowed.tolerance.allows(old, new - min(explained.amount, max(new - old, 0.0))):
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
