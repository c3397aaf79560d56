"""Machines on which two sides are timed in turns, and what each kind of noise does to them.

All times are logarithms of seconds, as arrays of races by rounds. In each round both sides run once, one after the
other; what the machine does to whoever runs is a state with two values per round, and who runs first decides which of
them a side gets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
#: From a generator, who goes first and the size of the noise to the times of the new and of the old side.
Noise = Callable[[np.random.Generator, Array, float], tuple[Array, Array]]


def orders(rng: np.random.Generator, races: int, rounds: int, *, by_turns: bool) -> Array:
    """Whether the new side goes first; by turns, every other round is the other way round than the one before."""
    first = rng.random((races, rounds)) < 0.5
    if by_turns:
        first[:, 1::2] = ~first[:, : rounds // 2 * 2 : 2]
    return first


def _to_sides(state: Array, new_first: Array) -> tuple[Array, Array]:
    early, late = state[:, ::2], state[:, 1::2]
    return np.where(new_first, early, late), np.where(new_first, late, early)


def _autocorrelated(rng: np.random.Generator, shape: tuple[int, int], serial: float) -> Array:
    """Standard normal values, of which each has that correlation with its predecessor."""
    values = rng.normal(size=shape)
    fresh = np.sqrt(1 - serial**2)
    for n in range(1, shape[1]):
        values[:, n] = serial * values[:, n - 1] + fresh * values[:, n]
    return values


def _own(new_first: Array, draw: Callable[[tuple[int, ...]], Array]) -> tuple[Array, Array]:
    return draw(new_first.shape), draw(new_first.shape)


def _shared(rng: np.random.Generator, new_first: Array, state: Array, own: float) -> tuple[Array, Array]:
    new, old = _to_sides(state, new_first)
    return new + rng.normal(0, own, new.shape), old + rng.normal(0, own, old.shape)


def _slots(new_first: Array) -> tuple[int, int]:
    races, rounds = new_first.shape
    return races, 2 * rounds


def _normal(rng: np.random.Generator, new_first: Array, size: float) -> tuple[Array, Array]:
    return _own(new_first, lambda shape: rng.normal(0, size, shape))


def _heavy(rng: np.random.Generator, new_first: Array, size: float) -> tuple[Array, Array]:
    return _own(new_first, lambda shape: rng.standard_t(2, shape) * size / 2)


def _spikes(rng: np.random.Generator, new_first: Array, size: float) -> tuple[Array, Array]:
    def draw(shape: tuple[int, ...]) -> Array:
        spikes = np.where(rng.random(shape) < 0.05, rng.exponential(10 * size, shape), 0.0)
        return rng.lognormal(0, 1, shape) * size / 2 + spikes

    return _own(new_first, draw)


def _two_speeds(rng: np.random.Generator, new_first: Array, size: float) -> tuple[Array, Array]:
    return _own(new_first, lambda shape: rng.choice([-2, 2], shape) * size + rng.normal(0, size / 10, shape))


def _by_order(rng: np.random.Generator, new_first: Array, size: float) -> tuple[Array, Array]:
    return _shared(rng, new_first, np.tile([0.0, 4 * size], new_first.shape), size / 5)


def _trend(rng: np.random.Generator, new_first: Array, size: float) -> tuple[Array, Array]:
    races, slots = _slots(new_first)
    return _shared(rng, new_first, np.broadcast_to(np.linspace(0, 4 * size, slots), (races, slots)), size / 4)


def _load(rng: np.random.Generator, new_first: Array, size: float) -> tuple[Array, Array]:
    """Load begins somewhere in the race: everything takes longer, and by how much differs from call to call."""
    races, slots = _slots(new_first)
    loaded = np.arange(slots) >= rng.integers(0, slots, (races, 1))
    return _shared(rng, new_first, np.where(loaded, rng.exponential(8 * size, (races, slots)), 0.0), size / 4)


def _shared_serial(rng: np.random.Generator, new_first: Array, size: float) -> tuple[Array, Array]:
    return _shared(rng, new_first, 2 * size * _autocorrelated(rng, _slots(new_first), 0.6), size / 5)


def _own_serial(rng: np.random.Generator, new_first: Array, size: float) -> tuple[Array, Array]:
    races, rounds = new_first.shape
    return size * _autocorrelated(rng, (races, rounds), 0.6), size * _autocorrelated(rng, (races, rounds), 0.6)


def _interference(rng: np.random.Generator, new_first: Array, size: float) -> tuple[Array, Array]:
    def draw(shape: tuple[int, ...]) -> Array:
        hit = np.where(rng.random(shape) < 0.3, rng.exponential(4 * size, shape), 0.0)
        return hit + rng.normal(0, size / 5, shape)

    return _own(new_first, draw)


#: By what the table calls it. The size is the standard deviation of one side's time, or of the order of it.
NOISES: Mapping[str, Noise] = {
    "normal": _normal,
    "heavy tails (t, 2 df)": _heavy,
    "lognormal with spikes": _spikes,
    "two speeds": _two_speeds,
    "second one slower": _by_order,
    "slow trend": _trend,
    "load sets in": _load,
    "AR(1) 0.6, shared": _shared_serial,
    "AR(1) 0.6, each side": _own_serial,
    "interference": _interference,
}
