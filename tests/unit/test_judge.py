"""What a measurement, its baseline and the evidence are judged to be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pytest_jitperf.baseline.model import Entry, StoredProgram
from pytest_jitperf.judge.counts import exact_findings
from pytest_jitperf.judge.outcome import Effect, Finding, Outcome, Verdict
from pytest_jitperf.judge.verdict import Evidence, judge
from pytest_jitperf.measurement import Comparison, Environment, Measurement, Program, Ratio, Settled
from pytest_jitperf.plan import Plan
from pytest_jitperf.settings import Settings, SetTolerance
from pytest_jitperf.units import Tolerance

PlanFor = Callable[..., Plan]
Measure = Callable[..., Measurement]
Record = Callable[..., Entry]
MakeRatio = Callable[..., Ratio]

MIB = 2**20
OVER_A_MS = Settled(estimate=0.0012, low=0.0011, high=0.0013, rounds=20, seconds=0.1)
SAME = Evidence(program=Comparison(same=True, how="fingerprint"))
HELPER = "lib.f(x: f32[64])"
OTHER = "lib.f(x: f32[8])"
HELPED = Program(fingerprint="sha256:" + "b" * 64, inputs="x: f32[64]", exact={"peak_bytes": 100})
HELPED_BEFORE = StoredProgram(fingerprint=HELPED.fingerprint, inputs=HELPED.inputs, exact={"peak_bytes": 100})


def words(verdict: Verdict) -> list[str]:
    """The outcomes of all findings, but for what is plainly ok."""
    return [each.outcome.value for each in verdict.findings if each.outcome is not Outcome.OK]


def sentence(verdict: Verdict) -> str:
    return verdict.worst.sentence


@pytest.fixture
def raced(plan_for: PlanFor, measure: Measure, record: Record) -> Callable[..., Verdict]:
    """Judges a changed program whose compile time is that of before, by the race of its run time."""

    def judged(run: Ratio | None, plan: Plan | None = None, **comparison: Any) -> Verdict:
        xla = Ratio(estimate=1, low=0.99, high=1.01, rounds=5, seconds=1, decided=True)
        found = {"xla": xla, "old_xla_seconds": 0.04, **comparison}
        evidence = Evidence(program=Comparison(same=False, run=run, **found))
        return judge(plan or plan_for(), measure(), record(), evidence)

    return judged


@pytest.fixture
def inner(plan_for: PlanFor, measure: Measure, record: Record) -> Callable[..., Verdict]:
    """Judges what Python drives: its helpers' programs and its counts."""

    def judged(
        comparisons: dict[str, Comparison],
        now: dict[str, Program] | None = None,
        before: dict[str, StoredProgram] | None = None,
        strategy: str = "inner",
        plan: Plan | None = None,
        **changes: Any,
    ) -> Verdict:
        measured = measure(
            strategy=strategy, program=None, exact={}, helpers={HELPER: HELPED} if now is None else now, **changes
        )
        stored = {HELPER: HELPED_BEFORE} if before is None else before
        entry = record(program=None, exact={}, helpers=stored)
        return judge(plan or plan_for(strategy), measured, entry, Evidence(helpers=comparisons))

    return judged


# Every outcome, its word and its sentence


@pytest.mark.parametrize(
    ("elsewhere", "missing"),
    [
        ((), "no baseline yet"),
        (("NVIDIA H200",), "no baseline for cpu yet (there is one for NVIDIA H200)"),
        (("TPU v5e", "NVIDIA H200"), "no baseline for cpu yet (there is one for TPU v5e and NVIDIA H200)"),
    ],
)
def test_no_entry_is_new_and_says_how_to_record(
    plan_for: PlanFor, measure: Measure, elsewhere: tuple[str, ...], missing: str
) -> None:
    verdict = judge(plan_for(), measure(), None, Evidence(elsewhere=elsewhere))

    assert verdict == Verdict(
        findings=(Finding(outcome=Outcome.NEW, sentence=f"{missing}; record one with --jitperf-update"),)
    )


@pytest.mark.parametrize("recorded", [True, False])
def test_eager_without_a_tolerance_of_its_own_is_the_reference(
    plan_for: PlanFor, measure: Measure, record: Record, recorded: bool
) -> None:
    measured = measure(strategy="eager", program=None, host={"launches": 900}, inputs="x: f32[8]")

    verdict = judge(plan_for("eager"), measured, record() if recorded else None, Evidence())

    finding = Finding(outcome=Outcome.REFERENCE, sentence="the reference, nothing is gated")
    assert verdict == Verdict(findings=(finding,))


@pytest.mark.parametrize(
    ("compilations", "retraces", "warned"),
    [
        (3, ("every call: <lambda> (m.py:3), a new function object is jitted",), True),
        (1, ("every call: <lambda> (m.py:3), a new function object is jitted",), False),
        (3, ("first call: f, x: f32[8] -> f32[9]",), False),
    ],
)
def test_what_compiles_in_every_call_of_the_reference_is_a_warning_where_it_did_not_before(
    plan_for: PlanFor, measure: Measure, record: Record, compilations: int, retraces: tuple[str, ...], warned: bool
) -> None:
    measured = measure(strategy="eager", program=None, exact={}, host={"compilations": compilations})

    verdict = judge(plan_for("eager"), measured, record(program=None), Evidence(retraces=retraces))

    warning = (
        "not gated: compilations 1 -> 3, compiled again in every call: <lambda> (m.py:3), a new function object is "
        'jitted; eager is the reference; gate it with  tolerance={"eager": {"compilations": 0}}'
    )
    expected = (Outcome.NOT_GATED, warning) if warned else (Outcome.REFERENCE, "the reference, nothing is gated")
    assert (verdict.outcome, sentence(verdict)) == expected


def test_eager_is_held_to_a_tolerance_that_the_marker_gives(
    plan_for: PlanFor, measure: Measure, record: Record
) -> None:
    plan = plan_for("eager", tolerance={"eager": {"launches": "0 %"}})
    measured = measure(strategy="eager", program=None, exact={}, host={"launches": 2})

    verdict = judge(plan, measured, record(program=None), Evidence())

    assert (verdict.outcome, sentence(verdict), verdict.gated_by) == (
        Outcome.REGRESSED,
        "launches regressed: 1 -> 2, x2.00, allowed 1",
        "counts",
    )


