"""300 more leaves that the program does not use: the same program, and every call takes them apart."""

import os
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "REGRESSED: run regressed: *"


def f(x: Any, state: Any) -> Any:
    return x * 2 + state["a"]


@pytest.mark.jitperf(strategies=["outer"])
def test_lie(jitperf: Any) -> None:
    more = {f"k{n}": jnp.float32(n) for n in range(300)} if CHANGED else {}
    jitperf(f, jnp.ones(8), {"a": np.float32(1), **more})
