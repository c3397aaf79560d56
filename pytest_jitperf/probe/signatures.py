"""The distinct signatures a helper is called with, and one example of the arguments for each."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import jax

from .arguments import StaticArguments
from .inputs import has_aval

__all__ = ["Signature", "example_of", "signature_key"]


@dataclass(slots=True, kw_only=True)
class Signature:
    """Calls that one jitted program serves.

    Attributes:
        args: Positional arguments of the first such call; tracers stand as ``jax.ShapeDtypeStruct``.
        kwargs: Its keyword arguments, likewise.
        concrete: Whether no argument was a tracer: the call itself ran a program. Otherwise it became part of the
            program that was being traced (jit), or of what a transformation made of it (grad, vmap).
        calls: How many calls were recorded.
        jitted: What served them; for methods it depends on the class of the object.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    concrete: bool
    calls: int = 0
    jitted: Any = None


def example_of(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any], bool]:
    """The arguments without tracers, which must not outlive their trace.

    Returns:
        Positional arguments, keyword arguments, and whether none of them was a tracer.
    """
    leaves, tree = jax.tree.flatten((args, dict(kwargs)))
    if not any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
        return args, dict(kwargs), True
    described = [_described(leaf) if isinstance(leaf, jax.core.Tracer) else leaf for leaf in leaves]
    args, kwargs = jax.tree.unflatten(tree, described)
    return args, dict(kwargs), False


def _described(tracer: Any) -> jax.ShapeDtypeStruct:
    aval = jax.typeof(tracer)
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)


def signature_key(args: tuple[Any, ...], kwargs: Mapping[str, Any], static: StaticArguments | None) -> Hashable:
    """What two calls have in common when one program serves both.

    Args:
        args: Positional arguments.
        kwargs: Keyword arguments.
        static: What ``jax.jit`` holds static; None where that is not known (a transform, or a jit of the user's).
            Then every value that is no array counts by its value.
    """
    nums, names = (static.nums, static.names) if static is not None else ((), ())

    def key(value: Any, is_static: bool) -> Hashable:
        if is_static:
            return _value_key(value)
        leaves, tree = jax.tree.flatten(value)
        return tree, tuple(_leaf_key(leaf, by_value=static is None) for leaf in leaves)

    positional = tuple(key(value, n in nums) for n, value in enumerate(args))
    named = tuple((name, key(value, name in names)) for name, value in sorted(kwargs.items()))
    return positional, named


def _leaf_key(leaf: Any, *, by_value: bool) -> Hashable:
    if not has_aval(leaf) or (by_value and not hasattr(type(leaf), "dtype")):
        return _value_key(leaf)
    traced, aval = isinstance(leaf, jax.core.Tracer), jax.typeof(leaf)
    return traced, aval, None if traced else getattr(leaf, "sharding", None)


def _value_key(value: Any) -> Hashable:
    try:
        hash(value)
    except TypeError:
        return type(value), id(value)
    return type(value), value
