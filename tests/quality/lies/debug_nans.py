"""jax_debug_nans: the same program, and every result is looked through."""

from typing import Any

import jax.numpy as jnp
import pytest

ENVIRONMENT = {"JAX_DEBUG_NANS": "1"}
RIGHT = "environment changed: environment changed: jax_debug_nans default -> true; *"


def f(x: Any) -> Any:
    return jnp.sin(x) * 1.5 + jnp.cos(x)


@pytest.mark.jitperf(strategies=["outer"])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(20_000))
