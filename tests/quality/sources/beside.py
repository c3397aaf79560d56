"""What a scenario plants beside a subject. Its numbers are what the scenarios change; at these, next to nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

SIDE = 16  # of a square temporary, in a branch that is never taken
LENGTH = 16  # of a captured table, in the same branch
ROUNDS = 0  # of an empty Python loop, while tracing
CALLS = 0  # of a Python function, while tracing
PROGRAMS = 0  # started one by one after the subject, unless it is jitted as a whole

TABLE = np.linspace(0.0, 1.0, LENGTH, dtype=np.float32)


def rare(values: Array) -> Array:
    line = jnp.linspace(0.0, 1.0, SIDE) * values.ravel()[0]
    square = jnp.sin(line[:, None] + line)
    return values + (square @ square)[0, 0] + jnp.sum(values.ravel()[0] * TABLE)


def usual(values: Array) -> Array:
    return values


def nothing() -> None:
    pass


def beside(subject: Callable[..., Any]) -> Callable[..., Any]:
    def both(*args: Any) -> Any:
        for _ in range(ROUNDS):
            pass
        for _ in range(CALLS):
            nothing()
        leaves, tree = jax.tree.flatten(subject(*args))
        first = lax.cond(jnp.isnan(leaves[0].ravel()[0]), rare, usual, leaves[0])
        for _ in range(PROGRAMS):
            first = jnp.negative(first)
        return jax.tree.unflatten(tree, [first, *leaves[1:]])

    return both
