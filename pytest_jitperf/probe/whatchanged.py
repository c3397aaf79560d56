"""What changed from one call of a compiled function to another, and the usual cure."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .seen import Aval, Body, Seen, is_function

__all__ = ["Change", "argument_changes", "context_changes", "sentence"]

_MOST_CHANGES = 3
# Calls under different settings have less in common than any two arrays.
_APART = 9

SHAPE = "pad or bucket the shapes"
DTYPE = "fix the dtype"
WEAK = "jnp.asarray with a dtype at every caller"
NUMBER = "always the same Python type, or jnp.asarray with a dtype"
STRUCTURE = "always the same structure"
PASSED = "always pass it the same way"
STATIC = "trace it, or keep to few values"
FUNCTION = "hoist the {}: make it once"
OBJECT = "reuse one object, or give its class __eq__ and __hash__"
PLACED = "jax.device_put it once to where it stays"
CONTEXT = "set it once, for the whole process"
FUNCTIONS = "few functions, each made once"
ARRAY = "always an array: jnp.asarray"
SLICE = "slice to few sizes, or mask"
_CONTEXT_CURES = {"called": "jit around the transformation"}
_SLICES = ("slice_sizes", "start_indices", "limit_indices")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that changed.

    Attributes:
        text: ``"x: f32[8] -> f32[9]"``.
        cure: What usually helps, a few words.
        weight: How many properties changed, to find the call that was most alike.
        number: Whether it is a Python number both times, whose type x64 alone may change.
    """

    text: str
    cure: str
    weight: int = 1
    number: bool = False


def argument_changes(before: Mapping[str, Seen], now: Mapping[str, Seen]) -> list[Change]:
    """Compares two calls.

    What shows comes first: shapes, types, structure, static values. Only where nothing does, values that look the same
    and are not equal, and arrays that moved, are looked at, since JAX need not compile again for an array that moved.

    Args:
        before: What an earlier call looked like.
        now: What this one looks like.
    """
    changed = _visible(before, now)
    return changed or _unequal(before, now) or _moved(before, now)


def context_changes(before: Mapping[str, str], now: Mapping[str, str]) -> list[Change]:
    """Compares the settings of JAX that two calls were made under."""
    return [
        Change(text=f"{name} {before[name]} -> {value}", cure=_CONTEXT_CURES.get(name, CONTEXT), weight=_APART)
        for name, value in now.items()
        if name in before and before[name] != value
    ]


def sentence(changes: list[Change]) -> str:
    """``"x: f32[8] -> f32[9] (pad or bucket the shapes)"``, several changes after one another."""
    cures = dict.fromkeys(each.cure for each in changes[:_MOST_CHANGES])
    shown = list(dict.fromkeys(each.text for each in changes))
    if len(shown) > _MOST_CHANGES:
        shown[_MOST_CHANGES:] = [f"{len(shown) - _MOST_CHANGES} more"]
    return f"{'; '.join(shown)} ({'; '.join(cures)})"


def _visible(before: Mapping[str, Seen], now: Mapping[str, Seen]) -> list[Change]:
    changes: list[Change] = []
    explained: list[str] = []  # paths whose structure changed, which says all about what is inside
    for path in [*now, *(path for path in before if path not in now)]:
        if any(path.startswith((f"{each}[", f"{each}.")) for each in explained):
            continue
        change = _one(path, before.get(path), now.get(path))
        if change is not None:
            changes.append(change)
            explained.append(path)
    return changes


