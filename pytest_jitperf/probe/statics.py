"""Which arguments ``jax.jit`` must hold static, and how the user is told of one that was missing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Literal

import jax
import numpy as np

from .arguments import Argument, arguments_of, as_tuple, is_array, is_opaque, static_arguments
from .trampoline import rerouted_copy

__all__ = ["explain_missing_static"]

_SHORT = 40  # characters up to which a value is written out
_SCALARS = (bool, int, float, complex, str, bytes, type(None))


def explain_missing_static(
    strategy: str,
    fn_name: str,
    call: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    error: BaseException,
    where: Literal["jit", "inner"],
    *,
    options: Mapping[str, Any] | None = None,
) -> str | None:
    """Finds the arguments that must be static for ``call`` to be traced, by tracing it again with some held fixed.

    Tried singly, then all together less those that turn out not to be needed: Python values first; then those that
    cannot be hashed, which the user has to replace; then plain values inside containers that hold arrays too.
    The function runs (traced, not computed) about once for each argument that is no array.

    Args:
        strategy: Name of the strategy, for the message.
        fn_name: Name of the function, as it is to be written in the marker.
        call: The function before jit; one that is rerouted at the time is looked through.
        args: Its positional arguments. Arrays may be ``jax.ShapeDtypeStruct``.
        kwargs: Its keyword arguments, likewise.
        error: What was raised while tracing.
        where: The marker key that takes the options: ``"jit"``, or ``"inner"`` for a helper.
        options: What the marker gives for this function already.

    Returns:
        The message with the line to add, or None where static arguments do not help: then it is the user's own error.

    Example:
        ``outer needs a static argument: mylib.attend got causal=True (bool). Add  jit={"static_argnames": ["causal"]}
        to the marker``
    """
    if not isinstance(error, Exception):
        return None
    function = rerouted_copy(call) or call
    arguments = arguments_of(function, args, kwargs)
    static = static_arguments(function, options or {})
    given = {each for each in arguments if each.index in static.nums or each.name in static.names}
    # The object or class that a helper method is called on is static by itself unless it is a pytree.
    if where == "inner" and arguments and arguments[0].name in ("self", "cls") and is_opaque(arguments[0].value):
        given.add(arguments[0])
    trial = _Trial(function, arguments, frozenset(given))
    if trial.traces(()):
        return None
    tried: list[Argument] = []
    for kind in ("plain", "unhashable", "mixed"):
        new = [each for each in arguments if each not in given and each.kind == kind]
        tried += new
        needed = trial.needed(new, tried) if new else None
        if needed is not None:
            return _message(strategy, fn_name, function, needed, where, options or {})
    return None


# --- trials ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Trial:
    function: Callable[..., Any]
    arguments: Sequence[Argument]
    given: frozenset[Argument]

    def needed(self, new: Sequence[Argument], tried: Sequence[Argument]) -> list[Argument] | None:
        """A smallest choice of arguments that makes tracing work, or None."""
        for single in new:
            if self.traces([single]):
                return [single]
        chosen = list(tried)
        if len(chosen) < 2 or not self.traces(chosen):
            return None
        for each in tried:
            fewer = [other for other in chosen if other is not each]
            if self.traces(fewer):
                chosen = fewer
        return chosen

    def traces(self, fixed: Iterable[Argument]) -> bool:
        """Whether tracing works with these held fixed (of mixed ones: what is no array) and the rest traced."""
        chosen = {*self.given, *fixed}
        leaves, tree = jax.tree.flatten([[each.value] for each in self.arguments])
        held = [
            each in chosen and not (each.kind == "mixed" and is_array(leaf))
            for each in self.arguments
            for leaf in jax.tree.leaves([each.value])
        ]

        def traced(dynamic: list[Any]) -> Any:
            remaining = iter(dynamic)
            merged = [leaf if hold else next(remaining) for leaf, hold in zip(leaves, held, strict=True)]
            values = [value for (value,) in jax.tree.unflatten(tree, merged)]
            pairs = list(zip(self.arguments, values, strict=True))
            args = [value for each, value in pairs if each.keyword is None]
            return self.function(*args, **{each.keyword: value for each, value in pairs if each.keyword is not None})

        try:
            jax.eval_shape(traced, [leaf for leaf, hold in zip(leaves, held, strict=True) if not hold])
        except Exception:
            return False
        return True


# --- message ---------------------------------------------------------------------------------------------------------


def _message(
    strategy: str,
    fn_name: str,
    function: Callable[..., Any],
    needed: Sequence[Argument],
    where: str,
    options: Mapping[str, Any],
) -> str:
    got = _listed([_shown(each) for each in needed])
    many = len(needed) > 1
    if any(each.kind == "mixed" for each in needed):
        transform = f"inner={{{_key(fn_name)}: eqx.filter_jit}}"
        if where == "jit":
            transform = 'strategies=[Strategy("filter_jit", eqx.filter_jit)]'
        return (
            f"{strategy} needs static values: {fn_name} got {got}, and jit can only make whole arguments static. "
            "Pass arrays and other values as arguments of their own, or let a transform tell them apart:  "
            f"{transform}  in the marker"
        )
    head = f"{strategy} needs {'static arguments' if many else 'a static argument'}: {fn_name} got {got}"
    line = _with_static(function, needed, options)
    written = f"{{{', '.join(f'{json.dumps(key)}: {_written(value)}' for key, value in line.items())}}}"
    if where == "inner":
        written = f"{{{_key(fn_name)}: {written}}}"
    verb, preposition = ("Make it", "in") if options else ("Add", "to")
    end = f"  {where}={written}  {preposition} the marker"
    unhashable = [each for each in needed if each.kind == "unhashable"]
    if not unhashable:
        return f"{head}. {verb}{end}"
    labels = _listed([each.label for each in unhashable])
    cures = _listed([f"{_cure(each.value)} for {each.label}" for each in unhashable])
    return (
        f"{head}. What is static must be hashable, and {labels} {'are' if unhashable[1:] else 'is'} not: pass {cures}. "
        f"Then {verb.lower()}{end}"
    )


def _with_static(
    function: Callable[..., Any], needed: Sequence[Argument], options: Mapping[str, Any]
) -> dict[str, Any]:
    """The options given, with the needed arguments made static too: by name where that is possible."""
    others = {key: value for key, value in options.items() if key not in ("static_argnums", "static_argnames")}
    nums = as_tuple(options.get("static_argnums"), int)
    names = as_tuple(options.get("static_argnames"), str)
    if not nums and all(each.name is not None for each in needed):
        return {**others, "static_argnames": [*names, *(each.name for each in needed)]}
    if not names and all(each.index is not None for each in needed):
        return {**others, "static_argnums": [*nums, *(each.index for each in needed)]}
    complete = static_arguments(function, options)
    return {
        **others,
        "static_argnums": [*complete.nums, *(each.index for each in needed if each.index is not None)],
        "static_argnames": [*complete.names, *(each.name for each in needed if each.name is not None)],
    }


def _shown(argument: Argument) -> str:
    """An argument with its value and type; values only where they are short and tell nothing private."""
    value = argument.value
    if argument.kind != "mixed":
        return f"{argument.label}{_value(value)}"
    paths, _ = jax.tree_util.tree_flatten_with_path(value)
    plain = [(path, leaf) for path, leaf in paths if not is_array(leaf)]
    path, leaf = plain[0]
    more = f" and {len(plain) - 1} more" if len(plain) > 1 else ""
    return (
        f"{argument.label}, which holds arrays together with "
        f"{argument.label}{jax.tree_util.keystr(path)}{_value(leaf)}{more}"
    )


def _value(value: Any) -> str:
    if isinstance(value, FunctionType | type):
        return f"={value.__qualname__} ({type(value).__name__})"
    written = _written(value) if _is_simple(value) else ""
    kind = type(value).__name__
    return f"={written} ({kind})" if 0 < len(written) <= _SHORT else f" of type {kind}"


def _is_simple(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return len(value) <= _SHORT and all(_is_simple(each) for each in value)
    return type(value) in _SCALARS and not (isinstance(value, int) and value.bit_length() > 4 * _SHORT)


def _written(value: Any) -> str:
    """As it stands in source code, with the quotes that people use."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if type(value) is list:
        return f"[{', '.join(_written(each) for each in value)}]"
    return repr(value)


def _key(fn_name: str) -> str:
    """How a helper is written as a key of ``inner=``: as its name, where a name leads to it."""
    return fn_name.rpartition(".")[2] if "<" in fn_name else json.dumps(fn_name)


def _cure(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return "a tuple of its values"
    if isinstance(value, list):
        return "a tuple"
    if isinstance(value, set):
        return "a frozenset"
    if isinstance(value, tuple):
        return "a tuple that holds no list, dict or array"
    if isinstance(value, dict):
        return "a tuple of its items"
    return "an object that can be hashed (such as a frozen dataclass)"


def _listed(words: Sequence[str]) -> str:
    return " and ".join([*([", ".join(words[:-1])] if words[1:] else []), words[-1]])
