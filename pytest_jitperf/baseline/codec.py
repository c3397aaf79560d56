"""Frozen dataclasses to plain JSON values and back.

Going out, fields at their default are left out and whole numbers lose their ``.0``, so that equal values give equal
bytes. Coming in, what is wrong is named with the path of keys that leads to it. Keys that the dataclass does not know
are passed over when reading and kept when a value is written over an older one.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import re
import sys
import types
import typing
from collections.abc import Mapping
from typing import Any

__all__ = ["FieldError", "from_builtins", "keep_unknown", "shown", "to_builtins"]

# Above this a float no longer holds every whole number, and its digits would be invented.
_WHOLE = 2**53


class FieldError(ValueError):
    """A value inside a JSON document is not what it should be; the text begins with the path of keys."""


def to_builtins(value: object) -> Any:
    """Writes dataclasses and mappings as dicts, without fields that are at their default."""
    if dataclasses.is_dataclass(value):
        return {
            each.name: to_builtins(getattr(value, each.name))
            for each in dataclasses.fields(value)
            if getattr(value, each.name) != _default(each)
        }
    if isinstance(value, Mapping):
        return {key: to_builtins(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return [to_builtins(each) for each in value]
    if isinstance(value, float) and abs(value) <= _WHOLE and value.is_integer():
        return int(value)
    return value


def from_builtins(kind: Any, value: object, path: str = "") -> Any:
    """Reads a JSON value as an annotated type.

    Args:
        kind: ``str``, ``bool``, ``int``, ``float``, ``X | None``, ``Mapping[str, X]``, ``tuple[X, ...]`` or a
            dataclass of these. Numbers must be finite and at least 0, and True is not a number. A field with
            ``pattern`` in its metadata must match it.
        value: What ``json.loads`` gave.
        path: Keys that lead to the value, for messages.

    Returns:
        The value; a whole number stays an int where a float is expected.

    Raises:
        FieldError: ``timed.run.median is NaN, expected a finite number of 0 or more``.
    """
    if typing.get_origin(kind) is types.UnionType:
        (kind,) = (each for each in typing.get_args(kind) if each is not types.NoneType)
        return None if value is None else from_builtins(kind, value, path)
    if _is_record(kind):
        return _read_dataclass(kind, _object(value, path), path)
    if typing.get_origin(kind) is Mapping:
        each_kind = typing.get_args(kind)[1]
        return {key: from_builtins(each_kind, each, _join(path, key)) for key, each in _object(value, path).items()}
    if typing.get_origin(kind) is tuple:
        each_kind = typing.get_args(kind)[0]
        if not isinstance(value, list):
            raise FieldError(f"{path} is {shown(value)}, expected a list")
        return tuple(from_builtins(each_kind, each, f"{path}[{place}]") for place, each in enumerate(value))
    if kind is float or kind is int:
        number = isinstance(value, (int, kind)) and not isinstance(value, bool)
        # One comparison refuses NaN, infinity and whole numbers that no float can hold.
        if not (number and 0 <= value <= sys.float_info.max):  # type: ignore[operator]  # a number, said just before
            expected = "a finite number of 0 or more" if kind is float else "a whole number of 0 or more"
            raise FieldError(f"{path} is {shown(value)}, expected {expected}")
    elif not isinstance(value, kind):
        raise FieldError(f"{path} is {shown(value)}, expected {'text' if kind is str else 'true or false'}")
    return value


def keep_unknown(kind: Any, old: object, new: Any) -> Any:
    """Lays a value over an older one of the same type; keys that the type does not know are kept from the older one.

    Args:
        kind: Type of both, as for ``from_builtins``.
        old: JSON value that is there now; anything, or None.
        new: JSON value that replaces it, from ``to_builtins``.

    Returns:
        The JSON value to write.
    """
    if typing.get_origin(kind) is types.UnionType:
        (kind,) = (each for each in typing.get_args(kind) if each is not types.NoneType)
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        return new
    if _is_record(kind):
        kinds = _kinds(kind)
        kept = {key: value for key, value in old.items() if key not in kinds}
        return kept | {key: keep_unknown(kinds[key], old.get(key), value) for key, value in new.items()}
    if typing.get_origin(kind) is not Mapping:
        return new
    each_kind = typing.get_args(kind)[1]
    return {key: keep_unknown(each_kind, old.get(key), value) for key, value in new.items()}


def shown(value: object) -> str:
    """A wrong value as JSON has it; what is long or nested by its kind."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return "a list"
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _read_dataclass(kind: Any, value: Mapping[str, object], path: str) -> Any:
    kinds = _kinds(kind)
    found = {}
    for each in dataclasses.fields(kind):
        where = _join(path, each.name)
        if each.name in value:
            found[each.name] = from_builtins(kinds[each.name], value[each.name], where)
            pattern = each.metadata.get("pattern")
            if pattern and found[each.name] is not None and not re.fullmatch(pattern, found[each.name]):
                raise FieldError(f"{where} is {shown(found[each.name])}, expected {each.metadata['expected']}")
        elif _default(each) is dataclasses.MISSING:
            raise FieldError(f"{where} is missing")
    return kind(**found)


def _is_record(kind: Any) -> bool:
    return dataclasses.is_dataclass(kind)


def _object(value: object, path: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise FieldError(f"{path or 'the entry'} is {shown(value)}, expected an object")
    return value


@functools.cache
def _kinds(kind: Any) -> Mapping[str, Any]:
    return typing.get_type_hints(kind)


def _default(each: dataclasses.Field[Any]) -> object:
    return each.default if each.default_factory is dataclasses.MISSING else each.default_factory()


def _join(path: str, key: str) -> str:
    """``timed.run``, and ``host["3.11/0.10.2"]`` where a key is not a word."""
    if key.isidentifier():
        return f"{path}.{key}" if path else key
    return f"{path}[{json.dumps(key)}]"
