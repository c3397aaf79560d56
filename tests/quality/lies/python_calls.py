"""Python between the programs of ``inner`` makes more calls."""

import os
from typing import Any

import jax.numpy as jnp
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "REGRESSED: host_calls regressed: *"


def check(value: Any) -> Any:
    return value


def helper(x: Any) -> Any:
    return jnp.sin(x)


def f(x: Any) -> Any:
    for _ in range(5000 if CHANGED else 10):
        check(x)
    return helper(x) + 1


@pytest.mark.jitperf(strategies=["inner"], inner=[helper])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(8))
