"""Compilations over a sequence of inputs, and which argument made each of them necessary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf.probe.measure import Probed

X = jnp.ones(8)


def f(x: Any, n: Any = 2, how: Any = None) -> Any:
    return x * n if isinstance(n, int) else x * 2


class Plain:
    def __init__(self, k: int) -> None:
        self.k = k


STATIC = {"static_argnames": ("n",)}


@pytest.mark.parametrize(
    ("sequence", "jit", "count", "messages"),
    [
        ([X, X + 1, np.ones(8, np.float32)], {}, 1, ()),
        ([X, jnp.ones(9), X], {}, 2, ("input 2: x: f32[8] -> f32[9] (f)",)),
        ([X, X.astype(int)], {}, 2, ("input 2: x: f32[8] -> i32[8] (f)",)),
        ([1.0, jnp.float32(1)], {}, 2, ("input 2: x: weak f32[] -> f32[] (f)",)),
        ([1.0, 2.0], {}, 1, ()),
        ([(X, 3), (X, 4), (X, 3)], STATIC, 2, ("input 2: n: static 3 -> static 4 (f)",)),
        ([(X, "a" * 99), (X, "b" * 99)], STATIC, 2, None),
        ([((X,), {}), ((X,), {"how": X})], {}, 2, ("input 2: how: new, f32[8] (f)",)),
        ([((X,), {"how": X}), ((X,), {})], {}, 2, ("input 2: how: gone, was f32[8] (f)",)),
        ([(X, Plain(1)), (X, Plain(1))], STATIC, 2, ("input 2: n: another Plain (f)",)),
        ([(X, lambda: 1), (X, lambda: 1)], STATIC, 2, ("input 2: n: another function (f)",)),
    ],
)
def test_each_compilation_after_the_first_names_its_cause(
    measured: Callable[..., Probed], sequence: Any, jit: Any, count: int, messages: Any
) -> None:
    first = sequence[0]
    if isinstance(first, tuple) and first and isinstance(first[0], tuple):
        args, kwargs = first
    else:
        args, kwargs = (first if isinstance(first, tuple) else (first,)), {}
    probed = measured(f, *args, kwargs=kwargs, jit=jit, sequence=sequence, equality=None)
    assert probed.measurement.host["compilations"] == count
    if messages is not None:
        assert probed.retraces == messages
    else:
        assert probed.retraces[0].startswith("input 2: n: static str #")


def test_a_function_jitted_in_each_call_is_found(measured: Callable[..., Probed]) -> None:
    def fresh(x: Any) -> Any:
        return jax.jit(lambda v: v + 1)(x)

    probed = measured(fresh, X, strategy="eager", sequence=[X, X, X])
    assert probed.measurement.host["compilations"] == 3
    why = "the arguments look the same: a new function object is jitted in each call (<lambda>)"
    assert probed.retraces == (f"input 2: {why}", f"input 3: {why}")


def test_ragged_batches_cost_one_more_compilation_and_padded_ones_none(measured: Callable[..., Probed]) -> None:
    data = np.ones((100, 4), np.float32)
    ragged = [data[i : i + 32] for i in range(0, 100, 32)]
    padded = [np.pad(each, ((0, 32 - len(each)), (0, 0))) for each in ragged]

    def loss(x: Any) -> Any:
        return jnp.mean(x**2)

    first, second = (measured(loss, each[0], sequence=each) for each in (ragged, padded))
    assert (first.measurement.host["compilations"], first.retraces) == (
        2,
        ("input 4: x: f32[32,4] -> f32[4,4] (loss)",),
    )
    assert (second.measurement.host["compilations"], second.retraces) == (1, ())


def test_the_users_arrays_live_on_where_calls_donate(measured: Callable[..., Probed]) -> None:
    arrays = [jax.device_put(jnp.ones(n), jax.devices()[0]) for n in (3, 4, 3)]
    measured(lambda x: x + 1, arrays[0], jit={"donate_argnums": 0}, sequence=arrays)
    assert [each.is_deleted() for each in arrays] == [False] * 3
