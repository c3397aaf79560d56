"""A Python callback a hundred times slower; the program names it by a number only."""

import os
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "not gated: not gated: it calls back into Python, which cannot be stored"


def slow(x: Any) -> Any:
    for _ in range(100 if CHANGED else 1):
        x = np.sin(x)
    return x


def f(x: Any) -> Any:
    return jax.pure_callback(slow, jax.ShapeDtypeStruct(x.shape, x.dtype), x) + 1


@pytest.mark.jitperf(strategies=["outer"])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(10_000))
