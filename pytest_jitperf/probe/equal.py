"""Whether two strategies gave the same result, judged per leaf relative to the leaf's own size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .inputs import Call, to_numpy

# Largest |a - b| over largest |b|, by dtype: measured on correct programs, with room.
_TOLERANCE = {
    "float64": 1e-10,
    "complex128": 1e-10,
    "float32": 1e-4,
    "complex64": 1e-4,
    "float16": 2e-2,
    "bfloat16": 5e-2,
}

_DRAWS = 3
_SPREAD_FACTOR = 4.0


def leaves_of(result: Any) -> list[tuple[str, Any]]:
    """The leaves of a result with their paths, array leaves on the host."""
    flat, _ = jax.tree_util.tree_flatten_with_path(result)
    return [(f"result{jax.tree_util.keystr(path)}", to_numpy(leaf)) for path, leaf in flat]


def difference(
    reference: Sequence[tuple[str, Any]], result: Sequence[tuple[str, Any]], rtol: float | None, atol: float | None
) -> str | None:
    """The worst disagreement of two results, as a sentence.

    Per leaf, ``max|a - b| <= rtol * max|b| + atol`` over finite values, non-finite ones in the same places; integers,
    booleans and key data exactly. The measure is normwise since elementwise relative error says nothing about
    elements near zero.

    Args:
        reference: Leaves of the reference.
        result: Leaves of the strategy under test.
        rtol: Relative tolerance, or None for the dtype's own.
        atol: Absolute tolerance, or None for 0.

    Returns:
        None where they agree.
    """
    if [path for path, _ in reference] != [path for path, _ in result]:
        if len(reference) != len(result):
            return f"{len(result)} result leaves instead of {len(reference)}"
        moved = next((a, b) for (a, _), (b, _) in zip(reference, result, strict=True) if a != b)
        return f"another structure: {moved[1]} instead of {moved[0]}"
    worst: tuple[float, str] = (0.0, "")
    for (path, old), (_, new) in zip(reference, result, strict=True):
        size, sentence = _leaf_difference(path, old, new, rtol, atol)
        if sentence and size >= worst[0]:
            worst = (size, sentence)
    return worst[1] or None


def ill_conditioned(
    run: Callable[[Call], Any],
    call: Call,
    reference: Sequence[tuple[str, Any]],
    result: Sequence[tuple[str, Any]],
) -> bool:
    """Whether moving the inputs by one unit in the last place moves the results as much as they differ.

    Args:
        run: The same program as gave ``result``.
        call: The inputs.
        reference: Leaves of the reference.
        result: Leaves of the strategy under test.

    Returns:
        True where the difference is within four times the spread over three draws in every leaf that differs.
    """
    random = np.random.default_rng(0)
    spreads = np.zeros(len(result))
    for _ in range(_DRAWS):
        moved = leaves_of(run(_moved_by_one_ulp(call, random)))
        if len(moved) != len(result):
            return False
        spreads = np.maximum(spreads, [_distance(a, b) for (_, a), (_, b) in zip(moved, result, strict=True)])
    for spread, (path, old), (_, new) in zip(spreads, reference, result, strict=True):
        _, sentence = _leaf_difference(path, old, new, None, None)
        if sentence and not _distance(old, new) <= _SPREAD_FACTOR * spread:
            return False
    return True


def _moved_by_one_ulp(call: Call, random: np.random.Generator) -> Call:
    def move(leaf: Any) -> Any:
        if not isinstance(leaf, jax.Array) or not jnp.issubdtype(leaf.dtype, np.floating):
            return leaf
        values = np.asarray(leaf)
        step = random.choice([-1.0, 1.0], size=values.shape) * _epsilon(leaf.dtype)
        return jax.device_put((values.astype(np.float64) * (1 + step)).astype(values.dtype), leaf.sharding)

    args, kwargs = jax.tree.map(move, (call.args, dict(call.kwargs)))
    return Call(args, kwargs)


def _epsilon(dtype: Any) -> float:
    finfo: Any = jnp.finfo
    return float(finfo(dtype).eps)


def _distance(old: Any, new: Any) -> float:
    if not (_is_number(old) and _is_number(new)) or np.shape(old) != np.shape(new):
        return 0.0 if old is new else float("inf")
    wide_old, wide_new = _wide(old), _wide(new)
    finite = np.isfinite(wide_old) & np.isfinite(wide_new)
    return float(np.max(np.abs(wide_old - wide_new), where=finite, initial=0.0))


def _leaf_difference(path: str, old: Any, new: Any, rtol: float | None, atol: float | None) -> tuple[float, str | None]:
    if not (_is_number(old) and _is_number(new)):
        if _is_number(old) != _is_number(new) or (isinstance(old, (str, bytes, bool)) and old != new):
            return float("inf"), f"{path}: {type(new).__name__} instead of {type(old).__name__}, or another value"
        return 0.0, None
    a, b = np.asarray(old), np.asarray(new)
    if a.shape != b.shape:
        return float("inf"), f"{path}: shape {list(b.shape)} instead of {list(a.shape)}"
    wide_a, wide_b = _wide(a), _wide(b)
    if a.dtype.kind in "biu" and b.dtype.kind in "biu":
        unequal = int(np.count_nonzero(wide_a != wide_b))
        return (float("inf"), f"{path}: {unequal} of {a.size} integers differ") if unequal else (0.0, None)
    finite = np.isfinite(wide_a)
    if not np.array_equal(finite, np.isfinite(wide_b)) or not np.array_equal(
        wide_a[~finite], wide_b[~finite], equal_nan=True
    ):
        return float("inf"), f"{path}: nan or inf in other places"
    tolerance = rtol if rtol is not None else max(_tolerance_of(a), _tolerance_of(b))
    gap = float(np.max(np.abs(wide_a - wide_b), where=finite, initial=0.0))
    scale = float(np.max(np.abs(wide_a), where=finite, initial=0.0))
    if gap <= tolerance * scale + (atol or 0.0):
        return 0.0, None
    relative = gap / scale if scale else float("inf")
    return relative, f"{path}: off by {relative:.2g} of its largest value, allowed {tolerance:.2g}"


def _tolerance_of(values: Any) -> float:
    return _TOLERANCE.get(str(values.dtype), 1e-4 if values.dtype.kind not in "biu" else 0.0)


def _is_number(leaf: Any) -> bool:
    if isinstance(leaf, np.ndarray):
        return leaf.dtype.kind in "biufcV"
    return isinstance(leaf, (int, float, complex, np.generic))


def _wide(values: Any) -> Any:
    values = np.asarray(values)
    if values.dtype.kind == "c":
        return values.astype(np.complex128)
    return values if values.dtype.kind in "biu" else values.astype(np.float64)
