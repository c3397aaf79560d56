"""The donation of the state is lost: the same results, another buffer."""

import os
from typing import Any

import jax.numpy as jnp
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "REGRESSED: peak_bytes regressed: 1.91 MiB -> 3.81 MiB, x2.00, allowed 2 MiB"


def f(state: Any) -> Any:
    return state * 0.5 + 1


@pytest.mark.jitperf(strategies=["outer"], jit={} if CHANGED else {"donate_argnums": 0}, tolerance={"run": "500 %"})
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(500_000))
