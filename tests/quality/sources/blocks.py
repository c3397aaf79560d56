"""Unrolled blocks in a branch that is never taken: work for the compiler, and next to none in run.

Even so, each block costs about a microsecond, so that the other branch has to take some hundreds of them.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
from jax import Array, lax

BLOCKS = 4

Block = Callable[[Array, int], Array]


def reduced(values: Array, number: int) -> Array:
    return values - values.sum() / (number + 2.0)


def rolled(values: Array, number: int) -> Array:
    return jnp.cumsum(values)[::-1] * (1.0 / (number + 2.0))


def sorted_again(values: Array, number: int) -> Array:
    return jnp.sort(values * (number - 0.5))


def guarded(block: Block) -> Callable[[Array], Array]:
    def usual(values: Array) -> Array:
        out: Array = lax.fori_loop(0, 300, lambda _, now: jnp.tanh(now), values)
        return out

    def rare(values: Array) -> Array:
        for number in range(BLOCKS):
            values = block(values, number)
        return values

    def either(values: Array) -> Array:
        out: Array = lax.cond(values[0] > 1e9, rare, usual, values)
        return out

    return either
