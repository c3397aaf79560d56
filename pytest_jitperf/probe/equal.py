"""Whether two strategies gave the same result, judged per leaf relative to the leaf's own size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from .inputs import has_aval, to_numpy
from .resultparts import leaves_with_paths

# Largest |a - b| over largest |b|, by dtype: measured on correct programs, with room.
_TOLERANCE = {
    "float64": 1e-10,
    "complex128": 1e-10,
    "float32": 1e-4,
    "complex64": 1e-4,
    "float16": 2e-2,
    "bfloat16": 5e-2,
}


def leaves_of(result: Any) -> list[tuple[str, Any]]:
    """The leaves of a result with their paths, array leaves on the host."""
    return [(f"result{path}", to_numpy(leaf)) for path, leaf in leaves_with_paths(result)]


def snapshot(result: Any) -> list[tuple[str, Any]]:
    """The leaves of a result as they are now, whatever the function does to the arrays that it gave away."""
    return [
        (path, leaf.copy() if isinstance(leaf, np.ndarray) and leaf.flags.writeable else leaf)
        for path, leaf in leaves_of(result)
    ]


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
        size, sentence = leaf_difference(path, old, new, rtol, atol)
        if sentence and size >= worst[0]:
            worst = (size, sentence)
    return worst[1] or None


def leaf_difference(path: str, old: Any, new: Any, rtol: float | None, atol: float | None) -> tuple[float, str]:
    """How far one leaf is off, and a sentence; empty where it is within the tolerance, see ``difference``."""
    if not (has_aval(old) and has_aval(new)):
        if has_aval(old) != has_aval(new) or (isinstance(old, (str, bytes, int)) and old != new):
            return float("inf"), f"{path}: {type(new).__name__} instead of {type(old).__name__}, or another value"
        return 0.0, ""
    a, b = np.asarray(old), np.asarray(new)
    if a.shape != b.shape:
        return float("inf"), f"{path}: shape {list(b.shape)} instead of {list(a.shape)}"
    if a.dtype.kind in "biu" and b.dtype.kind in "biu":
        unequal = int(np.count_nonzero(a != b))
        return (float("inf"), f"{path}: {unequal} of {a.size} integers differ") if unequal else (0.0, "")
    gap, scale = distance(a, b), largest(a)
    if gap is None:
        return float("inf"), f"{path}: nan or inf in other places"
    tolerance = rtol if rtol is not None else max(_tolerance_of(a), _tolerance_of(b))
    if gap <= tolerance * scale + (atol or 0.0):
        return 0.0, ""
    if scale == 0.0:
        return float("inf"), f"{path}: up to {gap:.2g} instead of nothing but zeros; give atol= if that is rounding"
    share = gap / scale
    return share, f"{path}: off by {share * 100:.3g} % of its largest value, allowed {tolerance * 100:.3g} %"


def distance(a: Any, b: Any) -> float | None:
    """Largest ``|a - b|`` over finite values, for arrays of one shape; None where the others are not the same."""
    wide_a, wide_b = _wide(a), _wide(b)
    finite = np.isfinite(wide_a)
    if not np.array_equal(finite, np.isfinite(wide_b)) or not np.array_equal(
        wide_a[~finite], wide_b[~finite], equal_nan=True
    ):
        return None
    with np.errstate(invalid="ignore", over="ignore"):
        return float(np.max(np.abs(wide_a - wide_b), where=finite, initial=0.0))


def largest(values: Any) -> float:
    """Largest finite ``|value|``, 0 where there is none."""
    wide = _wide(values)
    return float(np.max(np.abs(wide), where=np.isfinite(wide), initial=0.0))


def _tolerance_of(values: Any) -> float:
    return _TOLERANCE.get(str(values.dtype), 1e-4 if values.dtype.kind not in "biu" else 0.0)


def _wide(values: Any) -> Any:
    values = np.asarray(values)
    if values.dtype == jax.dtypes.float0:
        return np.zeros(values.shape)  # derivatives by integers have no values
    return values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)
