"""Where a helper can be found, to tell the user why it was never called."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any, TypeGuard

from .build import name_of
from .targets import Helper

__all__ = ["never_called_message", "where_bound"]

_MOST = 5


def where_bound(helper: Helper, fn: Callable[..., Any]) -> tuple[str, ...]:
    """Finds the names under which the user's modules and their classes hold a helper, beside its own.

    Args:
        helper: The helper.
        fn: The function that was measured and did not call it.

    Returns:
        ``"model.attend"`` for each name that holds the function or something that wraps it, then
        ``"model.attend (another function of this name)"`` for what is merely called the same where ``fn`` may have
        found it: in a second import of the helper's file, in the package of either, in what the module of ``fn``
        imports. Each in alphabetical order.
    """
    function = helper.function
    near = _near(function, fn)
    same: set[str] = set()
    others: set[str] = set()
    for module, attribute, value in _bindings(_root(function.__module__)):
        where, beneath = f"{module}.{attribute}", list(_beneath(value))
        if function in beneath:
            same.add(where)
        elif any(
            _is_namesake(each, function) and (_root(module) in near or _same_file(each, function)) for each in beneath
        ):
            others.add(f"{where} (another function of this name)")
    same.discard(f"{function.__module__}.{function.__qualname__}")
    return (*sorted(same), *sorted(others))


def never_called_message(helper: Helper, fn: Callable[..., Any]) -> str:
    """Says that a helper was never called, where it is bound, and what to do.

    Args:
        helper: A helper whose calls were counted and that had none.
        fn: The function that was measured.
    """
    names = where_bound(helper, fn)
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    bound = f"; it is bound as {', '.join(names[:_MOST])}{more}" if names else ""
    if "<locals>" in helper.function.__qualname__:
        why = "It is made in another function, of which every call makes a new one. Define it at the top of its module."
    else:
        why = (
            "A call would have been seen under any of its names, so these arguments do not lead to it. Name a function "
            "that is called, or take this one out of inner=."
        )
    return f"inner helper {helper.name} was never called by {name_of(fn)}{bound}. {why}"


def _root(module: str) -> str:
    return module.partition(".")[0]


def _near(function: FunctionType, fn: Callable[..., Any]) -> frozenset[str]:
    """Packages in which ``fn`` may have found what it calls."""
    modules = {function.__module__}
    for each in _beneath(fn):
        if isinstance(each, FunctionType):
            modules.add(each.__module__)
            modules.update(value.__name__ for value in each.__globals__.values() if isinstance(value, ModuleType))
    return frozenset(map(_root, modules))


def _bindings(own_root: str) -> Iterator[tuple[str, str, Any]]:
    """Modules of the user, names in them and in the classes they define, and what these hold."""
    paths = sysconfig.get_paths()
    installed = tuple(paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib"))
    for name, module in list(sys.modules.items()):
        root = _root(name)
        foreign = str(getattr(module, "__file__", None) or "").startswith(installed)
        if not isinstance(module, ModuleType) or root == "pytest_jitperf" or (foreign and root != own_root):
            continue
        for attribute, value in list(vars(module).items()):
            yield name, attribute, value
            if isinstance(value, type) and value.__module__ == name:
                for inner, member in list(vars(value).items()):
                    yield name, f"{attribute}.{inner}", member


def _beneath(value: Any) -> Iterator[Any]:
    """A callable, and what it wraps, binds or is a partial of."""
    for _ in range(10):
        if isinstance(value, type) or not (callable(value) or isinstance(value, classmethod)):
            return
        yield value
        for name in ("__func__", "__wrapped__", "func"):
            try:
                value = getattr(value, name)
            except Exception:  # it has none, or computes its attributes and fails
                continue
            break
        else:
            return


def _same_file(value: FunctionType, function: FunctionType) -> bool:
    return value.__code__.co_filename == function.__code__.co_filename


def _is_namesake(value: Any, function: FunctionType) -> TypeGuard[FunctionType]:
    return isinstance(value, FunctionType) and value.__name__ == function.__name__ and value.__name__ != "<lambda>"
