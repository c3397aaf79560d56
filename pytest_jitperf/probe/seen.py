"""What ``jax.jit`` sees of a call: every array, structure and static value under its path.

It keeps no array and shows no array's values, so that calls can be compared long after their arguments are gone.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from pytest_jitperf.wording import written

from .inputs import has_aval, is_array, positional_names, short_aval, static_digest

__all__ = ["Aval", "Body", "Seen", "beneath", "is_function", "seen_of", "static_names"]

_LONGEST_VALUE = 40
_PLAIN = (bool, int, float, complex, type(None), type(Ellipsis), np.generic, np.dtype)
_TEXT = (str, bytes)
_WORD = re.compile(r"[\w.+\-]{0,16}")


@dataclass(frozen=True, slots=True)
class Aval:
    """Abstract value of an array."""

    dtype: str
    shape: tuple[int, ...]
    weak: bool


@dataclass(frozen=True, slots=True)
class Body:
    """The traced body of a scan, a loop or a branch; only the same one is equal."""

    jaxpr: Callable[[], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One place of a call.

    Attributes:
        text: ``"f32[8]"``, ``"list of 2"``, ``"None"``; of a static value the value where it is short, or its type.
        aval: Of an array, else None.
        static: Whether it is a static value.
        placed: Device or sharding that an array is committed to; empty where it may go anywhere.
        value: A static value, or what makes a structure: two that differ in nothing else may still be unequal.
        keyword: Whether the argument is passed by keyword.
    """

    text: str
    aval: Aval | None = None
    static: bool = False
    placed: str = ""
    value: object = None
    keyword: bool = False


def seen_of(
    function: Callable[..., Any],
    args: Iterable[Any],
    kwargs: Mapping[str, Any],
    *,
    static: Iterable[str] = (),
    arrays_only: bool = False,
) -> dict[str, Seen]:
    """Describes a call.

    Args:
        function: The Python function, for the names of its parameters.
        args: Positional arguments.
        kwargs: Keyword arguments.
        static: Names of static parameters.
        arrays_only: Whether every leaf that is no array is static, as in ``equinox.filter_jit``.

    Returns:
        What is at each path, parents before their children: ``{"xs": list of 1, "xs[0]": f32[8]}``.
    """
    args, statics = tuple(args), set(static)
    found: dict[str, Seen] = {}
    named = [(name, value, False) for name, value in zip(positional_names(function, len(args)), args, strict=True)]
    named += [(name, value, True) for name, value in sorted(kwargs.items())]
    for name, value, keyword in named:
        if name in statics:
            _add_static(found, name, value)
        else:
            _add(found, name, value, arrays_only)
        found[name] = replace(found[name], keyword=keyword)
    return found


def static_names(function: Callable[..., Any], count: int, numbers: Iterable[int], names: Iterable[str]) -> set[str]:
    """Names of the static ones among ``count`` positional and any keyword arguments, as jit was told them."""
    positional = positional_names(function, count)
    return {*names, *(positional[n] for n in numbers if -count <= n < count)}


def is_function(value: Any) -> bool:
    """Whether it is a function, or what a decorator of JAX's (``jit``, ``custom_jvp``) made of one."""
    return inspect.isroutine(value) or (callable(value) and isinstance(getattr(value, "__name__", None), str))


def beneath(leaf: Any) -> Any:
    """The array that a transformation's tracer stands for; anything else as it is.

    Private: where a tracer keeps it. One that is not known is described by its own abstract value.
    """
    while isinstance(leaf, jax.core.Tracer):
        inner = getattr(leaf, "primal", None)
        inner = getattr(leaf, "val", None) if inner is None else inner
        if inner is None:
            return leaf
        leaf = inner
    return leaf


def _add(found: dict[str, Seen], path: str, value: Any, arrays_only: bool) -> None:
    def is_child(each: Any) -> bool:
        return each is not value

    children, structure = jax.tree_util.tree_flatten_with_path(value, is_leaf=is_child)
    if len(children) == 1 and not children[0][0]:
        _add_leaf(found, path, value, arrays_only)
        return
    found[path] = Seen(text=_structure_text(value, len(children)), value=structure)
    if isinstance(value, jax.tree_util.Partial):  # which gives its parts no names
        _add_static(found, f"{path}.func", value.func)
        _add(found, f"{path}.args", value.args, arrays_only)
        _add(found, f"{path}.keywords", value.keywords, arrays_only)
        return
    names = []
    for keys, child in children:
        name = jax.tree_util.keystr(keys)
        names.append(name)
        _add(found, path + name, child, arrays_only)
    for name, field in _fields(value):
        if name not in names:
            _add_static(found, path + name, field)


def _add_leaf(found: dict[str, Seen], path: str, leaf: Any, arrays_only: bool) -> None:
    leaf = beneath(leaf)
    if not has_aval(leaf) or (arrays_only and not is_array(leaf)):
        _add_static(found, path, leaf)
        return
    aval = leaf if isinstance(leaf, jax.ShapeDtypeStruct) else jax.typeof(leaf)
    weak = bool(getattr(aval, "weak_type", False))
    found[path] = Seen(
        text=short_aval(leaf), aval=Aval(str(aval.dtype), tuple(aval.shape), weak), placed=_placement(leaf)
    )


def _add_static(found: dict[str, Seen], path: str, value: Any) -> None:
    found[path] = Seen(text=_static_text(value), static=True, value=value)
    for name, field in _fields(value):
        _add_static(found, path + name, field)


def _fields(value: Any) -> list[tuple[str, Any]]:
    """The fields of a dataclass, as paths."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return []
    return [(f".{field.name}", getattr(value, field.name, None)) for field in dataclasses.fields(value)]


def _structure_text(value: Any, count: int) -> str:
    if value is None:
        return "None"
    return f"{type(value).__name__} of {count}" if type(value) in (list, tuple) else type(value).__name__


def _static_text(value: Any) -> str:
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    parts = value if type(value) is tuple else (value,)
    if all(isinstance(each, (*_PLAIN, *_TEXT)) for each in parts):
        text = written(tuple(map(_as_python, value)) if type(value) is tuple else _as_python(value))
        shown = len(text) <= _LONGEST_VALUE and all(map(_may_be_shown, parts))
        return text if shown else static_digest(value).removeprefix("static ")
    if isinstance(value, functools.partial):
        return f"partial of {getattr(value.func, '__name__', type(value.func).__name__)}"
    if inspect.isclass(value) or is_function(value):
        return f"{'class' if inspect.isclass(value) else 'function'} {value.__name__}"
    return type(value).__name__


def _may_be_shown(value: Any) -> bool:
    """Of text only a word such as ``"mean"``: any other may be a path, or a password."""
    return not isinstance(value, _TEXT) or (isinstance(value, str) and _WORD.fullmatch(value) is not None)


def _as_python(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _placement(leaf: Any) -> str:
    if not isinstance(leaf, jax.Array) or isinstance(leaf, jax.core.Tracer) or not getattr(leaf, "committed", False):
        return ""
    devices: list[Any] = sorted(leaf.sharding.device_set, key=lambda device: int(device.id))
    if len(devices) == 1:
        return f"{devices[0].platform}:{devices[0].id}"
    return f"{getattr(leaf.sharding, 'spec', type(leaf.sharding).__name__)} over {len(devices)} devices"