def _one(path: str, old: Seen | None, new: Seen | None) -> Change | None:
    if old is None or new is None:
        missing = "absent" if "[" in path or "." in path else "left out"
        shown = [missing if each is None else _shown(each) for each in (old, new)]
        return Change(text=f"{path}: {shown[0]} -> {shown[1]}", cure=STRUCTURE)
    if old.keyword != new.keyword:
        ways = [f"by {'keyword' if each.keyword else 'position'}" for each in (old, new)]
        return Change(text=f"{path}: {ways[0]} -> {ways[1]}", cure=PASSED)
    if old.static and new.static:
        return _static(path, old, new)
    if _shown(old) == _shown(new):
        return None
    if old.static or new.static:
        return Change(text=f"{path}: {_shown(old)} -> {_shown(new)}", cure=ARRAY)
    if old.aval is None or new.aval is None:
        return Change(text=f"{path}: {_shown(old)} -> {_shown(new)}", cure=STRUCTURE)
    cure, weight = _array_cure(old.aval, new.aval)
    number = old.aval.weak and new.aval.weak
    return Change(text=f"{path}: {old.text} -> {new.text}", cure=cure, weight=weight, number=number)


def _static(path: str, old: Seen, new: Seen) -> Change | None:
    if old.text == new.text:
        return None
    if isinstance(new.value, Body):
        return _another(path, new)
    cure = SLICE if path in _SLICES else FUNCTIONS if is_function(new.value) else STATIC
    return Change(text=f"{path}: static {old.text} -> {new.text}", cure=cure)


def _array_cure(old: Aval, new: Aval) -> tuple[str, int]:
    shape, dtype, weak = old.shape != new.shape, old.dtype != new.dtype, old.weak != new.weak
    if shape:
        cure = f"{SHAPE}; {DTYPE}" if dtype or weak else SHAPE
    elif dtype:
        cure = NUMBER if old.weak and new.weak else DTYPE
    else:
        cure = WEAK
    return cure, shape + dtype + weak


def _shown(seen: Seen) -> str:
    return f"static {seen.text}" if seen.static else seen.text


def _unequal(before: Mapping[str, Seen], now: Mapping[str, Seen]) -> list[Change]:
    """Values that look the same but are not equal; the innermost ones, which those around them hold."""
    changes: list[Change] = []
    found: list[str] = []
    for path, new in reversed(list(now.items())):
        old = before[path]
        if new.aval is None and _differ(old.value, new.value) and not any(_within(each, path) for each in found):
            found.append(path)
            changes.append(_another(path, new))
    return changes[::-1]


def _within(path: str, parent: str) -> bool:
    return path.startswith((f"{parent}[", f"{parent}."))


def _differ(old: Any, new: Any) -> bool:
    try:
        return old is not new and bool(old != new)
    except Exception:  # a comparison of the user's own, or one of arrays
        return True


def _another(path: str, seen: Seen) -> Change:
    value: Any = seen.value
    if isinstance(value, Body):
        return Change(text=f"a new body {seen.text}", cure=_hoisted(seen.text))
    if not seen.static:
        return Change(text=f"{path}: static part of {seen.text} changed", cure="keep it equal from call to call")
    if isinstance(value, functools.partial):
        return Change(text=f"{path}: a new {seen.text}", cure=FUNCTION.format("partial"))
    if is_function(value):
        return Change(text=f"{path}: a new {seen.text}", cure=_hoisted(value.__name__))
    if _has_equality(value):
        return Change(text=f"{path}: another {seen.text}, not equal", cure=STATIC)
    return Change(text=f"{path}: another {seen.text}", cure=OBJECT)


def _has_equality(value: Any) -> bool:
    """Whether its class tells equal values, and not only objects, from others: a path, a tuple, an own ``__eq__``."""
    kind: Any = type(value)
    return kind.__eq__ is not object.__eq__ and kind.__hash__ not in (None, object.__hash__)


def _hoisted(name: str) -> str:
    return FUNCTION.format("lambda" if name == "<lambda>" else "function")


def _moved(before: Mapping[str, Seen], now: Mapping[str, Seen]) -> list[Change]:
    return [
        Change(text=f"{path}: {before[path].placed or 'uncommitted'} -> {new.placed or 'uncommitted'}", cure=PLACED)
        for path, new in now.items()
        if before[path].placed != new.placed
    ]
