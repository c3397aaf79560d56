"""A network that learns a wave: model, loss, Adam and one train step, in plain JAX.

The state is one pytree that goes in and comes out of `train_step`, so that it can be donated: the new state may then
be written into the memory of the old one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from wavelab.waves import cascade

Layer = Mapping[str, jax.Array]
Params = tuple[Layer, ...]

LEARNING_RATE = 1e-2
DROP_RATE = 0.1
DECAY_MEAN, DECAY_SQUARE, EPSILON = 0.9, 0.999, 1e-8


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class TrainState:
    """Everything that one step hands on to the next.

    Attributes:
        params: ``{"weight": f32[in, out], "bias": f32[out]}`` for each layer.
        mean: Adam's running mean of the gradients, shaped as ``params``.
        square: Adam's running mean of the squared gradients, shaped as ``params``.
        step: Steps taken so far, i32[].
        key: Source of the dropout masks.
    """

    params: Params
    mean: Params
    square: Params
    step: jax.Array
    key: jax.Array


def init_state(key: jax.Array, widths: Sequence[int]) -> TrainState:
    """Returns a fresh state for a network with the given layer widths, input and output included."""
    key, *layer_keys = jax.random.split(key, len(widths))
    params = tuple(
        {
            "weight": jax.random.normal(layer_key, (fan_in, fan_out)) / jnp.sqrt(fan_in),
            "bias": jnp.zeros(fan_out),
        }
        for layer_key, fan_in, fan_out in zip(layer_keys, widths[:-1], widths[1:], strict=True)
    )
    zeros = jax.tree.map(jnp.zeros_like, params)
    return TrainState(params, zeros, jax.tree.map(jnp.copy, zeros), jnp.zeros((), jnp.int32), key)


def sample_batch(key: jax.Array, size: int, features: int) -> tuple[jax.Array, jax.Array]:
    """Returns ``size`` random points, f32[size, features], and the wave's height there, f32[size, 1]."""
    points = jax.random.uniform(key, (size, features), minval=-2.0, maxval=2.0)
    return points, jnp.mean(cascade(points, depth=2), axis=-1, keepdims=True)


def dense(layer: Layer, x: jax.Array) -> jax.Array:
    """Returns ``x @ weight + bias``."""
    return x @ layer["weight"] + layer["bias"]


def dropout(key: jax.Array, x: jax.Array) -> jax.Array:
    """Zeroes a random tenth of ``x`` and scales the rest so that the mean stays."""
    keep = jax.random.bernoulli(key, 1.0 - DROP_RATE, x.shape)
    return jnp.where(keep, x / (1.0 - DROP_RATE), 0.0)


def predict(params: Params, x: jax.Array, key: jax.Array | None = None) -> jax.Array:
    """Applies the network, with dropout after each hidden layer if a key is given."""
    *hidden, last = params
    for depth, layer in enumerate(hidden):
        x = jnp.tanh(dense(layer, x))
        if key is not None:
            x = dropout(jax.random.fold_in(key, depth), x)
    return dense(last, x)


def loss(params: Params, key: jax.Array, points: jax.Array, heights: jax.Array) -> jax.Array:
    """Returns the mean squared error of the predictions, f32[]."""
    return jnp.mean((predict(params, points, key) - heights) ** 2)


def adam_update(
    param: jax.Array, mean: jax.Array, square: jax.Array, grad: jax.Array, step: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Moves one array by one step of Adam (Kingma and Ba, 2015).

    Returns:
        The new parameter, running mean and running mean square.
    """
    mean = DECAY_MEAN * mean + (1.0 - DECAY_MEAN) * grad
    square = DECAY_SQUARE * square + (1.0 - DECAY_SQUARE) * grad**2
    unbiased_mean = mean / (1.0 - DECAY_MEAN**step)
    unbiased_square = square / (1.0 - DECAY_SQUARE**step)
    return param - LEARNING_RATE * unbiased_mean / (jnp.sqrt(unbiased_square) + EPSILON), mean, square


def train_step(state: TrainState, points: jax.Array, heights: jax.Array) -> tuple[TrainState, jax.Array]:
    """Takes one step on one batch.

    Args:
        state: State of the previous step.
        points: f32[batch, features].
        heights: f32[batch, 1].

    Returns:
        The new state and the loss before the step, f32[].
    """
    key, drop_key = jax.random.split(state.key)
    error, grads = jax.value_and_grad(loss)(state.params, drop_key, points, heights)
    step = state.step + 1
    leaves, structure = jax.tree.flatten(state.params)
    moved = [
        adam_update(*arrays, step)
        for arrays in zip(
            leaves, jax.tree.leaves(state.mean), jax.tree.leaves(state.square), jax.tree.leaves(grads), strict=True
        )
    ]
    params, mean, square = (jax.tree.unflatten(structure, part) for part in zip(*moved, strict=True))
    return TrainState(params, mean, square, step, key), error
