"""Sorting and gathering."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array, lax

STEPS = 20


def shuffle(scores: Array, table: Array) -> Array:
    def turn(_: Array, now: Array) -> Array:
        order = jnp.argsort(now)
        drift = 0.3 * now
        return jnp.sin(7.0 * table[order]) + drift

    out: Array = lax.fori_loop(0, STEPS, turn, scores)
    return out


def rank(scores: Array, table: Array) -> Array:
    lowest = scores.min()
    wide = table + table
    return shuffle(scores - lowest, wide)


def example() -> tuple[Array, Array]:
    keys = jax.random.split(jax.random.key(3))
    return jax.random.normal(keys[0], (512,)), jax.random.normal(keys[1], (512,))
