"""A static argument that says that it equals every other one and shows the same text."""

import os
from typing import Any

import jax.numpy as jnp
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "REGRESSED: run regressed: *"


class Config:
    def __init__(self, layers: int) -> None:
        self.layers = layers

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config)

    def __hash__(self) -> int:
        return 0


def f(x: Any, config: Config) -> Any:
    for _ in range(config.layers):
        x = jnp.sin(x)
    return x


@pytest.mark.jitperf(strategies=["outer"], jit={"static_argnames": ["config"]})
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(20_000), config=Config(12 if CHANGED else 2))
