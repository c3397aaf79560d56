"""Whether a difference between results says something about the code, or only about the numbers given to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .equal import distance, leaf_difference, leaves_of
from .inputs import Call, has_aval

_DRAWS = 3
_SPREAD_FACTOR = 4.0


def ill_conditioned(
    run: Callable[[Call], Any],
    call: Call,
    reference: Sequence[tuple[str, Any]],
    result: Sequence[tuple[str, Any]],
    rtol: float | None = None,
    atol: float | None = None,
) -> bool:
    """Whether moving the inputs by one unit in the last place moves the results as much as they differ.

    Args:
        run: The same program as gave ``result``.
        call: The inputs.
        reference: Leaves of the reference.
        result: Leaves of the strategy under test.
        rtol: As given to ``equal.difference``.
        atol: Likewise.

    Returns:
        True where the difference is within four times the spread over three draws in every leaf that differs. It says
        nothing of a function whose result changes though its inputs do not.
    """
    if [path for path, _ in reference] != [path for path, _ in result]:
        return False
    random = np.random.default_rng(0)
    spreads = [0.0] * len(result)
    for _ in range(_DRAWS):
        moved = leaves_of(run(_moved_by_one_ulp(call, random)))
        if len(moved) != len(result):
            return False
        now = [_spread(a, b) for (_, a), (_, b) in zip(moved, result, strict=True)]
        spreads = list(map(max, spreads, now))
    for spread, (path, old), (_, new) in zip(spreads, reference, result, strict=True):
        differs = leaf_difference(path, old, new, rtol, atol)[1]
        if differs and not (_comparable(old, new) and _spread(old, new) <= _SPREAD_FACTOR * spread):
            return False
    return True


def _moved_by_one_ulp(call: Call, random: np.random.Generator) -> Call:
    def move(leaf: Any) -> Any:
        if not isinstance(leaf, jax.Array) or not jnp.issubdtype(leaf.dtype, jnp.inexact):
            return leaf
        finfo: Any = jnp.finfo
        step = float(finfo(leaf.dtype).eps)
        # Python numbers leave the leaf its dtype and its weak type: another one would make another program.
        factors = jnp.where(random.random(leaf.shape) < 0.5, 1 - step, 1 + step)
        return jax.device_put(leaf * factors, leaf.sharding)

    args, kwargs = jax.tree.map(move, (call.args, dict(call.kwargs)))
    return Call(args, kwargs)


def _comparable(old: Any, new: Any) -> bool:
    return has_aval(old) and has_aval(new) and np.shape(old) == np.shape(new)


def _spread(old: Any, new: Any) -> float:
    """How far two leaves are apart; infinity where one is finite and the other not."""
    if not _comparable(old, new):
        return 0.0
    gap = distance(old, new)
    return float("inf") if gap is None else gap
