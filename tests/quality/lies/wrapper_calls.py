"""A wrapper of the user's around one jit makes more Python calls in each call; the program stays the same."""

import os
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from pytest_jitperf import Strategy

CHANGED = "CHANGED" in os.environ
RIGHT = "REGRESSED: trace_calls regressed: *"


def check(value: Any) -> Any:
    return value


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    jitted = jax.jit(function)

    def call(*args: Any) -> Any:
        for _ in range(5000 if CHANGED else 10):
            check(args)
        return jitted(*args)

    return call


def f(x: Any) -> Any:
    return jnp.sin(x)


@pytest.mark.jitperf(strategies=[Strategy("wrapped", wrapped)])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(8))
