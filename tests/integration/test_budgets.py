"""Budgets: absolute limits that hold with and without a baseline, and while one is being written."""

from __future__ import annotations

from typing import Any

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
    "test_compilations[outer]": "compilations over budget: 3, budget 1\n    input 2: x: f32[8] -> f32[9] (f)\n"
    "    input 4: x: f32[9] -> i32[9] (f)\n"
    "  strategy outer, device cpu; __jitperf__/test_g.json, test_compilations / outer / cpu\n"
    "  rule  budget compilations=1 (marker)\ntest_g.py:12: OverBudget",
    "test_run[outer]": "run over budget: * us, budget 1 ns\n*\n  rule  budget run=1 ns (marker)\ntest_g.py:20: "
    "OverBudget",
    "test_for_one[outer]": "peak_bytes over budget: 64 B, budget 63 B\n*\n  also  launches over budget: 1, budget 0\n"
    "  rule  budget *\n  rule  budget *\ntest_g.py:24: OverBudget",
    "test_launches[eager]": "launches over budget: 3, budget 1\n*\ntest_g.py:28: OverBudget",
    "test_unavailable[eager]": "peak_bytes not measured, so its budget cannot be checked: *\n*\n"
    "  rule  budget peak_bytes=1 MiB (marker)\ntest_g.py:32: NotMeasured",
}


def test_what_is_over_budget_fails_with_the_number_and_is_not_recorded(project: Any) -> None:
    project.write_tests(TESTS)
    result = project.quick_run("--jitperf-update")
    project.assert_messages(result, MESSAGES)
    result.assert_outcomes(passed=2, failed=5)
    result.stdout.fnmatch_lines(["  outer * OVER BUDGET*compilations 3, budget 1"])
    assert list(project.entries()) == ["test_for_one / main / eager", "test_within / main / outer"]


def test_a_budget_holds_without_a_baseline(project: Any) -> None:
    project.write_tests(TESTS)
    result = project.quick_run("-k", "test_for_one")
    project.assert_messages(result, {name: text for name, text in MESSAGES.items() if "for_one" in name})
    result.assert_outcomes(passed=1, failed=1, deselected=5)


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
