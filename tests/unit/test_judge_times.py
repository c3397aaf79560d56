"""Compile and trace time against the baseline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.judge.ratios import largest_run_ratio
from pytest_jitperf.judge.times import compile_ratio, stored_time, trace_growth
from pytest_jitperf.judge.verdict import Evidence, judge
from pytest_jitperf.measurement import Comparison, Environment, Measurement, Ratio, Sample
from pytest_jitperf.plan import Plan
from pytest_jitperf.units import Tolerance

PlanFor = Callable[..., Plan]
Measure = Callable[..., Measurement]
Record = Callable[..., Entry]
MakeRatio = Callable[..., Ratio]


def sample(value: float, low: float | None = None, high: float | None = None) -> Sample:
    return Sample(median=value, low=low or value, high=high or value, rounds=9)


def traced(measure: Measure, trace: float, lower: float, unit: float = 0.010) -> Measurement:
    """Trace and lower as multiples of a reference trace of ``unit`` seconds."""
    timed = {"trace_cpu": sample(trace * unit), "lower_cpu": sample(lower * unit)}
    return measure(relative={"trace": trace, "lower": lower}, timed={**measure().timed, **timed})


def only(findings: list[Finding]) -> Finding:
    assert len(findings) == 1
    return findings[0]


# Compile


@pytest.fixture
def compiled(plan_for: PlanFor, measure: Measure, record: Record) -> Callable[..., list[Finding]]:
    """Judges compile time: XLA took 40 ms before, trace and lower 10 ms and, unless told otherwise, 20 ms now."""

    def judged(xla: Ratio, tolerance: str | None = None, now: Measurement | None = None, **comparison: Any) -> Any:
        plan = plan_for(tolerance={"compile": tolerance}) if tolerance else plan_for()
        found = {"old_xla_seconds": 0.040, **comparison}
        return compile_ratio(plan, now or traced(measure, 1.2, 0.8), record(), Comparison(same=False, xla=xla, **found))

    return judged


def test_compile_is_xla_and_what_comes_before_it_together(
    compiled: Callable[..., list[Finding]], ratio: MakeRatio
) -> None:
    finding = only(compiled(ratio(1.5, 1.45, 1.55)))

    assert finding.ratio is not None
    assert (finding.old, finding.new, finding.ratio.estimate, finding.ratio.low, finding.ratio.high) == pytest.approx(
        (0.050, 0.080, 1.60, (40 * 1.45 + 20 / 1.15) / 50, (40 * 1.55 + 20 * 1.15) / 50)
    )
    assert (finding.outcome, finding.sentence, finding.rule) == (
        Outcome.REGRESSED,
        "compile regressed: 50 ms -> 80 ms CPU time, x1.60 (x1.51 ... x1.70), allowed x1.25",
        "tolerance compile=25 % (default); 10 ms more are always allowed",
    )


def test_what_no_further_pair_can_decide_is_told_so(
    compiled: Callable[..., list[Finding]], measure: Measure, ratio: MakeRatio
) -> None:
    """XLA is known well, and trace and lower are most of the whole: 10 ms of 50 before, 22 ms now."""
    stuck = only(compiled(ratio(1.0, 0.99, 1.01), "25 %", traced(measure, 1.4, 0.8)))
    assert stuck.outcome is Outcome.INCONCLUSIVE
    assert stuck.sentence.endswith("allowed x1.25; trace and lower are known to 15 % only")
    known = only(compiled(ratio(1.2, 0.9, 1.5), "25 %", traced(measure, 0.6, 0.4)))
    assert known.sentence.endswith("; --jitperf-max-compile gives it more time")


@pytest.mark.parametrize(
    ("xla", "changes", "tolerance", "outcome"),
    [
        ((1.5, 1.45, 1.55), {}, None, Outcome.REGRESSED),
        ((1.5, 1.45, 1.55), {}, "1 %", Outcome.REGRESSED),
        ((1.5, 1.45, 1.55), {}, "25 % and 40 ms", Outcome.OK),
        ((1.5, 1.45, 1.55), {}, "70 %", Outcome.INCONCLUSIVE),
        ((0.9, 0.85, 1.1), {}, None, Outcome.INCONCLUSIVE),
        ((0.3, 0.29, 0.31), {}, "10 %", Outcome.IMPROVED),
        ((1.2, 1.19, 1.21), {"rounds": 4, "decided": False}, None, Outcome.INCONCLUSIVE),
        ((1.2, 1.19, 1.21), {"rounds": 5, "decided": False}, None, Outcome.REGRESSED),
        ((2.2, 2.1, 2.3), {"rounds": 2, "decided": False}, None, Outcome.REGRESSED),
    ],
)
def test_compile_regresses_where_the_whole_interval_is_beyond_the_limit_and_enough_pairs_say_so(
    compiled: Callable[..., list[Finding]], ratio: MakeRatio, xla: Any, changes: Any, tolerance: str, outcome: Outcome
) -> None:
    assert only(compiled(ratio(*xla, **changes), tolerance)).outcome is outcome


@pytest.mark.parametrize(("seconds", "outcome"), [(0.004, Outcome.OK), (0.400, Outcome.REGRESSED)])
def test_ten_milliseconds_more_are_no_regression_of_compile(
    compiled: Callable[..., list[Finding]], ratio: MakeRatio, measure: Measure, seconds: float, outcome: Outcome
) -> None:
    now = traced(measure, 0.6, 0.4)

    assert only(compiled(ratio(1.5, 1.45, 1.55), now=now, old_xla_seconds=seconds)).outcome is outcome


def test_compile_improves_where_the_whole_interval_is_below(
    compiled: Callable[..., list[Finding]], ratio: MakeRatio, measure: Measure
) -> None:
    finding = only(compiled(ratio(0.3, 0.29, 0.31), now=traced(measure, 0.6, 0.4)))

    assert (finding.outcome, finding.sentence) == (
        Outcome.IMPROVED,
        "compile improved: 50 ms -> 22 ms CPU time, x0.44 (x0.41 ... x0.48); record it with --jitperf-update",
    )


def test_trace_times_of_another_python_leave_xla_alone(
    compiled: Callable[..., list[Finding]], ratio: MakeRatio, measure: Measure, environment: Environment
) -> None:
    finding = only(compiled(ratio(1.5, 1.45, 1.55), now=measure(environment=replace(environment, python="3.13"))))

    assert finding.sentence == (
        "compile regressed: 40 ms -> 60 ms CPU time of XLA alone, x1.50 (x1.45 ... x1.55), allowed x1.25"
    )


@pytest.mark.parametrize("comparison", [{"old_xla_seconds": None}, {"old_xla_seconds": 0.0}])
def test_without_recompiles_nothing_is_said_of_compile(
    compiled: Callable[..., list[Finding]], ratio: MakeRatio, comparison: Any
) -> None:
    assert compiled(ratio(9, 9, 9), **comparison) == []


# Trace


def test_trace_growth_is_in_seconds_of_here_and_now(measure: Measure, record: Record) -> None:
    now = traced(measure, 1.2, 0.8, unit=0.020)

    assert trace_growth(now, record(), now.relative) == pytest.approx((0.020, 0.040))
    assert trace_growth(now, record(), {"trace": 3.0, "lower": 2.0}) == pytest.approx((0.020, 0.100))
    assert trace_growth(now, record(), now.relative, ("lower",)) == pytest.approx((0.008, 0.016))


@pytest.mark.parametrize(
    ("first", "second", "regressed"),
    [
        ((9.0, 6.0), (8.4, 5.6), True),
        ((9.0, 6.0), (0.6, 0.4), False),
        ((0.9, 0.5), (9.0, 6.0), False),
        ((3.0, 2.0), (3.0, 2.0), False),
        ((9.0, 6.0), None, False),
    ],
    ids=["both looks", "the second look is fine", "the first look is fine", "within 50 ms", "not looked again"],
)
def test_the_same_program_regresses_where_two_looks_find_its_trace_much_longer(
    plan_for: PlanFor, measure: Measure, record: Record, first: Any, second: Any, regressed: bool
) -> None:
    again = {"trace": second[0], "lower": second[1]} if second else None
    evidence = Evidence(program=Comparison(same=True), trace_again=again)

    verdict = judge(plan_for(), traced(measure, *first), record(), evidence)

    assert (verdict.outcome is Outcome.REGRESSED) == regressed
    if regressed:
        assert (verdict.worst.sentence, verdict.worst.rule) == (
            "trace regressed: trace and lower 10 ms -> 140 ms CPU time for the same program, x14.00, "
            "allowed 50 % and 50 ms more",
            "50 % and 50 ms for the same program (default)",
        )


@pytest.mark.parametrize(
    ("trace", "again", "expected"),
    [
        (0.60, None, ("ok", "trace 6 ms -> 6 ms CPU time")),
        (1.20, None, ("REGRESSED", "trace regressed: 6 ms -> 12 ms CPU time, x2.00 (x1.74 ... x2.30), allowed x1.10")),
        (1.20, 0.6, ("ok", "trace 6 ms -> 6 ms CPU time")),
        (
            0.69,
            None,
            (
                "inconclusive",
                "trace inconclusive: 6 ms -> 6.9 ms CPU time, x1.15, allowed x1.10, and one trace is known to 15 %",
            ),
        ),
        (0.30, None, ("improved", "trace improved: 6 ms -> 3 ms CPU time, x0.50 (x0.43 ... x0.57)")),
    ],
)
def test_a_tolerance_of_trace_gates_it_by_itself(
    plan_for: PlanFor, measure: Measure, record: Record, trace: float, again: float | None, expected: tuple[str, str]
) -> None:
    plan = plan_for(tolerance={"trace": "10 %"})
    second = None if again is None else {"trace": again, "lower": 0.4}
    evidence = Evidence(program=Comparison(same=True), trace_again=second)

    verdict = judge(plan, traced(measure, trace, 0.4), record(), evidence)

    finding = next(each for each in verdict.findings if each.metric == "trace")
    assert (finding.outcome.value, finding.sentence[: len(expected[1])]) == expected


def test_a_tolerance_of_xla_is_judged_by_its_pairs_and_never_for_the_same_program(
    plan_for: PlanFor, measure: Measure, record: Record, ratio: MakeRatio
) -> None:
    plan = plan_for(tolerance={"xla": "10 %"})
    changed = Comparison(same=False, run=ratio(1, 0.99, 1.01), xla=ratio(1.5, 1.45, 1.55), old_xla_seconds=0.04)
    unknown = Comparison(same=False, cannot="no program was stored")

    def said(comparison: Comparison) -> list[str]:
        verdict = judge(plan, measure(), record(), Evidence(program=comparison))
        return [each.sentence for each in verdict.findings if each.metric == "xla"]

    assert said(changed) == ["xla regressed: 40 ms -> 60 ms CPU time, x1.50 (x1.45 ... x1.55), allowed x1.10"]
    assert said(unknown) == ["xla not gated: no program was stored"]
    assert said(Comparison(same=True)) == []


def test_a_tolerance_of_trace_gates_nothing_under_another_python(
    plan_for: PlanFor, measure: Measure, record: Record, environment: Environment
) -> None:
    plan = plan_for(tolerance={"trace": "10 %"})
    measured = measure(environment=replace(environment, python="3.13"))

    verdict = judge(plan, measured, record(), Evidence(program=Comparison(same=True)))

    assert verdict.worst.sentence == "trace not gated: recorded with Python 3.11 and jax 0.10.2"


# Run


@pytest.mark.parametrize(
    ("tolerance", "new", "limit"),
    [
        (Tolerance(0.05, 0.0), 0.1, 1.05),
        (Tolerance(0.05, 0.001), None, 1.05),
        (Tolerance(0.05, 0.001), 0.004, 4 / 3),
        (Tolerance(0.05, 0.001), 0.100, 1.05),
        (Tolerance(0.05, 0.001), 0.0005, 1000),
        (Tolerance(0.0, 0.001), 0.001, 1000),
    ],
)
def test_an_amount_of_time_becomes_a_ratio_through_todays_time(
    tolerance: Tolerance, new: float | None, limit: float
) -> None:
    assert largest_run_ratio(tolerance, new) == pytest.approx(limit)


@pytest.mark.parametrize(
    ("now", "outcome"),
    [
        ((0.0012, 0.0011, 0.0013), Outcome.OK),
        ((0.0016, 0.00142, 0.0018), Outcome.OK),
        ((0.0016, 0.00144, 0.0018), Outcome.REGRESSED),
        ((0.0009, 0.0008, 0.00101), Outcome.OK),
        ((0.0009, 0.0008, 0.00099), Outcome.IMPROVED),
    ],
)
def test_a_stored_time_regresses_where_the_quartiles_are_apart_by_more_than_the_tolerance(
    plan_for: PlanFor, measure: Measure, record: Record, now: Any, outcome: Outcome
) -> None:
    """Stored are 1.1 to 1.3 ms, and 10 % are allowed."""
    measured = measure(timed={"run": sample(*now)})

    assert only(stored_time(plan_for(), measured, record())).outcome is outcome