def test_the_same_program_is_ok_whatever_the_clock_says(plan_for: PlanFor, measure: Measure, record: Record) -> None:
    slow = {name: replace(each, median=9, low=9, high=9) for name, each in measure().timed.items() if "_" not in name}

    verdict = judge(plan_for(), measure(timed={**measure().timed, **slow}), record(), SAME)

    assert (verdict.outcome.value, sentence(verdict), verdict.gated_by, verdict.notes, verdict.why) == (
        "ok (same program)",
        "the program is the same as the baseline's",
        "same program",
        (),
        (),
    )


def test_a_changed_environment_is_never_a_plain_ok(
    plan_for: PlanFor, measure: Measure, record: Record, environment: Environment
) -> None:
    measured = measure(
        environment=replace(environment, xla_flags="--xla_cpu_foo=1"), exact={**measure().exact, "flops": 2000.0}
    )

    verdict = judge(plan_for(), measured, record(), SAME)

    assert words(verdict) == ["environment changed"]
    assert sentence(verdict) == (
        "environment changed: XLA_FLAGS none -> --xla_cpu_foo=1; the program before XLA is the same; today's XLA "
        "changed its flops x2; recorded -> now, on this machine: run 1.2 ms -> 1.2 ms"
    )
    assert verdict.worst.short == "XLA_FLAGS none -> --xla_cpu_foo=1"


def test_numbers_of_another_machine_say_nothing_about_an_environment(
    plan_for: PlanFor, measure: Measure, record: Record, environment: Environment
) -> None:
    measured = measure(environment=replace(environment, x64=True, machine="another"))

    assert sentence(judge(plan_for(), measured, record(), SAME)) == (
        "environment changed: x64 False -> True; the program before XLA is the same"
    )


def test_an_upgrade_that_takes_more_memory_regresses_though_the_program_is_the_same(
    plan_for: PlanFor, measure: Measure, record: Record, environment: Environment
) -> None:
    exact = {**measure().exact, "peak_bytes": 24 * 2**20}
    measured = measure(exact=exact, environment=replace(environment, jaxlib="0.12.0"))

    verdict = judge(plan_for(), measured, record(), SAME)

    assert words(verdict) == ["REGRESSED", "environment changed"]
    assert sentence(verdict) == "peak_bytes regressed: 8 MiB -> 24 MiB, x3.00, allowed 8.4 MiB"
    assert verdict.why[:2] == (
        "jaxlib 0.10.2 -> 0.12.0: the baseline's own program has it too, peak_bytes 8 MiB -> 24 MiB",
        "not the code: the program before XLA is the same",
    )
    assert verdict.moved == (sentence(verdict),)


def test_a_wrong_result_is_said_beside_all_else_and_decides(
    plan_for: PlanFor, measure: Measure, record: Record
) -> None:
    plan = plan_for(run="1 ms", faster_than={"outer": {"eager": 2}})

    evidence = Evidence(wrong="leaf 0 differs by 0.5, allowed 1e-4", budgets={"run": OVER_A_MS})

    verdict = judge(plan, measure(), record(), evidence)

    assert [(each.outcome, each.sentence) for each in verdict.findings if each.outcome is not Outcome.OK] == [
        (Outcome.WRONG_RESULT, "wrong result: leaf 0 differs by 0.5, allowed 1e-4"),
        (Outcome.OVER_BUDGET, "run over budget: 1.2 ms (1.1 ms ... 1.3 ms), budget 1 ms"),
        (
            Outcome.NOT_MEASURED,
            "not measured: faster_than eager could not be raced: a wrong result is not raced",
        ),
        (Outcome.NOT_GATED, "not gated: a wrong result is not compared"),
    ]
    assert verdict.outcome is Outcome.WRONG_RESULT
    assert [each.outcome for each in verdict.failures] == [
        Outcome.WRONG_RESULT,
        Outcome.OVER_BUDGET,
        Outcome.NOT_MEASURED,
    ]


@pytest.mark.parametrize(
    ("found", "outcome", "said"),
    [
        ((1.5, 1.4, 1.6, True), "NOT FASTER", "not fast enough: x1.50 (x1.40 ... x1.60) as fast as eager, at least x2"),
        ((2.5, 2.4, 2.6, True), "ok", "fast enough: x2.50 (x2.40 ... x2.60) as fast as eager, at least x2 expected"),
        (
            (1.5, 1.4, 2.1, False),
            "inconclusive",
            "faster_than eager inconclusive: x1.50 (x1.40 ... x2.10) as fast as eager after 20 rounds in 1.5 s, "
            "resolution +-40 %, at least x2 expected; --jitperf-max-time gives it more time",
        ),
        (
            (1.996, 1.993, 1.998, True),
            "NOT FASTER",
            "not fast enough: x1.996 (x1.993 ... x1.998) as fast as eager, at least x2 expected",
        ),
        (
            (1.9, 1.8, 2.1, True),
            "inconclusive",
            "faster_than eager inconclusive: x1.90 (x1.80 ... x2.10) as fast as eager after 20 rounds in 1.5 s",
        ),
        ("eager does not run", "not measured", "not measured: faster_than eager could not be raced: eager does not"),
        (None, "not measured", "not measured: faster_than eager could not be raced: it was not raced"),
    ],
)
def test_faster_than_is_judged_by_the_whole_interval(
    plan_for: PlanFor, measure: Measure, record: Record, ratio: MakeRatio, found: Any, outcome: str, said: str
) -> None:
    plan = plan_for(faster_than={"outer": {"eager": 2}})
    raced = ratio(*found[:3], decided=found[3]) if isinstance(found, tuple) else found
    evidence = replace(SAME, faster={} if raced is None else {"eager": raced})

    finding = judge(plan, measure(), record(), evidence).findings[0]

    assert (finding.outcome.value, finding.sentence[: len(said)]) == (outcome, said)
    assert finding.rule == "faster_than outer: eager x2 (marker)"


