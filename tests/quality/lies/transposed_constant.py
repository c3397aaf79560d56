"""A captured matrix is transposed twice: the same values by another way."""

import os
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "ok*"

WEIGHTS = np.arange(64 * 64, dtype=np.float32).reshape(64, 64) / 4096


def f(x: Any) -> Any:
    weights = jnp.asarray(WEIGHTS)
    return jnp.tanh(x @ (weights.T.T if CHANGED else weights))


@pytest.mark.jitperf(strategies=["outer"], tolerance={"run": "100 %", "compile": "300 %"})
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones((512, 64)))
