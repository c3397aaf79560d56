"""Finding what a dotted name stands for, importing what it needs."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
import pkgutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from pytest_jitperf.errors import MeasurementError

__all__ = ["Found", "find", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a target stands for; ``owner`` is the class in whose body it was found by name."""

    value: Any
    owner: type | None = None


def find(name: str) -> Found:
    """Finds what a dotted name stands for: the longest part of it that is a module, and attributes from there on.

    Args:
        name: ``"pkg.mod.helper"``, ``"pkg.mod.Class.method"`` or ``"pkg.mod:helper"``.

    Raises:
        MeasurementError: The name leads nowhere; says which part of it, and what there is that is spelt nearly so.
    """
    if "<" in name:
        raise refused(
            name, "is made inside another function or has no name, so no name leads to it. Give the function itself."
        )
    module_name, colon, path = name.partition(":")
    parts = module_name.split(".")
    attributes = path.split(".") if colon else []
    if not all(part.isidentifier() for part in [*parts, *attributes]) or len([*parts, *attributes]) < 2:
        raise refused(name, 'is no dotted name. Write module and function, such as "mylib.helper".')
    for length in range(len(parts), 0, -1) if colon else range(len(parts) - 1, 0, -1):
        module = _module(name, ".".join(parts[:length]))
        if module is not None:
            return _attribute(name, module, [*parts[length:], *attributes])
    known = {each.partition(".")[0] for each in sys.modules} | {each.name for each in pkgutil.iter_modules()}
    raise refused(name, f'cannot be found: there is no module "{parts[0]}"{_close(parts[0], known)}.')


def _module(shown: str, name: str) -> ModuleType | None:
    """Imports a module; None if there is none of that name."""
    if name in sys.modules:
        return sys.modules[name]
    try:
        if importlib.util.find_spec(name) is None:
            return None
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            return None
        raise refused(shown, f"cannot be found: importing {name} failed, {error}.") from error
    except Exception as error:
        raise refused(shown, f"cannot be found: importing {name} failed, {type(error).__name__}: {error}.") from error


def _attribute(shown: str, module: ModuleType, path: Sequence[str]) -> Found:
    value: Any = module
    owner: type | None = None
    reached = module.__name__
    for part in path:
        owner = value if isinstance(value, type) else None
        try:
            # In a class the descriptor is wanted, which tells a static method from a method.
            value = inspect.getattr_static(value, part) if owner is not None else getattr(value, part)
        except AttributeError:
            raise refused(
                shown, f'cannot be found: {reached} has no "{part}"{_close(part, _names_in(value))}.'
            ) from None
        reached = f"{reached}.{part}"
    return Found(value=value, owner=owner)


def _names_in(value: Any) -> set[str]:
    paths = getattr(value, "__path__", None) if isinstance(value, ModuleType) else None
    submodules = pkgutil.iter_modules(paths) if paths is not None else ()
    return {*dir(value), *(each.name for each in submodules)}


def _close(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, sorted(known), n=3)
    return f" (did you mean {' or '.join(close)}?)" if close else ""


def refused(shown: str, why: str) -> MeasurementError:
    """The error for a helper that cannot be jitted in place."""
    return MeasurementError(f"inner helper {shown} {why}")
