"""What ``inner=`` names: from functions and dotted names to the plain Python functions beneath them."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FunctionType, MethodType
from typing import Any

import jax

from pytest_jitperf.inner import InnerTarget

from .dotted import Found, find, refused

__all__ = ["Helper", "resolve"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Helper:
    """One helper to be jitted, or, if the user has jitted it already, to be counted.

    Attributes:
        name: Module and qualified name, ``"pkg.mod.Class.method"``; a suffix ``#2`` where two helpers share them.
        function: The plain Python function beneath.
        options: Options for ``jax.jit``, a transform to use instead, or None.
        receiver: ``"self"`` or ``"cls"`` where the first argument is the object or class a method is called on.
        jitted: The user's own jitted function, which is left as it is, or None.
        notes: Sentences for the reader.
    """

    name: str
    function: FunctionType
    options: Mapping[str, Any] | Callable[..., Any] | None = None
    receiver: str | None = None
    jitted: Any = None
    notes: tuple[str, ...] = ()


def resolve(targets: Sequence[InnerTarget]) -> tuple[Helper, ...]:
    """Finds the functions that ``inner=`` names.

    A function named twice, as an object and by its name, is one helper.

    Args:
        targets: Plain functions, lambdas, methods (bound, static, of a class), functions that are jitted already, or
            dotted names (``"pkg.mod.helper"``, ``"pkg.mod:helper"``, ``"pkg.mod.Class.method"``), with their options.

    Returns:
        The helpers in the order named.

    Raises:
        MeasurementError: A target cannot be found or cannot be jitted in place; says which, why and what to do.
    """
    helpers: list[Helper] = []
    for target in targets:
        new = _helper(target)
        same = [n for n, known in enumerate(helpers) if known.function is new.function]
        if not same:
            namesakes = sum(_name(known.function) == new.name for known in helpers)
            helpers.append(replace(new, name=f"{new.name}#{namesakes + 1}") if namesakes else new)
            continue
        known = helpers[same[0]]
        if known.options is not None and new.options is not None and known.options != new.options:
            raise refused(known.name, "is named twice in inner=, with different options. Name it once.")
        helpers[same[0]] = replace(known, options=known.options if known.options is not None else new.options)
    return tuple(helpers)


def _helper(target: InnerTarget) -> Helper:
    if isinstance(target.target, str):
        shown = target.target
        found = find(shown)
    else:
        shown = _shown(target.target)
        found = Found(value=target.target)
    value, receiver = _unbound(found)
    if isinstance(value, jax.custom_vjp | jax.custom_jvp):
        raise refused(
            shown,
            f"is a jax.{type(value).__name__} object, not a plain function: its code cannot be swapped without "
            "losing its derivative rule. Name a function that calls it.",
        )
    function = _beneath(value) if _is_jitted(value) else value
    if _is_jaxs_own(value) or _is_jaxs_own(function):
        raise refused(shown, "belongs to JAX itself and is not swapped. Name the function of yours that calls it.")
    if _is_jitted(value):
        if function is None:
            raise refused(
                shown,
                "is jitted already and hides the Python function beneath, so its calls cannot be counted. "
                "Leave it out of inner=: it is jitted under every strategy.",
            )
        if target.options is not None:
            raise refused(shown, "is jitted already, with options of its own. Name it without options.")
        _check_plain(shown, function)
        name = _name(function)
        note = f"{name} is jitted already: it is left as it is under every strategy, and only its traces are counted"
        return Helper(name=name, function=function, receiver=receiver, jitted=value, notes=(note,))
    if not isinstance(value, FunctionType):
        raise refused(shown, _why_not(value))
    _check_plain(shown, value)
    return Helper(name=_name(value), function=value, options=target.options, receiver=receiver)


def _name(function: FunctionType) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _shown(value: Any) -> str:
    """How a target given as an object is called in messages; without addresses."""
    inner = value.__func__ if isinstance(value, staticmethod | classmethod) else value
    name = getattr(inner, "__qualname__", None)
    if not isinstance(name, str):
        kind = type(inner)
        return f"({kind.__module__}.{kind.__qualname__} object)"
    module = getattr(inner, "__module__", None)
    return f"{module}.{name}" if isinstance(module, str) else name


def _unbound(found: Found) -> tuple[Any, str | None]:
    """The function beneath a method, and what its first argument is."""
    value = found.value
    if isinstance(value, staticmethod):
        return value.__func__, None
    if isinstance(value, classmethod):
        return value.__func__, "cls"
    # Other libraries bind methods in classes of their own, with the same two attributes.
    if isinstance(value, MethodType) or (hasattr(value, "__func__") and hasattr(value, "__self__")):
        return value.__func__, "cls" if isinstance(value.__self__, type) else "self"
    if found.owner is not None:
        return value, "self"
    return value, _receiver(value) if isinstance(value, FunctionType) else None


def _receiver(function: FunctionType) -> str | None:
    """Whether a function given as ``Class.method`` takes the object it is called on."""
    scope, _, name = function.__qualname__.rpartition(".")
    if not scope or scope.endswith("<locals>"):
        return None
    owner: Any = sys.modules.get(function.__module__)
    for part in scope.split("."):
        owner = getattr(owner, part, None)
    if isinstance(owner, type):
        raw = inspect.getattr_static(owner, name, None)
        return None if isinstance(raw, staticmethod) else "cls" if isinstance(raw, classmethod) else "self"
    # A class made inside a function leads nowhere by name; what is left is what everybody calls this parameter.
    first = function.__code__.co_varnames[:1] if function.__code__.co_argcount else ()
    return first[0] if first and first[0] in ("self", "cls") else None


def _is_jitted(value: Any) -> bool:
    """Whether it is jitted already, by ``jax.jit`` or a library's own jit."""
    return not isinstance(value, type) and callable(getattr(value, "lower", None)) and hasattr(value, "__wrapped__")


