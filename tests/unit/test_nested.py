"""What is told of nested jit: this run's numbers in whole sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_jitperf.measurement import HelperUse, Sample
from pytest_jitperf.report.grouping import groups
from pytest_jitperf.report.guide import advise
from pytest_jitperf.report.nested import nested_facts
from pytest_jitperf.row import Row

MakeRow = Callable[..., Row]
SAME = "both and outer are the same optimised program: no call of a jitted helper is left in it, so the two run alike"


def once(seconds: float) -> Sample:
    return Sample(median=seconds, low=seconds, high=seconds, rounds=1)


@pytest.fixture(name="facts")
def facts_on(row: MakeRow) -> Callable[..., tuple[str, ...]]:
    """Facts on strategies by their costs: start, run, trace and lower in seconds, and what else a row has."""

    def make(**strategies: dict[str, Any]) -> tuple[str, ...]:
        rows = []
        for name, given in strategies.items():
            costs = dict(given)
            phases = {"compile": "start", "run": "run", "trace_cpu": "trace", "lower_cpu": "lower"}
            timed = {phase: once(costs.pop(key)) for phase, key in phases.items() if key in costs}
            rows.append(row(strategy=name, timed=timed, **costs))
        [advice] = advise(groups(rows)[0])
        return nested_facts(advice)

    return make


EAGER = {"start": 0.59, "run": 98e-3, "launches": 2_100}
OUTER = {"start": 2.14, "run": 1.3e-3, "trace": 0.271, "lower": 0.119, "optimised": "p", "launches": 1}
BOTH = {"start": 1.55, "run": 1.3e-3, "trace": 0.019, "lower": 0.030, "optimised": "p", "launches": 1}
INNER = {"start": 0.19, "run": 4.3e-3, "launches": 300, "helpers": ("lib.block(f32[16,16])",)}


def test_a_helper_that_is_called_many_times(facts: Callable[..., tuple[str, ...]]) -> None:
    assert facts(eager=EAGER, outer=OUTER, inner=INNER, both=BOTH) == (
        SAME,
        "both takes 49 ms of CPU time to trace and lower, outer 390 ms: a jitted helper is traced and lowered once for "
        "each shape, and then called",
        "inner launches 300 programs in each call, eager 2,100, both 1: under an outer jit no helper is dispatched",
        "inner is right here up to 450 +-50 calls: it starts 2 s sooner than outer; lib.block is compiled once for "
        "each shape (1 program) and used again",
    )


def test_a_helper_that_is_right_from_some_call_on(facts: Callable[..., tuple[str, ...]]) -> None:
    outer, inner = {"start": 0.2, "run": 5e-3}, {"start": 0.4, "run": 1e-3}
    assert facts(outer=outer, inner=inner)[-1] == "inner is right here from 50 +-11 calls on"


def test_a_helper_that_is_not_worth_its_jit(facts: Callable[..., tuple[str, ...]]) -> None:
    outer = {**OUTER, "start": 0.04, "trace": 0.005, "lower": 0.002}
    both = {**BOTH, "start": 0.04, "trace": 0.008, "lower": 0.003}

    assert facts(outer=outer, inner=INNER, both=both) == (
        SAME,
        "both takes 11 ms of CPU time to trace and lower, outer 7 ms: the helpers are too small, or too seldom called "
        "with the same shapes, for their jit to save anything here",
        "inner launches 300 programs in each call, both 1: under an outer jit no helper is dispatched",
        "inner would be right where outer compiles long and the helpers are called many times with the same shapes; "
        "here outer compiles in 40 ms, inner in 190 ms",
    )


@pytest.mark.parametrize(
    ("calls", "signatures", "extra", "saved", "error", "said"),
    [
        pytest.param(
            300, 1, 0.2, 1.0, 0.01, "called 300 times with 1 signature: under an outer jit its own jit pays from 2 "
            "calls with the same signature on", id="called often",
        ),
        pytest.param(
            3, 2, 4.0, 1.0, 0.1, "called 3 times with 2 signatures: under an outer jit its own jit pays from 5 "
            "calls with the same signature on, or from 7 at the latest", id="called seldom",
        ),
        pytest.param(
            1, 1, 4.0, 1.0, 0.6, "called once with 1 signature: under an outer jit its own jit pays from 3 calls "
            "with the same signature on at the earliest, if ever", id="perhaps never",
        ),
        pytest.param(
            9, 1, 4.0, -1.0, 0.6, "called 9 times with 1 signature: under an outer jit its own jit pays from 18 calls "
            "with the same signature on at the earliest, if ever", id="probably never",
        ),
        pytest.param(
            1_000, 1, 0.1, -1.0, 0.1, "called 1,000 times with 1 signature: under an outer jit its own jit saves "
            "nothing, however often it is called", id="never",
        ),
        pytest.param(
            2, 1, 0.1, 0.1, 0.2, "called 2 times with 1 signature: under an outer jit its own jit makes no difference "
            "that can be told", id="unknown",
        ),
        pytest.param(
            8, 1, -0.1, 1.0, 0.01, "called 8 times with 1 signature: under an outer jit its own jit pays from 1 call "
            "with the same signature on", id="at once",
        ),
    ],
)  # fmt: skip
def test_from_how_many_calls_the_jit_of_a_helper_pays_under_an_outer_jit(
    facts: Callable[..., tuple[str, ...]],
    calls: int,
    signatures: int,
    extra: float,
    saved: float,
    error: float,
    said: str,
) -> None:
    use = HelperUse(
        name="lib.f", calls=calls, signatures=signatures, extra=extra, saved=saved, extra_error=error, saved_error=error
    )
    assert facts(outer=OUTER, both={**BOTH, "uses": (use,)})[2] == f"while tracing, lib.f is {said}"


def test_of_many_helpers_those_that_are_called_most_are_told(facts: Callable[..., tuple[str, ...]]) -> None:
    uses = tuple(
        HelperUse(name=f"lib.f{n}", calls=n, signatures=1, extra=1.0, saved=1.0, extra_error=0.0, saved_error=0.0)
        for n in range(1, 6)
    )
    told = [each for each in facts(outer=OUTER, both={**BOTH, "uses": uses}) if each.startswith("while tracing")]
    assert [each.split()[2] for each in told] == ["lib.f5", "lib.f4", "lib.f3"]


def test_trace_times_that_a_repeat_may_reach_are_alike(facts: Callable[..., tuple[str, ...]]) -> None:
    both = {**BOTH, "trace": 0.260, "lower": 0.110}
    assert facts(outer=OUTER, both=both)[1] == (
        "both and outer take as long to trace and lower (370 ms and 390 ms of CPU time)"
    )


def test_programs_that_differ_are_told_by_what_differs(facts: Callable[..., tuple[str, ...]]) -> None:
    outer = {**OUTER, "metrics": {"hlo_ops": 120.0, "fusions": 3.0, "temp_bytes": 0.0, "flops": 9.0}}
    both = {**BOTH, "optimised": "q", "metrics": {"hlo_ops": 131.0, "fusions": 3.0, "temp_bytes": 4096.0}}

    assert facts(outer=outer, both=both)[0] == (
        "both and outer are not the same optimised program: hlo_ops 131 against 120, temp_bytes 4 KiB against 0 B"
    )
    assert facts(outer=outer, both={**outer, "optimised": "q"})[0] == (
        "both and outer are not the same optimised program, though hlo_ops, fusions, custom_calls, flops and "
        "temp_bytes are equal"
    )


def test_inner_may_be_right_for_ever_and_have_many_helpers(facts: Callable[..., tuple[str, ...]]) -> None:
    helpers = ("a.f(f32[2])", "a.f(f32[3])", "a.g(f32[2])")
    fast = {**INNER, "run": 1.0e-3, "helpers": helpers}
    assert facts(outer=OUTER, inner=fast)[-1] == (
        "inner is right here however often it is called: it starts 2 s sooner than outer; a.f and a.g are compiled "
        "once for each shape (3 programs) and used again"
    )
    many = {**fast, "helpers": tuple(f"a.f{n}(f32[2])" for n in range(4))}
    assert facts(outer=OUTER, inner=many)[-1].endswith(
        "; 4 helpers are compiled once for each shape (4 programs) and used again"
    )


def test_a_speed_that_noise_hides_is_no_promise(facts: Callable[..., tuple[str, ...]]) -> None:
    assert facts(outer={**OUTER, "run": 0.999e-3}, inner={**INNER, "run": 1.0e-3})[-1].startswith(
        "inner is right here for all that these run times tell: it starts 2 s sooner than outer"
    )


def test_what_was_not_measured_is_not_told(facts: Callable[..., tuple[str, ...]]) -> None:
    assert facts(eager=EAGER, outer=OUTER) == ()
    assert facts(outer={**OUTER, "optimised": ""}, both=BOTH)[0].startswith("both takes ")
    driven = {"start": 1.0, "run": 1e-3, "optimised": "", "launches": None}
    assert facts(outer=driven, both=driven) == ()
    assert facts(eager=EAGER, inner={**INNER, "launches": None}) == ()
