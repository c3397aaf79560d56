"""XLA computes with a captured table before it compiles; the optimised program shows nothing of the result."""

import os
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "REGRESSED: run regressed: *"

TABLE = np.arange(3000, 3064, dtype=np.int32).reshape(8, 8)


def f(x: Any, n: Any) -> Any:
    table = jnp.asarray(TABLE)
    steps = table * 10 if CHANGED else table + 10
    return jax.lax.fori_loop(0, steps[n, n], lambda _, y: y * 0.999 + 0.1, x)


@pytest.mark.jitperf(strategies=["outer"])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(64), jnp.int32(3))
