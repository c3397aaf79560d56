"""Another default kind of random keys, made inside the function."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest

ENVIRONMENT = {"JAX_DEFAULT_PRNG_IMPL": "rbg"}
RIGHT = "environment changed: environment changed: jax_default_prng_impl default -> rbg; *"


def f(seed: Any) -> Any:
    return jax.random.normal(jax.random.key(seed), (10_000,))


@pytest.mark.jitperf(strategies=["outer"], tolerance={"run": "10000 %", "compile": "10000 %"})
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.int32(0))
