"""The arguments of a call, and which of them ``jax.jit`` holds static."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

__all__ = ["Argument", "StaticArguments", "arguments_of", "as_tuple", "is_array", "is_opaque", "static_arguments"]

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticArguments:
    """Static arguments as ``jax.jit`` takes them, completed: by position and, for the same ones, by name."""

    nums: tuple[int, ...] = ()
    names: tuple[str, ...] = ()

    def with_receiver(self, function: Callable[..., Any]) -> StaticArguments:
        """The same with the first parameter of ``function``, the object a method is called on, static too."""
        names = [each.name for each in _parameters(function)[:1] if each.kind is each.POSITIONAL_OR_KEYWORD]
        return StaticArguments(
            nums=tuple(dict.fromkeys((0, *self.nums))), names=tuple(dict.fromkeys((*names, *self.names)))
        )

    def options(self) -> dict[str, Any]:
        """For ``jax.jit``: both or neither, since JAX completes one from the other only if that is left out."""
        return {"static_argnums": self.nums, "static_argnames": self.names} if self.nums or self.names else {}


def static_arguments(function: Callable[..., Any], options: Mapping[str, Any]) -> StaticArguments:
    """What ``jax.jit(function, **options)`` would hold static.

    Follows the rule of ``jax.jit``: of ``static_argnums`` and ``static_argnames``, the one not given is completed from
    the other, for parameters that can be given either way. An empty one counts as not given.
    """
    nums = as_tuple(options.get("static_argnums"), int)
    names = as_tuple(options.get("static_argnames"), str)
    parameters = _parameters(function)
    if nums and not any(each.kind is each.VAR_POSITIONAL for each in parameters):
        nums = tuple(n + len(parameters) if n < 0 else n for n in nums)
    either_way = [
        (n, each.name) for n, each in enumerate(parameters) if each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    ]
    if nums and not names:
        names = tuple(name for n, name in either_way if n in nums)
    elif names and not nums:
        nums = tuple(n for n, name in either_way if name in names)
    return StaticArguments(nums=nums, names=names)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Argument:
    """One argument of a call; compared by identity.

    Attributes:
        value: What was given.
        index: Position of its parameter, or None where it can be given by keyword only.
        name: Name of its parameter, or None where it can be given by position only.
        label: How it is called in messages.
        keyword: The keyword it was given by, or None where it was given by position.
    """

    value: Any
    index: int | None
    name: str | None
    label: str
    keyword: str | None = None

    @property
    def kind(self) -> str:
        """What it holds, as to being static.

        ``"plain"`` can be static, ``"unhashable"`` could be but for that, ``"mixed"`` holds arrays beside other values,
        ``""`` holds nothing but arrays.
        """
        if isinstance(self.value, np.ndarray):
            return "unhashable"
        arrays = [is_array(leaf) for leaf in jax.tree.leaves(self.value)]
        if all(arrays):
            return ""
        if any(arrays):
            return "mixed"
        return "plain" if _is_hashable(self.value) else "unhashable"


def arguments_of(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Argument]:
    """The arguments of a call, in the order given, with what is known of their parameters."""
    parameters = _parameters(function)
    positional = list(itertools.takewhile(lambda each: each.kind in _POSITIONAL, parameters))
    found = []
    for n, value in enumerate(args):
        parameter = positional[n] if n < len(positional) else None
        can_be_named = parameter is not None and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        label = parameter.name if parameter is not None else f"args[{n}]"
        found.append(Argument(value=value, index=n, name=label if can_be_named else None, label=label))
    indices = {each.name: n for n, each in enumerate(positional)}
    for name, value in kwargs.items():
        found.append(Argument(value=value, index=indices.get(name), name=name, label=name, keyword=name))
    return found


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def is_opaque(value: Any) -> bool:
    """Whether it is one leaf to JAX and no array, such as an object of a class that is no pytree."""
    leaves = jax.tree.leaves([value])
    return len(leaves) == 1 and leaves[0] is value and not is_array(value)


def is_array(leaf: Any) -> bool:
    """Whether jit traces it as an array; Python numbers, which jit traces too, may also be static."""
    return isinstance(leaf, jax.Array | np.ndarray | jax.ShapeDtypeStruct)


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def as_tuple(value: Any, single: type) -> tuple[Any, ...]:
    """An option of ``jax.jit`` that may be one value, several or None."""
    return () if value is None else (value,) if isinstance(value, single) else tuple(value)
