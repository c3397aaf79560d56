"""A key of the parameters is renamed, so that leaves of one type change places: equal code, other order."""

import os
from typing import Any

import jax
import jax.numpy as jnp
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "ok*"

LR = "zlr" if CHANGED else "lr"


def f(p: Any) -> Any:
    return jax.lax.fori_loop(0, p["n"].astype(int), lambda _, y: y * 0.999 + p[LR], jnp.ones(64))


@pytest.mark.jitperf(strategies=["outer"], tolerance={"run": "100 %", "compile": "300 %"})
def test_lie(jitperf: Any) -> None:
    jitperf(f, {LR: jnp.float32(1.0), "n": jnp.float32(1000.0)})
