"""The metrics, their order and their default tolerances."""

from __future__ import annotations

import pytest

from pytest_jitperf.metrics import METRICS, default_tolerance
from pytest_jitperf.units import Unit


def test_metrics_in_the_order_in_which_they_are_shown() -> None:
    assert list(METRICS) == [
        "compile",
        "trace",
        "lower",
        "xla",
        "run",
        "compilations",
        "primitive_compilations",
        "launches",
        "peak_bytes",
        "constant_bytes",
        "unused_donation_bytes",
        "trace_calls",
        "host_calls",
        "leaves",
        "jaxpr_eqns",
        "stablehlo_ops",
        "hlo_ops",
        "fusions",
        "flops",
        "bytes_accessed",
        "temp_bytes",
        "custom_calls",
    ]
    assert all(name == metric.name for name, metric in METRICS.items())


def test_these_are_gated_by_default() -> None:
    gated = [name for name, metric in METRICS.items() if metric.gated]

    assert gated == [
        "compile",
        "run",
        "compilations",
        "launches",
        "peak_bytes",
        "constant_bytes",
        "unused_donation_bytes",
        "trace_calls",
        "host_calls",
    ]


def test_timed_metrics_are_seconds_and_exact_ones_are_not() -> None:
    timed = {name for name, metric in METRICS.items() if metric.kind == "timed"}

    assert timed == {"compile", "trace", "lower", "xla", "run"}
    assert timed == {name for name, metric in METRICS.items() if metric.unit is Unit.SECONDS}
    assert timed == {name for name, metric in METRICS.items() if metric.side == "time"}


def test_costs_per_call() -> None:
    per_call = [name for name, metric in METRICS.items() if metric.per == "call"]

    assert per_call == ["run", "launches", "host_calls", "leaves"]


@pytest.mark.parametrize(
    ("metric", "one_program", "platform", "expected"),
    [
        ("compile", True, "cpu", "25 %"),
        ("run", True, "cpu", "10 %"),
        ("run", True, "gpu", "10 %"),
        ("compilations", True, "cpu", "no increase"),
        ("compilations", False, "cpu", "no increase"),
        ("launches", True, "cpu", "no increase"),
        ("launches", False, "cpu", "10 % and 2"),
        ("peak_bytes", True, "cpu", "5 % and 64 KiB"),
        ("peak_bytes", True, "tpu", "5 % and 64 KiB"),
        ("peak_bytes", True, "gpu", "10 % and 32 MiB"),
        ("peak_bytes", True, "cuda", "10 % and 32 MiB"),
        ("peak_bytes", False, "rocm", "10 % and 32 MiB"),
        ("constant_bytes", True, "gpu", "64 KiB"),
        ("unused_donation_bytes", True, "cpu", "no increase"),
        ("trace_calls", True, "cpu", "10 % and 2,000"),
        ("host_calls", True, "cpu", "100 % and 200"),
        ("host_calls", False, "cpu", "100 % and 1,000"),
        ("leaves", True, "cpu", "10 % and 200"),
        ("trace", True, "cpu", None),
        ("primitive_compilations", True, "cpu", None),
        ("flops", True, "cpu", None),
    ],
)
def test_default_tolerance(metric: str, one_program: bool, platform: str, expected: str | None) -> None:
    tolerance = default_tolerance(metric, one_program, platform)

    assert (tolerance and tolerance.describe(METRICS[metric].unit)) == expected


def test_unknown_metric_has_no_default() -> None:
    with pytest.raises(KeyError):
        default_tolerance("rum", True, "cpu")