def test_an_update_is_held_to_budgets_and_not_to_the_baseline(plan_for: PlanFor, measure: Measure) -> None:
    plan = plan_for(run="1 ms", settings=Settings(mode="update"))

    verdict = judge(plan, measure(), None, Evidence(budgets={"run": OVER_A_MS}))

    assert words(verdict) == ["OVER BUDGET"]
    assert verdict.gated_by == "limits"
    assert words(judge(plan_for(settings=Settings(mode="update")), measure(), None, Evidence())) == []


def test_where_there_is_no_baseline_budgets_are_what_gates(plan_for: PlanFor, measure: Measure) -> None:
    assert judge(plan_for(run="5 ms"), measure(), None, Evidence()).gated_by == "limits"
    assert judge(plan_for(), measure(), None, Evidence()).gated_by == ""


# Inputs


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x: f32[8]", "y: f32[8]"),
        ("x: f32[8]; y: f32[4]", "y: f32[8]; x: f32[4]"),
        ("p['a']: f32[8]; p['b']: f32[4]", "p['b']: f32[4]; p['a']: f32[8]"),
        ("p['a']: f32[8]; p['b']: f32[4]", "p['b']: f32[4]; p['c']: f32[8]"),
        ("x: f32[8]; x: f32[8]", "a: f32[8]; x: f32[8]"),
        ("", ""),
    ],
    ids=["renamed", "parameters exchange names", "reordered", "renamed key moves", "twice the same", "none"],
)
def test_names_and_order_of_inputs_are_no_change(
    plan_for: PlanFor, measure: Measure, record: Record, old: str, new: str
) -> None:
    assert words(judge(plan_for(), measure(inputs=new), record(inputs=old), SAME)) == ["ok (same program)"]


UNREAD = "x: f32[8]; rest: f32[3]"


@pytest.mark.parametrize(
    ("old", "unused_before", "new", "unused"),
    [
        ("x: f32[8]", (), UNREAD, (1,)),
        (UNREAD, (1,), "x: f32[8]", ()),
        (UNREAD, (1,), "x: f32[8]; rest: f32[4]", (1,)),
        (UNREAD, (1,), "y: f32[8]; other: i32[]; more: i32[]", (1, 2)),
        (UNREAD, (1,), UNREAD, ()),
        (UNREAD, (), UNREAD, (1,)),
        ("n: static int #aa; x: f32[8]; rest: f32[3]", (1,), "n: static int #aa; x: f32[8]", ()),
    ],
    ids=["added", "removed", "another shape", "others", "read from now on", "no longer read", "beside a static one"],
)
def test_inputs_that_are_not_read_are_no_change(
    plan_for: PlanFor,
    measure: Measure,
    record: Record,
    old: str,
    unused_before: tuple[int, ...],
    new: str,
    unused: tuple[int, ...],
) -> None:
    before, now = (text.removeprefix("n: static int #aa; ") for text in (old, new))
    program = Program(fingerprint=None, inputs=now, unused=unused)
    stored = StoredProgram(inputs="" if before == old else before, unused=unused_before)

    verdict = judge(plan_for(), measure(inputs=new, program=program), record(inputs=old, program=stored), SAME)

    assert words(verdict) == ["ok (same program)"]


def test_an_input_that_is_read_now_and_has_another_shape_is_a_change(
    plan_for: PlanFor, measure: Measure, record: Record
) -> None:
    measured = measure(inputs="x: f32[8]; rest: f32[4]", program=Program(fingerprint=None, inputs=""))
    entry = record(inputs=UNREAD, program=StoredProgram(unused=(1,)))

    assert judge(plan_for(), measured, entry, SAME).worst.short == "rest: f32[3] -> f32[4]"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("x: f32[64]", "x: f32[128]", "f32[64] -> f32[128]"),
        ("x: f32[64]", "y: f16[64]", "f32[64] -> f16[64]"),
        ("x: f32[8]; n: static int #aa", "x: f32[8]; n: static int #bb", "n: static int #aa -> static int #bb"),
        ("a: f32[8]; b: f32[4]", "a: f32[4]; b: f32[8]", "a: f32[8] -> f32[4]; b: f32[4] -> f32[8]"),
        ("x: f32[8]", "x: f32[8]; y: f32[4]", "y: f32[4] is new"),
        ("x: f32[8]; y: f32[4]", "x: f32[8]", "y: f32[4] is gone"),
        ("x: f32[8]; x: f32[8]", "x: f32[8]", "x: f32[8] is gone"),
        ("", "x: f32[8]", "x: f32[8] is new"),
        (
            "; ".join(f"{n}: f32[4]" for n in "abcde"),
            "; ".join(f"{n}: f32[8]" for n in "abcde"),
            "a: f32[4] -> f32[8]; b: f32[4] -> f32[8]; c: f32[4] -> f32[8]; and 2 more",
        ),
    ],
)
def test_inputs_of_another_shape_dtype_or_static_value_are_not_compared(
    plan_for: PlanFor, measure: Measure, record: Record, old: str, new: str, said: str
) -> None:
    measured = measure(inputs=new, exact={"peak_bytes": 2**40})

    verdict = judge(plan_for(), measured, record(inputs=old), SAME)

    assert verdict == Verdict(
        findings=(
            Finding(
                outcome=Outcome.INPUTS_CHANGED,
                sentence=f"inputs changed: {said}; nothing was compared, record the new inputs with --jitperf-update",
                short=said,
            ),
        )
    )


# What a hook makes of a verdict


def test_a_verdict_that_is_taken_back_warns_with_the_reason_and_keeps_what_passes() -> None:
    fine = Finding(outcome=Outcome.IMPROVED, sentence="run improved", metric="run")
    worse = Finding(outcome=Outcome.REGRESSED, sentence="launches regressed: 1 -> 2", metric="launches", short="1 -> 2")
    insisted = replace(fine, metric="xla", insisted=True)

    verdict = Verdict(findings=(fine, worse, insisted), why=("the program changed",), gated_by="race").vetoed("known")

    assert verdict == Verdict(
        findings=(
            fine,
            replace(
                worse,
                outcome=Outcome.NOT_GATED,
                sentence="not gated: known (launches regressed: 1 -> 2)",
                short="known",
            ),
            replace(
                insisted,
                outcome=Outcome.NOT_GATED,
                sentence="not gated: known (run improved)",
                short="known",
                insisted=False,
            ),
        ),
        why=("the program changed",),
        gated_by="race",
    )
    assert not verdict.failed
    assert verdict.outcome is Outcome.NOT_GATED


