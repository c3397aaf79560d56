"""Why a metric moved, in words: the two lines that everybody sees, and the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pytest_jitperf.baseline.model import Entry, StoredProgram
from pytest_jitperf.judge.evidence import Evidence
from pytest_jitperf.judge.explain import explain
from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.measurement import Comparison, Constant, Environment, Measurement, Program, Ratio

Measure = Callable[..., Measurement]
Record = Callable[..., Entry]

MIB = 2**20
LAST = "besides the code nothing differs: inputs, Python, jax, jaxlib, flags and machine are the baseline's"
XLA = Ratio(estimate=4.0, low=3.9, high=4.1, rounds=5, seconds=1, decided=True)
OLD = {"temp_bytes": 0, "flops": 1000.0, "fusions": 2}


def moved(metric: str, *, better: bool = False, times: float | None = None, helper: str = "") -> Finding:
    ratio = None if times is None else replace(XLA, estimate=times)
    outcome = Outcome.IMPROVED if better else Outcome.REGRESSED
    return Finding(outcome=outcome, sentence="", metric=metric, ratio=ratio, helper=helper)


def test_a_lost_scan_is_told_by_its_loop_its_operations_and_the_phase_that_took_longer(
    measure: Measure, record: Record
) -> None:
    measured = measure(
        exact={"temp_bytes": 290 * 1024, "peak_bytes": 490 * 1024, "constant_bytes": 0},
        host={**measure().host, "trace_calls": 60_000},
    )
    comparison = Comparison(
        same=False,
        old_exact={"temp_bytes": 12 * 1024, "peak_bytes": 212 * 1024, "constant_bytes": 0},
        old_operations={"dot": 7, "while": 1, "add": 8, "copy": 9},
        new_operations={"dot": 336, "add": 288, "negate": 96, "tanh": 48, "concatenate": 1, "slice": 48},
        old_xla_seconds=0.05,
        xla=XLA,
    )

    lines = explain(
        measured, record(), Evidence(program=comparison), [moved("peak_bytes"), moved("compile"), moved("trace_calls")]
    )

    assert lines == (
        "the program changed as when a scan becomes a Python loop: operations 16 -> 817 (x51.1), dot 7 -> 336 (x48), "
        "while 1 -> 0, negate 0 -> 96, slice 0 -> 48",
        "compile: xla 50 ms -> 200 ms (100 % of the change), trace 6 ms -> 6 ms, lower 4 ms -> 4 ms CPU time; "
        "trace_calls 10,000 -> 60,000",
        "peak_bytes: temp memory 12 KiB -> 290 KiB",
        "further changes: tanh 0 -> 48, add 8 -> 288 (x36), concatenate 0 -> 1",
        "on the host: trace_calls 10,000 -> 60,000",
        LAST,
    )


def test_a_captured_constant_is_named_and_what_to_do_about_it(measure: Measure, record: Record) -> None:
    table = Constant(shape="f32[512,1024]", bytes=2 * MIB)
    program = Program(fingerprint=None, inputs="", constants=(table,), operations={"add": 2})
    measured = measure(program=program, exact={"peak_bytes": 6 * MIB, "constant_bytes": 2 * MIB, "temp_bytes": 2 * MIB})
    old = {"peak_bytes": 5 * MIB, "constant_bytes": 0, "temp_bytes": 3 * MIB}
    comparison = Comparison(same=False, old_exact=old, old_operations={"iota": 4, "add": 2})

    lines = explain(measured, record(), Evidence(program=comparison), [moved("constant_bytes"), moved("peak_bytes")])

    assert lines == (
        "peak_bytes: captured constants 0 B -> 2 MiB (f32[512,1024], 2 MiB), temp memory 3 MiB -> 2 MiB; "
        "pass what is captured as an argument",
        "the program changed: iota 4 -> 0, operations 6 -> 2",
        LAST,
    )


def test_where_memory_is_all_that_differs_nothing_else_is_said_of_the_program(measure: Measure, record: Record) -> None:
    measured = measure(exact={"temp_bytes": 8 * MIB})
    comparison = Comparison(same=False, old_exact={"temp_bytes": 0}, old_operations={"a": 1}, new_operations={"a": 1})

    assert explain(measured, record(), Evidence(program=comparison), [moved("peak_bytes")]) == (
        "peak_bytes: temp memory 0 B -> 8 MiB",
        LAST,
    )


def test_an_improvement_is_explained_as_a_regression_is(measure: Measure, record: Record) -> None:
    comparison = Comparison(same=False, old_exact=OLD, old_operations={"dot": 5}, new_operations={"dot": 1})
    measured = measure(exact={"temp_bytes": 0, "flops": 200.0, "fusions": 1})

    lines = explain(measured, record(), Evidence(program=comparison), [moved("run", better=True, times=0.4)])

    assert lines == ("the program changed: flops x0.2, dot 5 -> 1, operations 5 -> 1, fusions 2 -> 1", LAST)


@pytest.mark.parametrize(
    ("comparison", "operations", "said"),
    [
        (
            Comparison(same=False, old_operations={"dot": 1}, new_operations={"dot": 1}),
            {},
            "the program changed in nothing that is counted; that leaves the order of its operations, or values of "
            "constants",
        ),
        (
            Comparison(same=False, old_operations={"custom-call xla_ffi_python_cpu_callback": 1}),
            {"custom-call xla_ffi_python_cpu_callback": 1},
            "the program changed in nothing that is counted; that leaves the order of its operations, or values of "
            "constants, or what it calls back",
        ),
        (
            Comparison(same=False, cannot="it calls back into Python"),
            {"custom-call xla_ffi_python_cpu_callback": 1},
            "nothing that is counted of the program differs; the stored one could not be compared: it calls back into "
            "Python",
        ),
        (Comparison(same=False), {}, "nothing that is counted of the program differs"),
    ],
    ids=["arranged otherwise", "a callback", "not stored", "unknown"],
)
def test_where_nothing_countable_differs_it_says_so(
    measure: Measure, record: Record, comparison: Comparison, operations: Any, said: str
) -> None:
    measured = measure(program=Program(fingerprint=None, inputs="", operations=operations))

    assert explain(measured, record(), Evidence(program=comparison), [moved("run", times=1.5)]) == (said, LAST)


@pytest.mark.parametrize(
    ("old", "new", "times", "said"),
    [
        ({"while": 1, "add": 4}, {"while": 1, "add": 5}, 7.0, True),
        ({"while": 1, "add": 4}, {"while": 1, "add": 5}, 1.2, False),
        ({"while": 1, "add": 4}, {"while": 2, "add": 5}, 7.0, False),
        ({"add": 4}, {"add": 5}, 7.0, False),
    ],
    ids=["more than is counted", "as much as is counted", "another loop is told already", "no loop"],
)
def test_steps_of_a_loop_are_not_counted_and_that_is_told(
    measure: Measure, record: Record, old: Any, new: Any, times: float, said: bool
) -> None:
    measured = measure(exact={"flops": 1250.0})
    comparison = Comparison(same=False, old_exact={"flops": 1000.0}, old_operations=old, new_operations=new)

    lines = explain(measured, record(), Evidence(program=comparison), [moved("run", times=times)])

    loops = "what a loop does is counted once, however often it runs: it may take more steps"
    assert (loops in lines) is said


def test_a_program_that_is_the_same_leaves_python(measure: Measure, record: Record) -> None:
    measured = measure(host={**measure().host, "trace_calls": 90_000})
    same = Evidence(program=Comparison(same=True, how="fingerprint"))

    assert explain(measured, record(), same, [moved("trace_calls")]) == (
        "the program is the same: what changed is what Python does",
        "on the host: trace_calls 10,000 -> 90,000",
        LAST,
    )


def test_counts_of_the_host_lead_where_they_moved_and_what_compiled_again_leads_them(
    measure: Measure, record: Record
) -> None:
    measured = measure(host={**measure().host, "compilations": 3, "launches": 2})
    evidence = Evidence(
        program=Comparison(same=True, how="fingerprint"),
        retraces=("input 2: x: f32[8] -> f32[9]", "input 3: x: f32[9] -> f32[10]"),
    )

    assert explain(measured, record(), evidence, [moved("launches"), moved("compilations")]) == (
        "compiled again: input 2: x: f32[8] -> f32[9]",
        "the program is the same: what changed is what Python does",
        "compiled again: input 3: x: f32[9] -> f32[10]",
        "on the host: compilations 1 -> 3, launches 1 -> 2",
        LAST,
    )


@pytest.mark.parametrize(
    ("names", "line"),
    [
        ({"scatter": 64, "add": 2, "broadcast_in_dim": 64}, "broadcast_in_dim 64, scatter 64, add 2"),
        (
            {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1_000},
            "g 1,000, a 1, b 1, c 1, d 1 (and 2 more)",
        ),
    ],
)
def test_launches_are_named_where_there_are_too_many(
    measure: Measure, record: Record, names: dict[str, int], line: str
) -> None:
    measured = measure(host={**measure().host, "launches": 130}, launched=names)
    same = Evidence(program=Comparison(same=True, how="fingerprint"))

    assert explain(measured, record(), same, [moved("launches")]) == (
        f"each call launches {line}",
        "the program is the same: what changed is what Python does",
        "on the host: launches 1 -> 130",
        LAST,
    )
    assert explain(measured, record(), same, [moved("run"), moved("launches")])[-3:] == (
        f"each call launches {line}",
        "on the host: launches 1 -> 130",
        LAST,
    )
    assert explain(measured, record(), same, [moved("run")])[-2:] == ("on the host: launches 1 -> 130", LAST)


def test_helpers_are_told_one_by_one_those_that_moved_first(measure: Measure, record: Record) -> None:
    keys = ("lib.a(f32[8])", "lib.b(f32[8])", "lib.c(f32[8])")
    now = dict.fromkeys(keys, Program(fingerprint=None, inputs="", exact={"flops": 20.0}))
    entry = record(helpers=dict.fromkeys(keys, StoredProgram(exact={"flops": 10.0})), program=None)
    comparisons = {keys[0]: Comparison(same=False), keys[1]: Comparison(same=False), keys[2]: Comparison(same=True)}
    measured = measure(helpers=now, program=None)

    lines = explain(measured, entry, Evidence(helpers=comparisons), [moved("run", times=2.0, helper=keys[1])])

    assert lines == (
        "helper lib.b: the program changed: flops x2",
        "helper lib.a: the program changed: flops x2",
        LAST,
    )


def test_options_and_donation_are_compared_with_what_was_stored(measure: Measure, record: Record) -> None:
    entry = record(program=StoredProgram(fingerprint="sha256:" + "a" * 64, donated=(0, 2), options={"xla_foo": "1"}))
    comparison = Comparison(same=False, old_operations={"a": 1}, new_operations={"a": 1})

    lines = explain(measure(), entry, Evidence(program=comparison), [moved("run", times=1.5)])

    assert lines == ("the program changed: compiler option xla_foo 1 -> default, donated arguments 2 -> 0", LAST)
    # A program that cannot be built again is stored without them.
    callback = record(program=StoredProgram())
    assert explain(measure(), callback, Evidence(program=comparison), [moved("run", times=1.5)])[0].startswith(
        "the program changed in nothing that is counted"
    )


UPGRADE: Any = {"jax": "0.12.0", "jaxlib": "0.12.0"}
BESIDES = "besides the code: jax and jaxlib 0.10.2 -> 0.12.0; the inputs are the baseline's"


def test_an_upgrade_that_is_the_cause_is_told_in_two_lines(
    measure: Measure, record: Record, environment: Environment
) -> None:
    exact = {**measure().exact, "peak_bytes": 24 * MIB, "temp_bytes": 16 * MIB}
    measured = measure(exact=exact, environment=replace(environment, **UPGRADE))
    same = Evidence(program=Comparison(same=True, how="fingerprint"))

    assert explain(measured, record(), same, [moved("peak_bytes")]) == (
        "jaxlib 0.10.2 -> 0.12.0: the baseline's own program has it too, peak_bytes 8 MiB -> 24 MiB",
        "neither the code nor jax's lowering: the program before XLA is the same",
        "the baseline's own program, recorded -> with today's XLA: temp memory 0 B -> 16 MiB, run 1.2 ms -> 1.2 ms",
        BESIDES,
    )


def test_an_upgrade_beside_a_regression_of_the_code_is_told_apart_from_it(
    measure: Measure, record: Record, environment: Environment
) -> None:
    exact = {**measure().exact, "peak_bytes": 24 * MIB, "jaxpr_eqns": 960}
    measured = measure(exact=exact, environment=replace(environment, machine="another", **UPGRADE))
    entry = record(exact={**record().exact, "jaxpr_eqns": 20})
    comparison = Comparison(
        same=False,
        run=replace(XLA, estimate=1.2),
        old_exact={**record().exact, "peak_bytes": 24 * MIB, "temp_bytes": 16 * MIB},
        old_operations={"dot": 1, "add": 1},
        new_operations={"dot": 64, "add": 64, "slice": 4, "concatenate": 1},
    )

    lines = explain(measured, entry, Evidence(program=comparison), [moved("run", times=1.2), moved("peak_bytes")])

    assert lines[:3] == (
        "jaxlib 0.10.2 -> 0.12.0 is not the cause of run, compared with it on both sides; of peak_bytes it is the "
        "cause: 8 MiB -> 24 MiB in the baseline's own program",
        "the code or jax's lowering (jaxpr equations 20 -> 960), with the same XLA on both sides: "
        "peak_bytes the same, run x1.20; the program changed as when a vmap becomes a Python loop: "
        "dot 1 -> 64 (x64), operations 2 -> 133 (x66.5), add 1 -> 64 (x64)",
        "the baseline's own program, recorded -> with today's XLA: temp memory 0 B -> 16 MiB",
    )


def test_another_jax_with_the_same_jaxlib_may_lower_otherwise(
    measure: Measure, record: Record, environment: Environment
) -> None:
    measured = measure(environment=replace(environment, jax="0.12.0"))
    comparison = Comparison(
        same=False, run=replace(XLA, estimate=1.2), old_operations={"dot": 1}, new_operations={"dot": 2}
    )

    assert explain(measured, record(), Evidence(program=comparison), [moved("run", times=1.2)])[0] == (
        "the code or jax's lowering, with the same XLA on both sides: run x1.20; "
        "the program changed: dot 1 -> 2, operations 1 -> 2"
    )


def test_no_compiler_is_asked_about_what_python_does(
    measure: Measure, record: Record, environment: Environment
) -> None:
    measured = measure(
        host={**measure().host, "host_calls": 5000}, environment=replace(environment, xla_flags="--xla_foo")
    )
    same = Evidence(program=Comparison(same=True, how="fingerprint"))

    assert explain(measured, record(), same, [moved("host_calls")]) == (
        "on the host: host_calls 3 -> 5,000",
        "the program is the same: what changed is what Python does",
        "besides the code: XLA_FLAGS none -> --xla_foo; the inputs are the baseline's",
    )


def test_times_of_the_whole_are_not_those_of_a_helper(
    measure: Measure, record: Record, environment: Environment
) -> None:
    key = "lib.f(f32[8])"
    measured = measure(
        helpers={key: Program(fingerprint=None, inputs="", exact={"peak_bytes": 4 * MIB})},
        program=None,
        environment=replace(environment, jaxlib="0.12.0"),
    )
    entry = record(helpers={key: StoredProgram(exact={"peak_bytes": MIB})}, program=None)
    same = Evidence(helpers={key: Comparison(same=True, how="fingerprint")})

    assert explain(measured, entry, same, [moved("peak_bytes", helper=key)])[:2] == (
        "helper lib.f: jaxlib 0.10.2 -> 0.12.0: the baseline's own program has it too, peak_bytes 1 MiB -> 4 MiB",
        "helper lib.f: not the code: the program before XLA is the same",
    )


def test_where_nothing_moved_there_is_nothing_to_explain(measure: Measure, record: Record) -> None:
    fine = Finding(outcome=Outcome.OK, sentence="run x1.00", metric="run")

    assert explain(measure(), record(), Evidence(program=Comparison(same=False)), [fine]) == ()


def test_what_was_not_compared_leaves_the_host_and_the_surroundings(measure: Measure, record: Record) -> None:
    assert explain(measure(), record(), Evidence(), [moved("peak_bytes")]) == (LAST,)
