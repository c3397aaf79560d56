"""An optimiser's updates of a tree of many small leaves."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array, lax

STEPS = 40

Tree = dict[str, dict[str, Array]]


def descend(params: Tree, moments: Tree) -> tuple[Tree, Tree]:
    def update(_: Array, state: tuple[Tree, Tree]) -> tuple[Tree, Tree]:
        weights, means = state
        grads = jax.tree.map(jnp.sin, weights)
        means = jax.tree.map(lambda mean, grad: 0.9 * mean + 0.1 * grad, means, grads)
        return jax.tree.map(lambda weight, mean: weight - 0.01 * mean, weights, means), means

    out: tuple[Tree, Tree] = lax.fori_loop(0, STEPS, update, (params, moments))
    return out


def train(params: Tree, moments: Tree) -> Tree:
    start = jax.tree.map(lambda leaf: leaf + leaf, params)
    means = jax.tree.map(lambda leaf: 0.5 * leaf, moments)
    return descend(start, means)[0]


def example() -> tuple[Tree, Tree]:
    def layer(scale: float) -> dict[str, Array]:
        return {name: scale * jnp.linspace(0.0, 1.0, size) for name, size in (("bias", 64), ("kernel", 1024))}

    layers = [f"layer_{n:02}" for n in range(12)]
    return {name: layer(1.0 + n) for n, name in enumerate(layers)}, {name: layer(0.1) for name in layers}
