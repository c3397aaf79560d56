"""Another flag in XLA_FLAGS, which speeds up or slows down both sides, and a program that does four times the work."""

import os
from typing import Any

import jax.numpy as jnp
import pytest

CHANGED = "CHANGED" in os.environ
ENVIRONMENT = {"XLA_FLAGS": "--xla_cpu_enable_fast_min_max=true"}
RIGHT = "REGRESSED: run regressed: *"


def f(x: Any) -> Any:
    for _ in range(16 if CHANGED else 4):
        x = jnp.sin(x) * 1.5 + jnp.cos(x)
    return x


@pytest.mark.jitperf(strategies=["outer"])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(20_000))
