"""Equal results: per leaf, relative to the leaf's own size."""

from __future__ import annotations

import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf.probe.equal import difference, leaves_of


def compare(old: Any, new: Any, rtol: float | None = None, atol: float | None = None) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return difference(leaves_of(old), leaves_of(new), rtol, atol)


BASE = np.linspace(-1.0, 2.0, 50)


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [
        (np.float64, 1e-10),
        (np.complex128, 1e-10),
        (np.float32, 1e-4),
        (np.complex64, 1e-4),
        (np.float16, 2e-2),
        (jnp.bfloat16, 5e-2),
    ],
)
def test_floats_may_differ_by_a_share_of_the_largest_value(dtype: Any, tolerance: float) -> None:
    old = BASE.astype(dtype)
    for share, equal in ((0.5, True), (1.5, False)):
        new = old.copy()
        new[0] += np.asarray(2.0 * tolerance * share).astype(dtype)
        assert (compare(old, new) is None) is equal, share


def test_a_value_near_zero_is_judged_by_the_size_of_its_leaf() -> None:
    old, new = np.array([1e3, 1e-9], np.float32), np.array([1e3, 1e-3], np.float32)
    assert compare(old, new) is None
    assert compare({"a": old[:1], "b": old[1:]}, {"a": new[:1], "b": new[1:]}) is not None


def test_a_weight_that_is_a_thousandth_wrong_is_found() -> None:
    w, x = np.random.default_rng(0).normal(size=(2, 64, 64)).astype(np.float32)
    assert compare(jnp.tanh(x @ w), jnp.tanh(x @ (w * 1.001))) is not None
    assert compare(x @ w, jnp.asarray(x) @ jnp.asarray(w)) is None


NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("old", "new", "equal"),
    [
        ([1, NAN, INF, -INF], [1, NAN, INF, -INF], True),
        ([1, NAN], [NAN, 1], False),
        ([1, INF], [1, -INF], False),
        ([1, INF], [1, NAN], False),
        ([1, 2], [1, NAN], False),
        ([NAN, NAN], [NAN, NAN], True),
        ([NAN, 1], [NAN, 2], False),
        ([], [], True),
    ],
)
def test_what_is_not_finite_stands_in_the_same_places(old: Any, new: Any, equal: bool) -> None:
    assert (compare(np.array(old, np.float32), np.array(new, np.float32)) is None) is equal


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (np.array([1, 2, 3]), np.array([1, 2, 4]), "result: 1 of 3 integers differ"),
        (np.array([True, False]), np.array([True, True]), "result: 1 of 2 integers differ"),
        (np.array([2**62]), np.array([2**62 + 1]), "result: 1 of 1 integers differ"),
        (np.ones(3), np.ones(4), "result: shape [4] instead of [3]"),
        (
            np.zeros(3),
            np.full(3, 0.5),
            "result: up to 0.5 instead of nothing but zeros; give atol= if that is rounding",
        ),
        ((1.0, 2.0), (1.0,), "1 result leaves instead of 2"),
        ({"a": 1.0}, {"b": 1.0}, "another structure: result['b'] instead of result['a']"),
        ("x", "y", "result: str instead of str, or another value"),
        (2**40, 2**41, "result: int instead of int, or another value"),
        ("x", 1.0, "result: float instead of str, or another value"),
        (np.float32(1), np.float32(2), "result: off by 100 % of its largest value, allowed 0.01 %"),
    ],
)
def test_a_difference_is_told_in_a_sentence(old: Any, new: Any, sentence: str) -> None:
    assert compare(old, new) == sentence


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (None, None),
        ("x", "x"),
        (1.5, jnp.float32(1.5)),
        (3, jnp.int32(3)),
        (True, jnp.asarray(True)),
        (jax.random.key(1), jax.random.key(1)),
        (object(), object()),
        (np.array(["a"]), np.array(["b"])),  # only what JAX can compute is compared
        (np.float64(1), np.float32(1 + 1e-6)),
        (jnp.zeros((0, 2)), jnp.zeros((0, 2))),
    ],
)
def test_what_may_come_of_jit_is_equal(old: Any, new: Any) -> None:
    assert compare(old, new) is None


def test_derivatives_by_integers_have_no_values_to_compare() -> None:
    nothing = jax.grad(lambda n: n * 2.0, allow_int=True)(jnp.arange(3).sum())
    assert nothing.dtype == jax.dtypes.float0
    assert compare({"n": nothing, "x": BASE}, {"n": nothing, "x": BASE}) is None
    assert "shape [2] instead of []" in (compare(nothing, np.zeros(2, jax.dtypes.float0)) or "")
    assert compare(nothing, np.float32(1.0)) is not None


def test_keys_are_compared_exactly() -> None:
    assert compare(jax.random.key(1), jax.random.key(2)) == "result: 1 of 2 integers differ"


def test_given_tolerances_take_the_place_of_the_dtypes_own() -> None:
    old, new = np.array([1.0, 2.0]), np.array([1.0, 2.002])
    assert compare(old, new) is not None
    assert compare(old, new, rtol=2e-3) is None
    assert compare(old, new, rtol=1e-4) is not None
    assert compare(old, new, atol=3e-3) is None
    assert compare(old.astype("f4"), (old + 1e-6).astype("f4"), rtol=1e-8) is not None
    assert compare(np.array([1]), np.array([2]), rtol=10.0, atol=10.0) is not None


def test_the_worst_leaf_is_told() -> None:
    old = {"a": np.ones(2), "b": np.ones(2), "c": np.ones(2)}
    new = {"a": np.ones(2) * 1.1, "b": np.ones(2) * 1.5, "c": np.ones(2) * 1.2}
    assert compare(old, new) == "result['b']: off by 50 % of its largest value, allowed 1e-08 %"
