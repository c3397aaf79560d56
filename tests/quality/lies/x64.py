"""64-bit mode: the inputs stay what they are, what is made inside becomes twice as wide."""

from typing import Any

import jax.numpy as jnp
import pytest

ENVIRONMENT = {"JAX_ENABLE_X64": "1"}
RIGHT = "REGRESSED: peak_bytes regressed: *"


def f(x: Any) -> Any:
    return jnp.sort(jnp.sin(jnp.arange(100_000.0)) + x)


@pytest.mark.jitperf(strategies=["outer"])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones((), jnp.float32))
