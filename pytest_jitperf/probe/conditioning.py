"""Whether a difference between results says something about the code, or only about the numbers given to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .equal import distance, largest, leaf_difference, leaves_of
from .inputs import Call, has_aval

_DRAWS = 3
_SPREAD_FACTOR = 4.0
_DTYPES = {"bf16": "bfloat16", "f16": "float16", "f32": "float32", "f64": "float64"}


def ill_conditioned(
    run: Callable[[Call], Any],
    call: Call,
    reference: Sequence[tuple[str, Any]],
    result: Sequence[tuple[str, Any]],
    rtol: float | None = None,
    atol: float | None = None,
    step: float = 0.0,
) -> bool:
    """Whether moving the inputs by one unit in the last place moves the results as much as they differ.

    Args:
        run: The same program as gave ``result``.
        call: The inputs.
        reference: Leaves of the reference.
        result: Leaves of the strategy under test.
        rtol: As given to ``equal.difference``.
        atol: Likewise.
        step: Share by which inputs are moved that are known more exactly; of the others it is the last place.

    Returns:
        True where the difference is within four times the spread over three draws in every leaf that differs, or
        within four times ``step`` of its largest value. It says nothing of a function whose result changes though its
        inputs do not.
    """
    if [path for path, _ in reference] != [path for path, _ in result]:
        return False
    random = np.random.default_rng(0)
    spreads = [0.0] * len(result)
    for _ in range(_DRAWS):
        moved = leaves_of(run(_moved_by_one_ulp(call, random, step)))
        if len(moved) != len(result):
            return False
        now = [_spread(a, b) for (_, a), (_, b) in zip(moved, result, strict=True)]
        spreads = list(map(max, spreads, now))
    for spread, (path, old), (_, new) in zip(spreads, reference, result, strict=True):
        differs = leaf_difference(path, old, new, rtol, atol)[1]
        if differs and not (_comparable(old, new) and _spread(old, new) <= _SPREAD_FACTOR * _least(spread, step, old)):
            return False
    return True


def coarsest_dtype(texts: Iterable[str]) -> tuple[str, float]:
    """The least exact floating-point dtype that programs compute in.

    Args:
        texts: Their StableHLO.

    Returns:
        ``("float16", 0.00098)``, its name and its unit in the last place relative to 1; ``("", 0.0)`` without any.
    """
    named = {name for text in texts for name in re.findall(r"[x<](bf16|f16|f32|f64)>", text)}
    finfo: Any = jnp.finfo
    found = [(float(finfo(_DTYPES[name]).eps), _DTYPES[name]) for name in named]
    eps, dtype = max(found, default=(0.0, ""))
    return dtype, eps


def _moved_by_one_ulp(call: Call, random: np.random.Generator, least: float) -> Call:
    def move(leaf: Any) -> Any:
        if not isinstance(leaf, jax.Array) or not jnp.issubdtype(leaf.dtype, jnp.inexact):
            return leaf
        finfo: Any = jnp.finfo
        step = max(float(finfo(leaf.dtype).eps), least)
        # Python numbers leave the leaf its dtype and its weak type: another one would make another program.
        factors = jnp.where(random.random(leaf.shape) < 0.5, 1 - step, 1 + step)
        return jax.device_put(leaf * factors, leaf.sharding)

    args, kwargs = jax.tree.map(move, (call.args, dict(call.kwargs)))
    return Call(args, kwargs)


def _least(spread: float, step: float, old: Any) -> float:
    """Results may be rounded on their way, too, where that no longer shows what the inputs were."""
    return max(spread, step * largest(old)) if step else spread


def _comparable(old: Any, new: Any) -> bool:
    return has_aval(old) and has_aval(new) and np.shape(old) == np.shape(new)


def _spread(old: Any, new: Any) -> float:
    """How far two leaves are apart; infinity where one is finite and the other not."""
    if not _comparable(old, new):
        return 0.0
    gap = distance(old, new)
    return float("inf") if gap is None else gap