def test_a_note_on_a_verdict_changes_nothing_else() -> None:
    verdict = Verdict(findings=(Finding(outcome=Outcome.OK, sentence="fine"),), notes=("one",))
    assert verdict.annotated("two") == replace(verdict, notes=("one", "two"))


# Counts that never vary


def test_the_limit_of_a_count_is_a_whole_number(plan_for: PlanFor) -> None:
    (found,) = exact_findings(plan_for(), "host", {"trace_calls": 72_307}, {"trace_calls": 419_255}, {})
    assert found.sentence == "trace_calls regressed: 72,307 -> 419,255, x5.80, allowed 79,537"


@pytest.mark.parametrize(
    ("operations", "calls", "outcome"),
    [
        pytest.param(100, 22_001, "REGRESSED", id="the same operations"),
        pytest.param(100, 22_000, "ok", id="within the tolerance"),
        # 200 calls for each of 100 operations: twice that for each one more.
        pytest.param(120, 22_000 + 20 * 400, "ok", id="more operations"),
        pytest.param(120, 22_001 + 20 * 400, "REGRESSED", id="more calls than more operations explain"),
        pytest.param(80, 22_001, "REGRESSED", id="fewer operations"),
        pytest.param(80, 22_000, "ok", id="fewer operations, and within the tolerance"),
        pytest.param(120, 16_000, "improved", id="fewer calls for more operations"),
    ],
)
def test_operations_more_account_for_python_calls_that_trace_them(
    plan_for: PlanFor, measure: Measure, record: Record, operations: int, calls: int, outcome: str
) -> None:
    old = record(exact={"stablehlo_ops": 100}, host={"3.11/0.10.2": {"trace_calls": 20_000}})
    measured = measure(exact={"stablehlo_ops": operations}, host={"trace_calls": calls})

    verdict = judge(plan_for(), measured, old, SAME)

    (found,) = (each for each in verdict.findings if each.metric == "trace_calls")
    assert found.outcome.value == outcome


def test_the_rule_of_trace_calls_names_the_operations_that_it_allows_for(
    plan_for: PlanFor, measure: Measure, record: Record
) -> None:
    old = record(exact={"stablehlo_ops": 100}, host={"3.11/0.10.2": {"trace_calls": 20_000}})
    measured = measure(exact={"stablehlo_ops": 120}, host={"trace_calls": 90_000})

    verdict = judge(plan_for(), measured, old, SAME)

    (found,) = (each for each in verdict.findings if each.metric == "trace_calls")
    assert found.sentence == "trace_calls regressed: 20,000 -> 90,000, x4.50, allowed 30,000"
    assert found.rule == ("tolerance trace_calls=10 % and 2,000 (default), and 8,000 for 20 more operations traced")


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"marker": {"tolerance": {"trace_calls": "10 %"}}}, id="a tolerance of the user's own"),
        pytest.param({"jax": "0.10.1"}, id="operations of another jax"),
    ],
)
def test_operations_account_for_nothing_where(
    plan_for: PlanFor, measure: Measure, record: Record, environment: Environment, changes: dict[str, Any]
) -> None:
    old = record(
        exact={"stablehlo_ops": 100},
        host={"3.11/0.10.2": {"trace_calls": 20_000}},
        environment=replace(environment, jax=changes.get("jax", environment.jax)),
    )
    measured = measure(exact={"stablehlo_ops": 120}, host={"trace_calls": 26_000})

    verdict = judge(plan_for(**changes.get("marker", {})), measured, old, SAME)

    (found,) = (each for each in verdict.findings if each.metric == "trace_calls")
    assert found.outcome is Outcome.REGRESSED


def test_operations_of_helpers_count_where_there_is_no_program_of_the_whole(
    plan_for: PlanFor, measure: Measure, record: Record
) -> None:
    host = {"3.11/0.10.2": {"trace_calls": 20_000}}
    before = {HELPER: replace(HELPED_BEFORE, exact={"stablehlo_ops": 100})}
    now = {HELPER: replace(HELPED, exact={"stablehlo_ops": 120})}
    measured = measure(strategy="inner", program=None, exact={}, helpers=now, host={"trace_calls": 30_000})

    verdict = judge(
        plan_for("inner"),
        measured,
        record(program=None, exact={}, helpers=before, host=host),
        Evidence(helpers={HELPER: Comparison(same=True, how="optimised")}),
    )

    (found,) = (each for each in verdict.findings if each.metric == "trace_calls")
    assert found.outcome is Outcome.OK


@pytest.mark.parametrize(
    ("metric", "old", "new", "outcome", "said"),
    [
        ("peak_bytes", 10 * MIB, 10.6 * MIB, "REGRESSED",
         "peak_bytes regressed: 10 MiB -> 10.6 MiB, x1.06, allowed 10.5 MiB"),
        ("peak_bytes", 10 * MIB, 10.5 * MIB, "ok", "peak_bytes 10 MiB -> 10.5 MiB"),
        ("peak_bytes", 1024, 60 * 1024, "ok", "peak_bytes 1 KiB -> 60 KiB"),
        ("peak_bytes", 0, 65 * 1024, "REGRESSED", "peak_bytes regressed: 0 B -> 65 KiB, allowed 64 KiB"),
        ("peak_bytes", 10 * MIB, 8 * MIB, "improved",
         "peak_bytes improved: 10 MiB -> 8 MiB; record it with --jitperf-update"),
        ("constant_bytes", 0, 2**16, "ok", "constant_bytes 0 B -> 64 KiB"),
        ("constant_bytes", 0, 800_000, "REGRESSED", "constant_bytes regressed: 0 B -> 781 KiB, allowed 64 KiB"),
        ("peak_bytes", 10, None, "not gated",
         "peak_bytes not gated: the baseline has 10 B, this run none (no statistics)"),
    ],
)  # fmt: skip
def test_program_metrics_are_held_to_share_and_amount(
    plan_for: PlanFor,
    measure: Measure,
    record: Record,
    metric: str,
    old: float,
    new: float | None,
    outcome: str,
    said: str,
) -> None:
    now = {} if new is None else {metric: new}
    measured = measure(exact=now, unavailable={metric: "no statistics"})

    verdict = judge(plan_for(), measured, record(exact={metric: old}), SAME)

    finding = next(each for each in verdict.findings if each.metric == metric)
    assert (finding.outcome.value, finding.sentence) == (outcome, said)


