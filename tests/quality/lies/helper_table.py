"""The same in a jitted helper."""

import os
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "REGRESSED: helper helper: run regressed: *"

TABLE = np.arange(32, dtype=np.int32) + (30_000 if CHANGED else 3000)


def helper(x: Any, n: Any) -> Any:
    return jax.lax.fori_loop(0, jnp.asarray(TABLE)[n], lambda _, y: y * 0.999 + 0.1, x)


def f(x: Any, n: Any) -> Any:
    return helper(x, n) + 1


@pytest.mark.jitperf(strategies=["inner"], inner=[helper])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(64), jnp.int32(3))
