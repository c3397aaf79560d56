"""The value of an input sets the trip count, and the test gives a larger one: the code is the same."""

import os
from typing import Any

import jax
import jax.numpy as jnp
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "ok (same program): the program is the same as the baseline's"


def f(x: Any, n: Any) -> Any:
    return jax.lax.fori_loop(0, n, lambda _, y: y * 0.999 + 0.1, x)


@pytest.mark.jitperf(strategies=["outer"])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(64), jnp.int32(5000 if CHANGED else 500))
