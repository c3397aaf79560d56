"""Arguments as named leaves, digests and copies."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf.probe.inputs import (
    Call,
    content_digest,
    copied,
    copy_leaf,
    deleted,
    has_aval,
    is_array,
    named_leaves,
    parse_text,
    short_aval,
    static_digest,
    text_of,
)


@functools.partial(jax.tree_util.register_dataclass, data_fields=["w", "b"], meta_fields=["name"])
@dataclasses.dataclass
class Layer:
    w: Any
    b: Any
    name: str = "layer"


@pytest.mark.parametrize(
    ("leaf", "text"),
    [
        (np.ones((2, 3), np.float32), "f32[2,3]"),
        (1.0, "weak f32[]"),
        (1, "weak i32[]"),
        (True, "bool[]"),
        (1j, "weak c64[]"),
        (np.float32(1), "f32[]"),
        (jnp.asarray(1.0), "weak f32[]"),
        (jnp.zeros(2, jnp.bfloat16), "bf16[2]"),
        (jnp.zeros(2, jnp.uint8), "u8[2]"),
        (jnp.zeros(2, jnp.float8_e4m3fn), "float8_e4m3fn[2]"),
        (jax.random.split(jax.random.key(0)), "key<fry>[2]"),
        (jax.ShapeDtypeStruct((4,), jnp.int32), "i32[4]"),
    ],
)
def test_abstract_values_are_short(leaf: Any, text: str) -> None:
    assert short_aval(leaf) == text


@pytest.mark.parametrize(
    ("leaf", "array", "traceable"),
    [
        (jnp.ones(2), True, True),
        (np.float32(1), True, True),
        (1.5, False, True),
        (2**40, False, False),
        ("text", False, False),
        (np.str_("text"), False, False),
        (np.array(["a"]), False, False),
        (np.array([{}], dtype=object), False, False),
        (np.datetime64("2020-01-01"), False, False),
        (np.timedelta64(1, "s"), False, False),
        (object(), False, False),
    ],
)
def test_only_what_jax_can_trace_is_an_array(leaf: Any, array: bool, traceable: bool) -> None:
    assert (is_array(leaf), has_aval(leaf)) == (array, traceable)


def test_leaves_are_named_by_parameter_and_path() -> None:
    def f(layer: Any, x: Any, *rest: Any, scale: Any, n: Any) -> None: ...

    call = Call((Layer(jnp.ones(2), None), {"a": 1.0}, jnp.ones(1), 2), {"scale": (3.0,), "n": [5, 6]})
    named = named_leaves(f, call, {"n"})

    assert text_of(named[:-1]) == (
        "layer.w: f32[2]; x['a']: weak f32[]; rest[0]: f32[1]; rest[1]: weak i32[]; n: " + named[4].described
    )
    assert named[4].described == static_digest([5, 6])
    assert named[-1].path == "scale[0]"
    # A static argument takes the places of its leaves without having one itself.
    assert [leaf.index for leaf in named] == [0, 1, 2, 3, -1, 6]
    assert call.leaves[6] == named[-1].leaf


def test_a_function_without_a_signature_has_numbered_arguments() -> None:
    assert [leaf.path for leaf in named_leaves(min, Call((1, 2), {}))] == ["args[0]", "args[1]"]


def test_stored_text_can_be_read_back_whatever_keys_hold() -> None:
    def f(d: Any) -> None: ...

    named = named_leaves(f, Call(({"a; b: c": 1.0, "d": jnp.ones(2)},), {}))

    assert parse_text(text_of(named)) == (("d['a;b: c']", "weak f32[]"), ("d['d']", "f32[2]"))
    assert parse_text("") == ()


class Plain:
    def __init__(self, k: int) -> None:
        self.k = k


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        (3, 3, True),
        (3, 4, False),
        (1, True, False),
        (Plain(1), Plain(1), True),  # shown with an address, which means nothing
        (frozenset("abcdef"), frozenset("fedcba"), True),
        (frozenset("abc"), frozenset("abd"), False),
        (named_leaves, named_leaves, True),
        (named_leaves, static_digest, False),
    ],
)
def test_a_static_value_is_a_digest_of_what_it_shows(first: Any, second: Any, equal: bool) -> None:
    assert (static_digest(first) == static_digest(second)) is equal
    assert "0x" not in static_digest(first)


def test_copies_may_be_donated_and_the_originals_live() -> None:
    x, key = jnp.ones(3), jax.random.key(0)
    call = Call((x, x, key, "text"), {"y": jnp.ones(2)})
    copy = copied(call)
    assert str(jax.tree.structure((call.args, call.kwargs))) == str(jax.tree.structure((copy.args, copy.kwargs)))

    jax.jit(lambda a, b, k, y: (a + 1, b + 1, k, y + 1), donate_argnums=(0, 1, 2), donate_argnames="y")(
        *copy.args[:3], **copy.kwargs
    )

    assert deleted(copy) == (0, 1, 2, 4)
    assert deleted(call) == ()


def test_copies_are_complete_before_a_call_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An accelerator copies while Python goes on, and the call that gets the copy would wait for it."""
    waited: list[Any] = []

    def wait(each: Any) -> Any:
        waited.append(each)
        return each

    monkeypatch.setattr(jax, "block_until_ready", wait)
    copies = [copy_leaf(jnp.ones(3)), copy_leaf(jax.random.key(0))]
    assert [id(each) for each in waited] == [id(each) for each in copies]


def test_only_the_leaves_asked_for_are_copied() -> None:
    call = Call((jnp.ones(3), jnp.ones(2)), {})
    copy = copied(call, [1])
    assert (copy.args[0] is call.args[0], copy.args[1] is call.args[1]) == (True, False)


@pytest.mark.parametrize(
    "other",
    [
        Call((jnp.arange(3.0) + 1,), {}),
        Call((jnp.arange(3),), {}),
        Call(((jnp.arange(3.0),),), {}),
        Call((), {"x": jnp.arange(3.0)}),
        Call((jnp.arange(3.0), None, 1), {}),
    ],
)
def test_other_values_have_another_digest(other: Call) -> None:
    assert content_digest(Call((jnp.arange(3.0),), {})) == content_digest(Call((np.arange(3, dtype="f4"),), {}))
    assert content_digest(Call((jnp.arange(3.0),), {})) != content_digest(other)


@pytest.mark.parametrize(
    "leaf",
    [np.float32(2), 3, None, "x", jnp.zeros((0, 3)), jnp.zeros(()), np.array(["a", 1], dtype=object), np.array(["a"])],
)
def test_any_leaf_has_a_digest(leaf: Any) -> None:
    assert content_digest(Call((leaf,), {})) == content_digest(Call((leaf,), {}))


def test_keys_are_digested_by_their_data() -> None:
    first, same, other = (content_digest(Call((jax.random.key(seed),), {})) for seed in (0, 0, 1))
    assert first == same != other
