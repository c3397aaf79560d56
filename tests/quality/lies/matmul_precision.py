"""Another default precision of matrix products, which stands in the program's text."""

from typing import Any

import jax.numpy as jnp
import pytest

ENVIRONMENT = {"JAX_DEFAULT_MATMUL_PRECISION": "highest"}
RIGHT = "environment changed: environment changed: jax_default_matmul_precision default -> highest; *"


def f(x: Any) -> Any:
    return jnp.tanh(x @ x.T)


@pytest.mark.jitperf(strategies=["outer"], tolerance={"run": "100 %", "compile": "300 %"})
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones((128, 64)))
