"""A wrapper of the user's around one jit loops in each call without calling anything."""

import os
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from pytest_jitperf import Strategy

CHANGED = "CHANGED" in os.environ
RIGHT = "REGRESSED: trace regressed: *"


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    jitted = jax.jit(function)

    def call(*args: Any) -> Any:
        n = 0
        while n < (8_000_000 if CHANGED else 0):
            n += 1
        return jitted(*args)

    return call


def f(x: Any) -> Any:
    return jnp.sin(x)


@pytest.mark.jitperf(strategies=[Strategy("wrapped", wrapped)])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(8))
