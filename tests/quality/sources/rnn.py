"""A gated recurrent cell, scanned over time."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array, lax

STEPS = 200


def unroll(params: dict[str, Array], hidden: Array) -> Array:
    def cell(state: Array, time: Array) -> tuple[Array, None]:
        gate = jax.nn.sigmoid(state @ params["gate"])
        fresh = jnp.tanh(state @ params["fresh"] + 0.01 * time)
        return gate * state + (1.0 - gate) * fresh, None

    return lax.scan(cell, hidden, jnp.arange(STEPS, dtype=jnp.float32))[0]


def encode(params: dict[str, Array], hidden: Array) -> Array:
    start = jnp.tanh(hidden)
    shift = params["shift"] + params["shift"]
    return unroll(params, start) - shift


def example() -> tuple[dict[str, Array], Array]:
    keys = jax.random.split(jax.random.key(1), 4)
    params = {
        "fresh": jax.random.normal(keys[0], (48, 48)) / 7,
        "gate": jax.random.normal(keys[1], (48, 48)) / 7,
        "shift": jax.random.normal(keys[2], (48,)),
    }
    return params, jax.random.normal(keys[3], (16, 48))
