"""A switch of JAX's own turns XLA's optimisations off."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest

ENVIRONMENT = {"JAX_DISABLE_MOST_OPTIMIZATIONS": "1"}
RIGHT = "environment changed: environment changed: jax_disable_most_optimizations default -> true; *"


def f(x: Any) -> Any:
    return jax.lax.fori_loop(0, 20_000, lambda _, y: y * 0.999 + 0.1 * y * y, x)


@pytest.mark.jitperf(strategies=["outer"])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(64))
