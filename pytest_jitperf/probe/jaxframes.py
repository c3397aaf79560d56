"""JAX's own frames on the stack: what is being compiled at this moment, and for which call.

Private: JAX's announcement of a compilation carries only a name. The function and its arguments are variables of the
handler that JAX enters when it finds nothing compiled for a call.
"""

from __future__ import annotations

import functools
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import jax

__all__ = [
    "cache_miss",
    "code_of",
    "frames",
    "is_jax_own",
    "is_of_jax",
    "operation",
    "place",
    "users_call",
    "users_line",
]

_LIBRARIES = ("jax", "jaxlib")
_STANDARD_LIBRARY = sysconfig.get_path("stdlib")


def is_jax_own(frame: FrameType | None) -> bool:
    """Whether the function being compiled is JAX's own (``sin``, ``_where``) and not one that user code jitted.

    Where neither JAX's handler nor its program is found it counts as the user's: a user's helper may be called
    ``clip``.

    Args:
        frame: Of the announcement.
    """
    miss = cache_miss(frame)
    if miss is not None:
        return is_of_jax(miss.f_locals["fun"])
    return any(_starts_program_of_jax(each) for each in frames(frame))


def cache_miss(frame: FrameType | None) -> FrameType | None:
    """The frame of JAX's handler of a call that it has nothing compiled for, the innermost one; None without."""
    for each in frames(frame):
        if each.f_code.co_name == "cache_miss" and all(name in each.f_locals for name in ("fun", "args", "kwargs")):
            return each
    return None


def _starts_program_of_jax(frame: FrameType) -> bool:
    """Whether a program that starts on this frame, as transposed ones do, was traced from a function of JAX's."""
    if frame.f_code.co_name != "_pjit_call_impl_python":
        return False
    info = getattr(getattr(frame.f_locals.get("jaxpr"), "jaxpr", None), "debug_info", None)
    return str(getattr(info, "func_filename", None) or "").startswith(str(Path(jax.__file__).parent))


def frames(frame: FrameType | None) -> Iterator[FrameType]:
    """A frame and those that called it."""
    current = frame
    while current is not None:
        yield current
        current = current.f_back


def is_of_jax(function: Any) -> bool:
    """Whether a function is JAX's own."""
    return _root(getattr(function, "__module__", None)) == "jax"


def _root(module: Any) -> str:
    return str(module or "").partition(".")[0]


def users_call(miss: FrameType) -> tuple[Any, tuple[Any, ...], dict[str, Any]] | None:
    """The call of another library's jit: the function it wraps and the arguments it was given.

    Such a library (equinox) hands ``jax.jit`` a function of its own whose arguments are the user's, taken apart. The
    frames of that library around it hold the object that was called and its arguments.
    """
    code = code_of(miss.f_locals["fun"])
    found = None
    for each in frames(miss.f_back):
        if _root(each.f_globals.get("__name__")) in _LIBRARIES:
            continue
        if code is None or each.f_code.co_filename != code.co_filename:
            break
        first = each.f_locals.get(each.f_code.co_varnames[0]) if each.f_code.co_argcount else None
        args, kwargs = each.f_locals.get("args"), each.f_locals.get("kwargs")
        wrapped = getattr(first, "__wrapped__", None)
        if (
            callable(wrapped)
            and wrapped is not miss.f_locals["fun"]
            and isinstance(args, tuple)
            and isinstance(kwargs, dict)
        ):
            found = (wrapped, args, kwargs)
    return found


def code_of(function: Any) -> CodeType | None:
    """The code beneath partials, methods and wrappers; of an object of a class there is none."""
    while not isinstance(code := getattr(function, "__code__", None), CodeType):
        inner = getattr(function, "__wrapped__", None)
        if isinstance(function, functools.partial):
            inner = function.func
        if inner is None:
            return None
        function = inner
    return code


def place(code: CodeType) -> str:
    """``"library.py:12"``."""
    return f"{Path(code.co_filename).name}:{code.co_firstlineno}"


def users_line(frame: FrameType) -> str:
    """The line of the user's that an operation is called from."""
    for each in frames(frame):
        name = each.f_code.co_filename
        of_python = name.startswith(_STANDARD_LIBRARY) and "site-packages" not in name
        if _root(each.f_globals.get("__name__")) not in (*_LIBRARIES, "pytest_jitperf") and not of_python:
            return f"{Path(name).name}:{each.f_lineno}"
    return ""


def operation(miss: FrameType) -> Mapping[str, Any]:
    """Parameters of the primitive that is called eagerly; none for a function of JAX's."""
    for _, each in zip(range(6), frames(miss.f_back), strict=False):
        if each.f_code.co_name == "apply_primitive":
            return dict(each.f_locals.get("params") or {})
    return {}