def _beneath(value: Any) -> FunctionType | None:
    """The Python function that runs when a jitted one is traced."""
    for _ in range(20):
        if isinstance(value, FunctionType) and not _is_jitted(value):
            return value
        for name in ("__wrapped__", "__func__", "func"):
            if hasattr(value, name):
                value = getattr(value, name)
                break
        else:
            return None
    return None


def _is_jaxs_own(value: Any) -> bool:
    """Whether it, or a jitted function around it, is found in a module of JAX under its own name.

    What ``jax.vmap(jnp.dot)`` returns has that name too and is not found there.
    """
    module = getattr(value, "__module__", None)
    if not isinstance(module, str) or module.partition(".")[0] not in ("jax", "jaxlib"):
        return False
    owner: Any = sys.modules.get(module)
    for part in str(getattr(value, "__qualname__", None) or getattr(value, "__name__", "")).split("."):
        owner = getattr(owner, part, None)
    return value is owner or value is getattr(owner, "__wrapped__", None)


def _check_plain(shown: str, function: FunctionType) -> None:
    flags = function.__code__.co_flags
    for flag, kind in (
        (inspect.CO_GENERATOR, "a generator function"),
        (inspect.CO_COROUTINE, "a coroutine function"),
        (inspect.CO_ASYNC_GENERATOR, "an asynchronous generator function"),
    ):
        if flags & flag:
            raise refused(
                shown,
                f"is {kind}: a call of it computes nothing yet, so it cannot be jitted. Name the functions it calls.",
            )


def _why_not(value: Any) -> str:
    """Why something that is no Python function is refused, and what to name in its place."""
    if isinstance(value, property):
        getter = f", {_shown(value.fget)}.fget" if isinstance(value.fget, FunctionType) else ""
        return f"is a property, which is read and not called. Name its getter{getter}."
    if isinstance(value, functools.partial | functools.partialmethod):
        return (
            f"is a functools.{type(value).__name__.lower()} object, which has no code of its own. "
            f"Name the function it wraps, {_shown(value.func)}."
        )
    if isinstance(value, type):
        own = [name for name, each in vars(value).items() if isinstance(each, FunctionType)]
        usual = next((name for name in own if not name.startswith("_") and "__call__" not in own), "__call__")
        return f"is a class. Name the method that does the work, such as {value.__qualname__}.{usual}."
    wrapped = getattr(value, "__wrapped__", None)
    if isinstance(wrapped, FunctionType):
        return f"is a {type(value).__name__} object around a function. Name the function: give its __wrapped__."
    call = inspect.getattr_static(type(value), "__call__", None)
    if isinstance(call, FunctionType):
        return f"is an object of a class, not a function. Name its method, {call.__module__}.{call.__qualname__}."
    if callable(value):
        return (
            "is not written in Python and has no code that could be swapped. Name the function of yours that calls it."
        )
    return f"is no function but of type {type(value).__qualname__}. Name a function."
