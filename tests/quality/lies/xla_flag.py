"""Another flag in XLA_FLAGS; the program before XLA stays the same and a race would run both sides under it."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest

ENVIRONMENT = {"XLA_FLAGS": "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"}
RIGHT = "environment changed: environment changed: XLA_FLAGS none -> --xla_backend_optimization_level=0 *"


def f(x: Any) -> Any:
    return jax.lax.fori_loop(0, 20_000, lambda _, y: y * 0.999 + 0.1 * y * y, x)


@pytest.mark.jitperf(strategies=["outer"])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(64))
