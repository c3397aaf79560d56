"""Specification and settings become a plan for one item: nothing is left to be decided after it.

Precedence is marker, command line, ini, default. Every limit and tolerance carries the rule that set it, for messages
such as ``rule  tolerance run=5 % (marker)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_jitperf.inner import InnerTarget
from pytest_jitperf.layers import Spec
from pytest_jitperf.metrics import METRICS, Metric, default_tolerance, unit_of
from pytest_jitperf.options import Settings
from pytest_jitperf.strategies import Strategy, is_builtin, name_of, traits
from pytest_jitperf.units import Tolerance, format_quantity

__all__ = ["DEFAULT", "AllowedChange", "Limit", "Plan", "make_plan"]

MARKER = "marker"
DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """An absolute limit of a metric.

    Attributes:
        value: Seconds, bytes or a count; a larger value fails.
        rule: What set it.
        named: Whether it was set for this strategy by name, and not for all that a test has.
    """

    value: float
    rule: str
    named: bool = False

    def describe(self, metric: str) -> str:
        """For messages: ``budget run=5 ms (marker)``."""
        return f"budget {metric}={format_quantity(self.value, unit_of(metric))} ({self.rule})"


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedChange:
    """How much a metric may grow against the baseline.

    Attributes:
        tolerance: How much.
        rule: What set it: ``"marker"``, ``"--jitperf-tolerance"``, ``"ini jitperf_tolerance"`` or ``"default"``.
        gated: Whether more than that fails the test, given evidence. Where the strategy as a whole is not gated, the
            tolerance still serves for the programs of its inner functions, each of which is judged on its own.
        why_not: Why it is not gated; empty where it is.
    """

    tolerance: Tolerance
    rule: str
    gated: bool
    why_not: str = ""

    def describe(self, metric: str) -> str:
        """For messages: ``tolerance run=5 % (marker)``."""
        return f"tolerance {metric}={self.tolerance.describe(unit_of(metric))} ({self.rule})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is done for one test under one strategy on one device.

    Attributes:
        strategy: The strategy.
        strategies: All strategies of the test.
        references: Strategies to take the reference result from, the first that runs.
        device: As asked for, ``"gpu:0"``; empty for JAX's default device.
        device_named: Whether the device stands in the item's id.
        inner: Functions that ``inner`` and ``both`` jit; whole, since the other side of a race may need them.
        jit: Options for ``jax.jit``.
        limits: Metric to absolute limit.
        allowed: Metric to allowed change; a metric that is not in it only explains.
        faster_than: Name of another strategy to the factor by which this one must be faster per call.
        equal_results: Whether the result is compared with the reference's.
        rtol: Largest difference over the largest value, or None for the dtype's own.
        atol: Largest absolute difference besides, or None for 0.
        expected_calls: How often the function is called in a life of the program, or None where nobody said.
        growth: Largest exponent with which run time may grow with the size, or None.
        fail_on_improvement: Whether an improvement that is not recorded fails.
        phase_limits: Phase to seconds after which it is ended.
        max_race_seconds: Longest that one race may take.
        max_compile_seconds: Longest that may be spent on compiling beyond the first compile.
        mode: ``"gate"``, ``"update"`` or ``"disable"``.
        record: Whether what an update would store is kept: for the baseline, or for a results file.
        guide: Whether the guide is wanted, and so what it alone needs.
        strict: Whether what could not be gated fails.
        stored_times: Whether stored times may serve where nothing can be raced.
        missing: What is done where there is no baseline: ``"ok"``, ``"warn"`` or ``"fail"``.
        metrics: Every metric by name, those of the user's own too.
    """

    strategy: str | Strategy
    strategies: tuple[str | Strategy, ...]
    references: tuple[str | Strategy, ...]
    device: str
    device_named: bool
    inner: tuple[InnerTarget, ...]
    jit: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, Limit]
    allowed: Mapping[str, AllowedChange]
    faster_than: Mapping[str, float]
    equal_results: bool
    rtol: float | None
    atol: float | None
    expected_calls: int | None
    growth: float | None = None
    fail_on_improvement: bool
    phase_limits: Mapping[str, float]
    max_race_seconds: float
    max_compile_seconds: float
    mode: Literal["gate", "update", "disable"]
    record: bool = False
    guide: bool = False
    strict: bool
    stored_times: bool
    missing: Literal["ok", "warn", "fail"]
    metrics: Mapping[str, Metric] = field(default_factory=lambda: METRICS)

    @property
    def strategy_name(self) -> str:
        """Name of the strategy."""
        return name_of(self.strategy)

    def find(self, name: str) -> str | Strategy:
        """Another strategy of the test, for the other side of a race."""
        return _find(self.strategies, name)


