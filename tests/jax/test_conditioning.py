"""Results that one unit in the last place of the inputs moves about are no evidence of a mistake."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf.probe.conditioning import coarsest_dtype, ill_conditioned
from pytest_jitperf.probe.equal import difference, leaves_of
from pytest_jitperf.probe.inputs import Call
from pytest_jitperf.probe.measure import Probed

X = jnp.linspace(0.1, 0.9, 8)


def judged(function: Callable[..., Any], reference: Any, *args: Any, result: Any = None, **tolerances: Any) -> bool:
    jitted = jax.jit(function)
    got = leaves_of(jitted(*args) if result is None else result)
    expected = leaves_of(reference)
    assert difference(expected, got, tolerances.get("rtol"), tolerances.get("atol")) is not None
    call = Call(args, {})
    return ill_conditioned(lambda moved: jitted(*moved.args), call, expected, got, **tolerances)


def chaotic(x: Any) -> Any:
    for _ in range(60):
        x = 3.99 * x * (1 - x)
    return x


def test_a_chaotic_result_is_recognised() -> None:
    reference = chaotic(X * (1 + 1e-7))
    assert judged(chaotic, reference, X)


@pytest.mark.parametrize(
    ("reference", "function"),
    [
        (jnp.tanh(X * 1.001), jnp.tanh),
        (jnp.tanh(X).at[0].set(jnp.nan), jnp.tanh),
        (jnp.tanh(X), lambda x: jnp.tanh(x).at[0].set(jnp.nan)),
        (jnp.tanh(X), lambda x: jnp.tanh(x)[:4]),
        (jnp.tanh(X), lambda x: (jnp.tanh(x), x)),
        ({"a": X}, lambda x: {"b": x}),
        (X > 0.5, lambda x: x > 0.4),
        (jnp.arange(8), lambda x: jnp.arange(8) + 1),
        (jnp.arange(8, dtype=jnp.uint8), lambda x: jnp.arange(8, dtype=jnp.uint8) + 250),
        ("text", lambda x: x),
    ],
)
def test_a_mistake_is_not_explained_away(reference: Any, function: Any) -> None:
    assert not judged(function, reference, X)


def test_every_leaf_that_differs_must_be_explained() -> None:
    reference = (chaotic(X * (1 + 1e-7)), X * 1.01)
    assert not judged(lambda x: (chaotic(x), x * 1.0), reference, X)


def test_a_given_tolerance_is_held_to() -> None:
    # Within the dtype's own tolerance, beyond the one that was asked for.
    assert not judged(lambda x: x * 1.0, X * (1 + 3e-5), X, rtol=1e-6)


def test_values_that_turn_infinite_either_way_are_recognised() -> None:
    def edge(x: Any) -> Any:
        return jnp.where(x > 1.5, jnp.inf, x)

    x = jnp.full(16, 1.5)
    assert judged(edge, edge(x.at[0].multiply(1 + 1e-6)), x)


@pytest.mark.parametrize("x", [X.astype(jnp.bfloat16), X.astype(jnp.complex64)])
def test_other_floats_are_moved_too(x: Any) -> None:
    unlike = chaotic(x * jnp.asarray(1.01, x.dtype))
    assert judged(chaotic, unlike, x)


def test_arrays_of_weak_type_are_moved_too() -> None:
    x = jnp.full(8, 0.3)
    assert x.weak_type
    assert judged(chaotic, chaotic(x * (1 + 1e-6)), x)


def test_programs_stay_the_same_while_inputs_move() -> None:
    traces: list[int] = []

    @jax.jit
    def f(x: Any, weak: Any, n: Any, key: Any) -> Any:
        traces.append(1)
        return x * weak + n

    call = Call((X, jnp.full(8, 2.0), jnp.arange(8), jax.random.key(0)), {})
    f(*call.args)
    ill_conditioned(lambda moved: f(*moved.args), call, leaves_of(X), leaves_of(X * 2))
    assert len(traces) == 1


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("tensor<8xf32>, tensor<f16>, tensor<4xbf16>", "bfloat16"),
        ("tensor<8xf32>, tensor<f16>", "float16"),
        ("tensor<8xf64>, tensor<f32>", "float32"),
        ("tensor<8xi32>", ""),
    ],
)
def test_the_least_exact_dtype_of_a_program(text: str, dtype: str) -> None:
    name, step = coarsest_dtype(["", text])
    finfo: Any = jnp.finfo
    assert (name, step) == (dtype, float(finfo(dtype).eps) if dtype else 0.0)


def mixed(x: Any) -> Any:
    """Rounds otherwise where it is traced, as XLA does, which keeps more digits between operations that it fuses."""
    half = x.astype(jnp.float16)
    half = half * jnp.float16(1.0005) if isinstance(x, jax.core.Tracer) else half
    return half.astype(jnp.float32) * 3


def test_rounding_to_a_dtype_within_the_function_is_no_mistake(measured: Callable[..., Probed]) -> None:
    probed = measured(mixed, X)

    assert probed.wrong == ""
    assert probed.measurement.notes == ("not compared with eager: rounding to float16 moves the result as much",)


def test_so_is_rounding_where_the_inputs_no_longer_show(measured: Callable[..., Probed]) -> None:
    def saturated(x: Any) -> Any:
        half = (0.3 * jnp.tanh(100 * x)).astype(jnp.bfloat16)
        half = half * jnp.bfloat16(1.01) if isinstance(x, jax.core.Tracer) else half
        return half.astype(jnp.float32)

    probed = measured(saturated, X)

    assert probed.measurement.notes == ("not compared with eager: rounding to bfloat16 moves the result as much",)


def test_a_mistake_beside_it_is_one(measured: Callable[..., Probed]) -> None:
    def f(x: Any) -> Any:
        return mixed(x) * (1.02 if isinstance(x, jax.core.Tracer) else 1.0)

    assert "compared with eager" in measured(f, X).wrong


def test_a_measurement_notes_what_it_could_not_compare(measured: Callable[..., Probed]) -> None:
    def f(x: Any) -> Any:
        return chaotic(x * 1.0000001) if isinstance(x, jax.core.Tracer) else chaotic(x)

    probed = measured(f, X)
    assert probed.wrong == ""
    assert probed.measurement.notes == (
        "ill-conditioned, not compared with eager: one ulp in the inputs moves the result as much",
    )
    assert np.isfinite(probed.result).all()
