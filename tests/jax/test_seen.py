"""What a call looks like to jit: paths, abstract values, structure, static values."""

from __future__ import annotations

import enum
import functools
import re
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf.probe.seen import Aval, Seen, beneath, seen_of, static_names

X = jnp.ones(8)


def f(x: Any, *rest: Any, n: Any = 1) -> Any:
    return x


class Mode(enum.Enum):
    FAST = 1


@dataclass(frozen=True)
class Config:
    width: int
    mode: Mode


class Module(eqx.Module):
    w: jax.Array
    act: Any = eqx.field(static=True)


def texts(*args: Any, static: tuple[str, ...] = (), arrays_only: bool = False, **kwargs: Any) -> dict[str, str]:
    return {path: each.text for path, each in seen_of(f, args, kwargs, static=static, arrays_only=arrays_only).items()}


def test_every_place_has_its_path_parents_first() -> None:
    found = list(texts({"a": [X, None]}, (2.0,), n=True).items())
    assert found == [
        ("x", "dict"),
        ("x['a']", "list of 2"),
        ("x['a'][0]", "f32[8]"),
        ("x['a'][1]", "None"),
        ("rest[0]", "tuple of 1"),
        ("rest[0][0]", "weak f32[]"),
        ("n", "bool[]"),
    ]


def test_an_array_is_its_abstract_value_and_where_it_is_committed_to() -> None:
    placed = jax.device_put(X, jax.devices("cpu")[0])
    found = seen_of(f, (X, placed, np.ones(3, np.int8)), {"n": 1})
    assert found == {
        "x": Seen(text="f32[8]", aval=Aval("float32", (8,), False)),
        "rest[0]": Seen(text="f32[8]", aval=Aval("float32", (8,), False), placed="cpu:0"),
        "rest[1]": Seen(text="i8[3]", aval=Aval("int8", (3,), False)),
        "n": Seen(text="weak i32[]", aval=Aval("int32", (), True), keyword=True),
    }


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (True, "True"),
        ("relu", "'relu'"),
        (None, "None"),
        ((3, np.int64(4)), "(3, 4)"),
        (np.dtype("int8"), "dtype('int8')"),
        (Mode.FAST, "Mode.FAST"),
        (len, "function len"),
        (jnp.sin, "function sin"),
        (jax.nn.relu, "function relu"),
        (int, "class int"),
        (functools.partial(f, 3), "partial of f"),
        (frozenset({object}), "frozenset"),
        ((object(),), "tuple"),
    ],
)
def test_a_static_value_is_shown_where_it_is_plain_and_else_its_kind(value: Any, text: str) -> None:
    assert seen_of(f, (value,), {}, static=["x"]) == {"x": Seen(text=text, static=True, value=value)}


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("a" * 17, "str"),
        ("/home/me", "str"),
        ("a pass word", "str"),
        (b"relu", "bytes"),
        (np.bytes_(b"relu"), "bytes_"),
        (("relu", "a" * 17), "tuple"),
        (tuple(range(99)), "tuple"),
    ],
)
def test_a_long_static_value_and_text_that_is_no_word_are_shown_by_their_digest(value: Any, kind: str) -> None:
    (text,) = texts(value, static=("x",)).values()
    assert re.fullmatch(rf"{kind} #[0-9a-f]{{8}}", text)


def test_fields_of_static_values_and_static_fields_of_modules_have_paths() -> None:
    assert texts(Config(3, Mode.FAST), static=("x",)) == {"x": "Config", "x.width": "3", "x.mode": "Mode.FAST"}
    assert texts(Module(X, jnp.sin)) == {"x": "Module", "x.w": "f32[8]", "x.act": "function sin"}
    assert texts(jax.tree_util.Partial(f, X)) == {
        "x": "Partial",
        "x.func": "function f",
        "x.args": "tuple of 1",
        "x.args[0]": "f32[8]",
        "x.keywords": "dict",
    }


def test_numbers_are_static_where_arrays_only_are_traced() -> None:
    found = seen_of(f, (X, 3), {}, arrays_only=True)
    assert (found["x"].static, found["rest[0]"]) == (False, Seen(text="3", static=True, value=3))


def test_no_array_is_kept() -> None:
    found = seen_of(f, (X, [X], {"a": X}), {})
    assert not [leaf for each in found.values() for leaf in jax.tree.leaves(each.value) if isinstance(leaf, jax.Array)]


def test_tracers_stand_for_the_arrays_beneath_them() -> None:
    found: list[str] = []

    def watch(x: Any) -> Any:
        found.extend(each.text for each in seen_of(f, (x,), {}).values())
        assert not isinstance(beneath(x), jax.core.Tracer)
        return x

    jax.vmap(watch)(X)
    jax.grad(lambda x: watch(x).sum())(X)
    assert found == ["f32[8]", "f32[8]"]


def test_static_numbers_are_given_names() -> None:
    assert static_names(f, 3, (0, -1, 7), ("n",)) == {"x", "rest[1]", "n"}
