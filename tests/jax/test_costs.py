"""The exact metrics of one program, and why one is missing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf.measurement import Constant
from pytest_jitperf.probe.costs import Costs, captured_constants, program_costs, unused_donation_bytes

X = jnp.ones((8, 8))


def costs(function: Any, *args: Any, **jit: Any) -> Costs:
    lowered = jax.jit(function, **jit).lower(*args)
    return program_costs(lowered.compile(), lowered.as_text())


def test_a_matrix_product() -> None:
    found = costs(lambda x: x @ x, X)
    exact = found.exact
    assert exact["flops"] == 2 * 8**3
    assert exact["peak_bytes"] == 2 * X.nbytes + exact["temp_bytes"]
    assert exact["constant_bytes"] == 0
    assert exact["stablehlo_ops"] == 1
    assert exact["hlo_ops"] >= 2
    assert found.operations["dot"] == 1
    assert (found.missing, found.constants) == ({}, ())


def test_donated_memory_is_counted_once() -> None:
    assert costs(lambda x: x + 1, X, donate_argnums=0).exact["peak_bytes"] == X.nbytes
    assert costs(lambda x: x + 1, X).exact["peak_bytes"] == 2 * X.nbytes


@pytest.mark.parametrize(
    ("table", "shape", "size"),
    [
        (np.arange(300, dtype=np.float32), "f32[300]", 1200),
        (np.arange(3, dtype=np.float32), "f32[3]", 12),
        (np.array([True, False, True]), "bool[3]", 3),
        (np.arange(5, dtype=np.complex64), "c64[5]", 40),
        (np.arange(300, dtype=np.complex64), "c64[300]", 2400),
        (np.arange(6, dtype=np.int8).reshape(2, 3), "i8[2,3]", 6),
        (np.arange(6, dtype=np.uint8), "u8[6]", 6),
        (jnp.arange(5, dtype=jnp.bfloat16), "bf16[5]", 10),
        (jnp.array([1, 2, 3], jnp.int4), "i4[3]", 2),
    ],
)
def test_captured_constants_are_told_by_dtype_shape_and_size(table: Any, shape: str, size: int) -> None:
    text = jax.jit(lambda x: (x, jnp.asarray(table))).lower(1.0).as_text()
    assert captured_constants(text) == (Constant(shape=shape, bytes=size),)


@pytest.mark.parametrize(
    "value",
    [np.zeros((0, 4), np.float32), np.full(300, 7.0, np.float32), np.float32(3.5)],
    ids=["nothing", "one value all over", "a scalar"],
)
def test_what_is_one_element_is_not_captured(value: Any) -> None:
    text = jax.jit(lambda x: (x, jnp.asarray(value))).lower(1.0).as_text()
    assert captured_constants(text) == ()


def test_the_largest_constants_come_first_and_equal_shapes_are_counted() -> None:
    def f(x: Any) -> Any:
        small = [jnp.asarray(np.arange(n, n + 5, dtype=np.int32)) for n in range(3)]
        return x, small, jnp.asarray(np.arange(300, dtype=np.float32))

    assert captured_constants(jax.jit(f).lower(1.0).as_text()) == (
        Constant(shape="f32[300]", bytes=1200),
        Constant(shape="i32[5]", bytes=20, count=3),
    )


@pytest.mark.filterwarnings("ignore:Some donated buffers were not usable")
@pytest.mark.parametrize(
    ("function", "unused"),
    [
        (lambda s: s + 1, 0.0),
        (lambda s: s.astype(jnp.bfloat16) + 1, 256.0),
        (lambda s: s.sum(), 256.0),
    ],
    ids=["taken over", "of another dtype", "of another shape"],
)
def test_donated_memory_that_no_result_takes_over_is_told(function: Any, unused: float) -> None:
    compiled = jax.jit(function, donate_argnums=0).lower(X).compile()
    assert unused_donation_bytes(compiled, [X]) == unused


def test_keys_and_numbers_are_donated_too() -> None:
    given = (jax.random.key(0), 1.0, jnp.ones(3))
    compiled = jax.jit(lambda *args: args, donate_argnums=(0, 1, 2)).lower(*given).compile()
    assert unused_donation_bytes(compiled, given) == 0.0


def test_without_a_donation_or_an_analysis_there_is_nothing_to_tell() -> None:
    compiled = jax.jit(lambda x: x + 1).lower(X).compile()
    assert unused_donation_bytes(compiled, []) is None
    assert unused_donation_bytes(SimpleNamespace(memory_analysis=lambda: None), [X]) is None


def test_captured_constants_are_part_of_the_peak() -> None:
    table = np.arange(1000, dtype=np.float32)
    exact = costs(lambda x: x + table, jnp.ones(1000)).exact
    assert (exact["constant_bytes"], exact["peak_bytes"]) == (4000, 12000 + exact["temp_bytes"])


@pytest.mark.parametrize(
    ("analysis", "flops", "reason"),
    [
        ({"flops": -1.0}, None, "the backend gave -1.0"),
        ({}, None, "the backend gave None"),
        (None, None, "the backend gave None"),
        ([{"flops": 8.0}], 8.0, None),
        ({"flops": float("nan")}, None, "the backend gave nan"),
        ({"flops": 0.0}, 0.0, None),
    ],
)
def test_numbers_that_mean_nothing_are_unavailable(analysis: Any, flops: float | None, reason: str | None) -> None:
    compiled = jax.jit(lambda x: x + 1).lower(X).compile()
    stub = SimpleNamespace(
        cost_analysis=lambda: analysis, memory_analysis=compiled.memory_analysis, as_text=compiled.as_text
    )
    found = program_costs(stub, "")
    assert (found.exact.get("flops"), found.missing.get("flops")) == (flops, reason)


def test_a_backend_without_any_analysis_says_why() -> None:
    def refuse() -> None:
        raise NotImplementedError("not on this backend\nat all")

    found = program_costs(SimpleNamespace(cost_analysis=refuse, memory_analysis=lambda: None, as_text=refuse), "")
    missing = found.missing
    assert (found.exact, found.operations) == ({"stablehlo_ops": 0, "constant_bytes": 0}, {})
    assert set(missing) == {"peak_bytes", "temp_bytes", "flops", "bytes_accessed", "hlo_ops", "fusions", "custom_calls"}
    assert missing["flops"] == "no cost analysis here (NotImplementedError: not on this backend)"

    none = SimpleNamespace(cost_analysis=dict, memory_analysis=refuse, as_text=lambda: None)
    assert program_costs(none, "").missing["hlo_ops"] == "no text here"
