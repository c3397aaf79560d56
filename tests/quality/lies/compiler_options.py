"""Other compiler_options; neither the program's text nor its export holds them."""

import os
from typing import Any

import jax
import jax.numpy as jnp
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "REGRESSED: run regressed: *"

OPTIONS = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}


def f(x: Any) -> Any:
    return jax.lax.fori_loop(0, 20_000, lambda _, y: y * 0.999 + 0.1 * y * y, x)


@pytest.mark.jitperf(strategies=["outer"], jit={"compiler_options": OPTIONS} if CHANGED else {})
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(64))