def test_a_metric_that_the_baseline_lacks_or_that_only_explains_is_not_judged(
    plan_for: PlanFor, measure: Measure, record: Record
) -> None:
    measured = measure(exact={"peak_bytes": 2**40, "flops": 1e12}, host={"leaves": 10**6})

    verdict = judge(plan_for(), measured, record(exact={"flops": 1.0}, host={"3.11/0.10.2": {"leaves": 1}}), SAME)

    assert [each.outcome for each in verdict.findings] == [Outcome.OK_SAME]


@pytest.mark.parametrize(("new", "outcome"), [(2, "REGRESSED"), (0, "improved"), (1, "ok (same program)")])
def test_one_program_is_held_to_the_very_number_of_launches(
    plan_for: PlanFor, measure: Measure, record: Record, new: int, outcome: str
) -> None:
    verdict = judge(plan_for(), measure(host={"launches": new}), record(), SAME)

    # The other counts were not measured today, so they cannot be what decides.
    findings = [each for each in verdict.findings if each.metric in ("launches", "")]
    assert max((each.outcome for each in findings), key=lambda each: each.rank).value == outcome


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ({"3.11/0.10.1": {"trace_calls": 1}}, "recorded with jax 0.10.1"),
        ({"3.12/0.10.2": {"trace_calls": 1}}, "recorded with Python 3.12 and jax 0.10.2"),
        (
            {"3.12/0.10.2": {"trace_calls": 1}, "3.13/0.10.2": {"trace_calls": 1}},
            "recorded with Python 3.12 and jax 0.10.2 or Python 3.13 and jax 0.10.2",
        ),
        ({}, "not recorded"),
    ],
)
def test_counts_of_another_python_or_jax_are_a_note_and_no_warning(
    plan_for: PlanFor, measure: Measure, record: Record, host: Any, said: str
) -> None:
    verdict = judge(plan_for(), measure(host={"launches": 5, "trace_calls": 90_000}), record(host=host), SAME)

    assert words(verdict) == ["ok (same program)"]
    assert verdict.notes == (f"launches and trace_calls not gated ({said})",)


def test_where_counts_are_all_there_is_those_of_another_version_gate_nothing(inner: Callable[..., Verdict]) -> None:
    newer = Environment(jax="0.11.0", jaxlib="0.11.0", python="3.11", platform="cpu")

    verdict = inner({}, {}, {}, strategy="mine", host={"launches": 5}, environment=newer)

    assert (words(verdict), sentence(verdict), verdict.notes, verdict.gated_by) == (
        ["not gated"],
        "launches not gated (recorded with jax 0.10.2); record them with --jitperf-update",
        (),
        "",
    )


# One compiled program that has changed


def test_a_confirmed_regression_names_both_times_the_interval_and_the_rule(
    raced: Callable[..., Verdict], ratio: MakeRatio
) -> None:
    verdict = raced(ratio(1.2, 1.18, 1.22, confirmed=True))

    assert words(verdict) == ["REGRESSED"]
    assert verdict.worst == Finding(
        outcome=Outcome.REGRESSED,
        sentence="run regressed: 1 ms -> 1.2 ms, x1.20 (x1.18 ... x1.22), allowed x1.10",
        metric="run",
        old=0.001,
        new=0.0012,
        ratio=ratio(1.2, 1.18, 1.22, confirmed=True),
        limit=1.1,
        rule="tolerance run=10 % (default)",
        short="run x1.20 (x1.18 ... x1.22)",
    )
    assert (verdict.gated_by, verdict.why[0]) == ("race", "nothing that is counted of the program differs")


@pytest.mark.parametrize(
    ("interval", "changes", "outcome"),
    [
        ((1.2, 1.18, 1.22), {"confirmed": True}, "REGRESSED"),
        ((1.2, 1.18, 1.22), {"confirmed": False}, "REGRESSED"),
        ((1.02, 1.01, 1.03), {"confirmed": False}, "ok"),
        ((1.08, 1.01, 1.15), {"confirmed": False, "decided": False}, "inconclusive"),
        ((1.2, 1.18, 1.22), {"decided": False}, "inconclusive"),
        ((0.8, 0.79, 0.81), {}, "improved"),
        ((0.93, 0.92, 0.94), {}, "ok"),
        ((0.8, 0.79, 0.81), {"decided": False}, "inconclusive"),
        ((1.1, 1.1, 1.1), {}, "inconclusive"),
        ((1.12, 1.09, 1.15), {}, "inconclusive"),
        ((0.9, 0.87, 0.93), {}, "ok"),
    ],
    ids=[
        "confirmed",
        "no time to confirm",
        "the second race says that it is fine",
        "the second race cannot tell",
        "one core saw another program",
        "faster",
        "a little faster",
        "faster and not decided",
        "on the limit",
        "the limit within its interval",
        "the limit of an improvement within its interval",
    ],
)
def test_a_race_regresses_only_where_it_is_decided_and_wholly_beyond_the_limit(
    raced: Callable[..., Verdict], ratio: MakeRatio, interval: Any, changes: Any, outcome: str
) -> None:
    verdict = raced(ratio(*interval, **changes))

    assert (verdict.outcome.value, verdict.gated_by) == (outcome, "race")