def make_plan(
    spec: Spec,
    settings: Settings,
    strategy_name: str,
    device: str,
    platform: str,
    *,
    one_program: bool | None = None,
    metrics: Mapping[str, Metric] = METRICS,
) -> Plan:
    """Decides everything for one item.

    Args:
        spec: What the markers say.
        settings: What the options say.
        strategy_name: One of the test's strategies, or a built-in one.
        device: As asked for; empty for JAX's default device.
        platform: Platform of the device that was found, as JAX names it; defaults differ on a GPU.
        one_program: Whether a call starts one compiled program. It is known beforehand of built-in strategies (None);
            of a user's own, False is assumed until it is built.
        metrics: Every metric by name, those of the user's own too.

    Raises:
        LookupError: The test has no such strategy.
    """
    strategy = _find(spec.strategies, strategy_name)
    compiled = traits(strategy).one_program if one_program is None else one_program
    by_name = spec.budgets.rows.get(strategy_name, {})
    marked = spec.tolerance.of(strategy_name)
    allowed = {
        metric.name: change
        for metric in metrics.values()
        if (change := _allowed(metric, marked.get(metric.name), settings, strategy_name, compiled, platform))
    }
    limits = spec.budgets.of(strategy_name)
    return Plan(
        strategy=strategy,
        strategies=spec.strategies,
        references=("eager", *(each for each in spec.strategies if each != "eager")),
        device=device,
        device_named=bool(device),
        inner=spec.inner,
        jit=spec.jit,
        limits={
            metric: Limit(value=limits[metric], rule=MARKER, named=metric in by_name)
            for metric in metrics
            if metric in limits
        },
        allowed=allowed,
        faster_than=spec.faster_than.of(strategy_name),
        equal_results=spec.equal_results,
        rtol=spec.rtol,
        atol=spec.atol,
        expected_calls=spec.expected_calls,
        growth=spec.growth,
        fail_on_improvement=spec.fail_on_improvement,
        phase_limits=spec.phase_limits,
        max_race_seconds=settings.max_race_seconds,
        max_compile_seconds=settings.max_compile_seconds,
        mode=settings.mode,
        record=settings.mode == "update" or bool(settings.json),
        guide=settings.guide or bool(settings.guide_file),
        strict=settings.strict,
        stored_times=settings.stored_times,
        missing=settings.missing,
        metrics=metrics,
    )


def _allowed(
    metric: Metric, marked: Tolerance | None, settings: Settings, strategy: str, compiled: bool, platform: str
) -> AllowedChange | None:
    """The allowed change of one metric, or None where nothing and nobody gives it a tolerance."""
    default = default_tolerance(metric.name, compiled, platform) if metric.name in METRICS else metric.default
    option = settings.tolerances.get(metric.name)
    if marked is not None:
        tolerance, rule = marked, MARKER
    elif option is not None:
        tolerance, rule = option.tolerance, option.rule
    elif default is not None:
        tolerance, rule = default, DEFAULT
    else:
        return None
    why_not = ""
    if strategy == "eager" and rule != MARKER:
        why_not = "eager is the reference"
    elif metric.kind == "timed" and not compiled and not settings.stored_times:
        why_not = "driven from Python, and stored times do not fail a test"
    elif rule == DEFAULT and not metric.gated:
        why_not = "explains only"
    return AllowedChange(tolerance=tolerance, rule=rule, gated=not why_not, why_not=why_not)


def _find(strategies: tuple[str | Strategy, ...], name: str) -> str | Strategy:
    for each in strategies:
        if name_of(each) == name:
            return each
    if is_builtin(name):
        return name
    raise LookupError(f"this test has no strategy {name!r}")
