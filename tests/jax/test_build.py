"""From a strategy and a function to what is called."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.probe.build import build, name_of
from pytest_jitperf.probe.jitinfo import jit_info
from pytest_jitperf.strategies import Strategy

X = jnp.ones(3)


def f(x: Any, n: int = 2) -> Any:
    return x * n


@pytest.mark.parametrize(
    ("strategy", "jitted", "swaps"),
    [("eager", False, False), ("outer", True, False), ("inner", False, True), ("both", True, True)],
)
def test_a_strategy_says_what_is_jitted(strategy: str, jitted: bool, swaps: bool) -> None:
    built = build(strategy, f, {"static_argnames": "n"})
    assert (built.jitted, built.swaps, built.function, built.notes) == (jitted, swaps, f, ())
    assert (built.call is f) is not jitted
    assert dict(built.given) == ({"static_argnames": "n"} if jitted else {})
    assert built.call(X).sum() == 6


def test_what_is_jitted_already_is_never_jitted_again() -> None:
    jitted = jax.jit(f, static_argnames="n")
    calls = {name: build(name, jitted, {}) for name in ("eager", "outer", "inner", "both")}
    assert [calls[name].call for name in calls] == [f, jitted, f, jitted]
    assert calls["eager"].notes == ("f is jitted already; eager measures what it wraps",)
    assert calls["outer"].notes == ("f is jitted already; measured with its own options",)
    noted = build("outer", jitted, {"donate_argnums": 0})
    assert noted.notes == ("f is jitted already; its own options are used and the marker's jit= is not",)
    assert jit_info(noted.call, noted.given).static_argnames == ("n",)


def test_another_librarys_jit_is_not_jitted_again_either() -> None:
    filtered = eqx.filter_jit(f)
    assert (build("outer", filtered, {}).call, build("outer", filtered, {}).jitted) == (filtered, False)
    assert build("eager", filtered, {}).call is f


def test_a_strategy_of_the_users_is_taken_as_it_is() -> None:
    built = build(Strategy("remat", lambda function: jax.jit(jax.checkpoint(function))), f, {"donate_argnums": 0})
    assert (built.strategy, built.jitted, dict(built.given), built.swaps) == ("remat", True, {}, False)
    with pytest.raises(MeasurementError, match=r"strategy 'bad': build\(f\) returned int, expected a callable"):
        build(Strategy("bad", lambda function: 3), f, {})


async def coroutine(x: Any) -> Any:
    return x


def generator(x: Any) -> Iterator[Any]:
    yield x


async def async_generator(x: Any) -> AsyncIterator[Any]:
    yield x


class AsyncCallable:
    async def __call__(self, x: Any) -> Any:
        return x


@pytest.mark.parametrize(
    "function",
    [coroutine, generator, async_generator, functools.partial(coroutine), AsyncCallable(), jax.jit(coroutine)],
)
@pytest.mark.parametrize("strategy", ["eager", "outer"])
def test_what_computes_nothing_is_refused_before_it_is_called(function: Callable[..., Any], strategy: str) -> None:
    with pytest.raises(MeasurementError, match="calling it computes nothing yet"):
        build(strategy, function, {})


def test_a_result_instead_of_a_function_is_explained() -> None:
    with pytest.raises(MeasurementError, match=r"got ArrayImpl as the function .* jitperf\(f, x\)  instead of"):
        build("outer", f(X), {})


def test_options_that_jit_refuses_are_named() -> None:
    with pytest.raises(MeasurementError, match=r"jax.jit\(f, static_argnames='m'\) was refused: .*m"):
        build("outer", f, {"static_argnames": "m"})


def test_names_have_no_addresses() -> None:
    class Model:
        def apply(self, x: Any) -> Any:
            return x

        def __call__(self, x: Any) -> Any:
            return x

    here = "test_names_have_no_addresses.<locals>."
    names = [name_of(each) for each in (f, Model().apply, Model(), functools.partial(f, n=2), lambda x: x, jnp.sin)]
    assert names == ["f", f"{here}Model.apply", "Model", "f", f"{here}<lambda>", "sin"]
