"""What of a module is looked through, and what is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.xla_metadata import set_xla_metadata

from pytest_jitperf.probe.stablehlo import canonical_module, results_of

X = jnp.linspace(0.5, 2.0, 8)


def module(function: Callable[..., Any], *args: Any, **jit: Any) -> Any:
    return jax.jit(function, **jit).lower(*args).compiler_ir("stablehlo")


def text(function: Callable[..., Any], *args: Any, **jit: Any) -> str:
    return canonical_module(module(function, *args, **jit))


def plain(x: Any) -> Any:
    return jnp.tanh(x) * 2.0


def test_a_module_as_text() -> None:
    assert text(lambda x, unread: {"a": jax.jit(plain)(x)}, X, X).splitlines() == [
        "mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32",
        "(tensor<8xf32> {}) {",
        "1 = stablehlo.tanh  : tensor<8xf32> [0.0]",
        "2 = stablehlo.constant value = dense<2.000000e+00> : tensor<f32> : tensor<f32> []",
        "3 = stablehlo.broadcast_in_dim broadcast_dimensions = array<i64> : tensor<8xf32> [2.0]",
        "4 = stablehlo.multiply  : tensor<8xf32> [1.0, 3.0]",
        "5 = results ['{}']  []",
        "} -> 4.0",
    ]


def test_functions_are_looked_through_unless_they_are_marked() -> None:
    def marked(x: Any) -> Any:
        with set_xla_metadata(some="thing"):
            return jax.jit(plain)(x)

    found = text(marked, X)
    assert text(jax.jit(plain), X) == text(plain, X) != found
    assert "call (" in found
    assert found.count("stablehlo.tanh") == 1
    # Nor is donation below the entry point a mark, for XLA does not heed it there.
    inner = jax.jit(plain, donate_argnums=0)
    assert text(lambda x: inner(x), X) == text(plain, X) != text(plain, X, donate_argnums=0)


def test_what_is_said_about_an_operation_is_part_of_it() -> None:
    def annotated(x: Any) -> Any:
        with set_xla_metadata(some="thing"):
            return plain(x)

    assert text(annotated, X) != text(plain, X)


def test_functions_that_are_handed_over_are_known_by_what_they_compute() -> None:
    def composed(body: Callable[..., Any]) -> Any:
        return lambda x: jax.lax.composite(body, name="my.operation")(x) + 1.0

    def renamed(y: Any) -> Any:
        return jnp.tanh(y) * 2.0

    assert text(composed(plain), X) == text(composed(renamed), X) != text(composed(jnp.tanh), X)


@pytest.mark.parametrize(("one", "other"), [((0, 1, 2), (2, 0, 1)), ((0, 0, 1), (0, 1, 0))])
def test_results_are_known_by_what_they_are_computed_from(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    def three(x: Any, y: Any) -> Any:
        s = jax.jit(lambda v: jnp.sin(v))(x)
        return s, jnp.cos(x) - s, s + y

    first, second = (
        results_of(module(lambda x, y, order=order: [three(x, y)[n] for n in order], X, X)) for order in (one, other)
    )
    assert sorted(first) == sorted(second)
    assert [first.index(each) for each in second] == [one.index(n) for n in other]
    assert len(set(first)) == len(set(one))


@pytest.mark.parametrize("shape", [(), (3,)])
@pytest.mark.parametrize(
    "dtype", ["bool", "int4", "int8", "uint32", "float8_e4m3fn", "bfloat16", "float16", "float32", "complex64"]
)
def test_constants_of_every_kind_are_known_by_their_values(dtype: str, shape: tuple[int, ...]) -> None:
    def with_constant(value: int) -> str:
        constant = np.full(shape, value).astype(jnp.dtype(dtype))
        if shape:
            constant[0] = 0  # or it would be written as one value
        return text(lambda x: (x, jnp.asarray(constant)), X)

    assert with_constant(1) == with_constant(1) != with_constant(0)
    if dtype == "complex64":
        assert "value = dense<" in with_constant(1)
