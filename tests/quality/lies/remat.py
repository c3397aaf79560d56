"""A gradient computes again what it could have kept."""

import os
from typing import Any

import jax
import jax.numpy as jnp
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "REGRESSED: run regressed: *"


def loss(x: Any) -> Any:
    def layer(y: Any, _: Any) -> Any:
        for _ in range(8):
            y = jnp.tanh(y @ y)
        return y, None

    if CHANGED:
        for _ in range(3):
            layer = jax.checkpoint(layer)
    y, _ = jax.lax.scan(layer, x, length=6)
    return (jax.checkpoint(lambda y: jax.lax.scan(layer, y, length=6)[0])(y) if CHANGED else y).sum()


@pytest.mark.jitperf(strategies=["outer"])
def test_lie(jitperf: Any) -> None:
    jitperf(jax.grad(loss), jnp.ones((48, 48)) * 0.01)
