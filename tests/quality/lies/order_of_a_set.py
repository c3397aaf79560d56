"""A function goes through a set of names, so that each process traces another order of operations."""

from typing import Any

import jax.numpy as jnp
import pytest

ALWAYS = {"PYTHONHASHSEED": "1"}
ENVIRONMENT = {"PYTHONHASHSEED": "2"}
RIGHT = "ok*"


def f(state: Any) -> Any:
    total = jnp.zeros(2000)
    for name in {*state}:
        total = total + jnp.sin(state[name]) * len(name)
    return total


@pytest.mark.jitperf(strategies=["outer"], tolerance={"run": "100 %", "compile": "300 %"})
def test_lie(jitperf: Any) -> None:
    jitperf(f, {f"layer{'x' * n}": jnp.full(2000, float(n)) for n in range(8)})