def test_an_inconclusive_race_gives_its_resolution_and_the_way_to_more_time(
    raced: Callable[..., Verdict], ratio: MakeRatio
) -> None:
    verdict = raced(ratio(1.08, 1.02, 1.14, decided=False, one_core=True))

    assert sentence(verdict) == (
        "run inconclusive: x1.08 (x1.02 ... x1.14), on one core after 20 rounds in 1.5 s, resolution +-6 %, "
        "allowed x1.10; --jitperf-max-time gives it more time"
    )
    assert verdict.worst.short == "run x1.08, on one core, resolution +-6 %"


def test_the_ends_of_an_interval_are_written_so_that_they_differ_from_the_limit(
    raced: Callable[..., Verdict], ratio: MakeRatio
) -> None:
    assert sentence(raced(ratio(1.11, 1.1004, 1.12))) == (
        "run regressed: 1.08 ms -> 1.2 ms, x1.1100 (x1.1004 ... x1.1200), allowed x1.1000"
    )


@pytest.mark.parametrize(
    ("tolerance", "outcome"),
    [("5 %", "REGRESSED"), ("5 % and 300 us", "ok"), ("100 us", "REGRESSED"), ("2 ms", "ok"), ("25 %", "ok")],
)
def test_a_tolerance_of_run_holds_by_its_share_or_by_its_amount(
    plan_for: PlanFor, raced: Callable[..., Verdict], ratio: MakeRatio, tolerance: str, outcome: str
) -> None:
    plan = plan_for(tolerance={"run": tolerance})

    # 1 ms -> 1.2 ms
    assert raced(ratio(1.2, 1.19, 1.21), plan).outcome.value == outcome


@pytest.mark.parametrize(
    ("run", "comparison", "expected"),
    [
        (None, {"cannot": "no program was stored", "xla": None}, ("not gated: no program was stored", "counts")),
        (None, {}, ("not gated: there was no time for it", "race")),
        (
            (1.0, 0.99, 1.01),
            {"xla": None, "cannot": "compile time is not compared: it has a callback"},
            ("compile not gated: compile time is not compared: it has a callback", "race"),
        ),
    ],
)
def test_what_cannot_be_compared_is_not_gated_and_says_why(
    raced: Callable[..., Verdict], ratio: MakeRatio, run: Any, comparison: Any, expected: tuple[str, str]
) -> None:
    verdict = raced(ratio(*run) if run else None, **comparison)

    assert (words(verdict), sentence(verdict), verdict.gated_by) == (["not gated"], *expected)


def test_counts_are_judged_though_the_program_cannot_be_compared(
    plan_for: PlanFor, measure: Measure, record: Record
) -> None:
    evidence = Evidence(program=Comparison(same=False, cannot="recorded on gpu"))

    verdict = judge(plan_for(), measure(exact={"peak_bytes": 2**30}), record(), evidence)

    assert words(verdict) == ["REGRESSED", "not gated", "not gated"]


def test_everything_that_applies_is_reported_and_run_time_heads_the_failures(
    plan_for: PlanFor, measure: Measure, record: Record, ratio: MakeRatio
) -> None:
    plan = plan_for(compile="1 ms")
    measured = measure(exact={"peak_bytes": 2**30, "constant_bytes": 0}, host={**measure().host, "launches": 2})
    xla = ratio(3, 2.9, 3.1)
    comparison = Comparison(same=False, run=ratio(2, 1.9, 2.1, confirmed=True), xla=xla, old_xla_seconds=0.04)

    verdict = judge(plan, measured, record(), Evidence(program=comparison, budgets={"compile": OVER_A_MS}))

    assert [(each.outcome.value, each.metric) for each in verdict.failures] == [
        ("REGRESSED", "run"),
        ("REGRESSED", "compile"),
        ("REGRESSED", "peak_bytes"),
        ("REGRESSED", "launches"),
        ("OVER BUDGET", "compile"),
    ]


def test_an_improvement_passes_unless_the_marker_insists_that_it_be_recorded(
    plan_for: PlanFor, raced: Callable[..., Verdict], ratio: MakeRatio
) -> None:
    better = ratio(0.5, 0.49, 0.51)

    passing, failing = raced(better), raced(better, plan_for(fail_on_improvement=True))

    assert (passing.outcome, passing.failed) == (Outcome.IMPROVED, False)
    assert (failing.outcome, failing.failed) == (Outcome.IMPROVED, True)
    assert [(each.sentence, each.effect, each.rule) for each in failing.failures] == [
        (
            "run improved: 2.4 ms -> 1.2 ms, x0.50 (x0.49 ... x0.51); record it with --jitperf-update",
            Effect.FAIL,
            "fail_on_improvement: what is better is to be recorded (marker)",
        )
    ]


# Programs that Python drives


def test_helpers_that_are_all_the_same_make_it_the_same(inner: Callable[..., Verdict]) -> None:
    verdict = inner({HELPER: Comparison(same=True)})

    assert (words(verdict), sentence(verdict), verdict.gated_by) == (
        ["ok (same program)"],
        "the helper's program is the same as the baseline's",
        "same program",
    )


def test_one_helper_that_is_another_program_makes_it_no_longer_the_same(
    inner: Callable[..., Verdict], ratio: MakeRatio
) -> None:
    now, stored = {HELPER: HELPED, OTHER: HELPED}, {HELPER: HELPED_BEFORE, OTHER: HELPED_BEFORE}
    changed = Comparison(same=False, run=ratio(1.0, 0.99, 1.01))
    for keys in ((HELPER, OTHER), (OTHER, HELPER)):
        compared = dict(zip(keys, (changed, Comparison(same=True)), strict=True))

        verdict = inner(compared, now, stored)

        assert (words(verdict), verdict.gated_by) == ([], "race")


def test_an_environment_is_named_for_helpers_too(inner: Callable[..., Verdict], environment: Environment) -> None:
    two = {HELPER: HELPED, OTHER: HELPED}
    same = {key: Comparison(same=True) for key in two}
    changed = replace(environment, device_count=4, machine="another")

    verdict = inner(same, two, dict.fromkeys(two, HELPED_BEFORE), environment=changed)

    assert sentence(verdict) == (
        "environment changed: device_count 1 -> 4; the helpers' programs before XLA are the same"
    )


