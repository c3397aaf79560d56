"""A small differential equation in a while loop: many tiny operations."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

STEPS = 5000


def force(place: Array) -> Array:
    return -place / (1.0 + jnp.sum(place * place))


def integrate(place: Array, speed: Array, end: Array) -> tuple[Array, Array, Array]:
    def going(state: tuple[Array, Array, Array]) -> Array:
        return state[2] < end

    def move(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        where, velocity, now = state
        half = velocity + 0.0005 * force(where)
        after = now + 1.0
        where = where + 0.001 * half
        return where, half + 0.0005 * force(where), after

    return lax.while_loop(going, move, (place, speed, jnp.float32(0.0)))


def fly(place: Array, speed: Array) -> Array:
    centre = place.mean()
    twice = speed + speed
    where, velocity, _ = integrate(place - centre, twice, jnp.float32(STEPS))
    return where * velocity + centre


def example() -> tuple[Array, Array]:
    return jnp.arange(1.0, 7.0), jnp.linspace(0.5, 1.0, 6)
