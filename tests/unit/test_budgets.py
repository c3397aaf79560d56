"""Budgets: a count is over when it is larger, a time only when its whole interval is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pytest_jitperf.judge.budgets import open_limits, over_budget
from pytest_jitperf.judge.evidence import Evidence
from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.measurement import Constant, Measurement, Sample, Settled
from pytest_jitperf.plan import Plan

PlanFor = Callable[..., Plan]
Measure = Callable[..., Measurement]


def only(findings: list[Finding]) -> Finding:
    assert len(findings) == 1
    return findings[0]


def settled(estimate: float, low: float, high: float, **changes: Any) -> Settled:
    return Settled(**{"estimate": estimate, "low": low, "high": high, "rounds": 20, "seconds": 5.0, **changes})


def said(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(each.outcome.value, each.sentence) for each in findings]


@pytest.mark.parametrize(
    ("high", "expected"), [(0.0008, {}), (0.00081, {"run": 0.001}), (0.001, {"run": 0.001}), (5.0, {"run": 0.001})]
)
def test_a_sample_that_lies_below_four_fifths_of_its_budget_leaves_nothing_open(
    plan_for: PlanFor, measure: Measure, high: float, expected: dict[str, float]
) -> None:
    measured = measure(timed={"run": Sample(median=0.0007, low=0.0006, high=high, rounds=9)})

    assert open_limits(plan_for(run="1 ms", compile="10 ms", launches=0), measured) == expected


def test_what_is_clear_needs_no_evidence(plan_for: PlanFor, measure: Measure) -> None:
    assert over_budget(plan_for(run="2 ms", compile="1 s"), measure(), Evidence()) == []


@pytest.mark.parametrize(
    ("found", "outcome", "sentence", "short"),
    [
        (
            settled(0.0012, 0.00115, 0.00125),
            Outcome.OVER_BUDGET,
            "run over budget: 1.2 ms (1.15 ms ... 1.25 ms), budget 1 ms",
            "run 1.2 ms, budget 1 ms",
        ),
        (
            settled(0.00105, 0.001001, 0.0011),
            Outcome.OVER_BUDGET,
            "run over budget: 1.05 ms (1.001 ms ... 1.1 ms), budget 1 ms",
            "run 1.05 ms, budget 1 ms",
        ),
        (
            settled(0.0012, 0.0009, 0.00125, timed_out=True),
            Outcome.INCONCLUSIVE,
            "run inconclusive: 1.2 ms (900 us ... 1.25 ms) after 20 rounds in 5.0 s, resolution +-33 %, budget 1 ms; "
            "--jitperf-max-time gives it more time",
            "run 1.2 ms (900 us ... 1.25 ms), budget 1 ms",
        ),
        (
            settled(0.001, 0.0009, 0.001, rounds=1),
            Outcome.INCONCLUSIVE,
            "run inconclusive: 1 ms (900 us ... 1 ms) after 1 round in 5.0 s, resolution +-11 %, budget 1 ms",
            "run 1 ms (900 us ... 1 ms), budget 1 ms",
        ),
    ],
)
def test_a_run_time_is_over_budget_when_its_whole_interval_is(
    plan_for: PlanFor, measure: Measure, found: Settled, outcome: Outcome, sentence: str, short: str
) -> None:
    finding = only(over_budget(plan_for(run="1 ms"), measure(), Evidence(budgets={"run": found})))

    assert finding == Finding(
        outcome=outcome,
        sentence=sentence,
        metric="run",
        new=found.estimate,
        limit=0.001,
        rule="budget run=1 ms (marker)",
        short=short,
    )


def test_a_run_time_that_is_below_its_budget_after_all_is_no_finding(plan_for: PlanFor, measure: Measure) -> None:
    evidence = Evidence(budgets={"run": settled(0.0009, 0.0008, 0.00099, one_core=True)})

    assert over_budget(plan_for(run="1 ms"), measure(), evidence) == []


def test_compile_times_are_given_more_time_by_an_option_of_their_own(plan_for: PlanFor, measure: Measure) -> None:
    """Unless it was not time that there was too little of."""
    measured = measure(timed={name: Sample(median=0.05, low=0.05, high=0.05, rounds=1) for name in ("compile", "xla")})
    found = {"compile": settled(0.05, 0.03, 0.06, timed_out=True), "xla": settled(0.05, 0.03, 0.06, rounds=1)}

    findings = over_budget(plan_for(compile="40 ms", xla="40 ms"), measured, Evidence(budgets=found))

    assert said(findings) == [
        (
            "inconclusive",
            "compile inconclusive: 50 ms (30 ms ... 60 ms) after 20 compiles in 5.0 s, resolution +-67 %, "
            "budget 40 ms; --jitperf-max-compile gives it more time",
        ),
        (
            "inconclusive",
            "xla inconclusive: 50 ms (30 ms ... 60 ms) after 1 compile in 5.0 s, resolution +-67 %, budget 40 ms",
        ),
    ]


def test_what_was_left_open_and_not_settled_is_not_passed_over(plan_for: PlanFor, measure: Measure) -> None:
    assert said(over_budget(plan_for(run="1 ms"), measure(), Evidence())) == [
        ("not measured", "run not measured, so its budget cannot be checked: it was not timed again")
    ]


@pytest.mark.parametrize(
    ("marker", "expected"),
    [
        ({"budgets": {"outer": {"launches": 0}}}, [("OVER BUDGET", "launches over budget: 1, budget 0")]),
        ({"budgets": {"outer": {"launches": 1}}}, []),
        ({"peak_bytes": "8388607 B"}, [("OVER BUDGET", "peak_bytes over budget: 8 MiB, budget 7.999999 MiB")]),
        (
            {"budgets": {"outer": {"leaves": 1}}},
            [
                (
                    "not measured",
                    "leaves not measured, so its budget cannot be checked: strategy outer has no such number",
                )
            ],
        ),
    ],
)
def test_counts_are_compared_as_numbers(plan_for: PlanFor, measure: Measure, marker: Any, expected: Any) -> None:
    assert said(over_budget(plan_for(**marker), measure(), Evidence())) == expected


def test_a_budget_of_compilations_names_what_compiled_again(plan_for: PlanFor, measure: Measure) -> None:
    plan = plan_for(budgets={"outer": {"compilations": 1}})
    evidence = Evidence(retraces=("call 2: x: f32[8] -> f32[9]",))

    finding = only(over_budget(plan, measure(host={"compilations": 2}), evidence))

    assert finding == Finding(
        outcome=Outcome.OVER_BUDGET,
        sentence="compilations over budget: 2, budget 1\n    call 2: x: f32[8] -> f32[9]",
        metric="compilations",
        new=2,
        limit=1,
        rule="budget compilations=1 (marker)",
        short="compilations 2, budget 1",
    )


def test_a_budget_of_constants_names_the_largest_of_them(plan_for: PlanFor, measure: Measure) -> None:
    large, small = Constant(shape="f32[512,1024]", bytes=2**21), Constant(shape="i32[8]", bytes=32, count=2)
    program = measure().program
    assert program is not None
    program = replace(program, constants=(large, small, Constant(shape="bool[3]", bytes=3)))
    measured = measure(program=program, exact={"constant_bytes": 2**21 + 67})

    assert said(over_budget(plan_for(constant_bytes="1 KiB"), measured, Evidence())) == [
        (
            "OVER BUDGET",
            "constant_bytes over budget: 2 MiB, budget 1 KiB (f32[512,1024], 2 MiB; 2 of i32[8], 32 B each)",
        )
    ]


def test_a_budget_that_a_backend_cannot_be_held_to_gives_the_backends_reason(
    plan_for: PlanFor, measure: Measure
) -> None:
    measured = measure(exact={}, unavailable={"peak_bytes": "no statistics on this backend"})

    assert said(over_budget(plan_for(peak_bytes="1 MiB"), measured, Evidence())) == [
        ("not measured", "peak_bytes not measured, so its budget cannot be checked: no statistics on this backend")
    ]


def test_the_compiles_of_all_phases_are_the_same_ones() -> None:
    found = {"run": settled(1, 1, 1, rounds=90), "xla": settled(1, 1, 1, rounds=1), "trace": settled(1, 1, 1, rounds=4)}

    assert Evidence(budgets=found).recompiles == 3
    assert Evidence(budgets={"run": found["run"]}).recompiles == 0


def test_what_python_takes_is_held_to_no_budget_while_somebody_looks_on(plan_for: PlanFor, measure: Measure) -> None:
    slow = Sample(median=2.0, low=2.0, high=2.0, rounds=1)
    plan = plan_for(run="1 s", compile="1 s", trace="3 s", xla="1 s")
    measured = measure(timed=dict.fromkeys(("run", "compile", "trace", "xla"), slow), traced_by="coverage")
    times = {"run": settled(2.0, 1.9, 2.1), "xla": settled(2.0, 1.9, 2.1)}
    run, xla = (f"{name} over budget: 2 s (1.9 s ... 2.1 s), budget 1 s" for name in times)
    on = "coverage traces this process, so Python code takes longer"

    found = said(over_budget(plan, measured, Evidence(budgets=times)))

    assert sorted(open_limits(plan, measured)) == ["run", "xla"]
    assert sorted(found) == sorted(
        [
            ("OVER BUDGET", run),
            ("OVER BUDGET", xla),
            ("not gated", f"compile not held to its budget: 2 s, budget 1 s, but {on}"),
        ]
    )
    driven = replace(measured, program=None)
    assert open_limits(plan, driven) == {"xla": 1.0}
    assert ("not gated", f"run not held to its budget: 2 s, budget 1 s, but {on}") in said(
        over_budget(plan, driven, Evidence(budgets=times))
    )
