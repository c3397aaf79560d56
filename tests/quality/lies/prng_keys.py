"""Another default kind of random keys, given to the function."""

from typing import Any

import jax
import pytest

ENVIRONMENT = {"JAX_DEFAULT_PRNG_IMPL": "rbg"}
RIGHT = "inputs changed: inputs changed: key<fry>[[]] -> key<rbg>[[]] *"


def f(key: Any) -> Any:
    return jax.random.normal(key, (10_000,))


@pytest.mark.jitperf(strategies=["outer"])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jax.random.key(0))
