"""A missing static argument is told with its value and the line to add; other errors are not."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf.probe.statics import explain_missing_static

X = jnp.arange(4.0)


def explain(call: Callable[..., Any], *args: Any, where: Any = "jit", options: Any = None, **kwargs: Any) -> str | None:
    """Explains what ``jax.jit(call, **options)`` raises for these arguments under the strategy ``outer``."""
    with pytest.raises(Exception) as caught:  # noqa: PT011  # whatever it is
        jax.jit(call, **(options or {}))(*args, **kwargs)
    return explain_missing_static("outer", "mylib.f", call, args, kwargs, caught.value, where, options=options)


class Mode(enum.Enum):
    DOUBLE = 1


@dataclass(frozen=True)
class Config:
    n: int = 2
    secret: str = "token"


@dataclass
class MutableConfig:
    n: int = 2


def branch(x: Any, flag: bool = False) -> Any:
    return -x if flag else x


def shape(x: Any, n: int) -> Any:
    return x.reshape(n, -1)


def zeros(x: Any, n: int) -> Any:
    return x + jnp.zeros(n)


def loop(x: Any, n: int) -> Any:
    for _ in range(n):
        x = x * 2
    return x


def mask(x: Any, keep: tuple[bool, ...]) -> Any:
    return x[np.asarray(keep)]


def mask_scalar(x: Any, keep: bool) -> Any:
    return x[keep]


def concrete(x: Any, n: float) -> Any:
    return x * float(n)


def mode(x: Any, how: Any) -> Any:
    return x * 2 if how in ("double", Mode.DOUBLE) else x


def apply(x: Any, function: Any) -> Any:
    return function(x)


def checked(x: Any, n: Any) -> Any:
    if not isinstance(n, int):
        raise ValueError("n must be an int")
    return x * n


def configured(x: Any, config: Any) -> Any:
    return loop(x, config.n)


def dtype(x: Any, to: Any) -> Any:
    return x.astype(to)


@pytest.mark.parametrize(
    ("call", "args", "got", "name"),
    [
        (branch, (X, True), "flag=True (bool)", "flag"),
        (shape, (X, 2), "n=2 (int)", "n"),
        (zeros, (X, 4), "n=4 (int)", "n"),
        (loop, (X, 3), "n=3 (int)", "n"),
        (loop, (X, np.int64(3)), "n of type int64", "n"),
        (mask, (X, (True, False, True, False)), "keep=(True, False, True, False) (tuple)", "keep"),
        (mask_scalar, (X, True), "keep=True (bool)", "keep"),
        (concrete, (X, 2.5), "n=2.5 (float)", "n"),
        (mode, (X, "double"), 'how="double" (str)', "how"),
        (mode, (X, "x" * 50), "how of type str", "how"),
        (mode, (X, Mode.DOUBLE), "how of type Mode", "how"),
        (apply, (X, jnp.sin), "function of type PjitFunction", "function"),
        (apply, (X, branch), "function=branch (function)", "function"),
        (checked, (X, 2), "n=2 (int)", "n"),
        (configured, (X, Config()), "config of type Config", "config"),
        (dtype, (X, jnp.int32), None, "to"),
    ],
)
def test_value_that_must_be_static_is_named_with_the_line_to_add(
    call: Callable[..., Any], args: tuple[Any, ...], got: str | None, name: str
) -> None:
    message = explain(call, *args)
    if got is None:  # what kind of object a jax dtype is differs between versions
        assert message is not None
        assert message.endswith(f'Add  jit={{"static_argnames": ["{name}"]}}  to the marker')
        return
    assert message == (
        f'outer needs a static argument: mylib.f got {got}. Add  jit={{"static_argnames": ["{name}"]}}  to the marker'
    )


def test_line_for_a_helper_names_the_helper() -> None:
    assert explain(branch, X, flag=True, where="inner") == (
        "outer needs a static argument: mylib.f got flag=True (bool). "
        'Add  inner={"mylib.f": {"static_argnames": ["flag"]}}  to the marker'
    )


def test_helper_without_a_dotted_name_is_written_as_an_object() -> None:
    with pytest.raises(jax.errors.TracerBoolConversionError) as caught:
        jax.jit(branch)(X, True)
    message = explain_missing_static("inner", "mod.g.<locals>.branch", branch, (X, True), {}, caught.value, "inner")
    assert message is not None
    assert message.endswith('Add  inner={branch: {"static_argnames": ["flag"]}}  to the marker')


def test_only_what_is_needed_is_named() -> None:
    def call(x: Any, a: int, flag: bool, b: float, how: str) -> Any:
        return (-x if flag else x) * a * b * (2 if how == "double" else 1)

    assert explain(call, X, 1, True, 2.0, how="double") == (
        'outer needs static arguments: mylib.f got flag=True (bool) and how="double" (str). '
        'Add  jit={"static_argnames": ["flag", "how"]}  to the marker'
    )


def test_arrays_may_be_given_by_shape_only() -> None:
    args = ({"w": jax.ShapeDtypeStruct((4,), jnp.float32)}, 2)

    def call(params: Any, n: int) -> Any:
        return loop(params["w"], n)

    message = explain_missing_static("both", "mylib.f", call, args, {}, TypeError(), "jit")
    assert message is not None
    assert message.startswith("both needs a static argument: mylib.f got n=2 (int).")


def positional_only(x: Any, n: int, /, flag: bool = False, *more: int, last: bool = False) -> Any:
    x = loop(x, n)
    for each in more:
        x = loop(x, each)
    return -x if flag != last else x


@pytest.mark.parametrize(
    ("args", "kwargs", "options", "line"),
    [
        ((X, 1), {}, {}, 'Add  jit={"static_argnums": [1]}  to'),
        (
            (X, 1, True),
            {},
            {"static_argnums": 1, "inline": True},
            'Make it  jit={"inline": True, "static_argnums": [1, 2]}  in',
        ),
        ((X, 1, True, 3), {}, {"static_argnums": [1, 2]}, 'Make it  jit={"static_argnums": [1, 2, 3]}  in'),
        (
            (X, 1),
            {"flag": True},
            {"static_argnames": "flag"},
            'Make it  jit={"static_argnums": [2, 1], "static_argnames": ["flag"]}  in',
        ),
        (
            (X, 1),
            {"flag": True},
            {"static_argnums": 1},
            'Make it  jit={"static_argnums": [1, 2]}  in',
        ),
        (
            (X, 1),
            {"last": True},
            {"static_argnums": 1},
            'Make it  jit={"static_argnums": [1], "static_argnames": ["last"]}  in',
        ),
    ],
)
def test_line_takes_up_the_options_given_and_names_positions_where_names_do_not_serve(
    args: Any, kwargs: Any, options: Any, line: str
) -> None:
    message = explain(positional_only, *args, options=options, **kwargs)
    assert message is not None
    assert message[message.index(". ") + 2 :] == f"{line} the marker"
    written = line[line.index("jit=") + 4 : line.rindex("  ")]
    jax.jit(positional_only, **eval(written))(*args, **kwargs)  # the line does what it promises


@pytest.mark.parametrize(
    ("call", "value", "got", "cure"),
    [
        (lambda x, n: x.reshape(n), [2, 2], "n=[2, 2] (list)", "a tuple"),
        (lambda x, n: x.reshape(tuple(n)), np.array([2, 2]), "n of type ndarray", "a tuple of its values"),
        (lambda x, n: x.reshape(n["a"], 2), {"a": 2}, "n of type dict", "a tuple of its items"),
        (lambda x, n: x.reshape(tuple(n)), {4}, "n of type set", "a frozenset"),
        (lambda x, n: x.reshape(n[0]), ([2, 2],), "n=([2, 2],) (tuple)", "a tuple that holds no list, dict or array"),
        (
            configured,
            MutableConfig(),
            "n of type MutableConfig",
            "an object that can be hashed (such as a frozen dataclass)",
        ),
    ],
)
def test_value_that_cannot_be_hashed_is_to_be_replaced(call: Any, value: Any, got: str, cure: str) -> None:
    def named(x: Any, n: Any) -> Any:
        return call(x, n)

    assert explain(named, X, value) == (
        f"outer needs a static argument: mylib.f got {got}. What is static must be hashable, and n is not: pass {cure} "
        'for n. Then add  jit={"static_argnames": ["n"]}  to the marker'
    )


@pytest.mark.parametrize(
    ("where", "transform"),
    [
        ("jit", 'strategies=[Strategy("filter_jit", eqx.filter_jit)]'),
        ("inner", 'inner={"mylib.f": eqx.filter_jit}'),
    ],
)
def test_plain_values_beside_arrays_in_one_argument_call_for_a_transform(where: str, transform: str) -> None:
    def call(params: Any, x: Any) -> Any:
        return loop(params["w"] * x, params["n"])

    assert explain(call, {"n": 2, "w": X}, X, where=where) == (
        "outer needs static values: mylib.f got params, which holds arrays together with params['n']=2 (int), and jit "
        "can only make whole arguments static. Pass arrays and other values as arguments of their own, or let a "
        f"transform tell them apart:  {transform}  in the marker"
    )


def no_static_helps(x: Any, n: int) -> Any:
    return x if x.sum() > n else -x


def own_mistake(x: Any, n: int) -> Any:
    raise ValueError("mine")


def text_returned(x: Any, n: int) -> Any:
    return x, "tag"


def array_in_a_mixed_argument(x: Any, params: Any) -> Any:
    return loop(x, params["n"]) if params["w"].sum() > 0 else x


def only_arrays(x: Any) -> Any:
    return np.asarray(x)


@pytest.mark.parametrize(
    ("call", "args"),
    [
        (no_static_helps, (X, 2)),
        (own_mistake, (X, 2)),
        (text_returned, (X, 2)),
        (array_in_a_mixed_argument, (X, {"n": 2, "w": np.ones(4)})),
        (only_arrays, (X,)),
    ],
)
def test_error_that_static_arguments_do_not_cure_is_the_users_own(call: Any, args: Any) -> None:
    assert explain(call, *args) is None


def test_function_that_can_be_traced_has_nothing_missing() -> None:
    def call(x: Any, n: int, y: float) -> Any:
        return loop(x, n) * y

    static = {"static_argnames": "n"}
    assert explain_missing_static("outer", "f", call, (X, 2, 3.0), {}, KeyError(), "jit", options=static) is None


def test_interrupt_is_not_explained() -> None:
    assert explain_missing_static("outer", "f", loop, (X, 2), {}, KeyboardInterrupt(), "jit") is None
