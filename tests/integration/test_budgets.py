"""Budgets: absolute limits that hold with and without a baseline, and while one is being written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import pytest_jitperf.probe.settle as settle_module
from pytest_jitperf.judge import budgets
from pytest_jitperf.measurement import Settled

TESTS = """
INPUTS = [(jnp.ones(8),), (jnp.ones(9),), (jnp.ones(9),), (jnp.ones(9, jnp.int32),)]

@pytest.mark.jitperf(strategies=["outer"], compilations=1)
def test_compilations(jitperf):
    jitperf.measure(library.f, inputs=INPUTS)

@pytest.mark.jitperf(strategies=["outer"], compilations=3)
def test_within(jitperf):
    assert jitperf.measure(library.f, inputs=INPUTS).shape == (8,)

@pytest.mark.jitperf(strategies=["outer"], run="1 ns")
def test_run(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["eager", "outer"], compile="1 us", xla="1 h")
def test_compile(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["eager", "outer"], budgets={"outer": {"peak_bytes": "63 B", "launches": 0}})
def test_for_one(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["eager"], launches=1)
def test_launches(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["eager"], budgets={"eager": {"peak_bytes": "1 MiB"}})
def test_unavailable(jitperf):
    jitperf(library.f, X)
"""

MESSAGES = {
    "test_compilations[outer]": "compilations over budget: 3, budget 1\n"
    "    input 2: f, x: f32[8] -> f32[9] (pad or bucket the shapes)\n"
    "    input 4: f, x: f32[9] -> i32[9] (fix the dtype)\n"
    "  strategy outer, device cpu; __jitperf__/test_g.json, test_compilations / outer / cpu\n"
    "  rule  budget compilations=1 (marker)\ntest_g.py:12: OverBudget",
    "test_run[outer]": "run over budget: * us (* us ... * us), budget 1 ns\n*\n  rule  budget run=1 ns (marker)\n"
    "test_g.py:20: OverBudget",
    "test_compile[eager]": "compile over budget: * ms (* ms ... * ms), budget 1 us\n"
    "  strategy eager, device cpu; __jitperf__/test_g.json, test_compile / eager / cpu\n"
    "  rule  budget compile=1 us (marker)\ntest_g.py:24: OverBudget",
    "test_compile[outer]": "compile over budget: * ms (* ms ... * ms), budget 1 us\n*\ntest_g.py:24: OverBudget",
    "test_for_one[outer]": "peak_bytes over budget: 64 B, budget 63 B\n*\n  also  launches over budget: 1, budget 0\n"
    "  why   each call launches f 1\n"
    "  rule  budget *\n  rule  budget *\ntest_g.py:28: OverBudget",
    "test_launches[eager]": "launches over budget: 3, budget 1\n*\n  why   each call launches *\n*\n"
    "test_g.py:32: OverBudget",
    "test_unavailable[eager]": "peak_bytes not measured, so its budget cannot be checked: *\n*\n"
    "  rule  budget peak_bytes=1 MiB (marker)\ntest_g.py:36: NotMeasured",
}


def test_what_is_over_budget_fails_with_the_number_and_is_not_recorded(project: Any) -> None:
    project.write_tests(TESTS)
    result = project.quick_run("--jitperf-update")
    project.assert_messages(result, MESSAGES)
    result.assert_outcomes(passed=2, failed=7)
    result.stdout.fnmatch_lines(["  outer * OVER BUDGET*compilations 3, budget 1"])
    assert list(project.entries()) == ["test_for_one / main / eager", "test_within / main / outer"]


def test_a_budget_holds_without_a_baseline(project: Any) -> None:
    project.write_tests(TESTS)
    result = project.quick_run("-k", "test_for_one")
    project.assert_messages(result, {name: text for name, text in MESSAGES.items() if "for_one" in name})
    result.assert_outcomes(passed=1, failed=1, deselected=7)


def test_a_budget_for_every_strategy_holds_for_those_that_have_the_number(project: Any) -> None:
    project.write_tests(
        """
@pytest.mark.jitperf(strategies=["eager", "outer"], peak_bytes="1 B")
def test_both(jitperf):
    jitperf(library.f, X)
"""
    )

    result = project.quick_run()

    project.assert_messages(result, {"test_both[outer]": "peak_bytes over budget: 64 B, budget 1 B\n*"})
    result.assert_outcomes(passed=1, failed=1)


TIMES = """
@pytest.mark.jitperf(strategies=["outer"], run="1 h", compile="2 h")
def test_times(jitperf):
    jitperf(library.f, X)
"""


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> dict[str, Settled]:
    """In place of what is timed again: what is found of each metric. Samples leave every budget of time open."""
    found: dict[str, Settled] = {}

    def settle(subject: Any, measured: Any, limits: Mapping[str, float], **options: Any) -> dict[str, Settled]:
        return {metric: found[metric] for metric in limits}

    monkeypatch.setattr(settle_module, "settle", settle)
    monkeypatch.setattr(budgets, "_CLEARLY_BELOW", 0.0)
    return found


def hours(low: float, high: float) -> Settled:
    estimate = (low + high) / 2
    return Settled(
        estimate=3600 * estimate, low=3600 * low, high=3600 * high, rounds=12, seconds=5.0, timed_out=low < 1 < high
    )


def test_a_time_near_its_budget_is_no_failure_and_says_how_it_may_become_clear(
    project: Any, settled: dict[str, Settled]
) -> None:
    settled |= {"run": hours(0.75, 1.25), "compile": hours(1.0, 3.0)}
    project.write_tests(TIMES)

    usual, strict = project.quick_run("--jitperf-missing=ok"), project.quick_run("--jitperf-strict")

    usual.assert_outcomes(passed=1, warnings=1)
    usual.stdout.fnmatch_lines(["  outer * inconclusive*", "*run 3600 s (2700 s ... 4500 s), budget 3600 s*"])
    project.assert_messages(
        strict,
        {
            "test_times[outer]": "run inconclusive: 3600 s (2700 s ... 4500 s) after 12 rounds in 5.0 s, resolution "
            "+-33 %, budget 3600 s; --jitperf-max-time gives it more time\n  strategy *\n"
            "  also  compile inconclusive: 7200 s (3600 s ... 10800 s) after 12 compiles in 5.0 s, resolution "
            "+-100 %, budget 7200 s\n*\n"
            "  rule  budget run=3600 s (marker)\n  rule  budget compile=7200 s (marker)\n*",
        },
    )


def test_what_is_clearly_within_its_budget_is_not_timed_again(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def settle(*_: Any, **__: Any) -> None:
        raise AssertionError("timed again")

    monkeypatch.setattr(settle_module, "settle", settle)
    project.write_tests(TIMES)

    project.quick_run("--jitperf-missing=ok").assert_outcomes(passed=1)


def test_what_turns_out_to_be_within_its_budget_passes(project: Any, settled: dict[str, Settled]) -> None:
    settled |= {"run": hours(0.5, 0.9), "compile": hours(0.5, 1.9)}
    project.write_tests(TIMES)

    result = project.quick_run("--jitperf-missing=ok", "-W", "error")

    result.assert_outcomes(passed=1)
