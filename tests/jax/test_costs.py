"""The exact metrics of one program, and why one is missing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf.probe.costs import constant_sizes, program_costs

X = jnp.ones((8, 8))


def costs(function: Any, *args: Any, **jit: Any) -> tuple[dict[str, float], dict[str, str]]:
    lowered = jax.jit(function, **jit).lower(*args)
    return program_costs(lowered.compile(), lowered.as_text())


def test_a_matrix_product() -> None:
    exact, missing = costs(lambda x: x @ x, X)
    assert exact["flops"] == 2 * 8**3
    assert exact["peak_bytes"] == 2 * X.nbytes + exact["temp_bytes"]
    assert exact["constant_bytes"] == 0
    assert exact["stablehlo_ops"] == 1
    assert exact["hlo_ops"] >= 2
    assert missing == {}


def test_donated_memory_is_counted_once() -> None:
    assert costs(lambda x: x + 1, X, donate_argnums=0)[0]["peak_bytes"] == X.nbytes
    assert costs(lambda x: x + 1, X)[0]["peak_bytes"] == 2 * X.nbytes


@pytest.mark.parametrize(
    ("table", "size"),
    [
        (np.arange(300, dtype=np.float32), 1200),
        (np.arange(3, dtype=np.float32), 12),
        (np.array([True, False, True]), 3),
        (np.arange(5, dtype=np.complex64), 40),
        (np.arange(300, dtype=np.complex64), 2400),
        (np.arange(6, dtype=np.int8).reshape(2, 3), 6),
        (jnp.arange(5, dtype=jnp.bfloat16), 10),
        (jnp.array([1, 2, 3], jnp.int4), 2),
        (np.zeros((0, 4), np.float32), 0),
        (np.full(300, 7.0, np.float32), 0),  # a splat is one element
        (np.float32(3.5), 0),
    ],
)
def test_captured_constants_count_and_fill_values_do_not(table: Any, size: int) -> None:
    text = jax.jit(lambda x: (x, jnp.asarray(table))).lower(1.0).as_text()
    assert sum(bytes_ * count for bytes_, count in constant_sizes(text).items()) == size


def test_captured_constants_are_part_of_the_peak() -> None:
    table = np.arange(1000, dtype=np.float32)
    exact, _ = costs(lambda x: x + table, jnp.ones(1000))
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
    exact, missing = program_costs(stub, "")
    assert (exact.get("flops"), missing.get("flops")) == (flops, reason)


def test_a_backend_without_any_analysis_says_why() -> None:
    def refuse() -> None:
        raise NotImplementedError("not on this backend\nat all")

    exact, missing = program_costs(
        SimpleNamespace(cost_analysis=refuse, memory_analysis=lambda: None, as_text=refuse), ""
    )
    assert exact == {"stablehlo_ops": 0, "constant_bytes": 0}
    assert set(missing) == {"peak_bytes", "temp_bytes", "flops", "bytes_accessed", "hlo_ops", "fusions", "custom_calls"}
    assert missing["flops"] == "no cost analysis here (NotImplementedError: not on this backend)"

    none = SimpleNamespace(cost_analysis=dict, memory_analysis=refuse, as_text=lambda: None)
    assert program_costs(none, "")[1]["hlo_ops"] == "no text here"
