"""The same in a jitted helper."""

import os
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "not gated: helper helper: not gated: it calls back into Python, which cannot be stored"


def slow(x: Any) -> Any:
    for _ in range(100 if CHANGED else 1):
        x = np.sin(x)
    return x


def helper(x: Any) -> Any:
    return jax.pure_callback(slow, jax.ShapeDtypeStruct(x.shape, x.dtype), x) + 1


def f(x: Any) -> Any:
    return helper(x) * 2


@pytest.mark.jitperf(strategies=["inner"], inner=[helper])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(10_000))
