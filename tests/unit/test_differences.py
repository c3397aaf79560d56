"""What a program gained and lost, and what of it explains which metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pytest_jitperf.judge.differences import Traits, differences, likeness, ranked, written_constants
from pytest_jitperf.measurement import Constant

MIB = 2**20
# A scan over 48 steps, and the same steps in a Python loop.
SCAN = Traits(
    exact={"flops": 4e5, "bytes_accessed": 1.5e5, "temp_bytes": 12_500, "fusions": 15, "jaxpr_eqns": 20},
    operations={"parameter": 41, "fusion": 15, "dot": 7, "add": 7, "tanh": 1, "while": 1},
)
UNROLLED = Traits(
    exact={"flops": 1.92e7, "bytes_accessed": 7.5e6, "temp_bytes": 297_000, "fusions": 481, "jaxpr_eqns": 962},
    operations={"parameter": 1111, "fusion": 481, "dot": 336, "add": 288, "tanh": 48},
)


def texts(old: Traits, new: Traits, metric: str, *, worse: bool = True) -> list[str]:
    return [each.text for each in ranked(differences(old, new), metric, worse=worse)]


def test_operations_lead_where_compiling_takes_longer() -> None:
    assert texts(SCAN, UNROLLED, "compile") == [
        "operations 16 -> 672 (x42)",
        "dot 7 -> 336 (x48)",
        "while 1 -> 0",
        "jaxpr equations 20 -> 962 (x48.1)",
        "add 7 -> 288 (x41.1)",
        "fusions 15 -> 481 (x32.1)",
        "tanh 1 -> 48 (x48)",
        "temp memory 12.2 KiB -> 290 KiB",
        "bytes accessed x50 (a loop counts once)",
        "flops x48 (a loop counts once)",
    ]


def test_equations_lead_where_tracing_takes_longer() -> None:
    assert texts(SCAN, UNROLLED, "trace_calls")[0] == "jaxpr equations 20 -> 962 (x48.1)"


def test_memory_leads_where_memory_grew() -> None:
    old = Traits(exact={"temp_bytes": 0, "flops": 1e3}, operations={"dot": 1, "add": 4})
    new = Traits(exact={"temp_bytes": 8 * MIB, "flops": 1e6}, operations={"dot": 9, "add": 90})

    assert texts(old, new, "peak_bytes")[0] == "temp memory 0 B -> 8 MiB"
    assert texts(old, new, "run")[0] == "flops x1,000"


def test_what_went_the_other_way_than_the_metric_explains_it_last() -> None:
    old = Traits(exact={"flops": 1000.0}, operations={"fft": 4, "add": 1})
    new = Traits(exact={"flops": 500.0}, operations={"add": 3})

    assert texts(old, new, "run", worse=True) == ["fft 4 -> 0", "add 1 -> 3", "flops x0.5", "operations 5 -> 3"]
    assert texts(old, new, "run", worse=False) == ["fft 4 -> 0", "flops x0.5", "operations 5 -> 3", "add 1 -> 3"]


def test_calls_out_of_the_program_are_named_and_lead() -> None:
    old = Traits(operations={"custom-call lapack_spotrf_ffi": 1, "dot": 1})
    new = Traits(
        operations={
            "custom-call lapack_sgetrf_ffi": 1,
            "custom-call xla_ffi_python_cpu_callback": 1,
            "dot": 3,
            "and": 9,
        }
    )

    assert texts(old, new, "run")[:3] == [
        "Python callback xla_ffi_python_cpu_callback 0 -> 1",
        "custom-call lapack_sgetrf_ffi 0 -> 1",
        "custom-call lapack_spotrf_ffi 1 -> 0",
    ]
    assert "logical and 0 -> 9" in texts(old, new, "run")


def test_donation_and_compiler_options_are_part_of_it() -> None:
    old = Traits(donated=2, options={"xla_backend_optimization_level": "0"})
    new = Traits(donated=0, options={"xla_cpu_foo": "1"})

    assert texts(old, new, "run") == [
        "compiler option xla_backend_optimization_level 0 -> default",
        "compiler option xla_cpu_foo default -> 1",
        "donated arguments 2 -> 0",
    ]
    assert texts(old, Traits(), "run") == ["compiler option xla_backend_optimization_level 0 -> default"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ({"flops": 1000.0}, {"flops": 1004.0}, []),
        ({"flops": 0.0, "hlo_ops": 3}, {"flops": 9.0, "hlo_ops": 5}, ["operations 3 -> 5"]),
        ({"custom_calls": 0}, {"custom_calls": 1}, ["custom calls 0 -> 1"]),
        ({"bytes_accessed": 100}, {"bytes_accessed": 300, "fusions": 2}, ["bytes accessed x3"]),
        (
            {"peak_bytes": 3 * MIB, "temp_bytes": MIB, "constant_bytes": 0},
            {"peak_bytes": 4 * MIB, "temp_bytes": MIB, "constant_bytes": 0},
            ["arguments and outputs 2 MiB -> 3 MiB"],
        ),
        ({"peak_bytes": 3 * MIB}, {"peak_bytes": 4 * MIB}, []),
    ],
)
def test_costs_serve_where_the_operations_are_not_known(
    old: Mapping[str, float], new: Mapping[str, float], said: list[str]
) -> None:
    assert texts(Traits(exact=old), Traits(exact=new), "run") == said


def test_constants_that_came_are_named_and_not_those_that_were_there() -> None:
    there = Constant(shape="i32[64]", bytes=256)
    old = Traits(exact={"constant_bytes": 256}, constants=(there,))
    came = Constant(shape="f32[512,1024]", bytes=2 * MIB)
    new = Traits(exact={"constant_bytes": 256 + 2 * MIB}, constants=(came, there))

    assert texts(old, new, "peak_bytes") == ["captured constants 256 B -> 2 MiB (f32[512,1024], 2 MiB)"]
    assert texts(new, old, "peak_bytes", worse=False) == ["captured constants 2 MiB -> 256 B (f32[512,1024], 2 MiB)"]


def test_the_largest_constants_are_written_with_shape_dtype_size_and_number() -> None:
    found = [
        Constant(shape="f32[512,1024]", bytes=2 * MIB),
        Constant(shape="bf16[8]", bytes=16, count=3),
        Constant(shape="bool[3]", bytes=3),
    ]

    assert written_constants(found) == "f32[512,1024], 2 MiB; 3 of bf16[8], 16 B each"
    assert written_constants([]) == ""


def made_of(**operations: int) -> Traits:
    return Traits(exact={"flops": 2e6}, operations=operations)


def batch(calls: int, flops: float = 2e6, **more: int) -> Traits:
    return Traits(exact={"flops": flops}, operations={"dot": 3 * calls, "add": 7 * calls, **more})


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (SCAN, UNROLLED, " as when a scan becomes a Python loop"),
        (UNROLLED, SCAN, " as when a Python loop becomes a scan"),
        (batch(1), batch(32), " as when a vmap becomes a Python loop"),
        (batch(32), batch(1), " as when a Python loop becomes a vmap"),
        (batch(1), batch(32, flops=64e6), ""),  # more work, not the same in pieces
        (batch(1, slice=1), batch(32, slice=64, concatenate=1), " as when a vmap becomes a Python loop"),
        (
            Traits(exact={"flops": 2e6}, operations={"dot": 1}),
            Traits(exact={"flops": 2e6}, operations={"dot": 1, "convert": 4}),
            "",
        ),  # other operations
        (batch(1), batch(32, sine=1), ""),
        (
            Traits(exact={"flops": 2e6}, operations={"dot": 3, "add": 1}),
            Traits(exact={"flops": 2e6}, operations={"dot": 3, "add": 40}),
            "",
        ),
        (batch(1), batch(3), ""),  # too little to look like anything
        (batch(1, **{"while": 2}), batch(32, **{"while": 64}), " as when a vmap becomes a Python loop"),
        (batch(32, **{"while": 64}), batch(1, **{"while": 2}), " as when a Python loop becomes a vmap"),
        (batch(1), batch(32, **{"while": 1}), ""),  # a loop came and the operations with it
        (Traits(exact={"flops": 1.0}), batch(32, flops=1.0), ""),
        (Traits(operations={"add": 1}), Traits(operations={"add": 9}), ""),
    ],
)
def test_a_lost_scan_and_a_lost_vmap_are_recognised(old: Traits, new: Traits, said: str) -> None:
    assert likeness(old, new) == said


@pytest.mark.parametrize("traits", [SCAN, Traits(), Traits(options={"a": "b"}, donated=1)])
def test_nothing_differs_from_itself(traits: Any) -> None:
    assert differences(traits, traits) == []
