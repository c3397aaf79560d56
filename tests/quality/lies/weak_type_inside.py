"""A Python number inside the function becomes an array, and widens what is computed with it."""

import os
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "REGRESSED: peak_bytes regressed: *"

SCALE: Any = np.float32(0.5) if CHANGED else 0.5


def f(x: Any) -> Any:
    return jnp.sin(x * SCALE)


@pytest.mark.jitperf(strategies=["outer"], tolerance={"run": "900 %"})
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(200_000, jnp.bfloat16))
