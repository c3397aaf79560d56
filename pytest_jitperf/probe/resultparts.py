"""What is inside a result, where JAX does not look: arrays to wait for, and what was not computed yet.

JAX takes an object of a class that is no pytree for one leaf and passes it through, arrays and all: a call that returns
one would be timed without being waited for.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import jax
import numpy as np

__all__ = ["has_parts", "leaves_with_paths", "waited_leaves", "yet_to_be_computed"]

_PLAIN = (jax.Array, np.ndarray, np.generic, str, bytes, bool, int, float, complex, type(None))
_NO_PARTS = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)
# An object may lead to half of the program.
_DEEPEST, _MOST = 5, 10_000


def yet_to_be_computed(result: Any) -> list[Any]:
    """What a result holds of generators, iterators, coroutines and futures: nothing was computed for them yet."""
    # Named as leaves, for JAX warns where it finds an iterable among them by itself.
    return [leaf for _, leaf in leaves_with_paths(result, is_leaf=_is_lazy) if _is_lazy(leaf)]


def has_parts(result: Any) -> bool:
    """Whether a result has leaves in which there is more to wait for."""
    return any(_parts(leaf) for leaf in jax.tree.leaves(result) if not isinstance(leaf, _PLAIN))


def waited_leaves(result: Any) -> list[Any]:
    """Every array of a result, those inside of objects too."""
    return [leaf for _, leaf in leaves_with_paths(result) if isinstance(leaf, jax.Array)]


def leaves_with_paths(result: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[tuple[str, Any]]:
    """The leaves of a result with their paths, objects of plain classes taken apart by their attributes.

    Args:
        result: Any pytree.
        is_leaf: What is not taken apart.
    """
    found: list[tuple[str, Any]] = []
    seen: set[int] = set()

    def add(path: str, value: Any, depth: int) -> None:
        for inner, leaf in jax.tree_util.tree_flatten_with_path(value, is_leaf=is_leaf)[0]:
            name = path + jax.tree_util.keystr(inner)
            plain = isinstance(leaf, _PLAIN) or (is_leaf is not None and is_leaf(leaf))
            parts = {} if plain or depth == _DEEPEST or id(leaf) in seen or len(seen) > _MOST else _parts(leaf)
            if not parts:
                found.append((name, leaf))
                continue
            seen.add(id(leaf))
            for attribute, part in parts.items():
                add(f"{name}.{attribute}", part, depth + 1)

    add("", result, 0)
    return found


def _parts(leaf: Any) -> dict[str, Any]:
    """The attributes of an object whose class is nobody's but the user's."""
    if isinstance(leaf, _NO_PARTS):
        return {}
    if dataclasses.is_dataclass(leaf):
        names = [each.name for each in dataclasses.fields(leaf)]
        return {name: getattr(leaf, name) for name in names if hasattr(leaf, name)}
    return dict(getattr(leaf, "__dict__", {}))


def _is_lazy(value: Any) -> bool:
    if isinstance(value, _PLAIN):
        return False
    kinds: tuple[type, ...] = (Iterator, AsyncIterator)
    for module, name in (("concurrent.futures", "Future"), ("multiprocessing.pool", "AsyncResult")):
        # Nobody has one without its module.
        kinds += tuple(filter(None, [getattr(sys.modules.get(module), name, None)]))
    return (isinstance(value, kinds) or inspect.isawaitable(value)) and jax.tree_util.all_leaves([value])
