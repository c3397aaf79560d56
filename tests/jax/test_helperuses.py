"""How often an outer jit's trace calls jitted helpers, and what each of them costs to trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from pytest_jitperf.measurement import HelperUses
from pytest_jitperf.probe.measure import Probed

UsesOf = Callable[..., HelperUses | None]

X = jnp.ones((8, 8))


def block(x: jax.Array) -> jax.Array:
    return jax.nn.gelu(x @ x + 1.0)


def large(x: jax.Array) -> jax.Array:
    for _ in range(12):
        x = jax.nn.softmax(jax.nn.gelu(x @ x + 1.0))
    return x


def along(x: jax.Array) -> Any:
    return jax.lax.psum(x, "rows")


@pytest.fixture(name="uses_of")
def uses_of_helpers(measured: Callable[..., Probed]) -> UsesOf:
    def run(function: Callable[..., Any], *inner: Callable[..., Any], **fields: Any) -> HelperUses | None:
        return measured(function, X, inner=inner, **{"strategy": "both", "guide": True, **fields}).measurement.uses

    return run


def counts(uses: HelperUses | None) -> tuple[int, int]:
    assert uses is not None
    return uses.calls, uses.programs


def test_calls_and_shapes_are_counted(uses_of: UsesOf) -> None:
    def chain(x: jax.Array) -> jax.Array:
        for _ in range(5):
            x = block(x)
        return x + block(x[:4, :4]).sum()

    uses = uses_of(chain, block)

    assert counts(uses) == (6, 2)
    assert uses is not None
    assert 0 < uses.once < uses.every


def test_a_call_within_a_jitted_helper_counts_once_for_each_trace_of_it(uses_of: UsesOf) -> None:
    def outer_block(x: jax.Array) -> jax.Array:
        return block(block(x))

    def chain(x: jax.Array) -> jax.Array:
        for _ in range(3):
            x = outer_block(x)
        return x

    assert counts(uses_of(chain, outer_block, block)) == (5, 2)


def test_the_price_of_a_helper_counts_as_often_as_it_is_called(uses_of: UsesOf) -> None:
    def once_each(x: jax.Array) -> jax.Array:
        return block(large(x))

    def small_often(x: jax.Array) -> jax.Array:
        for _ in range(10):
            x = block(x)
        return large(x)

    def large_often(x: jax.Array) -> jax.Array:
        for _ in range(10):
            x = large(x)
        return block(x)

    each, small, big = (uses_of(function, block, large) for function in (once_each, small_often, large_often))
    assert each is not None
    assert small is not None
    assert big is not None

    assert each.every == each.once
    assert 1 < small.every / small.once < 5.5 < big.every / big.once < 10


@pytest.mark.parametrize("strategy", ["outer", "inner", "eager"])
def test_only_jitted_helpers_under_an_outer_jit_have_uses(strategy: str, uses_of: UsesOf) -> None:
    assert uses_of(lambda x: block(block(x)), block, strategy=strategy) is None


def test_a_helper_that_cannot_be_traced_by_itself_gives_no_number(uses_of: UsesOf) -> None:
    assert uses_of(lambda x: jax.vmap(along, axis_name="rows")(x), along) is None


def test_nobody_pays_for_it_unasked(uses_of: UsesOf) -> None:
    assert uses_of(lambda x: block(block(x)), block, guide=False) is None
