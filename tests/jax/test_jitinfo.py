"""What is read off a jitted function."""

from __future__ import annotations

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from pytest_jitperf.probe.inputs import Call, text_of
from pytest_jitperf.probe.jitinfo import JitInfo, is_jitted, jit_info, named_for_jit, unbound, unwrapped


def f(x: Any, n: Any = 2, *rest: Any, flag: bool = True) -> Any:
    return x * n if flag else x


class Model:
    def __init__(self, k: float) -> None:
        self.k = k

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, x: Any) -> Any:
        return x * self.k

    def plain(self, x: Any) -> Any:
        return x


@pytest.mark.parametrize(
    ("function", "jitted"),
    [
        (jax.jit(f), True),
        (jax.jit(jax.jit(f)), True),
        (f, False),
        (eqx.filter_jit(f), False),
        (functools.partial(jax.jit(f)), False),
        (jax.vmap(f), False),
        ("text", False),
    ],
)
def test_only_jax_jit_makes_one(function: Any, jitted: bool) -> None:
    assert is_jitted(function) is jitted


def test_the_python_function_beneath_is_found() -> None:
    assert [unwrapped(each) for each in (f, jax.jit(f), jax.jit(jax.jit(f)), eqx.filter_jit(f))] == [f] * 4


def test_a_jitted_method_is_the_jit_and_its_object() -> None:
    model = Model(2.0)
    assert unbound(model.step) == (vars(Model)["step"], (model,))
    assert unbound(model.plain) == (model.plain, ())
    jitted = jax.jit(f)
    assert unbound(jitted) == (jitted, ())


def test_static_arguments_and_compiler_options_are_read() -> None:
    options = {"xla_cpu_enable_fast_math": True, "xla_backend_optimization_level": 1}
    jitted = jax.jit(f, static_argnums=1, compiler_options=options)
    info = jit_info(jitted, {})
    assert info.static_argnums == (1,)
    assert info.static_argnames == ("n",)
    assert info.compiler_options == {"xla_backend_optimization_level": "1", "xla_cpu_enable_fast_math": "True"}


def test_where_jax_keeps_no_record_the_plugins_own_options_count() -> None:
    given = {"static_argnums": 1, "static_argnames": "flag", "compiler_options": {"a": 1}}
    assert jit_info(object(), given) == JitInfo((1,), ("flag",), {"a": "1"})
    assert jit_info(object(), {}) == JitInfo()


@pytest.mark.parametrize(
    ("options", "args", "kwargs", "indices"),
    [
        ({}, (X := jnp.ones(2), 3), {}, [0, 1]),
        ({"static_argnums": 1}, (X, 3), {}, [0, -1]),
        ({"static_argnames": "n"}, (X, 3), {}, [0, -1]),
        ({"static_argnames": "n"}, (X,), {"n": 3}, [-1, 0]),
        ({"static_argnums": (1, 2)}, (X, 3, 4, 5.0), {}, [0, -1, -1, 3]),  # one of *rest
        ({"static_argnames": ("n", "flag")}, (X, 3), {"flag": True}, [0, -1, -1]),
    ],
)
def test_static_arguments_are_not_leaves_of_the_program(
    options: dict[str, Any], args: Any, kwargs: Any, indices: list[int]
) -> None:
    jitted = jax.jit(f, **options)
    named, _ = named_for_jit(f, Call(args, kwargs), jitted, options)

    assert sorted(leaf.index for leaf in named) == sorted(indices)
    dynamic = [leaf for leaf in named if leaf.index >= 0]
    lowered = jitted.lower(*args, **kwargs)
    assert len(dynamic) == len(jax.tree.leaves(lowered.args_info, is_leaf=lambda each: hasattr(each, "donated")))


def test_a_static_argument_of_a_method_is_counted_without_self() -> None:
    model = Model(2.0)
    jitted = jax.jit(model.plain, static_argnums=0)
    named, _ = named_for_jit(model.plain, Call((3,), {}), jitted, {})
    assert text_of(leaf for leaf in named if leaf.index >= 0) == ""
