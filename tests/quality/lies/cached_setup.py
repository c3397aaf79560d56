"""Work that only the first trace of a process does."""

import functools
import os
from typing import Any

import jax.numpy as jnp
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "REGRESSED: *"
MISSED = "the first trace of a process is not timed, since it pays for what Python loads once"


@functools.cache
def table() -> int:
    n = 0
    while n < (8_000_000 if CHANGED else 0):
        n += 1
    return 3


def f(x: Any) -> Any:
    return jnp.sin(x) * table()


@pytest.mark.jitperf(strategies=["outer"])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(8))
