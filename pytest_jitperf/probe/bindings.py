"""Where a helper can be found, to tell the user why it was never called."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from .targets import Helper

__all__ = ["never_called_message", "where_bound"]

_MOST = 5


def where_bound(helper: Helper) -> tuple[str, ...]:
    """Finds the names under which the user's modules and their classes hold a helper, beside its own.

    Args:
        helper: The helper.

    Returns:
        ``"model.attend"`` for each name that holds the function or something that wraps it, then
        ``"model.attend (another function of this name)"`` for what is merely called the same, in alphabetical order.
    """
    function = helper.function
    same: set[str] = set()
    others: set[str] = set()
    for where, value in _bindings(function.__module__.partition(".")[0]):
        beneath = list(_beneath(value))
        if function in beneath:
            same.add(where)
        elif any(_is_namesake(each, function) for each in beneath):
            others.add(f"{where} (another function of this name)")
    same.discard(f"{function.__module__}.{function.__qualname__}")
    return (*sorted(same), *sorted(others))


def never_called_message(helper: Helper, fn_name: str) -> str:
    """Says that a helper was never called, where it is bound, and what to do.

    Args:
        helper: A helper whose calls were counted and that had none.
        fn_name: The function that was measured.
    """
    names = where_bound(helper)
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    bound = f"; it is bound as {', '.join(names[:_MOST])}{more}" if names else ""
    if "<locals>" in helper.function.__qualname__:
        why = "It is made in another function, of which every call makes a new one. Define it at the top of its module."
    else:
        why = (
            "A call would have been seen under any of its names, so these arguments do not lead to it. Name a function "
            "that is called, or take this one out of inner=."
        )
    return f"inner helper {helper.name} was never called by {fn_name}{bound}. {why}"


def _bindings(own_root: str) -> Iterator[tuple[str, Any]]:
    """Names and values in the user's modules and in the classes they define."""
    paths = sysconfig.get_paths()
    installed = tuple(paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib"))
    for name, module in list(sys.modules.items()):
        root = name.partition(".")[0]
        foreign = str(getattr(module, "__file__", None) or "").startswith(installed)
        if not isinstance(module, ModuleType) or root == "pytest_jitperf" or (foreign and root != own_root):
            continue
        for attribute, value in list(vars(module).items()):
            yield f"{name}.{attribute}", value
            if isinstance(value, type) and value.__module__ == name:
                for inner, member in list(vars(value).items()):
                    yield f"{name}.{attribute}.{inner}", member


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


def _is_namesake(value: Any, function: FunctionType) -> bool:
    return isinstance(value, FunctionType) and value.__name__ == function.__name__ and value.__name__ != "<lambda>"
