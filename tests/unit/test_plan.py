"""A plan leaves nothing undecided, and every limit in it says what set it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pytest_jitperf.inner import InnerTarget
from pytest_jitperf.merging import merge
from pytest_jitperf.plan import AllowedChange, Limit, Plan, make_plan
from pytest_jitperf.settings import Settings, SetTolerance
from pytest_jitperf.spec import parse_marker
from pytest_jitperf.strategies import Strategy
from pytest_jitperf.units import Tolerance

DRIVEN = "driven from Python, and stored times do not fail a test"
REFERENCE = "eager is the reference"
EXPLAINS = "explains only"
BY_LINE = SetTolerance(tolerance=Tolerance(0.2, 0.0), rule="--jitperf-tolerance")
BY_INI = SetTolerance(tolerance=Tolerance(0.3, 0.0), rule="ini jitperf_tolerance")


def same(x: Any) -> Any:
    """A function for ``inner=`` and ``build``."""
    return x


REMAT = Strategy("remat", same)


def plan(
    strategy: str = "outer",
    marker: Mapping[str, object] | None = None,
    settings: Settings | None = None,
    platform: str = "cpu",
    one_program: bool | None = None,
) -> Plan:
    """A plan for a test that has every strategy."""
    every = {"strategies": ["eager", "outer", "inner", "both", REMAT], "inner": [same]}
    spec = merge([parse_marker((), {**every, **(marker or {})})])
    return make_plan(spec, settings or Settings(), strategy, "", platform, one_program=one_program)


def gating(found: Plan) -> dict[str, str]:
    """Metric to why it is not gated, empty where it is."""
    return {metric: change.why_not for metric, change in found.allowed.items()}


def test_everything_is_carried_into_the_plan() -> None:
    marker = {
        "strategies": ["outer", "eager"],
        "inner": None,
        "jit": {"inline": True},
        "devices": ["gpu:0"],
        "run": "5 ms",
        "budgets": {"outer": {"peak_bytes": "1 MiB"}, "eager": {"run": "9 ms"}},
        "faster_than": {"outer": {"eager": 2}},
        "equal_results": False,
        "rtol": 0.1,
        "atol": 0.2,
        "expected_calls": 7,
        "fail_on_improvement": True,
        "limit": {"compile": "60 s"},
    }
    settings = Settings(
        mode="update",
        strict=True,
        stored_times=True,
        missing="fail",
        max_race_seconds=1.0,
        max_compile_seconds=2.0,
    )

    found = make_plan(merge([parse_marker((), marker)]), settings, "outer", "gpu:0", "cpu")

    assert found == Plan(
        strategy="outer",
        strategies=("outer", "eager"),
        references=("eager", "outer"),
        device="gpu:0",
        device_named=True,
        inner=(),
        jit={"inline": True},
        limits={"run": Limit(value=0.005, rule="marker"), "peak_bytes": Limit(value=2**20, rule="marker", named=True)},
        allowed=found.allowed,
        faster_than={"eager": 2.0},
        equal_results=False,
        rtol=0.1,
        atol=0.2,
        expected_calls=7,
        fail_on_improvement=True,
        phase_limits={"compile": 60.0},
        max_race_seconds=1.0,
        max_compile_seconds=2.0,
        mode="update",
        record=True,
        strict=True,
        stored_times=True,
        missing="fail",
    )


@pytest.mark.parametrize(
    ("settings", "record"),
    [(Settings(), False), (Settings(mode="update"), True), (Settings(json="results.json"), True)],
)
def test_what_an_update_would_store_is_kept_for_an_update_and_for_results(settings: Settings, record: bool) -> None:
    assert plan(settings=settings).record == record


def test_defaults_where_nobody_says_anything() -> None:
    found = make_plan(merge([]), Settings(), "eager", "", "cpu")

    assert found == Plan(
        strategy="eager",
        strategies=("eager", "outer"),
        references=("eager", "outer"),
        device="",
        device_named=False,
        inner=(),
        jit={},
        limits={},
        allowed=found.allowed,
        faster_than={},
        equal_results=True,
        rtol=None,
        atol=None,
        expected_calls=None,
        fail_on_improvement=False,
        phase_limits={},
        max_race_seconds=5.0,
        max_compile_seconds=120.0,
        mode="gate",
        strict=False,
        stored_times=False,
        missing="warn",
    )


def test_default_tolerances_of_one_program() -> None:
    assert {metric: (change.describe(metric), change.gated) for metric, change in plan("outer").allowed.items()} == {
        "compile": ("tolerance compile=25 % (default)", True),
        "run": ("tolerance run=10 % (default)", True),
        "compilations": ("tolerance compilations=no increase (default)", True),
        "launches": ("tolerance launches=no increase (default)", True),
        "peak_bytes": ("tolerance peak_bytes=5 % and 64 KiB (default)", True),
        "constant_bytes": ("tolerance constant_bytes=64 KiB (default)", True),
        "unused_donation_bytes": ("tolerance unused_donation_bytes=no increase (default)", True),
        "trace_calls": ("tolerance trace_calls=10 % and 2,000 (default)", True),
        "host_calls": ("tolerance host_calls=100 % and 200 (default)", True),
        "leaves": ("tolerance leaves=10 % and 200 (default)", False),
    }


def test_defaults_differ_on_a_gpu() -> None:
    assert plan("outer", platform="gpu").allowed["peak_bytes"] == AllowedChange(
        tolerance=Tolerance(0.10, 32 * 2**20), rule="default", gated=True
    )


@pytest.mark.parametrize("strategy", ["outer", "both"])
def test_one_program_is_gated_on_times_and_counts(strategy: str) -> None:
    assert gating(plan(strategy)) == {
        "compile": "",
        "run": "",
        "compilations": "",
        "launches": "",
        "peak_bytes": "",
        "constant_bytes": "",
        "unused_donation_bytes": "",
        "trace_calls": "",
        "host_calls": "",
        "leaves": EXPLAINS,
    }


@pytest.mark.parametrize("strategy", ["inner", "remat"])
def test_what_python_drives_is_gated_on_counts_and_not_on_times(strategy: str) -> None:
    found = plan(strategy)

    assert gating(found) == {
        "compile": DRIVEN,
        "run": DRIVEN,
        "compilations": "",
        "launches": "",
        "peak_bytes": "",
        "constant_bytes": "",
        "unused_donation_bytes": "",
        "trace_calls": "",
        "host_calls": "",
        "leaves": EXPLAINS,
    }
    assert found.allowed["launches"].describe("launches") == "tolerance launches=10 % and 2 (default)"


def test_strategy_of_the_users_that_proves_to_be_one_program_is_gated_like_outer() -> None:
    assert plan("remat", one_program=True).allowed == plan("outer").allowed


def test_stored_times_serve_where_python_drives_but_not_for_the_reference() -> None:
    settings = Settings(stored_times=True)

    assert gating(plan("inner", settings=settings))["run"] == ""
    assert gating(plan("eager", settings=settings))["run"] == REFERENCE
    assert gating(plan("eager", {"tolerance": {"run": "5 %"}}, settings))["run"] == ""


def test_reference_is_gated_only_on_what_the_marker_gives_a_tolerance() -> None:
    marker = {"tolerance": {"launches": 3, "flops": "5 %"}, "run": "5 ms"}
    settings = Settings(tolerances={"launches": BY_LINE, "trace_calls": BY_LINE})

    found = plan("eager", marker, settings)

    assert {metric: why for metric, why in gating(found).items() if why != REFERENCE} == {"launches": "", "flops": ""}
    assert found.limits == {"run": Limit(value=0.005, rule="marker")}


def test_tolerance_of_the_marker_goes_before_the_command_line_the_ini_file_and_the_default() -> None:
    marker = {"tolerance": {"run": "5 %", "inner": {"run": "7 %"}}}
    settings = Settings(tolerances={"run": BY_LINE, "compile": BY_INI})

    found = plan("outer", marker, settings)

    assert [found.allowed[metric].describe(metric) for metric in ("run", "compile", "peak_bytes")] == [
        "tolerance run=5 % (marker)",
        "tolerance compile=30 % (ini jitperf_tolerance)",
        "tolerance peak_bytes=5 % and 64 KiB (default)",
    ]
    assert plan("outer", {}, settings).allowed["run"] == AllowedChange(
        tolerance=Tolerance(0.2, 0.0), rule="--jitperf-tolerance", gated=True
    )


def test_tolerance_for_times_of_what_python_drives_is_kept_for_its_inner_programs() -> None:
    assert plan("inner", {"tolerance": {"run": "7 %"}}).allowed["run"] == AllowedChange(
        tolerance=Tolerance(0.07, 0.0), rule="marker", gated=False, why_not=DRIVEN
    )


@pytest.mark.parametrize("metric", ["flops", "leaves", "primitive_compilations", "trace"])
def test_metric_that_only_explains_is_gated_once_somebody_gives_it_a_tolerance(metric: str) -> None:
    assert plan("outer", {"tolerance": {metric: "5 %"}}).allowed[metric] == AllowedChange(
        tolerance=Tolerance(0.05, 0.0), rule="marker", gated=True
    )
    assert plan("outer", settings=Settings(tolerances={metric: BY_INI})).allowed[metric] == AllowedChange(
        tolerance=Tolerance(0.3, 0.0), rule="ini jitperf_tolerance", gated=True
    )


def test_limits_come_in_the_order_of_the_metrics_and_describe_themselves() -> None:
    found = plan("outer", {"flops": 1000, "run": "5 ms", "peak_bytes": "64 MiB"})

    assert [limit.describe(metric) for metric, limit in found.limits.items()] == [
        "budget run=5 ms (marker)",
        "budget peak_bytes=64 MiB (marker)",
        "budget flops=1,000 (marker)",
    ]


def test_budget_alone_does_not_compare_with_the_baseline() -> None:
    assert gating(plan("outer", {"leaves": 5}))["leaves"] == EXPLAINS
    assert "flops" not in plan("outer", {"flops": 5}).allowed


def test_inner_functions_are_there_for_the_other_side_of_a_race() -> None:
    assert plan("outer").inner == (InnerTarget(same, None),)


def test_other_strategies_of_the_test_are_found_by_name() -> None:
    found = plan("remat")

    assert (found.strategy, found.strategy_name) == (REMAT, "remat")
    assert (found.find("remat"), found.find("outer")) == (REMAT, "outer")
    assert found.references == ("eager", "outer", "inner", "both", REMAT)


def test_built_in_strategy_can_be_planned_as_a_reference_and_an_unknown_one_not() -> None:
    spec = merge([parse_marker((), {"strategies": ["outer"]})])

    assert make_plan(spec, Settings(), "eager", "", "cpu").strategy == "eager"
    with pytest.raises(LookupError, match="this test has no strategy 'oter'"):
        make_plan(spec, Settings(), "oter", "", "cpu")
