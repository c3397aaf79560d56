"""Any traceable callable as one jit over its array leaves."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from pytest_jitperf.probe.flat import over_arrays
from pytest_jitperf.probe.inputs import Call, text_of


def test_arrays_are_traced_and_the_rest_is_kept() -> None:
    def f(linear: Any, x: Any, how: str, n: int) -> Any:
        return {"y": linear(x) * n, "how": how, "n": n}

    linear = eqx.nn.Linear(2, 3, key=jax.random.key(0))
    x = jnp.ones(2)
    made = over_arrays(eqx.filter_jit(f), f, Call((linear, x, "sum"), {"n": 2}))

    assert text_of(made.arrays) == "linear.weight: f32[3,2]; linear.bias: f32[3]; x: f32[2]"
    assert [leaf.path for leaf in made.named][-2:] == ["how", "n"]
    n, y = made.jitted(*made.leaves)
    np.testing.assert_allclose(y, linear(x) * 2, rtol=1e-6)
    assert n == 2


def test_the_same_array_given_twice_is_two_leaves() -> None:
    x = jnp.ones(2)
    made = over_arrays(lambda a, b, c: a - b * c, lambda a, b, c: None, Call((x, x, 2.0), {}))
    assert text_of(made.arrays) == "a: f32[2]; b: f32[2]"
    assert len(made.leaves) == 2


def test_leaves_that_jax_cannot_trace_are_kept() -> None:
    names = np.array(["a", "b"])
    made = over_arrays(lambda x, names: x * len(names), lambda x, names: None, Call((jnp.ones(2), names), {}))
    assert text_of(made.arrays) == "x: f32[2]"
    assert made.jitted(*made.leaves)[0].tolist() == [2.0, 2.0]
