"""A network of equal layers, unrolled."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

STEPS = 20


def trunk(params: dict[str, Array], rows: Array) -> Array:
    for _ in range(STEPS):
        mixed = rows @ params["kernel"]
        skip = 0.3 * rows
        rows = jnp.tanh(mixed + params["bias"]) + skip
    return rows


def predict(params: dict[str, Array], rows: Array) -> Array:
    centred = rows - params["mean"]
    scale = params["scale"] + params["scale"]
    return trunk(params, centred) * scale


def example() -> tuple[dict[str, Array], Array]:
    keys = jax.random.split(jax.random.key(0), 4)
    params = {
        "bias": jax.random.normal(keys[0], (128,)) / 10,
        "kernel": jax.random.normal(keys[1], (128, 128)) / 10,
        "mean": jnp.full(128, 0.1),
        "scale": jax.random.normal(keys[2], (128,)),
    }
    return params, jax.random.normal(keys[3], (128, 128))
