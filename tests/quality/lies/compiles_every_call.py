"""A function is jitted anew in every call: the same program each time."""

import os
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from pytest_jitperf import Strategy

CHANGED = "CHANGED" in os.environ
RIGHT = "REGRESSED: compilations regressed: 1 -> 2, *allowed 1"


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    jitted = jax.jit(function)
    return (lambda x: jax.jit(lambda x: function(x))(x)) if CHANGED else (lambda x: jitted(x))


def f(x: Any) -> Any:
    return jnp.sin(x)


@pytest.mark.jitperf(strategies=[Strategy("wrapped", wrapped)])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(8))
