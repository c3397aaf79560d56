"""Counts of Python calls and of launches, and what they leave behind."""

from __future__ import annotations

import cProfile
import functools
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.probe.counts import Launches, launches, python_calls

X = jnp.linspace(0.0, 1.0, 64)


def f(x: Any) -> Any:
    return 2.0 * x + jnp.sin(x)


def g(x: Any) -> Any:
    y = f(f(x))
    return jnp.exp(y) - x


def inner(jitted_f: Any) -> Callable[[Any], Any]:
    return lambda x: jnp.exp(jitted_f(jitted_f(x))) - x


@pytest.mark.parametrize(
    ("function", "count"),
    [(g, 8), (inner(jax.jit(f)), 4), (jax.jit(g), 1), (jax.jit(inner(jax.jit(f))), 1), (lambda x: x, 0)],
)
def test_launches_are_the_executables_that_one_call_starts(function: Any, count: int) -> None:
    function(X)
    assert [launches(lambda: function(X), jax.block_until_ready).count for _ in range(2)] == [count, count]


def test_launches_have_the_names_of_what_was_jitted() -> None:
    helper = jax.jit(f)
    compiled = helper.lower(X).compile()

    def function(x: Any) -> Any:
        return jnp.exp(jnp.exp(helper(x))) + compiled(x)

    function(X)
    found = launches(lambda: function(X), jax.block_until_ready)
    assert found == Launches(count=5, names={"f": 2, "exp": 2, "add": 1})


def test_what_is_only_traced_is_not_launched() -> None:
    def scanned(x: Any) -> Any:
        return jax.lax.scan(lambda carry, _: (f(f(carry)), None), x, None, length=3)[0]

    def chosen(x: Any) -> Any:
        return jax.lax.cond(True, lambda y: f(y), lambda y: -f(y), x)

    def shape(x: Any) -> Any:
        return x + jax.eval_shape(f, x).shape[0]

    functions: tuple[Callable[[Any], Any], ...] = (scanned, chosen, shape)
    for function in functions:
        function(X)
    counts = [launches(functools.partial(each, X), jax.block_until_ready).count for each in functions]
    assert counts == [1, 2, 1]  # the predicate of cond is converted first


def test_a_callback_that_starts_nothing_adds_nothing() -> None:
    called = jax.jit(lambda x: jax.pure_callback(lambda y: np.asarray(y) + 1, x, x))
    called(X)
    assert launches(lambda: called(X), jax.block_until_ready).count == 1


def test_launches_within_a_users_own_profile_are_refused_and_theirs_goes_on(tmp_path: Path) -> None:
    with jax.profiler.trace(str(tmp_path)):
        with pytest.raises(MeasurementError, match="a JAX profile is being taken already"):
            launches(lambda: X + 1, jax.block_until_ready)
        (X + 1).block_until_ready()
    assert list(tmp_path.rglob("*.xplane.pb")) != []
    assert launches(lambda: X + 1, jax.block_until_ready).count == 1


def test_a_call_that_raises_ends_the_profile() -> None:
    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        launches(fail, jax.block_until_ready)
    assert launches(lambda: X + 1, jax.block_until_ready).count == 1


def test_without_a_temporary_directory_there_is_no_count(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**options: Any) -> None:
        raise FileNotFoundError("no usable temporary directory")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", fail)
    with pytest.raises(MeasurementError, match="no temporary directory to write to"):
        launches(lambda: X + 1, jax.block_until_ready)


def three_calls() -> str:
    def one() -> int:
        return len("x")

    return str(one())


def test_python_calls_are_counted_exactly() -> None:
    # three_calls, one, len, str (a type, whose calls are not seen), and the call that ends the counting.
    assert python_calls(three_calls) == (4, "1")
    assert python_calls(three_calls) == (4, "1")
    assert python_calls(functools.partial(three_calls)) == (4, "1")


def test_a_profile_function_is_put_back() -> None:
    seen: list[str] = []

    def users(frame: Any, event: str, arg: Any) -> None:
        seen.append(event)

    sys.setprofile(users)
    try:
        count, _ = python_calls(three_calls)
        after = sys.getprofile()
    finally:
        sys.setprofile(None)
    assert (count, after) == (4, users)


def test_a_function_that_raises_leaves_no_profile_function() -> None:
    with pytest.raises(ZeroDivisionError):
        python_calls(lambda: 1 // 0)
    assert sys.getprofile() is None


def test_a_profiler_written_in_c_is_left_alone() -> None:
    profiler = cProfile.Profile()
    profiler.enable()
    try:
        before = sys.getprofile()
        count, result = python_calls(three_calls)
        after = sys.getprofile()
    finally:
        profiler.disable()
    assert (result, after) == ("1", before)
    # From Python 3.12 on, such profilers do not come by this way, and do not keep others from it.
    assert count == (4 if sys.version_info >= (3, 12) else None)
    assert sys.getprofile() is None
