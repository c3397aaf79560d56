"""What ``jax.jit`` was told: the one place that reads it from JAX's own jitted objects.

JAX has no public way to ask a jitted function for its static arguments and compiler options, and both are needed: the
static ones to know which leaves the program takes, the options to build a stored program the same way again. Where the
private record is missing, the options the plugin itself passed are used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MethodType
from typing import Any

from .inputs import Call, NamedLeaf, named_leaves, positional_names


@dataclass(frozen=True, slots=True)
class JitInfo:
    """Static parameters and compiler options of a jitted function."""

    static_argnums: tuple[int, ...] = ()
    static_argnames: tuple[str, ...] = ()
    compiler_options: Mapping[str, str] = field(default_factory=dict)


def is_jitted(function: Any) -> bool:
    """Whether ``function`` is what ``jax.jit`` returns (has the stages trace and lower, and what it wraps)."""
    return (
        type(function).__module__.partition(".")[0] in ("jaxlib", "jax")
        and all(hasattr(function, name) for name in ("trace", "lower", "eval_shape"))
        and hasattr(function, "__wrapped__")
    )


def unwrapped(function: Any) -> Any:
    """The Python function below any number of jits (also another library's), else the function itself."""
    while hasattr(function, "lower") and hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def unbound(function: Any) -> tuple[Any, tuple[Any, ...]]:
    """A jitted method taken from its object, as the jit itself and the object it has to be given.

    The stages of ``model.step.lower`` are those of the function in the class, which take the object as an argument.

    Returns:
        The function, and arguments to put before the others; any other function as it is.
    """
    if isinstance(function, MethodType) and unwrapped(function.__func__) is not function.__func__:
        return function.__func__, (function.__self__,)
    return function, ()


def jit_info(jitted: Any, given: Mapping[str, Any]) -> JitInfo:
    """Reads what a jitted function was told.

    Args:
        jitted: What ``jax.jit`` returned.
        given: The options the plugin passed, used where JAX's record is not to be had.
    """
    # Private: no public accessor exists up to jax 0.12.
    record = getattr(jitted, "_jit_info", None)
    if record is not None and hasattr(record, "static_argnums"):
        options = dict(getattr(record, "compiler_options_kvs", ()) or ())
        return JitInfo(
            tuple(record.static_argnums),
            tuple(record.static_argnames),
            {name: str(value) for name, value in sorted(options.items())},
        )
    return JitInfo(
        _numbers(given.get("static_argnums")),
        _names(given.get("static_argnames")),
        {name: str(value) for name, value in sorted((given.get("compiler_options") or {}).items())},
    )


def named_for_jit(
    function: Callable[..., Any], call: Call, jitted: Any, given: Mapping[str, Any]
) -> tuple[tuple[NamedLeaf, ...], JitInfo]:
    """Names the leaves of a call of a jitted function; each static argument is one leaf without an index.

    Args:
        function: The Python function beneath.
        call: Its arguments.
        jitted: What ``jax.jit`` returned.
        given: The options the plugin passed to it.
    """
    info = jit_info(jitted, given)
    names = positional_names(function, len(call.args))
    by_number = {names[n] for n in info.static_argnums if -len(names) <= n < len(names)}
    return named_leaves(function, call, by_number | set(info.static_argnames)), info


def _numbers(value: Any) -> tuple[int, ...]:
    return () if value is None else (value,) if isinstance(value, int) else tuple(value)


def _names(value: Any) -> tuple[str, ...]:
    return () if value is None else (value,) if isinstance(value, str) else tuple(value)
