"""Python between the programs of ``inner`` loops without calling anything."""

import os
from typing import Any

import jax.numpy as jnp
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "REGRESSED: *"
MISSED = "Python's own time in a call of inner is counted in calls only"


def helper(x: Any) -> Any:
    return jnp.sin(x)


def f(x: Any) -> Any:
    n = 0
    while n < (8_000_000 if CHANGED else 0):
        n += 1
    return helper(x) + 1


@pytest.mark.jitperf(strategies=["inner"], inner=[helper])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(8))