def test_a_helper_is_raced_as_one_program_is_and_named(inner: Callable[..., Verdict], ratio: MakeRatio) -> None:
    verdict = inner({HELPER: Comparison(same=False, run=ratio(1.2, 1.18, 1.22, confirmed=True))})

    assert (verdict.outcome, sentence(verdict), verdict.worst.short, verdict.worst.helper, verdict.gated_by) == (
        Outcome.REGRESSED,
        "helper f: run regressed: x1.20 (x1.18 ... x1.22), allowed x1.10",
        "f: run x1.20 (x1.18 ... x1.22)",
        HELPER,
        "race",
    )
    assert verdict.why[0] == "helper lib.f: nothing that is counted of the program differs"


def test_two_signatures_of_a_helper_are_told_apart(inner: Callable[..., Verdict], ratio: MakeRatio) -> None:
    two = {HELPER: HELPED, OTHER: HELPED}
    comparisons = {HELPER: Comparison(same=True), OTHER: Comparison(same=False, run=ratio(2, 1.9, 2.1))}

    verdict = inner(comparisons, two, dict.fromkeys(two, HELPED_BEFORE))

    assert sentence(verdict) == "helper f(x: f32[8]): run regressed: x2.00 (x1.90 ... x2.10), allowed x1.10"


def test_a_helper_is_held_to_its_memory(inner: Callable[..., Verdict]) -> None:
    larger = replace(HELPED, exact={"peak_bytes": 2**20})

    verdict = inner({HELPER: Comparison(same=True)}, {HELPER: larger})

    assert sentence(verdict) == "helper f: peak_bytes regressed: 100 B -> 1 MiB, x10485.76, allowed 64.1 KiB"


def test_a_helper_that_cannot_be_compared_says_why_and_keeps_its_race(
    inner: Callable[..., Verdict], ratio: MakeRatio
) -> None:
    missing = inner({HELPER: Comparison(same=False, cannot="no program was stored")})
    unpaired = inner({HELPER: Comparison(same=False, cannot="a callback", run=ratio(2, 1.9, 2.1))})

    assert (words(missing), sentence(missing)) == (["not gated"], "helper f: not gated: no program was stored")
    assert words(unpaired) == ["REGRESSED"]


def test_a_helper_with_a_new_signature_is_not_gated(inner: Callable[..., Verdict]) -> None:
    verdict = inner({HELPER: Comparison(same=True)}, {HELPER: HELPED, OTHER: HELPED})

    assert (words(verdict), sentence(verdict)) == (
        ["not gated"],
        "helper f(x: f32[8]): not gated: lib.f(x: f32[8]) is not in the baseline",
    )


@pytest.mark.parametrize("now", [{}, {HELPER: HELPED}], ids=["none left", "one left"])
def test_a_helper_that_has_vanished_is_named(inner: Callable[..., Verdict], now: dict[str, Program]) -> None:
    stored = {HELPER: HELPED_BEFORE, OTHER: HELPED_BEFORE}
    compared = {key: Comparison(same=True) for key in now}

    verdict = inner(compared, now, stored)

    assert {each.sentence for each in verdict.findings if each.outcome is Outcome.NOT_GATED} == {
        f"not gated: helper {key} of the baseline was not called" for key in stored if key not in now
    }
    assert verdict.gated_by == "counts"


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("lib.g(x: f32[64])", "where g is f"),
        ("other.f(x: f32[64])", "where f is lib.f"),
        ("lib.f(x: f32[64], unread: f32[3])", ""),
    ],
)
def test_a_renamed_helper_is_still_the_same(inner: Callable[..., Verdict], key: str, said: str) -> None:
    verdict = inner({key: Comparison(same=True)}, {key: HELPED})

    same = "the helper's program is the same as the baseline's"
    assert (words(verdict), sentence(verdict)) == (["ok (same program)"], f"{same}, {said}" if said else same)


def test_a_renamed_helper_that_changed_is_raced_and_held_to_its_memory(
    inner: Callable[..., Verdict], ratio: MakeRatio
) -> None:
    changed = replace(HELPED, fingerprint="sha256:" + "c" * 64, exact={"peak_bytes": 2**20})
    comparison = Comparison(same=False, run=ratio(1.2, 1.18, 1.22, confirmed=True))

    verdict = inner({"lib.g(x: f32[64])": comparison}, {"lib.g(x: f32[64])": changed})

    assert [each.sentence for each in verdict.findings if each.outcome is Outcome.REGRESSED] == [
        "helper g (f in the baseline): peak_bytes regressed: 100 B -> 1 MiB, x10485.76, allowed 64.1 KiB",
        "helper g (f in the baseline): run regressed: x1.20 (x1.18 ... x1.22), allowed x1.10",
    ]


def test_an_argument_more_is_no_change_where_all_that_python_drives_is_the_same(
    inner: Callable[..., Verdict], ratio: MakeRatio
) -> None:
    more = "x: f32[64]; rest: f32[3]"
    same = inner({HELPER: Comparison(same=True)}, inputs=more)
    slower = inner({HELPER: Comparison(same=False, run=ratio(1.2, 1.18, 1.22, confirmed=True))}, inputs=more)
    another_shape = inner({HELPER: Comparison(same=True)}, inputs="x: f32[65]; rest: f32[3]")

    assert (words(same), words(slower), words(another_shape)) == (
        ["ok (same program)"],
        ["inputs changed"],
        ["inputs changed"],
    )
    assert slower.worst.short == "rest: f32[3] is new"


def test_a_helper_that_takes_something_else_now_says_so_once(inner: Callable[..., Verdict]) -> None:
    verdict = inner({}, {OTHER: replace(HELPED, fingerprint=None)})

    assert [each.sentence for each in verdict.findings if each.outcome is Outcome.NOT_GATED] == [
        "helper f: not gated: lib.f is called with (x: f32[8]) now, and with (x: f32[64]) in the baseline"
    ]


