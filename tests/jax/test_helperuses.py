"""How often an outer jit's trace calls jitted helpers, and what each of them costs to trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from pytest_jitperf.inner import InnerTarget
from pytest_jitperf.judge.payback import payback
from pytest_jitperf.measurement import HelperUse
from pytest_jitperf.probe.measure import Probed

UsesOf = Callable[..., tuple[HelperUse, ...]]

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
    def run(function: Callable[..., Any], *inner: Callable[..., Any], **fields: Any) -> tuple[HelperUse, ...]:
        return measured(function, X, inner=inner, **{"strategy": "both", "guide": True, **fields}).measurement.uses

    return run


def counts(uses: tuple[HelperUse, ...]) -> list[tuple[str, int, int]]:
    return [(use.name.rpartition(".")[2], use.calls, use.signatures) for use in uses]


def test_calls_and_shapes_are_counted(uses_of: UsesOf) -> None:
    def chain(x: jax.Array) -> jax.Array:
        for _ in range(5):
            x = block(x)
        return x + block(x[:4, :4]).sum()

    assert counts(uses_of(chain, block)) == [("block", 6, 2)]


def test_a_call_within_a_jitted_helper_counts_once_for_each_trace_of_it(uses_of: UsesOf) -> None:
    def outer_block(x: jax.Array) -> jax.Array:
        return block(block(x))

    def chain(x: jax.Array) -> jax.Array:
        for _ in range(3):
            x = outer_block(x)
        return x

    assert counts(uses_of(chain, outer_block, block)) == [("outer_block", 3, 1), ("block", 2, 1)]


def test_a_helper_of_some_size_pays_at_its_second_call_or_so(uses_of: UsesOf) -> None:
    (use,) = uses_of(lambda x: large(large(x)), large)
    found = payback(use)

    assert use.saved > 0
    assert 1 <= found.low <= found.first < 3


def test_values_and_static_arguments_are_passed_on(uses_of: UsesOf) -> None:
    def scaled(x: jax.Array, how: str, by: float) -> jax.Array:
        return x * by if how == "times" else x

    helper = InnerTarget(target=scaled, options={"static_argnames": ("how",)})
    uses = uses_of(lambda x: scaled(scaled(x, "times", 2.0), "times", 3.0), helper)

    assert counts(uses) == [("scaled", 2, 1)]


@pytest.mark.parametrize("strategy", ["outer", "inner", "eager"])
def test_only_jitted_helpers_under_an_outer_jit_have_uses(uses_of: UsesOf, strategy: str) -> None:
    assert uses_of(lambda x: block(block(x)), block, strategy=strategy) == ()


def test_a_helper_that_cannot_be_traced_by_itself_gives_no_number(uses_of: UsesOf) -> None:
    def rows(x: jax.Array) -> Any:
        return jax.vmap(along, axis_name="rows")(block(x))

    assert counts(uses_of(rows, along, block)) == [("block", 1, 1)]


def test_a_helper_that_the_user_has_jitted_is_seen_only_while_it_is_traced_and_left_out(uses_of: UsesOf) -> None:
    jitted = jax.jit(block)
    assert counts(uses_of(lambda x: large(jitted(jitted(x))), jitted, large)) == [("large", 1, 1)]


def test_nobody_pays_for_it_unasked(uses_of: UsesOf) -> None:
    assert uses_of(lambda x: block(block(x)), block, guide=False) == ()
