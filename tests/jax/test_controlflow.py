"""Whether the values that a program is given decide what it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from pytest_jitperf.measurement import Comparison
from pytest_jitperf.probe.compare import Stored
from pytest_jitperf.probe.controlflow import takes_the_same_steps
from pytest_jitperf.probe.measure import Probed

X = jnp.linspace(0.1, 0.9, 8)


def scanned(x: Any) -> Any:
    return jax.lax.scan(lambda c, v: (jnp.sin(c) + v, c), x[0], x)[0]


def nested(x: Any) -> Any:
    return jax.lax.fori_loop(0, 9, lambda _, y: y + scanned(y), x)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: jnp.sin(x) @ x,
        lambda x: jax.lax.fori_loop(0, 9, lambda _, y: jnp.sin(y), x),
        lambda x: jax.lax.fori_loop(0, 9, lambda i, y: y * i, x),
        scanned,
        nested,
        jax.grad(scanned),
        jax.vmap(lambda v: jax.lax.fori_loop(3, 20, lambda _, y: y * v, v)),
    ],
    ids=["no loop", "fori_loop", "its counter is used", "scan", "nested", "grad of a scan", "vmap"],
)
def test_straight_programs_and_loops_with_fixed_bounds_do_not_ask_for_values(function: Any) -> None:
    assert takes_the_same_steps(jax.jit(function).lower(X).as_text())


@pytest.mark.parametrize(
    "function",
    [
        lambda x: jax.lax.while_loop(lambda y: y[0] < 1.0, lambda y: y + x, x),
        lambda x: jax.lax.fori_loop(0, x[0].astype(int), lambda _, y: jnp.sin(y), x),
        lambda x: jax.lax.fori_loop(x[0].astype(int), 9, lambda _, y: jnp.sin(y), x),
        lambda x: scanned(jax.lax.while_loop(lambda y: y.sum() < 3.0, lambda y: y * 2, x)),
        lambda x: jax.lax.cond(x[0] > 0, jnp.sin, jnp.cos, x),
        lambda x: jnp.sort(x),
        lambda x: jnp.linalg.eigvalsh(jnp.outer(x, x)),
    ],
    ids=["while_loop", "its end", "its start", "one of two", "cond", "sort", "LAPACK"],
)
def test_else_values_may_decide(function: Any) -> None:
    assert not takes_the_same_steps(jax.jit(function).lower(X).as_text())


def before(p: Any) -> Any:
    return jax.lax.fori_loop(0, 5, lambda _, y: jnp.tanh(y @ p["a"]) + p["b"], p["a"]), p["b"]


def after(p: Any) -> Any:
    return jax.lax.fori_loop(0, 9, lambda _, y: jnp.tanh(y @ p["y"]) - p["x"], p["y"]), p["x"]


def test_renamed_arguments_are_raced_with_another_result_where_values_decide_nothing(
    measured: Callable[..., Probed], stored: Callable[..., Stored], compared: Callable[..., Comparison]
) -> None:
    """Which of the two is which nobody can tell, and it makes no difference to how long it takes."""
    one, two = jnp.outer(X, X), jnp.outer(X, X) * 2
    known = stored(measured(before, {"a": one, "b": two}))

    found = compared(measured(after, {"x": two, "y": one}), known)

    assert (found.same, found.cannot, found.run is not None) == (False, "", True)
