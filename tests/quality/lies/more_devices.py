"""More devices than before on the same host; the program runs on one of them."""

from typing import Any

import jax.numpy as jnp
import pytest

ENVIRONMENT = {"JAX_NUM_CPU_DEVICES": "2"}
RIGHT = "environment changed: environment changed: device_count 1 -> 2; *"


def f(x: Any) -> Any:
    return jnp.sin(x) * 1.5 + jnp.cos(x)


@pytest.mark.jitperf(strategies=["outer"])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(20_000))
