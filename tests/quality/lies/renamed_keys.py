"""Both keys are renamed, so that only what is done with a leaf tells which it is."""

import os
from typing import Any

import jax
import jax.numpy as jnp
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "ok (same program): the program is the same as the baseline's"

LR, N = ("rate", "count") if CHANGED else ("lr", "n")


def f(p: Any) -> Any:
    return jax.lax.fori_loop(0, p[N].astype(int), lambda _, y: y * 0.999 + p[LR], jnp.ones(64))


@pytest.mark.jitperf(strategies=["outer"], tolerance={"run": "100 %", "compile": "300 %"})
def test_lie(jitperf: Any) -> None:
    jitperf(f, {LR: jnp.float32(1.0), N: jnp.float32(1000.0)})
