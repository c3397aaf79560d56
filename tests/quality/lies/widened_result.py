"""The result is the same in a wider type."""

import os
from typing import Any

import jax.numpy as jnp
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "REGRESSED: peak_bytes regressed: *"


def f(x: Any) -> Any:
    return (x * 2).astype(jnp.float32 if CHANGED else jnp.bfloat16)


@pytest.mark.jitperf(strategies=["outer"], tolerance={"run": "900 %"})
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(200_000, jnp.bfloat16))
