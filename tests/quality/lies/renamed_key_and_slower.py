"""A renamed key hides a regression."""

import os
from typing import Any

import jax
import jax.numpy as jnp
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "REGRESSED: run regressed: *"

LR = "zlr" if CHANGED else "lr"


def f(p: Any) -> Any:
    def step(_: Any, y: Any) -> Any:
        for _ in range(8 if CHANGED else 1):
            y = jnp.sin(y)
        return y * 0.999 + p[LR]

    y = jax.lax.fori_loop(0, p["n"].astype(int), step, jnp.ones(64))
    return jnp.where(y > 1e9, y, p[LR])


@pytest.mark.jitperf(strategies=["outer"])
def test_lie(jitperf: Any) -> None:
    jitperf(f, {LR: jnp.float32(1.0), "n": jnp.float32(300.0)})
