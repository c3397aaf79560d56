"""Whether two optimised programs are the same, from their texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf.probe.optimised import leaves_constants_out, operation_counts, program_digest

X = jnp.linspace(0.0, 1.0, 100)
ROWS = jnp.ones((4, 32))
W = np.random.default_rng(0).normal(size=(32, 32)).astype(np.float32)


def texts(function: Callable[..., Any], *args: Any) -> tuple[str, str]:
    lowered = jax.jit(function).lower(*args)
    return lowered.compile().as_text() or "", lowered.as_text()


def digest(function: Callable[..., Any], *args: Any) -> str:
    return program_digest(*texts(function, *args))


def helper(x: Any) -> Any:
    return jnp.sin(x) * 2.0


def three_times(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: function(function(function(x)))


@pytest.mark.parametrize(
    ("one", "other", "args"),
    [
        (lambda x: jnp.sin(x * 1.0), lambda x: jnp.sin(x), (X,)),
        (lambda x: x.T.T, lambda x: x, (ROWS,)),
        (lambda x: (jnp.sin(x), jnp.cos(x)), lambda x: (lambda c, s: (s, c))(jnp.cos(x), jnp.sin(x)), (X,)),
        (three_times(helper), three_times(jax.jit(helper)), (X,)),
        (lambda x: three_times(jax.nn.softmax)(x).sum(), lambda x: three_times(jax.jit(jax.nn.softmax))(x).sum(), (X,)),
    ],
)
def test_what_xla_makes_the_same_has_the_same_digest(one: Any, other: Any, args: Any) -> None:
    assert digest(one, *args) == digest(other, *args)


@pytest.mark.parametrize(
    ("one", "other", "args"),
    [
        (lambda x: jnp.sin(x), lambda x: jnp.cos(x), (X,)),
        (lambda x: x * 2.0, lambda x: x * 3.0, (X,)),
        (lambda x: (x + 1, x * 2), lambda x: (x * 2, x + 1), (X,)),
        (lambda x: x + jnp.arange(100.0) * 2, lambda x: x + jnp.arange(100.0) * 3, (X,)),
        (lambda x: x[:4] + np.arange(4.0, dtype="f4"), lambda x: x[:4] + np.arange(1.0, 5.0, dtype="f4"), (X,)),
        (lambda x: x @ W, lambda x: x @ (W * 10), (ROWS,)),
        (lambda x: x @ jnp.asarray(W), lambda x: x @ jnp.asarray(W).T, (ROWS,)),
        (lambda x: x @ jnp.asarray(W), lambda x: x @ (jnp.asarray(W) * 2), (ROWS,)),
        (lambda x: x + jnp.asarray(W[0]), lambda x: x + jnp.sort(jnp.asarray(W[0])), (ROWS,)),
    ],
)
def test_what_is_not_the_same_has_another(one: Any, other: Any, args: Any) -> None:
    assert digest(one, *args) != digest(other, *args)


def test_donation_is_part_of_the_program() -> None:
    lowered = jax.jit(lambda x: x + 1, donate_argnums=0).lower(X)
    donating = program_digest(lowered.compile().as_text() or "", lowered.as_text())
    assert donating != digest(lambda x: x + 1, X)


def test_constants_of_which_only_the_shape_is_shown_are_noticed() -> None:
    assert [leaves_constants_out(texts(lambda x, n=n: x[:n] + W[0, :n], X)[0]) for n in (4, 10, 11, 32)] == [
        False,
        False,
        True,
        True,
    ]


def test_a_text_of_unknown_form_equals_only_itself() -> None:
    assert program_digest("something new 1", "") == program_digest("something new 1", "")
    assert program_digest("something new 1", "") != program_digest("something new 2", "")
    assert program_digest("HloModule a, b\n1", "") != program_digest("HloModule a, b\n2", "")


def test_operations_are_counted_by_opcode() -> None:
    counts = operation_counts(texts(lambda x: jnp.linalg.cholesky(x @ x.T), jnp.eye(8))[0])
    assert counts["parameter"] >= 1
    assert counts["custom-call"] >= 1
    assert counts.total() == sum(
        1 for line in texts(lambda x: jnp.linalg.cholesky(x @ x.T), jnp.eye(8))[0].splitlines() if " = " in line
    )
