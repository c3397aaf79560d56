"""An input was split over two devices and is now copied to both: each does all of the work."""

import os
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import NamedSharding, PartitionSpec

CHANGED = "CHANGED" in os.environ
ALWAYS = {"JAX_NUM_CPU_DEVICES": "2"}
RIGHT = "inputs changed: inputs changed: * on 2 devices as [[]10000] -> * on 2 devices as [[]20000]; *"


def f(x: Any) -> Any:
    for _ in range(8):
        x = jnp.sin(x) * 1.5 + jnp.cos(x)
    return x


@pytest.mark.jitperf(strategies=["outer"], devices=["as-is"])
def test_lie(jitperf: Any) -> None:
    mesh = jax.make_mesh((2,), ("x",))
    sharding = NamedSharding(mesh, PartitionSpec() if CHANGED else PartitionSpec("x"))
    jitperf(f, jax.device_put(jnp.ones(20_000), sharding))
