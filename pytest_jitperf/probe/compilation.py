"""What is being compiled at this moment, for which call and under which settings."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any

import jax

from .jaxframes import cache_miss, code_of, frames, is_jax_own, is_of_jax, operation, place, users_call, users_line
from .seen import Body, Seen, seen_of, static_names

__all__ = ["Compilation", "compilation_on"]

_SETTINGS = {
    "x64": "jax_enable_x64",
    "matmul precision": "jax_default_matmul_precision",
    "dtype promotion": "jax_numpy_dtype_promotion",
    "rank promotion": "jax_numpy_rank_promotion",
    "PRNG": "jax_default_prng_impl",
    "debug_nans": "jax_debug_nans",
    "default device": "jax_default_device",
}
_SERIALS: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
_NUMBERS = itertools.count(1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compilation:
    """One executable being built.

    Attributes:
        name: Name for people: ``"f"``, ``"<lambda> (library.py:12)"``; JAX's operations with the user's line,
            ``"scan at library.py:12"``.
        own: Whether it is JAX's own operation, and not a function that user code jits.
        group: What two compilations have in common that are of one function for people.
        function: The function object, dead where it is gone already; None where that says nothing.
        serial: Number of the function object; two that are not alive at the same time have different ones.
        seen: Its arguments by path, or None where they are not known.
        context: JAX's settings by name.
    """

    name: str
    own: bool
    group: Hashable
    function: Callable[[], Any] | None = None
    serial: int = 0
    seen: Mapping[str, Seen] | None = None
    context: Mapping[str, str]


def compilation_on(frame: FrameType | None, name: str) -> Compilation:
    """Describes the compilation that is announced on a frame.

    Args:
        frame: Of the announcement.
        name: The name that came with it.
    """
    try:
        return _described(frame, name)
    except Exception:  # arguments of the user's own kinds; their call must not fail for being watched
        return Compilation(name=name, own=is_jax_own(frame), group=name, context={})


def _described(frame: FrameType | None, name: str) -> Compilation:
    miss, context = cache_miss(frame), _context()
    if miss is None:
        transposed = any(each.f_code.co_name.startswith("_pjit_transpose") for each in frames(frame))
        name += " (transposed)" if transposed else ""
        return Compilation(name=name, own=is_jax_own(frame), group=name, context=context)
    variables = miss.f_locals
    function, args, kwargs = variables["fun"], variables["args"], variables["kwargs"]
    context["called"] = _transformation((args, kwargs))
    if is_of_jax(function):
        line = users_line(miss)
        seen = seen_of(function, args, kwargs, static=_static_names(function, args, variables))
        seen.update(_parameters(operation(miss)))
        shown = f"{name} at {line}" if line else name
        return Compilation(name=shown, own=True, group=shown, seen=seen, context=context)
    users, arrays_only = users_call(miss), True
    if users is None:
        users, arrays_only = (function, args, kwargs), False
    function, args, kwargs = users
    static = () if arrays_only else _static_names(function, args, variables)
    seen = seen_of(function, args, kwargs, static=static, arrays_only=arrays_only)
    code = code_of(function)
    if code is None and arrays_only:
        # A module that is called: its arrays are arguments as well, and it is put together anew for each call.
        seen = {**seen_of(_itself, (function,), {}, arrays_only=True), **seen}
    return Compilation(
        name=f"{name} ({place(code)})" if name == "<lambda>" and code is not None else name,
        own=False,
        group=code or name,
        function=_reference(function) if code is not None else None,
        serial=_serial(function) if code is not None else 0,
        seen=seen,
        context=context,
    )


def _itself(self: Any) -> None:
    """Gives its parameter's name to a callable object."""


def _static_names(function: Any, args: tuple[Any, ...], variables: Mapping[str, Any]) -> set[str]:
    info = variables.get("jit_info")
    numbers, names = getattr(info, "static_argnums", ()), getattr(info, "static_argnames", ())
    return static_names(function, len(args), numbers, names)


def _reference(function: Any) -> Callable[[], Any]:
    """A reference that does not keep a user's closure alive."""
    try:
        return weakref.ref(function)
    except TypeError:
        return lambda: None


def _serial(function: Any) -> int:
    try:
        return _SERIALS.setdefault(function, next(_NUMBERS))
    except TypeError:
        return next(_NUMBERS)


def _parameters(given: Mapping[str, Any]) -> dict[str, Seen]:
    """Parameters of a primitive; the user's functions in it (the body of a scan) by name."""
    found: dict[str, Seen] = {}
    for name, value in given.items():
        bodies = [each for each in (value if isinstance(value, tuple) else (value,)) if hasattr(each, "jaxpr")]
        for number, body in enumerate(bodies):
            info = getattr(body.jaxpr, "debug_info", None)
            path = name if len(bodies) == 1 else f"{name}[{number}]"
            text = str(getattr(info, "func_name", "function"))
            found[path] = Seen(text=text, static=True, value=Body(_reference(body)))
        if not bodies:
            found.update(seen_of(_itself, (), {name: value}, static=(name,)))
    return found


def _context() -> dict[str, str]:
    return {
        name: "default" if value is None else {True: "on", False: "off"}.get(value, str(value))
        for name, value in ((name, getattr(jax.config, key, None)) for name, key in _SETTINGS.items())
    }


def _transformation(tree: Any) -> str:
    """Which transformation the call is made under: ``"plainly"``, ``"under vmap"``, ``"under grad"``."""
    kinds = {type(leaf).__name__ for leaf in jax.tree.leaves(tree) if isinstance(leaf, jax.core.Tracer)}
    words = {"BatchTracer": "vmap", "JVPTracer": "jvp", "LinearizeTracer": "grad"}
    return f"under {' and '.join(sorted(words.get(kind, kind) for kind in kinds))}" if kinds else "plainly"
