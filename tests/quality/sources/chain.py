"""Elementwise passes over an array that is larger than the nearest caches."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

STEPS = 100


def relax(signal: Array, target: Array, rate: Array) -> Array:
    def sweep(_: Array, now: Array) -> Array:
        pull = target - now
        size = jnp.abs(now)
        pace = pull / (size + 1.0)
        return now + rate * pace

    out: Array = lax.fori_loop(0, STEPS, sweep, signal)
    return out


def settle(signal: Array, target: Array, gain: Array) -> Array:
    rate = gain + gain
    start = signal[::2]
    return relax(start, target, rate)


def example() -> tuple[Array, Array, Array]:
    grid = jnp.linspace(-3.0, 3.0, 2**17)
    return jnp.sin(jnp.repeat(grid, 2)), jnp.cos(2 * grid), jnp.float32(0.01)
