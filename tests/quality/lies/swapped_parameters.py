"""Two parameters of one type exchange their places, names kept; equal code."""

import os
from typing import Any

import jax
import jax.numpy as jnp
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "ok*"


def loop(lr: Any, n: Any) -> Any:
    return jax.lax.fori_loop(0, n.astype(int), lambda _, y: y * 0.999 + lr, jnp.ones(64))


def before(lr: Any, n: Any) -> Any:
    return loop(lr, n)


def after(n: Any, lr: Any) -> Any:
    return loop(lr, n)


@pytest.mark.jitperf(strategies=["outer"], tolerance={"run": "100 %", "compile": "300 %"})
def test_lie(jitperf: Any) -> None:
    lr, n = jnp.float32(1.0), jnp.float32(1000.0)
    jitperf(after, n, lr) if CHANGED else jitperf(before, lr, n)