@pytest.mark.parametrize(
    ("stored", "instead"),
    [({}, ""), ({OTHER: HELPED_BEFORE}, " (which has 1 that is not called)")],
    ids=["new", "others in the baseline"],
)
def test_many_new_signatures_of_a_helper_are_counted(
    inner: Callable[..., Verdict], stored: dict[str, StoredProgram], instead: str
) -> None:
    now = {HELPER: HELPED, **{f"lib.f(x: f32[{n}])": replace(HELPED, fingerprint=f"sha256:{n}") for n in range(4)}}

    verdict = inner({HELPER: Comparison(same=True)}, now, {HELPER: HELPED_BEFORE, **stored})

    reason = f"is called with 4 signatures that are not in the baseline{instead}"
    assert [(each.sentence, each.short) for each in verdict.findings if each.outcome is Outcome.NOT_GATED] == [
        (f"helper f: not gated: lib.f {reason}", f"f {reason}")
    ]


ONE = "it cannot be traced as one program: ConcretizationTypeError: a float() in it"
CALLS_BACK = "it calls back into Python, which cannot be stored"


@pytest.mark.parametrize(
    ("now", "before", "marker", "expected"),
    [
        (Program(fingerprint=None, inputs="", no_artifact=ONE), StoredProgram(no_artifact=f"{ONE}, elsewhere"), {}, []),
        (
            Program(fingerprint=None, inputs="", no_artifact=ONE),
            StoredProgram(fingerprint="sha256:a"),
            {},
            ["not gated"],
        ),
        (
            Program(fingerprint=None, inputs="", no_artifact=CALLS_BACK),
            StoredProgram(no_artifact=CALLS_BACK),
            {},
            ["not gated"],
        ),
        (
            Program(fingerprint=None, inputs="", no_artifact=ONE),
            StoredProgram(no_artifact=ONE),
            {"tolerance": {"run": "5 %"}},
            ["not gated"],
        ),
    ],
    ids=["never was one", "is none any more", "calls back", "the marker asks for it"],
)
def test_of_what_never_was_one_program_counts_are_gated_as_under_inner(
    plan_for: PlanFor,
    measure: Measure,
    record: Record,
    now: Program,
    before: StoredProgram,
    marker: dict[str, Any],
    expected: list[str],
) -> None:
    measured = measure(strategy="mine", program=now, exact={})
    evidence = Evidence(program=Comparison(same=False, cannot=now.no_artifact))

    verdict = judge(plan_for("mine", **marker), measured, record(program=before, exact={}), evidence)

    assert (words(verdict), verdict.gated_by) == (expected, "counts")


def test_run_time_of_what_python_drives_is_shown_and_never_judged(inner: Callable[..., Verdict]) -> None:
    verdict = inner({HELPER: Comparison(same=True)}, timed={})

    assert "run" not in {each.metric for each in verdict.findings}


@pytest.mark.parametrize(("launches", "outcome"), [(3, "ok (same program)"), (4, "REGRESSED")])
def test_python_may_start_a_few_programs_more(
    inner: Callable[..., Verdict], measure: Measure, launches: int, outcome: str
) -> None:
    verdict = inner({HELPER: Comparison(same=True)}, host={**measure().host, "launches": launches})

    assert verdict.outcome.value == outcome


def test_a_strategy_of_ones_own_that_python_drives_is_held_to_its_counts(inner: Callable[..., Verdict]) -> None:
    verdict = inner({}, {}, {}, strategy="mine")

    assert (words(verdict), verdict.gated_by) == ([], "counts")


# Stored times


def test_stored_times_serve_what_cannot_be_raced_where_the_machine_is_dedicated(
    plan_for: PlanFor, inner: Callable[..., Verdict], measure: Measure
) -> None:
    slow = {"run": replace(measure().timed["run"], median=0.002, low=0.0019, high=0.0021)}
    same = {HELPER: Comparison(same=True)}

    usual = inner(same, timed=slow)
    dedicated = inner(same, timed=slow, plan=plan_for("inner", settings=Settings(stored_times=True)))

    assert words(usual) == ["ok (same program)"]
    assert (dedicated.outcome, sentence(dedicated), dedicated.worst.rule) == (
        Outcome.REGRESSED,
        "run regressed: 1.2 ms -> 2 ms against the stored time, allowed 10 % more",
        "stored times, tolerance run=10 % (default)",
    )


def test_stored_times_serve_a_program_that_is_not_stored(plan_for: PlanFor, measure: Measure, record: Record) -> None:
    plan = plan_for(settings=Settings(stored_times=True))
    evidence = Evidence(program=Comparison(same=False, cannot="it is too large to store"))

    verdict = judge(plan, measure(), record(), evidence)

    assert (words(verdict), verdict.gated_by) == ([], "stored times")
    assert [(each.sentence, each.short) for each in verdict.findings if each.metric == "run"] == [
        (
            "run 1.2 ms -> 1.2 ms against the stored time (not raced: it is too large to store); "
            "compile time is not compared",
            "run 1.2 ms -> 1.2 ms; compile time is not compared",
        )
    ]


def test_stored_times_of_another_machine_are_not_used(
    plan_for: PlanFor, inner: Callable[..., Verdict], environment: Environment
) -> None:
    plan = plan_for("inner", settings=Settings(stored_times=True))

    verdict = inner({HELPER: Comparison(same=True)}, plan=plan, environment=replace(environment, machine="another"))

    assert words(verdict) == ["ok (same program)", "not gated"]
    assert sentence(verdict) == "run not gated: its stored time is of another machine or environment"


def test_stored_times_do_not_judge_a_run_time_that_is_not_gated(
    plan_for: PlanFor, measure: Measure, record: Record
) -> None:
    plan = plan_for("eager", settings=Settings(stored_times=True), tolerance={"eager": {"launches": "0 %"}})

    verdict = judge(plan, measure(strategy="eager", program=None), record(program=None), Evidence())

    assert [each.metric for each in verdict.findings] == ["launches"]


def test_a_tolerance_by_option_does_not_gate_eager(plan_for: PlanFor, measure: Measure, record: Record) -> None:
    tolerances = {"run": SetTolerance(tolerance=Tolerance(0.0, 0.0), rule="--jitperf-tolerance")}
    plan = plan_for("eager", settings=Settings(stored_times=True, tolerances=tolerances))

    assert judge(plan, measure(strategy="eager", program=None), record(), Evidence()).outcome is Outcome.REFERENCE
