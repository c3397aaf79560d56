"""A helper that is called many times, and the function that calls it."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def ripple(x: jax.Array) -> jax.Array:
    """Returns ``2 x + sin x``, element by element."""
    return 2.0 * x + jnp.sin(x)


def cascade(x: jax.Array, depth: int = 16) -> jax.Array:
    """Sends ``x`` through ``depth`` ripples, halving it after each so that it stays bounded.

    Args:
        x: Real array of any shape.
        depth: Number of ripples, at least 0. A Python integer: it decides how long the program is.

    Returns:
        Array of the shape and dtype of ``x``.
    """
    for _ in range(depth):
        x = 0.5 * ripple(x)
    return x
