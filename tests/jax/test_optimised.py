"""What optimised programs consist of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from pytest_jitperf.probe.optimised import custom_calls, operation_counts

X = jnp.linspace(0.0, 1.0, 100)


def text_of(function: Callable[..., Any], *args: Any) -> str:
    return jax.jit(function).lower(*args).compile().as_text() or ""


def test_operations_are_counted_by_opcode() -> None:
    text = text_of(lambda x: jnp.linalg.cholesky(x @ x.T), jnp.eye(8))
    counts = operation_counts(text)
    assert counts["parameter"] >= 1
    assert counts["custom-call lapack_spotrf_ffi"] == custom_calls(counts) == 1
    assert sum(counts.values()) == sum(1 for line in text.splitlines() if " = " in line)


def test_operations_that_give_many_results_are_counted() -> None:
    """XLA numbers what a tuple holds from the fifth on: ``(f32[8], ..., /*index=5*/f32[8])``."""

    def f(x: Any) -> Any:
        start = (x, x + 1, x + 2, x + 3, x + 4, x + 5, 0)
        return jax.lax.while_loop(
            lambda s: s[6] < 9, lambda s: (*(jnp.sin(each) for each in s[1:6]), s[0], s[6] + 1), start
        )

    text = text_of(f, X)
    assert "/*index=5*/" in text
    assert operation_counts(text)["while"] == 1


def test_a_callback_is_counted_by_its_target() -> None:
    def f(x: Any) -> Any:
        return jax.pure_callback(lambda v: v, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    named = [name for name in operation_counts(text_of(f, X)) if name.startswith("custom-call ")]
    assert [("python" in name, "callback" in name) for name in named] == [(True, True)]
