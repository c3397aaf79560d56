"""An image blurred again and again in Fourier space."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

STEPS = 40


def smooth(image: Array, response: Array) -> Array:
    def once(_: Array, now: Array) -> Array:
        spectrum = jnp.fft.rfft2(now) * response
        edge = 0.02 * now * now
        return jnp.fft.irfft2(spectrum, s=now.shape) + edge

    out: Array = lax.fori_loop(0, STEPS, once, image)
    return out


def soften(image: Array, width: Array) -> Array:
    rows = jnp.fft.fftfreq(image.shape[0])
    columns = jnp.fft.rfftfreq(image.shape[1])
    response = jnp.exp(-width * (rows[:, None] ** 2 + columns**2))
    out = smooth(image, response)
    return out + out


def example() -> tuple[Array, Array]:
    axis = jnp.linspace(0.0, 9.0, 64)
    return 0.5 * jnp.sin(axis)[:, None] * jnp.cos(axis), jnp.float32(3.0)
