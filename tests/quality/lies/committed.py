"""An input is committed to its device, and was not."""

import os
from typing import Any

import jax
import jax.numpy as jnp
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "ok (same program): the program is the same as the baseline's"


def f(x: Any) -> Any:
    return jnp.sin(x) * 1.5 + jnp.cos(x)


@pytest.mark.jitperf(strategies=["outer"], devices=["as-is"])
def test_lie(jitperf: Any) -> None:
    x = jnp.ones(20_000)
    jitperf(f, jax.device_put(x, jax.devices()[0]) if CHANGED else x)
