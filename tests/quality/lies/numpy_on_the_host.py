"""numpy on the host, between the programs of ``inner``, does a thousand times the work in one call."""

import os
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "REGRESSED: *"
MISSED = "Python's own time in a call of inner is counted in calls only"

MATRIX = np.random.default_rng(0).normal(size=(250, 250) if CHANGED else (25, 25))


def helper(x: Any) -> Any:
    return jnp.sin(x)


def f(x: Any) -> Any:
    return helper(x) + abs(np.linalg.eigvals(MATRIX)).max()


@pytest.mark.jitperf(strategies=["inner"], inner=[helper])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(8))
