"""A slow Python loop without calls while tracing: the same program, the same number of Python calls."""

import os
from typing import Any

import jax.numpy as jnp
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "REGRESSED: trace regressed: *"


def f(x: Any) -> Any:
    n = 0
    while n < (8_000_000 if CHANGED else 0):
        n += 1
    return jnp.sin(x)


@pytest.mark.jitperf(strategies=["outer"])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(8))
