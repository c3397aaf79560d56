"""From a strategy and the user's function to the callable that is measured."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.strategies import Strategy, traits

from .jitinfo import is_jitted, unwrapped
from .refusals import without_places


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A strategy applied to a function.

    Attributes:
        strategy: Name of the strategy.
        function: The Python function beneath, for names of parameters and messages.
        call: What is called and measured.
        jitted: Whether ``call`` is what ``jax.jit`` returned.
        swaps: Whether the functions of ``inner=`` are jitted meanwhile.
        given: Options that the plugin passed to ``jax.jit``.
        notes: Sentences for the reader.
    """

    strategy: str
    function: Callable[..., Any]
    call: Any
    jitted: bool
    swaps: bool
    given: Mapping[str, Any]
    notes: tuple[str, ...] = ()


def build(strategy: str | Strategy, function: Any, jit: Mapping[str, Any]) -> Built:
    """Applies a strategy.

    A function that is jitted already is never jitted again: ``eager`` and ``inner`` take what it wraps, ``outer`` and
    ``both`` take it with its own options.

    Args:
        strategy: ``"eager"``, ``"outer"``, ``"inner"``, ``"both"`` or a Strategy of the user's.
        function: The function under test.
        jit: Options for ``jax.jit``.

    Raises:
        MeasurementError: ``function`` cannot be measured (not callable, a coroutine or generator function).
    """
    if not callable(function):
        raise MeasurementError(
            f"jitperf() got {type(function).__name__} as the function to measure. Give the function and its "
            "arguments, not its result:  jitperf(f, x)  instead of  jitperf(f(x))"
        )
    python = unwrapped(function)
    name = name_of(python)
    if _computes_nothing(python) or _computes_nothing(_call_method(python)):
        raise MeasurementError(
            f"{name} is a coroutine or generator function: calling it computes nothing yet, so there is nothing to "
            "measure. Measure a plain function that returns arrays."
        )
    if isinstance(strategy, Strategy):
        built = strategy.build(function)
        if not callable(built):
            raise MeasurementError(
                f"strategy {strategy.name!r}: build({name}) returned {type(built).__name__}, expected a callable"
            )
        return Built(
            strategy=strategy.name, function=python, call=built, jitted=is_jitted(built), swaps=False, given={}
        )
    already = python is not function
    swaps, jits = traits(strategy).swaps_inner, traits(strategy).jits_outer
    if not jits:
        notes = (f"{name} is jitted already; {strategy} measures what it wraps",) if already else ()
        return Built(strategy=strategy, function=python, call=python, jitted=False, swaps=swaps, given={}, notes=notes)
    if already:
        notes = (f"{name} is jitted already; measured with its own options",)
        if jit:
            notes = (f"{name} is jitted already; its own options are used and the marker's jit= is not",)
        return Built(
            strategy=strategy,
            function=python,
            call=function,
            jitted=is_jitted(function),
            swaps=swaps,
            given={},
            notes=notes,
        )
    try:
        jitted = jax.jit(function, **jit)
    except (TypeError, ValueError) as error:
        given = "".join(f", {key}={value!r}" for key, value in jit.items())
        raise MeasurementError(f"jax.jit({name}{given}) was refused: {without_places(str(error))}") from error
    return Built(strategy=strategy, function=python, call=jitted, jitted=True, swaps=swaps, given=jit)


def _call_method(value: Any) -> Any:
    return next((vars(kind)["__call__"] for kind in type(value).__mro__ if "__call__" in vars(kind)), None)


def _computes_nothing(function: Any) -> bool:
    """Whether a call only makes a coroutine or a generator."""
    kinds = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    return any(is_kind(function) for is_kind in kinds)


def name_of(function: Any) -> str:
    """A name without an address: ``pkg.Class.method``, ``<lambda>``, or the type's name."""
    name = getattr(function, "__qualname__", None) or getattr(getattr(function, "func", None), "__qualname__", None)
    return str(name or type(function).__name__)
