"""A debugging callback is left in; the new program cannot be exported."""

import os
from typing import Any

import jax
import jax.numpy as jnp
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "REGRESSED: run regressed: *"


def f(x: Any) -> Any:
    if CHANGED:
        jax.debug.callback(lambda value: value.sum(), x)
    return x * 2 + 1


@pytest.mark.jitperf(strategies=["outer"])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(1000))
