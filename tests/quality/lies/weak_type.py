"""A Python number becomes an array."""

import os
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "inputs changed: inputs changed: lr: weak f32[[]] -> f32[[]]; *"


def f(x: Any, lr: Any) -> Any:
    return x * lr


@pytest.mark.jitperf(strategies=["outer"])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(8, jnp.bfloat16), np.float32(0.5) if CHANGED else 0.5)
