"""Waiting while tracing, as for a file or the network: no CPU time is spent."""

import os
import time
from typing import Any

import jax.numpy as jnp
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "REGRESSED: *"
MISSED = "trace time is CPU time, and waiting takes none"


def f(x: Any) -> Any:
    time.sleep(1.0 if CHANGED else 0.0)
    return jnp.sin(x)


@pytest.mark.jitperf(strategies=["outer"])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(8))
